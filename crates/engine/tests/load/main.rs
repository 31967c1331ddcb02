//! Loading and auditing pgbench's tables on a real server.

#![allow(clippy::unwrap_used, reason = "a failing helper is a failing test")]

mod audits;
mod common;
mod loading;
