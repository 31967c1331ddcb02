//! The `tls-server-end-point` channel binding of RFC 5929.

use rustls::pki_types::CertificateDer;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};
use x509_cert::Certificate;
use x509_cert::der::{Decode, Encode};
use x509_cert::spki::AlgorithmIdentifierOwned;

/// The hashes that RFC 5929 can end up with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hash {
    Sha224,
    Sha256,
    Sha384,
    Sha512,
}

/// A hash of the certificate, by the hash of the certificate's own signature.
/// `None` where that signature has none of its own (Ed25519) or is unknown:
/// then there is no such binding, for PostgreSQL's server neither.
pub(crate) fn server_end_point(certificate: &CertificateDer<'_>) -> Option<Vec<u8>> {
    let parsed = Certificate::from_der(certificate).ok()?;
    let hash = hash_of(parsed.signature_algorithm())?;
    Some(match hash {
        Hash::Sha224 => Sha224::digest(certificate).to_vec(),
        Hash::Sha256 => Sha256::digest(certificate).to_vec(),
        Hash::Sha384 => Sha384::digest(certificate).to_vec(),
        Hash::Sha512 => Sha512::digest(certificate).to_vec(),
    })
}

/// MD5 and SHA-1 give way to SHA-256, as the RFC says.
fn hash_of(algorithm: &AlgorithmIdentifierOwned) -> Option<Hash> {
    match algorithm.oid.to_string().as_str() {
        // RSA with MD5, SHA-1, SHA-256; ECDSA with SHA-1, SHA-256.
        "1.2.840.113549.1.1.4"
        | "1.2.840.113549.1.1.5"
        | "1.2.840.113549.1.1.11"
        | "1.2.840.10045.4.1"
        | "1.2.840.10045.4.3.2" => Some(Hash::Sha256),
        "1.2.840.113549.1.1.14" | "1.2.840.10045.4.3.1" => Some(Hash::Sha224),
        "1.2.840.113549.1.1.12" | "1.2.840.10045.4.3.3" => Some(Hash::Sha384),
        "1.2.840.113549.1.1.13" | "1.2.840.10045.4.3.4" => Some(Hash::Sha512),
        "1.2.840.113549.1.1.10" => pss_hash(algorithm),
        _ => None,
    }
}

/// RSASSA-PSS names its hash in the parameters, and first; SHA-1 if it does not.
fn pss_hash(algorithm: &AlgorithmIdentifierOwned) -> Option<Hash> {
    /// The OID 2.16.840.1.101.3.4.2, whose children are the SHA-2 family.
    const SHA2: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02];
    let parameters = algorithm.parameters.as_ref()?.to_der().ok()?;
    let Some(at) = parameters.windows(SHA2.len()).position(|window| window == SHA2) else {
        return Some(Hash::Sha256);
    };
    match parameters.get(at + SHA2.len())? {
        1 => Some(Hash::Sha256),
        2 => Some(Hash::Sha384),
        3 => Some(Hash::Sha512),
        4 => Some(Hash::Sha224),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hash is the one of the certificate's signature; Ed25519 has none.
    #[test]
    fn hash_follows_the_signature() {
        for (algorithm, len) in [
            (&rcgen::PKCS_ECDSA_P256_SHA256, Some(32)),
            (&rcgen::PKCS_ECDSA_P384_SHA384, Some(48)),
            (&rcgen::PKCS_ED25519, None),
        ] {
            let key = rcgen::KeyPair::generate_for(algorithm).unwrap();
            let params = rcgen::CertificateParams::new(vec!["x".to_owned()]).unwrap();
            let certificate = params.self_signed(&key).unwrap();
            let end_point = server_end_point(certificate.der());
            assert_eq!(end_point.map(|hash| hash.len()), len);
        }
    }
}
