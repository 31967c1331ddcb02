//! The figures of a finished run as pgbench reports them, and as JSON.

use std::fmt::Write as _;
use std::path::Path;

use pgdyno_engine::outcome::RunOutcome;
use pgdyno_engine::plan::RunPlan;
use pgdyno_record::ScriptTally;
use pgdyno_record::tally::StatementTally;
use pgdyno_report::pgbench::{
    PgbenchCommand, PgbenchCounts, PgbenchLimit, PgbenchReport, PgbenchScript, report,
};
use serde_json::{Value, json};

use super::PGBENCH_VERSION;
use super::plan::{BenchPlan, Until};
use super::setup::Found;

/// A finished run, ready to be shown.
#[derive(Debug)]
pub struct Summary {
    report: PgbenchReport,
    /// Asked for with `--latency-percentiles`: each with its latency, µs.
    percentiles: Vec<(f64, u64)>,
    /// How the workers waited for their connections.
    poller: &'static str,
}

impl Summary {
    /// From what was planned, found and measured.
    #[must_use]
    pub fn new(
        plan: &BenchPlan,
        engine_plan: &RunPlan,
        found: &Found,
        throttled: bool,
        outcome: &RunOutcome,
    ) -> Self {
        let total = outcome.tally.total();
        let connections = &outcome.tally.connections;
        let connecting_us = outcome.connecting.as_micros() as u64;
        // The clock of a run starts before its clients connect; its rate counts from after.
        let run_us = (outcome.measured.as_micros() as u64).saturating_sub(connecting_us);
        let connect_us = if plan.connect {
            connections.setup.sum_us() as u64 + connections.close_us_sum
        } else {
            connecting_us
        };
        let mut counts = PgbenchCounts::from(&total);
        if counts.processed == 0 {
            // pgbench divides by the number of successful transactions and prints what comes out.
            counts.lag_mean_us = f64::NAN;
        }
        let quantile = |percent: f64| (percent, total.response.quantile_us(percent / 100.0));
        Self {
            percentiles: plan.percentiles.iter().copied().map(quantile).collect(),
            poller: outcome.poller,
            report: PgbenchReport {
                scale: found.scale,
                partitions: found.partitions.clone(),
                query_mode: plan.protocol.name().to_owned(),
                clients: plan.clients.into(),
                threads: plan.threads.into(),
                tries_max: plan.max_tries,
                limit: match plan.until {
                    Until::Transactions(count) => PgbenchLimit::Transactions(count.into()),
                    Until::Seconds(seconds) => PgbenchLimit::Seconds(seconds.into()),
                },
                run_us,
                connect_us,
                reconnect: plan.connect,
                throttled,
                progress: plan.progress.is_some(),
                latency_limit_us: plan.latency_limit.map(|limit| limit.as_micros() as u64),
                failures_detailed: plan.failures_detailed,
                continue_on_error: plan.continue_on_error,
                per_statement: plan.report_per_command,
                total: counts,
                scripts: scripts(engine_plan, outcome),
            },
        }
    }

    /// pgbench's report, and below it what was asked for besides.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = report(&self.report);
        for (percent, us) in &self.percentiles {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "latency percentile {percent} = {:.3} ms", *us as f64 / 1e3);
        }
        text
    }

    /// Writes the same as JSON.
    ///
    /// # Errors
    /// The file cannot be written; the text says which and why.
    pub fn write_json(&self, file: &Path) -> Result<(), String> {
        let text = format!("{:#}\n", self.json());
        std::fs::write(file, text).map_err(|error| {
            format!(
                "could not write file \"{}\": {}",
                file.display(),
                super::scripts::reason(&error)
            )
        })
    }

    fn json(&self) -> Value {
        let report = &self.report;
        let (limit, value) = match report.limit {
            PgbenchLimit::Transactions(count) => ("transactions_per_client", count),
            PgbenchLimit::Seconds(seconds) => ("duration_s", seconds),
        };
        let partitions = report
            .partitions
            .as_ref()
            .map(|found| json!({ "method": found.method, "count": found.count }));
        let percentiles: Vec<Value> = self
            .percentiles
            .iter()
            .map(|(percent, us)| json!({ "percent": percent, "latency_us": us }))
            .collect();
        json!({
            "pgbench_version": PGBENCH_VERSION,
            "pgdyno_version": env!("CARGO_PKG_VERSION"),
            "scale": report.scale,
            "partitions": partitions,
            "query_mode": report.query_mode,
            "clients": report.clients,
            "threads": report.threads,
            "poller": self.poller,
            "tries_max": report.tries_max,
            limit: value,
            "latency_limit_us": report.latency_limit_us,
            "run_us": report.run_us,
            "connect_us": report.connect_us,
            "tps": per_second(report.total.processed, report.run_us),
            "total": counts_json(&report.total),
            "latency_percentiles": percentiles,
            "scripts": report.scripts.iter().map(|script| self.script_json(script)).collect::<Vec<_>>(),
        })
    }

    fn script_json(&self, script: &PgbenchScript) -> Value {
        let commands: Vec<Value> = script
            .commands
            .iter()
            .filter(|_| self.report.per_statement)
            .map(|command| {
                json!({
                    "first_line": command.first_line,
                    "latency_mean_us": command.latency_mean_us,
                    "failures": command.failures,
                    "retries": command.retries,
                })
            })
            .collect();
        json!({
            "description": script.description,
            "weight": script.weight,
            "tps": per_second(script.counts.processed, self.report.run_us),
            "counts": counts_json(&script.counts),
            "commands": commands,
        })
    }
}

fn per_second(count: u64, run_us: u64) -> f64 {
    if run_us == 0 { 0.0 } else { count as f64 * 1e6 / run_us as f64 }
}

fn counts_json(counts: &PgbenchCounts) -> Value {
    json!({
        "processed": counts.processed,
        "failed": counts.failed(),
        "failed_serialization": counts.failed_serialization,
        "failed_deadlock": counts.failed_deadlock,
        "failed_other": counts.failed_other,
        "skipped": counts.skipped,
        "retried": counts.retried,
        "retries": counts.retries,
        "late": counts.late,
        "latency_mean_us": counts.latency_mean_us,
        "latency_stddev_us": counts.latency_stddev_us,
        "lag_mean_us": counts.lag_mean_us,
        "lag_max_us": counts.lag_max_us,
    })
}

fn scripts(plan: &RunPlan, outcome: &RunOutcome) -> Vec<PgbenchScript> {
    let kinds = plan.program.types.iter().enumerate();
    kinds
        .map(|(script, kind)| PgbenchScript {
            description: kind.script.name.clone(),
            weight: kind.weight.into(),
            counts: PgbenchCounts::from(
                outcome.tally.scripts.get(script).unwrap_or(&ScriptTally::default()),
            ),
            commands: kind
                .script
                .commands
                .iter()
                .enumerate()
                .map(|(command, text)| {
                    let tallies = outcome
                        .slots
                        .iter()
                        .zip(&outcome.tally.statements)
                        .filter(|(slot, _)| slot.script == script && slot.command == command)
                        .map(|(_, tally)| tally);
                    command_row(&text.label, tallies)
                })
                .collect(),
        })
        .collect()
}

/// One row of `-r`. Statements joined by `\;` are one command; its time is
/// counted with the first of them, as often as the command was executed.
fn command_row<'a>(
    label: &str,
    tallies: impl Iterator<Item = &'a StatementTally>,
) -> PgbenchCommand {
    let mut row = PgbenchCommand {
        first_line: label.to_owned(),
        latency_mean_us: 0.0,
        failures: 0,
        retries: 0,
    };
    for tally in tallies {
        if let Some(latency) = tally.latency.as_ref().filter(|latency| latency.count() > 0) {
            row.latency_mean_us = latency.mean_us();
        }
        row.failures += tally.failures;
        row.retries += tally.retries;
    }
    row
}
