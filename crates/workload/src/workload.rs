//! What a workload is: the questions that the loader, the engine and the
//! audits ask.
//!
//! Everything is asked with a dialect at hand, so that one workload is right
//! for every target; nothing here knows which target that is.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use pgdyno_target::dialect::{Dialect, Isolation};

use crate::condition::{Asked, Condition};
use crate::error::{AccessError, ProbeError};
use crate::figures::{Commits, Figures, Finding};
use crate::procedure::Terminals;
use crate::session::Session;
use crate::told::Told;

/// A table of a workload and the data it starts with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Its name, as SQL takes it.
    pub name: &'static str,
    /// The columns that [`Workload::write_rows`] fills, in order.
    pub columns: &'static [&'static str],
    /// Rows after loading. 0 for a table that starts empty.
    pub rows: u64,
    /// Upper bound of the COPY text of one row in bytes; chunks are sized by it.
    pub row_bytes_max: u32,
    /// A sum over the keys that shows a lost or doubled row which a count
    /// does not; `None` where the table starts empty or the sum is not known.
    pub key_sum: Option<KeySum>,
}

/// A sum that a freshly loaded table must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeySum {
    /// The summed expression in SQL.
    pub expression: &'static str,
    /// The sum over all rows.
    pub expected: i128,
    /// True where the expression is a column that holds 1 to the number of
    /// rows, each once: then any range of rows can be counted and summed by
    /// itself, which databases with a limit on a statement's time need.
    pub counts: bool,
}

impl KeySum {
    /// The sum over a column that holds 1 to `rows`, each once.
    #[must_use]
    pub fn counting(expression: &'static str, rows: u64) -> Self {
        let rows = i128::from(rows);
        Self { expression, expected: rows * (rows + 1) / 2, counts: true }
    }
}

/// A statement that concerns one table; statements of different tables may
/// run at the same time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableStatement {
    /// The table.
    pub table: &'static str,
    /// The statement.
    pub sql: String,
}

/// One kind of transaction and its share of the mix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transaction {
    /// A short name for reports.
    pub name: &'static str,
    /// What reports call it, in pgbench's words where it is pgbench's.
    pub description: &'static str,
    /// Share of the transactions: weight / sum of weights.
    pub weight: u32,
    /// What it does.
    pub body: Body,
}

/// What a transaction does.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Body {
    /// A script in pgbench's language; made text where parameters are in it.
    Script(Cow<'static, str>),
    /// SQL commands in pgbench's text form, no backslash command among them,
    /// which a terminal of [`Workload::terminals`] pushes by their index.
    Procedure(Cow<'static, str>),
}

/// What a probe found in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// The scale of the tables that are there.
    pub scale: u64,
}

/// How a reset ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reset {
    /// The tables are as freshly loaded.
    Done {
        /// Rows that were put back or removed, as far as the server says.
        rows: u64,
    },
    /// Nothing was changed: loading anew is the only way, or the cheaper one.
    Reload {
        /// Why, for people.
        reason: String,
    },
}

/// A workload at a scale, with its parameters.
pub trait Workload: fmt::Debug + Send + Sync {
    /// The name it is looked up by.
    fn name(&self) -> &'static str;

    /// One line for people.
    fn description(&self) -> &'static str;

    /// The scale it was made with, at least 1.
    fn scale(&self) -> u64;

    /// All parameters with their values in effect, for the record.
    fn params(&self) -> Vec<(&'static str, String)>;

    /// Whether the parameters make sense for this kind of database.
    ///
    /// # Errors
    /// Which one does not, and why, for people.
    fn check(&self, _dialect: &dyn Dialect) -> Result<(), String> {
        Ok(())
    }

    /// The tables in the order in which they are loaded, empty ones too.
    fn tables(&self) -> Vec<Table>;

    /// Removes what [`Workload::create_statements`] makes, and does not mind
    /// what is missing. To be run one by one, each in its own transaction.
    fn drop_statements(&self, dialect: &dyn Dialect) -> Vec<String>;

    /// Makes the empty tables. To be run in order.
    fn create_statements(&self, dialect: &dyn Dialect) -> Vec<String>;

    /// Keys and indexes that are best made after the data is in.
    fn key_statements(&self, dialect: &dyn Dialect) -> Vec<TableStatement>;

    /// Names of the indexes beside the keys that its transactions need: what
    /// must be there after a load, where the database can be asked.
    fn index_names(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// What makes the tables fit for a run once data and keys are in:
    /// statistics and the like. Outside of a transaction block.
    fn settle_statements(&self, dialect: &dyn Dialect) -> Vec<TableStatement>;

    /// Appends rows `rows` (counted from 0) of table number `table` (as in
    /// [`Workload::tables`]) to `out`, as COPY text.
    ///
    /// Depends on the arguments alone: any split of a range gives the same
    /// bytes as the whole. Rows beyond the table's are not made.
    fn write_rows(&self, table: usize, rows: Range<u64>, seed: u64, out: &mut Vec<u8>);

    /// A SELECT that makes rows in the server: those numbered from `:first` to
    /// `:last`, counted from 1, with the columns of [`Table::columns`] in their
    /// order. The loader puts two numbers in place of the two words and wraps
    /// it in an INSERT. What arrives must be the same, byte for byte, as what
    /// [`Workload::write_rows`] makes with `seed`; `None` where SQL cannot say
    /// that, and then the rows are sent.
    fn server_rows(&self, _table: usize, _dialect: &dyn Dialect, _seed: u64) -> Option<String> {
        None
    }

    /// False where the tables are such that `COPY … WITH (FREEZE)` is refused
    /// although the dialect has it, as with partitions.
    fn can_copy_freeze(&self) -> bool {
        true
    }

    /// Rules that hold of freshly loaded tables, beyond counts and sums of
    /// keys; asked as the last step of a load.
    fn fresh_conditions(&self, _dialect: &dyn Dialect) -> Vec<Condition> {
        Vec::new()
    }

    /// What clients run, in a fixed order; at least one has a weight above 0.
    fn transactions(&self) -> Vec<Transaction>;

    /// What runs the transactions where they are procedures: then all of them
    /// are. Asked once before a run, with the tables at hand.
    ///
    /// # Errors
    /// What the terminals need to know could not be read.
    fn terminals(
        &self,
        _session: &mut dyn Session,
    ) -> Result<Option<Arc<dyn Terminals>>, AccessError> {
        Ok(None)
    }

    /// One statement that reads all figures of the audits in one snapshot: one
    /// row, whole numbers, each column named as the figure.
    fn audit_query(&self, dialect: &dyn Dialect) -> String;

    /// Judges tables at rest, without knowing what was run before: is this a
    /// clean base for a run?
    fn judge_base(&self, base: &Figures) -> Vec<Finding>;

    /// Judges a run by the change of the figures over it. `commits` are in the
    /// order of [`Workload::transactions`]; a missing one counts as none.
    fn judge_run(&self, base: &Figures, now: &Figures, commits: &[Commits]) -> Vec<Finding>;

    /// The same for a run whose isolation level is known, `None` where it is
    /// not: for workloads whose rules hold only from a level on. What a weaker
    /// level allows is named and counted, and is no failure.
    fn judge_run_at(
        &self,
        _level: Option<Isolation>,
        base: &Figures,
        now: &Figures,
        commits: &[Commits],
    ) -> Vec<Finding> {
        self.judge_run(base, now, commits)
    }

    /// Judges a run by what its clients know of it, in addition: for workloads
    /// whose terminals count.
    fn judge_told(
        &self,
        _base: &Figures,
        _now: &Figures,
        _commits: &[Commits],
        _told: &Told,
    ) -> Vec<Finding> {
        Vec::new()
    }

    /// Rules that hold whatever was run, each asked of the tables by a
    /// statement of its own: no run moves them, so no base is needed. To be
    /// asked at rest, as all audits. Empty where the figures say everything.
    fn conditions(&self, _dialect: &dyn Dialect) -> Vec<Condition> {
        Vec::new()
    }

    /// Those of [`Self::conditions`] that are asked, by a full audit or after
    /// each run. To be written anew only where making the others is dear.
    fn conditions_asked(&self, dialect: &dyn Dialect, full: bool) -> Vec<Condition> {
        let mut all = self.conditions(dialect);
        all.retain(|condition| full || condition.asked == Asked::EachRun);
        all
    }

    /// Looks whether the tables are there, and at which scale.
    ///
    /// # Errors
    /// Tables are missing, empty or do not fit each other; the error names the
    /// command that makes them on `target`, the word the person typed. Or the
    /// server could not be asked.
    fn probe(&self, session: &mut dyn Session, target: &str) -> Result<Found, ProbeError>;

    /// The seed that the tables were loaded from, where they tell it: a reset
    /// that loads anew makes the same rows.
    fn seed_loaded(&self, _session: &mut dyn Session) -> Option<u64> {
        None
    }

    /// Brings the tables back to the state after loading in place, where that
    /// is cheaper than loading anew.
    ///
    /// # Errors
    /// A statement failed; the tables may be half way.
    fn reset(&self, session: &mut dyn Session, dialect: &dyn Dialect)
    -> Result<Reset, AccessError>;
}
