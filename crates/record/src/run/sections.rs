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
            totals: totals(tally, seconds),
            transactions: transactions.collect(),
            statements: statement_records.collect(),
            connections: ConnectionRecord {
                initial_s,
                failed: tally.connections.failed,
                close_us_sum: tally.connections.close_us_sum,
                lost: tally.connections.lost,
                renewed: tally.connections.renewed,
                waited_us_sum: tally.connections.waited_us_sum,
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

fn totals(tally: &Tally, seconds: f64) -> Totals {
    let total = tally.total();
    Totals {
        seconds,
        tps: per_second(total.committed, seconds),
        goodput_tps: per_second(did_work(&total), seconds),
        counts: Counts::from(&total),
        conflicts: total.conflicts.to_records(),
        rows_written_per_commit: mean(total.rows_written.into(), total.committed),
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
        no_row_share: mean(tally.no_row.into(), tally.executions),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::StatementKind;
    use crate::tally::TransactionTimes;

    /// Goodput leaves out what did no work, rows count only where they were
    /// written, and what was never run has a section of zeros.
    #[test]
    fn figures_follow_from_the_counters() {
        let script =
            |name: &str| ScriptInfo { name: name.to_owned(), weight: 1, text: String::new() };
        let info = |command, writes| StatementInfo {
            script: 0,
            command,
            text: String::new(),
            kind: if writes { StatementKind::Update } else { StatementKind::Select },
            writes,
            rows_expected: None,
            writes_hidden: false,
            independent: Vec::new(),
        };
        let mut tally = Tally::new(1, 2, false);
        for n in 0..10 {
            let effect = n % 2 == 0;
            tally.scripts[0].commit(TransactionTimes::default(), 1, false, effect);
            tally.scripts[0].rows_written += u64::from(effect);
            tally.statements[0].execute(30, u64::from(effect), 1);
            tally.statements[1].execute(10, 7, 0);
        }
        let statements = [info(0, true), info(1, false), info(2, true)];
        let sections = Sections::new(&tally, &[script("a"), script("b")], &statements, 2.0, 0.5);
        assert_eq!((sections.totals.tps, sections.totals.goodput_tps), (5.0, 2.5));
        assert_eq!(sections.totals.rows_written_per_commit, 0.5);
        assert_eq!((sections.statements[0].short, sections.statements[1].short), (5, 0));
        assert_eq!(sections.statements[0].no_row_share, 0.5);
        assert_eq!(sections.statements[0].time_mean_us, 30.0);
        assert_eq!(sections.statements[2].executions, 0);
        assert_eq!(sections.transactions[1].counts, Counts::default());
        let empty = Sections::new(&Tally::default(), &[], &[], 0.0, 0.0);
        assert_eq!((empty.totals.tps, empty.totals.rows_written_per_commit), (0.0, 0.0));
    }
}
