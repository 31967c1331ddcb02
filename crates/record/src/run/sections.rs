//! From what the workers counted to the sections of a record.

use crate::latency::mean;
use crate::run::{
    ConnectionRecord, Counts, ScriptInfo, StatementInfo, StatementRecord, Totals, TransactionRecord,
};
use crate::tally::{ScriptTally, StatementTally, Tally};

/// The sections of a record that follow from the counters alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Sections {
    /// All transaction types together.
    pub totals: Totals,
    /// Each transaction type.
    pub transactions: Vec<TransactionRecord>,
    /// Each statement.
    pub statements: Vec<StatementRecord>,
    /// Connections.
    pub connections: ConnectionRecord,
}

impl Sections {
    /// Makes the sections from the merged tally of a measured interval of
    /// `seconds`, in which all clients took `initial_s` seconds to connect.
    /// Slots of the tally without a description, and descriptions without a
    /// slot (never run), are kept out and counted as zero.
    #[must_use]
    pub fn new(
        tally: &Tally,
        scripts: &[ScriptInfo],
        statements: &[StatementInfo],
        seconds: f64,
        initial_s: f64,
    ) -> Self {
        let unused_script = ScriptTally::default();
        let unused_statement = StatementTally::default();
        let transactions = scripts.iter().enumerate().map(|(index, info)| {
            transaction(info, tally.scripts.get(index).unwrap_or(&unused_script), seconds)
        });
        let statement_records = statements.iter().enumerate().map(|(index, info)| {
            statement(info, tally.statements.get(index).unwrap_or(&unused_statement))
        });
        Self {
            totals: totals(tally, statements, seconds),
            transactions: transactions.collect(),
            statements: statement_records.collect(),
            connections: ConnectionRecord {
                initial_s,
                failed: tally.connections.failed,
                close_us_sum: tally.connections.close_us_sum,
                setup: tally.connections.setup.to_record(),
            },
        }
    }
}

impl From<&ScriptTally> for Counts {
    fn from(tally: &ScriptTally) -> Self {
        Self {
            committed: tally.committed,
            committed_without_effect: tally.committed_without_effect,
            late: tally.late,
            failed: tally.failed(),
            failed_serialization: tally.failed_serialization,
            failed_deadlock: tally.failed_deadlock,
            failed_other: tally.failed_other,
            failed_by_sqlstate: tally.failed_by_sqlstate.clone(),
            unknown: tally.unknown,
            skipped: tally.skipped,
            retried: tally.retried,
            retries: tally.retries,
            retries_by_sqlstate: tally.retries_by_sqlstate.clone(),
            lost_us_sum: tally.lost_us_sum,
            lag_mean_us: mean(tally.lag_us_sum.into(), tally.committed),
            lag_max_us: tally.lag_us_max,
        }
    }
}

fn totals(tally: &Tally, statements: &[StatementInfo], seconds: f64) -> Totals {
    let total = tally.total();
    let rows_written: u64 = statements
        .iter()
        .zip(&tally.statements)
        .filter(|(info, _)| info.writes)
        .map(|(_, counted)| counted.rows)
        .sum();
    Totals {
        seconds,
        tps: per_second(total.committed, seconds),
        goodput_tps: per_second(did_work(&total), seconds),
        counts: Counts::from(&total),
        rows_written_per_commit: mean(rows_written.into(), total.committed),
        response: total.response.to_record(),
        service: total.service.to_record(),
    }
}

fn transaction(info: &ScriptInfo, tally: &ScriptTally, seconds: f64) -> TransactionRecord {
    TransactionRecord {
        name: info.name.clone(),
        weight: info.weight,
        tps: per_second(tally.committed, seconds),
        goodput_tps: per_second(did_work(tally), seconds),
        counts: Counts::from(tally),
        response: tally.response.to_record(),
        service: tally.service.to_record(),
    }
}

fn statement(info: &StatementInfo, tally: &StatementTally) -> StatementRecord {
    StatementRecord {
        statement: info.clone(),
        executions: tally.executions,
        rows: tally.rows,
        short: tally.short,
        no_row: tally.no_row,
        failures: tally.failures,
        retries: tally.retries,
        time_mean_us: mean(tally.time_us_sum.into(), tally.executions),
        latency: tally.latency.as_ref().map(crate::Latencies::to_record),
    }
}

fn did_work(tally: &ScriptTally) -> u64 {
    tally.committed.saturating_sub(tally.committed_without_effect)
}

fn per_second(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
}
