//! Options as texts again, without their secrets: for messages and for handing
//! the same target to another libpq program.

use std::fmt;
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use super::parameter::find;
use super::uri::encode;
use crate::options::{
    ChannelBinding, Host, LoadBalanceHosts, Options, Ssl, SslMode, SslNegotiation, SslRootCert,
    TargetSessionAttrs,
};
use crate::secret::Secret;

/// The name of the socket file before the port.
const SOCKET_FILE: &str = ".s.PGSQL.";

impl Host {
    /// The file of the Unix socket, or nothing where this is TCP.
    #[must_use]
    pub fn socket_path(&self) -> Option<String> {
        self.is_unix().then(|| format!("{}/{SOCKET_FILE}{}", self.name, self.port))
    }

    /// The beginning of libpq's errors about a place, to be followed by `: ` and
    /// the reason: `connection to server at "h" (addr), port N failed`.
    ///
    /// `tried` is the address that the name led to, if it is known by then.
    #[must_use]
    pub fn failure_prefix(&self, tried: Option<IpAddr>) -> String {
        if let Some(path) = self.socket_path() {
            return format!("connection to server on socket \"{path}\" failed");
        }
        let shown = self.addr.map_or_else(|| self.name.clone(), |addr| addr.to_string());
        let tried = tried.map(|addr| addr.to_string()).filter(|addr| *addr != shown);
        let tried = tried.map_or_else(String::new, |addr| format!(" ({addr})"));
        format!("connection to server at \"{shown}\"{tried}, port {} failed", self.port)
    }

    /// The name, or the address where there is no name.
    fn label(&self) -> String {
        match self.addr {
            Some(addr) if self.name.is_empty() => addr.to_string(),
            _ => self.name.clone(),
        }
    }
}

/// `host:port`, an IPv6 address in brackets, a socket as its file.
impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.socket_path() {
            Some(path) => f.write_str(&path),
            None if self.label().contains(':') => write!(f, "[{}]:{}", self.label(), self.port),
            None => write!(f, "{}:{}", self.label(), self.port),
        }
    }
}

/// A target as PG* variables. `Debug` shows no secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvPairs {
    /// Names and values.
    pub plain: Vec<(String, String)>,
    /// The value for `PGPASSWORD`: that of the first host that has one.
    pub password: Option<Secret>,
}

impl Options {
    /// A URI that says everything but the secrets and `runtime_params`.
    ///
    /// What is at its default is left out. Read again where the environment sets
    /// nothing, it gives the same options.
    #[must_use]
    pub fn describe(&self) -> String {
        let places: Vec<String> = self.hosts.iter().map(place).collect();
        let mut pairs: Vec<(&str, String)> = Vec::new();
        if self.hosts.iter().any(|host| host.addr.is_some()) {
            pairs.push(("hostaddr", self.addrs()));
        }
        pairs.extend(self.settings());
        pairs.extend(self.timers());
        let query: Vec<String> =
            pairs.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect();
        let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
        let (user, dbname) = (encode(&self.user), encode(&self.dbname));
        format!("postgresql://{user}@{}/{dbname}{query}", places.join(","))
    }

    /// The same target as PG* variables, for another program that uses libpq.
    ///
    /// Keepalives, `tcp_user_timeout` and `sslpassword` have no variable and are
    /// left out. Start-up parameters become part of `PGOPTIONS`. Hosts of
    /// different passwords cannot be told: let that program read a password file.
    #[must_use]
    pub fn to_env(&self) -> EnvPairs {
        let join = |texts: Vec<String>| texts.join(",");
        let mut pairs = vec![
            ("host", join(self.hosts.iter().map(|host| host.name.clone()).collect())),
            ("port", join(self.hosts.iter().map(|host| host.port.to_string()).collect())),
            ("user", self.user.clone()),
            ("dbname", self.dbname.clone()),
        ];
        if self.hosts.iter().any(|host| host.addr.is_some()) {
            pairs.push(("hostaddr", self.addrs()));
        }
        pairs.extend(self.settings().into_iter().filter(|(name, _)| *name != "options"));
        if let Some(options) = self.all_server_options() {
            pairs.push(("options", options));
        }
        let plain = pairs.into_iter().filter_map(|(name, value)| {
            find(name).and_then(|parameter| parameter.env).map(|env| (env.to_owned(), value))
        });
        EnvPairs {
            plain: plain.collect(),
            password: self.hosts.iter().find_map(|host| host.password.clone()),
        }
    }

    fn addrs(&self) -> String {
        let texts =
            self.hosts.iter().map(|host| host.addr.map_or_else(String::new, |a| a.to_string()));
        texts.collect::<Vec<_>>().join(",")
    }

    /// `options` with the start-up parameters behind it.
    fn all_server_options(&self) -> Option<String> {
        let given = self.server_options.iter().cloned();
        let added = self.runtime_params.iter().map(|(name, value)| {
            // The server splits at blanks and takes a backslash as an escape.
            let mut escaped = String::with_capacity(value.len());
            for c in value.chars() {
                if c == '\\' || c.is_ascii_whitespace() {
                    escaped.push('\\');
                }
                escaped.push(c);
            }
            format!("-c {name}={escaped}")
        });
        let all: Vec<String> = given.chain(added).collect();
        (!all.is_empty()).then(|| all.join(" "))
    }

    /// The parameters, other than place and timers, that are not at their default.
    fn settings(&self) -> Vec<(&'static str, String)> {
        let mut pairs = ssl_settings(&self.ssl);
        let texts = [
            ("options", &self.server_options),
            ("application_name", &self.application_name),
            ("client_encoding", &self.client_encoding),
            ("require_auth", &self.require_auth),
            ("requirepeer", &self.require_peer),
        ];
        for (name, text) in texts {
            pairs.extend(text.iter().map(|text| (name, text.clone())));
        }
        let words = [
            ("channel_binding", channel_binding(self.channel_binding)),
            ("target_session_attrs", target_session_attrs(self.target_session_attrs)),
            ("load_balance_hosts", load_balance_hosts(self.load_balance_hosts)),
        ];
        pairs.extend(words.into_iter().filter_map(|(name, word)| Some((name, word?.to_owned()))));
        if let Some(timeout) = self.connect_timeout {
            pairs.push(("connect_timeout", seconds(timeout)));
        }
        pairs
    }

    /// Keepalives and the like, which have no environment variable.
    fn timers(&self) -> Vec<(&'static str, String)> {
        let keepalives = &self.keepalives;
        let mut pairs = Vec::new();
        if !keepalives.on {
            pairs.push(("keepalives", "0".to_owned()));
        }
        pairs.extend(keepalives.idle.map(|idle| ("keepalives_idle", seconds(idle))));
        pairs.extend(keepalives.interval.map(|every| ("keepalives_interval", seconds(every))));
        pairs.extend(keepalives.count.map(|count| ("keepalives_count", count.to_string())));
        let millis = |timeout: Duration| ("tcp_user_timeout", timeout.as_millis().to_string());
        pairs.extend(self.tcp_user_timeout.map(millis));
        pairs
    }
}

/// As [`Options::describe`].
impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe())
    }
}

/// A host as a part of a URI.
fn place(host: &Host) -> String {
    if host.name.contains(':') {
        format!("[{}]:{}", host.name, host.port)
    } else {
        format!("{}:{}", encode(&host.name), host.port)
    }
}

/// libpq counts in whole seconds; a fraction is rounded up, so that nothing
/// becomes 0, which is no limit.
fn seconds(duration: Duration) -> String {
    let whole = duration.as_secs() + u64::from(duration.subsec_nanos() > 0);
    whole.to_string()
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn ssl_settings(ssl: &Ssl) -> Vec<(&'static str, String)> {
    let mut pairs = Vec::new();
    let mut add = |name, value: &str| pairs.push((name, value.to_owned()));
    if ssl.mode != SslMode::default() {
        add("sslmode", ssl.mode.as_str());
    }
    if ssl.negotiation == SslNegotiation::Direct {
        add("sslnegotiation", "direct");
    }
    match &ssl.root_cert {
        SslRootCert::Default => {}
        SslRootCert::System => add("sslrootcert", "system"),
        SslRootCert::File(path) => add("sslrootcert", &text(path)),
    }
    for (name, path) in [("sslcert", &ssl.cert), ("sslkey", &ssl.key), ("sslcrl", &ssl.crl)] {
        if let Some(path) = path {
            add(name, &text(path));
        }
    }
    if ssl.no_sni {
        add("sslsni", "0");
    }
    if ssl.tls13_only {
        add("ssl_min_protocol_version", "TLSv1.3");
    }
    if ssl.tls12_only {
        add("ssl_max_protocol_version", "TLSv1.2");
    }
    pairs
}

impl SslMode {
    /// The word for it in connection strings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Disable => "disable",
            Self::Allow => "allow",
            Self::Prefer => "prefer",
            Self::Require => "require",
            Self::VerifyCa => "verify-ca",
            Self::VerifyFull => "verify-full",
        }
    }
}

fn channel_binding(value: ChannelBinding) -> Option<&'static str> {
    match value {
        ChannelBinding::Disable => Some("disable"),
        ChannelBinding::Prefer => None,
        ChannelBinding::Require => Some("require"),
    }
}

fn target_session_attrs(value: TargetSessionAttrs) -> Option<&'static str> {
    match value {
        TargetSessionAttrs::Any => None,
        TargetSessionAttrs::ReadWrite => Some("read-write"),
        TargetSessionAttrs::ReadOnly => Some("read-only"),
        TargetSessionAttrs::Primary => Some("primary"),
        TargetSessionAttrs::Standby => Some("standby"),
        TargetSessionAttrs::PreferStandby => Some("prefer-standby"),
    }
}

fn load_balance_hosts(value: LoadBalanceHosts) -> Option<&'static str> {
    match value {
        LoadBalanceHosts::Disable => None,
        LoadBalanceHosts::Random => Some("random"),
    }
}
