//! When an answer is due.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use nix::time::{ClockId, clock_gettime};

use super::Config;

/// The delay and the stalls of a server, shared by its workers.
#[derive(Debug)]
pub(super) struct Clock {
    delay_ns: u64,
    stall_every_ns: u64,
    stall_ns: u64,
    /// Sessions that are open now.
    open: AtomicUsize,
    /// When the stalls began to be counted.
    epoch_ns: AtomicU64,
}

/// The monotonic clock, in nanoseconds. Not `Instant`: the timer wants the
/// number itself.
pub(super) fn now_ns() -> u64 {
    // CLOCK_MONOTONIC cannot fail on Linux; a zero would only send at once.
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |time| {
        u64::try_from(time.tv_sec()).unwrap_or(0) * 1_000_000_000
            + u64::try_from(time.tv_nsec()).unwrap_or(0)
    })
}

impl Clock {
    pub(super) fn new(config: &Config) -> Self {
        let ns = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX / 4);
        Self {
            delay_ns: ns(config.delay),
            stall_every_ns: ns(config.stall_every),
            stall_ns: ns(config.stall),
            open: AtomicUsize::new(0),
            epoch_ns: AtomicU64::new(0),
        }
    }

    /// False where every answer leaves at once, so that no time need be read.
    pub(super) fn holds(&self) -> bool {
        self.delay_ns > 0 || (self.stall_every_ns > 0 && self.stall_ns > 0)
    }

    /// A session became ready.
    pub(super) fn session_opened(&self) {
        if self.open.fetch_add(1, Ordering::AcqRel) == 0 {
            self.epoch_ns.store(now_ns(), Ordering::Release);
        }
    }

    /// A session that had been ready is gone.
    pub(super) fn session_closed(&self) {
        self.open.fetch_sub(1, Ordering::AcqRel);
    }

    /// When the answer to a request that arrived at `now_ns` is due.
    pub(super) fn due_ns(&self, now_ns: u64) -> u64 {
        let due = now_ns + self.delay_ns;
        if self.stall_every_ns == 0 {
            return due;
        }
        let since = due.saturating_sub(self.epoch_ns.load(Ordering::Acquire));
        let into = since % self.stall_every_ns;
        // The first stall begins after one whole `stall_every`, not at once.
        if since >= self.stall_every_ns && into < self.stall_ns {
            due + (self.stall_ns - into)
        } else {
            due
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// An answer due in a stall leaves at the stall's end, any other after the
    /// delay.
    #[test]
    fn stalls_hold_answers() {
        let clock = Clock::new(&Config {
            delay: Duration::from_nanos(10),
            stall_every: Duration::from_nanos(1000),
            stall: Duration::from_nanos(100),
            ..Config::default()
        });
        assert_eq!(clock.due_ns(0), 10);
        assert_eq!(clock.due_ns(989), 999);
        assert_eq!(clock.due_ns(990), 1100);
        assert_eq!(clock.due_ns(1089), 1100);
        assert_eq!(clock.due_ns(1090), 1100);
        assert_eq!(clock.due_ns(1091), 1101);
        assert_eq!(clock.due_ns(2000), 2100);
    }

    /// Due times never run backwards, which is what lets the queue be a queue.
    #[test]
    fn due_times_are_monotone() {
        let clock = Clock::new(&Config {
            delay: Duration::from_nanos(7),
            stall_every: Duration::from_nanos(50),
            stall: Duration::from_nanos(20),
            ..Config::default()
        });
        let due: Vec<u64> = (0..500).map(|now| clock.due_ns(now)).collect();
        assert!(due.is_sorted());
    }
}
