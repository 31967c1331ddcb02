//! What the benchmarks of pgdyno need.
//!
//! Three things: a server that costs nothing ([`null`]), a client that does
//! nothing ([`floor`], and [`floor_uring`] by another way), and the command that runs them, pgdyno and the
//! installed peers by turns and compares ([`mod@bench`]). Nothing in pgdyno depends
//! on this crate; it knows pgdyno only as a command line.

pub mod bench;
pub mod floor;
pub mod floor_uring;
pub mod null;
