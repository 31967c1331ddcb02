//! `pgdyno init --dry-run`: what is sent to each kind of database, statement by
//! statement, for every workload.
//!
//! The expected plans are in `tests/dry_run/`, one file for each workload of
//! the registry with the plans of all dialects, and one for each further case.
//! `PGDYNO_BLESS=1 cargo test -p pgdyno --test dry_run` writes them anew; what
//! changes is then seen in the diff. The judges of the statements: PostgreSQL
//! for all that it can judge, the stand-in for Aurora DSQL and `dsql-lint` for
//! that, and for what only the vendor's server takes the vendor's
//! documentation, named in [`VENDOR`].

#![allow(clippy::unwrap_used, reason = "a failing helper is a failing test")]
#![allow(clippy::print_stderr, reason = "what is skipped is told")]

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use pgdyno_emulator::{Config, Emulator, Encryption, Limits, Passwords};
use pgdyno_target::{EmbeddedConfig, EmbeddedServer, dialects};
use pgdyno_wire::client::CopyIn;
use pgdyno_wire::{ConnectContext, Connection};
use pgdyno_workload::workloads;

/// Writes the expected plans instead of comparing with them.
const BLESS_VARIABLE: &str = "PGDYNO_BLESS";

/// Names the program `dsql-lint`.
const LINT_VARIABLE: &str = "PGDYNO_TEST_DSQL_LINT";

/// Golden file, dialect, further words of the command.
const CASES: [(&str, &str, &str); 16] = [
    ("postgres", "postgres", "-s 30"),
    ("postgres-one-job", "postgres", "-s 30 -j 1"),
    ("postgres-insert", "postgres", "-s 20000 --load-method insert"),
    ("postgres-insert-single", "postgres", "-s 2 --load-method insert-single"),
    ("postgres-server", "postgres", "-s 2 --load-method server"),
    ("aurora-dsql-server", "aurora-dsql", "-s 2 --load-method server"),
    ("cockroachdb-server", "cockroachdb", "-s 2 --load-method server"),
    ("postgres-partitions", "postgres", "-s 30 -j 1 --param partitions=3"),
    (
        "postgres-partitions-hash",
        "postgres",
        "-s 30 --param partitions=2 --param partition-method=hash",
    ),
    ("cockroachdb-regional", "cockroachdb", "-s 30 --param locality=regional-by-row"),
    ("cockroachdb-global", "cockroachdb", "-s 30 --param locality=global --param pieces=8"),
    ("yugabytedb-colocated", "yugabytedb", "-s 30 --param colocation=on"),
    ("yugabytedb-range", "yugabytedb", "-s 30 --param colocation=off --param keys=range"),
    ("citus-pieces", "citus", "-s 30 --param pieces=64"),
    ("cockroachdb-pieces", "cockroachdb", "-s 30 --param pieces=8"),
    ("yugabytedb-pieces", "yugabytedb", "-s 30 --param pieces=24"),
];

/// What only the vendor's server takes: dialect, a mark of such statements,
/// the vendor's documentation. PostgreSQL must refuse what has such a mark,
/// and nothing else, but for settings, which it takes whatever their name.
const VENDOR: [(&str, &str, &str); 13] = [
    (
        "aurora-dsql",
        "INDEX ASYNC ",
        "Aurora DSQL User Guide, asynchronous indexes in Aurora DSQL, syntax",
    ),
    (
        "aurora-limitless",
        "SET rds_aurora.limitless_create_table_",
        "Amazon Aurora User Guide, creating sharded and reference tables by using variables",
    ),
    (
        "citus",
        "create_distributed_table(",
        "Citus documentation, creating and modifying distributed objects (DDL)",
    ),
    (
        "citus",
        "create_reference_table(",
        "Citus documentation, creating and modifying distributed objects (DDL), reference tables",
    ),
    (
        "cockroachdb",
        "CREATE STATISTICS pgdyno FROM ",
        "CockroachDB documentation, CREATE STATISTICS",
    ),
    (
        "cockroachdb",
        " USING HASH WITH (bucket_count = ",
        "CockroachDB documentation, hash-sharded indexes, create a table with a hash-sharded \
         primary key",
    ),
    (
        "cockroachdb",
        " // ",
        "CockroachDB documentation, functions and operators, operators: // is floor division",
    ),
    (
        "cockroachdb",
        " LOCALITY REGIONAL BY ROW",
        "CockroachDB documentation, table localities, regional by row tables",
    ),
    (
        "cockroachdb",
        " LOCALITY GLOBAL",
        "CockroachDB documentation, table localities, global tables",
    ),
    ("yugabytedb", " ASC)", "YugabyteDB documentation, CREATE TABLE, primary key"),
    (
        "yugabytedb",
        " WITH (colocation = ",
        "YugabyteDB documentation, colocated tables, create a table in a colocated database",
    ),
    ("yugabytedb", " HASH", "YugabyteDB documentation, CREATE TABLE, primary key"),
    ("yugabytedb", " SPLIT INTO ", "YugabyteDB documentation, CREATE TABLE, SPLIT INTO"),
];

/// Scale of the plans of all workloads.
const SCALE: &str = "-s 2";

fn golden_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/dry_run/{name}.sql"))
}

fn golden(name: &str) -> String {
    let file = golden_file(name);
    fs::read_to_string(&file)
        .unwrap_or_else(|error| panic!("{}: {error}; {BLESS_VARIABLE}=1 writes it", file.display()))
}

/// Compares a plan with the expected one, or makes it that.
fn expect(name: &str, found: &str) {
    if std::env::var_os(BLESS_VARIABLE).is_some() {
        let file = golden_file(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        return fs::write(file, found).unwrap();
    }
    let expected = golden(name);
    assert_eq!(found, expected, "{name} ({BLESS_VARIABLE}=1 writes it anew)\n{found}");
}

/// Runs `pgdyno init --dry-run` where nothing can be connected to. A workload
/// that a dialect cannot have is told as a comment.
fn dry_run(dialect: &str, workload: &str, words: &str) -> String {
    let output = Command::cargo_bin("pgdyno")
        .unwrap()
        .args(["-q", "init", "host=127.0.0.1 port=1", "--dry-run", "--dialect", dialect])
        .args(["-w", workload])
        .args(words.split_whitespace())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (out, err) = (text(output.stdout), text(output.stderr));
    match output.status.code() {
        Some(0) => out,
        Some(1) => format!("-- {workload} on {dialect}: {}\n", err.trim().replace('\n', "\n-- ")),
        other => panic!("{workload} on {dialect}: {other:?}\n{err}"),
    }
}

/// The plans of a workload for all dialects, each with the dialect's name.
fn plans(workload: &str) -> Vec<(&'static str, String)> {
    let plan = |dialect: &'static str| (dialect, dry_run(dialect, workload, SCALE));
    dialects().iter().map(|dialect| plan(dialect.name())).collect()
}

/// Every workload of the registry has its plan for every dialect, printed
/// without connecting, and it is the expected one.
#[test]
fn plans_are_the_expected_ones() {
    for (name, dialect, words) in CASES {
        expect(name, &dry_run(dialect, "tpcb", words));
    }
    for entry in workloads() {
        let texts: Vec<String> = plans(entry.name).into_iter().map(|(_, text)| text).collect();
        expect(&format!("workloads/{}", entry.name), &texts.join("\n\n"));
    }
}

/// All plans that are judged: what they are called, and their dialects. Plans
/// that differ in their first line only are judged once for each dialect.
fn all_plans() -> Vec<(String, &'static str, String)> {
    let mut all: Vec<(String, &'static str, String)> = CASES
        .iter()
        .map(|(name, dialect, words)| {
            ((*name).to_owned(), *dialect, dry_run(dialect, "tpcb", words))
        })
        .collect();
    for entry in workloads() {
        let plans = plans(entry.name).into_iter();
        all.extend(
            plans.map(|(dialect, text)| (format!("{} on {dialect}", entry.name), dialect, text)),
        );
    }
    let mut seen = HashSet::new();
    all.retain(|(_, dialect, text)| {
        let statements: Vec<&str> = text.lines().filter(|line| !line.starts_with("--")).collect();
        seen.insert((*dialect, statements.join("\n")))
    });
    all
}

/// The statements of a plan.
fn statements(text: &str) -> Vec<&str> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with("--"));
    // Notes begin with the first "; --" or are none.
    lines
        .map(|line| match line.split_once("; -- ") {
            Some((sql, _)) => sql,
            None => line.strip_suffix(';').unwrap(),
        })
        .collect()
}

/// Sends a statement; one that wants data gets none.
fn accepts(session: &mut Connection, statement: &str) -> Result<(), String> {
    let sent = if statement.starts_with("COPY ") {
        session.copy_in(statement).and_then(CopyIn::finish).map(drop)
    } else if statement.contains("($1") {
        session
            .prepare("one_row", statement)
            .and_then(|()| session.execute("DEALLOCATE one_row"))
            .map(drop)
    } else if let Some(head) = statement.strip_suffix(" VALUES") {
        let columns = head.split(',').count();
        let nulls = vec!["NULL"; columns].join(", ");
        session.execute(&format!("{head} SELECT {nulls} WHERE false")).map(drop)
    } else {
        session.execute(statement).map(drop)
    };
    sent.map_err(|error| error.to_string())
}

fn server() -> EmbeddedServer {
    EmbeddedServer::start(&EmbeddedConfig {
        no_fsync: true,
        settings: vec![("shared_buffers".into(), "32MB".into())],
        ..EmbeddedConfig::default()
    })
    .unwrap()
}

/// What is named for a statement.
fn sources(dialect: &str, statement: &str) -> Vec<usize> {
    // `RESET` and `SET` share everything behind the first letters.
    let named = |(of, mark, _): &(&str, &str, &str)| *of == dialect && statement.contains(mark);
    (0..VENDOR.len()).filter(|number| named(&VENDOR[*number])).collect()
}

/// PostgreSQL takes every statement, in the plan's order, but for those for
/// which a vendor's documentation is named; and it does refuse or not know
/// those. No documentation is named for nothing.
#[test]
fn postgres_takes_what_is_no_vendors() {
    let server = server();
    let context = ConnectContext::new(&server.options_unix()).unwrap();
    let mut used = HashSet::new();
    for (name, dialect, text) in all_plans() {
        // Each plan in a schema of its own: what a plan for another database
        // does not drop is not in the way.
        let mut session = Connection::connect(&context).unwrap();
        session.execute("DROP SCHEMA public CASCADE").unwrap();
        session.execute("CREATE SCHEMA public").unwrap();
        let mut refused = false;
        for statement in statements(&text) {
            let sources = sources(dialect, statement);
            used.extend(sources.iter().copied());
            match accepts(&mut session, statement) {
                Ok(()) => {
                    let setting = statement.contains("SET rds_aurora.");
                    assert!(sources.is_empty() || setting, "{name}: no source needed: {statement}");
                }
                // A table that only the vendor makes is missing afterwards, and
                // a transaction with a refused statement is over.
                Err(words)
                    if refused
                        && (words.contains("does not exist")
                            || words.contains("transaction is aborted")) => {}
                Err(words) => {
                    assert!(!sources.is_empty(), "{name}: {statement}\n{words}");
                    refused = true;
                }
            }
        }
    }
    for (number, (dialect, mark, _)) in VENDOR.iter().enumerate() {
        assert!(used.contains(&number), "no plan for {dialect} has {mark:?}");
    }
    server.stop().unwrap();
}

/// The stand-in for Aurora DSQL takes every statement of every plan for it.
#[test]
fn dsql_takes_its_plans() {
    let server = server();
    let emulator = Emulator::start(Config {
        listen: ([127, 0, 0, 1], 0).into(),
        upstream: server.options_unix(),
        encryption: Encryption::Off,
        passwords: Passwords::Any,
        limits: Limits::default(),
    })
    .unwrap();
    let mut options = server.options_tcp();
    options.user = "admin".to_owned();
    options.dbname = "postgres".to_owned();
    options.hosts[0].port = emulator.address().port();
    options.ssl.mode = pgdyno_wire::options::SslMode::Disable;
    let context = ConnectContext::new(&options).unwrap();
    let mut session = Connection::connect(&context).unwrap();
    for (name, dialect, text) in all_plans() {
        if dialect != "aurora-dsql" {
            continue;
        }
        for statement in statements(&text) {
            if let Err(words) = accepts(&mut session, statement) {
                panic!("{name}: {statement}\n{words}");
            }
        }
    }
    session.close();
    drop(emulator);
    server.stop().unwrap();
}

/// The vendor's own checker has nothing against the plans for Aurora DSQL.
#[test]
fn dsql_lint_agrees() {
    let Some(lint) = std::env::var_os(LINT_VARIABLE) else {
        eprintln!("skipped: {LINT_VARIABLE} does not name the program dsql-lint");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.sql");
    for (name, dialect, text) in all_plans() {
        if dialect != "aurora-dsql" {
            continue;
        }
        // A COPY is followed by data, and an INSERT by values: the checker
        // would read on into the next statement.
        let whole = |sql: &&str| !sql.starts_with("COPY ") && !sql.ends_with(" VALUES");
        let sql: Vec<String> =
            statements(&text).into_iter().filter(whole).map(|sql| format!("{sql};\n")).collect();
        fs::write(&file, sql.concat()).unwrap();
        let output = Command::new(&lint).arg(&file).output().unwrap();
        let words = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{name}: {words}");
    }
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
