//! What a real server counts of itself, and what single statements cost it.

#![allow(clippy::unwrap_used, reason = "a failing helper is a failing test")]

use std::env;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use pgdyno_target::statistics::{Sample, compare, explain, read, read_again, wait_for_sessions};
use pgdyno_target::{EmbeddedConfig, EmbeddedServer, dialect_by_name, postgres};
use pgdyno_wire::{ConnectContext, Connection};

/// How long figures may take to come in; far more than they do.
const PATIENCE: Duration = Duration::from_secs(60);

fn connect(server: &EmbeddedServer) -> Connection {
    Connection::connect(&ConnectContext::new(&server.options_unix()).unwrap()).unwrap()
}

/// Every view of each supported server's version can be read, but for the
/// extension that is not there, and the work of a session shows in the
/// differences. Explained statements leave nothing behind.
#[test]
fn real_servers() {
    let mut bins: Vec<_> = ["PGDYNO_TEST_PG15_BIN", "PGDYNO_TEST_PG18_BIN"]
        .iter()
        .filter_map(env::var_os)
        .map(|value| Some(PathBuf::from(value)))
        .collect();
    if bins.is_empty() {
        bins.push(None);
    }
    for bin_dir in bins {
        let config = EmbeddedConfig { bin_dir, no_fsync: true, ..EmbeddedConfig::default() };
        let server = EmbeddedServer::start(&config).unwrap();
        connect(&server).execute("CREATE TABLE t (a int)").unwrap();
        plans_are_taken_back(&server);
        counts_what_was_done(&server);
    }
}

fn counts_what_was_done(server: &EmbeddedServer) {
    let mut session = connect(server);
    let statistics = postgres().statistics(Some(session.server_version_num()));
    let before = read(&mut session, &statistics.queries);
    let mut work = connect(server);
    for _ in 0..10 {
        work.execute("INSERT INTO t SELECT generate_series(1, 100)").unwrap();
    }
    drop(work);
    let begin = Instant::now();
    let found = loop {
        wait_for_sessions(&mut session, statistics.sessions.unwrap());
        // A session sees the figures as they were at its first look.
        let after = read_again(&mut connect(server), &statistics.queries, &before);
        let found = compare(&statistics.queries, &before, &after);
        if found.grown("pg_stat_user_tables", "n_tup_ins").is_some_and(|rows| rows >= 1000.0) {
            break found;
        }
        assert!(begin.elapsed() < PATIENCE, "{found:?}");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(found.grown("pg_stat_database", "xact_commit").is_some_and(|count| count >= 10.0));
    assert!(found.grown("pg_stat_wal", "wal_bytes").is_some_and(|bytes| bytes > 1000.0));
    assert!(found.grown("database_size", "bytes").is_some_and(|bytes| bytes > 0.0));
    assert_eq!(
        found.notes,
        [
            "pg_stat_statements: the extension pg_stat_statements is not there",
            "pg_wait_sampling_profile: the extension pg_wait_sampling is not there",
        ]
    );
    waits_of_an_extension(server);
}

/// The counts of an extension that is there, or of one that looks like it.
fn waits_of_an_extension(server: &EmbeddedServer) {
    let mut session = connect(server);
    for sql in [
        "INSERT INTO pg_extension VALUES \
         (999999, 'pg_wait_sampling', 10, 2200, false, '1.1', NULL, NULL)",
        "CREATE TABLE pg_wait_sampling_profile (pid int, event_type text, event text, \
         queryid bigint, count bigint)",
        "INSERT INTO pg_wait_sampling_profile VALUES (1, 'Lock', 'tuple', 0, 5), \
         (2, 'Lock', 'tuple', 0, 7), (3, NULL, NULL, 0, 4), (4, 'Activity', 'WalWriterMain', 0, 9)",
    ] {
        session.execute(sql).unwrap();
    }
    let statistics = postgres().statistics(Some(session.server_version_num()));
    let before = read(&mut session, &statistics.queries);
    session.execute("UPDATE pg_wait_sampling_profile SET count = count + 10").unwrap();
    let after = read_again(&mut session, &statistics.queries, &before);
    let found = compare(&statistics.queries, &before, &after);
    let group = found.group("pg_wait_sampling_profile").unwrap();
    let told: Vec<(&str, &str, Option<f64>)> = group
        .rows
        .iter()
        .map(|row| {
            let label = |name: &str| row.labels[name].as_str();
            (label("event_type"), label("event"), row.figures["samples"].difference)
        })
        .collect();
    assert_eq!(told, [("Lock", "tuple", Some(20.0)), ("CPU", "none", Some(10.0))]);
}

/// A statement that fails ends the explaining of its transaction alone.
fn plans_are_taken_back(server: &EmbeddedServer) {
    let mut session = connect(server);
    let citus = dialect_by_name("citus").unwrap().statistics(None).plans.unwrap();
    let sample = |script: &str, sqls: &[&str]| Sample {
        script: script.to_owned(),
        statements: sqls.iter().map(|sql| ((*sql).to_owned(), (*sql).to_owned())).collect(),
    };
    let samples =
        [sample("bad", &["SELECT * FROM nothing"]), sample("good", &["INSERT INTO t VALUES (1)"])];
    let (plans, notes) = explain(&mut session, &citus, &samples);
    // A plain server names none of the figures of Citus.
    assert_eq!(plans, Vec::new());
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].starts_with("the cost of \"bad\": "), "{notes:?}");
    assert_eq!(session.query_one_i64("SELECT count(*) FROM t").unwrap(), 0);
}
