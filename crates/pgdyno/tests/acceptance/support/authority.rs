//! A certificate authority of the tests' own.

use std::path::Path;

use nix::unistd::{User, chown, geteuid};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
    date_time_ymd,
};

/// How long a server's certificate holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Valid {
    Now,
    /// It expired on 2021-02-03.
    NoMore,
}

/// The file of the certificate that clients trust.
pub(crate) const ROOT: &str = "ca.crt";

/// Writes an authority's certificate, and the certificate and key of a server
/// on this machine, under the names that the server looks for.
pub(crate) fn write(folder: &Path, valid: Valid) {
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
    write_private(&folder.join(ROOT), &root);
    write_private(&folder.join("server.crt"), &cert);
    write_private(&folder.join("server.key"), &key.serialize_pem());
}

fn named(common: &str) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, common);
    name
}

/// A file that only the server's user can read, as the server demands of keys.
fn write_private(path: &Path, pem: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(path, pem).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
    if geteuid().is_root() {
        let named = |name| User::from_name(name).unwrap();
        let user = named("postgres").or_else(|| named("nobody")).unwrap();
        chown(path, Some(user.uid), Some(user.gid)).unwrap();
    }
}
