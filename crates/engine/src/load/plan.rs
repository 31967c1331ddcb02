//! What a load sends, as a value: the loader obeys it, and a dry run shows it.

use std::num::NonZeroU32;

use pgdyno_target::dialect::{Dialect, LoadBatch, LoadMethod};
use pgdyno_workload::{Table, Workload};

use super::chunks::rows_per_chunk;
use super::progress::Phase;
use super::values::insert_head;

/// How the rows of a load travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) method: LoadMethod,
    pub(super) batch: LoadBatch,
    /// All in one transaction, with FREEZE.
    pub(super) frozen: bool,
}

impl Way {
    /// FREEZE needs the table to be made by the transaction that fills it, so
    /// it is for one connection only. There it saves the vacuum most of its
    /// work: 2 million rows took 1.05 s instead of 1.3 s with keys and
    /// statistics on PostgreSQL 15.
    pub(super) fn new(
        dialect: &dyn Dialect,
        method: Option<LoadMethod>,
        jobs: NonZeroU32,
        version_num: Option<u32>,
    ) -> Self {
        let method = method.unwrap_or_else(|| dialect.load_method());
        let mut batch = dialect.load_batch();
        let limits = dialect.transaction_limits();
        let unlimited = batch == LoadBatch::default() && limits == Default::default();
        let frozen = method == LoadMethod::Copy
            && jobs.get() == 1
            && unlimited
            && dialect.can_copy_freeze(version_num);
        if let LoadMethod::Insert { rows_per_statement } = method {
            let rows = u64::from(rows_per_statement.max(1));
            batch.rows = Some(batch.rows.map_or(rows, |most| most.min(rows)));
        }
        Self { method, batch, frozen }
    }

    /// The statement that rows of a table are sent with, without the rows.
    pub(super) fn statement(&self, table: &Table) -> String {
        match self.method {
            LoadMethod::Copy => {
                let freeze = if self.frozen { " WITH (FREEZE)" } else { "" };
                format!("COPY {} ({}) FROM STDIN{freeze}", table.name, table.columns.join(", "))
            }
            _ => insert_head(table.name, table.columns),
        }
    }
}

/// One look at a loaded table, and what it must show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) sql: String,
    pub(super) rows: i128,
    pub(super) keys: i128,
}

/// Counts rows and adds up keys: in one statement, or in ranges of the key
/// where the dialect bounds what a statement may count. The first and the last
/// range are open, so that a row that should not be there is seen as well.
pub(super) fn looks(table: &Table, rows_max: Option<u64>) -> Vec<Look> {
    let sum = table.key_sum.as_ref().map_or("0", |sum| sum.expression);
    let select =
        format!("SELECT count(*) AS rows, coalesce(sum({sum}), 0) AS keys FROM {}", table.name);
    let ranged = table.key_sum.as_ref().is_some_and(|sum| sum.counts);
    let Some(step) = rows_max.filter(|max| ranged && *max > 0 && table.rows > *max) else {
        let keys = table.key_sum.as_ref().map_or(0, |sum| sum.expected);
        return vec![Look { sql: select, rows: i128::from(table.rows), keys }];
    };
    (0..table.rows.div_ceil(step))
        .map(|number| {
            let first = number * step + 1;
            let last = table.rows.min(first + step - 1);
            let from = if number == 0 { None } else { Some(format!("{sum} >= {first}")) };
            let to = if last == table.rows { None } else { Some(format!("{sum} <= {last}")) };
            let range: Vec<String> = from.into_iter().chain(to).collect();
            let (first, last) = (i128::from(first), i128::from(last));
            Look {
                sql: format!("{select} WHERE {}", range.join(" AND ")),
                rows: last - first + 1,
                keys: (first + last) * (last - first + 1) / 2,
            }
        })
        .collect()
}

/// A statement that a load would send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedStep {
    /// Where in the load.
    pub phase: Phase,
    /// The statement, without the data of a COPY or an INSERT.
    pub sql: String,
    /// True where data follows.
    pub has_data: bool,
    /// How often it is sent, each time with other rows or another range; `sql`
    /// is then the first.
    pub times: u64,
    /// What a person should know of it; empty where nothing.
    pub note: String,
}

/// A load, before it happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// Connections side by side.
    pub jobs: u32,
    /// True where tables are made and filled in one transaction.
    pub one_transaction: bool,
    /// Everything that is sent, in order.
    pub steps: Vec<PlannedStep>,
}

/// What [`load`](super::load) would send to a database of this dialect. Without
/// a `version_num` nothing is assumed that an older server lacks.
#[must_use]
pub fn planned(
    workload: &dyn Workload,
    dialect: &dyn Dialect,
    method: Option<LoadMethod>,
    jobs: NonZeroU32,
    version_num: Option<u32>,
) -> Planned {
    let way = Way::new(dialect, method, jobs, version_num);
    let plain =
        |phase, sql| PlannedStep { phase, sql, has_data: false, times: 1, note: String::new() };
    let mut steps: Vec<PlannedStep> = Vec::new();
    let mut add = |phase, sqls: Vec<String>| {
        steps.extend(sqls.into_iter().map(|sql| plain(phase, sql)));
    };
    add(Phase::Drop, workload.drop_statements(dialect));
    add(Phase::Create, create(workload, dialect, way.frozen));
    let tables = workload.tables();
    steps.extend(tables.iter().filter(|table| table.rows > 0).map(|table| rows(table, &way)));
    let mut add = |phase, sqls: Vec<String>| {
        steps.extend(sqls.into_iter().map(|sql| plain(phase, sql)));
    };
    if way.frozen {
        add(Phase::Rows, vec!["COMMIT".to_owned()]);
    }
    let sqls = |all: Vec<pgdyno_workload::TableStatement>| all.into_iter().map(|one| one.sql);
    add(Phase::Keys, sqls(workload.key_statements(dialect)).collect());
    add(Phase::Settle, sqls(workload.settle_statements(dialect)).collect());
    for table in &tables {
        let looks = looks(table, dialect.count_rows_max());
        let times = looks.len() as u64;
        let note = if times > 1 { "one range of keys after the other" } else { "" };
        steps.extend(looks.into_iter().take(1).map(|look| PlannedStep {
            times,
            note: note.to_owned(),
            ..plain(Phase::Check, look.sql)
        }));
    }
    Planned { jobs: jobs.get(), one_transaction: way.frozen, steps }
}

/// What makes the tables, and begins the transaction that fills them where
/// that is the same one.
pub(super) fn create(workload: &dyn Workload, dialect: &dyn Dialect, frozen: bool) -> Vec<String> {
    let begin = frozen.then(|| "BEGIN".to_owned());
    begin.into_iter().chain(workload.create_statements(dialect)).collect()
}

fn rows(table: &Table, way: &Way) -> PlannedStep {
    let per_chunk = rows_per_chunk(table, way.batch).min(table.rows);
    let times = table.rows.div_ceil(per_chunk);
    let own = if way.frozen { "" } else { ", each a transaction of its own" };
    let note = if times > 1 {
        format!("{} rows, {per_chunk} at a time{own}", table.rows)
    } else {
        format!("{} rows", table.rows)
    };
    PlannedStep { phase: Phase::Rows, sql: way.statement(table), has_data: true, times, note }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgdyno_workload::KeySum;
    use proptest::prelude::*;

    fn table(rows: u64) -> Table {
        let key_sum = Some(KeySum::counting("k", rows));
        Table { name: "t", columns: &["k"], rows, row_bytes_max: 10, key_sum }
    }

    proptest! {
        /// The ranges of a count cover every key once, and their expected
        /// figures add up to those of the whole.
        #[test]
        fn ranges_add_up(rows in 0u64..1_000_000, max in 1u64..300_000) {
            let table = table(rows);
            let looks = looks(&table, Some(max));
            prop_assert_eq!(looks.iter().map(|look| look.rows).sum::<i128>(), i128::from(rows));
            let keys = looks.iter().map(|look| look.keys).sum::<i128>();
            prop_assert_eq!(Some(keys), table.key_sum.map(|sum| sum.expected));
            prop_assert!(looks.iter().all(|look| look.rows <= i128::from(max)));
        }
    }

    /// The outer ranges are open, and without a limit there is no range.
    #[test]
    fn ranges_are_open_at_the_ends() {
        let where_of = |look: &Look| look.sql.split(" WHERE ").nth(1).map(str::to_owned);
        let found: Vec<_> = looks(&table(25), Some(10)).iter().map(where_of).collect();
        let expected = ["k <= 10", "k >= 11 AND k <= 20", "k >= 21"];
        assert_eq!(found, expected.map(|text| Some(text.to_owned())));
        assert_eq!(looks(&table(25), None).iter().map(where_of).collect::<Vec<_>>(), [None]);
    }

    /// Statements of INSERT keep to both limits, the asked one and the
    /// dialect's.
    #[test]
    fn inserts_keep_the_dialects_limit() {
        let dsql = pgdyno_target::dialect_by_name("aurora-dsql").unwrap();
        for (asked, expected) in [(500, 500), (50_000, 2000), (0, 1)] {
            let method = LoadMethod::Insert { rows_per_statement: asked };
            let way = Way::new(dsql, Some(method), NonZeroU32::MIN, None);
            assert_eq!(way.batch.rows, Some(expected));
            assert!(!way.frozen);
        }
    }
}
