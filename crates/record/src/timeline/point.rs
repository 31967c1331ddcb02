//! One second, or a few, when they are over: plain numbers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::sqlstate::SqlStateClass;
use crate::tally::merge_counts;

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

impl Point {
    /// All failed transactions.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.failed_by_class.values().sum()
    }

    /// Adds a later part of the same span. Counts, mean, deviation and maxima
    /// stay exact up to rounding; quantiles become upper bounds.
    pub(super) fn absorb(&mut self, other: &Self) {
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
