//! Every workload of the registry, through the real binary: made, run and
//! audited on PostgreSQL 15 and 18 and on the stand-in for Aurora DSQL; the
//! scripts of published experiments; and servers that lie.
//!
//! A workload that is registered joins by itself. The number of transactions
//! is given and no time, so that nothing depends on the machine's speed.

#![allow(clippy::print_stderr, reason = "what is skipped is told")]
#![allow(clippy::unwrap_used, reason = "a failing helper is a failing test")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use pgdyno_emulator::{Config, Emulator, Encryption, Limits, Passwords};
use pgdyno_target::{EmbeddedConfig, EmbeddedServer, dialects, postgres};
use pgdyno_wire::{ConnectContext, Connection};
use pgdyno_workload::{Choice, Workload, make, workloads};
use serde_json::Value;

/// Conflicts are tried again so often that only a fault gives up.
const TRIES: &str = "1000";

/// Larger tables have load tests of their own; the emulator takes 2,000 rows a
/// transaction.
const ROWS_EMULATED_MAX: u64 = 250_000;

/// Larger tables are loaded on one server only.
const ROWS_TWICE_MAX: u64 = 400_000;

fn server(bin: Option<PathBuf>) -> EmbeddedServer {
    EmbeddedServer::start(&EmbeddedConfig {
        bin_dir: bin,
        no_fsync: true,
        settings: vec![("shared_buffers".into(), "64MB".into())],
        ..EmbeddedConfig::default()
    })
    .unwrap()
}

/// A folder, a target, and what the binary needs to reach it.
struct Place {
    folder: tempfile::TempDir,
    target: String,
    password: String,
}

impl Place {
    fn of(server: &EmbeddedServer) -> Self {
        let options = server.options_tcp();
        let host = &options.hosts[0];
        Self {
            folder: tempfile::tempdir().unwrap(),
            target: format!(
                "host={} port={} user={} dbname={}",
                host.name, host.port, options.user, options.dbname
            ),
            password: host.password.as_ref().unwrap().reveal().to_owned(),
        }
    }

    fn of_emulator(emulator: &Emulator) -> Self {
        let port = emulator.address().port();
        Self {
            folder: tempfile::tempdir().unwrap(),
            target: format!("postgresql://admin@127.0.0.1:{port}/postgres?sslmode=disable"),
            password: "x".to_owned(),
        }
    }

    /// Runs the binary; gives exit code, standard output and standard error.
    fn pgdyno(&self, command: &str, words: &[&str]) -> (i32, String, String) {
        self.pgdyno_aloud(command, &[&["-q"], words].concat())
    }

    /// The same, with what is told on the way.
    fn pgdyno_aloud(&self, command: &str, words: &[&str]) -> (i32, String, String) {
        let output = Command::cargo_bin("pgdyno")
            .unwrap()
            .current_dir(self.folder.path())
            .args([command, &self.target])
            .args(words)
            .env("PGPASSWORD", &self.password)
            .env_remove("PGOPTIONS")
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
    }

    /// Loads; the size of the tables is compared with the expected one, and fits.
    fn init(&self, words: &[&str]) {
        let (code, out, err) = self.pgdyno_aloud("init", words);
        assert_eq!(code, 0, "init {words:?}\n{out}\n{err}");
        assert!(err.contains(" expected") && !err.contains("off by more"), "{words:?}\n{err}");
    }

    /// A run that has to end as `code` says; gives its record.
    fn run(&self, code: i32, words: &[&str]) -> Value {
        let all = [words, &["--json", "-"]].concat();
        let (found, out, err) = self.pgdyno("run", &all);
        assert_eq!(found, code, "run {words:?}\n{out}\n{err}");
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}\n{err}"))
    }
}

/// Outcomes of the audits, one word each, with their sentences.
fn audits(record: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let audits = record["audits"].as_array().unwrap();
    audits.iter().map(|audit| (text(&audit["outcome"]), text(&audit["detail"]))).collect()
}

/// Every audit passed, but for updates that the level lets be lost, which are
/// named; every statement found its rows; something was committed.
fn assert_clean(record: &Value, what: &str) {
    let audits = audits(record);
    assert!(!audits.is_empty(), "{what}: nothing was audited");
    for (outcome, detail) in &audits {
        let named = detail.starts_with("lost updates are allowed here, at read committed");
        assert!(outcome == "passed" || (outcome == "skipped" && named), "{what}: {audits:?}");
    }
    for statement in record["statements"].as_array().unwrap() {
        let text = statement.to_string();
        assert!(statement["short"].as_u64().unwrap_or(0) == 0, "{what}: {text}");
    }
    assert!(record["totals"]["counts"]["committed"].as_u64().unwrap() > 0, "{what}");
    assert_eq!(record["totals"]["counts"]["failed"], 0, "{what}");
}

fn made(name: &str) -> Box<dyn Workload> {
    make(&Choice { name, scale: 1, params: &[] }).unwrap()
}

fn rows(name: &str) -> u64 {
    made(name).tables().iter().map(|table| table.rows).sum()
}

/// The workloads with at most `rows_max` rows at scale 1, those with the same
/// tables one after the other, each with whether it needs tables of its own.
fn chosen(rows_max: u64) -> Vec<(&'static str, bool)> {
    let mut last = Vec::new();
    let mut all = Vec::new();
    for entry in workloads() {
        if rows(entry.name) > rows_max {
            eprintln!("skipped here: {}, which is too large", entry.name);
            continue;
        }
        let tables = made(entry.name).create_statements(postgres());
        all.push((entry.name, tables != last));
        last = tables;
    }
    all
}

/// A server of the version that the variable names, or whatever one is found.
fn bin(variable: &str) -> Option<PathBuf> {
    let named: Option<OsString> = std::env::var_os(variable);
    if named.is_none() {
        eprintln!("{variable} names no server: whatever is found is used");
    }
    named.map(PathBuf::from)
}

/// On PostgreSQL 15 every workload is audited clean at every isolation level,
/// and a reset leaves a clean base behind.
#[test]
fn every_workload_at_every_level() {
    let server = server(bin("PGDYNO_TEST_PG15_BIN"));
    let place = Place::of(&server);
    for (name, own_tables) in chosen(u64::MAX) {
        if own_tables {
            place.init(&["-w", name, "-s", "1"]);
        }
        // The level that may lose updates comes last: it leaves that behind.
        let levels = ["serializable", "repeatable-read", "read-committed"];
        // Large tables take their time to audit: at one level only.
        let large = rows(name) > ROWS_TWICE_MAX;
        for level in levels.into_iter().take(if large { 1 } else { levels.len() }) {
            let words = ["-w", name, "-c", "6", "-t", "20", "--max-tries", TRIES];
            let record = place.run(0, &[&words[..], &["--isolation", level]].concat());
            assert_clean(&record, &format!("{name} at {level}"));
        }
        if !large {
            let words = ["-w", name, "-c", "1", "-t", "5", "--isolation", "repeatable-read"];
            let record = place.run(0, &[&words[..], &["--reset", "always"]].concat());
            assert!(audits(&record).iter().all(|(outcome, _)| outcome == "passed"), "{record}");
            assert_clean(&record, &format!("{name} after a reset"));
        }
    }
    server.stop().unwrap();
}

/// On PostgreSQL 18 every workload is audited clean by the protocols that are
/// not the default.
#[test]
fn every_workload_by_the_other_protocols() {
    let server = server(bin("PGDYNO_TEST_PG18_BIN"));
    let place = Place::of(&server);
    for (name, own_tables) in chosen(ROWS_TWICE_MAX) {
        if own_tables {
            place.init(&["-w", name, "-s", "2"]);
        }
        for protocol in ["simple", "extended"] {
            let words = ["-w", name, "-c", "4", "-t", "15", "--max-tries", TRIES];
            // A level that loses no update, which would be there for the next run.
            let level = ["--isolation", "repeatable-read"];
            let record = place.run(0, &[&words[..], &level, &["-M", protocol]].concat());
            assert_clean(&record, &format!("{name}, {protocol}"));
        }
    }
    server.stop().unwrap();
}

/// On PostgreSQL 18 as well TPC-C's conditions hold after its own statements,
/// by each protocol, and after its routines in the server; a reset loads the
/// same rows again.
#[test]
fn tpcc_on_postgres_18() {
    let server = server(bin("PGDYNO_TEST_PG18_BIN"));
    let place = Place::of(&server);
    place.init(&["-w", "tpcc", "-s", "1", "--param", "procs=1", "--seed", "7"]);
    let context = ConnectContext::new(&server.options_unix()).unwrap();
    let mut session = Connection::connect(&context).unwrap();
    let mut items = || {
        let sql = "SELECT sum(hashtext(i_name || i_data)::bigint) FROM item";
        session.query_one_i64(sql).unwrap()
    };
    let loaded = items();
    let base = ["-w", "tpcc", "-c", "4", "-t", "15", "--max-tries", TRIES];
    for words in [
        ["-M", "simple", "--isolation", "serializable", "--audit", "auto"],
        ["-M", "extended", "--isolation", "repeatable-read", "--audit", "auto"],
        ["-M", "prepared", "--isolation", "read-committed", "--audit", "auto"],
        // What large tables are joined for is asked once, after all of them.
        ["--param", "procs=1", "--isolation", "repeatable-read", "--audit", "full"],
    ] {
        let record = place.run(0, &[&base[..], &words].concat());
        assert_clean(&record, &format!("tpcc {words:?}"));
    }
    let words = ["--reset", "always", "--param", "procs=1"];
    let record = place.run(0, &[&base[..], &words].concat());
    assert_eq!(record["reset"]["how"], "reload");
    assert_eq!(items(), loaded);
    server.stop().unwrap();
}

/// Tables that are larger than expected are warned of: here by a server that
/// leaves nine tenths of each page free, whatever was asked for.
#[test]
fn unexpected_sizes_are_told() {
    let server = server(None);
    let place = Place::of(&server);
    let context = ConnectContext::new(&server.options_unix()).unwrap();
    let mut session = Connection::connect(&context).unwrap();
    for sql in [
        "CREATE FUNCTION thin() RETURNS event_trigger LANGUAGE plpgsql AS \
         $$BEGIN ALTER TABLE IF EXISTS pgdyno_update SET (fillfactor = 10); END$$",
        "CREATE EVENT TRIGGER thin ON ddl_command_end WHEN TAG IN ('CREATE TABLE') \
         EXECUTE FUNCTION thin()",
    ] {
        session.execute(sql).unwrap();
    }
    let (code, _, err) = place.pgdyno_aloud("init", &["-w", "update", "-s", "50"]);
    assert_eq!(code, 0, "{err}");
    let warned = "were expected (measured on PostgreSQL 15 and 18): off by more than 10 %";
    assert!(err.contains(warned), "{err}");
    server.stop().unwrap();
}

/// Within Aurora DSQL's rules every workload is made and audited clean, with
/// conflicts at commit tried again.
#[test]
fn every_workload_on_the_emulator() {
    let server = server(None);
    let emulator = Emulator::start(Config {
        listen: ([127, 0, 0, 1], 0).into(),
        upstream: server.options_unix(),
        encryption: Encryption::Off,
        passwords: Passwords::Any,
        limits: Limits::default(),
    })
    .unwrap();
    let place = Place::of_emulator(&emulator);
    for (name, own_tables) in chosen(ROWS_EMULATED_MAX) {
        if own_tables {
            place.init(&["-w", name, "-s", "1", "--jobs", "4"]);
        }
        let words = ["-w", name, "-c", "4", "-t", "15", "--max-tries", TRIES];
        assert_clean(&place.run(0, &words), name);
    }
    drop(emulator);
    server.stop().unwrap();
}

/// Parameters change what is run, and what is run stays clean.
#[test]
fn parameters_are_obeyed() {
    let server = server(None);
    let place = Place::of(&server);
    let base = ["-c", "4", "-t", "15", "--max-tries", TRIES];
    let run = |words: &str| {
        let words: Vec<&str> = words.split_whitespace().collect();
        let record = place.run(0, &[&base[..], &words].concat());
        assert_clean(&record, &words.join(" "));
        record
    };
    let count = |record: &Value| record["statements"].as_array().unwrap().len();
    place.init(&["-s", "2"]);
    run("-w tpcb-sharded --param local=0");
    run("-w tpcb-sharded --param local=100");
    run("-w tpcb-single-statement --param branch=account");
    let without = count(&run("-w tpcb-no-aggregates"));
    assert_eq!(count(&run("-w tpcb-no-aggregates --param reads=yes")), without + 2);
    let mixed = run("-w mixed --param select=0 --param tpcb=0 --param insert=1 --param update=1");
    let kinds = mixed["transactions"].as_array().unwrap();
    let committed: Vec<bool> =
        kinds.iter().map(|kind| kind["counts"]["committed"].as_u64().unwrap() > 0).collect();
    assert_eq!(committed, [false, true, false, true]);
    for (workload, param, indexes) in [("update", "index=2", 3), ("insert", "indexes=3", 3)] {
        place.init(&["-w", workload, "--param", param]);
        // With other indexes than the tables have, it would be another run.
        let (code, _, err) = place.pgdyno("run", &["-w", workload, "-t", "1"]);
        assert!(code == 2 && err.contains("of the secondary indexes instead"), "{code}: {err}");
        assert!(err.contains(&format!("(--param {param} is for these)")), "{err}");
        run(&format!("-w {workload} --param {param}"));
        let context = ConnectContext::new(&server.options_unix()).unwrap();
        let mut session = Connection::connect(&context).unwrap();
        let sql = format!("SELECT count(*) FROM pg_indexes WHERE tablename = 'pgdyno_{workload}'");
        assert_eq!(session.query_one_i64(&sql).unwrap(), indexes, "{workload}");
    }
    place.init(&["-w", "transfer"]);
    let locked = run("-w transfer --param lock=for-update --isolation read-committed");
    assert!(audits(&locked).iter().all(|(outcome, _)| outcome == "passed"), "{locked}");
    server.stop().unwrap();
}

/// The folder of published scripts.
fn scripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans/scripts");
    let mut all: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "sql"))
        .collect();
    all.sort();
    all
}

/// Every script of a published experiment runs; the mended ones find all their
/// rows, and those as published are told for what they are.
#[test]
fn published_scripts_run() {
    let server = server(None);
    let place = Place::of(&server);
    place.init(&["-s", "5"]);
    place.init(&["-w", "update"]);
    let all = scripts();
    assert!(all.len() >= 10, "{all:?}");
    for path in all {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let words = ["-f", path.to_str().unwrap(), "-s", "5", "-c", "2", "-t", "100"];
        let as_published = name.ends_with("-as-published");
        let code = if as_published { 2 } else { 0 };
        let record = place.run(code, &[&words[..], &["--strict"]].concat());
        let idle = record["statements"]
            .as_array()
            .unwrap()
            .iter()
            .any(|one| one["short"].as_u64().unwrap_or(0) > 50);
        assert_eq!(idle, as_published, "{name}: {}", record["statements"]);
    }
    server.stop().unwrap();
}

/// What `workloads show` prints is what runs, without connecting: for every
/// workload, each on another kind of database.
#[test]
fn show_prints_what_runs() {
    let show = |words: &[&str]| {
        let output = Command::cargo_bin("pgdyno")
            .unwrap()
            .args(["-q", "workloads"])
            .args(words)
            .output()
            .unwrap();
        assert!(output.status.success(), "{words:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let list = show(&[]);
    // What init takes is shown as well: parameters of the target's tables, too.
    let cut = show(&["show", "tpcb", "--dialect", "postgres", "--param", "partitions=2"]);
    assert!(cut.contains("PARTITION BY"), "{cut}");
    for (entry, dialect) in workloads().iter().zip(dialects().iter().cycle()) {
        assert!(list.contains(&format!("{}\n", entry.name)), "{}", entry.name);
        let workload = make(&Choice { name: entry.name, scale: 3, params: &[] }).unwrap();
        if workload.check(*dialect).is_err() {
            continue;
        }
        let words = ["show", entry.name, "--dialect", dialect.name(), "-s", "3"];
        let text = show(&words);
        for sql in workload.create_statements(*dialect) {
            assert!(text.contains(&format!("\n{sql};\n")), "{}: {sql}", entry.name);
        }
        assert!(text.contains(&format!("\n{};\n", workload.audit_query(*dialect))));
        let json: Value = serde_json::from_str(&show(&[&words[..], &["--json"]].concat())).unwrap();
        assert_eq!(json["workload"], entry.name);
        let kinds = workload.transactions().len();
        assert_eq!(json["transactions"].as_array().unwrap().len(), kinds);
    }
    let listed: Value = serde_json::from_str(&show(&["--json"])).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), workloads().len());
}
