//! pgbench's log files: one line for each transaction, or for each interval.
//!
//! Formats: PostgreSQL manual, pgbench, "Per-Transaction Logging" and
//! "Aggregated Logging". A worker writes its own file and nobody else does.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use pgdyno_record::FailureClass;
use pgdyno_script::random::Prng;

use crate::plan::LogPlan;

/// How a transaction ended, as far as a log line tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogEnd {
    Done,
    Skipped,
    Failed(FailureClass),
}

/// One finished or skipped transaction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LogEntry {
    pub(crate) client: u32,
    /// Number among the client's transactions, from 1.
    pub(crate) number: u64,
    pub(crate) end: LogEnd,
    pub(crate) latency_us: u64,
    pub(crate) lag_us: u64,
    pub(crate) tries: u32,
    pub(crate) script: usize,
    /// Unix time of logging, µs.
    pub(crate) unix_us: u64,
}

/// Which optional columns the lines have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LogColumns {
    pub(crate) lag: bool,
    pub(crate) skipped: bool,
    pub(crate) retries: bool,
    pub(crate) detailed_failures: bool,
}

/// A worker's log.
#[derive(Debug)]
pub(crate) struct Log {
    out: BufWriter<File>,
    columns: LogColumns,
    sampling: Option<f64>,
    interval_us: Option<u64>,
    aggregate: Aggregate,
}

/// Sums of one interval. Doubles where pgbench has doubles.
#[derive(Debug, Clone, Copy, Default)]
struct Aggregate {
    start_us: u64,
    latency: Sums,
    lag: Sums,
    done: u64,
    skipped: u64,
    retried: u64,
    retries: u64,
    serialization: u64,
    deadlock: u64,
    other: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    count: u64,
    sum: f64,
    squares: f64,
    min: f64,
    max: f64,
}

impl Sums {
    fn add(&mut self, us: u64) {
        let us = us as f64;
        self.min = if self.count == 0 { us } else { self.min.min(us) };
        self.max = if self.count == 0 { us } else { self.max.max(us) };
        self.count += 1;
        self.sum += us;
        self.squares += us * us;
    }
}

/// The log file of worker `worker`: `PREFIX.PID`, with `.WORKER` from the second on.
pub(crate) fn path(plan: &LogPlan, worker: u32) -> PathBuf {
    let mut name = plan.prefix.clone().into_os_string();
    name.push(format!(".{}", std::process::id()));
    if worker > 0 {
        name.push(format!(".{worker}"));
    }
    name.into()
}

impl Log {
    /// Opens, and empties, the worker's log file.
    pub(crate) fn open(plan: &LogPlan, worker: u32, columns: LogColumns) -> io::Result<Self> {
        Ok(Self {
            out: BufWriter::with_capacity(64 * 1024, File::create(path(plan, worker))?),
            columns,
            sampling: plan.sampling,
            interval_us: plan.aggregate.map(|d| duration_us(d).max(1)),
            aggregate: Aggregate::default(),
        })
    }

    /// The first interval starts at the full second at or before `unix_us`.
    pub(crate) fn start(&mut self, unix_us: u64) {
        self.aggregate =
            Aggregate { start_us: unix_us / 1_000_000 * 1_000_000, ..Aggregate::default() };
    }

    /// Writes, or adds up, one transaction. `sampler` gives one draw for each,
    /// if there is sampling.
    pub(crate) fn write(&mut self, entry: &LogEntry, sampler: &mut Prng) -> io::Result<()> {
        if let Some(rate) = self.sampling
            && sampler.double() > rate
        {
            return Ok(());
        }
        match self.interval_us {
            Some(interval) => self.add(entry, interval),
            None => self.line(entry),
        }
    }

    fn line(&mut self, e: &LogEntry) -> io::Result<()> {
        write!(self.out, "{} {} ", e.client, e.number)?;
        match e.end {
            LogEnd::Done => write!(self.out, "{}", e.latency_us)?,
            LogEnd::Skipped => self.out.write_all(b"skipped")?,
            LogEnd::Failed(class) => self.out.write_all(self.failure_word(class).as_bytes())?,
        }
        write!(self.out, " {} {} {}", e.script, e.unix_us / 1_000_000, e.unix_us % 1_000_000)?;
        if self.columns.lag {
            let lag_us = if e.end == LogEnd::Done { e.lag_us } else { 0 };
            write!(self.out, " {lag_us}")?;
        }
        if self.columns.retries {
            write!(self.out, " {}", e.tries.saturating_sub(1))?;
        }
        self.out.write_all(b"\n")
    }

    fn failure_word(&self, class: FailureClass) -> &'static str {
        match class {
            _ if !self.columns.detailed_failures => "failed",
            FailureClass::Serialization => "serialization",
            FailureClass::Deadlock => "deadlock",
            FailureClass::Other => "failed",
        }
    }

    fn add(&mut self, e: &LogEntry, interval_us: u64) -> io::Result<()> {
        self.close_intervals(e.unix_us, interval_us)?;
        let a = &mut self.aggregate;
        match e.end {
            LogEnd::Done => {
                a.done += 1;
                a.latency.add(e.latency_us);
                if self.columns.lag {
                    a.lag.add(e.lag_us);
                }
            }
            LogEnd::Skipped => a.skipped += 1,
            LogEnd::Failed(FailureClass::Serialization) => a.serialization += 1,
            LogEnd::Failed(FailureClass::Deadlock) => a.deadlock += 1,
            LogEnd::Failed(FailureClass::Other) => a.other += 1,
        }
        if e.tries > 1 {
            a.retried += 1;
            a.retries += u64::from(e.tries - 1);
        }
        Ok(())
    }

    fn close_intervals(&mut self, unix_us: u64, interval_us: u64) -> io::Result<()> {
        while self.aggregate.start_us + interval_us <= unix_us {
            self.interval_line()?;
            let start_us = self.aggregate.start_us + interval_us;
            self.aggregate = Aggregate { start_us, ..Aggregate::default() };
        }
        Ok(())
    }

    fn interval_line(&mut self) -> io::Result<()> {
        let a = self.aggregate;
        write!(self.out, "{} {}", a.start_us / 1_000_000, a.done)?;
        for s in [a.latency, a.lag] {
            write!(self.out, " {:.0} {:.0} {:.0} {:.0}", s.sum, s.squares, s.min, s.max)?;
        }
        let skipped = if self.columns.skipped { a.skipped } else { 0 };
        let (retried, retries) = if self.columns.retries { (a.retried, a.retries) } else { (0, 0) };
        let (serialization, deadlock) =
            if self.columns.detailed_failures { (a.serialization, a.deadlock) } else { (0, 0) };
        writeln!(self.out, " {skipped} {retried} {retries} {serialization} {deadlock}")
    }

    /// Writes what is complete by now; an unfinished interval is lost, as in pgbench.
    pub(crate) fn finish(&mut self, unix_us: u64) -> io::Result<()> {
        if let Some(interval) = self.interval_us {
            self.close_intervals(unix_us, interval)?;
        }
        self.out.flush()
    }
}

fn duration_us(d: Duration) -> u64 {
    u64::try_from(d.as_micros()).unwrap_or(u64::MAX)
}
