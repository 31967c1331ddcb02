//! What a run tells while it goes on: messages, notices, finished seconds.
//!
//! Workers call an observer from their own threads, but never for a
//! transaction that went well, so it may lock and print.

use std::time::Instant;

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

    /// All clients are connected, and the run begins: its measured interval is
    /// to begin at this moment.
    fn begins(&self, measured_from: Instant) {
        let _ = measured_from;
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
