//! The minimal client over `io_uring`: the same bytes as [`crate::floor`],
//! with another way to the kernel.
//!
//! One thread is the only issuer of one ring; completions are made only when
//! it asks for them (deferred task-run); each connection has one receive that
//! stays (multishot) and takes its buffer from a ring of buffers; connections
//! are registered files. All sends of a turn and the wait for the next turn
//! are one system call. There is no submission thread (`SQPOLL`): it would
//! hide CPU in the kernel.
//!
//! An experiment, kept so that it can be repeated; docs/io-uring.md tells its
//! result. Linux 6.1 or newer.

mod buffers;
mod drive;
mod ring;

use std::io;

use crate::floor::{Config, Outcome, run_with};

/// Connects, runs, and says what it cost.
///
/// # Errors
/// The kernel or the container does not allow `io_uring`, found before the
/// first connection is made; else as [`crate::floor::run`].
pub fn run(config: &Config) -> io::Result<Outcome> {
    if config.rate_tps.is_some() {
        return Err(io::Error::other("there is no rate over io_uring"));
    }
    ring::probe()?;
    run_with(config, drive::drive)
}
