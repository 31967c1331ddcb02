//! What a worker's clients wait for by the clock: throttling, sleeping, backing off.
//!
//! A binary heap of (due time, client). A client waits for at most one thing,
//! so an entry whose time is no longer the client's is simply stale; the owner
//! tells by comparing. Cost per wait: O(log of the clients that wait), none for
//! clients that wait for their server.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Due times of a worker's clients, in nanoseconds on the worker's clock.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Timers {
    /// Room for every client at once, so that waiting allocates nothing.
    pub(crate) fn with_capacity(clients: usize) -> Self {
        // Twice: a client that was woken early by an error leaves a stale entry.
        Self { heap: BinaryHeap::with_capacity(clients * 2) }
    }

    /// Wakes `client` at `due_ns`.
    pub(crate) fn add(&mut self, due_ns: u64, client: u32) {
        self.heap.push(Reverse((due_ns, client)));
    }

    /// When the next client is due.
    pub(crate) fn next_due(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse((due, _))| *due)
    }

    /// Takes one client that is due at `now_ns`, with the time it was due.
    pub(crate) fn pop_due(&mut self, now_ns: u64) -> Option<(u64, u32)> {
        match self.heap.peek() {
            Some(Reverse((due, _))) if *due <= now_ns => self.heap.pop().map(|Reverse(e)| e),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Clients come out in the order of their due times, and none too early.
    #[test]
    fn due_order() {
        let mut timers = Timers::with_capacity(3);
        timers.add(30, 1);
        timers.add(10, 2);
        timers.add(20, 3);
        assert_eq!(timers.next_due(), Some(10));
        assert_eq!(timers.pop_due(9), None);
        assert_eq!(timers.pop_due(25), Some((10, 2)));
        assert_eq!(timers.pop_due(25), Some((20, 3)));
        assert_eq!(timers.pop_due(25), None);
        assert_eq!(timers.next_due(), Some(30));
    }
}
