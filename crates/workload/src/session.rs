//! What probes, audits and resets need of a session: statements, one by one.
//!
//! A trait, so that the rules here know no sockets and can be tested with
//! answers that no honest server gives.

use pgdyno_wire::Connection;

/// The server, or the way to it, refused a statement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct SqlError {
    /// The server's SQLSTATE; `None` where the connection failed instead.
    pub sqlstate: Option<String>,
    /// The server's or the connection's own words, with host and port where
    /// the connection is lost.
    pub text: String,
}

impl SqlError {
    /// ` (SQLSTATE …)`, or nothing where there is none.
    pub(crate) fn shown_state(&self) -> String {
        self.sqlstate.as_ref().map(|state| format!(" (SQLSTATE {state})")).unwrap_or_default()
    }

    /// True where the error says that a table does not exist.
    #[must_use]
    pub fn is_undefined_table(&self) -> bool {
        self.sqlstate.as_deref() == Some("42P01")
    }
}

/// A row as text; `None` is SQL's null.
pub type Row = Vec<Option<String>>;

/// One session with the database.
pub trait Session {
    /// Runs one query and gives all its rows with the names of its columns.
    ///
    /// # Errors
    /// The server refused it, or the connection is lost.
    fn query(&mut self, sql: &str) -> Result<(Vec<String>, Vec<Row>), SqlError>;

    /// Runs one statement and gives the number of rows in its command tag, 0
    /// where the tag has none.
    ///
    /// # Errors
    /// The server refused it, or the connection is lost.
    fn execute(&mut self, sql: &str) -> Result<u64, SqlError>;
}

impl Session for Connection {
    fn query(&mut self, sql: &str) -> Result<(Vec<String>, Vec<Row>), SqlError> {
        let mut results = self.simple_query(sql).map_err(|error| sql_error(self, &error))?;
        let last = results.pop().unwrap_or_default();
        Ok((last.columns, last.rows))
    }

    fn execute(&mut self, sql: &str) -> Result<u64, SqlError> {
        let tag = Self::execute(self, sql).map_err(|error| sql_error(self, &error))?;
        Ok(tag.and_then(|tag| tag.rows).unwrap_or(0))
    }
}

/// An error of the server speaks for itself; one of the connection needs to
/// say which.
fn sql_error(conn: &Connection, error: &pgdyno_wire::Error) -> SqlError {
    let sqlstate = error.sqlstate().map(|state| state.to_string());
    let text = if error.is_connection_lost() {
        let endpoint = conn.endpoint();
        format!("connection to server at \"{}\", port {}: {error}", endpoint.host, endpoint.port)
    } else {
        error.to_string()
    };
    SqlError { sqlstate, text }
}
