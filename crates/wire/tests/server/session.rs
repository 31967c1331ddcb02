//! A session at work: results, errors, cancelling, interruptions, endings.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pgdyno_wire::SqlState;
use pgdyno_wire::backend::{CommandKind, TransactionStatus};
use pgdyno_wire::client::{Batch, Connection};

use crate::common::{Server, connect, pg_bin};

/// Results of the simple and the extended protocol agree, NULL, empty text and
/// several statements included.
#[test]
fn queries() {
    let server = Server::trusting();
    let mut session = server.connect();
    let results = session
        .simple_query("select 1 as a, null as b, '' as c; ; create table t (i int); insert into t values (1), (2)")
        .unwrap();
    assert_eq!(results[0].columns, ["a", "b", "c"]);
    assert_eq!(results[0].rows, [[Some("1".to_owned()), None, Some(String::new())]]);
    let tag = results.last().unwrap().tag.unwrap();
    assert_eq!((tag.kind, tag.rows), (CommandKind::Insert, Some(2)));
    assert_eq!(session.query_one_i64("select count(*) from t").unwrap(), 2);
    assert_eq!(session.execute("").unwrap(), None);

    let result = session.query_params("select $1::int + 1, $2::text", &[Some("41"), None]).unwrap();
    assert_eq!((result.get(0, 0), result.get(0, 1)), (Some("42"), None));
    session.prepare("ins", "insert into t values ($1)").unwrap();
    let result = session.execute_prepared("ins", &[Some("3")]).unwrap();
    assert_eq!(result.tag.unwrap().rows, Some(1));

    session.execute("begin").unwrap();
    assert_eq!(session.transaction_status(), TransactionStatus::InTransaction);
    assert!(session.execute("select 1/0").is_err());
    assert_eq!(session.transaction_status(), TransactionStatus::Failed);
    session.execute("rollback").unwrap();
    assert_eq!(session.transaction_status(), TransactionStatus::Idle);

    let words = session.query_one_i64("select 'x'").unwrap_err().to_string();
    assert!(words.contains("a whole number was expected, and \"x\" came"), "{words}");
    assert!(session.query_one_text("select 1 where false").is_err());
    session.execute("do $$ begin raise notice 'hello'; end $$").unwrap();
    let notices: Vec<String> = session.take_notices().iter().map(ToString::to_string).collect();
    assert_eq!(notices, ["NOTICE:  hello"]);
    session.execute("set application_name = 'renamed'").unwrap();
    assert_eq!(session.parameter("application_name"), Some("renamed"));
}

/// A batch is one transaction, is not limited by the sockets' buffers, and
/// fails as a whole.
#[test]
fn batches() {
    let server = Server::trusting();
    let mut session = server.connect();
    session.execute("create table t (i int primary key)").unwrap();
    let mut batch = Batch::new();
    let long = "x".repeat(2000);
    for i in 0..5000 {
        batch.query("insert into t values ($1)", &[Some(&i.to_string())]).unwrap();
        // Fills the way back, too: who only sent would wait for ever.
        batch.query("select $1::text", &[Some(&long)]).unwrap();
    }
    assert_eq!(session.run_batch(&batch).unwrap().len(), batch.len());
    assert_eq!(session.query_one_i64("select count(*) from t").unwrap(), 5000);
    let mut batch = Batch::new();
    batch.query("insert into t values (9999)", &[]).unwrap();
    batch.query("insert into t values (1)", &[]).unwrap();
    let error = session.run_batch(&batch).unwrap_err();
    assert_eq!(error.sqlstate(), Some(SqlState::UNIQUE_VIOLATION));
    assert_eq!(session.query_one_i64("select count(*) from t").unwrap(), 5000);
}

/// Errors print exactly as psql, that is libpq, prints them.
#[test]
fn errors_print_as_in_psql() {
    let server = Server::trusting();
    let mut session = server.connect();
    session
        .simple_query(
            "create table t (i int primary key); insert into t values (1);
             create function f() returns int language plpgsql as 'begin return 1/0; end';
             create function g() returns int language plpgsql as 'begin execute ''selec 1''; end'",
        )
        .unwrap();
    let long = "a".repeat(70);
    for sql in [
        "selec 1",
        "select 1,\n\tnothing\nfrom t",
        "insert into t values (1)",
        "select f()",
        "select g()",
        "select count(ii) from t",
        &format!("select '{long}', nothing, '{long}'"),
        &format!("select '{long}' from t where nothing"),
        &format!("select nothing, '{long}'"),
        "select 'é', 'ü', nothing",
        "drop table if",
        "create table u (i int references nowhere)",
    ] {
        let ours = session.execute(sql).unwrap_err().to_string();
        let output = Command::new(pg_bin().join("psql"))
            .args(["-X", "-h", "127.0.0.1", "-U", "postgres", "-p", &server.port.to_string()])
            .args(["-c", sql, "postgres"])
            .env("PGCLIENTENCODING", "UTF8")
            .output()
            .unwrap();
        let theirs = String::from_utf8(output.stderr).unwrap();
        assert_eq!(ours, theirs.trim_end_matches('\n'), "{sql}");
    }
}

/// A cancel handle works from another thread, and the session lives on.
#[test]
fn cancel() {
    let server = Server::trusting();
    for options in [server.options(), server.unix_options()] {
        let mut session = connect(&options).unwrap();
        let handle = session.cancel_handle();
        let canceller = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            handle.cancel().unwrap();
        });
        let error = session.execute("select pg_sleep(60)").unwrap_err();
        assert_eq!(error.sqlstate(), Some(SqlState::QUERY_CANCELED));
        canceller.join().unwrap();
        assert_eq!(session.query_one_i64("select 1").unwrap(), 1);
    }
}

/// The interrupt flag and the time limit end a running statement on the server
/// too, and the session can be used to tidy up.
#[test]
fn interrupt_and_timeout() {
    let server = Server::trusting();
    let flag = Arc::new(AtomicBool::new(false));
    let mut session = server.connect();
    session.set_interrupt(Some(Arc::clone(&flag)));
    let setter = std::thread::spawn({
        let flag = Arc::clone(&flag);
        move || {
            std::thread::sleep(Duration::from_millis(300));
            flag.store(true, Ordering::Relaxed);
        }
    });
    let begin = Instant::now();
    let error = session.execute("select pg_sleep(60)").unwrap_err();
    assert!(error.is_interrupted() && begin.elapsed() < Duration::from_secs(30), "{error}");
    setter.join().unwrap();
    assert!(session.execute("select 1").unwrap_err().is_interrupted());
    let context = Arc::clone(session.context());
    let refused = Connection::connect_interruptible(&context, Some(Arc::clone(&flag)));
    assert!(refused.unwrap_err().is_interrupted());
    session.set_interrupt(None);
    assert_eq!(session.query_one_i64("select 1").unwrap(), 1);

    session.set_timeout(Some(Duration::from_millis(300)));
    let error = session.execute("select pg_sleep(60)").unwrap_err();
    assert!(error.is_timeout(), "{error}");
    session.set_timeout(None);
    let active = "select count(*) from pg_stat_activity where query like '%sleep(60)%' \
                  and pid <> pg_backend_pid() and state = 'active'";
    assert_eq!(session.query_one_i64(active).unwrap(), 0);
}

/// A session that is ended, or cut, in the middle of a statement says so, and
/// is of no further use.
#[test]
fn ended_in_the_middle() {
    let server = Server::trusting();
    let mut admin = server.connect();
    let mut session = server.connect();
    let pid = session.backend_pid();
    let waiter = std::thread::spawn(move || {
        let error = session.execute("select pg_sleep(60)").unwrap_err();
        (session, error)
    });
    let sleeping = format!(
        "select count(*) from pg_stat_activity where pid = {pid} and wait_event = 'PgSleep'"
    );
    while admin.query_one_i64(&sleeping).unwrap() == 0 {}
    admin.execute(&format!("select pg_terminate_backend({pid})")).unwrap();
    let (mut session, error) = waiter.join().unwrap();
    assert_eq!(error.sqlstate(), Some(SqlState::ADMIN_SHUTDOWN));
    assert!(error.is_connection_lost() && session.is_broken(), "{error}");
    assert!(error.to_string().starts_with("FATAL:  terminating connection due to administrator"));
    assert!(session.execute("select 1").unwrap_err().is_connection_lost());

    // A server that dies without a word.
    let mut session = server.connect();
    drop(server);
    let error = session.execute("select 1").unwrap_err();
    assert!(error.is_connection_lost() && session.is_broken(), "{error}");
}
