//! `init`, `detect` and `run` on the stand-in for Aurora DSQL.

#![allow(clippy::unwrap_used, reason = "a failing helper is a failing test")]

use std::path::Path;
use std::time::Duration;

use assert_cmd::Command;
use pgdyno_emulator::{Config, Emulator, Encryption, Limits, Passwords};
use pgdyno_target::{EmbeddedConfig, EmbeddedServer};

/// In this order: the emulator's sessions end before their server.
struct Place {
    emulator: Emulator,
    server: EmbeddedServer,
}

impl Place {
    fn start() -> Self {
        Self::with(Limits::default())
    }

    fn with(limits: Limits) -> Self {
        let server = EmbeddedServer::start(&EmbeddedConfig {
            no_fsync: true,
            settings: vec![("shared_buffers".into(), "32MB".into())],
            ..EmbeddedConfig::default()
        })
        .unwrap();
        Self { emulator: emulator(&server, limits), server }
    }

    /// Another emulator before the same server.
    fn renew(&mut self, limits: Limits) {
        self.emulator = emulator(&self.server, limits);
    }

    /// Runs pgdyno with a subcommand on the emulator; gives its exit code,
    /// standard output and standard error.
    fn pgdyno(&self, folder: &Path, words: &str, options: Option<&str>) -> (i32, String, String) {
        let port = self.emulator.address().port();
        let (command, rest) = words.split_once(' ').unwrap_or((words, ""));
        let mut pgdyno = Command::cargo_bin("pgdyno").unwrap();
        pgdyno
            .current_dir(folder)
            .args([
                command,
                &format!("postgresql://admin@127.0.0.1:{port}/postgres?sslmode=disable"),
            ])
            .args(rest.split_whitespace())
            .env("PGPASSWORD", "x")
            .env_remove("PGOPTIONS");
        if let Some(options) = options {
            pgdyno.env("PGOPTIONS", options);
        }
        let output = pgdyno.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
    }
}

fn emulator(server: &EmbeddedServer, limits: Limits) -> Emulator {
    Emulator::start(Config {
        listen: ([127, 0, 0, 1], 0).into(),
        upstream: server.options_unix(),
        encryption: Encryption::Off,
        passwords: Passwords::Any,
        limits,
    })
    .unwrap()
}

/// Tables are made and filled within DSQL's rules; a run with retries keeps its
/// audits clean, also when the level is asked for, and starts anew on request.
#[test]
fn init_and_run() {
    let place = Place::start();
    let folder = tempfile::tempdir().unwrap();
    for words in [
        "init --scale 2",
        "init --scale 1 --load-method insert --jobs 3",
        "run -c 8 -t 20 --max-tries 50 --isolation repeatable-read",
        "run -c 4 -t 20 --max-tries 50 --reset",
        "run -c 4 -t 20 --max-tries 50 --param branch=account",
    ] {
        let (code, out, err) = place.pgdyno(folder.path(), words, None);
        assert_eq!(code, 0, "{words}\n{out}\n{err}");
        if words.starts_with("run") {
            assert!(out.contains("3 of 3 passed"), "{words}\n{out}");
        }
    }
}

/// The server is known for what it is without a word from the person.
#[test]
fn detect_tells_what_it_is() {
    let place = Place::start();
    let folder = tempfile::tempdir().unwrap();
    let (code, out, err) = place.pgdyno(folder.path(), "detect", None);
    assert_eq!(code, 0, "{err}");
    for part in ["Amazon Aurora DSQL (aurora-dsql)", "sys.dsql_major_version", "3000 rows"] {
        assert!(out.contains(part), "{part}: {out}");
    }
    let (_, out, _) = place.pgdyno(folder.path(), "detect --json", None);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["dialect"], "aurora-dsql");
    assert_eq!(json["isolation_in_effect"], "repeatable read");
    assert_eq!(json["recognised"], true);
    assert!(json["differences"].as_array().unwrap().len() > 5);
}

/// What the server would end the connection for is refused before connecting,
/// or told with the way out.
#[test]
fn forbidden_wishes_are_refused() {
    let place = Place::start();
    let folder = tempfile::tempdir().unwrap();
    let (code, _, err) = place.pgdyno(folder.path(), "run -t 1 --isolation serializable", None);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("repeatable read"), "{err}");
    let options = Some("-c statement_timeout=5s");
    let (code, _, err) = place.pgdyno(folder.path(), "run -t 1 --dialect dsql", options);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("\"statement_timeout\"") && err.contains("search_path"), "{err}");
}

/// With one branch, 32 clients and one try most transactions fail; the summary
/// and the record say why, by DSQL's own code, and what to change.
///
/// Those that succeed all change the one branch, each in a snapshot that knows
/// the one before: they follow each other, while 32 are under way at a time.
/// With answers that take their time a transaction takes as long on a fast
/// machine as on a slow one, and so the share of those that fail is the same.
#[test]
fn a_hot_row_is_named() {
    let mut place = Place::start();
    let folder = tempfile::tempdir().unwrap();
    let (code, out, err) = place.pgdyno(folder.path(), "init --scale 1", None);
    assert_eq!(code, 0, "{out}\n{err}");
    place.renew(Limits { round_trip: Duration::from_millis(20), ..Limits::default() });
    let words = "run -c 32 -j 2 -t 6 --json out.json";
    let (_, out, err) = place.pgdyno(folder.path(), words, None);
    let page = out.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["OC000: another transaction", "at COMMIT", "32 clients at scale 1", "hot rows"] {
        assert!(page.contains(part), "{part}: {out}\n{err}");
    }
    for part in ["--scale 160", "--max-tries 10", "in failed tries"] {
        assert!(page.contains(part), "{part}: {out}\n{err}");
    }
    let text = std::fs::read_to_string(folder.path().join("out.json")).unwrap();
    let record: serde_json::Value = serde_json::from_str(&text).unwrap();
    let conflicts = &record["totals"]["conflicts"][0];
    let count = |name: &str| record["totals"]["counts"][name].as_u64().unwrap();
    let (committed, failed) = (count("committed"), count("failed"));
    assert_eq!(committed + failed, 32 * 6);
    assert!(failed > committed, "{committed} of 192 were committed");
    assert_eq!((&conflicts["kind"], &conflicts["mark"]), (&"conflict".into(), &"OC000".into()));
    // Most are heard of at COMMIT; a statement whose repetition collides hears
    // of it earlier.
    let at_commit = conflicts["at_commit"].as_u64().unwrap();
    assert!(at_commit > 0 && at_commit <= failed, "{conflicts}, {failed} failed");
    assert!(record["totals"]["counts"]["lost_us_sum"].as_u64() > Some(0));
}

/// Where new connections are limited and sessions end at an age, a run that
/// keeps to both is neither refused nor cut off: its clients wait for their
/// turn and leave their sessions in time, and the audits are clean.
#[test]
fn limits_of_connections_are_kept() {
    let place = Place::with(Limits {
        connections_per_second: Some(20),
        // Twice what the clients take at once, for the sessions of the audits.
        connections_burst: 16,
        session_age_max: Duration::from_secs(8),
        ..Limits::default()
    });
    let folder = tempfile::tempdir().unwrap();
    let (code, out, err) = place.pgdyno(folder.path(), "init --scale 2", None);
    assert_eq!(code, 0, "{out}\n{err}");
    // Younger than the server allows by far: a stalled machine fails no test.
    let words = "run -c 12 -j 2 -T 9 --max-tries 10 --retry-backoff 1ms..50ms --session-age 2s \
                 --connect-rate 18/4 --json out.json";
    let (code, out, err) = place.pgdyno(folder.path(), words, None);
    assert_eq!(code, 0, "{out}\n{err}");
    let text = std::fs::read_to_string(folder.path().join("out.json")).unwrap();
    let record: serde_json::Value = serde_json::from_str(&text).unwrap();
    let connections = &record["connections"];
    assert_eq!((&connections["lost"], &connections["failed"]), (&0.into(), &0.into()));
    assert!(connections["renewed"].as_u64() > Some(0), "{connections}");
    let counts = &record["totals"]["counts"];
    assert_eq!(counts["failed"], counts["failed_serialization"], "{counts}");
    assert_eq!(counts["unknown"], 0);
    assert!(out.contains("3 of 3 passed") && out.contains("renewed before"), "{out}");
}
