//! The texts of PostgreSQL 18's pgbench: final report and progress lines.
//!
//! Numbers in, text out. What each number means, and which lines stand when,
//! follows the PostgreSQL manual, page "pgbench", and what the program prints.

use std::fmt::Write as _;

use pgdyno_record::ScriptTally;

/// Everything that pgbench's final report is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct PgbenchReport {
    /// Scale factor.
    pub scale: i64,
    /// Partitioning of pgbench_accounts, where it was looked up and found.
    pub partitions: Option<PgbenchPartitions>,
    /// `simple`, `extended` or `prepared`.
    pub query_mode: String,
    /// Clients.
    pub clients: u64,
    /// Threads.
    pub threads: u64,
    /// `--max-tries`; 0 is without a limit.
    pub tries_max: u32,
    /// How the run was to end.
    pub limit: PgbenchLimit,
    /// From the moment when all clients were connected until all threads had
    /// ended, µs.
    pub run_us: u64,
    /// Time of connecting: with `reconnect` the sum over all connections and
    /// disconnections, otherwise until all clients were connected; µs.
    pub connect_us: u64,
    /// `-C`.
    pub reconnect: bool,
    /// `-R` was given.
    pub throttled: bool,
    /// `-P` was given.
    pub progress: bool,
    /// `-L`, µs.
    pub latency_limit_us: Option<u64>,
    /// `--failures-detailed`.
    pub failures_detailed: bool,
    /// `--continue-on-error` (PostgreSQL 19): failures of other kinds exist.
    pub continue_on_error: bool,
    /// `-r`.
    pub per_statement: bool,
    /// All transactions together.
    pub total: PgbenchCounts,
    /// Each script, in order.
    pub scripts: Vec<PgbenchScript>,
}

/// Partitioning of pgbench_accounts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PgbenchPartitions {
    /// `range` or `hash`.
    pub method: String,
    /// How many.
    pub count: u64,
}

/// How the run was to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PgbenchLimit {
    /// `-t`: transactions per client.
    Transactions(u64),
    /// `-T`: seconds.
    Seconds(u64),
}

/// How many transactions ended how, and how long they took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PgbenchCounts {
    /// Successful transactions.
    pub processed: u64,
    /// Failed with a serialization failure.
    pub failed_serialization: u64,
    /// Failed with a deadlock.
    pub failed_deadlock: u64,
    /// Failed otherwise (only with `--continue-on-error`).
    pub failed_other: u64,
    /// Skipped by the schedule.
    pub skipped: u64,
    /// Took more than one try.
    pub retried: u64,
    /// Tries beyond the first.
    pub retries: u64,
    /// Of the successful: above the latency limit.
    pub late: u64,
    /// Mean latency of the successful, µs.
    pub latency_mean_us: f64,
    /// sqrt(mean of squares − square of mean), µs.
    pub latency_stddev_us: f64,
    /// Mean schedule lag, µs.
    pub lag_mean_us: f64,
    /// Largest schedule lag, µs.
    pub lag_max_us: u64,
}

/// One script of the report.
#[derive(Clone, Debug, PartialEq)]
pub struct PgbenchScript {
    /// File name, or description of a built-in.
    pub description: String,
    /// Its weight.
    pub weight: u64,
    /// Its transactions.
    pub counts: PgbenchCounts,
    /// Its commands, for `-r`.
    pub commands: Vec<PgbenchCommand>,
}

/// One command of a script.
#[derive(Clone, Debug, PartialEq)]
pub struct PgbenchCommand {
    /// First line of the SQL (at most 127 bytes, as pgbench keeps it), or the
    /// whole backslash command.
    pub first_line: String,
    /// Mean time of successful executions, µs; 0 if never run.
    pub latency_mean_us: f64,
    /// Executions that ended the transaction as failed.
    pub failures: u64,
    /// Executions after which the transaction was tried again.
    pub retries: u64,
}

/// One progress line: everything since the line before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PgbenchProgress {
    /// Which time stands in front.
    pub time: PgbenchTime,
    /// Length of the interval, µs.
    pub interval_us: u64,
    /// The transactions of the interval. `lag_max_us` and `late` are unused.
    pub counts: PgbenchCounts,
    /// `-R` was given.
    pub throttled: bool,
    /// `-L` was given.
    pub latency_limited: bool,
    /// `--max-tries`; 0 is without a limit.
    pub tries_max: u32,
}

/// The time in front of a progress line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PgbenchTime {
    /// Since the start, µs.
    Elapsed(u64),
    /// With `--progress-timestamp`: since 1970, µs.
    Epoch(u64),
}

impl PgbenchCounts {
    /// All failed transactions.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.failed_serialization + self.failed_deadlock + self.failed_other
    }

    /// The whole that pgbench's percentages are of: successful, failed and
    /// skipped.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.processed + self.failed() + self.skipped
    }
}

impl From<&ScriptTally> for PgbenchCounts {
    fn from(tally: &ScriptTally) -> Self {
        let lag_mean_us = match tally.committed {
            0 => 0.0,
            committed => tally.lag_us_sum as f64 / committed as f64,
        };
        Self {
            processed: tally.committed,
            failed_serialization: tally.failed_serialization,
            failed_deadlock: tally.failed_deadlock,
            failed_other: tally.failed_other,
            skipped: tally.skipped,
            retried: tally.retried,
            retries: tally.retries,
            late: tally.late,
            latency_mean_us: tally.response.mean_us(),
            latency_stddev_us: tally.response.stddev_us(),
            lag_mean_us,
            lag_max_us: tally.lag_us_max,
        }
    }
}

/// The final report, with the end of its last line. What follows an aborted
/// run is an error message and not part of it.
#[must_use]
pub fn report(report: &PgbenchReport) -> String {
    let mut out = Text(String::new());
    settings(&mut out, report);
    if report.total.all() == 0 {
        return out.0;
    }
    outcomes(&mut out, "", report, &report.total);
    latencies(&mut out, report);
    speed(&mut out, report);
    let several = report.scripts.len() > 1;
    if several || report.per_statement {
        for (index, script) in report.scripts.iter().enumerate() {
            if several {
                script_section(&mut out, report, index + 1, script);
            }
            if report.per_statement {
                statements(&mut out, report, script);
            }
        }
    }
    out.0
}

/// One progress line, with its end.
#[must_use]
pub fn progress(line: &PgbenchProgress) -> String {
    let counts = &line.counts;
    let tps = 1e6 * counts.processed as f64 / line.interval_us as f64;
    let time = match line.time {
        PgbenchTime::Elapsed(us) => format!("{:.1}", us as f64 / 1e6),
        PgbenchTime::Epoch(us) => format!("{:.3}", us as f64 / 1e6),
    };
    let mut text = format!(
        "progress: {time} s, {tps} tps, lat {lat} ms stddev {stddev}, {failed} failed",
        tps = fixed(tps, 1),
        lat = ms(counts.latency_mean_us),
        stddev = ms(counts.latency_stddev_us),
        failed = counts.failed(),
    );
    let mut add = |fact: String| text.push_str(&fact);
    if line.throttled {
        add(format!(", lag {} ms", ms(counts.lag_mean_us)));
        if line.latency_limited {
            add(format!(", {} skipped", counts.skipped));
        }
    }
    if line.tries_max != 1 {
        add(format!(", {} retried, {} retries", counts.retried, counts.retries));
    }
    text.push('\n');
    text
}

/// Text that grows by lines.
struct Text(String);

impl Text {
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a String cannot fail.
        let _ = self.0.write_fmt(line);
        self.0.push('\n');
    }
}

fn settings(out: &mut Text, report: &PgbenchReport) {
    let kind = match &report.scripts[..] {
        [script] => script.description.as_str(),
        _ => "multiple scripts",
    };
    out.line(format_args!("transaction type: {kind}"));
    out.line(format_args!("scaling factor: {}", report.scale));
    if let Some(partitions) = &report.partitions {
        out.line(format_args!("partition method: {}", partitions.method));
        out.line(format_args!("partitions: {}", partitions.count));
    }
    out.line(format_args!("query mode: {}", report.query_mode));
    out.line(format_args!("number of clients: {}", report.clients));
    out.line(format_args!("number of threads: {}", report.threads));
    if report.tries_max > 0 {
        out.line(format_args!("maximum number of tries: {}", report.tries_max));
    }
    let processed = report.total.processed;
    match report.limit {
        PgbenchLimit::Transactions(per_client) => {
            let planned = per_client.saturating_mul(report.clients);
            out.line(format_args!("number of transactions per client: {per_client}"));
            out.line(format_args!(
                "number of transactions actually processed: {processed}/{planned}"
            ));
        }
        PgbenchLimit::Seconds(seconds) => {
            out.line(format_args!("duration: {seconds} s"));
            out.line(format_args!("number of transactions actually processed: {processed}"));
        }
    }
}

/// Failures, retries and skipped ones: the same lines for the whole and, after
/// ` - `, for a script.
fn outcomes(out: &mut Text, lead: &str, report: &PgbenchReport, counts: &PgbenchCounts) {
    let mut of_all = |what: &str, number: u64| {
        let share = percent(number, counts.all());
        out.line(format_args!("{lead}number of {what}: {number} ({share}%)"));
    };
    of_all("failed transactions", counts.failed());
    if report.failures_detailed {
        of_all("serialization failures", counts.failed_serialization);
        of_all("deadlock failures", counts.failed_deadlock);
        if report.continue_on_error {
            of_all("other failures", counts.failed_other);
        }
    }
    if report.tries_max != 1 {
        of_all("transactions retried", counts.retried);
        out.line(format_args!("{lead}total number of retries: {}", counts.retries));
    }
    if report.throttled && report.latency_limit_us.is_some() {
        let share = percent(counts.skipped, counts.all());
        out.line(format_args!(
            "{lead}number of transactions skipped: {} ({share}%)",
            counts.skipped
        ));
    }
}

fn latencies(out: &mut Text, report: &PgbenchReport) {
    let total = &report.total;
    if let Some(limit_us) = report.latency_limit_us {
        out.line(format_args!(
            "number of transactions above the {} ms latency limit: {}/{} ({}%)",
            fixed(limit_us as f64 / 1e3, 1),
            total.late,
            total.processed,
            percent(total.late, total.processed),
        ));
    }
    if report.throttled || report.progress || report.latency_limit_us.is_some() {
        mean_and_stddev(out, "", total);
    } else {
        // Without measured latencies pgbench takes what the clients had.
        let mean_us = report.run_us as f64 * report.clients as f64 / total.all() as f64;
        let failures = if total.failed() > 0 { " (including failures)" } else { "" };
        out.line(format_args!("latency average = {} ms{failures}", ms(mean_us)));
    }
    if report.throttled {
        out.line(format_args!(
            "rate limit schedule lag: avg {} (max {}) ms",
            ms(total.lag_mean_us),
            ms(total.lag_max_us as f64),
        ));
    }
}

fn speed(out: &mut Text, report: &PgbenchReport) {
    let tps = fixed(report.total.processed as f64 * 1e6 / report.run_us as f64, 6);
    let connect_us = report.connect_us as f64;
    if report.reconnect {
        let connections = report.total.processed + report.total.failed();
        out.line(format_args!(
            "average connection time = {} ms",
            ms(connect_us / connections as f64)
        ));
        out.line(format_args!("tps = {tps} (including reconnection times)"));
    } else {
        out.line(format_args!("initial connection time = {} ms", ms(connect_us)));
        out.line(format_args!("tps = {tps} (without initial connection time)"));
    }
}

fn script_section(out: &mut Text, report: &PgbenchReport, number: usize, script: &PgbenchScript) {
    let counts = &script.counts;
    let weights: u64 = report.scripts.iter().map(|script| script.weight).sum();
    let of_total = |part: u64, whole: u64| fixed(100.0 * part as f64 / whole as f64, 1);
    out.line(format_args!("SQL script {number}: {}", script.description));
    out.line(format_args!(
        " - weight: {} (targets {}% of total)",
        script.weight,
        of_total(script.weight, weights)
    ));
    out.line(format_args!(
        " - {} transactions ({}% of total)",
        counts.all(),
        of_total(counts.all(), report.total.all())
    ));
    if counts.all() > 0 {
        let tps = fixed(counts.processed as f64 * 1e6 / report.run_us as f64, 6);
        out.line(format_args!(
            " - number of transactions actually processed: {} (tps = {tps})",
            counts.processed
        ));
        outcomes(out, " - ", report, counts);
    }
    mean_and_stddev(out, " - ", counts);
}

fn mean_and_stddev(out: &mut Text, lead: &str, counts: &PgbenchCounts) {
    if counts.processed > 0 {
        out.line(format_args!("{lead}latency average = {} ms", ms(counts.latency_mean_us)));
        out.line(format_args!("{lead}latency stddev = {} ms", ms(counts.latency_stddev_us)));
    }
}

fn statements(out: &mut Text, report: &PgbenchReport, script: &PgbenchScript) {
    let lead = if report.scripts.len() > 1 { " - " } else { "" };
    let what = if report.tries_max == 1 { " and failures" } else { ", failures and retries" };
    out.line(format_args!("{lead}statement latencies in milliseconds{what}:"));
    for command in &script.commands {
        let (mean, failures) = (ms(command.latency_mean_us), command.failures);
        let text = &command.first_line;
        if report.tries_max == 1 {
            out.line(format_args!("   {mean:>11}  {failures:>10} {text}"));
        } else {
            let retries = command.retries;
            out.line(format_args!("   {mean:>11}  {failures:>10} {retries:>10} {text}"));
        }
    }
}

/// µs as ms with pgbench's three decimals.
fn ms(us: f64) -> String {
    fixed(us / 1e3, 3)
}

fn percent(part: u64, whole: u64) -> String {
    let percent = if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 };
    fixed(percent, 3)
}

/// As PostgreSQL's own `%.*f`: it rounds as Rust does, and spells what is no
/// number with capitals and without a sign.
fn fixed(value: f64, decimals: usize) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests;
