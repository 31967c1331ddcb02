//! What an emulator is started with, and the limits that it enforces.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use pgdyno_wire::options::Options;

/// What kind of encryption clients must use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Encryption {
    /// TLS with SNI or nothing, as Aurora DSQL. The certificate is made at the
    /// start for these names (`localhost` among them) and written to a file.
    Required {
        /// Further names that the certificate is valid for.
        names: Vec<String>,
        /// Where the certificate goes; `None` makes a file that goes away.
        certificate: Option<PathBuf>,
    },
    /// No TLS, for looking at the bytes.
    Off,
}

/// What is taken for a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passwords {
    /// What has the form of an IAM token for the user, and has not expired.
    /// The signature cannot be checked without AWS and is not.
    Token,
    /// Anything.
    Any,
}

/// Limits, with Aurora DSQL's values of 2026 as the default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Rows that a transaction may modify.
    pub rows_max: u64,
    /// Accounted bytes that a transaction may write.
    pub bytes_max: u64,
    /// How old a transaction may get.
    pub transaction_age_max: Duration,
    /// How old a session may get; it is then closed, after its transaction.
    pub session_age_max: Duration,
    /// Sessions at once.
    pub connections_max: usize,
    /// New connections per second, once the burst is used up; `None`: no limit.
    pub connections_per_second: Option<u32>,
    /// New connections that may come at once.
    pub connections_burst: u32,
    /// Bytes of a message from a client; a longer one ends the session.
    pub message_bytes_max: usize,
    /// How long an index stays "not valid" after `CREATE INDEX ASYNC`. The
    /// value is the emulator's own: on a cluster it depends on the table.
    pub index_build: Duration,
    /// How long each answer is held back, for the way to a cluster and back.
    /// Other sessions go on meanwhile, so that transactions overlap as they do
    /// where the network takes the most of their time.
    pub round_trip: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            rows_max: 3000,
            bytes_max: 10 << 20,
            transaction_age_max: Duration::from_secs(300),
            session_age_max: Duration::from_secs(3600),
            connections_max: 10_000,
            connections_per_second: None,
            connections_burst: 1000,
            message_bytes_max: 10 << 20,
            index_build: Duration::from_secs(1),
            round_trip: Duration::ZERO,
        }
    }
}

/// All of an emulator's settings.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where clients are listened for; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The PostgreSQL behind. Its user makes the schema `sys` and the role
    /// `admin`, and must be a superuser for that.
    pub upstream: Options,
    /// Encryption towards clients.
    pub encryption: Encryption,
    /// Passwords of clients.
    pub passwords: Passwords,
    /// Limits.
    pub limits: Limits,
}
