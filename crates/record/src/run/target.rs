//! What was asked: the target as it told of itself, and how it was reached.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The database under test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetRecord {
    /// Its name in `pgdyno.toml`, or `embedded`; none for a plain URI.
    pub name: Option<String>,
    /// Its kind, e.g. `postgres`, `aurora-dsql`.
    pub kind: String,
    /// The dialect that was used; differs from `kind` only when forced.
    pub dialect: String,
    /// How the dialect was found, one sentence.
    pub detected_by: String,
    /// The server's `version()` or `server_version`.
    pub server_version: String,
    /// `server_version_num`, e.g. 150008; 0 where the server has none.
    pub server_version_num: u32,
    /// Name of the database.
    pub database: String,
    /// Name of the user.
    pub user: String,
    /// Where the connections went.
    pub endpoints: Vec<Endpoint>,
    /// The TLS of the connections; none when they were in the clear.
    pub tls: Option<TlsRecord>,
    /// Selected server settings, name to value.
    pub settings: BTreeMap<String, String>,
}

/// One host and port of a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    /// Host name, address, or folder of a Unix socket.
    pub host: String,
    /// Port number.
    pub port: u16,
}

/// The TLS session of the connections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsRecord {
    /// E.g. `TLSv1.3`.
    pub version: String,
    /// E.g. `TLS13_AES_256_GCM_SHA384`.
    pub cipher: String,
    /// Whether the server's certificate was verified.
    pub verified: bool,
}
