//! A worker's figures: which interval it is in, and where counts go.
//!
//! A transaction belongs to the interval in which it ends: warm-up, measured,
//! or drain. The three are kept apart; the audits need their sum, the report
//! only the middle one.

use pgdyno_record::EndpointTally;
use pgdyno_record::tally::{ScriptTally, Tally};
use pgdyno_record::timeline::{Second, SecondClock};

use super::usage::ThreadUsage;

const SECOND_NS: u64 = 1_000_000_000;

/// The parts of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Warmup,
    Measured,
    Drain,
}

/// Everything a worker counts.
#[derive(Debug)]
pub(super) struct Figures {
    pub(super) phase: Phase,
    pub(super) measured: Tally,
    pub(super) warmup: Tally,
    pub(super) drain: Tally,
    clock: SecondClock,
    /// When the measured interval begins and ends.
    start_ns: u64,
    stop_ns: u64,
    /// When the current second or phase ends, whichever is first.
    next_turn_ns: u64,
    pub(super) usage_at_start: ThreadUsage,
    pub(super) usage_at_stop: Option<ThreadUsage>,
}

/// The moments between which a run measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interval {
    /// When transactions may begin: the start of the warm-up.
    pub(crate) begin_ns: u64,
    /// When the measured interval begins.
    pub(crate) start_ns: u64,
    /// When no transaction begins any more; `u64::MAX` without a time limit.
    pub(crate) end_ns: u64,
    /// When it ends; `u64::MAX` where it ends with the last transaction.
    pub(crate) stop_ns: u64,
}

impl Figures {
    pub(super) fn new(measured: Tally) -> Self {
        let small = || Tally {
            counters: vec![0; measured.counters.len()],
            endpoints: vec![EndpointTally::new(false); measured.endpoints.len()],
            ..Tally::new(measured.scripts.len(), measured.statements.len(), false)
        };
        Self {
            phase: Phase::Measured,
            warmup: small(),
            drain: small(),
            measured,
            clock: SecondClock::new(0),
            start_ns: 0,
            stop_ns: u64::MAX,
            next_turn_ns: u64::MAX,
            usage_at_start: ThreadUsage::default(),
            usage_at_stop: None,
        }
    }

    /// Begins to count at `now_ns`.
    pub(super) fn begin(&mut self, interval: Interval) {
        self.start_ns = interval.start_ns;
        self.stop_ns = interval.stop_ns;
        self.phase =
            if interval.begin_ns < interval.start_ns { Phase::Warmup } else { Phase::Measured };
        self.usage_at_start = ThreadUsage::now();
        let second = self.second_at(interval.begin_ns);
        self.clock = SecondClock::new(second);
        self.set_next_turn(second);
    }

    fn second_at(&self, ns: u64) -> i64 {
        if ns >= self.start_ns {
            ((ns - self.start_ns) / SECOND_NS) as i64
        } else {
            -((self.start_ns - ns).div_ceil(SECOND_NS) as i64)
        }
    }

    fn set_next_turn(&mut self, second: i64) {
        let next = second + 1;
        let second_end_ns = if next >= 0 {
            self.start_ns + next as u64 * SECOND_NS
        } else {
            self.start_ns - next.unsigned_abs() * SECOND_NS
        };
        // A measured interval of, say, 1.5 s ends within a second.
        let stop = if self.phase == Phase::Drain { u64::MAX } else { self.stop_ns };
        self.next_turn_ns = second_end_ns.min(stop);
    }

    /// When [`Figures::turn`] has something to do.
    #[inline]
    pub(super) fn next_turn_ns(&self) -> u64 {
        self.next_turn_ns
    }

    /// Somebody asked for the end: what comes now is drain.
    pub(super) fn stop(&mut self, now_ns: u64) {
        if self.phase != Phase::Drain {
            self.stop_ns = self.stop_ns.min(now_ns.max(self.start_ns));
            self.next_turn_ns = self.next_turn_ns.min(self.stop_ns);
        }
    }

    /// True for a second that only the drain reached.
    pub(super) fn is_after_interval(&self, second: &Second) -> bool {
        let begin_ns = u64::try_from(second.index).map_or(0, |index| index * SECOND_NS);
        self.start_ns.saturating_add(begin_ns) >= self.stop_ns
    }

    pub(super) fn start_ns(&self) -> u64 {
        self.start_ns
    }

    pub(super) fn stop_ns(&self) -> u64 {
        self.stop_ns
    }

    /// Moves on to the interval and second of `now_ns`. Gives back a second
    /// that is over; call again until there is none.
    pub(super) fn turn(&mut self, now_ns: u64) -> Option<Box<Second>> {
        if now_ns < self.next_turn_ns {
            return None;
        }
        self.change_phase(now_ns);
        let second = self.second_at(now_ns);
        let finished = self.clock.advance(second);
        self.set_next_turn(second);
        finished.map(Box::new)
    }

    fn change_phase(&mut self, now_ns: u64) {
        if self.phase == Phase::Warmup && now_ns >= self.start_ns {
            self.phase = Phase::Measured;
            self.usage_at_start = ThreadUsage::now();
        }
        if self.phase == Phase::Measured && now_ns >= self.stop_ns {
            self.phase = Phase::Drain;
            self.usage_at_stop = Some(ThreadUsage::now());
        }
    }

    /// Where the transaction that ends now is counted.
    #[inline]
    pub(super) fn tally(&mut self) -> &mut Tally {
        match self.phase {
            Phase::Measured => &mut self.measured,
            Phase::Warmup => &mut self.warmup,
            Phase::Drain => &mut self.drain,
        }
    }

    /// The second in which it ends.
    #[inline]
    pub(super) fn second(&mut self) -> &mut Second {
        self.clock.current()
    }

    /// Without a schedule, only response times were recorded.
    pub(super) fn service_is_response(&mut self) {
        for tally in [&mut self.warmup, &mut self.measured, &mut self.drain] {
            tally.scripts.iter_mut().for_each(ScriptTally::service_is_response);
        }
    }

    /// The last second, and the end of counting.
    pub(super) fn end(&mut self) -> Second {
        if self.usage_at_stop.is_none() {
            self.usage_at_stop = Some(ThreadUsage::now());
        }
        std::mem::replace(&mut self.clock, SecondClock::new(0)).finish()
    }
}
