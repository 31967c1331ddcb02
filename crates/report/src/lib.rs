//! Turns a record into text for people. Pure functions: no clock, no file, no
//! terminal; the caller says how wide it is and whether it may use colour.
//!
//! - [`summary()`]: one screen about a run.
//! - [`progress()`]: one line about one second of a run.
//! - [`pgbench`]: the texts of PostgreSQL's pgbench, to the letter.

pub mod format;
pub mod pgbench;
mod progress;
mod style;
mod summary;

pub use progress::progress;
pub use style::Style;
pub use summary::summary;
