//! Signature version 4 for a presigned GET without a body: what a login token
//! is made of, and no more.
//!
//! AWS documentation, "Create a signed AWS API request". Only the host is
//! signed, everything stands in the query.

use std::fmt::Write as _;
use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use pgdyno_wire::secret::Secret;
use sha2::{Digest, Sha256};

const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// Who signs.
#[derive(Debug, Clone)]
pub(crate) struct Credentials {
    pub(crate) key_id: String,
    pub(crate) secret: Secret,
    pub(crate) session_token: Option<Secret>,
    /// When they are of no further use.
    pub(crate) expires: Option<Timestamp>,
}

/// What is signed.
pub(crate) struct Request<'a> {
    /// As it stands in the URL, with the port where that belongs to it.
    pub(crate) host: &'a str,
    pub(crate) query: &'a [(&'a str, &'a str)],
    pub(crate) region: &'a str,
    pub(crate) service: &'a str,
    pub(crate) expires: Duration,
}

/// The presigned URL without its scheme.
pub(crate) fn presign(request: &Request<'_>, with: &Credentials, now: Timestamp) -> Secret {
    let time = now.strftime("%Y%m%dT%H%M%SZ").to_string();
    let date = &time[..8];
    let scope = format!("{date}/{}/{}/aws4_request", request.region, request.service);
    let credential = format!("{}/{scope}", with.key_id);
    let seconds = request.expires.as_secs().to_string();
    let mut pairs = request.query.to_vec();
    pairs.extend([
        ("X-Amz-Algorithm", ALGORITHM),
        ("X-Amz-Credential", &credential),
        ("X-Amz-Date", &time),
        ("X-Amz-Expires", &seconds),
        ("X-Amz-SignedHeaders", "host"),
    ]);
    if let Some(token) = &with.session_token {
        pairs.push(("X-Amz-Security-Token", token.reveal()));
    }
    let mut encoded: Vec<String> =
        pairs.iter().map(|(key, value)| format!("{}={}", encode(key), encode(value))).collect();
    encoded.sort_unstable();
    let query = encoded.join("&");
    let host = request.host.to_ascii_lowercase();
    let empty = hex(&Sha256::digest(b""));
    let canonical = format!("GET\n/\n{query}\nhost:{host}\n\nhost\n{empty}");
    let hash = hex(&Sha256::digest(canonical.as_bytes()));
    let to_sign = format!("{ALGORITHM}\n{time}\n{scope}\n{hash}");
    let key = signing_key(with, date, request);
    let signature = hex(&hmac(&key, to_sign.as_bytes()));
    Secret::new(format!("{}/?{query}&X-Amz-Signature={signature}", request.host))
}

/// Day, region and service each bind the key further.
fn signing_key(with: &Credentials, date: &str, request: &Request<'_>) -> [u8; 32] {
    let first = format!("AWS4{}", with.secret.reveal());
    let key = hmac(first.as_bytes(), date.as_bytes());
    let key = hmac(&key, request.region.as_bytes());
    let key = hmac(&key, request.service.as_bytes());
    hmac(&key, b"aws4_request")
}

fn hmac(key: &[u8], data: &[u8]) -> [u8; 32] {
    match Hmac::<Sha256>::new_from_slice(key) {
        Ok(hmac) => hmac.chain_update(data).finalize().into_bytes().into(),
        Err(_) => unreachable!("HMAC takes keys of any length"),
    }
}

/// Everything but RFC 3986's unreserved characters, as the signature wants it.
fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Vector {
        key_id: &'static str,
        secret: &'static str,
        session_token: Option<&'static str>,
        time: &'static str,
        service: &'static str,
        region: &'static str,
        host: &'static str,
        query: &'static [(&'static str, &'static str)],
        expires_s: u64,
        signature: &'static str,
    }

    const DSQL: Vector = Vector {
        key_id: "akid",
        secret: "secret",
        session_token: None,
        time: "2024-08-27T00:00:00Z",
        service: "dsql",
        region: "us-east-1",
        host: "peccy.dsql.us-east-1.on.aws",
        query: &[("Action", "DbConnect")],
        expires_s: 450,
        signature: "f5f2ad764ca5df44045d4ab6ccecba0eef941b0007e5765885a0b6ed3702a3f8",
    };

    /// The signatures are those that the vendors' own libraries expect in
    /// their tests: DSQL's two actions, RDS with and without a session token.
    #[test]
    fn published_vectors() {
        let vectors = [
            DSQL,
            Vector {
                query: &[("Action", "DbConnectAdmin")],
                signature: "267cf8d04d84444f7a62d5bdb40c44bfc6cb13dd6c64fa7f772df6bbaa90fff1",
                ..DSQL
            },
            Vector {
                key_id: "IAMKEYINSTANCE",
                secret: "asdfqwertypolly",
                session_token: Some("mytoken"),
                time: "2018-09-19T16:02:42Z",
                service: "rds-db",
                region: "eu-west-1",
                host: "dbhost.xyz.eu-west-1.amazonaws.com:3306",
                query: &[("Action", "connect"), ("DBUser", "iam_user")],
                expires_s: 900,
                signature: "8966604a85aa991ef9bed5135aa8565e0e22ae375d2b85892a16e1a642ae0bd1",
            },
            Vector {
                time: "1970-01-01T00:00:00Z",
                service: "rds-db",
                host: "db.us-east-1.amazonaws.com:8000",
                query: &[("Action", "connect"), ("DBUser", "test")],
                expires_s: 900,
                signature: "6f2b4daa29668c1c264d7af7927d9d2a706768e35d92d76b461aedbaca14b6ad",
                ..DSQL
            },
        ];
        for vector in vectors {
            let request = Request {
                host: vector.host,
                query: vector.query,
                region: vector.region,
                service: vector.service,
                expires: Duration::from_secs(vector.expires_s),
            };
            let credentials = Credentials {
                key_id: vector.key_id.to_owned(),
                secret: Secret::new(vector.secret),
                session_token: vector.session_token.map(Secret::new),
                expires: None,
            };
            let token = presign(&request, &credentials, vector.time.parse().unwrap());
            let (before, signature) = token.reveal().rsplit_once('=').unwrap();
            assert_eq!(signature, vector.signature, "{before}");
            assert!(before.starts_with(&format!("{}/?Action=", vector.host)), "{before}");
        }
    }

    /// Everything that could be read otherwise is encoded.
    #[test]
    fn encoding() {
        assert_eq!(encode("a/b+c=d ~_-.ü"), "a%2Fb%2Bc%3Dd%20~_-.%C3%BC");
    }
}
