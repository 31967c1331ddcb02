//! What can go wrong with tables: they cannot be reached, or are not what a run
//! needs.

use crate::session::SqlError;

/// The tables could not be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AccessError {
    /// A statement failed.
    #[error("{what} failed{}: {source}\nThe statement was: {sql}", source.shown_state())]
    Statement {
        /// What was being done, for people.
        what: &'static str,
        /// The statement.
        sql: String,
        /// The server's words.
        source: SqlError,
    },
    /// The server answered, but not with what the statement asks for.
    #[error("{what}: the server's answer makes no sense: {answer}\nThe statement was: {sql}")]
    Answer {
        /// What was being done, for people.
        what: &'static str,
        /// The statement.
        sql: String,
        /// What it gave.
        answer: String,
    },
}

/// The tables are not what a run needs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProbeError {
    /// They are not there.
    #[error(
        "the tables of workload \"{workload}\" are not there: {words}\n\
         Make them with: {command}"
    )]
    Missing {
        /// The workload.
        workload: &'static str,
        /// The server's words.
        words: String,
        /// The command that makes them.
        command: String,
    },
    /// They are there, but hold no data or only a part of it.
    #[error(
        "the tables of workload \"{workload}\" are not complete: {found}\n\
         Load them anew with: {command}"
    )]
    Incomplete {
        /// The workload.
        workload: &'static str,
        /// What was found.
        found: String,
        /// The command that loads them.
        command: String,
    },
    /// The server could not be asked.
    #[error(transparent)]
    Access(#[from] AccessError),
}
