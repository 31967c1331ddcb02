//! What a worker's clients share: clock, plan, poller, timers, figures.
//!
//! Split from the clients so that one client and the core can be borrowed side
//! by side. Nothing here is shared with other workers.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::Instant;

use pgdyno_record::latency::Latencies;
use pgdyno_record::timeline::Second;
use pgdyno_ring::Ring;
use pgdyno_script::random::Prng;

use super::endpoints::Endpoints;
use super::log::Log;
use super::measure::{Figures, Phase};
use super::schedule::Schedule;
use super::session::ConnectError;
use crate::connect::ConnectLimiter;
use crate::observe::{Level, Observer};
use crate::outcome::ClientError;
use crate::plan::{Limit, RunPlan};
use crate::poller::Poller;
use crate::timers::Timers;

/// The run's clock: nanoseconds since a moment that all workers share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    base: Instant,
    base_ns: u64,
    unix_us_at_base: u64,
}

impl Clock {
    /// Starts at zero, now.
    pub(crate) fn start() -> Self {
        let unix = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let unix_us_at_base =
            unix.ok().and_then(|d| u64::try_from(d.as_micros()).ok()).unwrap_or_default();
        Self { base: Instant::now(), base_ns: monotonic_ns(), unix_us_at_base }
    }

    /// Nanoseconds since the start; 584 years fit.
    #[inline]
    pub(crate) fn now_ns(&self) -> u64 {
        monotonic_ns() - self.base_ns
    }

    /// A moment of this clock as nanoseconds of the system's monotonic clock.
    pub(crate) fn monotonic_ns(&self, at_ns: u64) -> u64 {
        self.base_ns.saturating_add(at_ns)
    }

    /// A moment of this clock as Unix time in µs.
    pub(crate) fn unix_us(&self, at_ns: u64) -> u64 {
        self.unix_us_at_base + at_ns / 1000
    }

    /// A moment of this clock as the system's monotonic time.
    pub(crate) fn instant(&self, at_ns: u64) -> Instant {
        self.base + std::time::Duration::from_nanos(at_ns)
    }

    /// The other way round.
    pub(crate) fn at(&self, instant: Instant) -> u64 {
        instant.saturating_duration_since(self.base).as_nanos() as u64
    }
}

/// The monotonic clock as one number. `Instant` reads the same clock, but its
/// difference and its change into nanoseconds cost 60 instructions more, twice
/// in each transaction.
#[inline]
fn monotonic_ns() -> u64 {
    use nix::time::{ClockId, clock_gettime};
    // The call cannot fail for a clock that every system has.
    clock_gettime(ClockId::CLOCK_MONOTONIC)
        .map_or(0, |now| now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64)
}

/// What the coordinator tells all workers while they run.
#[derive(Debug, Default)]
pub(crate) struct Control {
    /// No new transactions; finish those under way.
    stop: AtomicBool,
    /// Close everything now.
    abandon: AtomicBool,
}

impl Control {
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub(crate) fn abandon(&self) {
        self.stop();
        self.abandon.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        self.abandon.load(Ordering::Relaxed)
    }
}

/// What a worker tells the coordinator.
#[derive(Debug)]
pub(crate) enum FromWorker {
    /// So many of its clients are connected.
    Connected { worker: u32, clients: u32 },
    /// All of its clients are connected, or one cannot be.
    Ready { connected: bool },
    /// A second is over.
    Second {
        worker: u32,
        second: Box<Second>,
        /// The worker's last, which is not a full one.
        closing: bool,
    },
    /// A client could not go on.
    Aborted { worker: u32, error: ClientError },
    /// The worker has ended.
    Ended { worker: u32 },
}

/// Everything of a worker but its clients.
pub(super) struct Core {
    pub(super) index: u32,
    pub(super) observer: Arc<dyn Observer>,
    pub(super) control: Arc<Control>,
    pub(super) to_coordinator: Sender<FromWorker>,
    pub(super) clock: Clock,
    /// The clock as last read: after the last bytes came in, or a wait ended.
    pub(super) now_ns: u64,
    pub(super) poller: Poller,
    /// What carries the sessions while they run, where it is `io_uring`.
    pub(super) ring: Option<Ring>,
    /// The last key that a session on the ring was given.
    pub(super) generation: u32,
    /// Clients with more to send than one request in this turn of the ring.
    pub(super) later: Vec<u32>,
    pub(super) timers: Timers,
    pub(super) figures: Figures,
    pub(super) endpoints: Endpoints,
    /// Leave to connect, from a bucket that all workers share.
    pub(super) limiter: Option<Arc<ConnectLimiter>>,
    pub(super) log: Option<Log>,

    /// When no transaction begins any more; `u64::MAX` without a time limit.
    pub(super) end_ns: u64,
    /// Transactions of each client; `u64::MAX` without such a limit.
    pub(super) transactions_max: u64,
    pub(super) latency_limit_ns: Option<u64>,
    /// When transactions start, under a rate.
    pub(super) schedule: Schedule,
    pub(super) choice_random: Prng,
    pub(super) sample_random: Prng,

    /// The run has begun: all clients of all workers are connected.
    pub(super) begun: bool,
    /// Clients that have been connected.
    pub(super) ready: u32,
    /// Clients that have not ended.
    pub(super) live: u32,
    pub(super) aborted: u32,
    /// Something went wrong that ends the whole run.
    pub(super) gave_up: bool,
    pub(super) debugging: bool,
    pub(super) start_failure: Option<(u32, ConnectError)>,

    pub(super) loop_delay: Latencies,
    /// Ready sockets served.
    pub(super) served: u32,
    /// Clients that did not wait in their last transaction.
    pub(super) again: VecDeque<u32>,
    /// Clients whose socket broke while it was written to.
    pub(super) broken: Vec<u32>,
    /// The clients of one wait; kept for its memory.
    pub(super) ready_clients: Vec<(u32, bool)>,
    /// The buffer for requests of whoever sends next: sent at once, as nearly
    /// all are, it serves all clients from the nearest cache.
    pub(super) spare_out: Vec<u8>,
    /// A variable's name under construction.
    pub(super) name: Vec<u8>,
}

impl Core {
    /// Reads the clock.
    #[inline]
    pub(super) fn tick(&mut self) -> u64 {
        self.now_ns = self.clock.now_ns();
        self.now_ns
    }

    /// True when no transaction may begin any more.
    #[inline]
    pub(super) fn is_over(&self) -> bool {
        self.now_ns >= self.end_ns || self.control.is_stopping()
    }

    pub(super) fn error(&self, text: &str) {
        self.observer.message(Level::Error, text);
    }

    /// The system no longer lets the worker wait for its connections: no run
    /// goes on without that. Told once, whatever fails because of it.
    #[cold]
    pub(super) fn cannot_wait(&mut self, error: &std::io::Error) {
        if !std::mem::replace(&mut self.gave_up, true) {
            self.error(&format!("could not wait for the connections: {error}"));
            let error = ClientError {
                client: 0,
                count: 1,
                endpoint: format!("worker {}", self.index),
                sqlstate: None,
                place: None,
                text: format!("could not wait for the connections: {error}"),
            };
            self.tell(FromWorker::Aborted { worker: self.index, error });
        }
        self.control.abandon();
    }

    /// A delay in the measured interval that stands for `times` of them.
    #[inline(never)]
    pub(super) fn note_delay(&mut self, delay_us: u64, times: u64) {
        if self.begun && self.figures.phase == Phase::Measured {
            self.loop_delay.record_times(delay_us, times);
        }
    }

    /// A message that is made only where somebody asked for it.
    #[inline]
    pub(super) fn debug(&self, text: impl FnOnce() -> String) {
        if self.debugging {
            self.tell_debug(text);
        }
    }

    /// Apart, so that making the text takes no room on the request path.
    #[cold]
    #[inline(never)]
    fn tell_debug(&self, text: impl FnOnce() -> String) {
        self.observer.message(Level::Debug, &text());
    }

    pub(super) fn tell(&self, message: FromWorker) {
        // The coordinator outlives its workers; if it is gone, so is the run.
        let _ = self.to_coordinator.send(message);
    }

    /// Hands over finished seconds, and changes from warm-up to measuring.
    pub(super) fn turn_clock(&mut self) {
        while let Some(second) = self.figures.turn(self.now_ns) {
            if self.figures.is_after_interval(&second) {
                continue;
            }
            self.tell(FromWorker::Second { worker: self.index, second, closing: false });
        }
    }
}

/// The limits of a plan as the numbers that the loop compares with.
pub(super) fn limits(plan: &RunPlan) -> (u64, Option<u64>) {
    let transactions_max = match plan.limit {
        Limit::Transactions(count) => count,
        Limit::Duration(_) => u64::MAX,
    };
    (transactions_max, plan.latency_limit.map(|limit| limit.as_nanos() as u64))
}
