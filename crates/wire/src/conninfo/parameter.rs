//! The parameters that libpq 18 knows, and a set of values for them.
//!
//! The table follows the PostgreSQL manual, "Parameter Key Words" and
//! "Environment Variables"; its order is that of libpq, which decides nothing
//! but the list shown after a mistyped name.

use super::error::{ConnInfoError, ConnInfoErrorKind};
use super::mask;

/// What this client does with a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// As libpq.
    Honoured,
    /// Accepted, has no effect here, and leaving it out changes nothing that a
    /// benchmark could notice; the text says why.
    Ignored(&'static str),
    /// Refused with the reason, unless the value is one of those listed.
    Refused(&'static str, &'static [&'static str]),
}

/// One connection parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Its name in keyword strings and URIs.
    pub keyword: &'static str,
    /// The environment variable that stands in for it.
    pub env: Option<&'static str>,
    /// The value where nothing was given, as a text.
    pub default: Option<&'static str>,
    /// Never to be shown.
    pub is_secret: bool,
    /// What happens to it.
    pub support: Support,
}

const fn plain(keyword: &'static str, env: Option<&'static str>) -> Parameter {
    Parameter { keyword, env, default: None, is_secret: false, support: Support::Honoured }
}

const fn defaulted(keyword: &'static str, env: &'static str, default: &'static str) -> Parameter {
    Parameter { default: Some(default), ..plain(keyword, Some(env)) }
}

const fn secret(keyword: &'static str, env: Option<&'static str>) -> Parameter {
    Parameter { is_secret: true, ..plain(keyword, env) }
}

const fn ignored(keyword: &'static str, env: Option<&'static str>, why: &'static str) -> Parameter {
    Parameter { support: Support::Ignored(why), ..plain(keyword, env) }
}

const fn refused(
    keyword: &'static str,
    env: Option<&'static str>,
    why: &'static str,
    unless: &'static [&'static str],
) -> Parameter {
    Parameter { support: Support::Refused(why, unless), ..plain(keyword, env) }
}

const NO_GSS: &str = "concerns GSSAPI, which is never used here";
const NO_OAUTH: &str = "concerns OAuth; a server that asks for OAuth is answered with an error";

/// Every parameter of libpq 18.
pub const PARAMETERS: &[Parameter] = &[
    plain("service", Some("PGSERVICE")),
    plain("user", Some("PGUSER")),
    secret("password", Some("PGPASSWORD")),
    plain("passfile", Some("PGPASSFILE")),
    defaulted("channel_binding", "PGCHANNELBINDING", "prefer"),
    plain("connect_timeout", Some("PGCONNECT_TIMEOUT")),
    plain("dbname", Some("PGDATABASE")),
    plain("host", Some("PGHOST")),
    plain("hostaddr", Some("PGHOSTADDR")),
    defaulted("port", "PGPORT", "5432"),
    plain("client_encoding", Some("PGCLIENTENCODING")),
    plain("options", Some("PGOPTIONS")),
    plain("application_name", Some("PGAPPNAME")),
    plain("fallback_application_name", None),
    plain("keepalives", None),
    plain("keepalives_idle", None),
    plain("keepalives_interval", None),
    plain("keepalives_count", None),
    plain("tcp_user_timeout", None),
    defaulted("sslmode", "PGSSLMODE", "prefer"),
    defaulted("sslnegotiation", "PGSSLNEGOTIATION", "postgres"),
    ignored("sslcompression", Some("PGSSLCOMPRESSION"), "libpq ignores it too since version 14"),
    plain("sslcert", Some("PGSSLCERT")),
    plain("sslkey", Some("PGSSLKEY")),
    refused(
        "sslcertmode",
        Some("PGSSLCERTMODE"),
        "a client certificate is sent where there is one and the server asks",
        &["allow"],
    ),
    secret("sslpassword", None),
    plain("sslrootcert", Some("PGSSLROOTCERT")),
    plain("sslcrl", Some("PGSSLCRL")),
    refused("sslcrldir", Some("PGSSLCRLDIR"), "name one file with sslcrl instead", &[""]),
    defaulted("sslsni", "PGSSLSNI", "1"),
    plain("requirepeer", Some("PGREQUIREPEER")),
    plain("require_auth", Some("PGREQUIREAUTH")),
    refused(
        "min_protocol_version",
        Some("PGMINPROTOCOLVERSION"),
        "protocol 3.0 is what is spoken",
        &["3.0"],
    ),
    plain("max_protocol_version", Some("PGMAXPROTOCOLVERSION")),
    defaulted("ssl_min_protocol_version", "PGSSLMINPROTOCOLVERSION", "TLSv1.2"),
    plain("ssl_max_protocol_version", Some("PGSSLMAXPROTOCOLVERSION")),
    plain("gssencmode", Some("PGGSSENCMODE")),
    ignored("krbsrvname", Some("PGKRBSRVNAME"), NO_GSS),
    ignored("gsslib", Some("PGGSSLIB"), NO_GSS),
    ignored("gssdelegation", Some("PGGSSDELEGATION"), NO_GSS),
    refused(
        "replication",
        None,
        "a replication session cannot run transactions",
        &["", "0", "off", "false", "no"],
    ),
    defaulted("target_session_attrs", "PGTARGETSESSIONATTRS", "any"),
    defaulted("load_balance_hosts", "PGLOADBALANCEHOSTS", "disable"),
    Parameter {
        is_secret: true,
        ..refused("scram_client_key", None, "give the password instead", &[""])
    },
    Parameter {
        is_secret: true,
        ..refused("scram_server_key", None, "give the password instead", &[""])
    },
    ignored("oauth_issuer", None, NO_OAUTH),
    ignored("oauth_client_id", None, NO_OAUTH),
    Parameter { is_secret: true, ..ignored("oauth_client_secret", None, NO_OAUTH) },
    ignored("oauth_scope", None, NO_OAUTH),
    refused("sslkeylogfile", None, "session keys are written nowhere", &[""]),
];

/// The longest edit distance at which a name is offered as the one meant.
const TYPO_DISTANCE_MAX: usize = 2;

/// The parameter of that name.
#[must_use]
pub fn find(keyword: &str) -> Option<&'static Parameter> {
    PARAMETERS.iter().find(|parameter| parameter.keyword == keyword)
}

/// The parameter whose name is a slip of the finger away, if one is.
pub(crate) fn closest(keyword: &str) -> Option<&'static str> {
    PARAMETERS
        .iter()
        .map(|parameter| (distance(keyword, parameter.keyword), parameter.keyword))
        .min()
        .filter(|(steps, name)| *steps <= TYPO_DISTANCE_MAX && *steps < name.len() - 1)
        .map(|(_, name)| name)
}

/// Edit distance in which swapping two neighbours is one step, not two: it is
/// the commonest slip (`hots` for `host`).
fn distance(left: &str, right: &str) -> usize {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=right.len()).collect();
    for (row, l) in left.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, r) in right.iter().enumerate() {
            let mut steps = (above[column] + usize::from(l != r))
                .min(above[column + 1] + 1)
                .min(current[column] + 1);
            let swapped = row > 0 && column > 0 && left[row - 1] == *r && right[column - 1] == *l;
            if swapped {
                steps = steps.min(before[column - 1] + 1);
            }
            current.push(steps);
        }
        before = std::mem::replace(&mut above, current);
    }
    above[right.len()]
}

/// The hint after an unknown name: the one that was meant, and all there are.
pub(crate) fn names_hint(keyword: &str) -> String {
    let all: Vec<&str> = PARAMETERS.iter().map(|parameter| parameter.keyword).collect();
    let meant =
        closest(keyword).map_or_else(String::new, |name| format!("did you mean \"{name}\"? "));
    format!("{meant}the options are: {}", all.join(", "))
}

/// Values given so far. Not `Debug`: it holds passwords as plain text.
#[derive(Clone, Default)]
pub(crate) struct Params {
    values: std::collections::BTreeMap<&'static str, String>,
}

impl Params {
    /// The value, which may be empty.
    pub(crate) fn get(&self, keyword: &str) -> Option<&str> {
        self.values.get(keyword).map(String::as_str)
    }

    /// The value if it is there and not empty.
    pub(crate) fn filled(&self, keyword: &str) -> Option<&str> {
        self.get(keyword).filter(|value| !value.is_empty())
    }

    /// Stores a value over an earlier one.
    pub(crate) fn set(&mut self, parameter: &'static Parameter, value: impl Into<String>) {
        self.values.insert(parameter.keyword, value.into());
    }

    /// Stores a value unless there is one.
    pub(crate) fn set_if_absent(
        &mut self,
        parameter: &'static Parameter,
        value: impl Into<String>,
    ) {
        self.values.entry(parameter.keyword).or_insert_with(|| value.into());
    }

    /// Everything of `other` over what is here.
    pub(crate) fn overlay(&mut self, other: &Self) {
        for (keyword, value) in &other.values {
            self.values.insert(keyword, value.clone());
        }
    }

    /// Stores what a person wrote, by name.
    ///
    /// `after_secret`: the text just before was a secret, so that an unknown
    /// name may be a piece of it (an unquoted blank, a bare `&`) and is masked.
    pub(crate) fn store(
        &mut self,
        keyword: &str,
        value: String,
        after_secret: bool,
        complaint: &str,
    ) -> Result<&'static Parameter, ConnInfoError> {
        // Older than sslmode; libpq still reads it.
        let (keyword, value) = match keyword {
            "requiressl" if value.starts_with('1') => ("sslmode", "require".to_owned()),
            "requiressl" => ("sslmode", "prefer".to_owned()),
            _ => (keyword, value),
        };
        let Some(parameter) = find(keyword) else {
            let shown = mask::name(keyword, after_secret);
            return Err(ConnInfoError::new(
                ConnInfoErrorKind::UnknownOption,
                format!("{complaint} \"{shown}\""),
            )
            .with_hint(names_hint(keyword)));
        };
        self.set(parameter, value);
        Ok(parameter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names are unique, and so are their environment variables.
    #[test]
    fn no_parameter_twice() {
        for (index, one) in PARAMETERS.iter().enumerate() {
            for other in &PARAMETERS[index + 1..] {
                assert_ne!(one.keyword, other.keyword);
                assert!(one.env.is_none() || one.env != other.env, "{}", one.keyword);
            }
        }
    }

    /// A slip of the finger is recognised, an unrelated word is not.
    #[test]
    fn slips_find_their_name() {
        assert_eq!(closest("hots"), Some("host"));
        assert_eq!(closest("uzer"), Some("user"));
        assert_eq!(closest("ssl_mode"), Some("sslmode"));
        assert_eq!(closest("databasename"), None);
        assert_eq!(closest(""), None);
    }
}
