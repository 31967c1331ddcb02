//! What goes wrong is told once, with the place, the server's words and its
//! code, and what was measured before is kept.

use std::net::TcpListener;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::support::authority::Valid;
use crate::support::record::{count, ended, reasons};
use crate::support::server::{Wanted, signal};
use crate::support::{Outcome, Room, Server};

/// A server of a test's own that may be killed.
fn victim(tls: Option<Valid>) -> Server {
    Server::start(Wanted { tls, max_connections: 12 })
}

/// Runs one transaction against a target that is wrong in some way.
fn attempt(room: &Room, password: &str, target: &str) -> Outcome {
    room.run_with(&[("PGPASSWORD", password)], &["run", target, "-c", "1", "-t", "1"])
}

/// What clients of a server learn that is killed whole. A backend may see that its
/// postmaster is gone before it is killed itself, and then says so before it hangs up.
pub(crate) const KILLED: [&str; 2] =
    ["unexpected postmaster exit", "closed the connection unexpectedly"];

/// One error that holds all of `words`, exit code 2, nothing on standard
/// output, and no record, because nothing was measured.
fn assert_refused(room: &Room, outcome: &Outcome, words: &[&str]) {
    assert_eq!(outcome.code(), 2, "{outcome:?}");
    let error = outcome.one_error();
    for word in words {
        assert!(error.contains(word), "not said: {word:?} in {error}");
    }
    assert_eq!(outcome.out, "");
    assert!(room.records().is_empty());
}

/// A wrong password is told in the server's words, with host, port and
/// SQLSTATE, and appears nowhere itself.
#[test]
fn wrong_password() {
    let server = Server::shared();
    let room = Room::with_secret("not-the-password");
    let target = format!("postgresql://{}@127.0.0.1:{}/postgres", server.user(), server.port());
    let place = format!("\"127.0.0.1\", port {}", server.port());
    let words =
        [&*place, "FATAL:", "password authentication failed for user", "SQLSTATE: 28P01", "hint:"];
    assert_refused(&room, &attempt(&room, "not-the-password", &target), &words);
    // Typed into the URI, into keywords, and into init.
    let typed = target.replace('@', ":not-the-password@");
    assert_refused(&room, &room.run(&["run", &typed, "-t", "1"]), &words);
    assert_refused(&room, &room.run(&["init", &typed]), &words);
    let keywords = format!(
        "host=127.0.0.1 port={} user={} password=not-the-password dbname=postgres",
        server.port(),
        server.user()
    );
    assert_refused(&room, &room.run(&["run", &keywords, "-t", "1"]), &words);
}

/// A database that does not exist is named.
#[test]
fn unknown_database() {
    let server = Server::shared();
    let room = server.room();
    let target = format!("postgresql://{}@localhost:{}/nowhere", server.user(), server.port());
    let place = format!("port {}", server.port());
    let words = ["localhost", &place, "database \"nowhere\" does not exist", "SQLSTATE: 3D000"];
    assert_refused(&room, &attempt(&room, &server.password(), &target), &words);
}

/// Where nobody listens, host and port are named.
#[test]
fn refused_connection() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let room = Room::new();
    let place = format!("\"127.0.0.1\", port {port}");
    let target = format!("host=127.0.0.1 port={port} user=u");
    assert_refused(&room, &attempt(&room, "", &target), &[&place, "Connection refused"]);
    let socket = format!("host={} port=5432 user=u", room.path().display());
    assert_refused(&room, &attempt(&room, "", &socket), &[".s.PGSQL.5432", "No such file"]);
}

/// A certificate that has expired is refused as that.
#[test]
fn expired_certificate() {
    let server = victim(Some(Valid::NoMore));
    if !server.has_tls() {
        return;
    }
    let room = server.room();
    let target = format!(
        "host=localhost hostaddr=127.0.0.1 port={} user={} dbname=postgres sslmode=verify-full \
         sslrootcert={}",
        server.port(),
        server.user(),
        server.root().display()
    );
    let place = format!("port {}", server.port());
    let words = ["localhost", &place, "certificate", "expired"];
    assert_refused(&room, &attempt(&room, &server.password(), &target), &words);
}

/// TLS that is demanded and absent, and more clients than the server takes,
/// are told as that.
#[test]
fn no_tls_and_too_many_clients() {
    let server = victim(None);
    let room = server.room();
    let database = server.empty();
    database.init(1);
    let target = database.uri_tcp();
    let place = format!("\"127.0.0.1\", port {}", server.port());
    let demanding = format!("{target}?sslmode=require");
    let words = [&*place, "server does not support SSL, but SSL was required"];
    assert_refused(&room, &attempt(&room, &server.password(), &demanding), &words);
    let args = ["run", &target, "-c", "40", "-t", "1"];
    let crowd = room.run_with(&[("PGPASSWORD", &server.password())], &args);
    let words = [&*place, "FATAL:", "too many clients already", "SQLSTATE: 53300", "hint:"];
    assert_refused(&room, &crowd, &words);
}

/// A server that dies under a load is told with host, port and its words.
#[test]
fn killed_during_the_load() {
    let server = victim(None);
    let room = server.room();
    let target = format!("postgresql://{}@127.0.0.1:{}/postgres", server.user(), server.port());
    let mut command = room.command(&["init", &target, "-s", "300", "-j", "2"]);
    command.env("PGPASSWORD", server.password());
    let mut init = room.start(command);
    init.wait_for("Loading", 1);
    // Until rows are under way.
    while server.sql("postgres", COPYING).is_empty() {
        assert!(!init.ends_within(std::time::Duration::from_millis(10)), "{}", init.err());
    }
    signal(&server.pids(), Signal::SIGKILL);
    let outcome = init.finish();
    let place = format!("port {}", server.port());
    assert_refused(&room, &outcome, &["127.0.0.1", &place]);
    let error = outcome.one_error();
    assert!(KILLED.iter().any(|words| error.contains(words)), "{error}");
}

/// Finds a row once rows are being copied.
const COPYING: &str = "select 1 from pg_stat_progress_copy where tuples_processed > 0";

/// What the record must say of a run that the server has ended: aborted, with
/// a reason, with everything that was committed before.
fn assert_aborted(room: &Room, server: &Server, outcome: &Outcome, words: &[&str]) -> Value {
    assert_eq!(outcome.code(), 2, "{outcome:?}");
    let record = room.record();
    assert_eq!(ended(&record), "aborted");
    assert!(count(&record, "committed") > 0);
    let reasons = reasons(&record);
    assert!(reasons.contains(&format!("127.0.0.1:{}", server.port())), "{reasons}");
    for word in words {
        assert!(reasons.contains(word), "not said: {word:?} in {reasons}");
    }
    assert!(outcome.out.contains("aborted"), "{}", outcome.out);
    record
}

/// Runs for a long time, and does something to the server in the midst.
fn run_and(server: &Server, room: &Room, database: &str, deed: impl FnOnce()) -> Outcome {
    let target = format!("postgresql://{}@127.0.0.1:{}/{database}", server.user(), server.port());
    let mut command = room.command(&["run", &target, "-c", "4", "-T", "100"]);
    command.env("PGPASSWORD", server.password());
    let mut run = room.start(command);
    run.wait_for(" tps", 1);
    deed();
    run.finish()
}

/// A backend killed with -9, a postmaster killed with all its children, and
/// an immediate shutdown each end the run with the reason; the record holds
/// what was measured before.
#[test]
fn killed_during_the_run() {
    let server = victim(None);
    let database = server.empty();
    database.init(1);
    // One backend: the server starts over, and says so to the others.
    let room = server.room();
    let outcome = run_and(&server, &room, &database.name, || {
        let row = "select pid from pg_stat_activity where application_name = 'pgdyno' limit 1";
        let pid = database.value(row).parse().unwrap();
        signal(&[pid], Signal::SIGKILL);
    });
    assert_aborted(&room, &server, &outcome, &["57P02", "because of crash of another server"]);
    // It was waited for, and every acknowledged commit has survived.
    outcome.shows(&["3 of 3 passed"]);
    // The whole server, without a word.
    let room = server.room();
    let outcome = run_and(&server, &room, &database.name, || {
        signal(&server.pids(), Signal::SIGKILL);
    });
    let record = assert_aborted(&room, &server, &outcome, &[]);
    assert_eq!(record["ended"]["clients_aborted"], 4);
    // An end of the stream, a reset and a broken pipe are told alike.
    let ways = KILLED;
    let told = record["ended"]["reasons"].as_array().unwrap();
    let way = |reason: &serde_json::Value| {
        ways.iter().position(|words| reason.as_str().unwrap().contains(words))
    };
    let mut found: Vec<Option<usize>> = told.iter().map(way).collect();
    assert!(!found.is_empty() && found.iter().all(Option::is_some), "{told:?}");
    // Told once, not for each client.
    found.sort_unstable();
    found.dedup();
    assert_eq!(found.len(), told.len(), "{told:?}");
    outcome.shows(&["the tables after the run, could not be read"]);
}

/// An immediate shutdown ends the run with the server's own words.
#[test]
fn shut_down_during_the_run() {
    let server = victim(None);
    let database = server.empty();
    database.init(1);
    let room = server.room();
    let outcome = run_and(&server, &room, &database.name, || {
        signal(&[server.pid()], Signal::SIGQUIT);
    });
    assert_aborted(&room, &server, &outcome, &["57P01", "immediate shutdown"]);
}

/// One session that is ended by an administrator ends that client alone; the
/// others go on, and the record says that the run was not whole.
#[test]
fn one_client_lost() {
    let server = Server::shared();
    let database = server.loaded();
    let room = server.room();
    let target = database.uri_plain();
    let mut command = room.command(&["run", &target, "-c", "4", "-T", "2"]);
    command.env("PGPASSWORD", server.password());
    let mut run = room.start(command);
    run.wait_for(" tps", 1);
    database.sql(
        "select pg_terminate_backend(pid) from pg_stat_activity \
         where datname = current_database() and application_name = 'pgdyno' limit 1",
    );
    let outcome = run.finish();
    let words = ["57P01", "terminating connection due to administrator command"];
    let record = assert_aborted(&room, server, &outcome, &words);
    assert_eq!(record["ended"]["clients_aborted"], 1);
    // Nothing that was acknowledged is lost, and the audits show it.
    outcome.shows(&["3 of 3 passed"]);
}

/// A commit that the server acknowledged just before it ended the session is
/// committed, also where acknowledgement and farewell are read at once.
#[test]
fn an_acknowledged_commit_counts() {
    let server = Server::shared();
    let database = server.empty();
    // The commit itself takes a while.
    database.sql(
        "create table t (n int); \
         create function late() returns trigger language plpgsql as \
             $$ begin perform pg_sleep(0.7); return null; end $$; \
         create constraint trigger late after insert on t deferrable initially deferred \
             for each row execute function late()",
    );
    let room = server.room();
    room.write("commit.sql", "begin;\ninsert into t values (1);\nend;\n");
    let target = format!("{} options='-c idle_session_timeout=400'", database.keywords_unix());
    let mut command = room.command(&["run", &target, "-f", "commit.sql", "-c", "1", "-t", "9"]);
    command.env("PGPASSWORD", server.password());
    let mut run = room.start(command);
    run.wait_for("Running", 1);
    while database.sql("select 1 from pg_stat_activity where wait_event = 'PgSleep'").is_empty() {
        assert!(!run.ends_within(std::time::Duration::from_millis(10)), "{}", run.err());
    }
    // Nothing is read until the server has committed and hung up.
    run.signal(Signal::SIGSTOP);
    let session = "select 1 from pg_stat_activity \
                   where datname = current_database() and application_name = 'pgdyno'";
    while !database.sql(session).is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    run.signal(Signal::SIGCONT);
    let outcome = run.finish().exits(2);
    let record = room.record();
    assert_eq!(count(&record, "unknown"), 0);
    assert_eq!(count(&record, "committed").to_string(), database.value("select count(*) from t"));
    assert!(reasons(&record).contains("57P05"), "{outcome:?}");
}
