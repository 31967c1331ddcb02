//! `require_auth`: which ways of authentication the user accepts.

use std::fmt;
use std::str::FromStr;

/// A way by which a server may ask for proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Password,
    Md5,
    Gss,
    Sspi,
    Scram,
    OAuth,
    None,
    Unknown,
}

/// The methods that `require_auth` can name.
const NAMED: [(&str, Method); 7] = [
    ("password", Method::Password),
    ("md5", Method::Md5),
    ("gss", Method::Gss),
    ("sspi", Method::Sspi),
    ("scram-sha-256", Method::Scram),
    ("oauth", Method::OAuth),
    ("none", Method::None),
];

impl Method {
    /// The method behind an Authentication message's code.
    pub(super) const fn of_request(code: i32) -> Self {
        match code {
            0 => Self::None,
            3 => Self::Password,
            5 => Self::Md5,
            7 | 8 => Self::Gss,
            9 => Self::Sspi,
            10..=12 => Self::Scram,
            _ => Self::Unknown,
        }
    }

    /// libpq's reason for a refusal.
    pub(super) const fn refusal(self) -> &'static str {
        match self {
            Self::Password => "server requested a cleartext password",
            Self::Md5 => "server requested a hashed password",
            Self::Gss => "server requested GSSAPI authentication",
            Self::Sspi => "server requested SSPI authentication",
            Self::Scram => "server requested SASL authentication",
            Self::None => "server did not complete authentication",
            Self::OAuth | Self::Unknown => "server requested an unknown authentication type",
        }
    }

    /// For a method that is not supported.
    pub(super) const fn description(self) -> &'static str {
        match self {
            Self::Gss => "GSSAPI authentication",
            Self::Sspi => "SSPI authentication",
            _ => "an authentication method of its own",
        }
    }
}

/// `require_auth`, read: which methods are accepted. All of them by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequireAuth {
    text: String,
    /// One flag for each of [`NAMED`]; `None` accepts everything.
    allowed: Option<[bool; NAMED.len()]>,
}

impl RequireAuth {
    pub(super) fn allows(&self, method: Method) -> bool {
        let Some(allowed) = &self.allowed else { return true };
        // A method without a name passes no list, as in libpq.
        NAMED.iter().zip(allowed).any(|((_, named), allowed)| *named == method && *allowed)
    }
}

impl fmt::Display for RequireAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A `require_auth` that cannot be read; the text is libpq's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidRequireAuth(String);

impl FromStr for RequireAuth {
    type Err = InvalidRequireAuth;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        let mut seen = [false; NAMED.len()];
        let mut negated = None;
        for part in text.split(',') {
            let name = part.strip_prefix('!').unwrap_or(part);
            let negative = name.len() < part.len();
            match (negated, negative) {
                (Some(false), true) => {
                    return Err(InvalidRequireAuth(format!(
                        "negative require_auth method \"{part}\" cannot be mixed with \
                         non-negative methods"
                    )));
                }
                (Some(true), false) => {
                    return Err(InvalidRequireAuth(format!(
                        "require_auth method \"{part}\" cannot be mixed with negative methods"
                    )));
                }
                _ => negated = Some(negative),
            }
            let Some(at) = NAMED.iter().position(|(named, _)| *named == name) else {
                let known: Vec<&str> = NAMED.iter().map(|(named, _)| *named).collect();
                return Err(InvalidRequireAuth(format!(
                    "invalid require_auth method: \"{part}\" (known are {})",
                    known.join(", ")
                )));
            };
            if std::mem::replace(&mut seen[at], true) {
                return Err(InvalidRequireAuth(format!(
                    "require_auth method \"{part}\" is specified more than once"
                )));
            }
        }
        let allowed = seen.map(|seen| seen != (negated == Some(true)));
        Ok(Self { text: text.to_owned(), allowed: Some(allowed) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lists allow what they name, negated ones all the rest.
    #[test]
    fn lists() {
        let any = RequireAuth::default();
        assert!(any.allows(Method::None) && any.allows(Method::Unknown));
        let some: RequireAuth = "md5,scram-sha-256".parse().unwrap();
        assert!(some.allows(Method::Md5) && some.allows(Method::Scram));
        assert!(!some.allows(Method::Password) && !some.allows(Method::None));
        let not: RequireAuth = "!password,!none".parse().unwrap();
        assert!(not.allows(Method::Scram) && !not.allows(Method::Password));
        assert!(!not.allows(Method::None));
    }

    /// Mixtures, doubles and unknown names are refused by name.
    #[test]
    fn refusals() {
        for (text, part) in [
            ("md5,!none", "negative require_auth method \"!none\" cannot be mixed"),
            ("!md5,none", "require_auth method \"none\" cannot be mixed"),
            ("md5,md5", "\"md5\" is specified more than once"),
            ("kerberos", "invalid require_auth method: \"kerberos\" (known are password, md5"),
        ] {
            let error = text.parse::<RequireAuth>().unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
