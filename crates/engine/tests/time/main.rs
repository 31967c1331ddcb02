//! The clock is right: what is recorded is what happened, against a server that
//! answers when it says it does.
//!
//! The null server answers after a known delay, falls silent at known times, and
//! counts how late it was itself. No bound depends on how fast the machine is.
//! Where others keep the machine so busy that nothing can be told, a test
//! measures that, says so and ends.

#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "figures, and why a test ended early")]
#![allow(clippy::unwrap_used, reason = "a test ends where its fixture fails")]

mod common;
mod intervals;
mod latency;
mod schedule;
mod stalls;
mod watch;
