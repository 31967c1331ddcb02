//! Is the certificate for this host? libpq's rules.
//!
//! Alternative names count first; the common name counts only where there is
//! no alternative name of the host's kind. A `*.` at the beginning stands for
//! one label.

use rustls::pki_types::{CertificateDer, ServerName};
use x509_cert::Certificate;
use x509_cert::der::Decode;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;

/// The certificate is for somebody else.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Mismatch {
    /// libpq's words.
    #[error("server certificate for \"{first}\"{} does not match host name \"{host}\"", others(*.more))]
    Names {
        /// A name in the certificate.
        first: String,
        /// How many further names there are.
        more: usize,
        /// The name that was asked for.
        host: String,
    },
    /// No name to compare.
    #[error("could not get server's host name from server certificate")]
    None,
}

fn others(more: usize) -> String {
    match more {
        0 => String::new(),
        1 => " (and 1 other name)".to_owned(),
        more => format!(" (and {more} other names)"),
    }
}

/// Compares the names in the certificate with the host's.
pub(super) fn check(
    certificate: &CertificateDer<'_>,
    host: &ServerName<'_>,
) -> Result<(), Mismatch> {
    let certificate = Certificate::from_der(certificate).map_err(|_| Mismatch::None)?;
    let names = Names::of(&certificate);
    let (shown, matches, use_common) = match host {
        ServerName::DnsName(name) => {
            let host = name.as_ref();
            let matches = names.dns.iter().any(|pattern| matches(pattern, host));
            (host.to_owned(), matches, names.dns.is_empty())
        }
        ServerName::IpAddress(ip) => {
            let ip = std::net::IpAddr::from(*ip);
            let matches =
                names.ip.contains(&ip) || names.dns.iter().any(|name| name.parse() == Ok(ip));
            (ip.to_string(), matches, names.ip.is_empty())
        }
        _ => return Err(Mismatch::None),
    };
    let common = names.common.as_ref().filter(|_| use_common);
    if matches || common.is_some_and(|common| self::matches(common, &shown)) {
        return Ok(());
    }
    let mut all = common
        .cloned()
        .into_iter()
        .chain(names.dns.iter().cloned())
        .chain(names.ip.iter().map(ToString::to_string));
    match all.next() {
        Some(first) => Err(Mismatch::Names { first, more: all.count(), host: shown }),
        None => Err(Mismatch::None),
    }
}

/// What a certificate calls its owner.
struct Names {
    dns: Vec<String>,
    ip: Vec<std::net::IpAddr>,
    common: Option<String>,
}

impl Names {
    fn of(certificate: &Certificate) -> Self {
        let tbs = certificate.tbs_certificate();
        let mut names =
            Self { dns: Vec::new(), ip: Vec::new(), common: common_name(tbs.subject()) };
        let Ok(Some((_, SubjectAltName(alternatives)))) = tbs.get_extension::<SubjectAltName>()
        else {
            return names;
        };
        for name in &alternatives {
            match name {
                GeneralName::DnsName(name) => names.dns.push(name.as_str().to_owned()),
                GeneralName::IpAddress(octets) => names.ip.extend(ip_of(octets.as_bytes())),
                _ => {}
            }
        }
        names
    }
}

fn ip_of(octets: &[u8]) -> Option<std::net::IpAddr> {
    if let Ok(v4) = <[u8; 4]>::try_from(octets) {
        return Some(v4.into());
    }
    <[u8; 16]>::try_from(octets).ok().map(Into::into)
}

/// The common name of a subject.
fn common_name(subject: &x509_cert::name::Name) -> Option<String> {
    let name = subject.common_name().ok()??.value().into_owned();
    // A zero byte would make the name look shorter to others than it is.
    (!name.contains('\0')).then_some(name)
}

/// Compares without regard to case; `*.` matches exactly one label.
fn matches(pattern: &str, host: &str) -> bool {
    if pattern.eq_ignore_ascii_case(host) {
        return true;
    }
    let Some(domain) = pattern.strip_prefix('*').filter(|domain| domain.starts_with('.')) else {
        return false;
    };
    host.split_once('.')
        .is_some_and(|(label, rest)| !label.is_empty() && domain[1..].eq_ignore_ascii_case(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wildcard is one label at the beginning, and nothing else.
    #[test]
    fn wildcards() {
        for (pattern, host, expected) in [
            ("db.example", "DB.Example", true),
            ("*.example", "db.example", true),
            ("*.example", "a.db.example", false),
            ("*.example", ".example", false),
            ("*.example", "example", false),
            ("*", "db", false),
            ("d*.example", "db.example", false),
            ("", "db", false),
        ] {
            assert_eq!(matches(pattern, host), expected, "{pattern} {host}");
        }
    }

    /// Alternative names first, the common name only in their absence.
    #[test]
    fn names_of_a_certificate() {
        let key = rcgen::KeyPair::generate().unwrap();
        let make = |alternatives: &[&str], common: &str| {
            let names: Vec<String> = alternatives.iter().map(ToString::to_string).collect();
            let mut params = rcgen::CertificateParams::new(names).unwrap();
            params.distinguished_name = rcgen::DistinguishedName::new();
            params.distinguished_name.push(rcgen::DnType::CommonName, common);
            params.self_signed(&key).unwrap().der().clone()
        };
        let name = |host: &str| ServerName::try_from(host.to_owned()).unwrap();
        let both = make(&["db.example", "127.0.0.1"], "common.example");
        assert_eq!(check(&both, &name("db.example")), Ok(()));
        assert_eq!(check(&both, &name("127.0.0.1")), Ok(()));
        let error = check(&both, &name("common.example")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "server certificate for \"db.example\" (and 1 other name) does not match host name \
             \"common.example\""
        );
        let common = make(&[], "common.example");
        assert_eq!(check(&common, &name("common.example")), Ok(()));
        let error = check(&common, &name("10.0.0.1")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "server certificate for \"common.example\" does not match host name \"10.0.0.1\""
        );
    }
}
