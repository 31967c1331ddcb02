//! TLS as PostgreSQL uses it: one rustls configuration for all connections.
//!
//! The cryptography is chosen by a feature (`aws-lc-rs` or `ring`) and passed
//! explicitly; no process-wide default is read or set. What is trusted follows
//! libpq: see [`Tls::new`].

mod binding;
mod explain;
mod files;
mod name;
mod verifier;

use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{IpAddr, ServerName};
use rustls::{ClientConfig, ClientConnection, SupportedProtocolVersion};

pub(crate) use binding::server_end_point;
pub(crate) use explain::explain;

use crate::error::{Error, Kind};
use crate::options::{Options, Ssl, SslMode, SslNegotiation, SslRootCert};
use files::Trust;
use verifier::Verifier;

/// The ALPN name that PostgreSQL 17 and later insist upon for direct TLS.
const ALPN: &[u8] = b"postgresql";

/// How many servers' sessions are remembered for resumption.
const RESUMED_SERVERS_MAX: usize = 64;

#[cfg(not(any(feature = "aws-lc-rs", feature = "ring")))]
compile_error!("one of the features `aws-lc-rs` and `ring` must be on");

/// The cryptography that was compiled in.
fn provider() -> CryptoProvider {
    #[cfg(feature = "aws-lc-rs")]
    return rustls::crypto::aws_lc_rs::default_provider();
    #[cfg(all(feature = "ring", not(feature = "aws-lc-rs")))]
    return rustls::crypto::ring::default_provider();
}

/// TLS, ready for any number of connections.
#[derive(Debug)]
pub struct Tls {
    config: Arc<ClientConfig>,
    verifies_name: bool,
}

impl Tls {
    /// Reads the files and builds the configuration; `None` where the options
    /// ask for no TLS at all.
    ///
    /// As in libpq, a root file that exists is always used to check the chain,
    /// whatever the mode; without one, `require` and weaker accept any
    /// certificate, and `verify-ca` and `verify-full` are an error.
    ///
    /// # Errors
    /// Files that are missing or useless. Combinations of options are not
    /// looked at; see [`check_combinations`].
    pub fn new(options: &Options) -> Result<Option<Self>, Error> {
        let ssl = &options.ssl;
        if ssl.mode == SslMode::Disable || options.hosts.iter().all(crate::options::Host::is_unix) {
            return Ok(None);
        }
        let provider = Arc::new(provider());
        let trust = Trust::load(ssl)?;
        let verifies_name = ssl.mode == SslMode::VerifyFull;
        let verifier = Verifier::new(trust, verifies_name, &provider)?;
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(versions(ssl))
            .map_err(|error| tls_error(&error))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        let mut config = match files::client_certificate(ssl)? {
            Some((chain, key)) => builder.with_client_auth_cert(chain, key).map_err(|error| {
                Error::config(format!("the client certificate and its key do not fit: {error}"))
            })?,
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = vec![ALPN.to_vec()];
        config.enable_sni = !ssl.no_sni;
        config.resumption = Resumption::in_memory_sessions(RESUMED_SERVERS_MAX);
        Ok(Some(Self { config: Arc::new(config), verifies_name }))
    }

    /// A TLS session for one connection to the host of that name, at that
    /// address (`None` over a Unix socket, where TLS is not used).
    pub(crate) fn client(
        &self,
        host_name: &str,
        addr: std::net::IpAddr,
    ) -> Result<ClientConnection, Error> {
        if self.verifies_name && host_name.is_empty() {
            return Err(Error::new(Kind::Tls(
                "host name must be specified for a verified SSL connection".into(),
            )));
        }
        let name = match ServerName::try_from(host_name.to_owned()) {
            Ok(name) => name,
            Err(_) if self.verifies_name => {
                return Err(Error::new(Kind::Tls(format!(
                    "\"{host_name}\" is not a name that a certificate could be for"
                ))));
            }
            // Nobody checks the name; TLS only needs one to file sessions under.
            Err(_) => ServerName::IpAddress(IpAddr::from(addr)),
        };
        ClientConnection::new(Arc::clone(&self.config), name).map_err(|error| tls_error(&error))
    }
}

/// libpq's refusals of options that would silently be weaker than they look.
///
/// # Errors
/// Options that contradict each other.
pub fn check_combinations(ssl: &Ssl) -> Result<(), Error> {
    let mode = match ssl.mode {
        SslMode::Disable => "disable",
        SslMode::Allow => "allow",
        SslMode::Prefer => "prefer",
        SslMode::Require => "require",
        SslMode::VerifyCa => "verify-ca",
        SslMode::VerifyFull => "verify-full",
    };
    if ssl.root_cert == SslRootCert::System && ssl.mode != SslMode::VerifyFull {
        return Err(Error::config(format!(
            "weak sslmode \"{mode}\" may not be used with sslrootcert=system (use \"verify-full\")"
        )));
    }
    if ssl.negotiation == SslNegotiation::Direct && ssl.mode < SslMode::Require {
        return Err(Error::config(format!(
            "weak sslmode \"{mode}\" may not be used with sslnegotiation=direct \
             (use \"require\", \"verify-ca\", or \"verify-full\")"
        )));
    }
    if ssl.tls12_only && ssl.tls13_only {
        return Err(Error::config("invalid SSL protocol version range"));
    }
    Ok(())
}

/// rustls has 1.2 and 1.3, which is libpq's default range as well.
fn versions(ssl: &Ssl) -> &'static [&'static SupportedProtocolVersion] {
    static TLS12: &[&SupportedProtocolVersion] = &[&rustls::version::TLS12];
    static TLS13: &[&SupportedProtocolVersion] = &[&rustls::version::TLS13];
    match (ssl.tls12_only, ssl.tls13_only) {
        (true, _) => TLS12,
        (_, true) => TLS13,
        _ => rustls::ALL_VERSIONS,
    }
}

fn tls_error(error: &rustls::Error) -> Error {
    Error::new(Kind::Tls(explain::explain_tls(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Options that look stronger than they are, are refused in libpq's words.
    #[test]
    fn contradictions() {
        for (ssl, words) in [
            (
                Ssl { root_cert: SslRootCert::System, ..Ssl::default() },
                "weak sslmode \"prefer\" may not be used with sslrootcert=system",
            ),
            (
                Ssl { negotiation: SslNegotiation::Direct, ..Ssl::default() },
                "weak sslmode \"prefer\" may not be used with sslnegotiation=direct",
            ),
            (
                Ssl { tls12_only: true, tls13_only: true, ..Ssl::default() },
                "invalid SSL protocol version range",
            ),
        ] {
            let error = check_combinations(&ssl).unwrap_err();
            assert!(error.is_config() && error.to_string().contains(words), "{error}");
        }
    }
}
