//! A certificate authority of the tests' own.

use std::path::{Path, PathBuf};

use nix::unistd::{User, chown, geteuid};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
    date_time_ymd,
};
use tempfile::TempDir;

use super::room::open_to_all;

/// How long a server's certificate holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Valid {
    Now,
    /// It expired on 2021-02-03.
    NoMore,
}

/// An authority, and the certificate of one server on this machine.
pub(crate) struct Authority {
    folder: TempDir,
}

impl Authority {
    pub(crate) fn new(valid: Valid) -> Self {
        let folder = tempfile::Builder::new().prefix("pgd-t").tempdir_in("/tmp").unwrap();
        open_to_all(folder.path());
        let ca_key = KeyPair::generate().unwrap();
        let mut ca = CertificateParams::default();
        ca.distinguished_name = named("test authority");
        ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let root = ca.self_signed(&ca_key).unwrap().pem();
        let issuer = Issuer::new(ca, ca_key);
        let mut server =
            CertificateParams::new(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
        server.distinguished_name = named("server");
        if valid == Valid::NoMore {
            server.not_before = date_time_ymd(2020, 1, 1);
            server.not_after = date_time_ymd(2021, 2, 3);
        }
        let key = KeyPair::generate().unwrap();
        let cert = server.signed_by(&key, &issuer).unwrap().pem();
        std::fs::write(folder.path().join("ca.crt"), root).unwrap();
        std::fs::write(folder.path().join("server.crt"), cert).unwrap();
        write_key(&folder.path().join("server.key"), &key.serialize_pem());
        Self { folder }
    }

    /// The certificate that clients trust.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("ca.crt")
    }

    /// What the server needs in postgresql.conf.
    pub(crate) fn settings(&self) -> Vec<(String, String)> {
        let file = |name: &str| self.folder.path().join(name).display().to_string();
        vec![
            ("ssl".into(), "on".into()),
            ("ssl_cert_file".into(), file("server.crt")),
            ("ssl_key_file".into(), file("server.key")),
        ]
    }
}

fn named(common: &str) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, common);
    name
}

/// A key that only the server's user can read, as the server demands.
fn write_key(path: &Path, pem: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(path, pem).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
    if geteuid().is_root() {
        let named = |name| User::from_name(name).unwrap();
        let user = named("postgres").or_else(|| named("nobody")).unwrap();
        chown(path, Some(user.uid), Some(user.gid)).unwrap();
    }
}
