//! Scripts of one's own: weights, variables, declared rows, errors, retries.

use crate::support::Server;
use crate::support::record::{count, ended};

/// Variables, `\if`, `\gset`, a declared number of rows and weights all reach
/// the record.
#[test]
fn a_mix_of_scripts() {
    let database = Server::shared().empty();
    database.sql("create table t (k int primary key, v int not null default 0)");
    database.sql("insert into t select generate_series(1, 10)");
    let room = database.server.room();
    room.write(
        "a.sql",
        "\\set k random(1, :keys)\n\
         select v as was from t where k = :k \\gset\n\
         \\if :was >= 0\n\
         -- pgdyno: rows 1\n\
         update t set v = v + :step where k = :k;\n\
         \\else\n\
         select 1 / 0;\n\
         \\endif\n",
    );
    room.write("b.sql", "-- pgdyno: rows 10\nselect * from t;\n");
    let args = [
        "--script", "a.sql@3", "--script", "b.sql@1", "-D", "keys=10", "-D", "step=5", "-c", "2",
        "-t", "200", "--seed", "3",
    ];
    let outcome = database.run(&room, &args).exits(0);
    let record = room.record();
    assert_eq!(count(&record, "committed"), 400);
    let [a, b] = [0, 1].map(|i| &record["transactions"][i]);
    let committed = |kind: &serde_json::Value| kind["counts"]["committed"].as_u64().unwrap();
    assert_eq!((&a["weight"], &b["weight"]), (&3.into(), &1.into()));
    assert_eq!(committed(a) + committed(b), 400);
    assert!((220..=380).contains(&committed(a)), "3 to 1: {}", committed(a));
    // Every update found its row, and the table has them all.
    assert_eq!(database.value("select sum(v) from t"), (5 * committed(a)).to_string());
    let statements = record["statements"].as_array().unwrap();
    let find = |text: &str| {
        let has = |s: &&serde_json::Value| s["statement"]["text"].as_str().unwrap().contains(text);
        statements.iter().find(has).unwrap()
    };
    let update = find("update t");
    assert_eq!(update["statement"]["rows_expected"], 1);
    assert_eq!((&update["executions"], &update["short"]), (&a["counts"]["committed"], &0.into()));
    let select = find("select * from t");
    assert_eq!(select["rows"].as_u64().unwrap(), 10 * committed(b));
    assert_eq!(find("1 / 0")["executions"], 0);
    assert_eq!(record["workload"]["name"], "script");
    outcome.shows(&["every write and declared read found its rows", "a.sql", "b.sql"]);
}

/// Writes that find fewer rows than the script declares are shown next to the
/// figure, which is then called goodput; --strict makes them a failure.
#[test]
fn writes_of_nothing_are_flagged() {
    let database = Server::shared().empty();
    database.sql("create table t (k int primary key, v int not null default 0)");
    database.sql("insert into t select generate_series(1, 10)");
    let room = database.server.room();
    room.write("a.sql", "\\set k random(1, 40)\nupdate t set v = v + 1 where k = :k;\n");
    let args = ["-f", "a.sql", "-c", "2", "-t", "100", "--seed", "1"];
    let outcome = database.run(&room, &args).exits(0);
    let record = room.record();
    let written: u64 = database.value("select sum(v) from t").parse().unwrap();
    assert_eq!(count(&record, "committed"), 200);
    assert_eq!(count(&record, "committed_without_effect"), 200 - written);
    outcome.shows(&["goodput", "writes found no row", "rows: update t set v = v + 1"]);
    let strict = database.server.room();
    strict.write("a.sql", "update t set v = v + 1 where k = 99;\n");
    database.run(&strict, &["-f", "a.sql", "-c", "1", "-t", "10", "--strict"]).exits(2);
}

/// A fault in a script is told with file and line before anything runs; a
/// file that is not there, or a variable that is not set, by name.
#[test]
fn faults_in_scripts_name_their_place() {
    let database = Server::shared().empty();
    let room = database.server.room();
    room.write("expr.sql", "select 1;\n\n\\set x 1 +\n");
    room.write("word.sql", "select 1;\n\\sett x 1\n");
    room.write("open.sql", "select 1;\n\\if 1\nselect 2;\n");
    room.write("sql.sql", "select 1;\nselect nothing from nowhere;\n");
    room.write("zero.sql", "select 1;\n\\set x 1 / 0\n");
    let refused = |file: &str, words: &[&str]| {
        let outcome = database.run(&room, &["-f", file, "-c", "1", "-t", "1"]).exits(1);
        let error = outcome.one_error();
        for word in words {
            assert!(error.contains(word), "not said: {word:?} in {error}");
        }
        assert!(outcome.out.is_empty() && room.records().is_empty());
    };
    refused("expr.sql", &["expr.sql:3", "\\set x 1 +", "syntax error"]);
    refused("word.sql", &["word.sql:2", "invalid command"]);
    refused("open.sql", &["open.sql", "\\if without matching \\endif"]);
    refused("missing.sql", &["missing.sql", "No such file"]);
    refused("expr.sql@x", &["invalid weight specification: @x"]);

    let outcome = database.run(&room, &["-f", "sql.sql", "-c", "1", "-t", "1"]).exits(2);
    outcome.shows(&["relation \"nowhere\" does not exist", "42P01", "at sql.sql:2"]);
    assert_eq!(ended(&room.record()), "aborted");
    let room = database.server.room();
    room.write("zero.sql", "select 1;\n\\set x 1 / 0\n");
    let outcome = database.run(&room, &["-f", "zero.sql", "-c", "1", "-t", "1"]).exits(2);
    outcome.shows(&["division by zero", "at zero.sql:2"]);
}

/// A statement on a table that the script makes itself can be run prepared,
/// although it could not be prepared when the client connected; where it cannot
/// be prepared at all, the failure is counted under the server's own SQLSTATE.
#[test]
fn statements_that_cannot_be_prepared_yet() {
    let database = Server::shared().empty();
    let room = database.server.room();
    room.write(
        "temp.sql",
        "create temp table if not exists own (n int);\ninsert into own values (1);\n",
    );
    database.run(&room, &["-f", "temp.sql", "-c", "2", "-t", "5"]).exits(0);
    assert_eq!(count(&room.record(), "committed"), 10);
    let room = database.server.room();
    room.write("never.sql", "select 1;\nselect nothing from nowhere;\n");
    let args = ["-f", "never.sql", "-c", "1", "-t", "5", "--continue-on-error"];
    database.run(&room, &args);
    assert_eq!(room.record()["totals"]["counts"]["failed_by_sqlstate"]["42P01"], 5);
}

/// Under conflict nothing is lost and nothing is counted twice: with retries
/// and backoff, committed and failed add up to what was asked for, and the
/// hot row holds exactly the committed ones.
#[test]
fn retries_lose_no_transaction() {
    let database = Server::shared().empty();
    database.sql("create table hot (n bigint not null); insert into hot values (0)");
    let room = database.server.room();
    room.write("hot.sql", "begin;\nselect n from hot;\nupdate hot set n = n + 1;\nend;\n");
    let args = [
        "-f",
        "hot.sql",
        "-c",
        "6",
        "-j",
        "2",
        "-t",
        "40",
        "--isolation",
        "repeatable-read",
        "--max-tries",
        "10",
        "--retry-backoff",
        "1ms..10ms",
    ];
    let outcome = database.run(&room, &args).exits(0);
    let record = room.record();
    let [committed, failed, retried, retries] =
        ["committed", "failed", "retried", "retries"].map(|name| count(&record, name));
    assert_eq!(committed + failed, 240);
    assert_eq!(database.value("select n from hot"), committed.to_string());
    assert!(retries >= retried && retried > 0, "six clients on one row must collide");
    let by_code = &record["totals"]["counts"]["retries_by_sqlstate"];
    assert_eq!(by_code["40001"].as_u64().unwrap(), retries);
    assert_eq!(record["plan"]["isolation"], "repeatable read");
    outcome.shows(&["retried", "repeatable read"]);
}

/// Without retries the losers of conflicts are failures with their SQLSTATE,
/// and still nothing is lost.
#[test]
fn failures_are_counted_by_sqlstate() {
    let database = Server::shared().empty();
    database.sql("create table hot (n bigint not null); insert into hot values (0)");
    let room = database.server.room();
    room.write("hot.sql", "begin;\nselect n from hot;\nupdate hot set n = n + 1;\nend;\n");
    let args = ["-f", "hot.sql", "-c", "6", "-t", "40", "--isolation", "serializable"];
    let outcome = database.run(&room, &args);
    let record = room.record();
    let (committed, failed) = (count(&record, "committed"), count(&record, "failed"));
    assert_eq!(committed + failed, 240);
    assert_eq!(count(&record, "failed_serialization"), failed);
    assert!(failed > 0 && count(&record, "retries") == 0);
    assert_eq!(database.value("select n from hot"), committed.to_string());
    outcome.shows(&["failed (40001:"]);
}

/// With --continue-on-error other errors of SQL are failures, too; without
/// it they end the client.
#[test]
fn continue_on_error_goes_on() {
    let database = Server::shared().empty();
    let room = database.server.room();
    room.write("odd.sql", "\\set x random(0, 1)\nselect 1 / :x;\n");
    let args = ["-f", "odd.sql", "-c", "2", "-t", "50", "--continue-on-error", "--seed", "1"];
    database.run(&room, &args);
    let record = room.record();
    let failed = count(&record, "failed");
    assert!(failed > 0 && count(&record, "committed") + failed == 100);
    assert_eq!(record["totals"]["counts"]["failed_by_sqlstate"]["22012"], failed);
    let room = database.server.room();
    room.write("odd.sql", "\\set x random(0, 1)\nselect 1 / :x;\n");
    let outcome = database.run(&room, &["-f", "odd.sql", "-c", "2", "-t", "50", "--seed", "1"]);
    outcome.exits(2).shows(&["22012", "division by zero"]);
}
