//! What a real server counts of itself, and what single statements cost it.

#![allow(clippy::print_stderr, reason = "a skipped part says why")]
#![allow(clippy::unwrap_used, reason = "a failing helper is a failing test")]

use std::env;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pgdyno_target::embedded::find_installation;
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
        let has_library = has_library(bin_dir.as_deref());
        let library = ("shared_preload_libraries".into(), "pg_stat_statements".into());
        let settings = if has_library { vec![library] } else { Vec::new() };
        let config =
            EmbeddedConfig { bin_dir, no_fsync: true, settings, ..EmbeddedConfig::default() };
        let server = EmbeddedServer::start(&config).unwrap();
        connect(&server).execute("CREATE TABLE t (a int)").unwrap();
        plans_are_taken_back(&server);
        counts_what_was_done(&server);
        partitions_have_the_size(&server);
        if has_library {
            statements_are_counted(&server);
        } else {
            eprintln!("skipped: this server has no pg_stat_statements");
        }
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

/// Whether the server's library can be loaded, where distributions put it.
fn has_library(bin_dir: Option<&Path>) -> bool {
    let found = find_installation(bin_dir).unwrap().bin_dir;
    let found = found.canonicalize().unwrap();
    let beside = |folder: &str| found.join("..").join(folder).join("pg_stat_statements.so");
    ["lib", "lib/postgresql"].iter().any(|folder| beside(folder).exists())
}

/// The statements that took longest are told with their text and figures,
/// whatever columns the extension's version has.
fn statements_are_counted(server: &EmbeddedServer) {
    let mut session = connect(server);
    session.execute("CREATE EXTENSION pg_stat_statements").unwrap();
    let statistics = postgres().statistics(Some(session.server_version_num()));
    let before = read(&mut session, &statistics.queries);
    for n in 0..7 {
        session.execute(&format!("INSERT INTO t SELECT generate_series(1, 50 + {n})")).unwrap();
    }
    let after = read_again(&mut session, &statistics.queries, &before);
    let found = compare(&statistics.queries, &before, &after);
    let group = found.group("pg_stat_statements").unwrap();
    let inserts = group
        .rows
        .iter()
        .find(|row| row.labels["query"].starts_with("INSERT INTO t SELECT generate_series($1, $2"));
    let figures = &inserts.unwrap_or_else(|| panic!("{group:?}")).figures;
    let grown = |name: &str| figures[name].difference.unwrap();
    assert_eq!((grown("calls"), grown("rows")), (7.0, 371.0));
    assert!(grown("total_exec_time") > 0.0);
}

/// The size of a table with partitions is theirs, also below partitions.
fn partitions_have_the_size(server: &EmbeddedServer) {
    let mut session = connect(server);
    for sql in [
        "CREATE TABLE parted (a int) PARTITION BY RANGE (a)",
        "CREATE TABLE low PARTITION OF parted FOR VALUES FROM (0) TO (10)",
        "CREATE TABLE high PARTITION OF parted FOR VALUES FROM (10) TO (20) PARTITION BY HASH (a)",
        "CREATE TABLE higher PARTITION OF high FOR VALUES WITH (MODULUS 1, REMAINDER 0)",
        "INSERT INTO parted SELECT generate_series(0, 19)",
        "CREATE INDEX ON parted (a)",
    ] {
        session.execute(sql).unwrap();
    }
    let query = postgres().table_size_query().unwrap();
    let mut size =
        |table: &str| session.query_one_i64(&query.replace("$1", &format!("'{table}'"))).unwrap();
    let (low, higher) = (size("low"), size("higher"));
    assert!(low > 0 && higher > 0);
    assert_eq!((size("parted"), size("high")), (low + higher, higher));
    assert!(size("t") > 0);
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
    assert!(before.counts_waits(&statistics.queries));
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

/// What a vendor's views hold, by its documents: how they are made here, and by
/// how much which row grew.
struct Vendor {
    dialect: &'static str,
    group: &'static str,
    make: &'static [&'static str],
    grow: &'static str,
    labels: &'static [(&'static str, &'static str)],
    figure: (&'static str, f64),
}

const VENDORS: [Vendor; 6] = [
    Vendor {
        dialect: "aurora-postgres",
        group: "aurora_stat_system_waits",
        make: &[
            "CREATE TABLE waits (type_id int, event_id int, waits bigint, wait_time bigint)",
            "INSERT INTO waits VALUES (1, 10, 3, 500), (2, 20, 4, 900), (5, 50, 9, 9000)",
            "CREATE FUNCTION aurora_stat_system_waits() RETURNS SETOF waits LANGUAGE sql \
             AS 'SELECT * FROM waits'",
            "CREATE FUNCTION aurora_stat_wait_type(OUT type_id int, OUT type_name text) \
             RETURNS SETOF record LANGUAGE sql AS $$VALUES (1, 'Lock'), (2, 'IO'), \
             (5, 'Activity')$$",
            "CREATE FUNCTION aurora_stat_wait_event(OUT type_id int, OUT event_id int, \
             OUT event_name text) RETURNS SETOF record LANGUAGE sql \
             AS $$VALUES (1, 10, 'tuple'), (2, 20, 'XactSync'), (5, 50, 'WalWriterMain')$$",
        ],
        grow: "UPDATE waits SET waits = waits + 5, wait_time = wait_time + 70 * (type_id - 1) \
               WHERE type_id > 1",
        labels: &[("type_name", "IO"), ("event_name", "XactSync")],
        figure: ("wait_us", 70.0),
    },
    Vendor {
        dialect: "aurora-limitless",
        group: "limitless_stat_system_waits",
        make: &[
            "CREATE SCHEMA rds_aurora",
            "CREATE TABLE rds_aurora.limitless_stat_system_waits (subcluster_id text, \
             subcluster_type text, type_name text, event_name text, waits bigint, wait_time bigint)",
            "INSERT INTO rds_aurora.limitless_stat_system_waits VALUES \
             ('2', 'router', 'Lock', 'tuple', 1, 10), ('4', 'shard', 'Lock', 'tuple', 1, 10), \
             ('4', 'shard', 'Activity', 'WalWriterMain', 1, 10)",
        ],
        grow: "UPDATE rds_aurora.limitless_stat_system_waits SET wait_time = CASE \
               type_name WHEN 'Lock' THEN 33 ELSE 99 END WHERE subcluster_id = '4'",
        labels: &[("subcluster_id", "4"), ("subcluster_type", "shard"), ("event_name", "tuple")],
        figure: ("wait_us", 23.0),
    },
    Vendor {
        dialect: "aurora-limitless",
        group: "limitless_stat_statements",
        make: &[
            "CREATE TABLE rds_aurora.limitless_stat_statements (subcluster_id text, \
             subcluster_type text, query text, calls bigint, sso_calls bigint)",
            "INSERT INTO rds_aurora.limitless_stat_statements VALUES \
             ('2', 'router', 'UPDATE t SET n = $1', 5, 5), ('2', 'router', 'SELECT 1', 5, 0)",
        ],
        grow: "UPDATE rds_aurora.limitless_stat_statements SET calls = 9, sso_calls = 8 \
               WHERE sso_calls > 0",
        labels: &[("subcluster_type", "router"), ("query", "UPDATE t SET n = $1")],
        figure: ("sso_calls", 3.0),
    },
    Vendor {
        dialect: "citus",
        group: "citus_stat_counters",
        make: &[
            "CREATE TABLE citus_stat_counters (database_id oid, name text, \
             query_execution_single_shard bigint, query_execution_multi_shard bigint, \
             stats_reset timestamptz)",
            "INSERT INTO citus_stat_counters VALUES (1, 'postgres', 10, 20, now())",
        ],
        grow: "UPDATE citus_stat_counters SET query_execution_single_shard = 16",
        labels: &[("name", "postgres")],
        figure: ("query_execution_single_shard", 6.0),
    },
    Vendor {
        dialect: "yugabytedb",
        group: "yb_active_session_history",
        make: &[
            "CREATE TABLE yb_active_session_history (sample_time timestamptz, \
             wait_event_component text, wait_event_class text, wait_event_type text, \
             wait_event text, sample_weight real)",
            // Of another run.
            "INSERT INTO yb_active_session_history VALUES \
             (now() - interval '1 day', 'YSQL', 'TServerWait', 'WaitOnCondition', 'StorageFlush', 100)",
        ],
        grow: "INSERT INTO yb_active_session_history VALUES \
               (clock_timestamp(), 'YSQL', 'TServerWait', 'WaitOnCondition', 'StorageFlush', 2), \
               (clock_timestamp(), 'YSQL', 'TServerWait', 'WaitOnCondition', 'StorageFlush', 3)",
        labels: &[
            ("wait_event_class", "TServerWait"),
            ("wait_event_type", "WaitOnCondition"),
            ("wait_event", "StorageFlush"),
        ],
        figure: ("samples", 5.0),
    },
    Vendor {
        dialect: "cockroachdb",
        group: "transaction_contention_events",
        make: &[
            "CREATE SCHEMA crdb_internal",
            "CREATE TABLE crdb_internal.transaction_contention_events \
             (collection_ts timestamptz, contention_duration interval)",
            "INSERT INTO crdb_internal.transaction_contention_events VALUES \
             (now() - interval '1 day', '9 s')",
        ],
        grow: "INSERT INTO crdb_internal.transaction_contention_events VALUES \
               (clock_timestamp(), '1.5 s'), (clock_timestamp(), '0.5 s')",
        labels: &[],
        figure: ("wait_s", 2.0),
    },
];

/// What vendors count is read in the shape that they document; of a buffer of
/// events only those of the run count.
#[test]
fn views_of_vendors() {
    let server =
        EmbeddedServer::start(&EmbeddedConfig { no_fsync: true, ..EmbeddedConfig::default() })
            .unwrap();
    let mut session = connect(&server);
    for vendor in VENDORS {
        for sql in vendor.make {
            session.execute(sql).unwrap();
        }
        let all = dialect_by_name(vendor.dialect).unwrap().statistics(Some(150_000));
        let queries: Vec<_> =
            all.queries.into_iter().filter(|query| query.name() == vendor.group).collect();
        let before = read(&mut session, &queries);
        session.execute(vendor.grow).unwrap();
        let after = read_again(&mut session, &queries, &before);
        let found = compare(&queries, &before, &after);
        let group = found.group(vendor.group).unwrap_or_else(|| panic!("{found:?}"));
        assert_eq!(group.rows.len(), 1, "{found:?}");
        let row = &group.rows[0];
        for (name, label) in vendor.labels {
            assert_eq!(row.labels[*name], *label, "{found:?}");
        }
        let (name, grown) = vendor.figure;
        assert_eq!(row.figures[name].difference, Some(grown), "{found:?}");
    }
}
