//! The main job through the real binary, on real servers.
//!
//! One server is shared by most tests, each with a database of its own. Tests
//! that kill a server start it themselves.

#![allow(clippy::print_stderr, reason = "what is skipped is told")]
#![allow(clippy::unwrap_used, reason = "a test ends where its fixture fails")]

mod audits;
mod demo;
mod effects;
mod failures;
mod honest;
mod liars;
mod login;
mod output;
#[cfg(target_os = "linux")]
mod pollers;
mod same_work;
mod scripts;
mod sharding;
mod support;
mod targets;
mod templates;
