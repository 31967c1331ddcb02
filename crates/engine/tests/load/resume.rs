//! Loads that go on, and jobs that the server goes on with.
//!
//! That nothing is lost or doubled whatever dies is tried with the real
//! program, in `crates/pgdyno/tests/loading`.

use std::num::NonZeroU32;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use pgdyno_engine::load::{Begun, LoadError, LoadObserver, LoadPlan, LoadReport, Progress, load};
use pgdyno_target::detect::{Probe, ProbeError as DetectError};
use pgdyno_target::dialect::{ConnectionLimits, Evidence, LoadMethod};
use pgdyno_target::{Dialect, EmbeddedServer, dialect_by_name, postgres};
use pgdyno_workload::Workload;

use crate::altered::Altered;
use crate::common::{connect, context, server, value, workload};

/// Rows of a statement, few: a load of 100,000 rows then lasts for longer than
/// the time between two looks at its progress, on any machine.
const ROWS: u32 = 50;

/// Interrupts once some rows were sent, and hears from where a load began.
#[derive(Default)]
pub(crate) struct Listener {
    pub(crate) rows: Option<u64>,
    interrupt: AtomicBool,
    begun: Mutex<Option<Begun>>,
    pub(crate) warnings: Mutex<Vec<String>>,
}

impl Listener {
    pub(crate) fn begun(&self) -> Option<Begun> {
        *self.begun.lock().unwrap()
    }
}

impl LoadObserver for Listener {
    fn progress(&self, progress: &Progress) {
        if self.rows.is_some_and(|rows| progress.rows_done() >= rows) {
            self.interrupt.store(true, Ordering::Relaxed);
        }
    }

    fn begun(&self, begun: Begun) {
        *self.begun.lock().unwrap() = Some(begun);
    }

    fn warning(&self, text: &str) {
        self.warnings.lock().unwrap().push(text.to_owned());
    }
}

pub(crate) fn load_on(
    server: &EmbeddedServer,
    workload: &dyn Workload,
    dialect: &dyn Dialect,
    resume: bool,
    rows: u32,
    listener: &Listener,
) -> Result<LoadReport, LoadError> {
    let plan = LoadPlan {
        workload,
        dialect,
        endpoints: &[context(server)],
        jobs: NonZeroU32::new(2).unwrap(),
        seed: 1,
        method: Some(LoadMethod::Insert { rows_per_statement: rows }),
        resume,
    };
    load(&plan, listener, &listener.interrupt)
}

/// An interrupted load leaves marks; the next goes on with exactly what is
/// there, says so, and leaves none. Asked to go on with nothing, it begins anew.
#[test]
fn interrupted_load_goes_on() {
    let server = server();
    let mut session = connect(&server);
    let tpcb = workload("tpcb", 1);
    let anew = Listener::default();
    load_on(&server, &*tpcb, postgres(), true, 2000, &anew).unwrap();
    assert_eq!(*anew.begun.lock().unwrap(), Some(Begun::Anew));
    let interrupted = Listener { rows: Some(5000), ..Listener::default() };
    let error = load_on(&server, &*tpcb, postgres(), false, ROWS, &interrupted).unwrap_err();
    assert!(matches!(error, LoadError::Interrupted { .. }), "{error}");
    let there: u64 = ["branches", "tellers", "accounts"]
        .iter()
        .map(|table| {
            let sql = format!("SELECT count(*) FROM pgbench_{table}");
            value(&mut session, &sql).parse::<u64>().unwrap()
        })
        .sum();
    let again = Listener::default();
    let report = load_on(&server, &*tpcb, postgres(), true, ROWS, &again).unwrap();
    assert_eq!(*again.begun.lock().unwrap(), Some(Begun::Continued { rows: there }));
    assert_eq!((report.rows(), report.rows_found()), (100_011, there));
    assert_eq!(value(&mut session, "SELECT to_regclass('pgdyno_load') IS NULL"), "t");
    server.stop().unwrap();
}

/// A chunk whose commit was on its way when its loader died is waited for, and
/// not loaded a second time.
#[test]
fn commit_on_its_way_is_waited_for() {
    let server = server();
    let mut session = connect(&server);
    let tpcb = workload("tpcb", 1);
    let interrupted = Listener { rows: Some(5000), ..Listener::default() };
    load_on(&server, &*tpcb, postgres(), false, ROWS, &interrupted).unwrap_err();
    // The transaction of a dead loader: the first chunk that is missing.
    let missing = "SELECT min(n) FROM generate_series(2, 2001) AS n WHERE n NOT IN \
                   (SELECT number FROM pgdyno_load WHERE part = 'chunk')";
    let chunk: u64 = value(&mut session, missing).parse().unwrap();
    // Two chunks are those of the small tables.
    let rows = u64::from(ROWS);
    let (first, last) = ((chunk - 2) * rows + 1, (chunk - 1) * rows);
    let mut dead = connect(&server);
    for sql in [
        "BEGIN".to_owned(),
        format!("INSERT INTO pgdyno_load (part, number) VALUES ('chunk', {chunk})"),
        format!(
            "INSERT INTO pgbench_accounts (aid, bid, abalance, filler) \
             SELECT r, 1, 0, '' FROM generate_series({first}, {last}) AS r"
        ),
    ] {
        dead.execute(&sql).unwrap();
    }
    let report = std::thread::scope(|scope| {
        let going_on =
            scope.spawn(|| load_on(&server, &*tpcb, postgres(), true, ROWS, &Listener::default()));
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
        while value(&mut session, waiting) == "0" {
            assert!(!going_on.is_finished(), "it did not wait");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        dead.execute("COMMIT").unwrap();
        going_on.join().unwrap()
    });
    // The check at the end of the load would have found a doubled row.
    assert_eq!(report.unwrap().rows(), 100_011);
    server.stop().unwrap();
}

/// Where the statement that waits for a job fails, its state is looked at until
/// it has ended; one that failed is told with the server's words.
#[test]
fn jobs_are_polled_where_waiting_fails() {
    let server = server();
    let mut session = connect(&server);
    let dsql = dialect_by_name("aurora-dsql").unwrap();
    let workload = Altered {
        // What DSQL answers to CREATE INDEX ASYNC.
        keys: &["SELECT 'job1' AS job_id"],
        ..Altered::new("select-only")
    };
    session.execute("CREATE SCHEMA sys").unwrap();
    session.execute("CREATE SEQUENCE sys.looks").unwrap();
    let load = || load_on(&server, &workload, dsql, false, 2000, &Listener::default());
    let jobs = |end: &str| {
        format!(
            "CREATE OR REPLACE VIEW sys.jobs AS SELECT 'job1'::text AS job_id, CASE WHEN \
             nextval('sys.looks') % 3 <> 0 THEN 'processing' ELSE '{end}' END::text AS status, \
             'key is not unique'::text AS details"
        )
    };
    session.execute(&jobs("completed")).unwrap();
    load().unwrap();
    assert_eq!(value(&mut session, "SELECT last_value FROM sys.looks"), "3");
    session.execute(&jobs("failed")).unwrap();
    let error = load().unwrap_err();
    assert!(error.to_string().contains("job1 has failed: key is not unique"), "{error}");
    // Where the server's own wait works, one look is enough.
    session.execute("CREATE PROCEDURE sys.wait_for_job(text) LANGUAGE sql AS ''").unwrap();
    session.execute(&jobs("completed")).unwrap();
    load().unwrap();
    assert_eq!(value(&mut session, "SELECT last_value FROM sys.looks"), "7");
    server.stop().unwrap();
}

/// A server that closes sessions which are hardly used.
#[derive(Debug)]
struct ShortLived;

impl Dialect for ShortLived {
    fn name(&self) -> &'static str {
        "short-lived"
    }

    fn title(&self) -> &'static str {
        "Short-lived"
    }

    fn recognise(&self, _: &mut dyn Probe) -> Result<Option<Evidence>, DetectError> {
        Ok(None)
    }

    fn connection_limits(&self) -> ConnectionLimits {
        let session_age = Some(std::time::Duration::from_nanos(1));
        ConnectionLimits { session_age, ..ConnectionLimits::default() }
    }
}

/// A load that lasts for longer than a session may makes new sessions, and no
/// row is lost over it.
#[test]
fn sessions_are_renewed() {
    let server = server();
    let tpcb = workload("tpcb", 1);
    let report =
        load_on(&server, &*tpcb, &ShortLived, false, 10_000, &Listener::default()).unwrap();
    // One before each chunk: ten of accounts, and two of the small tables.
    assert_eq!((report.rows(), report.sessions_renewed), (100_011, 12));
    server.stop().unwrap();
}
