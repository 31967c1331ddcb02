//! Detection on real servers.

#![allow(clippy::unwrap_used, reason = "a failing helper is a failing test")]

use std::env;
use std::path::PathBuf;

use pgdyno_target::{EmbeddedConfig, EmbeddedServer, Probe, detect};
use pgdyno_wire::{ConnectContext, Connection};

fn server(bin_dir: Option<PathBuf>) -> EmbeddedServer {
    let settings = vec![("shared_buffers".into(), "32MB".into())];
    let config = EmbeddedConfig { bin_dir, settings, ..EmbeddedConfig::default() };
    EmbeddedServer::start(&config).unwrap()
}

fn connect(server: &EmbeddedServer) -> Connection {
    Connection::connect(&ConnectContext::new(&server.options_unix()).unwrap()).unwrap()
}

/// Each supported server is recognised as PostgreSQL, with its version.
#[test]
fn postgres_is_recognised() {
    let mut bins: Vec<_> = ["PGDYNO_TEST_PG15_BIN", "PGDYNO_TEST_PG18_BIN"]
        .iter()
        .filter_map(env::var_os)
        .map(|value| Some(PathBuf::from(value)))
        .collect();
    if bins.is_empty() {
        bins.push(None);
    }
    for bin_dir in bins {
        let server = server(bin_dir);
        let major = server.installation().major;
        let found = detect(&mut connect(&server)).unwrap();
        assert!(found.known);
        assert_eq!(found.dialect.name(), "postgres");
        assert_eq!(found.version_num.unwrap() / 10_000, major);
        assert!(found.version.starts_with(&format!("PostgreSQL {major}.")), "{}", found.version);
    }
}

/// A question that the server refuses is answered with "no", and the session
/// lives on; a session that is gone is an error.
#[test]
fn refusal_is_no_and_loss_is_an_error() {
    let server = server(None);
    let mut session = connect(&server);
    assert_eq!(session.first_row("SELECT sys.dsql_major_version()").unwrap(), None);
    assert_eq!(session.first_row("SELECT 1 WHERE false").unwrap(), None);
    let row = session.first_row("SELECT 'a', NULL").unwrap();
    assert_eq!(row, Some(vec![Some("a".to_owned()), None]));
    assert!(Probe::parameter(&session, "server_version").is_some());
    server.stop().unwrap();
    assert!(detect(&mut session).is_err());
}
