//! The same seed gives the same work, whatever the way to the server.

use serde_json::Value;

use crate::support::record::{count, parse, work};
use crate::support::{Database, Server};

/// 4 clients, 60 transactions each, one seed.
const LOAD: &[&str] = &["-c", "4", "-t", "60", "--seed", "20260201", "--reset", "--json", "-"];

/// What the tables hold, in one line; additions commute, so it depends on
/// the transactions and not on their order.
const CHECKSUMS: &str = "select concat_ws(' ', \
    (select sum(abalance) from pgbench_accounts), \
    (select md5(string_agg(aid || ':' || abalance, ',' order by aid)) from pgbench_accounts \
        where abalance <> 0), \
    (select md5(string_agg(tid || ':' || tbalance, ',' order by tid)) from pgbench_tellers), \
    (select sum(bbalance) from pgbench_branches), \
    (select count(*) from pgbench_history), \
    (select md5(string_agg(h, ',' order by h)) from \
        (select concat_ws(':', tid, bid, aid, delta) as h from pgbench_history) x))";

/// Runs the load after a reset; the record, and the tables' checksums.
fn run(database: &Database<'_>, target: &str, more: &[&str]) -> (Value, String) {
    let room = database.server.room();
    let args: Vec<&str> = ["run", target].iter().chain(LOAD).chain(more).copied().collect();
    let password = database.server.password();
    let outcome = room.run_with(&[("PGPASSWORD", &password)], &args).exits(0);
    (parse(&outcome.out), database.value(CHECKSUMS))
}

/// SCRAM over TLS with everything verified, a Unix socket and TCP give the
/// same counts, the same rows per statement and the same tables.
#[test]
fn every_way_to_the_server_does_the_same_work() {
    let database = Server::shared().loaded();
    let mut ways = vec![database.keywords_unix(), database.uri_plain()];
    if database.server.has_tls() {
        ways.push(database.keywords_verified());
    }
    let runs: Vec<(Value, String)> = ways.iter().map(|way| run(&database, way, &[])).collect();
    let tls = |run: &(Value, String)| run.0["target"]["tls"]["verified"].clone();
    assert_eq!((tls(&runs[0]), tls(&runs[1])), (Value::Null, Value::Null));
    assert!(runs.get(2).is_none_or(|run| tls(run) == Value::Bool(true)));
    for (record, checksums) in &runs {
        assert_eq!(count(record, "committed"), 240);
        assert_eq!(work(record), work(&runs[0].0));
        assert_eq!(checksums, &runs[0].1);
    }
}

/// The protocol, the number of workers and the timing change nothing about
/// the work; another seed does.
#[test]
fn only_the_seed_decides_the_work() {
    let database = Server::shared().loaded();
    let target = database.uri_plain();
    let first = run(&database, &target, &["-j", "1"]);
    for more in [["-M", "simple"], ["-M", "extended"], ["-j", "4"]] {
        let other = run(&database, &target, &more);
        assert_eq!(work(&other.0), work(&first.0), "{more:?}");
        assert_eq!(other.1, first.1, "{more:?}");
    }
    let room = database.server.room();
    database.run(&room, &["-c", "4", "-t", "60", "--seed", "7", "--reset"]).exits(0);
    assert_ne!(database.value(CHECKSUMS), first.1);
}
