//! What is told while a benchmark runs: messages of clients, notices, progress.

use std::sync::Mutex;

use pgdyno_engine::observe::{Level as EngineLevel, Observer};
use pgdyno_engine::outcome::ClientError;
use pgdyno_record::timeline::Point;
use pgdyno_report::pgbench::{PgbenchCounts, PgbenchProgress, PgbenchTime, progress};

use super::message::{Level, Messages};
use super::plan::{BenchPlan, ProgressOptions};

/// Microseconds in a second.
const US: u64 = 1_000_000;

/// Tells what the engine says in pgbench's words.
#[derive(Debug)]
pub struct Watch {
    messages: Messages,
    progress: Option<ProgressOptions>,
    throttled: bool,
    latency_limited: bool,
    tries_max: u32,
    exit_on_abort: bool,
    sums: Mutex<Sums>,
}

/// What happened since the last progress line.
#[derive(Debug, Default)]
struct Sums {
    seconds: u32,
    counts: PgbenchCounts,
    latency_us_sum: f64,
    latency_us2_sum: f64,
    lag_us_sum: f64,
}

impl Watch {
    /// For a run of `plan`.
    #[must_use]
    pub fn new(messages: &Messages, plan: &BenchPlan, throttled: bool) -> Self {
        Self {
            messages: messages.clone(),
            progress: plan.progress,
            throttled,
            latency_limited: plan.latency_limit.is_some(),
            tries_max: plan.max_tries,
            exit_on_abort: plan.exit_on_abort,
            sums: Mutex::new(Sums::default()),
        }
    }

    fn line(&self, options: ProgressOptions, end_s: u64, sums: &Sums) -> String {
        let time = if options.timestamp {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            PgbenchTime::Epoch(now.map_or(0, |now| now.as_micros() as u64))
        } else {
            PgbenchTime::Elapsed(end_s * US)
        };
        let mut counts = sums.counts;
        let number = (counts.processed as f64).max(1.0);
        counts.latency_mean_us = sums.latency_us_sum / number;
        let mean_square = sums.latency_us2_sum / number;
        counts.latency_stddev_us = (mean_square - counts.latency_mean_us.powi(2)).max(0.0).sqrt();
        counts.lag_mean_us = sums.lag_us_sum / number;
        progress(&PgbenchProgress {
            time,
            interval_us: u64::from(options.every_s) * US,
            counts,
            throttled: self.throttled,
            latency_limited: self.latency_limited,
            tries_max: self.tries_max,
        })
    }
}

impl Sums {
    fn add(&mut self, point: &Point) {
        let number = point.commits as f64;
        self.seconds += 1;
        self.counts.processed += point.commits;
        self.counts.failed_other += point.failed_by_class.values().sum::<u64>();
        self.counts.skipped += point.skipped;
        self.counts.retried += point.retried;
        self.counts.retries += point.retries;
        self.latency_us_sum += point.latency_mean_us * number;
        self.latency_us2_sum +=
            (point.latency_stddev_us.powi(2) + point.latency_mean_us.powi(2)) * number;
        self.lag_us_sum += point.lag_mean_us * number;
    }
}

impl Observer for Watch {
    fn message(&self, level: EngineLevel, text: &str) {
        let level = match level {
            EngineLevel::Error => Level::Error,
            EngineLevel::Info | EngineLevel::Debug => Level::Info,
        };
        self.messages.say(level, text);
    }

    fn notice(&self, text: &str) {
        self.messages.raw(format!("{text}\n").as_bytes());
    }

    fn script_debug(&self, line: &str) {
        self.messages.raw(format!("{line}\n").as_bytes());
    }

    fn aborted(&self, worker: u32, _: &ClientError) {
        if self.exit_on_abort {
            self.messages
                .say(Level::Error, &format!("Run was aborted due to an error in thread {worker}"));
            // At once, without a report: that is what the option is for. Files are
            // not flushed, as with pgbench.
            std::process::exit(super::EXIT_ABORTED.into());
        }
    }

    fn second(&self, point: &Point) {
        let Some(options) = self.progress else { return };
        // A poisoned lock means that another thread panicked while adding; the sums are only shown.
        let mut sums = self.sums.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        sums.add(point);
        if sums.seconds >= options.every_s {
            let end_s = u64::try_from(point.second + 1).unwrap_or(0);
            let line = self.line(options, end_s, &sums);
            *sums = Sums::default();
            self.messages.raw(line.as_bytes());
        }
    }
}
