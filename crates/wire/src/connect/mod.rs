//! From options to a session, without ever blocking.
//!
//! [`ConnectContext`] holds all that connections with the same options share:
//! resolved addresses, TLS, the salted key of SCRAM. [`Connecting`] is one
//! attempt to get a session: a state machine over all hosts, addresses and
//! encryptions, as libpq tries them.

mod context;
mod connecting;

pub use connecting::{Connected, Connecting, Drive};
pub use context::ConnectContext;
