//! One connection of a load: statements and COPY, with errors that say what
//! was being done and where.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use pgdyno_wire::connect::ConnectContext;
use pgdyno_wire::{Connection, Error as WireError};
use pgdyno_workload::{Figures, audit};

use super::error::{Failure, LoadError, sqlstate};

/// A connection that obeys the load's stop flag.
#[derive(Debug)]
pub(super) struct Link {
    conn: Connection,
}

impl Link {
    pub(super) fn connect(
        context: &Arc<ConnectContext>,
        stop: &Arc<AtomicBool>,
    ) -> Result<Self, Failure> {
        match Connection::connect(context, Some(Arc::clone(stop))) {
            Ok(conn) => Ok(Self { conn }),
            Err(error) if error.is_interrupted() => Err(Failure::Stopped),
            Err(error) => {
                let (sqlstate, words) = (sqlstate(&error), error.to_string());
                Err(LoadError::Connect { sqlstate, words }.into())
            }
        }
    }

    /// As `server_version_num`; `None` where the server reports none.
    pub(super) fn server_version_num(&self) -> Option<u32> {
        (self.conn.version > 0).then_some(self.conn.version)
    }

    /// Runs one statement; `what` names it in an error.
    pub(super) fn execute(&mut self, sql: &str, what: impl Fn() -> String) -> Result<(), Failure> {
        self.conn.query(sql).map(drop).map_err(|error| self.failure(&error, &what))
    }

    /// Runs a query of one row of numbers.
    pub(super) fn figures(
        &mut self,
        sql: &str,
        what: impl Fn() -> String,
    ) -> Result<Figures, Failure> {
        let result = self.conn.query(sql).map_err(|error| self.failure(&error, &what))?;
        audit::figures_of(result.columns, &result.rows).map_err(|words| {
            let at = self.conn.at();
            let what = what();
            LoadError::Statement { what, at, sqlstate: None, words, connection_lost: false }.into()
        })
    }

    /// Begins a COPY from this side.
    pub(super) fn copy_begin(
        &mut self,
        sql: &str,
        what: impl Fn() -> String,
    ) -> Result<(), Failure> {
        self.conn.copy_in(sql).map_err(|error| self.failure(&error, &what))
    }

    /// Sends a piece of COPY text.
    pub(super) fn copy_send(
        &mut self,
        text: &[u8],
        what: impl Fn() -> String,
    ) -> Result<(), Failure> {
        self.conn.copy_data(text).map_err(|error| self.failure(&error, &what))
    }

    /// Ends a COPY, and gives the number of rows that the server took.
    pub(super) fn copy_end(&mut self, what: impl Fn() -> String) -> Result<u64, Failure> {
        self.conn.copy_done().map_err(|error| self.failure(&error, &what))
    }

    fn failure(&self, error: &WireError, what: &dyn Fn() -> String) -> Failure {
        if error.is_interrupted() {
            // The server would finish a long statement for nobody. Best
            // effort: closing the connection is all that is needed here.
            self.conn.cancel();
            return Failure::Stopped;
        }
        Failure::Error(LoadError::Statement {
            what: what(),
            at: self.conn.at(),
            sqlstate: sqlstate(error),
            words: error.to_string(),
            connection_lost: error.is_connection_lost(),
        })
    }
}
