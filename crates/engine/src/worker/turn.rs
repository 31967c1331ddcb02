//! A turn of the worker's loop: one wait, and service for all that it brought.

use std::io;
use std::time::Duration;

use super::client::Client;
use super::ring::{self, Boarding};
use super::{Cx, Flow, Worker, advance, failures, renew, replies, session};
use crate::poller::Timeout;
use crate::prefetch;

/// Of the delays up to [`DELAY_ALWAYS_NS`] one in so many is recorded, and
/// stands for as many; every longer one is. Enough for quantiles, and nearly
/// free. A prime: of a script with two waits, every sixteenth would always be
/// the same of the two.
const DELAY_SAMPLE: u32 = 17;
const DELAY_ALWAYS_NS: u64 = 1_000_000;

impl Worker {
    /// How long nothing but sockets can need the worker; at most `left_max`.
    pub(super) fn until_next(&self, left_max: Duration) -> Timeout {
        let core = &self.core;
        if !core.again.is_empty() || !core.broken.is_empty() || !core.later.is_empty() {
            return Timeout { left: Duration::ZERO, at_ns: 0 };
        }
        let due_ns = core.timers.next_due().unwrap_or(u64::MAX).min(core.figures.next_turn_ns());
        // The clock as last read will do: a moment that has passed since is set
        // as it is, and the timer goes off at once.
        let left = Duration::from_nanos(due_ns.saturating_sub(core.now_ns)).min(left_max);
        let at_ns = core.now_ns.saturating_add(left.as_nanos() as u64);
        Timeout { left, at_ns: core.clock.monotonic_ns(at_ns) }
    }

    /// One wait, and service for all that it brought.
    pub(super) fn turn(&mut self, cx: Cx<'_>, timeout: Timeout) {
        let waited = match self.turn_ring(cx, timeout) {
            Ok(false) => self.turn_readiness(cx, timeout),
            other => other.map(|_| ()),
        };
        if let Err(error) = waited {
            self.core.cannot_wait(&error);
            return;
        }
        let mut woken = 0;
        // Only those due by now: a script that sleeps for no time would never
        // let the sockets have their turn.
        let now_ns = self.core.now_ns;
        while let Some((due_ns, index)) = self.core.timers.pop_due(now_ns) {
            // Those after the first begin when the one before has been served.
            if woken > 0 {
                self.core.tick();
            }
            woken += 1;
            self.note_delay(self.core.now_ns - due_ns);
            let client = &mut self.clients[index as usize];
            if self.core.now_ns >= client.look_at_ns {
                renew::look(&mut self.core, client);
            }
            advance::advance(&mut self.core, cx, client);
        }
        self.serve_queues(cx);
    }

    /// One wait of the poller, and service for the sockets that are ready.
    pub(super) fn turn_readiness(&mut self, cx: Cx<'_>, timeout: Timeout) -> io::Result<()> {
        self.core.poller.wait(Some(timeout))?;
        let woken_ns = self.core.tick();
        let mut ready = std::mem::take(&mut self.core.ready_clients);
        self.core.poller.ready(&mut ready);
        for (at, (index, closed)) in ready.iter().enumerate() {
            self.fetch(ready.get(at + 1));
            self.note_delay(self.core.now_ns - woken_ns);
            self.serve(cx, *index as usize, *closed);
        }
        let served = ready.len();
        self.core.ready_clients = ready;
        let looks = self.setup.boarding == Boarding::WhenCrowded && self.core.begun;
        if looks && self.crowd.has_come(served) {
            self.open_ring();
        }
        Ok(())
    }

    /// Asks for the memory of the client that is served next.
    #[inline]
    fn fetch(&self, next: Option<&(u32, bool)>) {
        if let Some(client) = next.and_then(|(index, _)| self.clients.get(*index as usize)) {
            prefetch::start_of(client, Client::HOT_BYTES);
        }
    }

    /// How long a client that could go on had to wait for the worker.
    #[inline]
    pub(super) fn note_delay(&mut self, delay_ns: u64) {
        let core = &mut self.core;
        core.served = core.served.wrapping_add(1);
        if delay_ns > DELAY_ALWAYS_NS {
            core.note_delay(delay_ns / 1000, 1);
        } else if core.served.is_multiple_of(DELAY_SAMPLE) {
            core.note_delay(delay_ns / 1000, DELAY_SAMPLE.into());
        }
    }

    /// Clients that did not wait, and sockets that broke while writing.
    fn serve_queues(&mut self, cx: Cx<'_>) {
        for _ in 0..self.core.again.len() {
            let Some(index) = self.core.again.pop_front() else { break };
            advance::advance(&mut self.core, cx, &mut self.clients[index as usize]);
        }
        while let Some(index) = self.core.broken.pop() {
            self.serve(cx, index as usize, true);
        }
    }

    /// Reads what a client's socket has, and moves the client on. `closed`: the
    /// server has closed its side, so the end is to be read as well.
    fn serve(&mut self, cx: Cx<'_>, index: usize, closed: bool) {
        let Some(client) = self.clients.get_mut(index) else { return };
        let core = &mut self.core;
        if let Some(session) = &client.session {
            if session.is_on_ring() {
                // Room to write: what comes is the ring's.
                session::send_now(core, client);
                return;
            }
            match replies::read(core, cx, client, &mut self.buffer, closed) {
                replies::Read::Drained => {}
                replies::Read::Lost(error) => {
                    self.lost(cx, index, error.as_ref());
                    return;
                }
            }
            if client.session.as_ref().is_some_and(|session| session.watches_write) {
                session::send_now(core, client);
            }
            if core.ring.is_some() {
                ring::join(core, client);
            }
        }
        self.answered(cx, index);
    }

    /// Moves a client on, whatever has come for it.
    #[inline]
    pub(super) fn answered(&mut self, cx: Cx<'_>, index: usize) {
        let (core, client) = (&mut self.core, &mut self.clients[index]);
        if !client.is_awaiting()
            && let Some(fatal) = client.replies.fatal.take()
        {
            // The server says something while nothing was asked.
            failures::fatal(core, cx, client, &fatal);
            return;
        }
        advance::advance(core, cx, client);
    }

    /// The connection ended. Replies that came before the end still count.
    pub(super) fn lost(&mut self, cx: Cx<'_>, index: usize, error: Option<&std::io::Error>) {
        let client = &mut self.clients[index];
        if client.is_answered() {
            advance::advance(&mut self.core, cx, client);
        }
        // Its last transaction may have ended, or it may be connecting anew.
        if client.has_ended() || client.session.is_none() {
            return;
        }
        if failures::lost(&mut self.core, cx, client, error) == Flow::Again {
            advance::advance(&mut self.core, cx, client);
        }
    }
}
