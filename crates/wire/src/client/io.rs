//! Waiting, sending, receiving and collecting, for the blocking session.

use std::io::ErrorKind;
use std::ops::Range;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::{Connection, NOTICES_MAX, QueryResult};
use crate::backend::{
    CommandTag, ErrorFields, HEADER_LEN, ParameterStatus, ProtocolError, ServerError,
    TransactionStatus, frame_len, next_frame, tag,
};
use crate::connect::{ConnectContext, Connected, Connecting, Drive};
use crate::error::{Error, Kind};
use crate::frontend;

/// How often the interrupt flag is looked at while waiting.
const INTERRUPT_POLL: Duration = Duration::from_millis(100);

/// How long a cancelled statement has to end before the session is given up.
const CANCEL_GRACE: Duration = Duration::from_secs(5);

/// Room for at least this much is made before each receive.
const RECEIVE_LEN: usize = 16 * 1024;

/// Why an operation is being given up, once its statement has been cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    Interrupted,
    TimedOut,
}

impl Stop {
    fn error(self) -> Error {
        Error::new(match self {
            Self::Interrupted => Kind::Interrupted,
            Self::TimedOut => Kind::Timeout,
        })
    }
}

/// Times of the present operation.
#[derive(Debug, Default)]
pub(super) struct Operation {
    /// When it is cancelled.
    deadline: Option<Instant>,
    /// When the session is given up, once cancelled.
    give_up: Option<Instant>,
}

/// Waits until a socket is ready, or for so long.
pub(super) fn wait_for(
    socket: &impl AsFd,
    read: bool,
    write: bool,
    timeout: Duration,
) -> Result<PollFlags, Error> {
    let mut flags = PollFlags::empty();
    flags.set(PollFlags::POLLIN, read);
    flags.set(PollFlags::POLLOUT, write);
    let mut fds = [PollFd::new(socket.as_fd(), flags)];
    // Rounded up, or a rest below a millisecond would spin.
    let millis = timeout.as_micros().div_ceil(1000).min(60_000) as u16;
    match poll(&mut fds, PollTimeout::from(millis)) {
        Ok(_) | Err(Errno::EINTR) => Ok(fds[0].revents().unwrap_or_else(PollFlags::empty)),
        Err(errno) => Err(Error::lost(errno.into())),
    }
}

fn is_set(flag: Option<&AtomicBool>) -> bool {
    flag.is_some_and(|flag| flag.load(Ordering::Relaxed))
}

/// Drives a connection attempt to its end.
pub(super) fn connect(
    ctx: &Arc<ConnectContext>,
    interrupt: Option<&AtomicBool>,
) -> Result<Connected, Error> {
    let mut connecting = Connecting::start(Arc::clone(ctx));
    loop {
        if is_set(interrupt) {
            return Err(Stop::Interrupted.error());
        }
        let now = Instant::now();
        let drive = connecting.drive(now)?;
        if drive == Drive::Done {
            return connecting.finish().ok_or_else(Error::closed);
        }
        let left = connecting.deadline().map(|at| at.saturating_duration_since(now));
        let timeout = left.map_or(INTERRUPT_POLL, |left| left.min(INTERRUPT_POLL));
        match connecting.as_fd() {
            Some(fd) => {
                wait_for(&fd, drive == Drive::WantRead, drive == Drive::WantWrite, timeout)?;
            }
            // A password is being made.
            None => std::thread::sleep(timeout),
        }
    }
}

impl Connection {
    /// Checks that an operation may begin, and starts its clock.
    pub(super) fn begin(&mut self) -> Result<(), Error> {
        if self.broken {
            return Err(Error::closed());
        }
        if is_set(self.interrupt.as_deref()) {
            return Err(Stop::Interrupted.error());
        }
        self.stop = None;
        let deadline = self.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        self.operation = Operation { deadline, give_up: None };
        Ok(())
    }

    /// The error for a connection that cannot be used any more.
    pub(super) fn break_with(&mut self, error: Error) -> Error {
        self.broken = true;
        self.to_send.clear();
        error
    }

    fn lose(&mut self, error: std::io::Error) -> Error {
        self.break_with(Error::lost(error))
    }

    /// Hands what is to be sent to the socket, as far as it takes it.
    /// True if all went out.
    pub(super) fn send_some(&mut self) -> Result<bool, Error> {
        let mut sent = 0;
        let result = loop {
            if sent == self.to_send.len() {
                break self.channel.flush();
            }
            match self.channel.send(&self.to_send[sent..]) {
                Ok(len) => sent += len,
                Err(error) => break Err(error),
            }
        };
        self.to_send.drain(..sent);
        match result {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            // The server may have said why it hung up: let the receiving side
            // find that, or the end of the stream.
            Err(error)
                if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) =>
            {
                self.to_send.clear();
                Ok(true)
            }
            Err(error) => Err(self.lose(error)),
        }
    }

    /// Receives what is there. True if there was something.
    pub(super) fn receive_some(&mut self) -> Result<bool, Error> {
        if self.scanned > 0 {
            self.received.drain(..self.scanned);
            self.scanned = 0;
        }
        let old_len = self.received.len();
        let wanted = frame_len(&self.received).unwrap_or(0).saturating_sub(old_len);
        self.received.resize(old_len + wanted.clamp(RECEIVE_LEN, 64 * RECEIVE_LEN), 0);
        let result = self.channel.recv(&mut self.received[old_len..]);
        self.received.truncate(old_len + *result.as_ref().unwrap_or(&0));
        match result {
            Ok(0) => Err(self.break_with(Error::closed())),
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(false),
            Err(error) => Err(self.lose(error)),
        }
    }

    /// Waits until the socket is ready; meanwhile looks at flag and clock.
    pub(super) fn wait(&mut self, write: bool) -> Result<(), Error> {
        let now = Instant::now();
        if let Some(give_up) = self.operation.give_up {
            if give_up <= now {
                let stop = self.stop.unwrap_or(Stop::TimedOut);
                return Err(self.break_with(stop.error()));
            }
        } else if let Some(stop) = self.reason_to_stop(now) {
            self.stop = Some(stop);
            self.operation.give_up = Some(now + CANCEL_GRACE);
            // Should it fail, the grace period ends the wait.
            let _ = self.cancel_handle().cancel();
        }
        wait_for(&self.channel, true, write, INTERRUPT_POLL).map(drop)
    }

    fn reason_to_stop(&self, now: Instant) -> Option<Stop> {
        if is_set(self.interrupt.as_deref()) {
            return Some(Stop::Interrupted);
        }
        self.operation.deadline.filter(|deadline| *deadline <= now).map(|_| Stop::TimedOut)
    }

    /// The next message that belongs to the operation, as its tag and the
    /// place of its body in `received`; what the server says by the way is
    /// dealt with here.
    pub(super) fn message(&mut self) -> Result<(u8, Range<usize>), Error> {
        loop {
            while let Some((tag, body)) = self.scan()? {
                if !self.take_aside(tag, body.clone())? {
                    return Ok((tag, body));
                }
            }
            let all_sent = self.send_some()?;
            if !self.receive_some()? {
                self.wait(!all_sent)?;
            }
        }
    }

    /// The next message that has been received whole, and steps over it.
    pub(super) fn scan(&mut self) -> Result<Option<(u8, Range<usize>)>, Error> {
        match next_frame(&self.received[self.scanned..]) {
            Ok(None) => Ok(None),
            Ok(Some(frame)) => {
                let start = self.scanned + HEADER_LEN;
                let body = start..start + frame.body.len();
                let tag = frame.tag;
                self.scanned = body.end;
                Ok(Some((tag, body)))
            }
            Err(error) => Err(self.break_with(error.into())),
        }
    }

    /// Notices, parameters and notifications may come at any time. True if it
    /// was one of them.
    pub(super) fn take_aside(&mut self, tag: u8, body: Range<usize>) -> Result<bool, Error> {
        let body = &self.received[body];
        match tag {
            tag::NOTICE_RESPONSE => {
                let notice = ErrorFields::new(body).to_server_error();
                match &mut self.notice_handler {
                    Some(handler) => handler(&notice),
                    None => {
                        if self.notices.len() >= NOTICES_MAX {
                            self.notices.remove(0);
                        }
                        self.notices.push(notice);
                    }
                }
            }
            tag::PARAMETER_STATUS => {
                let status = ParameterStatus::parse(body)?;
                self.parameters.insert(
                    String::from_utf8_lossy(status.name).into_owned(),
                    String::from_utf8_lossy(status.value).into_owned(),
                );
            }
            // Nothing here listens.
            tag::NOTIFICATION_RESPONSE => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Collects results until the server is ready again.
    pub(super) fn collect(&mut self, sql: Option<&str>) -> Result<Vec<QueryResult>, Error> {
        let result = self.collect_until_ready(sql);
        if result.as_ref().is_err_and(Error::is_connection_lost) {
            // Among them a malformed message: what follows it cannot be trusted.
            self.broken = true;
        }
        result
    }

    fn collect_until_ready(&mut self, sql: Option<&str>) -> Result<Vec<QueryResult>, Error> {
        let mut results = Vec::new();
        let mut current = QueryResult::default();
        let mut refusal: Option<ServerError> = None;
        loop {
            let (tag, body) = match self.message() {
                Ok(message) => message,
                Err(error) => return Err(self.rather(refusal, error)),
            };
            let body = &self.received[body];
            match tag {
                tag::ROW_DESCRIPTION => current = QueryResult::described(body)?,
                tag::DATA_ROW => current.push_row(body)?,
                tag::COMMAND_COMPLETE => {
                    current.tag = Some(CommandTag::parse(body));
                    results.push(std::mem::take(&mut current));
                }
                tag::EMPTY_QUERY_RESPONSE => results.push(std::mem::take(&mut current)),
                tag::ERROR_RESPONSE => {
                    let error = ErrorFields::new(body).to_server_error();
                    let error = sql.map(|sql| error.clone().with_query(sql)).unwrap_or(error);
                    refusal.get_or_insert(error);
                }
                tag::READY_FOR_QUERY => {
                    self.status = TransactionStatus::parse(body)?;
                    return self.outcome(refusal, results);
                }
                // A COPY where none was expected: refuse it, and the server's
                // error for that ends the operation.
                tag::COPY_IN_RESPONSE => {
                    frontend::copy_fail(&mut self.to_send, b"no data was prepared for this COPY")?;
                }
                tag::PARSE_COMPLETE
                | tag::BIND_COMPLETE
                | tag::CLOSE_COMPLETE
                | tag::NO_DATA
                | tag::PARAMETER_DESCRIPTION
                | tag::PORTAL_SUSPENDED
                // The data of a COPY TO STDOUT goes nowhere.
                | tag::COPY_OUT_RESPONSE
                | tag::COPY_DATA
                | tag::COPY_DONE => {}
                tag => {
                    let error = ProtocolError::Unexpected { tag, doing: "running a statement" };
                    return Err(self.break_with(error.into()));
                }
            }
        }
    }

    /// The end of an operation after ReadyForQuery.
    pub(super) fn outcome<T>(
        &mut self,
        refusal: Option<ServerError>,
        result: T,
    ) -> Result<T, Error> {
        match (self.stop.take(), refusal) {
            // The server's "canceling statement" is the answer to our own request.
            (Some(stop), Some(_)) => Err(stop.error()),
            (_, Some(error)) => Err(error.into()),
            // Finished before the cancel arrived.
            (_, None) => Ok(result),
        }
    }

    /// The server's last words rather than the mere end of the connection.
    pub(super) fn rather(&self, refusal: Option<ServerError>, error: Error) -> Error {
        match refusal {
            Some(words) if error.is_connection_lost() => words.into(),
            _ => error,
        }
    }
}
