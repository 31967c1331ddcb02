//! Certificates, keys and revocation lists, from files or the system.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};

use crate::error::{Error, os_words};
use crate::options::{Ssl, SslMode, SslRootCert};

/// What a server's certificate is checked against.
pub(super) enum Trust {
    /// Any certificate will do.
    Anything,
    /// Its chain must end at one of these.
    Roots {
        /// For the search of a chain.
        store: RootCertStore,
        /// The same as given; a server's own certificate may be among them.
        certificates: Vec<CertificateDer<'static>>,
        /// What has been revoked.
        crls: Vec<CertificateRevocationListDer<'static>>,
        /// For messages: the file, or the system's store.
        description: String,
    },
}

impl Trust {
    /// Reads the roots that the options name.
    pub(super) fn load(ssl: &Ssl) -> Result<Self, Error> {
        let (certificates, description) = match &ssl.root_cert {
            SslRootCert::System => system_roots()?,
            SslRootCert::File(path) => match existing(path, ssl.mode)? {
                Some(path) => read_roots(path)?,
                None => return Ok(Self::Anything),
            },
            SslRootCert::Default => match default_file("root.crt") {
                Some(path) => match existing(&path, ssl.mode)? {
                    Some(path) => read_roots(path)?,
                    None => return Ok(Self::Anything),
                },
                None if ssl.mode < SslMode::VerifyCa => return Ok(Self::Anything),
                None => {
                    return Err(Error::config(
                        "could not get home directory to locate root certificate file\n\
                         Either provide the file, use the system's trusted roots with \
                         sslrootcert=system, or change sslmode to disable server certificate \
                         verification.",
                    ));
                }
            },
        };
        let mut store = RootCertStore::empty();
        let (_, unusable) = store.add_parsable_certificates(certificates.iter().cloned());
        if store.is_empty() {
            return Err(Error::config(format!(
                "no usable root certificate in {description} ({unusable} could not be read)"
            )));
        }
        Ok(Self::Roots { store, certificates, crls: crls(ssl)?, description })
    }
}

/// libpq's folder for such files, below the home folder.
fn default_file(name: &str) -> Option<PathBuf> {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty())?;
    Some(Path::new(&home).join(".postgresql").join(name))
}

/// The root file, if it exists; it must where the mode verifies.
fn existing(path: &Path, mode: SslMode) -> Result<Option<&Path>, Error> {
    if path.exists() {
        return Ok(Some(path));
    }
    if mode < SslMode::VerifyCa {
        return Ok(None);
    }
    Err(Error::config(format!(
        "root certificate file \"{}\" does not exist\n\
         Either provide the file, use the system's trusted roots with sslrootcert=system, \
         or change sslmode to disable server certificate verification.",
        path.display()
    )))
}

type Roots = (Vec<CertificateDer<'static>>, String);

fn system_roots() -> Result<Roots, Error> {
    let found = rustls_native_certs::load_native_certs();
    if found.certs.is_empty() {
        let reasons: Vec<String> = found.errors.iter().map(ToString::to_string).collect();
        return Err(Error::config(format!(
            "could not load system root certificate paths: {}",
            if reasons.is_empty() { "none found".to_owned() } else { reasons.join("; ") }
        )));
    }
    Ok((found.certs, "the system's root certificates".to_owned()))
}

fn read_roots(path: &Path) -> Result<Roots, Error> {
    let description = format!("root certificate file \"{}\"", path.display());
    let certificates = certificates(path, &description)?;
    Ok((certificates, description))
}

fn certificates(path: &Path, what: &str) -> Result<Vec<CertificateDer<'static>>, Error> {
    let pem = read(path, what)?;
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(&pem)
        .collect::<Result<_, _>>()
        .map_err(|error| Error::config(format!("could not read {what}: {error}")))?;
    if certificates.is_empty() {
        return Err(Error::config(format!("could not read {what}: no PEM certificate in it")));
    }
    Ok(certificates)
}

fn read(path: &Path, what: &str) -> Result<Vec<u8>, Error> {
    fs::read(path)
        .map_err(|error| Error::config(format!("could not read {what}: {}", os_words(&error))))
}

fn crls(ssl: &Ssl) -> Result<Vec<CertificateRevocationListDer<'static>>, Error> {
    let path = match &ssl.crl {
        Some(path) => path.clone(),
        None => match default_file("root.crl").filter(|path| path.exists()) {
            Some(path) => path,
            None => return Ok(Vec::new()),
        },
    };
    let what = format!("certificate revocation list \"{}\"", path.display());
    let pem = read(&path, &what)?;
    CertificateRevocationListDer::pem_slice_iter(&pem)
        .collect::<Result<_, _>>()
        .map_err(|error| Error::config(format!("could not read {what}: {error}")))
}

/// The client's certificate chain and its key.
pub(super) type ClientCertificate = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// Reads the client's certificate and key, where there are any. A default file
/// need not exist; one that was named must, unlike in libpq, which goes on
/// without and leaves it to the server to wonder.
pub(super) fn client_certificate(ssl: &Ssl) -> Result<Option<ClientCertificate>, Error> {
    let cert = match &ssl.cert {
        Some(path) => path.clone(),
        None => match default_file("postgresql.crt").filter(|path| path.exists()) {
            Some(path) => path,
            None => return Ok(None),
        },
    };
    let chain = certificates(&cert, &format!("certificate file \"{}\"", cert.display()))?;
    let key = match ssl.key.clone().or_else(|| default_file("postgresql.key")) {
        Some(path) => path,
        None => return Err(Error::config("certificate present, but not private key file")),
    };
    Ok(Some((chain, private_key(&key, ssl.key_password.is_some())?)))
}

/// Reads a private key after libpq's check of who else can.
fn private_key(path: &Path, has_password: bool) -> Result<PrivateKeyDer<'static>, Error> {
    let shown = path.display();
    let Ok(metadata) = fs::metadata(path) else {
        return Err(Error::config(format!(
            "certificate present, but not private key file \"{shown}\""
        )));
    };
    if !metadata.is_file() {
        return Err(Error::config(format!("private key file \"{shown}\" is not a regular file")));
    }
    // root may share a key with a group, for reading only.
    let forbidden = if metadata.uid() == 0 { 0o027 } else { 0o077 };
    if metadata.permissions().mode() & forbidden != 0 {
        return Err(Error::config(format!(
            "private key file \"{shown}\" has group or world access; file must have permissions \
             u=rw (0600) or less if owned by the current user, or permissions u=rw,g=r (0640) \
             or less if owned by root"
        )));
    }
    let pem = read(path, &format!("private key file \"{shown}\""))?;
    if pem.windows(9).any(|window| window == b"ENCRYPTED") {
        let why = if has_password { "which sslpassword cannot change yet" } else { "so" };
        return Err(Error::config(format!(
            "private key file \"{shown}\" is encrypted, {why}: decrypt it for pgdyno, for \
             example with: openssl pkey -in key.pem -out plain.pem"
        )));
    }
    PrivateKeyDer::from_pem_slice(&pem).map_err(|error| {
        Error::config(format!("could not load private key file \"{shown}\": {error}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key that others can read is refused before it is read.
    #[test]
    fn key_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("client.key");
        fs::write(&path, "-----BEGIN ENCRYPTED PRIVATE KEY-----\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let error = private_key(&path, false).unwrap_err().to_string();
        assert!(error.contains("has group or world access"), "{error}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let error = private_key(&path, false).unwrap_err().to_string();
        assert!(error.contains("is encrypted"), "{error}");
        let error = private_key(folder.path(), false).unwrap_err().to_string();
        assert!(error.contains("is not a regular file"), "{error}");
    }

    /// Only a mode that verifies insists on a root file.
    #[test]
    fn missing_root_file() {
        let root_cert = SslRootCert::File("/nonexistent/root.crt".into());
        let require = Ssl { mode: SslMode::Require, root_cert, ..Ssl::default() };
        assert!(matches!(Trust::load(&require), Ok(Trust::Anything)));
        let verify = Ssl { mode: SslMode::VerifyCa, ..require };
        let error = Trust::load(&verify).err().map(|error| error.to_string()).unwrap();
        assert!(error.contains("\"/nonexistent/root.crt\" does not exist"), "{error}");
    }
}
