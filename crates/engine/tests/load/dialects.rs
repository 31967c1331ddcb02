//! The loader in the ways of other databases, on a PostgreSQL that plays them:
//! it takes every statement that is not a vendor's own.

use std::num::NonZeroU32;
use std::sync::atomic::AtomicBool;

use pgdyno_engine::load::{LoadError, LoadPlan, LoadReport, SilentLoad, load};
use pgdyno_target::dialect::LoadMethod;
use pgdyno_target::{Dialect, EmbeddedServer, dialect_by_name};
use pgdyno_workload::Session;

use crate::common::{connect, context, load_quietly, server, value, workload};

fn load_as(
    server: &EmbeddedServer,
    dialect: &dyn Dialect,
    method: Option<LoadMethod>,
) -> Result<LoadReport, LoadError> {
    let plan = LoadPlan {
        workload: &*workload("tpcb", 1),
        dialect,
        endpoints: &[context(server)],
        jobs: NonZeroU32::new(2).unwrap(),
        seed: 1,
        method,
        resume: false,
    };
    load(&plan, &SilentLoad, &AtomicBool::new(false))
}

/// All accounts as one text.
fn accounts(session: &mut dyn Session) -> String {
    let sql = "SELECT md5(string_agg(t::text, '|' ORDER BY aid)) FROM pgbench_accounts t";
    value(session, sql)
}

/// A table that refuses its first rows with an error, a number of times: made
/// by an event trigger, since the loader makes the table.
fn plant(session: &mut dyn Session, failures: u32, sqlstate: &str, message: &str) {
    session.execute("CREATE SEQUENCE tries").unwrap();
    session
        .execute(&format!(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN \
             IF NEW.aid % 2000 = 1999 AND nextval('tries') <= {failures} THEN \
             RAISE EXCEPTION USING ERRCODE = '{sqlstate}', MESSAGE = '{message}'; END IF; \
             RETURN NEW; END$$"
        ))
        .unwrap();
    session
        .execute(
            "CREATE FUNCTION plant() RETURNS event_trigger LANGUAGE plpgsql AS $$BEGIN IF EXISTS \
             (SELECT FROM pg_event_trigger_ddl_commands() WHERE object_identity = \
             'public.pgbench_accounts' AND command_tag = 'CREATE TABLE') THEN CREATE TRIGGER t \
             BEFORE INSERT ON pgbench_accounts FOR EACH ROW EXECUTE FUNCTION refuse(); \
             END IF; END$$",
        )
        .unwrap();
    session.execute("CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION plant()").unwrap();
}

/// The rows are the same in every dialect that PostgreSQL understands, and
/// whether they are copied or inserted.
#[test]
fn rows_are_the_same_in_every_way() {
    let server = server();
    let mut session = connect(&server);
    load_quietly(&server, &*workload("tpcb", 1), 2);
    let expected = accounts(&mut session);
    let insert = LoadMethod::Insert { rows_per_statement: 700 };
    for (name, method) in
        [("aurora-dsql", None), ("aurora-dsql", Some(insert)), ("postgres", Some(insert))]
    {
        let report = load_as(&server, dialect_by_name(name).unwrap(), method).unwrap();
        assert_eq!((report.rows(), report.frozen), (100_011, false));
        assert!(report.retries.is_empty(), "{:?}", report.retries);
        assert_eq!(accounts(&mut session), expected, "{name} {method:?}");
    }
    server.stop().unwrap();
}

/// No transaction of a load holds more rows than the dialect allows.
#[test]
fn transactions_keep_to_the_limit() {
    let server = server();
    load_as(&server, dialect_by_name("dsql").unwrap(), None).unwrap();
    let largest = "SELECT max(n) FROM (SELECT count(*) AS n FROM pgbench_accounts GROUP BY xmin) x";
    let rows: u64 = value(&mut connect(&server), largest).parse().unwrap();
    assert!(rows <= 3000 && rows > 1000, "{rows}");
    server.stop().unwrap();
}

/// A conflict is tried again and counted, and leaves neither gap nor double;
/// the check at the end of the load would tell.
#[test]
fn conflicts_are_tried_again() {
    let server = server();
    let mut session = connect(&server);
    plant(&mut session, 5, "40001", "change conflicts with another transaction (OC000)");
    for method in [None, Some(LoadMethod::Insert { rows_per_statement: 1000 })] {
        session.execute("ALTER SEQUENCE tries RESTART").unwrap();
        let report = load_as(&server, dialect_by_name("dsql").unwrap(), method).unwrap();
        assert_eq!(report.retries, [("40001".to_owned(), 5)]);
        assert_eq!(report.rows(), 100_011);
    }
    server.stop().unwrap();
}

/// What does not pass is given up after some tries, in the server's words.
#[test]
fn patience_ends() {
    let server = server();
    let mut session = connect(&server);
    plant(&mut session, 10_000, "40001", "change conflicts (OC000)");
    let error = load_as(&server, dialect_by_name("dsql").unwrap(), None).unwrap_err();
    let LoadError::Statement { sqlstate, words, .. } = &error else { panic!("{error}") };
    assert_eq!(sqlstate.as_deref(), Some("40001"));
    assert!(words.contains("OC000"), "{words}");
    let tries: u64 = value(&mut session, "SELECT last_value FROM tries").parse().unwrap();
    assert!((12..=24).contains(&tries), "{tries} tries over two connections");
    server.stop().unwrap();
}
