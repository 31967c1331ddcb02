//! The options of `pgdyno emulate`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use pgdyno_target::resolve::EMBEDDED;

use super::values::round_trip;

/// What can be emulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Emulated {
    /// Amazon Aurora DSQL, as of September 2026
    AuroraDsql,
}

#[derive(Debug, Args)]
pub(crate) struct EmulateArgs {
    /// What to behave as
    #[arg(value_enum)]
    pub(crate) database: Emulated,
    /// Where to listen; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:5432", value_name = "ADDRESS:PORT")]
    pub(crate) listen: SocketAddr,
    /// The PostgreSQL behind, as its superuser
    #[arg(long, default_value = EMBEDDED, value_name = "TARGET")]
    pub(crate) upstream: String,
    /// Take any password, not only what has the form of a token
    #[arg(long)]
    pub(crate) any_password: bool,
    /// No TLS, for looking at the bytes
    #[arg(long)]
    pub(crate) no_tls: bool,
    /// A further name that the certificate is valid for
    #[arg(long = "name", value_name = "HOST", conflicts_with = "no_tls")]
    pub(crate) names: Vec<String>,
    /// Write the certificate here, for sslrootcert [default: a temporary file]
    #[arg(long, value_name = "FILE", conflicts_with = "no_tls")]
    pub(crate) certificate: Option<PathBuf>,
    /// Hold each answer back for this long, as the way to a cluster and back does
    #[arg(long, default_value = "0", value_parser = round_trip, value_name = "TIME")]
    pub(crate) latency: std::time::Duration,
    /// New connections per second after the burst, as DSQL's 100 [default: no limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) connection_rate: Option<u32>,
    /// New connections that may come at once under --connection-rate
    #[arg(long, value_name = "N", default_value_t = 1000, requires = "connection_rate")]
    pub(crate) connection_burst: u32,
    /// Connections at once
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub(crate) connections: usize,
}
