//! What each database is, and where it is.
//!
//! A [`dialect::Dialect`] answers questions about a kind of database, with
//! PostgreSQL's answer as the default; [`detect()`] finds the kind on a live
//! connection; [`resolve()`] turns the word on the command line into a
//! [`Target`]; [`embedded`] runs a throw-away PostgreSQL. Knows nothing of
//! workloads.

mod answers;
pub mod config;
pub mod ddl;
pub mod detect;
pub mod dialect;
mod dialects;
pub mod discovery;
pub mod embedded;
pub mod login;
pub mod machine;
pub mod params;
pub mod resolve;
pub mod settings;
pub mod statistics;

pub use ddl::{IndexSpec, Spread, TableSpec};
pub use detect::{Detected, Probe, detect};
pub use dialect::{
    Dialect, Difference, RetryClass, dialect_by_host, dialect_by_name, dialects, postgres,
};
pub use embedded::{EmbeddedConfig, EmbeddedError, EmbeddedServer};
pub use login::Login;
pub use machine::Machine;
pub use params::{Largest, TableParam, TableParamError};
pub use resolve::{Place, ResolveError, Resolved, Surroundings, Target, Why, resolve};
