//! The state machine from nothing to a session that is ready for a query.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd, RawFd};
use std::sync::Arc;
use std::time::Instant;

use super::ConnectContext;
pub use super::attempt::Drive;
use super::attempt::{Attempt, Purpose};
use super::failure::{Failure, Next};
use super::session::version_num;
use crate::auth::{Answer, LOOK_AGAIN};
use crate::backend::ServerError;
use crate::channel::Channel;
use crate::error::{Error, Kind};
use crate::options::{SslMode, TargetSessionAttrs};
use crate::sqlstate::SqlState;

/// A session, ready for its first query.
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

impl std::fmt::Debug for Connected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Not the key: it would let anybody cancel.
        f.debug_struct("Connected")
            .field("backend_pid", &self.backend_pid)
            .field("endpoint_index", &self.endpoint_index)
            .finish_non_exhaustive()
    }
}

/// A session in the making. Never blocks; see [`Connecting::drive`].
#[derive(Debug)]
pub struct Connecting {
    ctx: Arc<ConnectContext>,
    /// Endpoints in the order to try.
    order: Vec<usize>,
    /// Which of `order` is being tried.
    at: usize,
    /// What kind of server will do, in this pass.
    wanted: TargetSessionAttrs,
    /// The present endpoint is tried for the second time, encrypted or not as
    /// it was not before.
    second_encryption: bool,
    attempt: Option<Attempt>,
    done: bool,
    generation: u32,
    deadline: Option<Instant>,
    /// The first drive.
    began: Option<Instant>,
    /// A password was refused that was not made for this connection, and
    /// another has been asked for.
    asked_anew: bool,
    /// What earlier attempts said.
    earlier: Vec<String>,
}

impl Connecting {
    /// Begins with the first host (or a random one, if the options say so).
    /// Nothing happens before the first [`Connecting::drive`].
    #[must_use]
    pub fn start(ctx: Arc<ConnectContext>) -> Self {
        Self::start_at(ctx, 0)
    }

    /// As [`Connecting::start`], but tries the hosts from `first_host` on, and
    /// the ones before it last: for clients that are dealt out over endpoints.
    /// Counted modulo the number of hosts. Random order takes precedence.
    #[must_use]
    pub fn start_at(ctx: Arc<ConnectContext>, first_host: usize) -> Self {
        let order = ctx.order(first_host);
        let wanted = ctx.options().target_session_attrs;
        Self {
            ctx,
            order,
            at: 0,
            wanted,
            second_encryption: false,
            attempt: None,
            done: false,
            generation: 0,
            deadline: None,
            began: None,
            asked_anew: false,
            earlier: Vec::new(),
        }
    }

    /// Goes as far as possible without waiting. Call it at first, then
    /// whenever the socket is ready or [`Connecting::deadline`] has passed.
    /// Calling it too early does no harm.
    ///
    /// # Errors
    /// No host gave a session. The error tells of every attempt. Do not call
    /// it again afterwards.
    pub fn drive(&mut self, now: Instant) -> Result<Drive, Error> {
        self.began.get_or_insert(now);
        loop {
            let result = self.drive_attempt(now);
            match result {
                Ok(Drive::Done) => {
                    self.done = true;
                    self.deadline = None;
                    return Ok(Drive::Done);
                }
                Ok(wait) => return Ok(wait),
                Err(failure) => self.move_on(failure)?,
            }
        }
    }

    /// The socket to wait for. It changes whenever another address or
    /// encryption is tried: compare [`Connecting::generation`] after each
    /// [`Connecting::drive`], and register again if that has changed. (The
    /// number alone does not tell: the system uses numbers again. A closed
    /// socket leaves an epoll set by itself.) `None` before the first drive,
    /// after a failed one, and while a password is being made: then only
    /// [`Connecting::deadline`] says when to drive again.
    #[must_use]
    pub fn fd(&self) -> Option<RawFd> {
        self.attempt.as_ref().map(Attempt::fd)
    }

    /// As [`Connecting::fd`], for calls that borrow the socket.
    #[must_use]
    pub fn as_fd(&self) -> Option<BorrowedFd<'_>> {
        self.attempt.as_ref().map(|attempt| attempt.channel.as_fd())
    }

    /// Counts the sockets made so far.
    #[must_use]
    pub const fn generation(&self) -> u32 {
        self.generation
    }

    /// When to drive again in any case: the present attempt will have lasted
    /// too long (`connect_timeout`), or a password may have been made.
    #[must_use]
    pub const fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// The session, once [`Drive::Done`]; else `None`. The socket stays the
    /// same, so that what was registered stays valid.
    #[must_use]
    pub fn finish(self) -> Option<Connected> {
        let mut attempt = self.attempt.filter(|_| self.done)?;
        // Thousands of these may be kept.
        attempt.received.shrink_to_fit();
        let endpoint_index = self.order[self.at];
        let session = attempt.session;
        let version = session.parameters.get("server_version").map_or("", String::as_str);
        Some(Connected {
            channel: attempt.channel,
            backend_pid: session.pid,
            secret_key: session.key,
            server_version_num: version_num(version),
            parameters: session.parameters,
            host_index: self.ctx.endpoints()[endpoint_index].host_index,
            endpoint_index,
            notices: session.notices,
            read_ahead: attempt.received,
        })
    }

    /// Opens the present attempt if there is none, and drives it.
    fn drive_attempt(&mut self, now: Instant) -> Result<Drive, Failure> {
        let endpoint = &self.ctx.endpoints()[self.order[self.at]];
        let attempt = match &mut self.attempt {
            Some(attempt) => attempt,
            none => {
                let password = match self.ctx.ask_password(endpoint) {
                    None => None,
                    Some(Answer::Ready(password)) => Some(password),
                    Some(Answer::Wait) => {
                        // Before there is a socket: the server's patience with
                        // a silent client is not used up, and the attempt's
                        // own time has not begun.
                        self.deadline = now.checked_add(LOOK_AGAIN);
                        return Ok(Drive::WantRead);
                    }
                    Some(Answer::Failed(words)) => {
                        return Err(Failure::stop_kind(Kind::Auth(words)));
                    }
                };
                let timeout = self.ctx.options().connect_timeout;
                self.deadline = timeout.and_then(|timeout| now.checked_add(timeout));
                let mode = self.ctx.options().ssl.mode;
                let encrypt = !endpoint.is_unix()
                    && (mode > SslMode::Allow) != self.second_encryption
                    && self.ctx.tls().is_some();
                let purpose = Purpose::Session(self.wanted);
                let mut opened = Attempt::open(&self.ctx, endpoint, encrypt, purpose)?;
                opened.password = password;
                self.generation = self.generation.wrapping_add(1);
                none.insert(opened)
            }
        };
        let drive = attempt.drive(&self.ctx, endpoint)?;
        if drive != Drive::Done && self.deadline.is_some_and(|deadline| deadline <= now) {
            return Err(Failure::endpoint(Error::new(Kind::Timeout)));
        }
        Ok(drive)
    }

    /// Notes a failure and turns to what comes next; the error of all attempts
    /// where nothing does.
    fn move_on(&mut self, failure: Failure) -> Result<(), Error> {
        let attempt = self.attempt.take();
        if self.is_worth_another_password(attempt.as_ref(), &failure) {
            self.asked_anew = true;
            return Ok(());
        }
        let was_encrypted = attempt.is_some_and(|attempt| attempt.is_encrypted());
        let endpoint = &self.ctx.endpoints()[self.order[self.at]];
        let error = failure.error.at(&endpoint.host, endpoint.port, endpoint.failure_prefix());
        let mode = self.ctx.options().ssl.mode;
        let has_other = failure.other_encryption
            && !self.second_encryption
            && !endpoint.is_unix()
            && self.ctx.tls().is_some()
            && match mode {
                SslMode::Allow => !was_encrypted,
                // A prefer that was answered `N` has been plain already.
                SslMode::Prefer => was_encrypted,
                _ => false,
            };
        let next = if has_other { None } else { self.next_position(failure.next) };
        match next {
            None if has_other => self.second_encryption = true,
            Some(at) => {
                self.at = at;
                self.second_encryption = false;
            }
            None => return Err(error.after(std::mem::take(&mut self.earlier))),
        }
        self.earlier.push(error.to_string());
        Ok(())
    }

    /// True where the server refused a password that may have been too old.
    fn is_worth_another_password(&self, attempt: Option<&Attempt>, failure: &Failure) -> bool {
        let refused = failure.error.sqlstate().is_some_and(SqlState::is_authorization_failure);
        if self.asked_anew || !refused {
            return false;
        }
        let endpoint = &self.ctx.endpoints()[self.order[self.at]];
        let password = attempt.and_then(|attempt| attempt.password.as_ref());
        match (password, self.began) {
            (Some(password), Some(began)) => self.ctx.password_refused(endpoint, password, began),
            _ => false,
        }
    }

    /// The next place in the order; begins a second pass for `prefer-standby`.
    fn next_position(&mut self, next: Next) -> Option<usize> {
        let host_of = |at: usize| self.ctx.endpoints()[self.order[at]].host_index;
        let present = host_of(self.at);
        let found = match next {
            Next::Stop => return None,
            Next::Endpoint => Some(self.at + 1).filter(|at| *at < self.order.len()),
            Next::Host => (self.at + 1..self.order.len()).find(|at| host_of(*at) != present),
        };
        if found.is_none() && self.wanted == TargetSessionAttrs::PreferStandby {
            self.wanted = TargetSessionAttrs::Any;
            return Some(0);
        }
        found
    }
}
