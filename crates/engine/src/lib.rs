//! Loads and drives a database: workers, clients, schedule, retries, measuring.
//!
//! A [`plan::RunPlan`] goes in, a [`outcome::RunOutcome`] comes out. In between,
//! each worker is one thread with one event loop and its own clients; workers
//! share nothing while they measure. How anything is printed is none of this
//! crate's business: what people must hear goes to an [`observe::Observer`].

mod connect;
pub mod load;
pub mod observe;
pub mod outcome;
pub mod plan;
mod poller;
mod prefetch;
mod request;
mod run;
mod timers;
mod worker;

pub use run::{RunError, run};

/// An endpoint for people and records: `host:port`, or the socket's folder and
/// port; several are joined by commas.
#[must_use]
pub fn endpoint_name(options: &pgdyno_wire::options::Options) -> String {
    let name = |host: &pgdyno_wire::options::Host| {
        let address = host.addr.map(|addr| addr.to_string());
        let name =
            if host.name.is_empty() { address.unwrap_or_default() } else { host.name.clone() };
        format!("{name}:{}", host.port)
    };
    options.hosts.iter().map(name).collect::<Vec<_>>().join(",")
}
