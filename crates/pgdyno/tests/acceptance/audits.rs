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

/// What was done to bring the tables back, and how long it took, is in the
/// record and in the summary; without the wish there is nothing to tell.
#[test]
fn resets_are_recorded() {
    let database = Server::shared().loaded();
    let run = |words: &[&str]| {
        let room = database.server.room();
        let all = [&["-c", "1", "-t", "10"], words].concat();
        let outcome = database.run(&room, &all).exits(0);
        (room.record()["reset"].clone(), outcome)
    };
    assert!(run(&[]).0.is_null());
    let (reset, outcome) = run(&["--reset", "auto"]);
    assert_eq!((&reset["how"], &reset["rows"]), (&"not_needed".into(), &0.into()));
    outcome.shows(&["reset not needed"]);
    let (reset, outcome) = run(&["--reset=always"]);
    assert_eq!(reset["how"], "in_place");
    // 20 accounts at most, tellers and the branch; and the history is emptied.
    assert!((3..=41).contains(&reset["rows"].as_u64().unwrap()), "{reset}");
    assert!(reset["seconds"].as_f64().unwrap() > 0.0, "{reset}");
    outcome.shows(&["reset", "put back in"]);
    database.sql("delete from pgbench_accounts where aid = 77");
    let (reset, outcome) = run(&["--reset"]);
    assert_eq!((&reset["how"], &reset["rows"]), (&"reload".into(), &100_011.into()));
    outcome.shows(&["100,011 rows loaded anew in", "there are 99999 accounts, not 100000"]);
}

/// `pgdyno audit` says of tables at rest what holds and what does not, for
/// people and as JSON, by its exit code as well.
#[test]
fn tables_at_rest_are_audited() {
    let database = Server::shared().loaded();
    let audit = |words: &[&str]| {
        let room = database.server.room();
        let target = database.uri_plain();
        let all = [&["audit", &target][..], words].concat();
        room.run_with(&[("PGPASSWORD", &database.server.password())], &all)
    };
    audit(&[]).exits(0).shows(&["tpcb at scale 1 on PostgreSQL", "ok clean base", "all 1 hold"]);
    audit(&["--scale", "2"]).exits(2).shows(&["FAILED clean base", "at scale 2"]);
    database.sql("update pgbench_tellers set tbalance = tbalance + 5 where tid = 7");
    audit(&[]).exits(2).shows(&["FAILED clean base", "sum(tbalance) +5, off by +5"]);
    let told: Value = serde_json::from_str(&audit(&["--json"]).exits(2).out).unwrap();
    assert_eq!((&told["workload"], &told["holds"]), (&"tpcb".into(), &false.into()));
    assert_eq!(told["audits"][0]["outcome"], "failed");
    // Nothing is asked of balances where nothing changes them.
    audit(&["--workload", "transfer"]).exits(2).says(&["pgdyno init"]);
    audit(&["--workload", "tpcx"]).exits(1).says(&["there is no workload \"tpcx\""]);
}

/// Who is strict does not take a run whose tables could not be read for good;
/// who asked for no audit gets none. Scripts have nothing to reset or to audit.
#[test]
fn strict_asks_for_the_audits() {
    let database = Server::shared().loaded();
    let run = |words: &[&str]| database.run(&database.server.room(), words);
    let short = ["-c", "1", "-t", "5"];
    run(&[&short[..], &["--strict"]].concat()).exits(0);
    run(&[&short[..], &["--strict", "--audit", "off"]].concat()).exits(0).shows(&["audits none"]);
    // The last of five transactions takes the tables away.
    database.sql(
        "create function away() returns trigger language plpgsql as $$ begin \
             if (select count(*) from pgbench_history) >= 5 then \
                 alter table pgbench_branches rename to elsewhere; end if; return null; end $$; \
         truncate pgbench_history; \
         create constraint trigger away after insert on pgbench_history deferrable \
         initially deferred for each row execute function away()",
    );
    let one = ["-c", "1", "-t", "5", "--strict"];
    run(&one).exits(2).shows(&["the tables after the run"]);
    for words in [&["--reset", "auto"][..], &["--audit", "full"]] {
        let words = [&["-f", "builtin:select-only"][..], words].concat();
        run(&words).exits(1).says(&["are for workloads"]);
    }
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
