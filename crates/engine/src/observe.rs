//! What a run tells while it goes on: messages, notices, finished seconds.
//!
//! Workers call an observer from their own threads, but never for a
//! transaction that went well, so it may lock and print.

use std::sync::atomic::{AtomicU32, Ordering};

use pgdyno_record::timeline::Point;

use crate::outcome::ClientError;

/// How a message is meant, as in pgbench.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// A client, or the run, cannot go on.
    Error,
    /// Told because the person asked for more (`--verbose-errors`).
    Info,
    /// Told under `--debug`.
    Debug,
}

/// Hears what happens. All methods may be called from several threads.
pub trait Observer: Send + Sync {
    /// A line about a client, without prefix or newline at its end.
    fn message(&self, level: Level, text: &str);

    /// A notice or warning of the server, formatted as libpq does.
    fn notice(&self, text: &str) {
        let _ = text;
    }

    /// What the script function `debug()` prints: one line, without newline.
    fn script_debug(&self, line: &str) {
        let _ = line;
    }

    /// Clients that are connected so far, told a few times a second.
    fn connecting(&self, ready: u32, of: u32) {
        let _ = (ready, of);
    }

    /// A client of worker `worker` could not go on; its message came before.
    fn aborted(&self, worker: u32, error: &ClientError) {
        let _ = (worker, error);
    }

    /// A second of the run is over, in warm-up or in the measured interval.
    fn second(&self, second: &Point) {
        let _ = second;
    }
}

/// Hears nothing.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Observer for Silent {
    fn message(&self, _: Level, _: &str) {}
}

/// A wish to stop, set by a signal handler or another thread.
///
/// The first wish ends a run in order: no new transactions, those under way
/// may finish within [`crate::plan::DRAIN_MAX`].
#[derive(Debug, Default)]
pub struct Interrupt(AtomicU32);

impl Interrupt {
    /// Not interrupted.
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Asks for the end. Safe in a signal handler.
    pub fn request(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// True once the end was asked for.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}
