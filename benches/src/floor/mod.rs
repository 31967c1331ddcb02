//! The minimal client: what no load generator on epoll can go below.
//!
//! It connects clients by trust, prepares one statement, and from then on
//! sends the same bytes and counts the bytes that come back. It makes no
//! random number, measures no latency, decodes nothing, and looks at an answer
//! only where its length is not the expected one. One thread, one
//! edge-triggered epoll, one buffer for reading; per transaction one send and
//! one recv.
//!
//! What a real load generator costs beyond this is its own doing.
//! [`crate::floor_uring`] is the same client with another way to the kernel.

pub mod command;
mod connect;
pub(crate) mod drive;
mod frames;
mod paced;
mod usage;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use socket2::Socket;

use usage::Usage;

/// Bytes read at once. An answer to the statement used has about 70.
const READ_BYTES: usize = 1 << 14;
/// Events taken in one wake-up.
const EVENTS_MAX: usize = 1024;

/// Where the server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// Over TCP.
    Tcp(SocketAddr),
    /// The path of a Unix socket.
    Unix(PathBuf),
}

/// How the statement is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// One Query message.
    Simple,
    /// Bind, Execute, Sync on a statement prepared once.
    Prepared,
}

/// How long it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// Until a time after the last client was connected.
    Time(Duration),
    /// A number of transactions for each client; at least 1.
    Transactions(u64),
}

/// What the floor does.
#[derive(Debug, Clone)]
pub struct Config {
    /// The server.
    pub address: Address,
    /// The user in the start-up packet.
    pub user: String,
    /// The database in the start-up packet.
    pub database: String,
    /// Connections.
    pub clients: usize,
    /// How long it runs.
    pub length: Length,
    /// Transactions per second, over all clients; none is as fast as they go.
    pub rate_tps: Option<f64>,
    /// How the statement is sent.
    pub protocol: Protocol,
    /// The scale of the tables: each client has its own account, spread over
    /// all of them.
    pub scale: u32,
}

/// What was measured. CPU times are of the whole process, in microseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Connections.
    pub clients: usize,
    /// How the statement was sent.
    pub protocol: Protocol,
    /// Answered in the measured interval.
    pub transactions: u64,
    /// From the first request to the last answer.
    pub wall_us: u64,
    /// User time in the measured interval.
    pub cpu_user_us: u64,
    /// System time in the measured interval.
    pub cpu_sys_us: u64,
    /// User and system time for each transaction.
    pub cpu_us_per_transaction: f64,
    /// From the first connect to the last client that the server is ready for.
    pub connect_wall_us: u64,
    /// User and system time spent on that.
    pub connect_cpu_us: u64,
    /// The process's greatest resident set, in KiB.
    pub rss_max_kib: u64,
}

/// One connection in the measured interval.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) socket: Socket,
    pub(crate) request: Box<[u8]>,
    /// The length of an answer.
    answer_bytes: usize,
    /// What has come of the answer awaited.
    got_bytes: usize,
    /// Transactions still to begin, with a limit on their number.
    left: u64,
}

/// Connects, runs, and says what it cost.
///
/// # Errors
/// The server refused, broke off, or answered with an error; its words are in
/// the message.
pub fn run(config: &Config) -> io::Result<Outcome> {
    match config.rate_tps {
        Some(tps) => run_with(config, |clients, length| paced::drive(clients, length, tps)),
        None => run_with(config, drive::drive),
    }
}

/// The same with another measured interval: it gives the number of answers.
pub(crate) fn run_with(
    config: &Config,
    drive: impl FnOnce(&mut [Client], Length) -> io::Result<u64>,
) -> io::Result<Outcome> {
    let before = Usage::now()?;
    let opening = connect::connect(config)?;
    let connected = Usage::now()?;
    let mut clients = connect::prepare(config, opening)?;
    let prepared = Usage::now()?;
    let transactions = drive(&mut clients, config.length)?;
    let after = Usage::now()?;
    let spent = after.since(&prepared);
    let connect = connected.since(&before);
    Ok(Outcome {
        clients: config.clients,
        protocol: config.protocol,
        transactions,
        wall_us: spent.wall_us,
        cpu_user_us: spent.user_us,
        cpu_sys_us: spent.sys_us,
        cpu_us_per_transaction: (spent.user_us + spent.sys_us) as f64 / transactions.max(1) as f64,
        connect_wall_us: connect.wall_us,
        connect_cpu_us: connect.user_us + connect.sys_us,
        rss_max_kib: after.rss_max_kib,
    })
}
