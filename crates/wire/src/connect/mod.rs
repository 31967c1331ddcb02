//! From options to a session, without ever blocking.
//!
//! [`ConnectContext`] holds all that connections with the same options share:
//! resolved addresses, TLS, the salted key of SCRAM. [`Connecting`] is one
//! attempt to get a session: a state machine over all hosts, addresses and
//! encryptions, in the order in which libpq tries them.

mod attempt;
mod connecting;
mod context;
mod endpoint;
mod failure;
mod session;

pub(crate) use attempt::{Attempt, Purpose};
pub use connecting::{Connected, Connecting, Drive};
pub use context::ConnectContext;
pub use endpoint::Endpoint;
