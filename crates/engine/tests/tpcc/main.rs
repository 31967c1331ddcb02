//! The five transactions of TPC-C against a real server, in both forms, on
//! small tables whose every value is known.

#![allow(clippy::unwrap_used, reason = "a test ends where its fixture fails")]

mod ground;
mod orders;
mod payments;
