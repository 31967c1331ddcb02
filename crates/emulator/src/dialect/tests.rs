//! The rules against the recorded answers that need no server.

use super::*;

fn plan_of(sql: &str) -> Plan {
    let (_, tokens) = lex::statements(sql).remove(0);
    plan(sql, &tokens)
}

fn run_of(sql: &str) -> Run {
    match plan_of(sql) {
        Plan::Run(run) => run,
        other => panic!("{sql}: {other:?}"),
    }
}

/// Every single statement that was recorded as refused with 0A000 is refused
/// in the same words by the rules alone, unless its transaction is the reason;
/// none that was recorded as accepted is refused.
#[test]
fn recorded_refusals() {
    let recorded = include_str!("../../tests/dsql-recorded.tsv");
    let mut seen = 0;
    for line in recorded.lines().filter(|line| !line.starts_with('#')).skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [_, group, _, _, _, sql, outcome, sqlstate, message, ..] = fields[..] else {
            panic!("{line}");
        };
        if group == "multi_statement" {
            continue;
        }
        match (plan_of(sql), outcome) {
            // There the transaction is the reason.
            (Plan::Refused(_), "error") if sqlstate == "25P02" => {}
            (Plan::Refused(refusal), "error") => {
                assert_eq!((refusal.sqlstate, refusal.message.as_str()), (sqlstate, message));
                seen += 1;
            }
            (Plan::Refused(refusal), _) => panic!("{sql}: {refusal:?}"),
            (plan, "error") if sqlstate == "0A000" => {
                let by_the_server =
                    message.contains("CALL") || message.contains("same transaction");
                assert!(by_the_server, "{sql}: {plan:?}");
            }
            _ => {}
        }
    }
    assert!(seen > 60, "only {seen}");
}

/// Statements count for what they do to a transaction.
#[test]
fn kinds() {
    for (sql, kind) in [
        ("select 1", Kind::Read),
        ("select * from t where a = 'for update'", Kind::Read),
        ("select * from t for update", Kind::Lock),
        ("with x as (delete from t returning *) select * from x", Kind::Write),
        ("with x as (select 1) insert into t select * from x", Kind::Write),
        ("with x as (select 1) select * from x", Kind::Read),
        ("copy t from stdin", Kind::Write),
        ("copy t to stdout", Kind::Read),
        ("set search_path = a", Kind::Setting),
        ("drop table if exists a, b", Kind::Ddl),
        ("explain select 1", Kind::Read),
        ("explain analyze update t set a = 1", Kind::Write),
    ] {
        assert_eq!(run_of(sql).kind, kind, "{sql}");
    }
}

/// What the server behind gets differs only where it must.
#[test]
fn rewriting() {
    assert_eq!(run_of(" select version(), 'version()' ;").sql, "select sys.version(), 'version()'");
    assert_eq!(run_of("create index async i on t (a)").sql, "create index  i on t (a)");
    assert_eq!(run_of("select a  from t").sql, "select a  from t");
    let touch = run_of("select a from s.t x where x.id = $1 for update").touch;
    assert_eq!(
        touch.as_deref(),
        Some(
            "SELECT sys.emulator_touch('s.t'::regclass, \
             ARRAY(SELECT x.ctid FROM s.t x where x.id = $1  FOR UPDATE))"
        )
    );
    assert_eq!(run_of("select 1 from a join b on true for update").touch, None);
}

/// The create statement of `pgbench -i` fails as it did on a live cluster.
#[test]
fn pgbench_fillfactor() {
    let sql = "create table pgbench_tellers(tid int not null,bid int,tbalance int,filler char(84)) \
               with (fillfactor=100)";
    match plan_of(sql) {
        Plan::Refused(refusal) => {
            assert_eq!(refusal.message, "WITH clause not supported for CREATE TABLE");
        }
        other => panic!("{other:?}"),
    }
}
