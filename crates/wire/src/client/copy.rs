//! `COPY … FROM STDIN`: rows into a table, as fast as the socket takes them.

use super::Connection;
use crate::backend::{CommandTag, ErrorFields, ProtocolError, ServerError, TransactionStatus, tag};
use crate::error::{Error, Kind};
use crate::frontend;

/// Bytes collected before they are handed to the socket: enough that system
/// calls do not count, little enough to stay in the processor's cache.
const FLUSH_LEN: usize = 64 * 1024;

/// The longest CopyData message that is made.
const CHUNK_LEN_MAX: usize = 256 * 1024;

/// A COPY in progress. Dropped before [`CopyIn::finish`], it is given up and
/// the server undoes it.
#[derive(Debug)]
#[must_use = "the copy is given up unless finished"]
pub struct CopyIn<'c> {
    connection: &'c mut Connection,
    ended: bool,
}

impl<'c> CopyIn<'c> {
    pub(super) fn begin(connection: &'c mut Connection, sql: &str) -> Result<Self, Error> {
        connection.begin()?;
        frontend::query(&mut connection.to_send, sql.as_bytes())?;
        let mut refusal: Option<ServerError> = None;
        loop {
            let (tag, body) = match connection.message() {
                Ok(message) => message,
                Err(error) => return Err(connection.rather(refusal, error)),
            };
            let body = &connection.received[body];
            match tag {
                tag::COPY_IN_RESPONSE if refusal.is_none() => {
                    return Ok(Self { connection, ended: false });
                }
                tag::ERROR_RESPONSE => {
                    let error = ErrorFields::new(body).to_server_error().with_query(sql);
                    refusal.get_or_insert(error);
                }
                tag::READY_FOR_QUERY => {
                    connection.status = TransactionStatus::parse(body)?;
                    connection.outcome(refusal, ())?;
                    return Err(Error::new(Kind::Unexpected(format!(
                        "the statement is no COPY FROM STDIN: {sql}"
                    ))));
                }
                // Another statement's result: the end will tell.
                _ => {}
            }
        }
    }

    /// Sends a piece of the stream, cut anywhere. Waits while the server is
    /// busy, and notices if it has refused what came before.
    ///
    /// # Errors
    /// The server's error for the rows sent so far, an interruption, or a lost
    /// connection. The copy has ended then, and nothing of it stays.
    pub fn send(&mut self, data: &[u8]) -> Result<(), Error> {
        if self.ended {
            return Err(Error::new(Kind::Unexpected("the copy has already ended".into())));
        }
        for chunk in data.chunks(CHUNK_LEN_MAX) {
            frontend::copy_data(&mut self.connection.to_send, chunk)?;
            if self.connection.to_send.len() >= FLUSH_LEN {
                self.push(false)?;
            }
        }
        Ok(())
    }

    /// Ends the stream and waits for the server; the number of rows copied.
    ///
    /// # Errors
    /// As [`CopyIn::send`].
    pub fn finish(mut self) -> Result<u64, Error> {
        if self.ended {
            return Err(Error::new(Kind::Unexpected("the copy has already ended".into())));
        }
        self.push(true)?;
        frontend::copy_done(&mut self.connection.to_send);
        self.ended = true;
        self.drain(None)
    }

    /// Gives the copy up; the server undoes it.
    ///
    /// # Errors
    /// A lost connection. The server's own error is what was asked for, and
    /// none.
    pub fn abort(mut self, reason: &str) -> Result<(), Error> {
        self.give_up(reason)
    }

    fn give_up(&mut self, reason: &str) -> Result<(), Error> {
        if std::mem::replace(&mut self.ended, true) || self.connection.broken {
            return Ok(());
        }
        let reason: Vec<u8> = reason.bytes().filter(|byte| *byte != 0).collect();
        frontend::copy_fail(&mut self.connection.to_send, &reason)?;
        match self.drain(None) {
            Err(error) if error.server().is_none() || error.is_connection_lost() => Err(error),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Sends what was collected: all of it, or until little is left.
    fn push(&mut self, all: bool) -> Result<(), Error> {
        loop {
            let all_sent = self.connection.send_some()?;
            if self.connection.receive_some()? {
                self.listen()?;
                continue;
            }
            if all_sent || (!all && self.connection.to_send.len() < FLUSH_LEN) {
                return self.check_interrupt();
            }
            self.connection.wait(true)?;
        }
    }

    /// With a fast server there is never a wait, and so no look at the flag.
    fn check_interrupt(&mut self) -> Result<(), Error> {
        let flag = self.connection.interrupt.as_deref();
        if flag.is_some_and(|flag| flag.load(std::sync::atomic::Ordering::Relaxed)) {
            self.give_up("interrupted")?;
            return Err(Error::new(Kind::Interrupted));
        }
        Ok(())
    }

    /// Looks at what the server says while rows are being sent: an error ends
    /// the copy there and then.
    fn listen(&mut self) -> Result<(), Error> {
        while let Some((tag, body)) = self.connection.scan()? {
            if self.connection.take_aside(tag, body.clone())? {
                continue;
            }
            if tag != tag::ERROR_RESPONSE {
                let error = ProtocolError::Unexpected { tag, doing: "copying rows" };
                return Err(self.connection.break_with(error.into()));
            }
            let error = ErrorFields::new(&self.connection.received[body]).to_server_error();
            self.ended = true;
            // The server skips the rest of the stream by itself, but the
            // message that is half sent must be completed, which `drain` does.
            return self.drain(Some(error)).map(drop);
        }
        Ok(())
    }

    /// Waits for the end of the operation.
    fn drain(&mut self, mut refusal: Option<ServerError>) -> Result<u64, Error> {
        let connection = &mut *self.connection;
        let mut rows = 0;
        loop {
            let (tag, body) = match connection.message() {
                Ok(message) => message,
                Err(error) => return Err(connection.rather(refusal, error)),
            };
            let body = &connection.received[body];
            match tag {
                tag::COMMAND_COMPLETE => rows = CommandTag::parse(body).rows.unwrap_or(0),
                tag::ERROR_RESPONSE => {
                    refusal.get_or_insert_with(|| ErrorFields::new(body).to_server_error());
                }
                tag::READY_FOR_QUERY => {
                    connection.status = TransactionStatus::parse(body)?;
                    return connection.outcome(refusal, rows);
                }
                _ => {}
            }
        }
    }
}

impl Drop for CopyIn<'_> {
    fn drop(&mut self) {
        // Whoever drops it has an error of their own to tell.
        let _ = self.give_up("the copy was given up by the client");
    }
}
