//! Ways to make passwords: a command that prints one, and the tokens of AWS.
//!
//! Each is a [`PasswordMaker`]; keeping, renewing and handing out is the
//! business of [`pgdyno_wire::auth::PasswordSource`]. Knows nothing of targets
//! and dialects.

pub mod aws;
pub mod command;
mod process;

pub use aws::{AwsSettings, Service, TokenMaker};
pub use command::PasswordCommand;
pub use pgdyno_wire::auth::{Login, Made, PasswordMaker};
