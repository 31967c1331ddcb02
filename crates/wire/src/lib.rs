//! The PostgreSQL client of pgdyno.
//!
//! Codec and handshake are sans-I/O: they read from and write to buffers, and
//! a thin connection moves the bytes, blocking or not. Knows nothing of
//! benchmarks.

pub mod auth;
pub mod backend;
mod calls;
pub mod channel;
pub mod client;
pub mod connect;
pub mod conninfo;
pub mod error;
pub mod frontend;
pub mod options;
pub mod secret;
pub mod sqlstate;
pub mod tls;

pub use client::Connection;
pub use connect::ConnectContext;
pub use error::Error;
pub use sqlstate::SqlState;
