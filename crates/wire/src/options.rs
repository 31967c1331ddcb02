//! What a connection is made from: libpq's parameters, as types.
//!
//! This file holds the values only. [`crate::conninfo`] reads them from URIs,
//! keyword strings, the environment, service files and password files;
//! [`crate::connect`] acts on them. Meanings follow the PostgreSQL manual,
//! "Database Connection Control Functions".

use std::path::PathBuf;
use std::time::Duration;

pub use crate::auth::ChannelBinding;
use crate::auth::PasswordSource;
use crate::secret::Secret;

/// One place to try: a host name, an address, or a socket folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// The name as given; for messages, TLS names and the password file.
    /// Empty when only `hostaddr` was given.
    pub name: String,
    /// A numeric address that spares the name look-up (`hostaddr`).
    pub addr: Option<std::net::IpAddr>,
    /// TCP port, or the number in the socket file's name.
    pub port: u16,
    /// The password for this host, once explicit sources and the password
    /// file have been consulted.
    pub password: Option<Secret>,
}

impl Host {
    /// A path (or `@` for Linux' abstract names) means a Unix socket.
    #[must_use]
    pub fn is_unix(&self) -> bool {
        self.addr.is_none() && (self.name.starts_with('/') || self.name.starts_with('@'))
    }
}

/// `sslmode`, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum SslMode {
    /// Never TLS.
    Disable,
    /// Plain first, TLS where plain is refused.
    Allow,
    /// TLS first, plain where TLS is not offered or fails.
    #[default]
    Prefer,
    /// TLS or nothing; the certificate is checked only where a root file exists.
    Require,
    /// TLS, and the certificate chains to a trusted root.
    VerifyCa,
    /// As `VerifyCa`, and the name in the certificate is the host's.
    VerifyFull,
}

/// `sslnegotiation`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SslNegotiation {
    /// Ask with an SSLRequest, then start TLS.
    #[default]
    Postgres,
    /// Start TLS at once, with the ALPN name `postgresql` (server 17 on).
    Direct,
}

/// `sslrootcert`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SslRootCert {
    /// `~/.postgresql/root.crt`, if it exists.
    #[default]
    Default,
    /// The operating system's store (`system`).
    System,
    /// This file.
    File(PathBuf),
}

/// `target_session_attrs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TargetSessionAttrs {
    /// Any server.
    #[default]
    Any,
    /// Accepts writes by default.
    ReadWrite,
    /// Does not.
    ReadOnly,
    /// Not in recovery.
    Primary,
    /// In recovery.
    Standby,
    /// In recovery if one can be found, else any.
    PreferStandby,
}

/// `load_balance_hosts`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LoadBalanceHosts {
    /// In the order given.
    #[default]
    Disable,
    /// In a random order, addresses of a name as well.
    Random,
}

/// TCP keepalives; `None` leaves the system's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keepalives {
    /// `keepalives`: on unless set to 0.
    pub on: bool,
    /// `keepalives_idle`.
    pub idle: Option<Duration>,
    /// `keepalives_interval`.
    pub interval: Option<Duration>,
    /// `keepalives_count`.
    pub count: Option<u32>,
}

impl Default for Keepalives {
    fn default() -> Self {
        Self { on: true, idle: None, interval: None, count: None }
    }
}

/// Everything that TLS needs to know.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ssl {
    /// `sslmode`.
    pub mode: SslMode,
    /// `sslnegotiation`.
    pub negotiation: SslNegotiation,
    /// `sslrootcert`.
    pub root_cert: SslRootCert,
    /// `sslcert`; `None` means `~/.postgresql/postgresql.crt` if it exists.
    pub cert: Option<PathBuf>,
    /// `sslkey`; `None` means `~/.postgresql/postgresql.key`.
    pub key: Option<PathBuf>,
    /// `sslpassword`, for an encrypted key.
    pub key_password: Option<Secret>,
    /// `sslcrl`.
    pub crl: Option<PathBuf>,
    /// `sslsni`: send the host's name; on unless set to 0.
    pub no_sni: bool,
    /// `ssl_min_protocol_version` and `ssl_max_protocol_version` leave 1.3 only.
    pub tls13_only: bool,
    /// They leave 1.2 only.
    pub tls12_only: bool,
}

/// A whole set of connection options, complete and checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// At least one.
    pub hosts: Vec<Host>,
    /// `user`; never empty (the operating system's name by default).
    pub user: String,
    /// `dbname`; the user's name by default.
    pub dbname: String,
    /// `options`, sent as given.
    pub server_options: Option<String>,
    /// `application_name`, or else `fallback_application_name`.
    pub application_name: Option<String>,
    /// `client_encoding`.
    pub client_encoding: Option<String>,
    /// `connect_timeout`, for each host; `None` waits for ever.
    pub connect_timeout: Option<Duration>,
    /// `tcp_user_timeout`.
    pub tcp_user_timeout: Option<Duration>,
    /// Keepalives.
    pub keepalives: Keepalives,
    /// TLS.
    pub ssl: Ssl,
    /// `channel_binding`.
    pub channel_binding: ChannelBinding,
    /// `require_auth`, as given (a list, or a list of `!method`).
    pub require_auth: Option<String>,
    /// `requirepeer`: the operating system user that must own a Unix socket's server.
    pub require_peer: Option<String>,
    /// `target_session_attrs`.
    pub target_session_attrs: TargetSessionAttrs,
    /// `load_balance_hosts`.
    pub load_balance_hosts: LoadBalanceHosts,
    /// Further start-up parameters (run-time settings of the server) that
    /// pgdyno itself adds, such as an isolation level.
    pub runtime_params: Vec<(String, String)>,
    /// Where passwords are made anew; wins over those of the hosts.
    pub password_source: Option<PasswordSource>,
}
