//! Looks at what sessions wait for while a run warms up: under load, and
//! before anything is measured.
//!
//! A thread with a session of its own begins with the first second of the
//! warm-up that is over, and is gone, with its session, before the measured
//! interval begins.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use pgdyno_target::statistics::WaitSamples;
use pgdyno_wire::Connection;

/// Time between two looks. A look costs a server a millisecond or less.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How long before the measured interval the last look begins at the latest:
/// time for its answer, and for its session to be gone.
const MARGIN: Duration = Duration::from_millis(500);

/// The looks of one run.
pub(crate) struct WarmupWaits {
    thread: JoinHandle<Seen>,
    clock: Sender<Instant>,
}

/// What was seen.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) samples: WaitSamples,
    /// Why it was no more.
    pub(crate) failed: Option<String>,
}

/// Tells the thread when to begin, and when to end.
pub(crate) struct WarmupClock {
    thread: Mutex<Sender<Instant>>,
    /// When the last look may begin: known once the run begins.
    end: OnceLock<Instant>,
}

impl WarmupClock {
    /// The run begins, and is measured from this moment on.
    pub(crate) fn begins(&self, measured_from: Instant) {
        // A run begins once.
        let _ = self.end.set(measured_from.checked_sub(MARGIN).unwrap_or(measured_from));
    }

    /// A second of the run is over, however late that is told: there is load.
    pub(crate) fn second(&self) {
        if let (Some(end), Ok(thread)) = (self.end.get(), self.thread.lock()) {
            // Once the thread has ended nobody listens.
            let _ = thread.send(*end);
        }
    }
}

impl WarmupWaits {
    /// Waits for the warm-up.
    pub(crate) fn start(mut connection: Connection, sql: &'static str) -> Self {
        let (clock, seconds) = channel();
        let thread = std::thread::spawn(move || look(&mut connection, sql, &seconds));
        Self { thread, clock }
    }

    /// What is to hear of the run's seconds.
    pub(crate) fn clock(&self) -> WarmupClock {
        WarmupClock { thread: Mutex::new(self.clock.clone()), end: OnceLock::new() }
    }

    /// What was seen, once the run is over.
    pub(crate) fn end(self) -> Seen {
        // Where there was no warm-up the thread still waits for it.
        let _ = self.clock.send(Instant::now());
        let broken_down = |_| {
            let failed = Some("the thread that looks for them broke down".to_owned());
            Seen { failed, ..Seen::default() }
        };
        self.thread.join().unwrap_or_else(broken_down)
    }
}

fn look(connection: &mut Connection, sql: &str, seconds: &Receiver<Instant>) -> Seen {
    let mut seen = Seen::default();
    let Ok(mut end) = seconds.recv() else { return seen };
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return seen;
        }
        // An answer that is late must not reach into what is measured.
        connection.set_timeout(Some(left + MARGIN / 2));
        if let Err(words) = seen.samples.look(connection, sql) {
            seen.failed = Some(words);
            return seen;
        }
        match seconds.recv_timeout(LOOK_EVERY) {
            Ok(told) => end = end.min(told),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return seen,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing helper is a failing test")]

    use std::sync::Arc;

    use pgdyno_target::{EmbeddedConfig, EmbeddedServer, postgres};
    use pgdyno_wire::ConnectContext;

    use super::*;

    /// Sessions at work are seen with what they wait for as long as the warm-up
    /// lasts, and nothing is asked once it is over, or where there is none.
    #[test]
    fn waits_are_seen_in_the_warm_up_alone() {
        let config = EmbeddedConfig { no_fsync: true, ..EmbeddedConfig::default() };
        let server = EmbeddedServer::start(&config).unwrap();
        let context = ConnectContext::new(&server.options_unix()).unwrap();
        let connect = || Connection::connect(&Arc::clone(&context)).unwrap();
        let sql = postgres().statistics(None).waits_now.unwrap();
        let mut asleep = connect();
        let sleeping = std::thread::spawn(move || drop(asleep.execute("SELECT pg_sleep(600)")));
        let mut other = connect();
        let sleeps = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
        while other.query_one_i64(sleeps).unwrap() == 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
        let waits = WarmupWaits::start(connect(), sql);
        // One look at least follows upon the first second that is told.
        let clock = waits.clock();
        clock.begins(Instant::now() + Duration::from_secs(600));
        clock.second();
        let seen = waits.end();
        assert_eq!(seen.failed, None);
        let group = seen.samples.group().unwrap();
        let row = group.rows.iter().find(|row| row.labels["event"] == "PgSleep").unwrap();
        assert_eq!(row.labels["event_type"], "Timeout");
        assert_eq!(row.figures["sessions_mean"].after, Some(1.0));
        // Within the margin, from now on, and where nothing begins.
        for left in [None, Some(MARGIN - Duration::from_millis(1)), Some(Duration::ZERO)] {
            let waits = WarmupWaits::start(connect(), sql);
            let clock = waits.clock();
            if let Some(left) = left {
                clock.begins(Instant::now() + left);
            }
            clock.second();
            assert_eq!(waits.end().samples, WaitSamples::default(), "{left:?}");
        }
        other
            .execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                       WHERE wait_event = 'PgSleep'",
            )
            .unwrap();
        sleeping.join().unwrap();
    }
}
