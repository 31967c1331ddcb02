//! Sessions that are carried by `io_uring` while they run.
//!
//! A turn of the ring is one system call: it hands over all requests that were
//! made since the last one, and waits for answers. What the ring cannot carry
//! stays with readiness, which the ring waits for as well: sessions in the
//! making, those with TLS, a socket that is full.
//!
//! A request waits until the turn's other answers are served, a microsecond for
//! each, and at most until 64 are made. Its transaction began when it was made,
//! so that is part of its latency, as is with readiness the time that others'
//! answers wait to be read. What takes long, a shell command, waits for them to
//! be handed over.

use std::io;
use std::time::Duration;

use pgdyno_ring::{Event, Filled, Inbox, Key, Ring, Wait};

use super::client::{Client, Session};
use super::core::Core;
use super::{Cx, Worker, replies, session};
use crate::observe::Level;
use crate::poller::Timeout;
use crate::prefetch;

/// A longer request, a pipeline's for example, is sent by itself: it would hold
/// up those of others, and its memory with it.
const SEND_BYTES_MAX: usize = 16 * 1024;

/// When a worker takes to a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Boarding {
    /// It stays with readiness.
    Never,
    /// Once its waits serve so many clients that a ring has something to give.
    WhenCrowded,
    /// Before the run begins.
    AtOnce,
}

/// So many clients served by one wait, on average, and a ring costs less than
/// readiness. Measured on PostgreSQL on the same cores: with 2 it costs 1.2
/// times as much, with 3 the same, with 5 to 10 it costs 0.87 to 0.98.
pub(crate) const READY_MIN: u64 = 4;

/// Waits over which that is found out, again and again.
const CROWD_WAITS: u32 = 1024;

/// How many clients a worker's waits serve.
#[derive(Debug, Default)]
pub(super) struct Crowd {
    waits: u32,
    served: u64,
}

impl Crowd {
    /// After a wait that served so many: whether the last waits together served
    /// enough.
    #[inline]
    pub(super) fn has_come(&mut self, served: usize) -> bool {
        self.waits += 1;
        self.served += served as u64;
        self.waits == CROWD_WAITS
            && std::mem::take(self).served >= READY_MIN * u64::from(CROWD_WAITS)
    }
}

/// The worker's side of the ring.
#[derive(Debug)]
pub(super) struct Reception {
    inbox: Inbox,
    /// What the last wait brought; kept for its memory.
    events: Vec<Event>,
}

/// Moves a session to the ring, where there is one and it can carry it. What
/// has come for it already is received at once.
pub(super) fn join(core: &mut Core, client: &mut Client) {
    let (Some(ring), Some(session)) = (&mut core.ring, &mut client.session) else { return };
    if session.is_on_ring() || session.channel.is_tls() || session.watches_write {
        return;
    }
    if core.poller.remove(session.fd()).is_err() {
        return;
    }
    core.generation = core.generation % (Key::GENERATIONS - 1) + 1;
    session.generation = core.generation;
    let key = Key { index: client.index, generation: session.generation };
    if let Err(error) = ring.receive(session.fd(), key) {
        core.cannot_wait(&error);
    }
}

/// Ends a session on the ring. What is queued leaves first, its receive too: its
/// descriptor may be another connection's before the turn is over.
pub(super) fn leave(core: &mut Core, session: Session, last: &[u8]) {
    hand_over(core);
    if session.watches_write {
        // The ring's receive still holds the socket, so that closing it would
        // not do. One that cannot be removed tells of an end, and no harm done.
        let _ = core.poller.remove(session.fd());
    }
    session.channel.hang_up(last);
}

/// Hands over what is queued: before a descriptor is closed that may be named
/// in it, and before the worker does something that takes long.
pub(super) fn hand_over(core: &mut Core) {
    if let Some(Err(error)) = core.ring.as_mut().map(Ring::submit) {
        core.cannot_wait(&error);
    }
}

/// Queues the client's request, where its session is on the ring. False where
/// it must be sent at once instead.
#[inline]
pub(super) fn takes(core: &mut Core, client: &mut Client) -> bool {
    let (Some(ring), Some(session)) = (&mut core.ring, &mut client.session) else { return false };
    if !session.is_on_ring() || client.out.is_empty() {
        return false;
    }
    if session.queued_turn == ring.turn() {
        core.later.push(client.index);
        return true;
    }
    if session.watches_write || client.out.len() > SEND_BYTES_MAX {
        return false;
    }
    session.queued_turn = ring.turn();
    let bytes = std::mem::take(&mut client.out);
    if core.spare_out.capacity() == 0 {
        core.spare_out = ring.spare();
    }
    let key = Key { index: client.index, generation: session.generation };
    if let Err(error) = ring.send(session.fd(), key, bytes) {
        core.cannot_wait(&error);
    }
    true
}

impl Worker {
    /// Opens a ring, if there is a session that it can carry; each moves to it
    /// with its next answer. Where the kernel refuses what it allowed at the
    /// start of the run, they stay with readiness, and that is told.
    pub(super) fn open_ring(&mut self) {
        let plain = |client: &Client| {
            client.session.as_ref().is_some_and(|session| !session.channel.is_tls())
        };
        if self.core.ring.is_some() || !self.clients.iter().any(plain) {
            return;
        }
        let opened = pgdyno_ring::open(self.clients.len()).and_then(|(mut ring, inbox)| {
            ring.watch(self.core.poller.fd())?;
            Ok((ring, inbox))
        });
        match opened {
            Ok((ring, inbox)) => {
                self.core.ring = Some(ring);
                self.reception = Some(Reception { inbox, events: Vec::new() });
            }
            Err(error) => {
                let text = format!("worker {} waits without io_uring: {error}", self.core.index);
                self.core.observer.message(Level::Info, &text);
            }
        }
    }

    /// One wait of the ring, and service for all that it brought. False where
    /// there is no ring.
    ///
    /// # Errors
    /// The system's, where it can no longer be waited for anything.
    pub(super) fn turn_ring(&mut self, cx: Cx<'_>, timeout: Timeout) -> io::Result<bool> {
        let Some(mut reception) = self.reception.take() else { return Ok(false) };
        let result = self.wait_ring(&mut reception, timeout);
        if result.is_ok() {
            self.serve_ring(cx, &mut reception);
        }
        self.reception = Some(reception);
        result.map(|()| true)
    }

    fn wait_ring(&mut self, reception: &mut Reception, timeout: Timeout) -> io::Result<()> {
        let Some(ring) = &mut self.core.ring else { return Ok(()) };
        let wait = match timeout.left {
            Duration::ZERO => Wait::Not,
            _ => Wait::Until { at_ns: timeout.at_ns },
        };
        ring.wait(&mut reception.inbox, wait, &mut reception.events)
    }

    fn serve_ring(&mut self, cx: Cx<'_>, reception: &mut Reception) {
        let woken_ns = self.core.tick();
        let Reception { inbox, events } = reception;
        let mut events = events.drain(..);
        while let Some(event) = events.next() {
            let next = events.as_slice().first().and_then(Event::index);
            if let Some(client) = next.and_then(|index| self.clients.get(index as usize)) {
                prefetch::start_of(client, Client::HOT_BYTES);
            }
            self.note_delay(self.core.now_ns - woken_ns);
            self.serve_event(cx, inbox, event);
        }
        for index in std::mem::take(&mut self.core.later) {
            session::flush(&mut self.core, &mut self.clients[index as usize]);
        }
    }

    fn serve_event(&mut self, cx: Cx<'_>, inbox: &mut Inbox, event: Event) {
        match event {
            Event::Received { key, buffer, armed } => self.received(cx, inbox, key, buffer, armed),
            Event::Starved { key } => self.receive_again(key),
            Event::Ended { key, error } if self.session(key).is_some() => {
                self.lost(cx, key.index as usize, error.as_ref());
            }
            Event::Ended { .. } => {}
            Event::Unsent { key, bytes, taken } => self.unsent(key, bytes, &taken),
            Event::Readable => self.serve_readiness(cx),
        }
    }

    #[inline]
    fn received(&mut self, cx: Cx<'_>, inbox: &mut Inbox, key: Key, buffer: Filled, armed: bool) {
        if self.session(key).is_some() {
            let client = &mut self.clients[key.index as usize];
            replies::received(&mut self.core, cx, client, inbox.bytes(&buffer));
            self.answered(cx, key.index as usize);
        }
        inbox.give_back(buffer);
        if !armed {
            self.receive_again(key);
        }
    }

    /// The session that a completion is for, unless it is gone.
    #[inline]
    fn session(&mut self, key: Key) -> Option<&mut Session> {
        let session = self.clients.get_mut(key.index as usize)?.session.as_mut()?;
        (session.generation == key.generation).then_some(session)
    }

    fn receive_again(&mut self, key: Key) {
        let clients = &self.clients;
        let session = clients.get(key.index as usize).and_then(|client| client.session.as_ref());
        if let (Some(ring), Some(session)) = (&mut self.core.ring, session)
            && session.generation == key.generation
            && let Err(error) = ring.receive(session.fd(), key)
        {
            self.core.cannot_wait(&error);
        }
    }

    /// The socket was full or is broken. What is left goes before what has been
    /// added since, and the poller tells when there is room.
    #[cold]
    fn unsent(&mut self, key: Key, mut bytes: Vec<u8>, taken: &io::Result<usize>) {
        let Some(session) = self.session(key) else { return };
        match taken {
            Ok(taken) => {
                let client = &mut self.clients[key.index as usize];
                bytes.drain(..*taken);
                bytes.append(&mut client.out);
                client.out = bytes;
                session::send_now(&mut self.core, client);
            }
            // The end follows, behind the server's last words.
            Err(_) => session.channel.end(),
        }
    }

    fn serve_readiness(&mut self, cx: Cx<'_>) {
        if let Err(error) = self.turn_readiness(cx, Timeout { left: Duration::ZERO, at_ns: 0 }) {
            self.core.cannot_wait(&error);
        }
        if let Some(ring) = &mut self.core.ring
            && let Err(error) = ring.watch(self.core.poller.fd())
        {
            self.core.cannot_wait(&error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The crowd has come when a stretch of waits served enough on average,
    /// and each stretch is judged by itself.
    #[test]
    fn a_crowd_is_an_average() {
        let stretch = |crowd: &mut Crowd, served: &[usize]| {
            let turns = (0..CROWD_WAITS).map(|wait| served[wait as usize % served.len()]);
            turns.map(|served| crowd.has_come(served)).filter(|come| *come).count()
        };
        let mut crowd = Crowd::default();
        assert_eq!(stretch(&mut crowd, &[3]), 0);
        assert_eq!(stretch(&mut crowd, &[1, 6]), 0);
        assert_eq!(stretch(&mut crowd, &[1, 7]), 1);
        assert_eq!(stretch(&mut crowd, &[0, 7]), 0);
    }
}
