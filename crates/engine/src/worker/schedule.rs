//! When a worker's transactions start, under a rate.
//!
//! A worker takes its share of the rate: with n workers each start is n times
//! as far from the next. Whoever is free takes the next start, even one that
//! has passed; the schedule does not wait for anybody.

use pgdyno_script::random::Prng;

use crate::plan::{Limit, RunPlan};

/// Starts that nobody made are drawn one by one to be counted exactly, up to
/// this many, a few ms of work; of more, a rate out of all reach, the rest is
/// worked out.
const QUEUED_DRAWN_MAX: u32 = 1_000_000;

/// The scheduled starts of one worker.
#[derive(Debug)]
pub(super) struct Schedule {
    /// Mean distance of two starts, µs; `None` without a rate.
    mean_us: Option<f64>,
    /// Equal distances; else random.
    steady: bool,
    /// The next distance as a share of the mean. The steady starts of all
    /// workers interleave, so each worker's first is another part of it.
    next_share: f64,
    /// Starts to come may wait for the next multiple of this; at least 1.
    slack_ns: u64,
    random: Prng,
    /// The last start that was taken.
    last_ns: u64,
    begin_ns: u64,
    ramp_ns: u64,
    /// Only with a limit of time can starts be left over.
    is_timed: bool,
    /// When somebody asked for the end.
    stopped_ns: u64,
    /// Starts that were taken by a client and not made.
    given_back: Vec<u64>,
    queued: u64,
}

impl Schedule {
    /// The share of worker `index`. `random` is drawn from once for each start
    /// that is not steady.
    pub(super) fn new(plan: &RunPlan, index: u32, random: Prng) -> Self {
        let workers = f64::from(plan.workers.get());
        let clients = plan.share(index).1 as usize;
        Self {
            mean_us: plan.rate.map(|rate| 1e6 / rate.tps * workers),
            steady: plan.rate.is_some_and(|rate| rate.steady),
            next_share: f64::from(index + 1) / workers,
            slack_ns: plan.rate.map_or(1, |rate| (rate.slack.as_nanos() as u64).max(1)),
            random,
            last_ns: 0,
            begin_ns: 0,
            ramp_ns: plan.ramp.as_nanos() as u64,
            is_timed: matches!(plan.limit, Limit::Duration(_)),
            stopped_ns: u64::MAX,
            given_back: Vec::with_capacity(if plan.rate.is_some() { clients } else { 0 }),
            queued: 0,
        }
    }

    /// Whether there is a rate at all.
    #[inline]
    pub(super) fn exists(&self) -> bool {
        self.mean_us.is_some()
    }

    /// The run begins.
    pub(super) fn begin(&mut self, begin_ns: u64) {
        self.begin_ns = begin_ns;
        self.last_ns = begin_ns;
    }

    /// Takes the next start.
    pub(super) fn take(&mut self) -> u64 {
        let mean_us = self.mean_us.unwrap_or_default();
        let distance_ns = if self.steady {
            (mean_us * 1000.0 * std::mem::replace(&mut self.next_share, 1.0)) as u64
        } else {
            self.random.throttle_delay_us(mean_us) as u64 * 1000
        };
        self.last_ns = self.after(distance_ns);
        self.last_ns
    }

    /// The start that follows the last one at a distance meant for the whole
    /// rate. In the ramp the rate grows from nothing in proportion to time, so
    /// the starts due by `t` grow with its square; turning that round gives
    /// the moment of the next, and keeps a Poisson process one.
    fn after(&self, distance_ns: u64) -> u64 {
        let since_ns = self.last_ns - self.begin_ns;
        if since_ns >= self.ramp_ns {
            return self.last_ns + distance_ns;
        }
        let (ramp, since) = (self.ramp_ns as f64, since_ns as f64);
        let work = since * since / (2.0 * ramp) + distance_ns as f64;
        let next = if work < ramp / 2.0 { (2.0 * ramp * work).sqrt() } else { work + ramp / 2.0 };
        // Rounding must not take a start back before the last one.
        self.begin_ns + (next as u64).max(since_ns)
    }

    /// When to wake up for the start at `start_ns`, which is still to come: the
    /// next multiple of the slack, counted from the beginning. Where that is
    /// not before `end_ns`, the moment itself: nobody starts after the end.
    #[inline]
    pub(super) fn wake_ns(&self, start_ns: u64, end_ns: u64) -> u64 {
        if self.slack_ns == 1 {
            return start_ns;
        }
        let since_ns = start_ns - self.begin_ns;
        let wake_ns = self.begin_ns.saturating_add(since_ns.next_multiple_of(self.slack_ns));
        if wake_ns < end_ns { wake_ns } else { start_ns }
    }

    /// A client that had taken the start at `due_ns` ends without making it.
    pub(super) fn give_back(&mut self, due_ns: u64) {
        self.given_back.push(due_ns);
    }

    /// Somebody asks for the end.
    pub(super) fn stop(&mut self, now_ns: u64) {
        self.stopped_ns = self.stopped_ns.min(now_ns);
    }

    /// The run is over, its time at `over_ns` at the latest: counts the starts
    /// that had passed by then and were not made.
    pub(super) fn end(&mut self, over_ns: u64) {
        if !self.exists() || !self.is_timed {
            return;
        }
        let over_ns = over_ns.min(self.stopped_ns);
        self.queued = self.given_back.iter().filter(|due| **due < over_ns).count() as u64;
        for _ in 0..QUEUED_DRAWN_MAX {
            if self.last_ns >= over_ns || self.take() >= over_ns {
                return;
            }
            self.queued += 1;
        }
        let mean_ns = self.mean_us.unwrap_or(f64::INFINITY) * 1000.0;
        self.queued += (over_ns.saturating_sub(self.last_ns) as f64 / mean_ns) as u64;
    }

    /// What [`Schedule::end`] counted.
    pub(super) fn queued(&self) -> u64 {
        self.queued
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(tps: f64, steady: bool, ramp_ns: u64) -> Schedule {
        let mut schedule = Schedule {
            mean_us: Some(1e6 / tps),
            steady,
            next_share: 1.0,
            slack_ns: 1,
            random: Prng::new(7),
            last_ns: 0,
            begin_ns: 0,
            ramp_ns,
            is_timed: true,
            stopped_ns: u64::MAX,
            given_back: Vec::new(),
            queued: 0,
        };
        schedule.begin(1_000);
        schedule
    }

    /// In the ramp the rate grows evenly from nothing: a quarter of the starts
    /// in its first half, half as many in all as after it.
    #[test]
    fn rate_grows_with_the_ramp() {
        const S: u64 = 1_000_000_000;
        for steady in [true, false] {
            let mut schedule = schedule(10_000.0, steady, 2 * S);
            let starts: Vec<u64> = (0..30_000).map(|_| schedule.take() - 1_000).collect();
            assert!(starts.is_sorted());
            let within = |from, to| starts.iter().filter(|s| (from..to).contains(*s)).count();
            for (from, to, expected) in [(0, S, 2_500), (S, 2 * S, 7_500), (2 * S, 3 * S, 10_000)] {
                let (found, slack) = (within(from, to), if steady { 2 } else { 400 });
                assert!(found.abs_diff(expected) <= slack, "{found} instead of {expected}");
            }
        }
    }

    /// With a slack, starts wait for its next multiple and not for the end; one
    /// on a multiple, and each without a slack, does not wait.
    #[test]
    fn wakes_on_multiples() {
        let mut schedule = schedule(1_000.0, true, 0);
        assert_eq!(schedule.wake_ns(1_234, u64::MAX), 1_234);
        schedule.slack_ns = 500;
        for (start_ns, wake_ns) in [(1_000, 1_000), (1_001, 1_500), (1_500, 1_500), (1_501, 2_000)]
        {
            assert_eq!(schedule.wake_ns(start_ns, u64::MAX), wake_ns);
        }
        assert_eq!(schedule.wake_ns(1_501, 2_000), 1_501);
    }

    /// Starts that had passed unmade are counted, those after the end are not.
    #[test]
    fn the_queue_is_counted() {
        let mut schedule = schedule(1_000.0, true, 0);
        let taken: Vec<u64> = (0..10).map(|_| schedule.take()).collect();
        assert_eq!(taken[9], 1_000 + 10_000_000);
        schedule.give_back(taken[9]);
        schedule.give_back(99_000_000);
        schedule.end(20_500_000 + 1_000);
        assert_eq!(schedule.queued(), 1 + 10);
    }

    /// A rate out of all reach, even one whose starts have no distance, ends.
    #[test]
    fn an_absurd_rate_ends() {
        let mut schedule = schedule(1e12, true, 0);
        schedule.end(1_000_001_000);
        let expected = 1e12;
        assert!((schedule.queued() as f64 / expected - 1.0).abs() < 0.01, "{}", schedule.queued());
    }
}
