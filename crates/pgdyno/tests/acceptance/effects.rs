//! What statements did is told, wherever in a script they stand.

use serde_json::Value;

use crate::support::record::count;
use crate::support::{Database, Outcome, Room, Server};

/// Four clients with 500 transactions each.
const PUBLISHED_LOAD: &[&str] = &["-s", "20", "-c", "4", "-t", "500", "--seed", "20"];

/// pgbench's tables at scale 20, as far as the published script asks for them:
/// without the padding, so that they are there in a moment.
const SCALE_20: &str = "\
    create table pgbench_branches as select bid, 0 as bbalance from generate_series(1, 20) bid; \
    create table pgbench_tellers as \
        select tid, (tid - 1) / 10 + 1 as bid, 0 as tbalance from generate_series(1, 200) tid; \
    create unlogged table pgbench_accounts as \
        select aid, (aid - 1) / 100000 + 1 as bid, 0 as abalance \
        from generate_series(1, 2000000) aid; \
    create table pgbench_history (tid int, bid int, aid int, delta int, mtime timestamp); \
    create index on pgbench_accounts (aid)";

/// The published script, as it stands among the plans.
const PUBLISHED: &str = include_str!("../../../../plans/scripts/limitless-tpcb-as-published.sql");

/// Ten rows with keys 1 to 10.
const TEN_ROWS: &str = "create table t (k int primary key, v int not null default 0); \
    insert into t select generate_series(1, 10)";

fn ten_rows() -> Database<'static> {
    let database = Server::shared().empty();
    database.sql(TEN_ROWS);
    database
}

fn run(database: &Database<'_>, script: &str, args: &[&str]) -> (Outcome, Room) {
    let room = database.server.room();
    room.write("s.sql", script);
    let all: Vec<&str> = ["-f", "s.sql"].into_iter().chain(args.iter().copied()).collect();
    (database.run(&room, &all), room)
}

/// Executions and rows of the statements that begin so, in order.
fn counts(record: &Value, begin: &str) -> Vec<(u64, u64)> {
    let statements = record["statements"].as_array().unwrap().iter();
    let text = |one: &Value| one["statement"]["text"].as_str().unwrap().to_owned();
    let number = |one: &Value, name: &str| one[name].as_u64().unwrap();
    statements
        .filter(|one| text(one).starts_with(begin))
        .map(|one| (number(one, "executions"), number(one, "rows")))
        .collect()
}

/// The published sharded script draws keys apart and asks for them together:
/// at scale 20 one in twenty of its updates of accounts and tellers finds a
/// row. The run says so of both statements, and why; --strict makes it a failure.
#[test]
fn the_published_script_is_found_out() {
    let database = Server::shared().empty();
    database.sql(SCALE_20);
    let (outcome, room) = run(&database, PUBLISHED, PUBLISHED_LOAD);
    let outcome = outcome.exits(0).shows(&[
        "of which 0.",
        "did their work: goodput",
        "writes found no row",
        "did not touch their rows; aid and bid are drawn independently: UPDATE pgbench_accounts",
        "did not touch their rows; tid and bid are drawn independently: UPDATE pgbench_tellers",
    ]);
    let record = room.record();
    assert_eq!(count(&record, "committed"), 2000);
    for table in ["accounts", "tellers"] {
        let found = counts(&record, &format!("UPDATE pgbench_{table}"));
        let [(2000, rows)] = found[..] else { panic!("{table}: {found:?} in {outcome:?}") };
        // One in twenty, give or take six standard deviations.
        assert!((42..=158).contains(&rows), "{rows} {table} of 2000");
    }
    assert_eq!(counts(&record, "UPDATE pgbench_branches"), [(2000, 2000)]);
    let named = |one: &Value| one["verdict"]["is"] == "writes_found_no_row";
    let verdicts = record["verdicts"].as_array().unwrap();
    assert_eq!(verdicts.iter().filter(|one| named(one)).count(), 2);
    let args: Vec<&str> = PUBLISHED_LOAD.iter().copied().chain(["--strict"]).collect();
    run(&database, PUBLISHED, &args).0.exits(2);
}

/// The same keys drawn together find their rows, and nothing is said.
#[test]
fn keys_that_belong_together_are_not_accused() {
    let database = ten_rows();
    database.sql("alter table t add column h int; update t set h = k % 3");
    let script = "\\set k random(1, 10)\n\\set h :k % 3\n\
        UPDATE t SET v = v + 1 WHERE k = :k AND h = :h;\n";
    let (outcome, room) = run(&database, script, &["-c", "2", "-t", "20", "--strict"]);
    outcome.exits(0).shows(&["every write found its rows"]);
    assert_eq!(counts(&room.record(), "UPDATE"), [(40, 40)]);
}

/// Keys that are drawn apart are named in whatever form they are asked for
/// together; a read of declared rows that fell short is called a read.
#[test]
fn keys_drawn_apart_are_named_in_every_form() {
    let database = ten_rows();
    let draws = "\\set a random(1, 10)\n\\set b random(100, 200)\n";
    for condition in ["(k, v) = (:a, :b)", "((t.k = :a) AND v = :b)", "t.k IN (:a) AND v = :b"] {
        let script = format!("{draws}UPDATE t SET v = v + 1 WHERE {condition};\n");
        let (outcome, _) = run(&database, &script, &["-c", "1", "-t", "20"]);
        outcome.exits(0).shows(&["writes found no row", "a and b are drawn independently"]);
    }
    let script = "-- pgdyno: rows 1\nSELECT v FROM t WHERE k = 99;\n";
    let (outcome, _) = run(&database, script, &["-c", "1", "-t", "20", "--strict"]);
    let outcome = outcome.exits(2).shows(&["reads fell short of their rows"]);
    assert!(!outcome.out.contains("writes found"), "{}", outcome.out);
    let script = "-- pgdyno: rows 1\nSELECT v FROM t WHERE k = 1;\n";
    let (outcome, _) = run(&database, script, &["-c", "1", "-t", "20", "--strict"]);
    outcome.exits(0).shows(&["every declared read found its rows"]);
}

/// In a group joined by `\;` every statement is counted under its own text.
#[test]
fn groups() {
    let database = ten_rows();
    let group = "BEGIN\\; UPDATE t SET v = v + 1 WHERE k = 1\\; \
        UPDATE t SET v = v + 1 WHERE k = 99\\; DELETE FROM t WHERE k > 10\\; END;\n";
    let (outcome, room) = run(&database, group, &["-c", "1", "-t", "20", "-M", "simple"]);
    outcome.exits(0).shows(&["of which 0 %", "20 0 100 % UPDATE t SET v = v + 1 WHERE k = 99;"]);
    let record = room.record();
    assert_eq!(counts(&record, "UPDATE"), [(20, 20), (20, 0)]);
    assert_eq!(counts(&record, "DELETE"), [(20, 0)]);
    assert_eq!(count(&record, "committed_without_effect"), 20);
    assert_eq!(database.value("select v from t where k = 1"), "20");
    for protocol in ["extended", "prepared"] {
        // The protocol has no groups; the server says so.
        let (outcome, _) = run(&database, group, &["-c", "1", "-t", "1", "-M", protocol]);
        outcome.exits(2).shows(&["multiple commands"]);
    }
}

/// In a pipeline as well, with points of synchronization in it.
#[test]
fn pipelines() {
    let script = "\\startpipeline\nUPDATE t SET v = v + 1 WHERE k = 1;\n\\syncpipeline\n\
        UPDATE t SET v = v + 1 WHERE k = 99;\nINSERT INTO t SELECT 7 WHERE false;\n\
        \\syncpipeline\nSELECT k FROM t;\n\\endpipeline\n";
    for protocol in ["extended", "prepared"] {
        let database = ten_rows();
        let (outcome, room) = run(&database, script, &["-c", "1", "-t", "20", "-M", protocol]);
        outcome.exits(0).shows(&["of which 0 %"]);
        let record = room.record();
        assert_eq!(counts(&record, "UPDATE"), [(20, 20), (20, 0)]);
        assert_eq!(counts(&record, "INSERT"), [(20, 0)]);
        assert_eq!(counts(&record, "SELECT"), [(20, 200)]);
        assert_eq!(database.value("select v from t where k = 1"), "20");
    }
}

/// After an error in a pipeline, what runs behind the next point of
/// synchronization is counted where it belongs.
#[test]
fn pipelines_with_errors() {
    let script = "\\startpipeline\nSELECT 1 / 0;\nDELETE FROM t;\n\\syncpipeline\n\
        UPDATE t SET v = v + 1;\n\\endpipeline\n";
    let database = ten_rows();
    let args = ["-c", "1", "-t", "5", "-M", "extended", "--continue-on-error"];
    let (_, room) = run(&database, script, &args);
    let record = room.record();
    assert_eq!(count(&record, "failed"), 5);
    assert_eq!(counts(&record, "UPDATE"), [(5, 50)]);
    assert_eq!(counts(&record, "DELETE"), [(0, 0)]);
    assert_eq!(database.value("select sum(v) from t"), "50");
}

/// Writes within WITH are not in the command tag: without an audit it is said
/// that nobody counted them.
#[test]
fn writes_within_with() {
    let database = ten_rows();
    let script = "WITH w AS (UPDATE t SET v = v + 1 WHERE k = 99 RETURNING k) \
        SELECT count(*) FROM w;\n";
    let (outcome, room) = run(&database, script, &["-c", "1", "-t", "5"]);
    outcome.exits(0).shows(&["writes within WITH: NOT COUNTED"]);
    assert_eq!(room.record()["statements"][0]["statement"]["writes_hidden"], true);

    let tpcb = Server::shared().loaded();
    let room = tpcb.server.room();
    let args = ["--workload", "tpcb-single-statement", "-c", "2", "-t", "20"];
    tpcb.run(&room, &args).exits(0).shows(&["writes within WITH: by the audits"]);
}

/// The declared rows of a statement are asked of it, in a group of its first write.
#[test]
fn declared_rows() {
    let database = ten_rows();
    let script = "-- pgdyno: rows 3\nBEGIN\\; UPDATE t SET v = v + 1 WHERE k < 3\\; END;\n\
        -- pgdyno: rows 0\nDELETE FROM t WHERE k = 99;\n";
    let (outcome, room) = run(&database, script, &["-c", "1", "-t", "10", "-M", "simple"]);
    outcome.exits(0).shows(&["of which 0 %", "fewer than 3 rows in 100 % of it"]);
    let record = room.record();
    let short = |at: usize| record["statements"][at]["short"].as_u64().unwrap();
    assert_eq!((short(0), short(1), short(2), short(3)), (0, 10, 0, 0));
}

/// A comment that is meant for pgdyno and cannot be obeyed ends the run before
/// it begins, with its place and the way out.
#[test]
fn mistakes_in_comments_are_told() {
    let database = ten_rows();
    for (script, place, words) in [
        ("-- pgdyno: rows one\nSELECT 1;\n", "s.sql:1:", "expected \"-- pgdyno: rows N\""),
        ("\n-- pgdyno: rows1\nSELECT 1;\n", "s.sql:2:", "expected \"-- pgdyno: rows N\""),
        ("SELECT 1; -- pgdyno: rows 1\nSELECT 2;\n", "s.sql:1:", "behind a command"),
        ("SELECT 1;\n\n-- pgdyno: rows 1\n", "s.sql:3:", "no statement follows"),
    ] {
        let (outcome, _) = run(&database, script, &["-t", "1"]);
        let outcome = outcome.exits(1);
        let error = outcome.one_error();
        assert!(error.contains(place) && error.contains(words), "{error}");
    }
}
