//! The isolation level that was asked for is the one that runs, or the person
//! is told.

#![allow(clippy::unwrap_used, reason = "a failing helper is a failing test")]

use assert_cmd::Command;
use pgdyno_target::{EmbeddedConfig, EmbeddedServer};
use pgdyno_wire::{ConnectContext, Connection};

fn run(server: &EmbeddedServer, dialect: &str) -> String {
    let options = server.options_tcp();
    let host = &options.hosts[0];
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("one.sql");
    std::fs::write(&script, "SELECT 1;\n").unwrap();
    let output = Command::cargo_bin("pgdyno")
        .unwrap()
        .current_dir(folder.path())
        .args(["run", "-t", "1", "-c", "1", "--isolation", "read-committed", "-f", "one.sql"])
        .args(["--dialect", dialect])
        .arg(format!("host={} port={} user={}", host.name, host.port, options.user))
        .env("PGPASSWORD", host.password.as_ref().unwrap().reveal())
        .env("PGDATABASE", &options.dbname)
        .output()
        .unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{err}");
    err
}

/// A level that silently becomes another one is told, and one that is in
/// effect is not worth a word. The function is the one that YugabyteDB has.
#[test]
fn another_level_is_told() {
    let server = EmbeddedServer::start(&EmbeddedConfig {
        no_fsync: true,
        settings: vec![("shared_buffers".into(), "32MB".into())],
        ..EmbeddedConfig::default()
    })
    .unwrap();
    let context = ConnectContext::new(&server.options_unix()).unwrap();
    let mut session = Connection::connect(&context).unwrap();
    session
        .execute(
            "CREATE FUNCTION yb_get_effective_transaction_isolation_level() RETURNS text \
             LANGUAGE sql AS $$SELECT 'repeatable read'$$",
        )
        .unwrap();
    assert!(!run(&server, "postgres").contains("was asked for"));
    let told = run(&server, "yugabytedb");
    let expected = "read committed was asked for, but YugabyteDB runs transactions at \
                    repeatable read";
    assert!(told.contains(expected), "{told}");
    server.stop().unwrap();
}
