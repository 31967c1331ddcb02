//! The minimal client over `io_uring`: the same bytes as [`crate::floor`],
//! with another way to the kernel.
//!
//! It stands on the same ring as pgdyno's own poller, `pgdyno-ring`: one
//! thread, a receive that stays for each connection, all sends of a turn and
//! the wait for the next one system call. What pgdyno costs beyond this on
//! `io_uring` is its own doing. Linux 6.1 or newer.

mod drive;

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
    pgdyno_ring::probe()?;
    run_with(config, drive::drive)
}
