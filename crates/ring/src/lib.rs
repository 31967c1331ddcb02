//! `io_uring` for many connections: what is sent in a turn and the wait for
//! the next are one system call, and what came lies in buffers that are shared
//! by all connections.
//!
//! One thread is the only issuer of a [`Ring`]; completions are made only when
//! it asks for them (deferred task-run). Each connection has one receive that
//! stays (multishot) and takes its buffer from a ring of buffers, the
//! [`Inbox`]. There is no submission thread: it would hide CPU in the kernel.
//!
//! All unsafe code that `io_uring` needs is in this crate. It knows sockets and
//! bytes, neither PostgreSQL's protocol nor clients. Linux 6.1 or newer; on
//! other systems there is a ring that cannot be made.

use std::time::Duration;

#[cfg(target_os = "linux")]
mod inbox;
#[cfg(not(target_os = "linux"))]
mod none;
#[cfg(target_os = "linux")]
mod probe;
#[cfg(target_os = "linux")]
mod refused;
#[cfg(target_os = "linux")]
mod ring;

#[cfg(target_os = "linux")]
pub use inbox::Inbox;
#[cfg(not(target_os = "linux"))]
pub use none::{Inbox, Ring, open, probe};
#[cfg(target_os = "linux")]
pub use probe::probe;
#[cfg(target_os = "linux")]
pub use ring::{Ring, open};

/// Bytes of a buffer that a receive fills. An answer to a small query has about
/// a hundred, and touches no more of it; a longer one arrives in several buffers,
/// and the longer they are, the fewer.
pub const BUFFER_BYTES: usize = 16 * 1024;

/// A connection: the caller's number for it, and which of the connections that
/// had this number. What completes late, for one that has been closed, is told
/// apart by that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// The caller's number.
    pub index: u32,
    /// Below [`Key::GENERATIONS`].
    pub generation: u32,
}

impl Key {
    /// Generations that a key can tell apart. A completion may be late by some
    /// turns; a billion connections later it would be mistaken for another's.
    pub const GENERATIONS: u32 = 1 << 30;
}

/// What a wait brought.
#[derive(Debug)]
pub enum Event {
    /// Bytes came.
    Received {
        /// Whose.
        key: Key,
        /// Where they are; to be given back to the [`Inbox`].
        buffer: Filled,
        /// False where the receive has ended with them: begin another.
        armed: bool,
    },
    /// The receive has ended for want of a buffer: begin another.
    Starved {
        /// Whose.
        key: Key,
    },
    /// The other side has closed, or the connection broke.
    Ended {
        /// Whose.
        key: Key,
        /// The system's words, if it had any.
        error: Option<std::io::Error>,
    },
    /// A send was not taken whole, because the socket is full or broken.
    Unsent {
        /// Whose.
        key: Key,
        /// All of it.
        bytes: Vec<u8>,
        /// How many of the bytes were taken, or why none will be.
        taken: Result<usize, std::io::Error>,
    },
    /// The watched descriptor is readable: watch it again.
    Readable,
}

impl Event {
    /// The caller's number of the connection, where it is about one.
    #[must_use]
    pub const fn index(&self) -> Option<u32> {
        match self {
            Self::Received { key, .. }
            | Self::Starved { key }
            | Self::Ended { key, .. }
            | Self::Unsent { key, .. } => Some(key.index),
            Self::Readable => None,
        }
    }
}

/// A buffer that the kernel has filled. It is lost to the ring until it is
/// given back.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "give it back to the inbox"]
pub struct Filled {
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "never made there"))]
    id: u16,
    /// Which inbox it belongs to.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "never made there"))]
    inbox: u32,
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "never made there"))]
    bytes: usize,
}

/// How long a wait may last where nothing happens. None is without
/// end: who would wait for ever asks for a far moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// It looks once.
    Not,
    /// Until a moment of the system's monotonic clock. It may end before, for a
    /// moment that an earlier wait was given: ask again.
    Until {
        /// Nanoseconds since the clock's zero.
        at_ns: u64,
    },
}

impl Wait {
    /// Until so long from now.
    #[must_use]
    pub fn within(time: Duration) -> Self {
        let time_ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        Self::Until { at_ns: monotonic_ns().saturating_add(time_ns) }
    }
}

/// The system's monotonic clock.
fn monotonic_ns() -> u64 {
    use nix::time::{ClockId, clock_gettime};
    // The call cannot fail for a clock that every system has.
    clock_gettime(ClockId::CLOCK_MONOTONIC)
        .map_or(0, |now| now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64)
}
