//! `pgdyno init` for real: after crashes, and in every way that it has.

#![allow(clippy::unwrap_used, reason = "a failing helper is a failing test")]
#![allow(clippy::print_stderr, reason = "a test tells its seed")]

mod crashes;
mod server;
mod ways;
