//! The PostgreSQL behind: one connection for each session, frame by frame.
//!
//! What runs here never waits for another session of the emulator for long:
//! see [`Upstream::exchange`] and `conflict.rs`.

use std::io::ErrorKind;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use pgdyno_wire::backend::{CommandTag, ErrorFields, HEADER_LEN, next_frame, tag};
use pgdyno_wire::channel::Channel;
use pgdyno_wire::connect::{ConnectContext, Connecting, Drive};
use pgdyno_wire::frontend;
use pgdyno_wire::{Error, SqlState};

use crate::client::put;

/// The savepoint at the beginning of each transaction, to which a session goes
/// back when others need its locks.
pub(crate) const SAVEPOINT: &str = "dsql_start";

/// How long a statement may be without an answer before somebody asks what it
/// waits for. Most are done by then; a conflict costs this much.
const LOOK_FIRST: Duration = Duration::from_millis(2);
/// The same for a statement that has been waiting for long: it is just slow.
const LOOK_MAX: Duration = Duration::from_millis(100);

/// The state of the transaction in the server behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Block {
    /// None is open.
    None,
    /// Open, with all that the client has done in it.
    Live,
    /// Open at its beginning, its snapshot kept: others needed its locks. What
    /// the client has done must be repeated before anything else.
    Detached,
}

/// Everything that came until the server was ready.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    /// Frames for the client, without CommandComplete and ReadyForQuery.
    pub(crate) frames: Vec<u8>,
    /// The last CommandComplete's body.
    pub(crate) tag: Option<Vec<u8>>,
    /// The first ErrorResponse: its body.
    pub(crate) error: Option<Vec<u8>>,
    /// The server waits for the data of a COPY and is not ready.
    pub(crate) wants_copy: bool,
    /// An index could not be built: its job has failed, the statement has not.
    pub(crate) build_failed: bool,
}

impl Reply {
    pub(crate) fn sqlstate(&self) -> Option<SqlState> {
        self.error.as_ref().map(|body| ErrorFields::new(body).sqlstate())
    }

    /// Rows that the command tag counts as written.
    pub(crate) fn rows_written(&self) -> u64 {
        let tag = self.tag.as_ref().map(|body| CommandTag::parse(body));
        tag.filter(|tag| tag.kind.is_write()).and_then(|tag| tag.rows).unwrap_or(0)
    }
}

/// A connection to the server behind.
pub(crate) struct Upstream {
    channel: Channel,
    received: Vec<u8>,
    scanned: usize,
    pub(crate) pid: i32,
    pub(crate) block: Block,
    pub(crate) parameters: std::collections::BTreeMap<String, String>,
}

fn wait(channel: &Channel, write: bool, timeout: Duration) -> Result<bool, Error> {
    let flags = if write { PollFlags::POLLIN | PollFlags::POLLOUT } else { PollFlags::POLLIN };
    poll_fd(&channel.as_fd(), flags, timeout)
}

fn poll_fd(socket: &impl AsFd, flags: PollFlags, timeout: Duration) -> Result<bool, Error> {
    let mut fds = [PollFd::new(socket.as_fd(), flags)];
    let millis = u16::try_from(timeout.as_millis()).unwrap_or(u16::MAX);
    match poll(&mut fds, PollTimeout::from(millis)) {
        Ok(ready) => Ok(ready > 0),
        Err(nix::errno::Errno::EINTR) => Ok(true),
        Err(errno) => Err(Error::lost(errno.into())),
    }
}

impl Upstream {
    /// Connects, and waits until that is done.
    pub(crate) fn connect(ctx: &Arc<ConnectContext>) -> Result<Self, Error> {
        let mut connecting = Connecting::start(Arc::clone(ctx));
        loop {
            let flags = match connecting.drive(Instant::now())? {
                Drive::Done => break,
                Drive::WantRead => PollFlags::POLLIN,
                Drive::WantWrite => PollFlags::POLLOUT,
            };
            if let Some(fd) = connecting.as_fd() {
                poll_fd(&fd, flags, LOOK_MAX)?;
            } else if let Some(at) = connecting.deadline() {
                std::thread::sleep(at.saturating_duration_since(Instant::now()));
            }
        }
        let connected = connecting.finish().ok_or_else(Error::closed)?;
        Ok(Self {
            channel: connected.channel,
            received: connected.read_ahead,
            scanned: 0,
            pid: connected.backend_pid,
            block: Block::None,
            parameters: connected.parameters,
        })
    }

    fn send(&mut self, mut data: &[u8]) -> Result<(), Error> {
        loop {
            let done = if data.is_empty() { self.channel.flush() } else { Ok(()) };
            if data.is_empty() && done.is_ok() {
                return Ok(());
            }
            match done.and_then(|()| self.channel.send(data)) {
                Ok(len) => data = &data[len..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    // The server may be talking first: make room for it.
                    self.receive()?;
                    wait(&self.channel, true, LOOK_MAX)?;
                }
                Err(error) => return Err(Error::lost(error)),
            }
        }
    }

    fn receive(&mut self) -> Result<bool, Error> {
        self.received.drain(..self.scanned);
        self.scanned = 0;
        let mut chunk = [0; 16 * 1024];
        match self.channel.recv(&mut chunk) {
            Ok(0) => Err(Error::closed()),
            Ok(len) => {
                self.received.extend_from_slice(&chunk[..len]);
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(Error::lost(error)),
        }
    }

    /// Sends messages and collects all answers until the server is ready, or
    /// waits for a COPY. Whenever nothing comes for a while, `on_wait` is
    /// called with the process id of this server process; `spill` may take
    /// frames out of the reply on the way, where there are many.
    pub(crate) fn exchange(
        &mut self,
        messages: &[u8],
        on_wait: &mut dyn FnMut(i32),
        spill: &mut dyn FnMut(&mut Vec<u8>) -> Result<(), Error>,
    ) -> Result<Reply, Error> {
        self.send(messages)?;
        let mut reply = Reply::default();
        let mut look = LOOK_FIRST;
        loop {
            while let Some(frame) = next_frame(&self.received[self.scanned..])? {
                let len = frame.total_len();
                let end = take(&mut reply, frame.tag, frame.body);
                self.scanned += len;
                if end {
                    return Ok(reply);
                }
            }
            spill(&mut reply.frames)?;
            if !self.receive()? && !wait(&self.channel, false, look)? {
                on_wait(self.pid);
                look = (look * 2).min(LOOK_MAX);
            }
        }
    }

    /// Runs statements of the emulator's own that wait for nobody.
    pub(crate) fn command(&mut self, sql: &str) -> Result<Reply, Error> {
        let messages = query(sql)?;
        self.exchange(&messages, &mut |_| {}, &mut |_| Ok(()))
    }

    /// Gives up all locks but keeps the snapshot; true where there was a
    /// transaction to do so.
    pub(crate) fn detach(&mut self) -> Result<bool, Error> {
        if self.block != Block::Live {
            return Ok(false);
        }
        self.command(&format!("ROLLBACK TO SAVEPOINT {SAVEPOINT}"))?;
        self.block = Block::Detached;
        Ok(true)
    }

    /// Opens a transaction at its only level.
    pub(crate) fn begin(&mut self, read_only: bool) -> Result<(), Error> {
        let mode = if read_only { " READ ONLY" } else { "" };
        let sql = format!("BEGIN ISOLATION LEVEL REPEATABLE READ{mode}; SAVEPOINT {SAVEPOINT}");
        let reply = self.command(&sql)?;
        self.block = Block::Live;
        match reply.error {
            Some(body) => Err(ErrorFields::new(&body).to_server_error().into()),
            None => Ok(()),
        }
    }

    /// Rolls back whatever is open.
    pub(crate) fn rollback(&mut self) -> Result<(), Error> {
        if self.block != Block::None {
            self.command("ROLLBACK")?;
            self.block = Block::None;
        }
        Ok(())
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        let mut bye = Vec::with_capacity(HEADER_LEN);
        frontend::terminate(&mut bye);
        // The server notices a closed socket as well.
        let _ = self.send(&bye);
        self.channel.shutdown();
    }
}

/// A Query message.
pub(crate) fn query(sql: &str) -> Result<Vec<u8>, Error> {
    let mut messages = Vec::new();
    frontend::query(&mut messages, sql.as_bytes())?;
    Ok(messages)
}

/// Puts a frame where it belongs; true for the last one.
fn take(reply: &mut Reply, frame_tag: u8, body: &[u8]) -> bool {
    match frame_tag {
        tag::READY_FOR_QUERY => return true,
        tag::COPY_IN_RESPONSE => {
            reply.wants_copy = true;
            put(&mut reply.frames, frame_tag, body);
            return true;
        }
        // The session answers these itself, when the client sends its part.
        tag::PARSE_COMPLETE | tag::BIND_COMPLETE | tag::CLOSE_COMPLETE => {}
        tag::COMMAND_COMPLETE => reply.tag = Some(body.to_vec()),
        tag::ERROR_RESPONSE => {
            reply.error.get_or_insert_with(|| body.to_vec());
        }
        _ => put(&mut reply.frames, frame_tag, body),
    }
    false
}
