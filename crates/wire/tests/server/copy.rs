//! COPY in: to the end, refused half-way, given up, interrupted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pgdyno_wire::SqlState;
use pgdyno_wire::client::Connection;

use crate::common::Server;

fn count(session: &mut Connection) -> i64 {
    session.query_one_i64("select count(*) from t").unwrap()
}

/// Rows arrive whatever the pieces they are sent in, and are counted.
#[test]
fn copies_rows() {
    let server = Server::trusting();
    let mut session = server.connect();
    session.execute("create table t (i int, filler text)").unwrap();
    let rows: String = (0..20_000).map(|i| format!("{i}\t{}\n", "x".repeat(50))).collect();
    for piece_len in [7, 4096, rows.len()] {
        let mut copy = session.copy_in("copy t from stdin").unwrap();
        for piece in rows.as_bytes().chunks(piece_len) {
            copy.send(piece).unwrap();
        }
        assert_eq!(copy.finish().unwrap(), 20_000);
    }
    assert_eq!(count(&mut session), 60_000);
    let empty = session.copy_in("copy t from stdin").unwrap();
    assert_eq!(empty.finish().unwrap(), 0);
}

/// A bad row ends the copy before all is sent, with the server's CONTEXT, and
/// the session lives on.
#[test]
fn refused_half_way() {
    let server = Server::trusting();
    let mut session = server.connect();
    session.execute("create table t (i int)").unwrap();
    let mut copy = session.copy_in("copy t from stdin").unwrap();
    copy.send(b"1\nnonsense\n").unwrap();
    let rows = "2\n".repeat(50_000);
    // Far more than any buffer holds: the error must come while sending.
    let error = (0..1000).find_map(|_| copy.send(rows.as_bytes()).err()).unwrap();
    assert_eq!(error.sqlstate().unwrap().to_string(), "22P02");
    assert!(error.to_string().ends_with("CONTEXT:  COPY t, line 2, column i: \"nonsense\""));
    drop(copy);
    assert_eq!(count(&mut session), 0);

    // With little data it comes at the end.
    let mut copy = session.copy_in("copy t from stdin").unwrap();
    copy.send(b"nonsense\n").unwrap();
    assert_eq!(copy.finish().unwrap_err().sqlstate().unwrap().to_string(), "22P02");
    assert_eq!(count(&mut session), 0);
    let error = session.copy_in("copy nowhere from stdin").unwrap_err();
    assert_eq!(error.sqlstate(), Some(SqlState::UNDEFINED_TABLE));
    assert!(session.copy_in("select 1").unwrap_err().to_string().contains("no COPY FROM STDIN"));
    assert!(session.execute("copy t from stdin").is_err());
    session.execute("copy t to stdout").unwrap();
    assert_eq!(count(&mut session), 0);
}

/// A copy that is aborted, dropped or interrupted leaves no rows and a usable
/// session.
#[test]
fn given_up() {
    let server = Server::trusting();
    let mut session = server.connect();
    session.execute("create table t (i int)").unwrap();
    let mut copy = session.copy_in("copy t from stdin").unwrap();
    copy.send(b"1\n").unwrap();
    copy.abort("no more").unwrap();
    let mut copy = session.copy_in("copy t from stdin").unwrap();
    copy.send(b"1\n").unwrap();
    drop(copy);
    let flag = Arc::new(AtomicBool::new(false));
    session.set_interrupt(Some(Arc::clone(&flag)));
    let mut copy = session.copy_in("copy t from stdin").unwrap();
    let rows = "2\n".repeat(50_000);
    copy.send(rows.as_bytes()).unwrap();
    flag.store(true, Ordering::Relaxed);
    assert!(copy.send(rows.as_bytes()).unwrap_err().is_interrupted());
    drop(copy);
    session.set_interrupt(None);
    assert_eq!(count(&mut session), 0);
}

/// A session that ends during a copy is told as the server told it.
#[test]
fn ended_while_copying() {
    let server = Server::trusting();
    let mut session = server.connect();
    session.execute("create table t (i int)").unwrap();
    let pid = session.backend_pid();
    let mut copy = session.copy_in("copy t from stdin").unwrap();
    server.connect().execute(&format!("select pg_terminate_backend({pid})")).unwrap();
    let rows = "2\n".repeat(50_000);
    let error = (0..1000).find_map(|_| copy.send(rows.as_bytes()).err()).unwrap();
    assert!(error.is_connection_lost(), "{error}");
    drop(copy);
    assert!(session.is_broken());
}
