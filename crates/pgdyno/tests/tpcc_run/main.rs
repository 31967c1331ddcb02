//! TPC-C's run on real servers: undisturbed, with sessions that are ended,
//! with a server that crashes, and within Aurora DSQL's rules. One load serves
//! as many claims as it can.

#![allow(clippy::unwrap_used, reason = "a failing helper is a failing test")]
#![allow(clippy::print_stderr, reason = "what is skipped is told")]

mod disturbed;
mod failover;
mod full_speed;
mod outages;
mod reported;
mod side_by_side;

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use assert_cmd::Command;
use pgdyno_emulator::{Config, Emulator, Encryption, Limits, Passwords};
use pgdyno_engine::load::{LoadPlan, SilentLoad, load};
use pgdyno_target::{Dialect, EmbeddedConfig, EmbeddedServer, postgres};
use pgdyno_wire::options::Options;
use pgdyno_wire::{ConnectContext, Connection};
use pgdyno_workload::{Choice, Session, Workload, audit, make};

fn server() -> EmbeddedServer {
    server_of("PGDYNO_TEST_PG15_BIN")
}

fn server_of(variable: &str) -> EmbeddedServer {
    let bin_dir = std::env::var_os(variable).map(PathBuf::from);
    if bin_dir.is_none() {
        eprintln!("{variable} names no server: whatever is found is used");
    }
    let settings = [("shared_buffers", "128MB"), ("max_wal_size", "2GB")];
    let config = EmbeddedConfig {
        bin_dir,
        no_fsync: true,
        settings: settings.map(|(name, value)| (name.into(), value.into())).to_vec(),
        ..EmbeddedConfig::default()
    };
    EmbeddedServer::start(&config).unwrap()
}

fn tpcc(params: &[(&str, &str)]) -> Box<dyn Workload> {
    let params: Vec<(String, String)> =
        params.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    make(&Choice { name: "tpcc", scale: 1, params: &params }).unwrap()
}

fn fill(options: &Options, workload: &dyn Workload) {
    let plan = LoadPlan {
        workload,
        dialect: postgres(),
        endpoints: &[ConnectContext::new(options).unwrap()],
        jobs: NonZeroU32::new(2).unwrap(),
        seed: 7,
        method: None,
        resume: false,
    };
    load(&plan, &SilentLoad, &AtomicBool::new(false)).unwrap();
}

fn connect(options: &Options) -> Connection {
    let context: Arc<ConnectContext> = ConnectContext::new(options).unwrap();
    Connection::connect(&context).unwrap()
}

/// Names of the conditions that do not hold, of all.
fn violated(
    session: &mut dyn Session,
    workload: &dyn Workload,
    dialect: &dyn Dialect,
) -> Vec<&'static str> {
    audit::read_conditions(session, workload, dialect, true)
        .unwrap()
        .into_iter()
        .filter(|(_, violations)| *violations != 0)
        .map(|(condition, _)| condition.name)
        .collect()
}

/// Runs pgdyno with a password; gives its exit code, standard output and standard error.
fn pgdyno(folder: &Path, uri: &str, password: &str, words: &str) -> (i32, String, String) {
    let (command, rest) = words.split_once(' ').unwrap_or((words, ""));
    let output = Command::cargo_bin("pgdyno")
        .unwrap()
        .current_dir(folder)
        .args([command, uri])
        .args(rest.split_whitespace())
        .env("PGPASSWORD", password)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// There are audits, and all passed.
fn audits_passed(record: &serde_json::Value) {
    let audits = record["audits"].as_array().unwrap();
    assert!(!audits.is_empty());
    for audit in audits {
        assert_eq!(audit["outcome"], "passed", "{audit}");
    }
}

/// One load on PostgreSQL: full speed; what is reported of a run; then assertions 23 and
/// 25: conflicts, ended sessions, a crash and a restart leave every acknowledged order,
/// all conditions and the accounting in order.
#[test]
fn a23_a24_a25_runs_on_postgres() {
    let server = server();
    let workload = tpcc(&[("procs", "1")]);
    fill(&server.options_unix(), &*workload);
    // Looked at, so that all rules are asked, also what needs the load's seed.
    let mut session = connect(&server.options_unix());
    workload.probe(&mut session, "").unwrap();
    let rules = workload.conditions(postgres());
    assert!(rules.iter().any(|rule| rule.name == "tpcc stock since the load"));
    drop(session);
    full_speed::conditions_hold(&server, &*workload);
    reported::what_a_run_says(&server);
    side_by_side::forms_do_not_deadlock(&server, &*workload);
    disturbed::by_ended_sessions(&server, &*workload);
    disturbed::by_a_crash(&server, &*workload);
    failover::by_a_failover(&server, &*workload);
    server.stop().unwrap();
}

/// The stand-in for Aurora DSQL: the client's form, conflicts tried again,
/// audits clean.
#[test]
fn conflicts_of_the_emulator_are_tried_again() {
    let server = server();
    let emulator = Emulator::start(Config {
        listen: ([127, 0, 0, 1], 0).into(),
        upstream: server.options_unix(),
        encryption: Encryption::Off,
        passwords: Passwords::Any,
        limits: Limits::default(),
    })
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let port = emulator.address().port();
    let uri = format!("postgresql://admin@127.0.0.1:{port}/postgres?sslmode=disable");
    for words in [
        "init --workload tpcc --scale 1 --jobs 2",
        "run --workload tpcc -c 4 -t 60 --max-tries 1000 --json run.json",
        "audit --workload tpcc",
    ] {
        let (code, out, err) = pgdyno(folder.path(), &uri, "any", words);
        assert_eq!(code, 0, "{words}\n{out}\n{err}");
        if words.starts_with("run") {
            let text = std::fs::read_to_string(folder.path().join("run.json")).unwrap();
            let record: serde_json::Value = serde_json::from_str(&text).unwrap();
            let counts = &record["totals"]["counts"];
            assert!(counts["retries"].as_u64().unwrap() > 0, "{counts}");
            assert_eq!(counts["failed"], 0, "{counts}");
            audits_passed(&record);
        }
        if words.starts_with("audit") {
            assert!(out.contains("hold") && !out.contains("FAILED"), "{out}");
        }
    }
    drop(emulator);
    server.stop().unwrap();
}
