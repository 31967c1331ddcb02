//! Runs that are disturbed: by conflicts, by sessions that are ended, and by a
//! crash of the server. Afterwards every acknowledged order is there, and
//! nothing is there twice.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use pgdyno_engine::observe::Silent;
use pgdyno_engine::outcome::{Ended, RunOutcome};
use pgdyno_engine::plan::{
    Backoff, ChoiceStream, ClockStart, ConnectPlan, Limit, Program, Protocol, RetryPolicy, RunPlan,
    TransactionType,
};
use pgdyno_record::tally::ScriptTally;
use pgdyno_script::{Names, Script, Vars};
use pgdyno_target::{EmbeddedServer, postgres};
use pgdyno_wire::options::Options;
use pgdyno_wire::{ConnectContext, Connection};
use pgdyno_workload::tpcc::answer::Answer;
use pgdyno_workload::tpcc::input::Input;
use pgdyno_workload::tpcc::terminal::TpccTerminals;
use pgdyno_workload::tpcc::{Params, transactions};
use pgdyno_workload::{Body, Commits, Told, Verdict, Workload, audit};

use crate::{connect, violated};

const CLIENTS: u32 = 8;

/// A server that has crashed is back within this, on any machine.
pub(crate) const COME_BACK_MAX: Duration = Duration::from_secs(60);

/// Sessions that are ended beside one run, after the first.
const ENDED_MAX: u32 = 50;

pub(crate) fn plan(server: &EmbeddedServer, params: Params, terminals: TpccTerminals) -> RunPlan {
    let mut names = Names::new();
    let mut types = Vec::new();
    for transaction in transactions::transactions(&params) {
        let Body::Procedure(text) = transaction.body else { panic!("a procedure") };
        let script = Script::parse(transaction.name, text.as_bytes(), &mut names).unwrap();
        types.push(TransactionType { script, weight: transaction.weight });
    }
    let initial = Vars::new(&names);
    RunPlan {
        endpoints: vec![ConnectContext::new(&server.options_unix()).unwrap()],
        dialect: postgres(),
        program: Program { types, names, initial },
        terminals: Some(Arc::new(terminals)),
        clients: NonZeroU32::new(CLIENTS).unwrap(),
        workers: NonZeroU32::new(2).unwrap(),
        protocol: Protocol::Prepared,
        poller: pgdyno_engine::plan::PollerChoice::Auto,
        prepare_early: true,
        limit: Limit::Transactions(80),
        warmup: Duration::ZERO,
        ramp: Duration::ZERO,
        measure_drain: true,
        clock_start: ClockStart::AfterConnecting,
        rate: None,
        latency_limit: None,
        retry: RetryPolicy { tries_max: None, backoff: Backoff::None },
        continue_on_error: true,
        unknown_goes_on: true,
        reconnect: false,
        connect: ConnectPlan { reconnect_lost: true, ..ConnectPlan::default() },
        seed: 11,
        choice: ChoiceStream::PerClient,
        statement_latency: false,
        log: None,
        detailed_failures: true,
        exit_on_abort: false,
        verbose_errors: false,
        debug: false,
    }
}

/// Runs while `disturb` does its work beside it, until `disturb` ends.
fn run(
    server: &EmbeddedServer,
    params: Params,
    disturb: impl FnOnce(Connection, &AtomicBool) + Send,
) -> (RunOutcome, Vec<Answer>) {
    let (teller, answers) = channel();
    let terminals = TpccTerminals::new(params, 1, 100).telling(teller);
    let plan = plan(server, params, terminals);
    let over = AtomicBool::new(false);
    let gate = hold_rows(server);
    let outcome = std::thread::scope(|scope| {
        let disturbing = scope.spawn(|| disturb(gate, &over));
        let outcome = pgdyno_engine::run(plan, Arc::new(Silent), &AtomicBool::new(false));
        // Before anything can fail here: the other thread ends by it.
        over.store(true, Ordering::Relaxed);
        disturbing.join().unwrap();
        outcome.unwrap()
    });
    assert_eq!(outcome.ended, Ended::Completed, "{:?}", outcome.errors);
    (outcome, answers.try_iter().collect())
}

/// Every acknowledged order, by itself; the counts and sums that the workload
/// compares, the mix as so many clients can deal it; all conditions.
pub(crate) fn all_is_there(
    session: &mut Connection,
    workload: &dyn Workload,
    base: &pgdyno_workload::Figures,
    clients: u32,
    outcome: &RunOutcome,
    answers: &[Answer],
) {
    let orders: Vec<String> = answers
        .iter()
        .filter(|answer| answer.committed)
        .filter_map(|answer| match &answer.input {
            Input::NewOrder(order) => {
                let (w, d) = (order.warehouse, order.district);
                Some(format!("({w},{d},{},{})", answer.number, order.customer))
            }
            _ => None,
        })
        .collect();
    let acknowledged = outcome.acknowledged.committed[0];
    assert_eq!(orders.len() as u64, acknowledged);
    let found = session
        .query_one_i64(&format!(
            "select count(*) from orders join (values {}) a (w, d, o, c) \
             on o_w_id = w and o_d_id = d and o_id = o and o_c_id = c",
            orders.join(",")
        ))
        .unwrap();
    assert_eq!(found as u64, acknowledged, "an acknowledged order is not there");
    let acknowledged = outcome.acknowledged.committed.iter().zip(&outcome.acknowledged.unknown);
    let commits: Vec<Commits> = acknowledged
        .map(|(committed, unknown)| Commits {
            committed: *committed,
            unknown: *unknown,
            without_effect: 0,
        })
        .collect();
    let mut all = outcome.warmup.clone();
    all.merge(&outcome.tally);
    all.merge(&outcome.drain);
    let run = |script: &ScriptTally| script.finished() - script.skipped;
    let finished = all.scripts.iter().map(run).collect();
    let told = Told { clients, finished, counters: all.counters };
    let findings =
        audit::after_run_told(session, workload, postgres(), base, &commits, Some(&told)).unwrap();
    for name in ["acknowledged lines", "acknowledged amounts", "acknowledged deliveries", "mix"] {
        assert!(findings.iter().any(|finding| finding.name == name), "{name}");
    }
    for finding in findings {
        assert_eq!(finding.verdict, Verdict::Pass, "{}: {}", finding.name, finding.text);
    }
    assert_eq!(violated(session, workload, postgres()), Vec::<&str>::new());
}

/// Assertion 23: at repeatable read, where the hot rows conflict all the time,
/// and with sessions that are ended beside it, in both forms.
pub(crate) fn by_ended_sessions(server: &EmbeddedServer, workload: &dyn Workload) {
    let mut session = connect(&server.options_tcp());
    session
        .simple_query(
            "alter role current_user set default_transaction_isolation = 'repeatable read'",
        )
        .unwrap();
    for procs in [false, true] {
        let base = audit::read(&mut session, workload, postgres()).unwrap();
        let params = Params { procs, ..Params::default() };
        let (outcome, answers) = run(server, params, end_sessions);
        let total = outcome.tally.total();
        assert!(total.retries > 0, "nothing was tried again");
        assert!(outcome.tally.connections.lost > 0, "no session was ended");
        all_is_there(&mut session, workload, &base, CLIENTS, &outcome, &answers);
    }
    session.simple_query("alter role current_user reset default_transaction_isolation").unwrap();
}

/// Holds the rows that nearly every transaction writes, before the run
/// begins: no client gets past them before the disturbance.
fn hold_rows(server: &EmbeddedServer) -> Connection {
    let mut gate = connect(&server.options_tcp());
    for sql in [
        "begin isolation level read committed",
        "update district set d_tax = d_tax",
        "update warehouse set w_tax = w_tax",
    ] {
        gate.simple_query(sql).unwrap();
    }
    gate
}

/// Waits until two sessions wait for the held rows; gives the process of one.
fn wait_for_waiting(gate: &mut Connection) -> String {
    let begin = Instant::now();
    loop {
        // Within a transaction the view would show the same for ever.
        gate.simple_query("select pg_stat_clear_snapshot()").unwrap();
        let found = gate
            .simple_query(
                "select pid from pg_stat_activity where wait_event_type = 'Lock' \
                 and backend_type = 'client backend'",
            )
            .unwrap();
        if let [first, _, ..] = found[0].rows.as_slice() {
            return first[0].clone().unwrap();
        }
        assert!(begin.elapsed() < COME_BACK_MAX, "nobody waits for the held rows");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Ends a session that is in the middle of something, again and again. The
/// first one waits for the held rows, as does another, which conflicts when
/// they are let go.
fn end_sessions(mut gate: Connection, over: &AtomicBool) {
    let pid = wait_for_waiting(&mut gate);
    gate.simple_query(&format!("select pg_terminate_backend({pid})")).unwrap();
    gate.simple_query("commit").unwrap();
    // So few that a slow machine's run comes to its end.
    for _ in 0..ENDED_MAX {
        if over.load(Ordering::Relaxed) {
            return;
        }
        gate.simple_query(
            "select pg_terminate_backend(pid) from pg_stat_activity \
             where pid <> pg_backend_pid() and backend_type = 'client backend' \
             and xact_start is not null order by random() limit 1",
        )
        .unwrap();
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Assertion 25: a server process is killed; the server throws out everybody,
/// recovers from its log, and the clients come back, in both forms.
pub(crate) fn by_a_crash(server: &EmbeddedServer, workload: &dyn Workload) {
    commit_in_earnest(&mut connect(&server.options_tcp()));
    for procs in [false, true] {
        let mut session = connect(&server.options_tcp());
        let base = audit::read(&mut session, workload, postgres()).unwrap();
        drop(session);
        let params = Params { procs, ..Params::default() };
        let (outcome, answers) = run(server, params, crash);
        assert!(outcome.tally.connections.lost > 0, "nobody was thrown out");
        let mut session = come_back(&server.options_tcp());
        all_is_there(&mut session, workload, &base, CLIENTS, &outcome, &answers);
    }
}

/// Has the sessions from now on commit before they say so: by the server's
/// setting the last commits are only in the memory that a crash throws away.
/// So would be this change itself, were its own session not the first.
pub(crate) fn commit_in_earnest(session: &mut Connection) {
    session.simple_query("set synchronous_commit = on").unwrap();
    session.simple_query("alter role current_user set synchronous_commit = on").unwrap();
}

/// Kills a process in the middle of a transaction, once. The crash lets the
/// held rows go.
fn crash(mut gate: Connection, _over: &AtomicBool) {
    let pid = wait_for_waiting(&mut gate);
    let killed = std::process::Command::new("kill").args(["-9", &pid]).status().unwrap();
    assert!(killed.success(), "nothing was killed");
}

pub(crate) fn come_back(options: &Options) -> Connection {
    let begin = Instant::now();
    let context = ConnectContext::new(options).unwrap();
    loop {
        match Connection::connect(&context) {
            Ok(connection) => return connection,
            Err(error) => assert!(begin.elapsed() < COME_BACK_MAX, "{error}"),
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
