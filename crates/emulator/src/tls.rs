//! The emulator's certificate, made at the start.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{CertificateParams, DnType, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::EmulatorError;

/// The name of PostgreSQL's protocol for direct TLS.
const ALPN: &[u8] = b"postgresql";

/// TLS for the server's side, and the file that clients verify it by.
pub(crate) struct ServerTls {
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) certificate: PathBuf,
    /// Removes the file, where it is a temporary one.
    _file: Option<tempfile::TempPath>,
}

#[cfg(not(any(feature = "aws-lc-rs", feature = "ring")))]
compile_error!("one of the features `aws-lc-rs` and `ring` must be on");

fn provider() -> CryptoProvider {
    #[cfg(feature = "aws-lc-rs")]
    return rustls::crypto::aws_lc_rs::default_provider();
    #[cfg(all(feature = "ring", not(feature = "aws-lc-rs")))]
    return rustls::crypto::ring::default_provider();
}

/// Makes a self-signed certificate for `localhost` and `names`.
pub(crate) fn make(names: &[String], path: Option<&Path>) -> Result<ServerTls, EmulatorError> {
    let failed = |error: String| EmulatorError::Certificate(error);
    let mut all = vec!["localhost".to_owned()];
    all.extend(names.iter().filter(|name| *name != "localhost").cloned());
    let key = KeyPair::generate().map_err(|e| failed(e.to_string()))?;
    let mut params = CertificateParams::new(all).map_err(|e| failed(e.to_string()))?;
    params.distinguished_name.push(DnType::CommonName, "pgdyno emulator");
    let certificate = params.self_signed(&key).map_err(|e| failed(e.to_string()))?;
    let private = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let mut config = ServerConfig::builder_with_provider(Arc::new(provider()))
        .with_safe_default_protocol_versions()
        .map_err(|e| failed(e.to_string()))?
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], private)
        .map_err(|e| failed(e.to_string()))?;
    config.alpn_protocols = vec![ALPN.to_vec()];
    let (path, file) = write(&certificate.pem(), path).map_err(|e| failed(e.to_string()))?;
    Ok(ServerTls { config: Arc::new(config), certificate: path, _file: file })
}

fn write(pem: &str, path: Option<&Path>) -> std::io::Result<(PathBuf, Option<tempfile::TempPath>)> {
    if let Some(path) = path {
        std::fs::write(path, pem)?;
        return Ok((path.to_owned(), None));
    }
    let mut file = tempfile::Builder::new().prefix("pgdyno-emulator-").suffix(".crt").tempfile()?;
    file.write_all(pem.as_bytes())?;
    let path = file.into_temp_path();
    Ok((path.to_path_buf(), Some(path)))
}
