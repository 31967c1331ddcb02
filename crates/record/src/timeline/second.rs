//! One second while it lasts: what a worker counts in.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use crate::latency::{LATENCY_US_MAX, mean, stddev};
use crate::sqlstate::{SqlState, SqlStateClass};
use crate::tally::{TransactionTimes, merge_counts};
use crate::timeline::Point;

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

/// A worker's current second.
#[derive(Clone, Debug)]
pub struct SecondClock {
    current: Second,
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
