//! Sessions of clients: made, watched, written to, closed.

use std::io::ErrorKind;
use std::sync::Arc;

use pgdyno_wire::connect::{Connected, Connecting, Drive};
use pgdyno_wire::frontend;

use super::client::{Attempt, Awaited, Client, Replies, Session, State};
use super::core::Core;
use super::prepared::Prepared;
use super::{Cx, Flow, renew, ring};
use crate::plan::Protocol;
use crate::poller::Want;

/// A request buffer that grew beyond this is given back when it is empty:
/// thousands of clients must not keep what one long statement needed.
const OUT_KEEP_MAX: usize = 16 * 1024;

/// Why there is no session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConnectError {
    /// In libpq's words, every attempt.
    pub(crate) text: String,
    pub(crate) sqlstate: Option<String>,
    /// The options cannot work, whatever the server.
    pub(crate) config: bool,
}

impl From<pgdyno_wire::Error> for ConnectError {
    fn from(error: pgdyno_wire::Error) -> Self {
        Self {
            sqlstate: error.sqlstate().map(|code| code.as_str().to_owned()),
            config: error.is_config(),
            text: error.to_string(),
        }
    }
}

impl From<std::io::Error> for ConnectError {
    fn from(error: std::io::Error) -> Self {
        let text = format!("could not watch a connection: {error}");
        Self { sqlstate: None, config: false, text }
    }
}

/// Starts to connect to the client's endpoint. The state is
/// [`State::Connecting`] afterwards.
pub(super) fn start_attempt(core: &mut Core, cx: Cx<'_>, client: &mut Client) {
    client.connect_begin_ns = core.tick();
    let context = Arc::clone(&cx.plan.endpoints[client.endpoint as usize]);
    let machine = Connecting::start(context);
    client.attempt = Some(Box::new(Attempt { machine, watched: None }));
    client.state = State::Connecting;
}

/// Goes on connecting, at first and whenever the socket is ready.
///
/// # Errors
/// What libpq would say, complete.
pub(super) fn drive(
    core: &mut Core,
    cx: Cx<'_>,
    client: &mut Client,
) -> Result<Flow, ConnectError> {
    let Some(attempt) = &mut client.attempt else { return Ok(Flow::Wait) };
    let deadline = attempt.machine.deadline();
    let want = match attempt.machine.drive(core.clock.instant(core.now_ns)) {
        Err(error) => {
            core.figures.tally().connections.failed += 1;
            return Err(error.into());
        }
        Ok(Drive::Done) => return established(core, cx, client),
        Ok(Drive::WantRead) => Want::Read,
        Ok(Drive::WantWrite) => Want::Write,
    };
    let watched = attempt.machine.generation();
    if let Some(fd) = attempt.machine.fd() {
        let result = match attempt.watched {
            // Edge-triggered: what was watched for goes on being reported.
            Some((generation, wanted)) if generation == watched && wanted == want => Ok(()),
            Some((generation, _)) if generation == watched => {
                core.poller.change(fd, client.index, want)
            }
            _ => core.poller.add(fd, client.index, want),
        };
        result?;
        attempt.watched = Some((watched, want));
    }
    if let Some(next) = attempt.machine.deadline()
        && Some(next) != deadline
    {
        core.timers.add(core.clock.at(next), client.index);
    }
    Ok(Flow::Wait)
}

fn established(core: &mut Core, cx: Cx<'_>, client: &mut Client) -> Result<Flow, ConnectError> {
    let Some(attempt) = client.attempt.take() else { return Ok(Flow::Wait) };
    let watched = attempt.watched;
    let Some(connected) = attempt.machine.finish() else { return Ok(Flow::Wait) };
    for notice in &connected.notices {
        core.observer.notice(&notice.to_string());
    }
    let host = connected.host_index;
    let session = open_session(connected, cx.requests.statements.len());
    let result = match watched {
        Some((_, Want::Read)) => Ok(()),
        Some((_, Want::Write)) => core.poller.change(session.fd(), client.index, Want::Read),
        None => core.poller.add(session.fd(), client.index, Want::Read),
    };
    result?;
    client.session = Some(session);
    ring::join(core, client);
    client.replies = Replies::default();
    let now_ns = core.tick();
    let setup_us = now_ns.saturating_sub(client.connect_begin_ns) / 1000;
    core.figures.tally().connections.setup.record(setup_us);
    renew::established(core, cx, client, host);
    if cx.plan.prepare_early && cx.plan.protocol == Protocol::Prepared {
        return Ok(prepare_everything(core, cx, client));
    }
    is_ready(core, client);
    Ok(Flow::Again)
}

fn open_session(connected: Connected, statements: usize) -> Session {
    Session {
        channel: connected.channel,
        partial: connected.read_ahead,
        skip: 0,
        sent: 0,
        watches_write: false,
        generation: 0,
        queued_turn: 0,
        status: pgdyno_wire::backend::TransactionStatus::Idle,
        prepared: Prepared::none_of(statements),
    }
}

/// Parses all statements of all scripts at once, so that no transaction has to.
fn prepare_everything(core: &mut Core, cx: Cx<'_>, client: &mut Client) -> Flow {
    client.replies.begin();
    for (number, statement) in cx.requests.statements.iter().enumerate() {
        statement.write_parse(&mut client.out);
        frontend::sync(&mut client.out);
        client.replies.syncs += 1;
        client.replies.preparing += 1;
        if let Some(session) = &mut client.session {
            session.prepared.insert(number);
        }
    }
    if client.replies.syncs == 0 {
        is_ready(core, client);
        return Flow::Again;
    }
    client.state = State::Awaiting(Awaited::Preparation);
    flush(core, client);
    Flow::Wait
}

/// The session can be used: at the start of the run the client waits for the
/// others, later its transaction goes on.
pub(super) fn is_ready(core: &mut Core, client: &mut Client) {
    if client.was_ready {
        client.state = State::Starting;
    } else {
        client.was_ready = true;
        core.ready += 1;
        client.state = State::Choosing;
    }
}

/// Gives a client that is about to write a request a buffer for it.
#[inline]
pub(super) fn lend_buffer(core: &mut Core, client: &mut Client) {
    if client.out.capacity() == 0 {
        std::mem::swap(&mut client.out, &mut core.spare_out);
    }
}

/// Sends the client's requests: at once, or by the ring with those of others.
pub(super) fn flush(core: &mut Core, client: &mut Client) {
    if !ring::takes(core, client) {
        send_now(core, client);
    }
}

/// Hands the socket what it takes of the client's requests, and watches for
/// room where it does not take all. A broken socket shows when it is read.
pub(super) fn send_now(core: &mut Core, client: &mut Client) {
    let Some(session) = &mut client.session else {
        client.out.clear();
        return;
    };
    let mut blocked = false;
    while session.sent < client.out.len() {
        match session.channel.send(&client.out[session.sent..]) {
            Ok(taken) => session.sent += taken,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) if e.kind() == ErrorKind::WouldBlock => {
                blocked = true;
                break;
            }
            // The server's last words, if any, are still to be read.
            Err(_) => {
                session.sent = client.out.len();
                broke(core, client.index, session);
            }
        }
    }
    if !blocked {
        client.out.clear();
        session.sent = 0;
        take_buffer(core, &mut client.out);
        if session.channel.wants_write() {
            blocked = !matches!(session.channel.flush(), Ok(()));
        }
    }
    watch(core, client.index, session, blocked);
}

/// An empty buffer is the worker's again. It needs only one.
#[inline]
pub(super) fn take_buffer(core: &mut Core, out: &mut Vec<u8>) {
    if core.spare_out.capacity() == 0 && out.capacity() <= OUT_KEEP_MAX {
        std::mem::swap(&mut core.spare_out, out);
    } else {
        *out = Vec::new();
    }
}

fn watch(core: &mut Core, index: u32, session: &mut Session, blocked: bool) {
    if blocked == session.watches_write {
        return;
    }
    let fd = session.fd();
    let watched = match (session.is_on_ring(), blocked) {
        (false, true) => core.poller.change(fd, index, Want::Write),
        (false, false) => core.poller.change(fd, index, Want::Read),
        // What comes is the ring's; the poller only tells of room.
        (true, true) => core.poller.add(fd, index, Want::Write),
        (true, false) => core.poller.remove(fd),
    };
    if watched.is_ok() {
        session.watches_write = blocked;
    } else {
        broke(core, index, session);
    }
}

/// The socket can no longer be written to. It is read to its end.
fn broke(core: &mut Core, index: u32, session: &Session) {
    if session.is_on_ring() {
        session.channel.end();
    } else {
        core.broken.push(index);
    }
}

/// Ends the session, politely where the socket takes it.
pub(super) fn close(core: &mut Core, client: &mut Client) {
    let Some(session) = client.session.take() else { return };
    client.out.clear();
    frontend::terminate(&mut client.out);
    if session.is_on_ring() {
        ring::leave(core, session, &client.out);
    } else {
        // A socket that is closed leaves the poller by itself.
        session.channel.close(&client.out);
    }
    client.out.clear();
}
