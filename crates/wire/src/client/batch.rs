//! Several statements in one round trip.

use crate::error::Error;
use crate::frontend;

/// Statements to be sent together; see
/// [`Connection::run_batch`](super::Connection::run_batch).
#[derive(Debug, Clone, Default)]
pub struct Batch {
    messages: Vec<u8>,
    len: usize,
}

impl Batch {
    /// An empty batch.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a statement with text parameters.
    ///
    /// # Errors
    /// A text that cannot be sent; the batch is as before.
    pub fn query(&mut self, sql: &str, params: &[Option<&str>]) -> Result<(), Error> {
        self.add(Some(sql), "", params)
    }

    /// Adds the execution of a prepared statement.
    ///
    /// # Errors
    /// A text that cannot be sent; the batch is as before.
    pub fn prepared(&mut self, name: &str, params: &[Option<&str>]) -> Result<(), Error> {
        self.add(None, name, params)
    }

    fn add(
        &mut self,
        sql: Option<&str>,
        statement: &str,
        params: &[Option<&str>],
    ) -> Result<(), Error> {
        let before = self.messages.len();
        let buf = &mut self.messages;
        let mut encode = || {
            if let Some(sql) = sql {
                frontend::parse(buf, b"", sql.as_bytes(), &[])?;
            }
            let mut bind = frontend::BindBuilder::new(buf, b"", statement.as_bytes())?;
            for param in params {
                match param {
                    Some(text) => bind.text(text.as_bytes()),
                    None => bind.null(),
                }
            }
            bind.finish()?;
            frontend::describe_portal(buf, b"")?;
            frontend::execute(buf, b"", 0)
        };
        if let Err(error) = encode() {
            self.messages.truncate(before);
            return Err(error.into());
        }
        self.len += 1;
        Ok(())
    }

    /// How many statements.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// True without statements.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(super) fn messages(&self) -> &[u8] {
        &self.messages
    }
}
