//! The audits catch lies that were planted, and say by how much.

use serde_json::Value;

use crate::support::Server;
use crate::support::record::count;

/// 2 clients, 150 transactions each.
const LOAD: &[&str] = &["-c", "2", "-t", "150"];

/// Loses every hundredth insert into the history, without an error.
const LOSES_HISTORY: &str = "\
    create sequence lies; \
    create function lie() returns trigger language plpgsql as $$ begin \
        if nextval('lies') % 100 = 0 then return null; end if; return new; end $$; \
    create trigger lie before insert on pgbench_history for each row execute function lie()";

fn audit<'r>(record: &'r Value, name: &str) -> &'r Value {
    let audits = record["audits"].as_array().unwrap();
    audits.iter().find(|audit| audit["name"] == name).unwrap_or_else(|| panic!("no {name}"))
}

/// A trigger that drops every hundredth insert into the history fails the
/// audit: exit code 2, and the summary names the figure and by how much.
#[test]
fn lost_inserts_fail_the_audit() {
    let database = Server::shared().loaded();
    database.sql(LOSES_HISTORY);
    let room = database.server.room();
    let outcome = database.run(&room, LOAD).exits(2);
    let record = room.record();
    assert_eq!(count(&record, "committed"), 300);
    let history = audit(&record, "history");
    assert_eq!(history["outcome"], "failed");
    assert_eq!((&history["expected"], &history["found"]), (&300.into(), &297.into()));
    assert_eq!(audit(&record, "sums")["outcome"], "failed");
    let outcome = outcome.shows(&["FAILED: history, off by -3 (expected 300, found 297)"]);
    // The statement that wrote less than it said is named as well.
    outcome.shows(&["not to be used: an audit failed", "300 297 1.0 % INSERT INTO"]);
}

/// Updates that a rule swallows are missed in the sums, and the account, the
/// teller or the branch that they are missed in is named.
#[test]
fn lost_updates_fail_the_audit() {
    let database = Server::shared().loaded();
    database.sql(
        "create function lie() returns trigger language plpgsql as $$ begin return null; end $$; \
         create trigger lie before update on pgbench_tellers for each row \
         when (old.tid = 3) execute function lie()",
    );
    let room = database.server.room();
    let outcome = database.run(&room, LOAD).exits(2).shows(&["FAILED: sums", "sum(tbalance)"]);
    let expected = database.value("select sum(delta) from pgbench_history where tid = 3");
    let by = expected.parse::<i64>().unwrap();
    outcome.shows(&[&format!("off by {:+}", -by)]);
    assert_eq!(audit(&room.record(), "history")["outcome"], "passed");
}

/// Balances that were altered before a run are told as a base that was not
/// clean, with the offer of --reset; the run on top of it is judged by its
/// own changes; --reset makes the base clean.
#[test]
fn altered_balances_are_not_a_clean_base() {
    let database = Server::shared().loaded();
    database.sql("update pgbench_accounts set abalance = abalance + 7 where aid = 77");
    let room = database.server.room();
    let outcome = database.run(&room, LOAD).exits(0);
    let outcome = outcome.says(&["base was not clean", "sum(abalance)", "--reset"]);
    outcome.shows(&["base was not clean", "sum(abalance)"]);
    let clean = |room: &crate::support::Room| {
        let names = room.record()["audits"].as_array().unwrap().clone();
        !names.iter().any(|audit| audit["name"] == "clean base")
    };
    assert!(!clean(&room));

    let room = database.server.room();
    let outcome = database.run(&room, &["-c", "2", "-t", "150", "--reset"]).exits(0);
    assert!(!outcome.err.contains("not clean") && clean(&room), "{outcome:?}");
    outcome.shows(&["3 of 3 passed"]);
    assert_eq!(database.value("select count(*) from pgbench_history"), "300");
    assert_eq!(
        database.value("select sum(abalance) from pgbench_accounts"),
        database.value("select sum(delta) from pgbench_history"),
    );
}

/// --reset=auto leaves a clean base alone and resets one that is not.
#[test]
fn reset_auto_resets_only_what_needs_it() {
    let database = Server::shared().loaded();
    let run = || {
        let room = database.server.room();
        database.run(&room, &["-c", "1", "-t", "10", "--reset=auto"]).exits(0)
    };
    run();
    run();
    assert_eq!(database.value("select count(*) from pgbench_history"), "20");
    database.sql("truncate pgbench_history");
    run();
    assert_eq!(database.value("select count(*) from pgbench_history"), "10");
}

/// Rows that vanish during a run are missed.
#[test]
fn vanished_accounts_fail_the_audit() {
    let database = Server::shared().loaded();
    database.sql(
        "create function lie() returns trigger language plpgsql as $$ begin \
             delete from pgbench_accounts where aid = (select min(aid) from pgbench_accounts); \
             return new; end $$; \
         create trigger lie after insert on pgbench_history for each row \
         when (new.delta % 100 = 0) execute function lie()",
    );
    let room = database.server.room();
    database
        .run(&room, &["-c", "1", "-t", "300", "--seed", "5"])
        .exits(2)
        .shows(&["FAILED: rows", "rows in pgbench_accounts off by -"]);
}

/// Without a read of the tables nothing is claimed about them.
#[test]
fn no_audit_is_said() {
    let database = Server::shared().loaded();
    let room = database.server.room();
    database.run(&room, &["-c", "1", "-t", "5", "--no-audit"]).exits(0).shows(&["audits none"]);
    assert_eq!(room.record()["audits"].as_array().unwrap().len(), 0);
}
