//! What the acceptance tests stand on: the binary, real servers, the record.

pub(crate) mod authority;
pub(crate) mod leftovers;
pub(crate) mod record;
pub(crate) mod room;
pub(crate) mod server;

pub(crate) use room::{Outcome, Room};
pub(crate) use server::{Database, Server};
