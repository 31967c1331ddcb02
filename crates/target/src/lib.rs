//! What each database is, and where it is.
//!
//! A [`dialect::Dialect`] answers questions about a kind of database, with
//! PostgreSQL's answer as the default; [`detect()`] finds the kind on a live
//! connection; [`resolve()`] turns the word on the command line into a
//! [`Target`]; [`embedded`] runs a throw-away PostgreSQL. Knows nothing of
//! workloads.

pub mod config;
pub mod detect;
pub mod dialect;
pub mod embedded;
pub mod machine;
mod postgres;
pub mod resolve;

pub use detect::{Detected, Probe, detect};
pub use dialect::{Dialect, RetryClass, dialect_by_name, dialects, postgres};
pub use embedded::{EmbeddedConfig, EmbeddedError, EmbeddedServer};
pub use machine::Machine;
pub use resolve::{Place, ResolveError, Resolved, Surroundings, Target, Why, resolve};
