//! Workloads that are a description: a table or two of their own, a script,
//! and rules over figures.
//!
//! A file here says what is peculiar to a workload ([`Plain`]); how it is made
//! for a dialect, audited, probed and reset is the same for all and is said
//! once, in `impl Workload for Plain`. Keys have 64 bits at every scale, so
//! that no scale is another schema than the next.

mod data;
mod hotspot;
mod insert;
mod reset;
mod rules;
mod scan;
mod transfer;
mod update;

use std::borrow::Cow;
use std::ops::Range;

use pgdyno_target::ddl::{IndexSpec, Spread, TableSpec};
use pgdyno_target::dialect::{Dialect, Isolation};

use crate::audit::read_figures;
use crate::entry::Entry;
use crate::error::{AccessError, ProbeError};
use crate::figures::{Commits, Figures, Finding};
use crate::params::check_pieces;
use crate::session::Session;
use crate::workload::{Body, Found, KeySum, Reset, Table, TableStatement, Transaction, Workload};
use reset::PutBack;
use rules::{AtRest, Rule};

/// The entries of all workloads that are described here.
pub(crate) const ENTRIES: [Entry; 5] =
    [update::ENTRY, insert::ENTRY, transfer::ENTRY, hotspot::ENTRY, scan::ENTRY];

/// A workload as a description.
#[derive(Debug)]
struct Plain {
    entry: &'static Entry,
    scale: u64,
    params: Vec<(&'static str, String)>,
    /// Into how many pieces every table is split, where that was asked for.
    pieces: Option<u32>,
    /// In the order in which they are made.
    tables: Vec<OwnTable>,
    script: String,
    rules: Vec<Rule>,
    at_rest: Vec<AtRest>,
    /// The column of the first table whose largest value is `scale_unit` for
    /// each unit of scale, whatever was run.
    scale_column: &'static str,
    scale_unit: u64,
    /// All indexes that a parameter chooses from; empty where none does.
    known_indexes: &'static [Index],
    put_back: PutBack,
}

/// A table, its data and its figures.
#[derive(Debug)]
struct OwnTable {
    name: &'static str,
    columns: &'static [(&'static str, &'static str)],
    /// The columns that the loader fills.
    loaded: &'static [&'static str],
    key: &'static [&'static str],
    spread: Spread<'static>,
    indexes: Vec<Index>,
    rows: u64,
    row_bytes_max: u32,
    key_sum: Option<KeySum>,
    /// Appends one row, numbered from 0, for a seed.
    write_row: fn(u64, u64, &mut Vec<u8>),
    /// Figures that the audits read: name and aggregate.
    figures: &'static [(&'static str, &'static str)],
}

/// A secondary index.
#[derive(Debug, Clone, Copy)]
struct Index {
    name: &'static str,
    columns: &'static [&'static str],
}

/// A table without loaded rows has nothing to write.
const fn no_row(_: u64, _: u64, _: &mut Vec<u8>) {}

/// All rows of one value of a column together.
const fn by(column: &'static str) -> Spread<'static> {
    Spread::By { by: column, beside: None }
}

impl OwnTable {
    fn spec(&self, pieces: Option<u32>) -> TableSpec<'static> {
        TableSpec {
            name: self.name,
            columns: self.columns,
            key: self.key,
            spread: self.spread,
            fillfactor: None,
            pieces,
        }
    }

    /// The table's figures as columns f0, f1 …, from one scan.
    fn subquery(&self) -> String {
        let columns: Vec<String> = self
            .figures
            .iter()
            .enumerate()
            .map(|(number, (_, aggregate))| format!("{aggregate} AS f{number}"))
            .collect();
        format!("(SELECT {} FROM {})", columns.join(", "), self.name)
    }
}

impl Plain {
    fn names(&self) -> Vec<&'static str> {
        self.tables.iter().map(|table| table.name).collect()
    }

    fn judge(
        &self,
        level: Option<Isolation>,
        base: &Figures,
        now: &Figures,
        commits: &[Commits],
    ) -> Vec<Finding> {
        let total = commits.iter().copied().fold(Commits::default(), |sum, one| sum + one);
        self.rules.iter().map(|rule| rule.judge(level, base, now, total)).collect()
    }

    /// What is wrong with the indexes of the first table, for people: a run
    /// would be called one with two indexes on tables that have none. Asked
    /// only of workloads that choose their indexes.
    ///
    /// `None` also where nothing is known: the server does not answer, or
    /// shows no index of a table that is none of its own, as routers may.
    fn other_indexes(&self, session: &mut dyn Session) -> Option<String> {
        let table = self.tables.first().filter(|_| !self.known_indexes.is_empty())?;
        let (param, _) = self.params.first()?;
        let name = |index: &Index| format!("'{}'", index.name);
        let names: Vec<String> = self.known_indexes.iter().map(name).collect();
        let sql = format!(
            "SELECT (SELECT count(*) FROM pg_index JOIN pg_class i ON i.oid = indexrelid \
             WHERE indrelid = t.oid AND i.relname IN ({})) AS found, \
             (SELECT count(*) FROM pg_index WHERE indrelid = t.oid) \
             + CASE WHEN t.relkind = 'r' THEN 1 ELSE 0 END AS seen \
             FROM pg_class t WHERE t.oid = to_regclass('{}')",
            names.join(", "),
            table.name
        );
        let answer = read_figures(session, "looking for the indexes", &sql).ok()?;
        let (found, wanted) = (answer.get("found"), table.indexes.len());
        (answer.get("seen") > 0 && found != wanted as i128).then(|| {
            format!(
                "{} has {found} of the secondary indexes instead of {wanted} (--param \
                 {param}={found} is for these)",
                table.name
            )
        })
    }

    /// Cheap at any scale: the end of an index, and one row of every other
    /// table, only to see that it is there. The exception is `insert` with
    /// fewer than three indexes, whose table is read whole.
    fn probe_query(&self) -> String {
        let mut parts = Vec::new();
        for (number, table) in self.tables.iter().enumerate() {
            parts.push(if number == 0 {
                format!(
                    "(SELECT coalesce(max({}), 0) FROM {}) AS last",
                    self.scale_column, table.name
                )
            } else {
                format!(
                    "(SELECT count(*) FROM (SELECT 1 FROM {} LIMIT 1) x) AS t{number}",
                    table.name
                )
            });
        }
        format!("SELECT {}", parts.join(", "))
    }
}

impl Workload for Plain {
    fn name(&self) -> &'static str {
        self.entry.name
    }

    fn description(&self) -> &'static str {
        self.entry.description
    }

    fn scale(&self) -> u64 {
        self.scale
    }

    fn params(&self) -> Vec<(&'static str, String)> {
        let mut params = self.params.clone();
        params.extend(self.pieces.map(|pieces| ("pieces", pieces.to_string())));
        params
    }

    fn check(&self, dialect: &dyn Dialect) -> Result<(), String> {
        check_pieces(self.pieces, dialect)
    }

    fn tables(&self) -> Vec<Table> {
        let table = |own: &OwnTable| Table {
            name: own.name,
            columns: own.loaded,
            rows: own.rows,
            row_bytes_max: own.row_bytes_max,
            key_sum: own.key_sum.clone(),
        };
        self.tables.iter().map(table).collect()
    }

    fn drop_statements(&self, dialect: &dyn Dialect) -> Vec<String> {
        dialect.drop_tables(&self.names())
    }

    fn create_statements(&self, dialect: &dyn Dialect) -> Vec<String> {
        let made = |own: &OwnTable| dialect.create_table(&own.spec(self.pieces));
        self.tables.iter().flat_map(made).collect()
    }

    fn key_statements(&self, dialect: &dyn Dialect) -> Vec<TableStatement> {
        let mut all = Vec::new();
        for own in &self.tables {
            let key = dialect.add_key(&own.spec(self.pieces));
            let index = |index: &Index| {
                let Index { name, columns } = *index;
                dialect.create_index(&IndexSpec { name, table: own.name, columns, unique: false })
            };
            let statements = key.into_iter().chain(own.indexes.iter().map(index));
            all.extend(statements.map(|sql| TableStatement { table: own.name, sql }));
        }
        all
    }

    fn settle_statements(&self, dialect: &dyn Dialect) -> Vec<TableStatement> {
        let settle =
            |table| dialect.statistics_statement(table).map(|sql| TableStatement { table, sql });
        self.names().into_iter().filter_map(settle).collect()
    }

    fn write_rows(&self, table: usize, rows: Range<u64>, seed: u64, out: &mut Vec<u8>) {
        let Some(own) = self.tables.get(table) else { return };
        for row in rows.start..rows.end.min(own.rows) {
            (own.write_row)(row, seed, out);
        }
    }

    fn transactions(&self) -> Vec<Transaction> {
        vec![Transaction {
            name: self.entry.name,
            description: self.entry.name,
            weight: 1,
            body: Body::Script(Cow::Owned(self.script.clone())),
        }]
    }

    fn audit_query(&self, _dialect: &dyn Dialect) -> String {
        let mut columns = Vec::new();
        let mut tables = Vec::new();
        for (number, own) in self.tables.iter().enumerate() {
            for (figure, (name, _)) in own.figures.iter().enumerate() {
                columns.push(format!("t{number}.f{figure} AS \"{name}\""));
            }
            tables.push(format!("{} t{number}", own.subquery()));
        }
        format!("SELECT {} FROM {}", columns.join(", "), tables.join(", "))
    }

    fn judge_base(&self, base: &Figures) -> Vec<Finding> {
        vec![rules::judge_base(self.scale, &self.at_rest, base)]
    }

    fn judge_run(&self, base: &Figures, now: &Figures, commits: &[Commits]) -> Vec<Finding> {
        self.judge(None, base, now, commits)
    }

    fn judge_run_at(
        &self,
        level: Option<Isolation>,
        base: &Figures,
        now: &Figures,
        commits: &[Commits],
    ) -> Vec<Finding> {
        self.judge(level, base, now, commits)
    }

    fn probe(&self, session: &mut dyn Session, target: &str) -> Result<Found, ProbeError> {
        let workload = self.entry.name;
        let command =
            |scale: u64| format!("pgdyno init {target} --workload {workload} --scale {scale}");
        let found = match read_figures(session, "looking for the tables", &self.probe_query()) {
            Ok(found) => found.get("last"),
            Err(AccessError::Statement { source, .. }) if source.is_undefined_table() => {
                let (words, command) = (source.text, command(self.scale));
                return Err(ProbeError::Missing { workload, words, command });
            }
            Err(error) => return Err(error.into()),
        };
        let unit = i128::from(self.scale_unit);
        match u64::try_from(found / unit) {
            Ok(scale) if scale > 0 && found % unit == 0 => match self.other_indexes(session) {
                None => Ok(Found { scale }),
                Some(found) => {
                    let param = |(name, value)| format!(" --param {name}={value}");
                    let params: String = self.params().into_iter().map(param).collect();
                    let command = command(scale) + &params;
                    Err(ProbeError::Incomplete { workload, found, command })
                }
            },
            scale => {
                let (table, column) = (self.names().first().copied(), self.scale_column);
                let found = format!("{} has {column} up to {found}", table.unwrap_or_default());
                let command = command(scale.unwrap_or(0).max(self.scale));
                Err(ProbeError::Incomplete { workload, found, command })
            }
        }
    }

    fn reset(
        &self,
        session: &mut dyn Session,
        dialect: &dyn Dialect,
    ) -> Result<Reset, AccessError> {
        reset::reset(self, session, dialect)
    }
}

#[cfg(test)]
mod tests;
