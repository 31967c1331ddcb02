//! The loader: same data as pgbench, progress, and every way to end early.

use std::num::NonZeroU32;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use pgdyno_engine::load::{LoadError, LoadObserver, LoadPlan, Phase, Progress, SilentLoad, load};
use pgdyno_target::{EmbeddedServer, postgres};
use pgdyno_workload::{ProbeError, Session};

use crate::common::{connect, context, load_quietly, load_with, server, value, workload};

/// Far above the half second that is promised, because a loaded machine may
/// stop any process for longer; far below the time that a hang would take.
const PROMPT: Duration = Duration::from_secs(30);

/// All rows and the shape of all tables as one text.
fn fingerprint(session: &mut dyn Session) -> String {
    let tables = [
        ("pgbench_accounts", "aid"),
        ("pgbench_branches", "bid"),
        ("pgbench_tellers", "tid"),
        ("pgbench_history", "tid"),
    ];
    let mut all = String::new();
    for (table, key) in tables {
        let rows = format!("SELECT md5(string_agg(t::text, '|' ORDER BY {key})) FROM {table} t");
        let columns = format!(
            "SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod) || ' ' || \
             attnotnull, ', ' ORDER BY attnum) FROM pg_attribute \
             WHERE attrelid = '{table}'::regclass AND attnum > 0"
        );
        let rest = format!(
            "SELECT coalesce(array_to_string(reloptions, ','), '') || ' ' || coalesce((SELECT \
             string_agg(pg_get_indexdef(indexrelid) || indisprimary, ';') FROM pg_index \
             WHERE indrelid = c.oid), '') FROM pg_class c WHERE oid = '{table}'::regclass"
        );
        for sql in [rows, columns, rest] {
            all += &value(session, &sql);
            all.push('\n');
        }
    }
    all
}

/// Runs the real pgbench's initialization; false where none is installed.
fn pgbench_init(server: &EmbeddedServer) -> bool {
    let options = server.options_tcp();
    let host = &options.hosts[0];
    let pgbench = server.installation().bin_dir.join("pgbench");
    if !pgbench.exists() {
        return false;
    }
    let output = Command::new(pgbench)
        .args(["-i", "-s", "1", "-q", "-h", &host.name, "-p", &host.port.to_string()])
        .args(["-U", &options.user, &options.dbname])
        .env("PGPASSWORD", host.password.as_ref().unwrap().reveal())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    true
}

/// Tables, columns, options, keys and every row are those of `pgbench -i`,
/// whatever the number of connections.
#[test]
fn same_as_pgbench_with_one_and_four_jobs() {
    let server = server();
    let mut session = connect(&server);
    let tpcb = workload("tpcb", 1);
    let one = load_quietly(&server, &*tpcb, 1);
    assert!(one.frozen);
    let single = fingerprint(&mut session);
    let four = load_quietly(&server, &*tpcb, 4);
    assert!(!four.frozen);
    assert_eq!((four.rows(), four.bytes), (100_011, one.bytes));
    assert_eq!(fingerprint(&mut session), single);
    assert!(single.contains("aid integer true, bid integer false"), "{single}");
    assert!(
        single.contains("fillfactor=100 CREATE UNIQUE INDEX pgbench_accounts_pkey"),
        "{single}"
    );
    if pgbench_init(&server) {
        assert_eq!(fingerprint(&mut session), single);
    } else {
        eprintln!("skipped the comparison: no pgbench is installed");
    }
    server.stop().unwrap();
}

#[derive(Default)]
struct Recorder(Mutex<Vec<(Instant, Progress)>>);

impl LoadObserver for Recorder {
    fn progress(&self, progress: &Progress) {
        self.0.lock().unwrap().push((Instant::now(), progress.clone()));
    }
}

/// Progress names the phases in order, counts every row, never runs
/// backwards, and comes at most ten times a second within a phase.
#[test]
fn progress_is_complete_and_not_too_often() {
    let server = server();
    let recorder = Recorder::default();
    let tpcb = workload("tpcb", 3);
    load_with(&server, &*tpcb, 2, &recorder, &AtomicBool::new(false)).unwrap();
    let told = recorder.0.into_inner().unwrap();
    let mut phases: Vec<Phase> = told.iter().map(|(_, progress)| progress.phase).collect();
    phases.dedup();
    // Nothing was left half made.
    let all: Vec<Phase> = Phase::ALL.into_iter().filter(|phase| *phase != Phase::Repair).collect();
    assert_eq!(phases, all);
    let done: Vec<u64> = told.iter().map(|(_, progress)| progress.rows_done()).collect();
    assert!(done.is_sorted());
    assert_eq!(done.last(), Some(&300_033));
    for phase in all {
        let of_phase: Vec<&(Instant, Progress)> =
            told.iter().filter(|(_, progress)| progress.phase == phase).collect();
        let lasted = of_phase[of_phase.len() - 1].0 - of_phase[0].0;
        // The first and the last are told besides, of each of at most two parts.
        let most = 4 + lasted.as_millis() / 100;
        assert!(of_phase.len() as u128 <= most, "{phase:?}: {} in {lasted:?}", of_phase.len());
    }
    server.stop().unwrap();
}

/// Sets the interrupt, or does something else, once some rows were sent.
struct AtRows<'a> {
    rows: u64,
    act: &'a (dyn Fn() + Sync),
    when: Mutex<Option<Instant>>,
}

impl LoadObserver for AtRows<'_> {
    fn progress(&self, progress: &Progress) {
        let mut when = self.when.lock().unwrap();
        if when.is_none() && progress.rows_done() >= self.rows {
            *when = Some(Instant::now());
            (self.act)();
        }
    }
}

/// An interrupt ends a load promptly, says how far it came, and what is left
/// of it is told from a complete load.
#[test]
fn interrupt_ends_the_rows() {
    let server = server();
    for jobs in [1, 3] {
        let interrupt = AtomicBool::new(false);
        let act = || interrupt.store(true, Ordering::Relaxed);
        let observer = AtRows { rows: 1, act: &act, when: Mutex::new(None) };
        let tpcb = workload("tpcb", 100);
        let error = load_with(&server, &*tpcb, jobs, &observer, &interrupt).unwrap_err();
        let waited = observer.when.into_inner().unwrap().unwrap().elapsed();
        assert!(waited < PROMPT, "{waited:?}");
        let LoadError::Interrupted { rows_done, rows_total } = error else { panic!("{error}") };
        assert!(rows_done > 0 && rows_done < rows_total, "{rows_done} of {rows_total}");
        let probed = tpcb.probe(&mut connect(&server), "embedded").unwrap_err();
        match probed {
            ProbeError::Missing { command, .. } => {
                assert_eq!(command, "pgdyno init embedded --workload tpcb --scale 100");
            }
            ProbeError::Incomplete { .. } => assert!(jobs > 1, "one job loads all or nothing"),
            ProbeError::Access(error) => panic!("{error}"),
        }
    }
    server.stop().unwrap();
}

/// An interrupt ends the wait for a statement of the server's as well, and
/// the server does not go on with it.
#[test]
fn interrupt_ends_a_long_statement() {
    let server = server();
    let tpcb = workload("tpcb", 1);
    load_quietly(&server, &*tpcb, 1);
    let mut holder = connect(&server);
    holder.execute("BEGIN").unwrap();
    holder.execute("LOCK TABLE pgbench_tellers").unwrap();
    let interrupt = AtomicBool::new(false);
    let ended = std::thread::scope(|scope| {
        let running = scope.spawn(|| load_with(&server, &*tpcb, 2, &SilentLoad, &interrupt));
        let mut watcher = connect(&server);
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
        while value(&mut watcher, waiting) == "0" {
            std::thread::sleep(Duration::from_millis(10));
        }
        let begun = Instant::now();
        interrupt.store(true, Ordering::Relaxed);
        let ended = running.join().unwrap();
        assert!(begun.elapsed() < PROMPT, "{:?}", begun.elapsed());
        let deadline = Instant::now() + PROMPT;
        while value(&mut watcher, waiting) != "0" {
            assert!(Instant::now() < deadline, "the server still waits for the lock");
            std::thread::sleep(Duration::from_millis(10));
        }
        ended
    });
    assert!(matches!(ended, Err(LoadError::Interrupted { .. })), "{ended:?}");
    server.stop().unwrap();
}

/// A server that goes down in mid-load gives one error with place and words,
/// and no worker hangs.
#[test]
fn killed_server_is_one_clear_error() {
    for (signal, jobs) in [(Signal::SIGQUIT, 4), (Signal::SIGINT, 2), (Signal::SIGQUIT, 1)] {
        let server = server();
        let port = server.options_tcp().hosts[0].port;
        let pid = Pid::from_raw(server.pid().cast_signed());
        let act = || kill(pid, signal).unwrap();
        let observer = AtRows { rows: 1, act: &act, when: Mutex::new(None) };
        let error =
            load_with(&server, &*workload("tpcb", 100), jobs, &observer, &AtomicBool::new(false))
                .unwrap_err();
        let waited = observer.when.into_inner().unwrap().unwrap().elapsed();
        assert!(waited < PROMPT, "{waited:?}");
        let LoadError::Statement { what, at, sqlstate, words, connection_lost } = &error else {
            panic!("{error}")
        };
        assert!(connection_lost, "{error}");
        // The server closes with rows unread, so a reset follows its farewell; on
        // a busy machine with several processors it can overtake it, and then
        // no client ever sees the words.
        match sqlstate.as_deref() {
            Some("57P01" | "57P02") => assert!(words.contains("terminating connection"), "{words}"),
            other => {
                assert_eq!(other, None, "{error}");
                assert!(words.contains("server closed the connection unexpectedly"), "{words}");
            }
        }
        assert!(what.contains("of rows ") && what.contains(" into pgbench_"), "{what}");
        assert!(at.contains(&port.to_string()), "{at}");
        drop(server);
    }
}

/// A server that is not there is told with host and port, before anything else.
#[test]
fn refused_connection_names_the_place() {
    let server = server();
    let plan_context = context(&server);
    let port = server.options_tcp().hosts[0].port;
    server.stop().unwrap();
    let plan = LoadPlan {
        workload: &*workload("tpcb", 1),
        dialect: postgres(),
        endpoints: &[plan_context],
        jobs: NonZeroU32::MIN,
        seed: 1,
        method: None,
        resume: false,
    };
    let error = load(&plan, &SilentLoad, &AtomicBool::new(false)).unwrap_err();
    let LoadError::Connect { sqlstate, words } = &error else { panic!("{error}") };
    assert_eq!(*sqlstate, None);
    assert!(words.contains(&format!("port {port}")) && words.contains("refused"), "{words}");
}

/// A refused statement is told with its words, the server's and the SQLSTATE.
#[test]
fn refusal_is_told_in_the_servers_words() {
    let server = server();
    let tpcb = workload("tpcb", 1);
    load_quietly(&server, &*tpcb, 1);
    let mut session = connect(&server);
    session.execute("CREATE VIEW v AS SELECT * FROM pgbench_tellers").unwrap();
    let interrupt = AtomicBool::new(false);
    let error = load_with(&server, &*tpcb, 2, &SilentLoad, &interrupt).unwrap_err();
    let LoadError::Statement { what, sqlstate, words, connection_lost, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!((what.as_str(), sqlstate.as_deref()), ("DROP TABLE IF EXISTS", Some("2BP01")));
    assert!(words.contains("other objects depend on"), "{words}");
    assert!(!connection_lost);
    server.stop().unwrap();
}

/// Rows that the server swallows are noticed by the check at the end of the
/// COPY that lost them.
#[test]
fn swallowed_rows_are_noticed() {
    let server = server();
    let mut session = connect(&server);
    session
        .execute(
            "CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS \
             $$BEGIN IF NEW.aid = 77777 THEN RETURN NULL; END IF; RETURN NEW; END$$",
        )
        .unwrap();
    // An event trigger plants the lie on the table that the loader makes.
    session
        .execute(
            "CREATE FUNCTION plant() RETURNS event_trigger LANGUAGE plpgsql AS $$BEGIN IF EXISTS \
             (SELECT FROM pg_event_trigger_ddl_commands() WHERE object_identity = \
             'public.pgbench_accounts' AND command_tag = 'CREATE TABLE') THEN CREATE TRIGGER t \
             BEFORE INSERT ON pgbench_accounts FOR EACH ROW EXECUTE FUNCTION swallow(); \
             END IF; END$$",
        )
        .unwrap();
    session.execute("CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION plant()").unwrap();
    let interrupt = AtomicBool::new(false);
    let tpcb = workload("tpcb", 1);
    let error = load_with(&server, &*tpcb, 2, &SilentLoad, &interrupt).unwrap_err();
    let LoadError::Check { table, .. } = &error else { panic!("{error}") };
    assert_eq!(*table, "pgbench_accounts");
    server.stop().unwrap();
}
