//! `pgdyno init --dry-run`: what is sent to each kind of database, statement by
//! statement.
//!
//! The expected plans are in `tests/dry_run/`. PostgreSQL's own parser is the
//! judge of every statement that it can judge; for what only the vendor's
//! server takes, a line `-- source:` above the statement names the vendor's
//! documentation. Such lines are not part of the output.

#![allow(clippy::unwrap_used, reason = "a failing helper is a failing test")]

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use pgdyno_target::{EmbeddedConfig, EmbeddedServer};
use pgdyno_wire::client::CopyIn;
use pgdyno_wire::{ConnectContext, Connection};

const SOURCE: &str = "-- source: ";

/// Golden file, dialect, further words of the command.
const CASES: [(&str, &str, &str); 13] = [
    ("postgres", "postgres", "-s 30"),
    ("postgres-insert", "postgres", "-s 20000 --load-method insert"),
    ("aurora-dsql", "aurora-dsql", "-s 30"),
    ("aurora-limitless", "aurora-limitless", "-s 30"),
    ("aurora-postgres", "aurora-postgres", "-s 30"),
    ("alloydb", "alloydb", "-s 30"),
    ("cloudsql", "cloudsql", "-s 30"),
    ("citus", "citus", "-s 30"),
    ("citus-pieces", "citus", "-s 30 --param pieces=64"),
    ("cockroachdb", "cockroachdb", "-s 30"),
    ("cockroachdb-pieces", "cockroachdb", "-s 30 --param pieces=8"),
    ("yugabytedb", "yugabytedb", "-s 30"),
    ("yugabytedb-pieces", "yugabytedb", "-s 30 --param pieces=24"),
];

fn golden(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/dry_run/{name}.sql"));
    fs::read_to_string(file).unwrap()
}

fn without_sources(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with(SOURCE)).flat_map(|line| [line, "\n"]).collect()
}

/// Runs `pgdyno init --dry-run` where nothing can be connected to.
fn dry_run(dialect: &str, workload: &str, words: &str) -> String {
    let output = Command::cargo_bin("pgdyno")
        .unwrap()
        .args(["-q", "init", "host=127.0.0.1 port=1", "--dry-run", "--dialect", dialect])
        .args(["-w", workload])
        .args(words.split_whitespace())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Every dialect prints its plan for every workload without connecting; the
/// three workloads of pgbench's tables differ in name only.
#[test]
fn plans_are_the_expected_ones() {
    for (name, dialect, words) in CASES {
        let expected = without_sources(&golden(name));
        for workload in ["tpcb", "simple-update", "select-only"] {
            let expected = expected.replacen("-- tpcb at", &format!("-- {workload} at"), 1);
            let found = dry_run(dialect, workload, words);
            assert_eq!(found, expected, "{name} {workload}\n{found}");
        }
    }
}

/// No dialect is without a golden plan.
#[test]
fn every_dialect_has_a_plan() {
    for dialect in pgdyno_target::dialects() {
        assert!(CASES.iter().any(|(_, of, _)| *of == dialect.name()), "{}", dialect.name());
    }
}

/// The statements of a plan, each with whether a source is named for it.
fn statements(text: &str) -> Vec<(String, bool)> {
    let mut sourced = false;
    let mut all = Vec::new();
    for line in text.lines() {
        if line.starts_with(SOURCE) {
            sourced = true;
        } else if !line.is_empty() && !line.starts_with("--") {
            let end = line.find(';').unwrap();
            all.push((line[..end].to_owned(), sourced));
            sourced = false;
        }
    }
    all
}

/// Sends a statement; one that wants data gets none.
fn accepts(session: &mut Connection, statement: &str) -> Result<(), String> {
    let sent = if statement.starts_with("COPY ") {
        session.copy_in(statement).and_then(CopyIn::finish).map(drop)
    } else if let Some(head) = statement.strip_suffix(" VALUES") {
        let columns = head.split(',').count();
        let nulls = vec!["NULL"; columns].join(", ");
        session.execute(&format!("{head} SELECT {nulls} WHERE false")).map(drop)
    } else {
        session.execute(statement).map(drop)
    };
    sent.map_err(|error| error.to_string())
}

/// PostgreSQL takes every statement, in the plan's order, but for those whose
/// source is named; and it does refuse or not know those.
#[test]
fn postgres_takes_what_has_no_source() {
    let server = EmbeddedServer::start(&EmbeddedConfig {
        no_fsync: true,
        settings: vec![("shared_buffers".into(), "32MB".into())],
        ..EmbeddedConfig::default()
    })
    .unwrap();
    let context = ConnectContext::new(&server.options_unix()).unwrap();
    let mut session = Connection::connect(&context).unwrap();
    for (name, ..) in CASES {
        let mut missing_tables = false;
        for (statement, sourced) in statements(&golden(name)) {
            let table = statement.starts_with("CREATE TABLE");
            match accepts(&mut session, &statement) {
                Ok(()) => {
                    let unknown = statement.contains("rds_aurora");
                    assert!(!sourced || unknown, "{name}: needs no source: {statement}");
                }
                // A table that only the vendor makes is missing afterwards.
                Err(words) if missing_tables && words.contains("does not exist") => {}
                Err(words) => {
                    assert!(sourced, "{name}: {statement}\n{words}");
                    missing_tables |= table;
                }
            }
        }
    }
    server.stop().unwrap();
}

/// A parameter that the database has no words for is refused, with a reason.
#[test]
fn pieces_where_there_are_none() {
    let output = Command::cargo_bin("pgdyno")
        .unwrap()
        .args(["-q", "init", "--dry-run", "--dialect", "dsql", "--param", "pieces=4"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(words.contains("--param pieces") && words.contains("DSQL"), "{words}");
}
