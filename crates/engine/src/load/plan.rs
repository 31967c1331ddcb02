//! What a load sends, as a value: the loader obeys it, and a dry run shows it.

use std::num::NonZeroU32;

use pgdyno_target::dialect::{Dialect, LoadBatch, LoadMethod};
use pgdyno_workload::{Table, Workload};

use super::chunks::{Chunk, Cut};
use super::marks::{self, Identity, Mark};
use super::progress::Phase;
use super::values::{insert_head, insert_prepared};

/// How the rows of a load travel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) method: LoadMethod,
    pub(super) cut: Cut,
    /// All in one transaction, with FREEZE; otherwise each chunk is one, with
    /// its mark.
    pub(super) frozen: bool,
    /// For each table the SELECT that makes its rows in the server, where that
    /// is wanted and can be had.
    server: Vec<Option<String>>,
    /// For the tables that it cannot be had for.
    fallback: LoadMethod,
}

/// How the rows of one table travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Travel<'a> {
    /// `COPY … FROM STDIN`.
    Copy,
    /// INSERTs of many rows.
    Insert,
    /// INSERTs of one row.
    InsertSingle,
    /// The server makes them by this SELECT over `:first` to `:last`.
    Server(&'a str),
}

impl Way {
    /// FREEZE needs the table to be made by the transaction that fills it, so
    /// it is for one connection only, and there is nothing to go on with after
    /// a crash. There it saves the vacuum most of its work: 2 million rows took
    /// 1.05 s instead of 1.3 s with keys and statistics on PostgreSQL 15.
    pub(super) fn new(how: &How<'_>, version_num: Option<u32>) -> Self {
        let dialect = how.dialect;
        let fallback = dialect.load_method();
        let method = how.method.unwrap_or(fallback);
        let mut batch = dialect.load_batch();
        let limits = dialect.transaction_limits();
        let unlimited = batch == LoadBatch::default() && limits == Default::default();
        let frozen = method == LoadMethod::Copy
            && how.jobs.get() == 1
            && !how.resume
            && unlimited
            && how.workload.can_copy_freeze()
            && dialect.can_copy_freeze(version_num);
        // A chunk's mark is a row of its transaction as well.
        at_most(&mut batch, limits.rows.map(|rows| rows.saturating_sub(1)));
        match method {
            LoadMethod::Insert { rows_per_statement: rows }
            | LoadMethod::InsertSingle { rows_per_transaction: rows } => {
                at_most(&mut batch, Some(rows.into()));
            }
            LoadMethod::Copy | LoadMethod::Server => {}
        }
        let server = match method {
            LoadMethod::Server => (0..how.workload.tables().len())
                .map(|table| how.workload.server_rows(table, dialect, how.seed))
                .collect(),
            _ => Vec::new(),
        };
        let cut = if frozen { Cut::Tables } else { Cut::Batches(batch) };
        Self { method, cut, frozen, server, fallback }
    }

    /// How the rows of table number `table` travel.
    pub(super) fn travel(&self, table: usize) -> Travel<'_> {
        let sent = |method| match method {
            LoadMethod::Insert { .. } => Travel::Insert,
            LoadMethod::InsertSingle { .. } => Travel::InsertSingle,
            LoadMethod::Copy | LoadMethod::Server => Travel::Copy,
        };
        match self.method {
            LoadMethod::Server => match self.server.get(table) {
                Some(Some(select)) => Travel::Server(select),
                _ => sent(self.fallback),
            },
            method => sent(method),
        }
    }

    /// False where the server is to make rows by itself and can make none.
    pub(super) fn serves(&self, tables: &[Table]) -> bool {
        let by_server = |number: usize| matches!(self.travel(number), Travel::Server(_));
        let with_rows = || tables.iter().enumerate().filter(|(_, table)| table.rows > 0);
        self.method != LoadMethod::Server || with_rows().any(|(number, _)| by_server(number))
    }

    /// The statement that rows of a table are sent with, without the rows.
    pub(super) fn statement(&self, table: &Table, number: usize) -> String {
        match self.travel(number) {
            Travel::Copy => {
                let freeze = if self.frozen { " WITH (FREEZE)" } else { "" };
                format!("COPY {} ({}) FROM STDIN{freeze}", table.name, table.columns.join(", "))
            }
            Travel::Insert => insert_head(table.name, table.columns),
            Travel::InsertSingle => insert_prepared(table.name, table.columns),
            Travel::Server(_) => {
                let last = self.cut.rows_per_chunk(table).min(table.rows);
                self.server_statement(table, &Chunk { table: number, rows: 0..last })
            }
        }
    }

    /// The statement by which the server makes a chunk's rows itself.
    pub(super) fn server_statement(&self, table: &Table, chunk: &Chunk) -> String {
        let Travel::Server(select) = self.travel(chunk.table) else { return String::new() };
        let select = select
            .replace(":first", &(chunk.rows.start + 1).to_string())
            .replace(":last", &chunk.rows.end.to_string());
        format!("INSERT INTO {} ({}) {select}", table.name, table.columns.join(", "))
    }
}

fn at_most(batch: &mut LoadBatch, rows: Option<u64>) {
    if let Some(rows) = rows {
        let rows = rows.max(1);
        batch.rows = Some(batch.rows.map_or(rows, |most| most.min(rows)));
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

/// What is loaded, and how: what a plan is made from.
#[derive(Debug, Clone, Copy)]
pub struct How<'a> {
    /// Tables and data.
    pub workload: &'a dyn Workload,
    /// What the database accepts.
    pub dialect: &'a dyn Dialect,
    /// How rows are sent; `None` leaves it to the dialect.
    pub method: Option<LoadMethod>,
    /// Connections that load side by side.
    pub jobs: NonZeroU32,
    /// Seed of the data.
    pub seed: u64,
    /// True for a load that can be gone on with, whatever `jobs` says.
    pub resume: bool,
}

/// What [`load`](super::load) would send to a database of this dialect that
/// holds nothing of ours. Without a `version_num` nothing is assumed that an
/// older server lacks.
#[must_use]
pub fn planned(how: &How<'_>, version_num: Option<u32>) -> Planned {
    let (workload, dialect) = (how.workload, how.dialect);
    let way = Way::new(how, version_num);
    let marks = !way.frozen;
    let mut steps = Listed::default();
    if marks {
        steps.add(Phase::Drop, marks::create(dialect));
        let note = "what is loaded, to be compared by --resume".to_owned();
        let sql = marks::plan_statement(&identity(how, &way)).lines().next().map(str::to_owned);
        steps
            .0
            .push(PlannedStep { note, ..plain(Phase::Drop, sql.unwrap_or_default() + " …')") });
    }
    steps.add(Phase::Drop, workload.drop_statements(dialect));
    if !marks {
        steps.add(Phase::Drop, marks::drop(dialect));
    }
    steps.add(Phase::Create, create(workload, dialect, way.frozen));
    if marks {
        steps.add(Phase::Create, vec![Mark::Tables.statement()]);
    }
    let tables = workload.tables();
    let mut first_chunk = 0;
    for (number, table) in tables.iter().enumerate().filter(|(_, table)| table.rows > 0) {
        let step = rows(table, number, &way);
        let chunks = step.times;
        steps.chunk(step, marks.then_some(first_chunk));
        first_chunk += chunks;
    }
    if way.frozen {
        steps.add(Phase::Rows, vec!["COMMIT".to_owned()]);
    }
    for (number, key) in workload.key_statements(dialect).into_iter().enumerate() {
        steps.key(key.sql, marks.then_some(number as u64), dialect.ddl_in_transactions());
    }
    let settle = workload.settle_statements(dialect);
    steps.add(Phase::Settle, settle.into_iter().map(|one| one.sql).collect());
    for table in &tables {
        steps.looks(looks(table, dialect.count_rows_max()));
    }
    let fresh = workload.fresh_conditions(dialect);
    steps.add(Phase::Check, fresh.into_iter().map(|condition| condition.sql).collect());
    if marks {
        steps.add(Phase::Check, marks::drop(dialect));
    }
    Planned { jobs: how.jobs.get(), one_transaction: way.frozen, steps: steps.0 }
}

/// What a load has to agree with to go on where another was broken off.
pub(super) fn identity(how: &How<'_>, way: &Way) -> Identity {
    let cut = |table: &Table| way.cut.rows_per_chunk(table);
    Identity::new(how.workload, how.dialect, how.seed, way.method.name(), cut)
}

fn plain(phase: Phase, sql: String) -> PlannedStep {
    PlannedStep { phase, sql, has_data: false, times: 1, note: String::new() }
}

/// A plan that grows.
#[derive(Debug, Default)]
struct Listed(Vec<PlannedStep>);

impl Listed {
    fn add(&mut self, phase: Phase, sqls: Vec<String>) {
        self.0.extend(sqls.into_iter().map(|sql| plain(phase, sql)));
    }

    /// The rows of a table, in transactions with a mark where there are marks.
    fn chunk(&mut self, step: PlannedStep, first_chunk: Option<u64>) {
        let Some(first_chunk) = first_chunk else { return self.0.push(step) };
        let mark = Mark::Chunk(first_chunk).statement();
        self.add(Phase::Rows, vec!["BEGIN".to_owned(), mark]);
        self.0.push(step);
        self.add(Phase::Rows, vec!["COMMIT".to_owned()]);
    }

    /// A key, in a transaction with its mark where both go together, or marked
    /// afterwards.
    fn key(&mut self, sql: String, number: Option<u64>, together: bool) {
        let Some(number) = number else { return self.add(Phase::Keys, vec![sql]) };
        let mark = Mark::Key(number).statement();
        let all = if together {
            vec!["BEGIN".to_owned(), mark, sql, "COMMIT".to_owned()]
        } else {
            vec![sql, mark]
        };
        self.add(Phase::Keys, all);
    }

    fn looks(&mut self, looks: Vec<Look>) {
        let times = looks.len() as u64;
        let note = if times > 1 { "one range of keys after the other" } else { "" };
        self.0.extend(looks.into_iter().take(1).map(|look| PlannedStep {
            times,
            note: note.to_owned(),
            ..plain(Phase::Check, look.sql)
        }));
    }
}

/// What makes the tables, and begins the transaction that fills them where
/// that is the same one.
pub(super) fn create(workload: &dyn Workload, dialect: &dyn Dialect, frozen: bool) -> Vec<String> {
    let begin = frozen.then(|| "BEGIN".to_owned());
    begin.into_iter().chain(workload.create_statements(dialect)).collect()
}

fn rows(table: &Table, number: usize, way: &Way) -> PlannedStep {
    let per_chunk = way.cut.rows_per_chunk(table).min(table.rows);
    let times = table.rows.div_ceil(per_chunk);
    let own = if way.frozen { "" } else { ", each a transaction of its own" };
    let mut note = if times > 1 {
        format!("{} rows, {per_chunk} at a time{own}", table.rows)
    } else {
        format!("{} rows", table.rows)
    };
    let travel = way.travel(number);
    if travel == Travel::InsertSingle {
        note.push_str(", one statement for each");
    }
    let has_data = !matches!(travel, Travel::Server(_));
    let sql = way.statement(table, number);
    PlannedStep { phase: Phase::Rows, sql, has_data, times, note }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgdyno_workload::{Choice, KeySum, make};
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

    fn way(dialect: &str, method: Option<LoadMethod>, jobs: u32, resume: bool) -> Way {
        let workload = make(&Choice { name: "tpcb", scale: 1, params: &[] }).unwrap();
        let dialect = pgdyno_target::dialect_by_name(dialect).unwrap();
        let jobs = NonZeroU32::new(jobs).unwrap();
        let how = How { workload: &*workload, dialect, method, jobs, seed: 0, resume };
        Way::new(&how, Some(180_000))
    }

    /// Statements of INSERT keep to both limits, the asked one and the
    /// dialect's.
    #[test]
    fn inserts_keep_the_dialects_limit() {
        for (asked, expected) in [(500, 500), (50_000, 2000), (0, 1)] {
            for method in [
                LoadMethod::Insert { rows_per_statement: asked },
                LoadMethod::InsertSingle { rows_per_transaction: asked },
            ] {
                let way = way("aurora-dsql", Some(method), 1, false);
                let Cut::Batches(batch) = way.cut else { panic!("{:?}", way.cut) };
                assert_eq!(batch.rows, Some(expected));
                assert!(!way.frozen);
            }
        }
    }

    /// The one transaction with FREEZE is for one connection, for COPY, and
    /// for who did not ask for a load that can be gone on with.
    #[test]
    fn one_transaction_cannot_be_gone_on_with() {
        assert!(way("postgres", None, 1, false).frozen);
        assert!(!way("postgres", None, 1, true).frozen);
        assert!(!way("postgres", None, 2, false).frozen);
        assert!(!way("postgres", Some(LoadMethod::Server), 1, false).frozen);
    }
}
