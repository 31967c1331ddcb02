//! The timeline: what happened in each second of a run.
//!
//! A worker keeps one current [`Second`] and hands it over when the next one
//! begins. The coordinator adds the seconds of all workers in a [`Timeline`],
//! which turns a second into a [`Point`] of plain numbers once every worker has
//! passed it. Memory is bounded: at most [`PENDING_SECONDS_MAX`] full seconds
//! (13 KB each) and [`POINTS_MAX`] points are held.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

mod point;
mod second;

pub use point::Point;
pub use second::{SIGNIFICANT_DIGITS, Second, SecondClock};

/// Full seconds held while some worker has not yet passed them: two minutes of
/// a stuck worker, about 1.6 MB. Beyond it the oldest becomes a point early.
pub const PENDING_SECONDS_MAX: usize = 120;

/// Points held: six hours at one second each. When a run outlasts them, points
/// are joined in pairs and the width doubles, so a run of any length keeps
/// between 10,800 and 21,600 points (below 6 MB).
pub const POINTS_MAX: usize = 21_600;

/// The timeline of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimelineRecord {
    /// Seconds that a point covers: 1, or a power of two in very long runs.
    pub width_s: u64,
    /// In order of time. A second in which nothing ended has no commits, not
    /// no point.
    pub points: Vec<Point>,
}

/// The coordinator's side: seconds of all workers, added up.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// For each worker the last second that it handed over; `None` at first.
    handed_over: Vec<Option<i64>>,
    pending: VecDeque<Second>,
    width_s: u64,
    points: Vec<Point>,
    /// Seconds before this one have become points.
    settled_before: Option<i64>,
}

impl Timeline {
    /// An empty timeline for so many workers.
    #[must_use]
    pub fn new(workers: usize) -> Self {
        Self {
            handed_over: vec![None; workers],
            pending: VecDeque::new(),
            width_s: 1,
            points: Vec::new(),
            settled_before: None,
        }
    }

    /// Takes a second that a worker (0-based) has finished.
    pub fn add(&mut self, worker: usize, second: Second) {
        if let Some(last) = self.handed_over.get_mut(worker) {
            *last = (*last).max(Some(second.index));
        }
        if self.settled_before.is_some_and(|settled| second.index < settled) {
            self.absorb_late(&second.to_point());
        } else {
            self.add_pending(second);
        }
        self.settle();
    }

    /// Says that a worker has ended and will hand over nothing more.
    pub fn worker_ended(&mut self, worker: usize) {
        if let Some(last) = self.handed_over.get_mut(worker) {
            *last = Some(i64::MAX);
        }
        self.settle();
    }

    /// The seconds that every worker has passed, in order. With `width_s` 1
    /// the list only grows at its end, which is what a live display reads.
    #[must_use]
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Seconds that a point covers.
    #[must_use]
    pub fn width_s(&self) -> u64 {
        self.width_s
    }

    /// Everything that was handed over, for the record.
    #[must_use]
    pub fn finish(mut self) -> TimelineRecord {
        self.handed_over.fill(Some(i64::MAX));
        self.settle();
        TimelineRecord { width_s: self.width_s, points: self.points }
    }

    fn width(&self) -> i64 {
        i64::try_from(self.width_s).unwrap_or(i64::MAX)
    }

    fn add_pending(&mut self, second: Second) {
        match self.pending.binary_search_by_key(&second.index, |pending| pending.index) {
            Ok(at) => self.pending[at].merge(&second),
            Err(at) => self.pending.insert(at, second),
        }
    }

    /// Turns seconds that every worker has passed, and those beyond the limit,
    /// into points.
    fn settle(&mut self) {
        let passed = self.handed_over.iter().copied().min().flatten();
        while let Some(first) = self.pending.front() {
            let complete = passed.is_some_and(|passed| first.index <= passed);
            if !complete && self.pending.len() <= PENDING_SECONDS_MAX {
                break;
            }
            let point = first.to_point();
            self.settled_before = Some(first.index.saturating_add(1));
            self.pending.pop_front();
            self.push_point(point);
        }
    }

    fn push_point(&mut self, mut point: Point) {
        let width = self.width();
        point.second = point.second.div_euclid(width) * width;
        self.fill_gap(point.second);
        match self.points.last_mut() {
            Some(last) if last.second == point.second => last.absorb(&point),
            _ => self.points.push(point),
        }
        if self.points.len() > POINTS_MAX {
            self.halve();
        }
    }

    /// A second in which no transaction ended is a fact, not a gap.
    fn fill_gap(&mut self, next: i64) {
        let width = self.width();
        while let Some(last) = self.points.last() {
            let second = last.second.saturating_add(width);
            if second >= next || self.points.len() >= POINTS_MAX {
                return;
            }
            self.points.push(Point { second, ..Point::default() });
        }
    }

    fn absorb_late(&mut self, point: &Point) {
        let width = self.width();
        let second = point.second.div_euclid(width) * width;
        match self.points.binary_search_by_key(&second, |known| known.second) {
            Ok(at) => self.points[at].absorb(point),
            Err(at) => self.points.insert(at, Point { second, ..point.clone() }),
        }
    }

    fn halve(&mut self) {
        self.width_s *= 2;
        let width = self.width();
        let narrow = std::mem::take(&mut self.points);
        for mut point in narrow {
            point.second = point.second.div_euclid(width) * width;
            match self.points.last_mut() {
                Some(last) if last.second == point.second => last.absorb(&point),
                _ => self.points.push(point),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tally::TransactionTimes;

    fn times(us: u64) -> TransactionTimes {
        TransactionTimes { response_us: us, service_us: us, lag_us: us / 10 }
    }

    fn second(index: i64, latencies: &[u64]) -> Second {
        let mut second = Second::new(index);
        latencies.iter().for_each(|us| second.commit(times(*us), 1));
        second
    }

    fn commits(timeline: &TimelineRecord) -> Vec<(i64, u64)> {
        timeline.points.iter().map(|point| (point.second, point.commits)).collect()
    }

    /// A worker's clock gives up a second once, when the next one begins.
    #[test]
    fn clock_hands_over_once() {
        let mut clock = SecondClock::new(-1);
        clock.current().commit(times(5), 2);
        assert!(clock.advance(-1).is_none());
        let done = clock.advance(2).unwrap();
        assert_eq!((done.index, done.commits, done.retries), (-1, 1, 1));
        assert!(clock.advance(1).is_none(), "a clock never runs backwards");
        assert_eq!(clock.finish().index, 2);
    }

    /// A second becomes a point when the slowest worker has passed it, not
    /// before; seconds without a commit are points too.
    #[test]
    fn points_wait_for_every_worker() {
        let mut timeline = Timeline::new(2);
        timeline.add(0, second(0, &[10]));
        timeline.add(0, second(1, &[10]));
        assert!(timeline.points().is_empty());
        timeline.add(1, second(0, &[30]));
        assert_eq!(timeline.points().len(), 1);
        assert_eq!((timeline.points()[0].commits, timeline.points()[0].max_us), (2, 30));
        timeline.worker_ended(1);
        assert_eq!(timeline.points().len(), 2);
        timeline.add(0, second(4, &[10]));
        assert_eq!(commits(&timeline.finish()), [(0, 2), (1, 1), (2, 0), (3, 0), (4, 1)]);
    }

    /// What comes after its second was closed is still counted, and the point
    /// says that its quantiles are bounds.
    #[test]
    fn late_seconds_are_counted() {
        let mut timeline = Timeline::new(1);
        timeline.add(0, second(0, &[10]));
        timeline.add(0, second(0, &[90, 90]));
        let record = timeline.finish();
        assert_eq!(commits(&record), [(0, 3)]);
        let point = &record.points[0];
        assert!(point.quantiles_bound);
        assert_eq!((point.p50_us, point.max_us), (90, 90));
        assert!((point.latency_mean_us - 190.0 / 3.0).abs() < 1e-9);
    }

    /// A stuck worker cannot make the coordinator hold more than the limit.
    #[test]
    fn pending_seconds_are_bounded() {
        let mut timeline = Timeline::new(2);
        for index in 0..PENDING_SECONDS_MAX as i64 + 50 {
            timeline.add(0, second(index, &[10]));
            assert!(timeline.pending.len() <= PENDING_SECONDS_MAX);
        }
        timeline.add(1, second(3, &[10]));
        let record = timeline.finish();
        assert_eq!(record.points.len(), PENDING_SECONDS_MAX + 50);
        assert_eq!(record.points[3].commits, 2);
    }

    /// A run of days keeps a bounded number of points and every commit, and no
    /// point holds both warm-up and measured seconds.
    #[test]
    fn long_runs_are_bounded() {
        let mut timeline = Timeline::new(1);
        let seconds = POINTS_MAX as i64 * 3;
        for index in -3..seconds {
            timeline.add(0, second(index, &[index.unsigned_abs() % 7]));
        }
        let record = timeline.finish();
        assert!(record.points.len() <= POINTS_MAX);
        assert_eq!(record.width_s, 4);
        assert_eq!(record.points.iter().map(|p| p.commits).sum::<u64>(), seconds as u64 + 3);
        let warm: u64 = record.points.iter().filter(|p| p.second < 0).map(|p| p.commits).sum();
        assert_eq!(warm, 3);
        assert!(record.points.windows(2).all(|pair| pair[0].second < pair[1].second));
    }

    /// A jump of the clock by years does not fill memory with empty seconds.
    #[test]
    fn a_jump_is_bounded() {
        let mut timeline = Timeline::new(1);
        timeline.add(0, second(0, &[1]));
        timeline.add(0, second(i64::MAX - 1, &[1]));
        assert!(timeline.finish().points.len() <= POINTS_MAX + 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// However the commits of a second are dealt to workers, the point is
        /// the same as from one worker.
        #[test]
        fn merge_of_a_split_is_the_whole(
            dealt in prop::collection::vec((0..3_usize, 0..5_000_000_u64), 0..60),
        ) {
            let share = |worker| {
                let mine: Vec<u64> =
                    dealt.iter().filter(|(w, _)| *w == worker).map(|(_, us)| *us).collect();
                second(7, &mine)
            };
            let all: Vec<u64> = dealt.iter().map(|(_, us)| *us).collect();
            let mut timeline = Timeline::new(3);
            for worker in [2, 0, 1] {
                timeline.add(worker, share(worker));
            }
            prop_assert_eq!(timeline.points(), &[second(7, &all).to_point()]);
        }
    }
}
