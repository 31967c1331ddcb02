//! From texts to checked [`Options`]: the last step.
//!
//! The checks run in libpq's order where that order can be seen: which of two
//! faults is named first.

use std::path::PathBuf;
use std::time::Duration;

use super::Resolved;
use super::checked::{Checked, bad_value, error, integer};
use super::env::Env;
use super::error::{ConnInfoError, ConnInfoErrorKind};
use super::parameter::{PARAMETERS, Params, Support};
use super::place;
use crate::options::{
    ChannelBinding, Keepalives, LoadBalanceHosts, Options, Ssl, SslMode, SslNegotiation,
    SslRootCert, TargetSessionAttrs,
};
use crate::secret::Secret;

/// `require_auth` knows these (libpq 18).
const AUTH_METHODS: [&str; 7] =
    ["password", "md5", "gss", "sspi", "scram-sha-256", "oauth", "none"];
/// libpq sends these settings at start-up where the variable is set.
const ENV_SETTINGS: [(&str, &str); 3] =
    [("PGDATESTYLE", "datestyle"), ("PGTZ", "timezone"), ("PGGEQO", "geqo")];

/// The names of TLS versions that libpq takes, the oldest first.
const TLS_VERSIONS: [&str; 4] = ["TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"];
/// Position of TLS 1.2, the oldest that is spoken here, in [`TLS_VERSIONS`].
const TLS12: usize = 2;
/// Position of TLS 1.3.
const TLS13: usize = 3;

/// Builds the options out of parameters to which all defaults were added.
pub(crate) fn options(params: &Params, env: &dyn Env) -> Checked<Resolved> {
    let places = place::places(params, env)?;
    let user = match params.filled("user") {
        Some(user) => user.to_owned(),
        None => env.os_user().map_err(|message| {
            ConnInfoError::new(ConnInfoErrorKind::User, message)
                .with_hint("name the user with user= or PGUSER")
        })?,
    };
    let dbname = params.filled("dbname").unwrap_or(&user).to_owned();
    let (passwords, warnings) = place::passwords(params, env, &places, &dbname, &user);
    let channel_binding = params.choice(
        "channel_binding",
        &[
            ("disable", ChannelBinding::Disable),
            ("prefer", ChannelBinding::Prefer),
            ("require", ChannelBinding::Require),
        ],
    )?;
    let require_auth = require_auth(params)?;
    let ssl = ssl(params)?;
    refuse_unsupported(params)?;
    let target_session_attrs = target_session_attrs(params)?;
    let load_balance_hosts = params.choice(
        "load_balance_hosts",
        &[("disable", LoadBalanceHosts::Disable), ("random", LoadBalanceHosts::Random)],
    )?;
    let options = Options {
        hosts: place::hosts(places, passwords)?,
        user,
        dbname,
        server_options: params.owned("options"),
        application_name: params
            .owned("application_name")
            .or_else(|| params.owned("fallback_application_name")),
        client_encoding: client_encoding(params),
        connect_timeout: params.positive("connect_timeout", Duration::from_secs)?,
        tcp_user_timeout: params.positive("tcp_user_timeout", Duration::from_millis)?,
        keepalives: keepalives(params)?,
        ssl,
        channel_binding,
        require_auth,
        require_peer: params.owned("requirepeer"),
        target_session_attrs,
        load_balance_hosts,
        runtime_params: runtime_params(env),
        password_source: None,
    };
    Ok(Resolved { options, warnings })
}

impl Params {
    pub(crate) fn owned(&self, keyword: &str) -> Option<String> {
        self.filled(keyword).map(str::to_owned)
    }

    pub(crate) fn path(&self, keyword: &str) -> Option<PathBuf> {
        self.filled(keyword).map(PathBuf::from)
    }

    /// One of a few words; an empty value is not one of them.
    fn choice<T: Copy + Default>(&self, keyword: &str, choices: &[(&str, T)]) -> Checked<T> {
        let Some(value) = self.get(keyword) else {
            return Ok(T::default());
        };
        match choices.iter().find(|(word, _)| *word == value) {
            Some((_, choice)) => Ok(*choice),
            None => {
                let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
                Err(bad_value(keyword, value)
                    .with_hint(format!("{keyword} is one of {}", words.join(", "))))
            }
        }
    }

    /// An integer, if the parameter is there.
    fn integer(&self, keyword: &str) -> Checked<Option<i32>> {
        self.get(keyword).map(|text| integer(keyword, text)).transpose()
    }

    /// A count of units; zero or less means that the system decides, or no limit.
    fn positive<T>(&self, keyword: &str, unit: impl Fn(u64) -> T) -> Checked<Option<T>> {
        let count = self.integer(keyword)?.and_then(|count| u64::try_from(count).ok());
        Ok(count.filter(|count| *count > 0).map(unit))
    }
}

/// Checks the list; it is read again where it is applied.
fn require_auth(params: &Params) -> Checked<Option<String>> {
    let Some(list) = params.filled("require_auth") else {
        return Ok(None);
    };
    let bad = |message: String| error(ConnInfoErrorKind::BadValue, message);
    let is_negative = list.starts_with('!');
    let mut seen: Vec<&str> = Vec::new();
    for item in list.split(',') {
        let (negated, method) = match item.strip_prefix('!') {
            Some(method) => (true, method),
            None => (false, item),
        };
        if negated && !is_negative {
            return Err(bad(format!(
                "negative require_auth method \"{item}\" cannot be mixed with non-negative methods"
            )));
        }
        if !negated && is_negative {
            return Err(bad(format!(
                "require_auth method \"{item}\" cannot be mixed with negative methods"
            )));
        }
        if !AUTH_METHODS.contains(&method) {
            return Err(bad_value("require_auth", method)
                .with_hint(format!("the methods are {}", AUTH_METHODS.join(", "))));
        }
        if seen.contains(&method) {
            return Err(bad(format!("require_auth method \"{item}\" is specified more than once")));
        }
        seen.push(method);
    }
    Ok(Some(list.to_owned()))
}

fn ssl(params: &Params) -> Checked<Ssl> {
    let mode = params.choice(
        "sslmode",
        &[
            ("disable", SslMode::Disable),
            ("allow", SslMode::Allow),
            ("prefer", SslMode::Prefer),
            ("require", SslMode::Require),
            ("verify-ca", SslMode::VerifyCa),
            ("verify-full", SslMode::VerifyFull),
        ],
    )?;
    let negotiation = params.choice(
        "sslnegotiation",
        &[("postgres", SslNegotiation::Postgres), ("direct", SslNegotiation::Direct)],
    )?;
    let root_cert = match params.filled("sslrootcert") {
        None => SslRootCert::Default,
        Some("system") => SslRootCert::System,
        Some(path) => SslRootCert::File(PathBuf::from(path)),
    };
    let weak = |rest: &str| {
        let word = params.get("sslmode").unwrap_or("prefer");
        error(
            ConnInfoErrorKind::Conflict,
            format!("weak sslmode \"{word}\" may not be used with {rest}"),
        )
    };
    if negotiation == SslNegotiation::Direct && mode < SslMode::Require {
        return Err(weak(
            "sslnegotiation=direct (use \"require\", \"verify-ca\", or \"verify-full\")",
        ));
    }
    if root_cert == SslRootCert::System && mode != SslMode::VerifyFull {
        return Err(weak("sslrootcert=system (use \"verify-full\")"));
    }
    let (tls12_only, tls13_only) = tls_versions(params)?;
    Ok(Ssl {
        mode,
        negotiation,
        root_cert,
        cert: params.path("sslcert"),
        key: params.path("sslkey"),
        key_password: params.filled("sslpassword").map(Secret::new),
        crl: params.path("sslcrl"),
        // libpq looks at the first character alone.
        no_sni: !params.get("sslsni").unwrap_or("1").starts_with('1'),
        tls13_only,
        tls12_only,
    })
}

/// Whether the bounds leave TLS 1.2 only, or 1.3 only.
///
/// Older versions as a lower bound are read as 1.2: they are not spoken here,
/// and a bound is no demand.
fn tls_versions(params: &Params) -> Checked<(bool, bool)> {
    let version = |keyword: &str| match params.filled(keyword) {
        None => Ok(None),
        Some(text) => TLS_VERSIONS
            .iter()
            .position(|name| name.eq_ignore_ascii_case(text))
            .map(Some)
            .ok_or_else(|| {
                error(
                    ConnInfoErrorKind::BadValue,
                    format!("invalid \"{keyword}\" value: \"{text}\""),
                )
                .with_hint(format!("the versions are {}", TLS_VERSIONS.join(", ")))
            }),
    };
    let min = version("ssl_min_protocol_version")?;
    let max = version("ssl_max_protocol_version")?;
    if max.is_some_and(|max| max < min.unwrap_or(0)) {
        return Err(error(ConnInfoErrorKind::Conflict, "invalid SSL protocol version range"));
    }
    match max.filter(|max| *max < TLS12) {
        Some(max) => Err(error(
            ConnInfoErrorKind::Unsupported,
            format!(
                "ssl_max_protocol_version value \"{}\" is not supported: TLSv1.2 is the oldest version spoken here",
                TLS_VERSIONS[max]
            ),
        )),
        None => Ok((max == Some(TLS12), min == Some(TLS13))),
    }
}

/// Refuses what libpq could do and this client cannot.
fn refuse_unsupported(params: &Params) -> Checked<()> {
    check_words(params)?;
    for parameter in PARAMETERS {
        let Support::Refused(why, unless) = parameter.support else { continue };
        let Some(value) = params.get(parameter.keyword) else { continue };
        if !unless.contains(&value) {
            let keyword = parameter.keyword;
            return Err(error(
                ConnInfoErrorKind::Unsupported,
                format!("connection option \"{keyword}\" is not supported with this value: {why}"),
            ));
        }
    }
    Ok(())
}

/// Values that libpq itself would refuse, of parameters that lead to no option.
fn check_words(params: &Params) -> Checked<()> {
    params.choice("sslcertmode", &[("disable", ()), ("allow", ()), ("require", ())])?;
    let gss =
        params.choice("gssencmode", &[("disable", false), ("prefer", false), ("require", true)])?;
    if gss {
        return Err(error(
            ConnInfoErrorKind::Unsupported,
            "gssencmode value \"require\" invalid when GSSAPI support is not compiled in",
        ));
    }
    let versions = [("3.0", 0_u8), ("3.2", 2), ("latest", 2)];
    let min = params.choice("min_protocol_version", &versions)?;
    let max = params.choice("max_protocol_version", &versions)?;
    if params.get("max_protocol_version").is_some() && min > max {
        return Err(error(
            ConnInfoErrorKind::Conflict,
            "\"min_protocol_version\" is greater than \"max_protocol_version\"",
        ));
    }
    Ok(())
}

fn target_session_attrs(params: &Params) -> Checked<TargetSessionAttrs> {
    params.choice(
        "target_session_attrs",
        &[
            ("any", TargetSessionAttrs::Any),
            ("read-write", TargetSessionAttrs::ReadWrite),
            ("read-only", TargetSessionAttrs::ReadOnly),
            ("primary", TargetSessionAttrs::Primary),
            ("standby", TargetSessionAttrs::Standby),
            ("prefer-standby", TargetSessionAttrs::PreferStandby),
        ],
    )
}

fn keepalives(params: &Params) -> Checked<Keepalives> {
    let count = params.positive("keepalives_count", |count| count)?;
    Ok(Keepalives {
        on: params.integer("keepalives")? != Some(0),
        idle: params.positive("keepalives_idle", Duration::from_secs)?,
        interval: params.positive("keepalives_interval", Duration::from_secs)?,
        count: count.and_then(|count| u32::try_from(count).ok()),
    })
}

/// `auto` asks libpq for the encoding of the locale. Every text here is UTF-8,
/// whatever the locale.
fn client_encoding(params: &Params) -> Option<String> {
    match params.filled("client_encoding") {
        Some("auto") => Some("UTF8".to_owned()),
        other => other.map(str::to_owned),
    }
}

fn runtime_params(env: &dyn Env) -> Vec<(String, String)> {
    let values = ENV_SETTINGS.iter().filter_map(|(variable, setting)| {
        let value = env.var(variable)?;
        (!value.eq_ignore_ascii_case("default")).then(|| ((*setting).to_owned(), value))
    });
    values.collect()
}
