//! Which server certificates are accepted.
//!
//! The chain is rustls' (webpki's) business. The name is checked here, because
//! libpq's rules differ: it falls back to the common name, which many servers'
//! certificates of their own making still rely on.

use std::sync::Arc;
use std::time::Duration;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, OtherError, SignatureScheme};
use x509_cert::Certificate;
use x509_cert::der::Decode;

use super::files::Trust;
use super::name;
use crate::error::Error;

/// A verifier for one set of options.
#[derive(Debug)]
pub(super) struct Verifier {
    algorithms: WebPkiSupportedAlgorithms,
    chain: Option<Chain>,
    verifies_name: bool,
}

/// For certificates that must come from a known root.
#[derive(Debug)]
struct Chain {
    webpki: Arc<WebPkiServerVerifier>,
    roots: Vec<CertificateDer<'static>>,
    description: String,
}

/// The certificate comes from somebody unknown; `.0` says who is known.
#[derive(Debug, thiserror::Error)]
#[error("the server's certificate was not issued by an authority in {0}")]
struct UnknownIssuer(String);

impl Verifier {
    pub(super) fn new(
        trust: Trust,
        verifies_name: bool,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Self, Error> {
        let algorithms = provider.signature_verification_algorithms;
        let chain = match trust {
            Trust::Anything => None,
            Trust::Roots { store, certificates, crls, description } => {
                let webpki = WebPkiServerVerifier::builder_with_provider(
                    Arc::new(store),
                    Arc::clone(provider),
                )
                .with_crls(crls)
                .build()
                .map_err(|error| Error::config(format!("certificate revocation list: {error}")))?;
                Some(Chain { webpki, roots: certificates, description })
            }
        };
        Ok(Self { algorithms, chain, verifies_name })
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if let Some(chain) = &self.chain {
            let result = chain.webpki.verify_server_cert(
                end_entity,
                intermediates,
                server_name,
                ocsp_response,
                now,
            );
            chain.judge(result, end_entity, now)?;
        }
        if self.verifies_name {
            name::check(end_entity, server_name)
                .map_err(|mismatch| CertificateError::Other(OtherError(Arc::new(mismatch))))?;
        }
        Ok(ServerCertVerified::assertion())
    }

    // Also where any certificate is accepted: SCRAM's channel binding relies on
    // the server having the key of the certificate that it shows.
    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

impl Chain {
    /// Takes webpki's word on the chain; its word on the name comes after the
    /// chain was found good, and is not used.
    fn judge(
        &self,
        result: Result<ServerCertVerified, rustls::Error>,
        end_entity: &CertificateDer<'_>,
        now: UnixTime,
    ) -> Result<(), rustls::Error> {
        match result {
            Ok(_)
            | Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(()),
            // A server's self-signed certificate, copied to the client as its
            // root: webpki refuses it where it is marked as an authority, and
            // OpenSSL does not. It is the very certificate that is trusted.
            Err(rustls::Error::InvalidCertificate(CertificateError::Other(_)))
                if self.roots.iter().any(|root| root.as_ref() == end_entity.as_ref()) =>
            {
                check_dates(end_entity, now)
            }
            Err(rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer)) => {
                Err(CertificateError::Other(OtherError(Arc::new(UnknownIssuer(
                    self.description.clone(),
                ))))
                .into())
            }
            Err(error) => Err(error),
        }
    }
}

/// The period of validity, for a certificate that webpki did not look into.
fn check_dates(certificate: &CertificateDer<'_>, now: UnixTime) -> Result<(), rustls::Error> {
    let parsed = Certificate::from_der(certificate).map_err(|_| CertificateError::BadEncoding)?;
    let validity = parsed.tbs_certificate().validity();
    let now = Duration::from_secs(now.as_secs());
    if now < validity.not_before.to_unix_duration() {
        return Err(CertificateError::NotValidYet.into());
    }
    if now > validity.not_after.to_unix_duration() {
        return Err(CertificateError::Expired.into());
    }
    Ok(())
}
