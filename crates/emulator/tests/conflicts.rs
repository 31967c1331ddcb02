//! Conflicts: nobody waits, who commits first wins, the loser hears at COMMIT.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::time::{Duration, Instant};

use pgdyno_emulator::{Limits, Passwords};
use pgdyno_wire::{Connection, Error};
use support::Place;

const OC000: &str = "change conflicts with another transaction (OC000)";
const OC001: &str = "schema has been updated by another transaction (OC001)";

/// Long enough for a busy machine; a lock wait would last for ever.
const NO_WAIT_MAX: Duration = Duration::from_secs(60);

fn code_and_text(result: Result<impl std::fmt::Debug, Error>) -> (String, String) {
    let error = result.expect_err("must fail");
    let server = error.server().unwrap_or_else(|| panic!("{error}"));
    (server.sqlstate.to_string(), server.message.clone())
}

fn assert_conflict(result: Result<impl std::fmt::Debug, Error>) {
    assert_eq!(code_and_text(result), ("40001".to_owned(), OC000.to_owned()));
}

fn with_accounts(place: &Place) -> (Connection, Connection) {
    let mut a = place.connect().unwrap();
    a.execute("CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL)").unwrap();
    a.execute("INSERT INTO account SELECT n, 0 FROM generate_series(1, 10) n").unwrap();
    (a, place.connect().unwrap())
}

fn balance(connection: &mut Connection, id: i32) -> i64 {
    connection.query_one_i64(&format!("SELECT balance FROM account WHERE id = {id}")).unwrap()
}

/// Both sessions update one row in turn, without waiting, and see their own
/// changes; the one that commits first wins although it came second.
#[test]
fn first_committer_wins() {
    let place = Place::start();
    let (mut a, mut b) = with_accounts(&place);
    let begin = Instant::now();
    a.execute("BEGIN").unwrap();
    let tag = a.execute("UPDATE account SET balance = balance + 1 WHERE id = 1").unwrap();
    assert_eq!(tag.and_then(|tag| tag.rows), Some(1));
    b.execute("BEGIN").unwrap();
    b.execute("UPDATE account SET balance = balance + 10 WHERE id = 1").unwrap();
    // Each still sees what it wrote, though only one can hold the lock.
    assert_eq!(balance(&mut a, 1), 1);
    assert_eq!(balance(&mut b, 1), 10);
    assert_eq!(balance(&mut a, 1), 1);
    b.execute("COMMIT").unwrap();
    // The loser's statements still get answers.
    let tag = a.execute("UPDATE account SET balance = balance + 1 WHERE id = 1").unwrap();
    assert_eq!(tag.and_then(|tag| tag.rows), Some(1));
    a.execute("INSERT INTO account VALUES (11, 0)").unwrap();
    assert_conflict(a.execute("COMMIT"));
    assert_eq!(balance(&mut a, 1), 10);
    assert_eq!(a.query_one_i64("SELECT count(*) FROM account").unwrap(), 10);
    assert!(begin.elapsed() < NO_WAIT_MAX);
    // A winner that goes away by ROLLBACK leaves the other to commit.
    a.execute("BEGIN").unwrap();
    a.execute("UPDATE account SET balance = 100 WHERE id = 2").unwrap();
    b.execute("BEGIN").unwrap();
    b.execute("UPDATE account SET balance = 200 WHERE id = 2").unwrap();
    b.execute("ROLLBACK").unwrap();
    a.execute("COMMIT").unwrap();
    assert_eq!(balance(&mut b, 2), 100);
}

/// A statement by itself wins at once over an open transaction.
#[test]
fn autocommit_goes_ahead() {
    let place = Place::start();
    let (mut a, mut b) = with_accounts(&place);
    a.execute("BEGIN").unwrap();
    a.execute("UPDATE account SET balance = 1 WHERE id = 1").unwrap();
    b.execute("UPDATE account SET balance = 2 WHERE id = 1").unwrap();
    assert_conflict(a.execute("COMMIT"));
    assert_eq!(balance(&mut a, 1), 2);
}

/// Rows taken crosswise, a deadlock elsewhere, are a conflict of one.
#[test]
fn crosswise() {
    let place = Place::start();
    let (mut a, mut b) = with_accounts(&place);
    for connection in [&mut a, &mut b] {
        connection.execute("BEGIN").unwrap();
    }
    a.execute("UPDATE account SET balance = 1 WHERE id = 1").unwrap();
    b.execute("UPDATE account SET balance = 2 WHERE id = 2").unwrap();
    a.execute("UPDATE account SET balance = 1 WHERE id = 2").unwrap();
    b.execute("UPDATE account SET balance = 2 WHERE id = 1").unwrap();
    a.execute("COMMIT").unwrap();
    assert_conflict(b.execute("COMMIT"));
    assert_eq!((balance(&mut a, 1), balance(&mut a, 2)), (1, 1));
}

/// The same key inserted twice is a conflict, not a duplicate, while both are
/// open; a key that was there before is a duplicate.
#[test]
fn inserts_of_one_key() {
    let place = Place::start();
    let (mut a, mut b) = with_accounts(&place);
    for connection in [&mut a, &mut b] {
        connection.execute("BEGIN").unwrap();
        connection.execute("INSERT INTO account VALUES (50, 0)").unwrap();
    }
    a.execute("COMMIT").unwrap();
    assert_conflict(b.execute("COMMIT"));
    assert_eq!(code_and_text(b.execute("INSERT INTO account VALUES (50, 0)")).0, "23505");
    // Not in the snapshot, though committed before the statement.
    b.execute("BEGIN").unwrap();
    assert_eq!(balance(&mut b, 50), 0);
    a.execute("INSERT INTO account VALUES (51, 0)").unwrap();
    assert_conflict(b.execute("INSERT INTO account VALUES (51, 0)"));
    b.execute("ROLLBACK").unwrap();
}

/// FOR UPDATE makes a row that was only read conflict with writers, in both
/// orders of commit and with parameters.
#[test]
fn for_update_is_a_write() {
    let place = Place::start();
    let (mut a, mut b) = with_accounts(&place);
    let lock = "SELECT balance FROM account WHERE id = $1 FOR UPDATE";
    for reader_first in [true, false] {
        a.execute("BEGIN").unwrap();
        a.query_params(lock, &[Some("1")]).unwrap();
        b.execute("BEGIN").unwrap();
        b.execute("UPDATE account SET balance = balance + 1 WHERE id = 1").unwrap();
        let (first, second) = if reader_first { (&mut a, &mut b) } else { (&mut b, &mut a) };
        first.execute("COMMIT").unwrap();
        assert_conflict(second.execute("COMMIT"));
    }
    assert_eq!(balance(&mut a, 1), 1);
}

/// Copied rows and prepared statements are repeated like any other.
#[test]
fn repetition_of_all_kinds() {
    let place = Place::start();
    let (mut a, mut b) = with_accounts(&place);
    a.prepare("up", "UPDATE account SET balance = balance + $2 WHERE id = $1").unwrap();
    a.execute("BEGIN").unwrap();
    let mut copy = a.copy_in("COPY account FROM STDIN").unwrap();
    copy.send(b"20\t1\n21\t1\n").unwrap();
    assert_eq!(copy.finish().unwrap(), 2);
    a.execute_prepared("up", &[Some("1"), Some("5")]).unwrap();
    a.query_params("UPDATE account SET balance = $1 WHERE id = 20", &[Some("7")]).unwrap();
    // Takes the lock, and gives it back: everything is repeated.
    b.execute("BEGIN").unwrap();
    b.execute("UPDATE account SET balance = 9 WHERE id = 1").unwrap();
    b.execute("ROLLBACK").unwrap();
    a.execute("COMMIT").unwrap();
    assert_eq!((balance(&mut b, 1), balance(&mut b, 20), balance(&mut b, 21)), (5, 7, 1));
}

/// A change of the catalog is told once to every other session: in a
/// transaction that was open, at its COMMIT, and to readers.
#[test]
fn catalog_changes() {
    let place = Place::start();
    let (mut a, mut b) = with_accounts(&place);
    assert_eq!(balance(&mut b, 1), 0);
    a.execute("CREATE TABLE other (id int PRIMARY KEY)").unwrap();
    let told = code_and_text(b.execute("SELECT 1"));
    assert_eq!(told, ("40001".to_owned(), OC001.to_owned()));
    b.execute("SELECT 1").unwrap();
    b.execute("BEGIN").unwrap();
    b.execute("UPDATE account SET balance = 3 WHERE id = 3").unwrap();
    let begin = Instant::now();
    a.execute("ALTER TABLE account ADD COLUMN note text").unwrap();
    assert!(begin.elapsed() < NO_WAIT_MAX);
    assert_eq!(code_and_text(b.execute("COMMIT")).1, OC001);
    assert_eq!(balance(&mut b, 3), 0);
}

/// Rows and bytes of a transaction have their limits, each with the recorded
/// words.
#[test]
fn limits() {
    let limits = Limits { bytes_max: 1 << 20, ..Limits::default() };
    let place = Place::with(limits, Passwords::Token);
    let mut a = place.connect().unwrap();
    a.execute("CREATE TABLE t (id int, filler text)").unwrap();
    a.execute("INSERT INTO t SELECT generate_series(1, 3000)").unwrap();
    let (code, text) = code_and_text(
        a.execute("UPDATE t SET id = id WHERE id >= 0; SELECT 1; INSERT INTO t VALUES (1)"),
    );
    assert_eq!((code.as_str(), text.as_str()), ("54000", "transaction row limit exceeded"));
    assert_eq!(a.query_one_i64("SELECT count(*) FROM t").unwrap(), 3000);
    let filler = "x".repeat(700_000);
    a.execute("BEGIN").unwrap();
    a.query_params("INSERT INTO t VALUES (1, $1)", &[Some(&filler)]).unwrap();
    a.query_params("INSERT INTO t VALUES (1, $1)", &[Some(&filler)]).unwrap();
    let (code, text) = code_and_text(a.execute("COMMIT"));
    assert_eq!((code.as_str(), text.as_str()), ("54000", "transaction size limit 10mb exceeded"));
}

/// The age of a transaction has its limit, with the recorded words.
#[test]
fn limit_of_age() {
    let limits = Limits { transaction_age_max: Duration::from_secs(3), ..Limits::default() };
    let place = Place::with(limits, Passwords::Token);
    let mut a = place.connect().unwrap();
    a.execute("BEGIN").unwrap();
    std::thread::sleep(Duration::from_millis(3100));
    let (code, text) = code_and_text(a.execute("SELECT 1"));
    assert_eq!(code, "54000");
    assert!(text.starts_with("transaction age limit of"), "{text}");
}

/// Tables, indexes and schemas have their limits, up to which all is well.
#[test]
fn limits_of_objects() {
    let place = Place::start();
    let mut a = place.connect().unwrap();
    let list = |prefix: &str, count: u32, suffix: &str| {
        let items: Vec<String> = (1..=count).map(|n| format!("{prefix}{n}{suffix}")).collect();
        items.join(", ")
    };
    let table = |name: &str, columns: u32, rest: &str| {
        format!("CREATE TABLE {name} ({}{rest})", list("c", columns, " int"))
    };
    a.execute(&table("widest", 255, ", PRIMARY KEY (c1, c2, c3, c4, c5, c6, c7, c8)")).unwrap();
    a.execute("CREATE TABLE texts (a char(4096), b varchar(65535))").unwrap();
    for n in 2..=24 {
        a.execute(&format!("CREATE INDEX ASYNC ON widest (c{n})")).unwrap();
    }
    for n in 1..=10 {
        a.execute(&format!("CREATE SCHEMA s{n}")).unwrap();
    }
    for (sql, code, text) in [
        (table("t", 256, ""), "54011", "tables can have at most 255 columns"),
        (
            "CREATE TABLE t (a char(4097))".to_owned(),
            "54000",
            "Datatype limit greater than 4096 bytes not supported for char",
        ),
        (
            format!("CREATE INDEX ASYNC ON widest ({})", list("c", 9, "")),
            "54011",
            "more than 8 column keys in an index are not supported",
        ),
        (
            "CREATE INDEX ASYNC ON widest (c100)".to_owned(),
            "54000",
            "more than 24 indexes per table are not allowed",
        ),
        ("CREATE SCHEMA s11".to_owned(), "54000", "more than 10 schemas not allowed"),
    ] {
        let told = code_and_text(a.execute(&sql));
        assert_eq!(told, (code.to_owned(), text.to_owned()), "{sql}");
    }
}

/// One transfer, tried until it commits; how often it was refused.
fn transfer(connection: &mut Connection, from: u32, to: u32) -> u32 {
    let mut refused = 0;
    loop {
        let done = connection.execute("BEGIN").and_then(|_| {
            for (id, amount) in [(from, -1), (to, 1)] {
                let sql =
                    format!("UPDATE account SET balance = balance + {amount} WHERE id = {id}");
                let tag = connection.execute(&sql)?;
                assert_eq!(tag.and_then(|tag| tag.rows), Some(1));
            }
            connection.execute("COMMIT")
        });
        let Err(error) = done else { return refused };
        assert_eq!(error.sqlstate().map(|code| code.to_string()).as_deref(), Some("40001"));
        if !error.to_string().contains("OC000") {
            panic!("{error}");
        }
        connection.execute("ROLLBACK").unwrap();
        refused += 1;
    }
}

/// Many sessions that move money between few accounts in all orders, circles
/// of locks among them: every error is a conflict, all get through, and
/// nothing is lost or doubled.
#[test]
fn many_transfers() {
    const SESSIONS: u32 = 6;
    const TRANSFERS: u32 = 15;
    const ACCOUNTS: u32 = 4;
    let place = Place::start();
    let (mut first, _) = with_accounts(&place);
    // All begin together: connecting takes longer than all of one's transfers.
    let together = std::sync::Barrier::new(SESSIONS as usize);
    let together = &together;
    let refused: u32 = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..SESSIONS)
            .map(|session| {
                let mut connection = place.connect().unwrap();
                scope.spawn(move || {
                    together.wait();
                    let each = (0..TRANSFERS).map(|number| {
                        let from = (session + number) % ACCOUNTS;
                        let to = (from + 1 + number % (ACCOUNTS - 1)) % ACCOUNTS;
                        transfer(&mut connection, from + 1, to + 1)
                    });
                    each.sum::<u32>()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert!(refused > 0, "no conflict among {SESSIONS} sessions");
    let expected = (0..SESSIONS).flat_map(|session| (0..TRANSFERS).map(move |n| (session, n)));
    let mut balances = [0_i64; ACCOUNTS as usize];
    for (session, number) in expected {
        let from = (session + number) % ACCOUNTS;
        let to = (from + 1 + number % (ACCOUNTS - 1)) % ACCOUNTS;
        balances[from as usize] -= 1;
        balances[to as usize] += 1;
    }
    for (id, wanted) in (1..).zip(balances) {
        assert_eq!(balance(&mut first, id), wanted, "account {id}");
    }
}
