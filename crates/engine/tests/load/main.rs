//! Loading and auditing pgbench's tables on a real server.

#![allow(clippy::unwrap_used, reason = "a failing helper is a failing test")]
#![allow(clippy::print_stderr, reason = "a test that skips something says so")]

mod altered;
mod audits;
mod common;
mod dialects;
mod half_made;
mod loading;
mod resume;
mod server_rows;
