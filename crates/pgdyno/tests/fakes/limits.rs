//! The rate of new connections and the age of sessions.

use crate::dialects::part;
use crate::server::{Answer, Fake, LATER_SESSION};
use crate::{run, target};

/// Clients of all workers together connect no faster than the rate allows, and
/// the record and the summary say what it was.
#[test]
fn connections_keep_to_their_rate() {
    let server = Fake::start(part("aurora-dsql"));
    let said = run(&target(&[server.port]), "-c 3 -j 1 -t 2 --connect-rate 2/1").exits(0);
    let plan = &said.record["plan"];
    assert_eq!(plan["connect_rate"].as_f64(), Some(2.0), "{plan}");
    assert_eq!(plan["connect_burst"].as_u64(), Some(1), "{plan}");
    // The second and the third wait for half a second and a whole one.
    assert!(said.record["connections"]["waited_us_sum"].as_u64() > Some(0));
    assert!(said.out.contains("at most 2.00/s"), "{}", said.out);
    assert_eq!(said.count("committed"), 6);
}

/// What a database is known for counts by itself, with something to spare, and
/// can be set aside.
#[test]
fn known_limits_count() {
    let dsql = Fake::start(part("aurora-dsql"));
    let said = run(&target(&[dsql.port]), "-c 2 -t 1").exits(0);
    let plan = &said.record["plan"];
    assert_eq!(
        (plan["connect_rate"].as_f64(), plan["connect_burst"].as_u64()),
        (Some(90.0), Some(900))
    );
    assert_eq!(plan["session_age_s"].as_f64(), Some(3600.0));
    let words = "-c 2 -t 1 --connect-rate none --session-age none";
    let said = run(&target(&[dsql.port]), words).exits(0);
    let plan = &said.record["plan"];
    assert!(plan["connect_rate"].is_null() && plan["session_age_s"].is_null(), "{plan}");
    let plain = Fake::start(part("postgres"));
    let said = run(&target(&[plain.port]), "-c 2 -t 1").exits(0);
    assert!(said.record["plan"]["connect_rate"].is_null());
}

/// Sessions are left before the server would end them, between transactions:
/// nothing fails, nothing is lost, and the record counts them.
#[test]
fn old_sessions_are_left_in_time() {
    let server = Fake::start(part("aurora-dsql"));
    let said = run(&target(&[server.port]), "-c 3 -T 3 --session-age 1s").exits(0);
    let connections = &said.record["connections"];
    let renewed = connections["renewed"].as_u64().unwrap();
    assert!(renewed > 0, "{connections}");
    assert_eq!(connections["lost"], 0);
    assert!(connections["setup"]["count"].as_u64() > Some(3), "{connections}");
    assert_eq!((said.count("failed"), said.count("unknown")), (0, 0));
    assert_eq!(said.record["ended"]["clients_aborted"], 0);
    assert!(said.out.contains("renewed before"), "{}", said.out);
}

/// Who left a session because of its age tries again where the server takes no
/// connection for a moment, though there is one endpoint only.
#[test]
fn one_refusal_ends_no_renewal() {
    let busy = Answer::Error("53300", "too many connections".to_owned());
    let server = Fake::start(part("aurora-dsql").times(2, LATER_SESSION, busy));
    let said = run(&target(&[server.port]), "-c 1 -T 4 --session-age 1s").exits(0);
    let connections = &said.record["connections"];
    assert_eq!(connections["failed"], 2, "{connections}");
    assert!(connections["renewed"].as_u64() > Some(0), "{connections}");
    assert_eq!((said.count("failed"), said.count("unknown")), (0, 0));
    assert_eq!(said.record["ended"]["clients_aborted"], 0, "{}", said.err);
}

/// Clients that wait for their start leave old sessions as well.
#[test]
fn waiting_clients_leave_old_sessions() {
    let server = Fake::start(part("aurora-dsql"));
    let said = run(&target(&[server.port]), "-c 3 -T 3 -R 30 --session-age 1s").exits(0);
    let connections = &said.record["connections"];
    assert!(connections["renewed"].as_u64() > Some(0), "{connections}");
    assert_eq!((said.count("failed"), said.count("unknown")), (0, 0));
    assert_eq!(connections["lost"], 0);
    assert!(said.count("committed") > 0, "{}", said.out);
}
