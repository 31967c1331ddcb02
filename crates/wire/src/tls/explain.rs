//! rustls' errors in words for people who run databases.

use std::io;

use rustls::{AlertDescription, CertificateError, Error as TlsError};

/// The words for an I/O error that carries a failure of TLS; `None` where it
/// carries none.
pub(crate) fn explain(error: &io::Error) -> Option<String> {
    let inner = error.get_ref()?.downcast_ref::<TlsError>()?;
    Some(explain_tls(inner))
}

/// The words for a failure of TLS, in libpq's frame.
pub(super) fn explain_tls(error: &TlsError) -> String {
    match error {
        TlsError::InvalidCertificate(CertificateError::Other(other)) => {
            let words = other.0.to_string();
            // libpq, too, prints this one bare.
            if other.0.downcast_ref::<super::name::Mismatch>().is_some() {
                words
            } else {
                format!("SSL error: certificate verify failed: {words}")
            }
        }
        TlsError::InvalidCertificate(reason) => {
            format!("SSL error: certificate verify failed: {}", certificate(reason))
        }
        TlsError::AlertReceived(alert) => {
            format!("SSL error: the server refused the TLS connection: {}", refusal(*alert))
        }
        TlsError::PeerIncompatible(why) => {
            format!("SSL error: no TLS version or cipher in common with the server ({why:?})")
        }
        TlsError::InvalidMessage(_) => {
            "SSL error: the server answered with something that is not TLS".to_owned()
        }
        TlsError::NoApplicationProtocol => "SSL error: the server does not know the protocol \
             name \"postgresql\" (ALPN); it may be no PostgreSQL server"
            .to_owned(),
        other => format!("SSL error: {other}"),
    }
}

fn certificate(reason: &CertificateError) -> String {
    match reason {
        CertificateError::Expired => "the server's certificate has expired".to_owned(),
        CertificateError::ExpiredContext { not_after, .. } => {
            format!("the server's certificate has expired{}", date("not valid after", *not_after))
        }
        CertificateError::NotValidYet => "the server's certificate is not valid yet".to_owned(),
        CertificateError::NotValidYetContext { not_before, .. } => format!(
            "the server's certificate is not valid yet{}",
            date("not valid before", *not_before)
        ),
        CertificateError::Revoked => "the server's certificate was revoked".to_owned(),
        CertificateError::UnknownIssuer => {
            "the server's certificate was issued by an unknown authority".to_owned()
        }
        CertificateError::UnknownRevocationStatus => {
            "no revocation list (sslcrl) covers the server's certificate".to_owned()
        }
        CertificateError::BadEncoding => "the server's certificate cannot be read".to_owned(),
        CertificateError::BadSignature => {
            "the signature on the server's certificate is wrong".to_owned()
        }
        other => other.to_string(),
    }
}

/// ` (words 2024-01-31T00:00:00Z)`; nothing for a date that no calendar has.
fn date(words: &str, at: rustls::pki_types::UnixTime) -> String {
    let duration = std::time::Duration::from_secs(at.as_secs());
    x509_cert::der::DateTime::from_unix_duration(duration)
        .map_or_else(|_| String::new(), |at| format!(" ({words} {at})"))
}

fn refusal(alert: AlertDescription) -> String {
    match alert {
        AlertDescription::CertificateRequired => "it demands a client certificate".to_owned(),
        AlertDescription::UnknownCA => {
            "it does not know the authority that issued the client certificate".to_owned()
        }
        AlertDescription::CertificateExpired => "the client certificate has expired".to_owned(),
        AlertDescription::CertificateRevoked => "the client certificate was revoked".to_owned(),
        AlertDescription::BadCertificate | AlertDescription::CertificateUnknown => {
            "it cannot accept the client certificate".to_owned()
        }
        AlertDescription::ProtocolVersion => "it has no TLS version in common".to_owned(),
        AlertDescription::HandshakeFailure => "it has no cipher in common".to_owned(),
        AlertDescription::NoApplicationProtocol => {
            "it does not know the protocol name \"postgresql\" (ALPN)".to_owned()
        }
        other => format!("{other:?}"),
    }
}
