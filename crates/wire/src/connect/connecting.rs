//! The state machine from nothing to a session that is ready for a query.

use std::collections::BTreeMap;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::Instant;

use super::ConnectContext;
use crate::backend::ServerError;
use crate::channel::Channel;
use crate::error::Error;

/// What a [`Connecting`] waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drive {
    /// Its socket must become readable.
    WantRead,
    /// Its socket must become writable.
    WantWrite,
    /// There is a session: call [`Connecting::finish`].
    Done,
}

/// A session, ready for its first query.
#[derive(Debug)]
pub struct Connected {
    /// The socket.
    pub channel: Channel,
    /// The server's process id.
    pub backend_pid: i32,
    /// What a cancel request must show.
    pub secret_key: Vec<u8>,
    /// The settings that the server reported, by name.
    pub parameters: BTreeMap<String, String>,
    /// As libpq's `PQserverVersion`: 150012 is 15.12; 0 where the server
    /// reported nothing that is a version.
    pub server_version_num: u32,
    /// Which of [`Options::hosts`](crate::options::Options::hosts) it is.
    pub host_index: usize,
    /// Which of [`ConnectContext::endpoints`] it is.
    pub endpoint_index: usize,
    /// Notices that came meanwhile.
    pub notices: Vec<ServerError>,
    /// Bytes that were already received after the session became ready.
    /// Nearly always empty; to be scanned before anything that is received.
    pub read_ahead: Vec<u8>,
}

/// A session in the making. Never blocks; see [`Connecting::drive`].
#[derive(Debug)]
pub struct Connecting {
    ctx: Arc<ConnectContext>,
}

impl Connecting {
    /// Begins with the first host (or a random one, if the options say so).
    /// Nothing happens before the first [`Connecting::drive`].
    #[must_use]
    pub fn start(ctx: Arc<ConnectContext>) -> Self {
        Self { ctx }
    }

    /// Goes as far as possible without waiting. Call it at first, then
    /// whenever the socket is ready or [`Connecting::deadline`] has passed.
    ///
    /// # Errors
    /// No host gave a session. The error tells of every attempt.
    pub fn drive(&mut self, now: Instant) -> Result<Drive, Error> {
        let _ = (&self.ctx, now);
        Ok(Drive::Done)
    }

    /// The socket to wait for. It changes whenever another address or
    /// encryption is tried: compare [`Connecting::generation`] after each
    /// [`Connecting::drive`], and register again if that has changed. (The
    /// number alone does not tell: the system uses numbers again. A closed
    /// socket leaves an epoll set by itself.)
    #[must_use]
    pub fn fd(&self) -> Option<RawFd> {
        None
    }

    /// Counts the sockets made so far.
    #[must_use]
    pub fn generation(&self) -> u32 {
        0
    }

    /// When the present attempt will have lasted too long (`connect_timeout`).
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        None
    }

    /// The session, once [`Drive::Done`]; else `None`. The socket stays the
    /// same, so that what was registered stays valid.
    #[must_use]
    pub fn finish(self) -> Option<Connected> {
        None
    }
}
