//! Why a load ended before its end.

use pgdyno_wire::Error as WireError;

/// A load failed or was stopped. The tables are then incomplete; a new load
/// drops them and begins again, or [goes on](super::LoadPlan::resume) with them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// No connection could be made.
    #[error("could not connect to load data{}: {words}", state(sqlstate.as_deref()))]
    Connect {
        /// The server's SQLSTATE, where it answered.
        sqlstate: Option<String>,
        /// Host, port and reason.
        words: String,
    },
    /// The server refused a statement, or the connection was lost in it.
    #[error("{what} failed on server at {at}{}: {words}", state(sqlstate.as_deref()))]
    Statement {
        /// What was being done, with table and rows.
        what: String,
        /// Host and port.
        at: String,
        /// The server's SQLSTATE, where it answered.
        sqlstate: Option<String>,
        /// The server's or the system's words.
        words: String,
        /// True where the connection is gone, as when the server was stopped.
        connection_lost: bool,
    },
    /// The tables do not hold what was sent.
    #[error("after loading, {table} has {found} instead of {expected}; load it anew")]
    Check {
        /// The table.
        table: &'static str,
        /// What was found, for people.
        found: String,
        /// What should be there.
        expected: String,
    },
    /// A rule of the workload's does not hold of the fresh tables.
    #[error("after loading, {violations} violations of \"{name}\": {title}; load it anew")]
    Fresh {
        /// The rule.
        name: &'static str,
        /// What must hold.
        title: &'static str,
        /// How often it does not.
        violations: i128,
    },
    /// A load was broken off here, but another than the one to go on with.
    #[error(
        "--resume goes on with the load that was broken off here, and that one had {differences}\n\
         hint: ask for the same, or leave out --resume to load anew"
    )]
    OtherLoad {
        /// Each fact that differs, with both values.
        differences: String,
    },
    /// The server cannot make any of the rows by itself.
    #[error(
        "--load-method server: the rows of workload \"{workload}\" cannot be said in SQL for \
         {dialect}\nhint: use copy or insert"
    )]
    NoServerRows {
        /// The workload.
        workload: &'static str,
        /// The kind of database.
        dialect: &'static str,
    },
    /// The person asked for the end.
    #[error(
        "loading was interrupted after {rows_done} of {rows_total} rows; the tables are incomplete"
    )]
    Interrupted {
        /// Rows sent.
        rows_done: u64,
        /// Rows that were to be loaded.
        rows_total: u64,
    },
}

/// A failure inside the loader, before it is known whether it is the first.
#[derive(Debug)]
pub(super) enum Failure {
    /// Another worker failed or the person asked for the end.
    Stopped,
    /// The reason to tell.
    Error(LoadError),
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        Self::Error(error)
    }
}

fn state(sqlstate: Option<&str>) -> String {
    sqlstate.map(|state| format!(" (SQLSTATE {state})")).unwrap_or_default()
}

impl Failure {
    /// True where the server refused with this SQLSTATE and the session goes on.
    pub(super) fn is(&self, sqlstate: &str) -> bool {
        self.refusal().is_some_and(|(state, _)| state == sqlstate)
    }

    /// What the server said, where it refused a statement and the session goes
    /// on: SQLSTATE and words.
    pub(super) fn refusal(&self) -> Option<(&str, &str)> {
        match self {
            Self::Error(LoadError::Statement {
                sqlstate: Some(sqlstate),
                words,
                connection_lost: false,
                ..
            }) => Some((sqlstate, words)),
            _ => None,
        }
    }
}

/// The SQLSTATE as text, where the server gave one.
pub(super) fn sqlstate(error: &WireError) -> Option<String> {
    error.sqlstate().map(|state| state.to_string())
}
