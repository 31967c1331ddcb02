//! The client against real PostgreSQL servers, which the tests start and stop.
//!
//! The server's programs are looked for in `PGDYNO_PG_BIN`, in what `pg_config
//! --bindir` says, and in Debian's places. As root, servers run as `postgres`.

#![allow(clippy::unwrap_used, reason = "a test ends where its fixture fails")]

mod auth;
mod common;
mod copy;
mod hosts;
mod session;
mod tls;
