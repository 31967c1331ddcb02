//! An emulator before a throw-away server, and clients over TLS.
#![allow(dead_code, reason = "each test file uses its own part")]

use pgdyno_emulator::{Config, Emulator, Encryption, Limits, Passwords};
use pgdyno_target::{EmbeddedConfig, EmbeddedServer};
use pgdyno_wire::options::{Host, Options, SslMode, SslRootCert};
use pgdyno_wire::secret::Secret;
use pgdyno_wire::{ConnectContext, Connection, Error};

/// An emulator with all that it stands on.
pub(crate) struct Place {
    // In this order: the emulator's sessions end before their server.
    pub(crate) emulator: Emulator,
    pub(crate) server: EmbeddedServer,
}

impl Place {
    pub(crate) fn start() -> Self {
        Self::with(Limits::default(), Passwords::Token)
    }

    pub(crate) fn with(limits: Limits, passwords: Passwords) -> Self {
        let config = EmbeddedConfig { no_fsync: true, ..EmbeddedConfig::default() };
        let server = EmbeddedServer::start(&config).unwrap();
        let emulator = Emulator::start(Config {
            listen: ([127, 0, 0, 1], 0).into(),
            upstream: server.options_unix(),
            encryption: Encryption::Required { names: Vec::new(), certificate: None },
            passwords,
            limits,
        })
        .unwrap();
        Self { emulator, server }
    }

    /// Options of a client that verifies all there is to verify.
    pub(crate) fn options(&self) -> Options {
        let mut options = self.server.options_tcp();
        options.hosts = vec![Host {
            name: "localhost".into(),
            addr: Some([127, 0, 0, 1].into()),
            port: self.emulator.address().port(),
            password: Some(Secret::new(token("DbConnectAdmin", 900))),
        }];
        options.user = "admin".into();
        options.dbname = "postgres".into();
        options.require_auth = None;
        options.ssl.mode = SslMode::VerifyFull;
        options.ssl.root_cert =
            SslRootCert::File(self.emulator.certificate().unwrap().to_path_buf());
        options
    }

    pub(crate) fn connect(&self) -> Result<Connection, Error> {
        connect(&self.options())
    }
}

pub(crate) fn connect(options: &Options) -> Result<Connection, Error> {
    Connection::connect(&ConnectContext::new(options)?)
}

/// What has the form of a token that was signed `age_seconds` before it
/// expires, now.
pub(crate) fn token(action: &str, lifetime_seconds: i64) -> String {
    let now = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
    format!(
        "localhost/?Action={action}&X-Amz-Algorithm=AWS4-HMAC-SHA256\
         &X-Amz-Credential=akid%2F20261121%2Fus-east-1%2Fdsql%2Faws4_request&X-Amz-Date={now}\
         &X-Amz-Expires={lifetime_seconds}&X-Amz-SignedHeaders=host&X-Amz-Signature=00ff"
    )
}
