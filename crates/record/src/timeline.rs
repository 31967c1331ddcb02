//! The timeline: what happened in each second of a run.
//!
//! A worker keeps one current [`Second`] and hands it over when the next one
//! begins. The coordinator adds the seconds of all workers in a [`Timeline`],
//! which turns a second into a [`Point`] of plain numbers once every worker has
//! passed it. Memory is bounded: at most [`PENDING_SECONDS_MAX`] full seconds
//! (13 KB each) and [`POINTS_MAX`] points are held.

use std::collections::{BTreeMap, VecDeque};

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::latency::{LATENCY_US_MAX, mean, stddev};
use crate::sqlstate::{SqlState, SqlStateClass};
use crate::tally::{TransactionTimes, merge_counts};

/// Full seconds held while some worker has not yet passed them: two minutes of
/// a stuck worker, about 1.6 MB. Beyond it the oldest becomes a point early.
pub const PENDING_SECONDS_MAX: usize = 120;

/// Points held: six hours at one second each. When a run outlasts them, points
/// are joined in pairs and the width doubles, so a run of any length keeps
/// between 10,800 and 21,600 points (below 6 MB).
pub const POINTS_MAX: usize = 21_600;

/// Significant digits of a second's histogram: 1 % is enough to draw, and its
/// 13 KB can be sent every second where 190 KB could not.
pub const SIGNIFICANT_DIGITS: u8 = 2;

/// What one worker, or all of them, did in one second.
#[derive(Clone, Debug, PartialEq)]
pub struct Second {
    /// Seconds since the start of the measured interval, rounded down;
    /// negative during the warm-up.
    pub index: i64,
    /// Transactions committed.
    pub commits: u64,
    /// Failed transactions by class of their SQLSTATE.
    pub failed_by_class: BTreeMap<SqlStateClass, u64>,
    /// Commits of unknown outcome.
    pub unknown: u64,
    /// Transactions that took more than one try.
    pub retried: u64,
    /// Tries beyond the first.
    pub retries: u64,
    /// Transactions that the schedule gave up.
    pub skipped: u64,
    /// Sum of the response times of commits, µs.
    pub latency_us_sum: u128,
    /// Sum of their squares, µs².
    pub latency_us2_sum: u128,
    /// Largest response time, µs.
    pub latency_us_max: u64,
    /// How many schedule lags were recorded.
    pub lag_count: u64,
    /// Sum of the schedule lags, µs.
    pub lag_us_sum: u64,
    /// Largest schedule lag, µs.
    pub lag_us_max: u64,
    histogram: Histogram<u32>,
}

/// One entry of the timeline in a record: all workers, `width_s` seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// First second, from the start of the measured interval; negative during
    /// the warm-up.
    pub second: i64,
    /// Transactions committed.
    pub commits: u64,
    /// Failed transactions by class of their SQLSTATE.
    pub failed_by_class: BTreeMap<SqlStateClass, u64>,
    /// Commits of unknown outcome.
    pub unknown: u64,
    /// Transactions that took more than one try.
    pub retried: u64,
    /// Tries beyond the first.
    pub retries: u64,
    /// Transactions that the schedule gave up.
    pub skipped: u64,
    /// Mean response time, µs; 0 without commits.
    pub latency_mean_us: f64,
    /// Standard deviation of the response time, µs.
    pub latency_stddev_us: f64,
    /// Quantile 0.5 of the response time, µs, to 2 digits.
    pub p50_us: u64,
    /// Quantile 0.9.
    pub p90_us: u64,
    /// Quantile 0.95.
    pub p95_us: u64,
    /// Quantile 0.99.
    pub p99_us: u64,
    /// Largest response time, µs, exact.
    pub max_us: u64,
    /// Mean schedule lag, µs; 0 without a rate.
    pub lag_mean_us: f64,
    /// Largest schedule lag, µs.
    pub lag_max_us: u64,
    /// Whether the quantiles are upper bounds, not exact: parts were added
    /// after their histograms had gone.
    pub quantiles_bound: bool,
}

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

/// A worker's current second.
#[derive(Clone, Debug)]
pub struct SecondClock {
    current: Second,
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

impl Second {
    /// An empty second. Allocates its histogram, 13 KB.
    #[must_use]
    pub fn new(index: i64) -> Self {
        let histogram = match Histogram::new_with_bounds(1, LATENCY_US_MAX, SIGNIFICANT_DIGITS) {
            Ok(histogram) => histogram,
            Err(error) => unreachable!("the range is a valid constant: {error}"),
        };
        Self {
            index,
            commits: 0,
            failed_by_class: BTreeMap::new(),
            unknown: 0,
            retried: 0,
            retries: 0,
            skipped: 0,
            latency_us_sum: 0,
            latency_us2_sum: 0,
            latency_us_max: 0,
            lag_count: 0,
            lag_us_sum: 0,
            lag_us_max: 0,
            histogram,
        }
    }

    /// Counts a committed transaction that took `tries` tries.
    #[inline]
    pub fn commit(&mut self, times: TransactionTimes, tries: u32) {
        self.commits += 1;
        self.count_tries(tries);
        // Longer than an hour: at the top of the histogram; the maximum is exact.
        self.histogram.saturating_record(times.response_us);
        let wide = u128::from(times.response_us);
        self.latency_us_sum += wide;
        self.latency_us2_sum = self.latency_us2_sum.saturating_add(wide * wide);
        self.latency_us_max = self.latency_us_max.max(times.response_us);
        self.lag_count += 1;
        self.lag_us_sum += times.lag_us;
        self.lag_us_max = self.lag_us_max.max(times.lag_us);
    }

    /// Counts a failed transaction.
    pub fn fail(&mut self, sqlstate: SqlState, tries: u32) {
        *self.failed_by_class.entry(sqlstate.class()).or_default() += 1;
        self.count_tries(tries);
    }

    /// Counts a commit of unknown outcome.
    pub fn unknown(&mut self, tries: u32) {
        self.unknown += 1;
        self.count_tries(tries);
    }

    /// Counts a transaction that the schedule gave up.
    #[inline]
    pub fn skip(&mut self) {
        self.skipped += 1;
    }

    /// All failed transactions.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.failed_by_class.values().sum()
    }

    /// Whether nothing happened.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.commits + self.unknown + self.skipped == 0 && self.failed_by_class.is_empty()
    }

    /// Quantile (0..=1) of the response time in µs, to 2 digits.
    #[must_use]
    pub fn quantile_us(&self, quantile: f64) -> u64 {
        self.histogram.value_at_quantile(quantile).min(self.latency_us_max)
    }

    /// Adds all of `other`, which may be of another second: the index stays.
    pub fn merge(&mut self, other: &Self) {
        self.commits += other.commits;
        merge_counts(&mut self.failed_by_class, &other.failed_by_class);
        self.unknown += other.unknown;
        self.retried += other.retried;
        self.retries += other.retries;
        self.skipped += other.skipped;
        self.latency_us_sum += other.latency_us_sum;
        self.latency_us2_sum = self.latency_us2_sum.saturating_add(other.latency_us2_sum);
        self.latency_us_max = self.latency_us_max.max(other.latency_us_max);
        self.lag_count += other.lag_count;
        self.lag_us_sum += other.lag_us_sum;
        self.lag_us_max = self.lag_us_max.max(other.lag_us_max);
        let added = self.histogram.add(&other.histogram);
        debug_assert!(added.is_ok(), "histograms of one range add up");
    }

    /// The plain numbers of this second.
    #[must_use]
    pub fn to_point(&self) -> Point {
        Point {
            second: self.index,
            commits: self.commits,
            failed_by_class: self.failed_by_class.clone(),
            unknown: self.unknown,
            retried: self.retried,
            retries: self.retries,
            skipped: self.skipped,
            latency_mean_us: mean(self.latency_us_sum, self.commits),
            latency_stddev_us: stddev(self.latency_us_sum, self.latency_us2_sum, self.commits),
            p50_us: self.quantile_us(0.5),
            p90_us: self.quantile_us(0.9),
            p95_us: self.quantile_us(0.95),
            p99_us: self.quantile_us(0.99),
            max_us: self.latency_us_max,
            lag_mean_us: mean(self.lag_us_sum.into(), self.lag_count),
            lag_max_us: self.lag_us_max,
            quantiles_bound: false,
        }
    }

    #[inline]
    fn count_tries(&mut self, tries: u32) {
        if tries > 1 {
            self.retried += 1;
            self.retries += u64::from(tries - 1);
        }
    }
}

impl Point {
    /// All failed transactions.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.failed_by_class.values().sum()
    }

    /// Adds a later part of the same span. Counts, mean, deviation and maxima
    /// stay exact up to rounding; quantiles become upper bounds.
    fn absorb(&mut self, other: &Self) {
        let (mine, theirs) = (self.commits as f64, other.commits as f64);
        let commits = mine + theirs;
        if other.commits > 0 {
            let square = |mean: f64, stddev: f64| stddev * stddev + mean * mean;
            let squares = (square(self.latency_mean_us, self.latency_stddev_us) * mine
                + square(other.latency_mean_us, other.latency_stddev_us) * theirs)
                / commits;
            let mean = (self.latency_mean_us * mine + other.latency_mean_us * theirs) / commits;
            self.quantiles_bound |= self.commits > 0 || other.quantiles_bound;
            self.latency_mean_us = mean;
            self.latency_stddev_us = (squares - mean * mean).max(0.0).sqrt();
            // Lags are recorded with commits, so their weights are the same.
            self.lag_mean_us = (self.lag_mean_us * mine + other.lag_mean_us * theirs) / commits;
        }
        self.commits += other.commits;
        merge_counts(&mut self.failed_by_class, &other.failed_by_class);
        self.unknown += other.unknown;
        self.retried += other.retried;
        self.retries += other.retries;
        self.skipped += other.skipped;
        self.p50_us = self.p50_us.max(other.p50_us);
        self.p90_us = self.p90_us.max(other.p90_us);
        self.p95_us = self.p95_us.max(other.p95_us);
        self.p99_us = self.p99_us.max(other.p99_us);
        self.max_us = self.max_us.max(other.max_us);
        self.lag_max_us = self.lag_max_us.max(other.lag_max_us);
    }
}

impl SecondClock {
    /// Starts at the second `index`.
    #[must_use]
    pub fn new(index: i64) -> Self {
        Self { current: Second::new(index) }
    }

    /// The current second, to count in.
    #[inline]
    pub fn current(&mut self) -> &mut Second {
        &mut self.current
    }

    /// Moves on to the second `index` and gives back the finished one; `None`
    /// while the current second lasts. A clock never runs backwards.
    #[inline]
    pub fn advance(&mut self, index: i64) -> Option<Second> {
        if index <= self.current.index {
            return None;
        }
        Some(std::mem::replace(&mut self.current, Second::new(index)))
    }

    /// The last second, when the worker ends.
    #[must_use]
    pub fn finish(self) -> Second {
        self.current
    }
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
