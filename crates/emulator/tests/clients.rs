//! What clients meet: encryption, passwords, settings, jobs, the real pgbench.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::process::{Command, Output};
use std::time::{Duration, Instant};

use pgdyno_emulator::{Limits, Passwords};
use pgdyno_wire::options::{SslMode, SslNegotiation};
use pgdyno_wire::secret::Secret;
use support::{Place, connect, token};

fn tool(place: &Place, name: &str, args: &[&str]) -> Output {
    let certificate = place.emulator.certificate().unwrap().to_owned();
    let port = place.emulator.address().port();
    let target = format!("host=localhost port={port} user=admin dbname=postgres");
    Command::new(place.server.installation().bin_dir.join(name))
        .env("PGSSLMODE", "verify-full")
        .env("PGSSLROOTCERT", certificate)
        .env("PGPASSWORD", token("DbConnectAdmin", 900))
        .args(args)
        .arg(target)
        .output()
        .unwrap()
}

/// `pgbench -i` stops at the fillfactor, as published.
#[test]
fn pgbench_initialisation_fails_as_published() {
    let place = Place::start();
    let output = tool(&place, "pgbench", &["-i"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(said.contains("WITH clause not supported for CREATE TABLE"), "{said}");
}

/// With tables made by hand, pgbench's own transactions run in all protocols,
/// and under one hot row most of them fail with a serialization failure while
/// the balances stay right.
#[test]
fn pgbench_runs() {
    let place = Place::start();
    let mut connection = place.connect().unwrap();
    for sql in [
        "CREATE TABLE pgbench_branches (bid int PRIMARY KEY, bbalance int, filler char(88))",
        "CREATE TABLE pgbench_tellers (tid int PRIMARY KEY, bid int, tbalance int, filler char(84))",
        "CREATE TABLE pgbench_accounts (aid int PRIMARY KEY, bid int, abalance int, filler char(84))",
        "CREATE TABLE pgbench_history (tid int, bid int, aid int, delta int, mtime timestamp, filler char(22))",
        "INSERT INTO pgbench_branches VALUES (1, 0)",
        "INSERT INTO pgbench_tellers SELECT n, 1, 0 FROM generate_series(1, 10) n",
    ] {
        connection.execute(sql).unwrap();
    }
    for from in (1..100_000).step_by(2500) {
        let to = from + 2499;
        connection
            .execute(&format!(
                "INSERT INTO pgbench_accounts SELECT n, 1, 0 FROM generate_series({from}, {to}) n"
            ))
            .unwrap();
    }
    for protocol in ["simple", "extended", "prepared"] {
        let output = tool(&place, "pgbench", &["-n", "-c", "8", "-t", "10", "-M", protocol]);
        let out = String::from_utf8_lossy(&output.stdout);
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{protocol}: {out}{err}");
        let failed = out.lines().find_map(|line| {
            line.strip_prefix("number of failed transactions: ")?.split(' ').next()?.parse().ok()
        });
        let failed: u32 = failed.unwrap_or_else(|| panic!("{out}"));
        assert!(failed > 0, "one hot row and no conflict: {out}");
    }
    let retried = tool(&place, "pgbench", &["-n", "-c", "4", "-t", "10", "--max-tries", "1000"]);
    let out = String::from_utf8_lossy(&retried.stdout);
    assert!(out.contains("number of transactions actually processed: 40/40"), "{out}");
    let sums = "SELECT (SELECT sum(bbalance) FROM pgbench_branches) = sum(delta) \
                AND (SELECT sum(abalance) FROM pgbench_accounts) = sum(delta) \
                AND (SELECT sum(tbalance) FROM pgbench_tellers) = sum(delta) FROM pgbench_history";
    assert_eq!(connection.query_one_text(sums).unwrap().as_deref(), Some("t"));
}

/// Without TLS, without a name in it, without a token, with another user's or
/// an old one, to another database, or with a setting that cannot be set: no
/// connection.
#[test]
fn refused_connections() {
    let place = Place::start();
    let good = place.options();
    connect(&good).unwrap();
    let refusal = |change: &dyn Fn(&mut pgdyno_wire::options::Options)| {
        let mut options = good.clone();
        change(&mut options);
        connect(&options).err().map(|error| error.to_string()).unwrap_or_default()
    };
    let with_password = |password: String| {
        refusal(&|options| options.hosts[0].password = Some(Secret::new(password.clone())))
    };
    for (said, words) in [
        (refusal(&|options| options.ssl.mode = SslMode::Disable), "TLS is required"),
        (refusal(&|options| options.ssl.no_sni = true), "sni was not received"),
        (with_password("secret".into()), "unable to accept connection, access denied"),
        (with_password(token("DbConnect", 900)), "access denied"),
        (with_password(token("DbConnectAdmin", -1)), "Signature expired"),
        (refusal(&|options| options.dbname = "other".into()), "database \"other\" does not exist"),
        (
            refusal(&|options| options.server_options = Some("-c statement_timeout=1".into())),
            "setting configuration parameter \"statement_timeout\" not supported",
        ),
    ] {
        assert!(said.contains(words), "{words:?} is not in {said:?}");
    }
    let mut options = good;
    options.server_options = Some("-c search_path=elsewhere".into());
    let mut connection = connect(&options).unwrap();
    let path = connection.query_one_text("SHOW search_path").unwrap();
    assert_eq!(path.as_deref(), Some("elsewhere"));
    assert_eq!(connection.server_version(), "16.15");
    assert_eq!(connection.parameter("TimeZone"), Some("UTC"));
    options.ssl.negotiation = SslNegotiation::Direct;
    connect(&options).unwrap().execute("SELECT 1").unwrap();
}

/// A statement can be cancelled, a message above the limit ends the session
/// without a word, and the end of the emulator waits for no statement.
#[test]
fn endings() {
    let place = Place::start();
    let mut connection = place.connect().unwrap();
    connection.set_timeout(Some(Duration::from_millis(300)));
    assert!(connection.execute("SELECT pg_sleep(600)").unwrap_err().is_timeout());
    connection.set_timeout(None);
    connection.execute("SELECT 1").unwrap();
    let mut other = place.connect().unwrap();
    let sleeper = std::thread::spawn(move || other.execute("SELECT pg_sleep(600)").map(drop));
    let long = format!("SELECT '{}'", "x".repeat(11 << 20));
    let error = connection.execute(&long).unwrap_err();
    assert!(error.is_connection_lost() && error.server().is_none(), "{error}");
    let begin = Instant::now();
    drop(place);
    assert!(begin.elapsed() < Duration::from_secs(60));
    assert!(sleeper.join().unwrap().unwrap_err().is_connection_lost());
}

/// Connections above the rate and above the number are told so.
#[test]
fn connection_limits() {
    let limits = Limits {
        connections_max: 2,
        connections_per_second: Some(1),
        connections_burst: 3,
        ..Limits::default()
    };
    let place = Place::with(limits, Passwords::Any);
    let _first = place.connect().unwrap();
    let _second = place.connect().unwrap();
    let third = place.connect().unwrap_err();
    assert_eq!(third.sqlstate().unwrap().as_str(), "53300", "{third}");
    let begin = Instant::now();
    let fourth = place.connect().unwrap_err();
    if begin.elapsed() < Duration::from_millis(500) {
        assert_eq!(fourth.sqlstate().unwrap().as_str(), "53400", "{fourth}");
    }
}

/// An index is built by a job that can be seen and waited for, in both
/// protocols.
#[test]
fn index_jobs() {
    let place = Place::start();
    let mut connection = place.connect().unwrap();
    connection.execute("CREATE TABLE t (a int, b int)").unwrap();
    let first = connection.simple_query("CREATE INDEX ASYNC i ON t (a)").unwrap();
    let second = connection.query_params("CREATE INDEX ASYNC ON t (b)", &[]).unwrap();
    assert_eq!(second.columns, ["job_id"]);
    let ids = [first[0].get(0, 0).unwrap(), second.get(0, 0).unwrap()];
    assert!(ids.iter().all(|id| id.len() == 26), "{ids:?}");
    let status = |connection: &mut pgdyno_wire::Connection| {
        let sql = format!("SELECT status FROM sys.jobs WHERE job_id = '{}'", ids[1]);
        connection.query_one_text(&sql).unwrap()
    };
    assert!(status(&mut connection).is_some());
    connection.execute(&format!("CALL sys.wait_for_job('{}')", ids[1])).unwrap();
    assert_eq!(status(&mut connection).as_deref(), Some("completed"));
    // Duplicates fail the job, not the statement.
    connection.execute("INSERT INTO t VALUES (1, 1), (1, 1)").unwrap();
    let failing = connection.simple_query("CREATE UNIQUE INDEX ASYNC u ON t (a)").unwrap();
    let id = failing[0].get(0, 0).unwrap().to_owned();
    connection.execute(&format!("CALL sys.wait_for_job('{id}')")).unwrap();
    let details = format!("SELECT status || ': ' || details FROM sys.jobs WHERE job_id = '{id}'");
    assert_eq!(
        connection.query_one_text(&details).unwrap().as_deref(),
        Some("failed: Found duplicate key while validating index for UCVs")
    );
    assert_eq!(connection.query_one_i64("SELECT sys.dsql_major_version()").unwrap(), 1);
}
