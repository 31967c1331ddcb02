//! The command line that `floor` and `floor-uring` share.

use std::io::{self, Write};
use std::net::ToSocketAddrs;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{ArgGroup, Parser};

use super::{Address, Config, Length, Outcome, Protocol};

/// Sends constant bytes and counts the bytes that come back. Prints one line
/// of JSON.
#[derive(Debug, Parser)]
#[command(version, disable_help_flag = true, group(ArgGroup::new("length").required(true)))]
struct Typed {
    /// A host, or the folder of a Unix socket.
    #[arg(short, long, default_value = "127.0.0.1")]
    host: String,
    /// The port, also in the name of the Unix socket.
    #[arg(short, long, default_value_t = 5432)]
    port: u16,
    /// User to connect as.
    #[arg(short = 'U', long, default_value = "postgres")]
    username: String,
    /// Clients.
    #[arg(short, long, default_value_t = 1)]
    clients: usize,
    /// Seconds to run.
    #[arg(short = 'T', long, group = "length")]
    time: Option<u64>,
    /// Transactions for each client.
    #[arg(short, long, group = "length")]
    transactions: Option<u64>,
    /// Transactions per second, over all clients.
    #[arg(short = 'R', long)]
    rate: Option<f64>,
    /// How the statement is sent: simple or prepared.
    #[arg(short = 'M', long, default_value = "prepared", value_parser = protocol)]
    protocol: Protocol,
    /// The scale of the tables.
    #[arg(short, long, default_value_t = 1)]
    scale: u32,
    /// Prints this.
    #[arg(long, action = clap::ArgAction::Help)]
    help: Option<bool>,
    /// Database.
    #[arg(default_value = "postgres")]
    database: String,
}

/// Reads the command line, runs, and prints the outcome as one line of JSON.
///
/// # Errors
/// Whatever `run` gives, or an address that is none.
pub fn main(run: impl FnOnce(&Config) -> io::Result<Outcome>) -> Result<()> {
    let typed = Typed::parse();
    let length = match (typed.time, typed.transactions) {
        (Some(seconds), _) => Length::Time(Duration::from_secs(seconds)),
        (None, number) => Length::Transactions(number.unwrap_or(1)),
    };
    let outcome = run(&Config {
        address: address(&typed.host, typed.port)?,
        user: typed.username,
        database: typed.database,
        clients: typed.clients.max(1),
        length,
        rate_tps: typed.rate,
        protocol: typed.protocol,
        scale: typed.scale,
    })
    .with_context(|| format!("the floor failed against {} port {}", typed.host, typed.port))?;
    writeln!(io::stdout(), "{}", serde_json::to_string(&outcome)?)?;
    Ok(())
}

fn address(host: &str, port: u16) -> Result<Address> {
    if host.starts_with('/') {
        return Ok(Address::Unix(format!("{host}/.s.PGSQL.{port}").into()));
    }
    let mut found = (host, port).to_socket_addrs().with_context(|| format!("host \"{host}\""))?;
    found.next().map(Address::Tcp).with_context(|| format!("host \"{host}\" has no address"))
}

fn protocol(text: &str) -> Result<Protocol, String> {
    match text {
        "simple" => Ok(Protocol::Simple),
        "prepared" => Ok(Protocol::Prepared),
        _ => Err(format!("\"{text}\" is neither simple nor prepared")),
    }
}
