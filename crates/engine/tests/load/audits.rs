//! Audits, probe and reset against real tables, with honest and dishonest runs.

use pgdyno_target::postgres;
use pgdyno_workload::{
    Commits, Finding, ProbeError, Reset, Session, SqlError, Verdict, Workload, audit,
};

use crate::common::{connect, load_quietly, server, value, workload};

/// Runs tpcb-like transactions by hand and gives how many were committed.
fn transactions(session: &mut dyn Session, count: u64) -> u64 {
    for number in 0..count {
        let (aid, tid, delta) = (1 + number * 997 % 100_000, 1 + number % 10, number * 7 + 1);
        for sql in [
            "BEGIN".to_owned(),
            format!("UPDATE pgbench_accounts SET abalance = abalance + {delta} WHERE aid = {aid}"),
            format!("UPDATE pgbench_tellers SET tbalance = tbalance + {delta} WHERE tid = {tid}"),
            format!("UPDATE pgbench_branches SET bbalance = bbalance + {delta} WHERE bid = 1"),
            format!(
                "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) \
                 VALUES ({tid}, 1, {aid}, {delta}, CURRENT_TIMESTAMP)"
            ),
            "END".to_owned(),
        ] {
            session.execute(&sql).unwrap();
        }
    }
    count
}

/// Reads the base, does `work`, and audits what it says it did.
fn audited<S: Session>(
    session: &mut S,
    workload: &dyn Workload,
    unknown: u64,
    work: impl FnOnce(&mut S) -> u64,
) -> Vec<Finding> {
    let base = audit::read(session, workload, postgres()).unwrap();
    let committed = work(session);
    let commits = [Commits { committed, unknown, without_effect: 0 }];
    audit::after_run(session, workload, postgres(), &base, &commits).unwrap()
}

fn failures(findings: &[Finding]) -> Vec<&str> {
    findings.iter().filter(|f| f.verdict == Verdict::Fail).map(|f| f.text.as_str()).collect()
}

/// An honest run passes, and each planted lie fails with figure and amount.
#[test]
fn honest_runs_pass_and_lies_do_not() {
    let server = server();
    let tpcb = workload("tpcb", 1);
    load_quietly(&server, &*tpcb, 1);
    let mut session = connect(&server);
    let base = audit::read(&mut session, &*tpcb, postgres()).unwrap();
    assert_eq!(tpcb.judge_base(&base)[0].verdict, Verdict::Pass);

    let honest = audited(&mut session, &*tpcb, 0, |s| transactions(s, 40));
    assert!(failures(&honest).is_empty(), "{honest:?}");

    // A commit whose answer was lost may have happened; one more may not.
    let unknown = audited(&mut session, &*tpcb, 1, |s| transactions(s, 10) - 1);
    assert!(failures(&unknown).is_empty(), "{unknown:?}");
    let beyond = audited(&mut session, &*tpcb, 1, |s| transactions(s, 10) - 2);
    assert_eq!(failures(&beyond).len(), 1, "{beyond:?}");
    assert!(failures(&beyond)[0].ends_with("1 too many"), "{beyond:?}");

    let by_hand = audited(&mut session, &*tpcb, 0, |s| {
        s.execute("UPDATE pgbench_branches SET bbalance = bbalance + 3 WHERE bid = 1").unwrap();
        transactions(s, 5)
    });
    let [only] = failures(&by_hand).try_into().unwrap();
    assert!(only.contains("sum(bbalance)") && only.ends_with("off by +3"), "{only}");

    // The base is unclean from now on: a note, and honest runs still pass.
    let base = audit::read(&mut session, &*tpcb, postgres()).unwrap();
    let note = &tpcb.judge_base(&base)[0];
    assert_eq!(note.verdict, Verdict::Note);
    assert!(note.text.starts_with("base was not clean") && note.text.contains("off by +3"));
    let honest = audited(&mut session, &*tpcb, 0, |s| transactions(s, 5));
    assert!(failures(&honest).is_empty(), "{honest:?}");
    server.stop().unwrap();
}

/// A trigger that drops every tenth history row is caught by two rules.
#[test]
fn lost_history_is_caught() {
    let server = server();
    let tpcb = workload("tpcb", 1);
    load_quietly(&server, &*tpcb, 1);
    let mut session = connect(&server);
    session.execute("CREATE SEQUENCE lie").unwrap();
    session
        .execute(
            "CREATE FUNCTION drop_some() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN \
             IF nextval('lie') % 10 = 0 THEN RETURN NULL; END IF; RETURN NEW; END$$",
        )
        .unwrap();
    session
        .execute(
            "CREATE TRIGGER lie BEFORE INSERT ON pgbench_history FOR EACH ROW \
             EXECUTE FUNCTION drop_some()",
        )
        .unwrap();
    let findings = audited(&mut session, &*tpcb, 0, |s| transactions(s, 30));
    let texts = failures(&findings);
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert!(texts[0].contains("sum(delta)") && texts[0].contains("off by -"), "{}", texts[0]);
    assert!(texts[1].ends_with("30 committed transactions: 3 are missing"), "{}", texts[1]);
    server.stop().unwrap();
}

/// The read-only workload holds that nothing changes; the simple one, that
/// tellers and branches do not.
#[test]
fn variants_have_rules_of_their_own() {
    let server = server();
    let select = workload("select-only", 1);
    load_quietly(&server, &*select, 2);
    let mut session = connect(&server);
    let quiet = audited(&mut session, &*select, 0, |s| {
        value(s, "SELECT abalance FROM pgbench_accounts WHERE aid = 7");
        1
    });
    assert!(failures(&quiet).is_empty(), "{quiet:?}");
    assert_eq!(failures(&audited(&mut session, &*select, 0, |s| transactions(s, 2))).len(), 2);
    let simple = workload("simple-update", 1);
    let touched = audited(&mut session, &*simple, 0, |s| transactions(s, 2));
    assert_eq!(failures(&touched).len(), 1, "{touched:?}");
    server.stop().unwrap();
}

/// A probe tells the scale, and names the command where tables are missing or
/// do not fit each other.
#[test]
fn probe_tells_scale_or_command() {
    let server = server();
    let mut session = connect(&server);
    let tpcb = workload("tpcb", 2);
    let missing = tpcb.probe(&mut session, "prod").unwrap_err();
    let text = missing.to_string();
    assert!(matches!(missing, ProbeError::Missing { .. }), "{text}");
    assert!(text.ends_with("pgdyno init prod --workload tpcb --scale 2"), "{text}");
    assert!(text.contains("\"pgbench_branches\" does not exist"), "{text}");
    load_quietly(&server, &*tpcb, 2);
    // Asked as another scale, the tables still tell their own.
    assert_eq!(workload("tpcb", 9).probe(&mut session, "prod").unwrap().scale, 2);
    session.execute("DELETE FROM pgbench_tellers WHERE tid > 19").unwrap();
    let text = tpcb.probe(&mut session, "prod").unwrap_err().to_string();
    assert!(text.contains("2 branches, 19 tellers, accounts up to number 200000"), "{text}");
    server.stop().unwrap();
}

/// A reset restores the loaded state in place, and asks for a load where rows
/// are missing or most accounts were changed.
#[test]
fn reset_restores_the_loaded_state() {
    let server = server();
    let tpcb = workload("tpcb", 1);
    load_quietly(&server, &*tpcb, 1);
    let mut session = connect(&server);
    let fresh = audit::read(&mut session, &*tpcb, postgres()).unwrap();
    transactions(&mut session, 25);
    assert_ne!(audit::read(&mut session, &*tpcb, postgres()).unwrap(), fresh);
    let done = tpcb.reset(&mut session, postgres()).unwrap();
    // 25 accounts, 10 tellers and a branch; TRUNCATE counts no rows.
    assert_eq!(done, Reset::Done { rows: 36 });
    assert_eq!(audit::read(&mut session, &*tpcb, postgres()).unwrap(), fresh);
    assert_eq!(tpcb.reset(&mut session, postgres()).unwrap(), Reset::Done { rows: 0 });

    session.execute("UPDATE pgbench_accounts SET abalance = 1 WHERE aid <= 30000").unwrap();
    let Reset::Reload { reason } = tpcb.reset(&mut session, postgres()).unwrap() else {
        panic!("reset in place")
    };
    assert_eq!(reason, "30000 of 100000 accounts were changed");
    session.execute("DELETE FROM pgbench_accounts WHERE aid = 5").unwrap();
    let reload = tpcb.reset(&mut session, postgres()).unwrap();
    assert_eq!(reload, Reset::Reload { reason: "there are 99999 accounts, not 100000".into() });
    server.stop().unwrap();
}

/// A session whose every statement but the first few fails.
struct Failing<'a> {
    inner: &'a mut dyn Session,
    left: u32,
}

impl Session for Failing<'_> {
    fn query(&mut self, sql: &str) -> Result<(Vec<String>, Vec<pgdyno_workload::Row>), SqlError> {
        self.inner.query(sql)
    }

    fn execute(&mut self, sql: &str) -> Result<u64, SqlError> {
        if self.left == 0 && sql != "ROLLBACK" {
            return Err(SqlError { sqlstate: None, text: "cut".into() });
        }
        self.left = self.left.saturating_sub(1);
        self.inner.execute(sql)
    }
}

/// A reset that fails half way changes nothing.
#[test]
fn failed_reset_leaves_all_as_it_was() {
    let server = server();
    let tpcb = workload("tpcb", 1);
    load_quietly(&server, &*tpcb, 1);
    let mut session = connect(&server);
    transactions(&mut session, 5);
    let before = audit::read(&mut session, &*tpcb, postgres()).unwrap();
    for left in 0..6 {
        let error = tpcb.reset(&mut Failing { inner: &mut session, left }, postgres()).unwrap_err();
        assert!(error.to_string().contains("cut"), "{error}");
        assert_eq!(audit::read(&mut session, &*tpcb, postgres()).unwrap(), before, "after {left}");
    }
    server.stop().unwrap();
}
