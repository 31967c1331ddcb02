//! Loads that go on where keys, indexes or foreign keys were half made.

use pgdyno_engine::load::{Begun, LoadError};
use pgdyno_target::detect::{Probe, ProbeError};
use pgdyno_target::dialect::{Evidence, TransactionLimits};
use pgdyno_target::{Dialect, EmbeddedServer};

use crate::altered::Altered;
use crate::common::{connect, server, value};
use crate::resume::{Listener, load_on};

/// A database that takes one change of the schema after the other, each a
/// transaction of its own.
#[derive(Debug)]
struct Apart;

/// The same, but it does not know this question after indexes.
#[derive(Debug)]
struct Unasked(&'static str);

impl Dialect for Unasked {
    fn name(&self) -> &'static str {
        "unasked"
    }

    fn title(&self) -> &'static str {
        "Unasked"
    }

    fn recognise(&self, _: &mut dyn Probe) -> Result<Option<Evidence>, ProbeError> {
        Ok(None)
    }

    fn invalid_indexes_query(&self, _: &[&str]) -> Option<String> {
        Some(self.0.to_owned())
    }

    fn transaction_limits(&self) -> TransactionLimits {
        Apart.transaction_limits()
    }
}

/// A database that does not know the question after invalid indexes costs a
/// warning with the question, not the load; any other refusal ends it.
#[test]
fn unknown_question_is_a_warning() {
    let server = server();
    let altered = Altered { keys: &["CREATE INDEX i ON missing (n)"], ..Altered::new("tpcb") };
    let missing = "SELECT relname FROM no_such_catalog";
    let error = load_on(&server, &altered, &Unasked(missing), false, 2000, &Listener::default());
    assert!(error.is_err());
    let divided = Unasked("SELECT (1 / 0)::text");
    let error = load_on(&server, &altered, &divided, true, 2000, &Listener::default()).unwrap_err();
    assert!(error.to_string().contains("22012"), "{error}");
    let session = &mut connect(&server);
    session.execute("CREATE TABLE missing (n int)").unwrap();
    for unknown in [missing, "SELECT no_such_function()", "SELECT no_such_column FROM pg_index"] {
        session.execute("DROP INDEX IF EXISTS i").unwrap();
        session.execute("DROP TABLE missing").unwrap();
        let begun =
            load_on(&server, &altered, &Unasked(unknown), false, 2000, &Listener::default());
        assert!(begun.is_err());
        session.execute("CREATE TABLE missing (n int)").unwrap();
        let listener = Listener::default();
        load_on(&server, &altered, &Unasked(unknown), true, 2000, &listener).unwrap();
        let warnings = listener.warnings.lock().unwrap();
        assert!(warnings.len() == 1 && warnings[0].contains(unknown), "{warnings:?}");
    }
    server.stop().unwrap();
}

impl Dialect for Apart {
    fn name(&self) -> &'static str {
        "apart"
    }

    fn title(&self) -> &'static str {
        "Apart"
    }

    fn recognise(&self, _: &mut dyn Probe) -> Result<Option<Evidence>, ProbeError> {
        Ok(None)
    }

    fn unfinished_jobs_query(&self) -> Option<&'static str> {
        Some("SELECT job FROM jobs")
    }

    fn job_status_query(&self, job: &str) -> Option<String> {
        Some(format!("DELETE FROM jobs WHERE job = '{job}' RETURNING 'failed', 'duplicates'"))
    }

    fn transaction_limits(&self) -> TransactionLimits {
        TransactionLimits { ddl_statements: Some(1), ..TransactionLimits::default() }
    }
}

fn go_on(server: &EmbeddedServer, altered: &Altered) {
    let listener = Listener::default();
    load_on(server, altered, &Apart, true, 2000, &listener).unwrap();
    assert!(matches!(listener.begun(), Some(Begun::Continued { .. })));
}

/// An index that a broken load has left invalid is dropped and made again,
/// whether or not it has its mark, once the server has ended its job; a valid
/// one stays as it is.
#[test]
fn invalid_indexes_are_made_again() {
    let server = server();
    let mut session = connect(&server);
    let altered = Altered {
        keys: &[
            "CREATE INDEX half ON pgbench_tellers (bid)",
            "CREATE INDEX marked ON pgbench_tellers (tbalance)",
            "CREATE INDEX whole ON pgbench_tellers (tid)",
            "CREATE INDEX missing ON pgbench_nothing (n)",
        ],
        ..Altered::new("tpcb")
    };
    let error = load_on(&server, &altered, &Apart, false, 2000, &Listener::default()).unwrap_err();
    assert!(matches!(error, LoadError::Statement { .. }), "{error}");
    for sql in [
        "DELETE FROM pgdyno_load WHERE part = 'key' AND number <> 1",
        "CREATE INDEX \"Odd \"\"name\" ON pgbench_tellers (bid)",
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid IN ('half'::regclass, \
         'marked'::regclass, '\"Odd \"\"name\"'::regclass)",
        "CREATE TABLE pgbench_nothing (n int)",
        "CREATE TABLE jobs (job text)",
        "INSERT INTO jobs VALUES ('job1')",
    ] {
        session.execute(sql).unwrap();
    }
    let whole = value(&mut session, "SELECT 'whole'::regclass::oid");
    go_on(&server, &altered);
    let valid = "SELECT string_agg(indexrelid::regclass::text, ' ' ORDER BY \
                 indexrelid::regclass::text) FROM pg_index WHERE indisvalid AND indrelid IN \
                 ('pgbench_tellers'::regclass, 'pgbench_nothing'::regclass)";
    assert_eq!(value(&mut session, valid), "half marked missing whole");
    assert_eq!(value(&mut session, "SELECT count(*) FROM pg_index WHERE NOT indisvalid"), "0");
    assert_eq!(value(&mut session, "SELECT 'whole'::regclass::oid"), whole);
    assert_eq!(value(&mut session, "SELECT count(*) FROM jobs"), "0");
    server.stop().unwrap();
}

/// Statements after the keys leave no mark: a foreign key that was made before
/// the load was broken off is no failure when it goes on, and the others are
/// made.
#[test]
fn foreign_keys_are_made_once() {
    let server = server();
    let mut session = connect(&server);
    let altered = Altered {
        keys: &["ALTER TABLE pgbench_branches ADD PRIMARY KEY (bid)"],
        settle: &[
            "ALTER TABLE pgbench_tellers ADD CONSTRAINT one FOREIGN KEY (bid) \
             REFERENCES pgbench_branches",
            "ALTER TABLE pgbench_tellers ADD CONSTRAINT two FOREIGN KEY (tid) \
             REFERENCES pgbench_nothing",
        ],
        ..Altered::new("tpcb")
    };
    let error = load_on(&server, &altered, &Apart, false, 2000, &Listener::default()).unwrap_err();
    assert!(error.to_string().contains("pgbench_nothing"), "{error}");
    let foreign = "SELECT count(*) FROM pg_constraint WHERE contype = 'f'";
    assert_eq!(value(&mut session, foreign), "1");
    session.execute("CREATE TABLE pgbench_nothing (n int PRIMARY KEY)").unwrap();
    session.execute("CREATE TABLE jobs (job text)").unwrap();
    session.execute("INSERT INTO pgbench_nothing SELECT generate_series(1, 10)").unwrap();
    go_on(&server, &altered);
    assert_eq!(value(&mut session, foreign), "2");
    server.stop().unwrap();
}
