//! A statement of a script, and what its executions touched.

use serde::{Deserialize, Serialize};

use crate::latency::LatencyRecord;

/// What a statement is, from its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatementKind {
    /// SELECT, VALUES, TABLE.
    Select,
    /// INSERT.
    Insert,
    /// UPDATE.
    Update,
    /// DELETE.
    Delete,
    /// MERGE.
    Merge,
    /// BEGIN, START TRANSACTION.
    Begin,
    /// COMMIT, END.
    Commit,
    /// ROLLBACK, ABORT.
    Rollback,
    /// Any other SQL.
    Other,
    /// A backslash command.
    Meta,
}

/// A statement's identity, known before the run. Its position in the list is
/// the index into [`crate::Tally::statements`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatementInfo {
    /// Index of its script, from 0.
    pub script: u32,
    /// Index of the command in its script, from 0, backslash commands counted.
    pub command: u32,
    /// First line of its text.
    pub text: String,
    /// What it is.
    pub kind: StatementKind,
    /// Whether it writes rows by itself or in a CTE.
    pub writes: bool,
    /// Rows that each execution should touch at least, where declared.
    pub rows_expected: Option<u64>,
    /// Whether it writes within its WITH, where the command tag does not count:
    /// only an audit of the tables can tell.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub writes_hidden: bool,
    /// Variables that its WHERE asks for at once, though each is drawn
    /// independently of another: rows that have them all are there by chance.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub independent: Vec<String>,
}

/// One statement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatementRecord {
    /// What it is.
    pub statement: StatementInfo,
    /// Executions that succeeded.
    pub executions: u64,
    /// Sum of the rows in the command tags.
    pub rows: u64,
    /// Executions that touched fewer rows than they should.
    pub short: u64,
    /// Executions that touched no row.
    pub no_row: u64,
    /// Their share (0..=1) of the executions.
    #[serde(default)]
    pub no_row_share: f64,
    /// Executions that ended the transaction as failed.
    pub failures: u64,
    /// Executions after whose failure the transaction was tried again.
    pub retries: u64,
    /// Mean time of successful executions, µs.
    pub time_mean_us: f64,
    /// Their distribution, where it was asked for.
    pub latency: Option<LatencyRecord>,
}

impl StatementInfo {
    /// Rows below which an execution counts as short: as declared, otherwise
    /// one for a statement that writes and none for one that does not.
    #[must_use]
    pub fn rows_expected_min(&self) -> u64 {
        self.rows_expected.unwrap_or(u64::from(self.writes))
    }
}
