//! A stand-in for Aurora DSQL: a proxy before a PostgreSQL that enforces
//! DSQL's rules and limits.
//!
//! It refuses what DSQL refuses, with its SQLSTATE and words, and turns the
//! locks of the server behind into optimistic conflicts: nobody waits for a
//! lock, who commits first wins, and the others learn of it at COMMIT. It does
//! not imitate latency, throughput or scale. docs/emulator.md has the model.
//!
//! One thread per session, blocking: clarity before speed.

mod catalog;
mod client;
mod config;
mod dialect;
mod refusal;
mod server;
mod session;
mod shared;
mod startup;
mod tls;
mod token;
mod upstream;

pub use config::{Config, Encryption, Limits, Passwords};
pub use server::Emulator;
pub use token::sample_token;

/// Why an emulator could not be started.
#[derive(Debug, thiserror::Error)]
pub enum EmulatorError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: std::net::SocketAddr,
        /// The system's words.
        source: std::io::Error,
    },
    /// No certificate could be made or written.
    #[error("cannot make a certificate: {0}")]
    Certificate(String),
    /// The server behind cannot be reached or prepared.
    #[error("the PostgreSQL behind the emulator cannot be used: {0}")]
    Upstream(#[from] pgdyno_wire::Error),
    /// No thread could be started.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
}
