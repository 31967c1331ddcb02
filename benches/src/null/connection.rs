//! One accepted socket: its session, and bytes that could not leave yet.

use std::io::{self, ErrorKind, Write};

use socket2::Socket;

use super::session::Session;

/// A socket with its session.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) socket: Socket,
    pub(super) session: Session,
    /// Tells this connection from an earlier one in the same slot.
    pub(super) serial: u64,
    /// Answers that wait for their time.
    pub(super) held: Vec<u8>,
    /// Bytes that the socket did not take.
    blocked: Vec<u8>,
}

/// Where the bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sent {
    /// With the kernel.
    All,
    /// Some wait until the socket is writable.
    Blocked,
}

impl Connection {
    pub(super) fn new(socket: Socket, session: Session, serial: u64) -> Self {
        Self { socket, session, serial, held: Vec::new(), blocked: Vec::new() }
    }

    /// Sends bytes, behind those that are blocked.
    pub(super) fn send(&mut self, bytes: &[u8]) -> io::Result<Sent> {
        if !self.blocked.is_empty() {
            self.blocked.extend_from_slice(bytes);
            return Ok(Sent::Blocked);
        }
        let taken = write_some(&self.socket, bytes)?;
        if taken == bytes.len() {
            return Ok(Sent::All);
        }
        self.blocked.extend_from_slice(&bytes[taken..]);
        Ok(Sent::Blocked)
    }

    /// Sends what was blocked.
    pub(super) fn unblock(&mut self) -> io::Result<Sent> {
        let taken = write_some(&self.socket, &self.blocked)?;
        self.blocked.drain(..taken);
        Ok(if self.blocked.is_empty() { Sent::All } else { Sent::Blocked })
    }

    /// Sends the first `length` of the held bytes.
    pub(super) fn release(&mut self, length: usize) -> io::Result<Sent> {
        let mut held = std::mem::take(&mut self.held);
        let sent = self.send(&held[..length]);
        held.drain(..length);
        self.held = held;
        sent
    }
}

/// How many bytes the socket took: all, unless its buffer is full.
fn write_some(mut socket: &Socket, bytes: &[u8]) -> io::Result<usize> {
    let mut taken = 0;
    while taken < bytes.len() {
        match socket.write(&bytes[taken..]) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => taken += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) => return Err(error),
        }
    }
    Ok(taken)
}
