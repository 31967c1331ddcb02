//! The PostgreSQL client of pgdyno.
//!
//! Codec and handshake are sans-I/O: they read from and write to buffers, and
//! a thin connection moves the bytes, blocking or not. Knows nothing of
//! benchmarks.

pub mod options;
pub mod secret;
