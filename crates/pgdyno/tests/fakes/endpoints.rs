//! Endpoints: given or learnt, tried, and clients dealt over them.

use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use serde_json::Value;

use crate::dialects::{NAMES, part};
use crate::server::{Answer, Fake, Part};
use crate::{Said, pgdyno, run, target};

/// A port where nobody listens and nobody else can: it is one end of a
/// connection.
struct Dead {
    port: u16,
    _ends: (TcpListener, TcpStream),
}

fn dead() -> Dead {
    let (listener, port) = bound();
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    Dead { port: stream.local_addr().unwrap().port(), _ends: (listener, stream) }
}

fn bound() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

/// What the databases that tell of their nodes answer, for these ports.
fn told(name: &str, ports: &[u16]) -> Option<(&'static str, Vec<Vec<Option<String>>>)> {
    let host = || Some("127.0.0.1".to_owned());
    let joined = |port: &u16| vec![Some(format!("127.0.0.1:{port}"))];
    let apart = |port: &u16| vec![host(), Some(port.to_string())];
    let rows = |row: &dyn Fn(&u16) -> Vec<Option<String>>| ports.iter().map(row).collect();
    match name {
        "aurora-limitless" => Some(("aurora_limitless_router_endpoints()", rows(&joined))),
        "cockroachdb" => Some(("crdb_internal.gossip_nodes", rows(&joined))),
        "yugabytedb" => {
            Some(("yb_servers()", rows(&|port| [apart(port), vec![Some(String::new())]].concat())))
        }
        "citus" => Some(("pg_dist_node", rows(&apart))),
        _ => None,
    }
}

fn each(said: &Said) -> Vec<(u64, u64, u64)> {
    let each =
        said.record["endpoints"]["each"].as_array().unwrap_or_else(|| panic!("{}", said.err));
    let of = |one: &Value, name: &str| one[name].as_u64().unwrap();
    each.iter().map(|one| (of(one, "port"), of(one, "connections"), of(one, "committed"))).collect()
}

/// For every kind of database clients are dealt evenly over all endpoints: the
/// routers or nodes that it tells of, or the hosts that were given. One that it
/// tells of and that cannot be reached is told and left out.
#[test]
fn clients_are_dealt_over_all_endpoints() {
    for name in NAMES {
        let ((one, one_port), (two, two_port)) = (bound(), bound());
        let dead = dead();
        let question = told(name, &[one_port, two_port, dead.port]);
        let with_answer = || match &question {
            Some((part_of, rows)) => {
                // The coordinator of Citus is not among its workers.
                let rows = rows.iter().skip(usize::from(name == "citus")).cloned().collect();
                part(name).always(part_of, Answer::Rows(rows))
            }
            None => part(name),
        };
        let servers = [Fake::listen(one, with_answer()), Fake::listen(two, with_answer())];
        let given =
            if question.is_some() { target(&[one_port]) } else { target(&[one_port, two_port]) };
        let said = run(&given, "-c 6 -j 2 -t 5").exits(0);
        let expected = [(u64::from(one_port), 3, 15), (u64::from(two_port), 3, 15)];
        assert_eq!(each(&said), expected, "{name}: {}", said.err);
        assert_eq!(servers.each_ref().map(|server| server.heard("END")), [15, 15], "{name}");
        let endpoints = &said.record["endpoints"];
        assert_eq!(endpoints["balance"], "even");
        let by = question.as_ref().map(|(by, _)| Value::from(*by)).unwrap_or_default();
        assert_eq!(endpoints["discovered_by"], by, "{name}");
        let left_out = endpoints["left_out"].as_array().unwrap();
        assert_eq!(left_out.len(), usize::from(question.is_some()), "{name}: {left_out:?}");
        if question.is_some() {
            let port = dead.port.to_string();
            assert!(left_out[0].as_str().unwrap().contains(&port), "{name}: {left_out:?}");
            assert!(said.err.contains("left out") && said.err.contains(&port), "{}", said.err);
        }
        assert!(said.out.contains("2 dealt evenly"), "{name}: {}", said.out);
    }
}

/// Where the target refuses the question, or tells only of addresses that
/// cannot be reached, or is not asked, the given endpoint is used.
#[test]
fn the_given_endpoint_is_what_remains() {
    let refused = Fake::start(part("cockroachdb"));
    let said = run(&target(&[refused.port]), "-c 2 -t 2").exits(0);
    assert!(said.err.contains("could not be asked of crdb_internal.gossip_nodes"), "{}", said.err);
    assert_eq!(said.record["endpoints"], Value::Null);
    let dead = dead();
    let rows = told("yugabytedb", &[dead.port]).unwrap().1;
    let alone = Fake::start(part("yugabytedb").always("yb_servers()", Answer::Rows(rows)));
    let said = run(&target(&[alone.port]), "-c 2 -t 2").exits(0);
    assert!(said.err.contains("the one given is used"), "{}", said.err);
    assert_eq!(alone.heard("END"), 4);
    let said = run(&target(&[alone.port]), "-c 2 -t 2 --no-discover").exits(0);
    assert!(!said.err.contains("left out"), "{}", said.err);
    assert_eq!(alone.heard("yb_servers()"), 1);
    let said = pgdyno(&["detect", &target(&[alone.port])]).exits(0);
    assert!(
        said.out.contains(&format!("127.0.0.1:{} (by yb_servers())", dead.port)),
        "{}",
        said.out
    );
}

/// `first` goes to the first that works, `nearest` to the one with the shortest
/// round trip, `random` to each at times; libpq's own words ask for the same.
#[test]
fn other_ways_to_deal() {
    let slow = || {
        let row = Answer::Rows(vec![vec![Some("1".to_owned())]]);
        part("postgres").slow(Duration::from_millis(150), "SELECT 1", row)
    };
    let (far, near) = (Fake::start(slow()), Fake::start(part("postgres")));
    let both = target(&[far.port, near.port]);
    let said = run(&both, "-c 4 -t 3 --balance nearest").exits(0);
    assert_eq!((far.heard("END"), near.heard("END")), (0, 12), "{}", said.err);
    let said = run(&both, "-c 4 -t 3 --balance first").exits(0);
    assert_eq!((far.heard("END"), near.heard("END")), (12, 12), "{}", said.err);
    assert_eq!(said.record["endpoints"]["balance"], "first");
    let dead = dead();
    run(&target(&[dead.port, near.port]), "-c 4 -t 3 --balance first").exits(0);
    assert_eq!(near.heard("END"), 24);
    let (one, two) = (Fake::start(part("postgres")), Fake::start(part("postgres")));
    let random = format!("{} load_balance_hosts=random", target(&[one.port, two.port]));
    let said = run(&random, "-c 32 -t 1 --seed 3").exits(0);
    assert_eq!(said.record["endpoints"]["balance"], "random");
    assert!(one.heard("END") > 4 && two.heard("END") > 4, "{}", said.out);
}

/// A given endpoint that is dead at the start is told, and its clients go to
/// the other; where none works the run does not begin.
#[test]
fn a_dead_endpoint_is_told() {
    let alive = Fake::start(part("postgres"));
    let (dead, also_dead) = (dead(), dead());
    let said = run(&target(&[dead.port, alive.port]), "-c 4 -t 3").exits(0);
    assert!(
        said.err.contains(&format!("127.0.0.1:{} takes no connection", dead.port)),
        "{}",
        said.err
    );
    let each = each(&said);
    assert_eq!((each[0].2, each[1].2), (0, 12));
    let page = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    let idle = format!("nothing was committed over 127.0.0.1:{}", dead.port);
    assert!(page.contains(&idle), "{page}");
    let said = run(&target(&[dead.port, also_dead.port]), "-c 2 -t 1").exits(2);
    assert!(said.err.contains("Connection refused") && said.record.is_null(), "{}", said.err);
}

/// Sessions that a server ends at random cost their transactions, whose
/// clients go on over the same endpoint: it takes connections all the time.
#[test]
fn lost_sessions_are_made_anew() {
    let lossy = part("postgres").times(2, "UPDATE t", Answer::HangUp);
    let (one, two) = (Fake::start(lossy), Fake::start(part("postgres")));
    let said = run(&target(&[one.port, two.port]), "-c 4 -t 10").exits(0);
    assert_eq!((said.count("failed"), said.count("committed")), (2, 38));
    assert_eq!(said.record["totals"]["counts"]["failed_by_sqlstate"]["08006"], 2);
    let each = each(&said);
    assert_eq!((each[0].1, each[0].2, each[1].1, each[1].2), (4, 18, 2, 20), "{}", said.out);
}

/// With a connection for each transaction, each of these is dealt and counted.
#[test]
fn a_connection_for_each_transaction() {
    let (one, two) = (Fake::start(part("postgres")), Fake::start(part("postgres")));
    let said = run(&target(&[one.port, two.port]), "-c 4 -j 2 -t 5 -C").exits(0);
    let each = each(&said);
    assert_eq!((each[0].1, each[0].2, each[1].1, each[1].2), (10, 10, 10, 10), "{}", said.out);
    assert_eq!(said.record["connections"]["lost"], 0);
}

/// The face of pgbench keeps libpq's meaning of several hosts: the first.
#[test]
fn pgbench_knows_no_balance() {
    let with_parts = || {
        let part: Part = part("postgres");
        part.row("pg_class", &[Some("1")])
    };
    let (one, two) = (Fake::start(with_parts()), Fake::start(with_parts()));
    let dsn = target(&[one.port, two.port]);
    let said =
        pgdyno(&["pgbench", "-n", "-f", "t.sql", "-c", "4", "-t", "3", "-M", "simple", &dsn])
            .exits(0);
    assert_eq!((one.heard("END"), two.heard("END")), (12, 0), "{}", said.err);
}
