//! A rule that holds of the tables at any time, asked of them in SQL.
//!
//! The other kind of rule compares two readings of a workload's figures and
//! is in the workload itself (`judge_run`).

/// When a condition is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// After each run that is audited: the statement is cheap, as the reading
    /// of the figures.
    EachRun,
    /// Only where a full audit is asked for (`pgdyno audit`, `--audit full`):
    /// joins of large tables and the like.
    FullAudit,
}

/// A rule that holds of the tables at any time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// A short, stable name, such as `history of accounts`.
    pub name: &'static str,
    /// One line for people: what must hold, or the clause that demands it.
    pub title: &'static str,
    /// When it is asked.
    pub asked: Asked,
    /// One statement whose answer is one row of one whole number: how many
    /// violations there are. 0 where the condition holds; not null.
    pub sql: String,
}
