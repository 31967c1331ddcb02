//! One connection of a load: statements and COPY, with errors that say what
//! was being done and where.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use pgdyno_wire::client::Batch;
use pgdyno_wire::connect::ConnectContext;
use pgdyno_wire::{Connection, Error as WireError};
use pgdyno_workload::{Figures, audit};

use super::error::{Failure, LoadError, sqlstate};

/// What a statement answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Done {
    /// The count in its command tag, 0 where there is none.
    pub(super) rows: u64,
    /// The job that goes on in the server, where it says so.
    pub(super) job: Option<String>,
}

/// A connection that obeys the load's stop flag: once it is set, what the
/// server is doing is cancelled, and every operation ends as stopped.
#[derive(Debug)]
pub(super) struct Link {
    conn: Connection,
    at: String,
    prepared: Vec<String>,
    context: Arc<ConnectContext>,
    stop: Arc<AtomicBool>,
    begun: Instant,
}

impl Link {
    pub(super) fn connect(
        context: &Arc<ConnectContext>,
        stop: &Arc<AtomicBool>,
    ) -> Result<Self, Failure> {
        match Connection::connect_interruptible(context, Some(Arc::clone(stop))) {
            Ok(conn) => {
                let endpoint = conn.endpoint();
                let at = format!("\"{}\", port {}", endpoint.host, endpoint.port);
                let (context, stop) = (Arc::clone(context), Arc::clone(stop));
                let begun = Instant::now();
                Ok(Self { conn, at, prepared: Vec::new(), context, stop, begun })
            }
            Err(error) if error.is_interrupted() => Err(Failure::Stopped),
            Err(error) => {
                let (sqlstate, words) = (sqlstate(&error), error.to_string());
                Err(LoadError::Connect { sqlstate, words }.into())
            }
        }
    }

    /// Connects anew where the session is older than that: some servers close
    /// a session at a certain age. True where it did.
    pub(super) fn renew(&mut self, age_max: Duration) -> Result<bool, Failure> {
        if self.begun.elapsed() < age_max {
            return Ok(false);
        }
        *self = Self::connect(&self.context, &self.stop)?;
        Ok(true)
    }

    /// Host and port, for people.
    pub(super) fn at(&self) -> &str {
        &self.at
    }

    /// As `server_version_num`; `None` where the server reports none.
    pub(super) fn server_version_num(&self) -> Option<u32> {
        Some(self.conn.server_version_num()).filter(|num| *num > 0)
    }

    /// Runs one statement; `what` names it in an error.
    pub(super) fn execute(
        &mut self,
        sql: &str,
        what: impl Fn() -> String,
    ) -> Result<Done, Failure> {
        let mut results =
            self.conn.simple_query(sql).map_err(|error| self.failure(&error, what()))?;
        let result = results.pop().unwrap_or_default();
        let job = (result.columns == ["job_id"]).then(|| result.get(0, 0).map(str::to_owned));
        let rows = result.tag.as_ref().and_then(|tag| tag.rows).unwrap_or(0);
        Ok(Done { rows, job: job.flatten() })
    }

    /// Runs statements in one round trip; the first that fails is the last.
    pub(super) fn together(
        &mut self,
        sqls: &[&str],
        what: impl Fn() -> String,
    ) -> Result<(), Failure> {
        let mut run = || {
            let mut batch = Batch::new();
            for sql in sqls {
                batch.query(sql, &[])?;
            }
            self.conn.run_batch(&batch)
        };
        run().map(drop).map_err(|error| self.failure(&error, what()))
    }

    /// Runs a query and gives its rows as text.
    pub(super) fn rows(
        &mut self,
        sql: &str,
        what: impl Fn() -> String,
    ) -> Result<Vec<Vec<Option<String>>>, Failure> {
        let mut results =
            self.conn.simple_query(sql).map_err(|error| self.failure(&error, what()))?;
        Ok(results.pop().unwrap_or_default().rows)
    }

    /// Ends a transaction that went wrong. What the server says of it is of no
    /// interest: the reason was told before, and a lost connection shows at
    /// the next statement.
    pub(super) fn roll_back(&mut self) {
        let _ = self.conn.simple_query("ROLLBACK");
    }

    /// Prepares a statement once for this connection.
    pub(super) fn prepare(
        &mut self,
        name: &str,
        sql: &str,
        what: impl Fn() -> String,
    ) -> Result<(), Failure> {
        if !self.prepared.iter().any(|known| known == name) {
            self.conn.prepare(name, sql).map_err(|error| self.failure(&error, what()))?;
            self.prepared.push(name.to_owned());
        }
        Ok(())
    }

    /// Runs a prepared statement once for each row of parameters, in one round
    /// trip. Gives the sum of the counts in the command tags.
    pub(super) fn run_prepared(
        &mut self,
        name: &str,
        rows: &[Vec<Option<String>>],
        what: impl Fn() -> String,
    ) -> Result<u64, Failure> {
        let mut run = || {
            let mut batch = Batch::new();
            for row in rows {
                let params: Vec<Option<&str>> = row.iter().map(Option::as_deref).collect();
                batch.prepared(name, &params)?;
            }
            self.conn.run_batch(&batch)
        };
        let results = run().map_err(|error| self.failure(&error, what()))?;
        Ok(results.iter().filter_map(|result| result.tag.as_ref()?.rows).sum())
    }

    /// Runs a query of one row of numbers.
    pub(super) fn figures(
        &mut self,
        sql: &str,
        what: impl Fn() -> String,
    ) -> Result<Figures, Failure> {
        let mut results =
            self.conn.simple_query(sql).map_err(|error| self.failure(&error, what()))?;
        let result = results.pop().unwrap_or_default();
        audit::figures_of(result.columns, &result.rows).map_err(|words| {
            let (what, at) = (what(), self.at.clone());
            LoadError::Statement { what, at, sqlstate: None, words, connection_lost: false }.into()
        })
    }

    /// Runs one COPY from this side. `fill` writes the next piece into the
    /// empty buffer, and is false once there is none. Gives the number of rows
    /// that the server took.
    pub(super) fn copy(
        &mut self,
        sql: &str,
        what: impl Fn() -> String,
        text: &mut Vec<u8>,
        mut fill: impl FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<u64, Failure> {
        let mut run = || {
            let mut copy = self.conn.copy_in(sql)?;
            text.clear();
            while fill(text) {
                copy.send(text)?;
                text.clear();
            }
            copy.finish()
        };
        run().map_err(|error| self.failure(&error, what()))
    }

    fn failure(&mut self, error: &WireError, what: String) -> Failure {
        if error.is_interrupted() {
            return Failure::Stopped;
        }
        let connection_lost = error.is_connection_lost();
        let mut sqlstate = sqlstate(error);
        let mut words = error.to_string();
        if connection_lost
            && sqlstate.is_none()
            && let Some((state, farewell)) = self.farewell()
        {
            sqlstate = Some(state);
            words = format!("{farewell}\n{words}");
        }
        let at = self.at.clone();
        Failure::Error(LoadError::Statement { what, at, sqlstate, words, connection_lost })
    }

    /// In an emergency a server says why it hangs up by a warning instead of
    /// an error: SQLSTATE 57P02 with an immediate shutdown or a crash.
    fn farewell(&mut self) -> Option<(String, String)> {
        const OPERATOR_INTERVENTION: &str = "57P";
        let last = self.conn.take_notices().pop()?;
        let state = last.sqlstate.to_string();
        state.starts_with(OPERATOR_INTERVENTION).then(|| (state, last.to_string()))
    }
}
