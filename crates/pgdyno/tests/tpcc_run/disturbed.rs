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
use pgdyno_script::{Names, Script, Vars};
use pgdyno_target::{EmbeddedServer, postgres};
use pgdyno_wire::{ConnectContext, Connection};
use pgdyno_workload::tpcc::answer::Answer;
use pgdyno_workload::tpcc::input::Input;
use pgdyno_workload::tpcc::terminal::TpccTerminals;
use pgdyno_workload::tpcc::{Params, transactions};
use pgdyno_workload::{Body, Commits, Verdict, Workload, audit};

use crate::{connect, violated};

const CLIENTS: u32 = 8;

/// A server that has crashed is back within this, on any machine.
const COME_BACK_MAX: Duration = Duration::from_secs(60);

fn plan(server: &EmbeddedServer, params: Params, terminals: TpccTerminals) -> RunPlan {
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
    disturb: impl FnOnce(&AtomicBool) + Send,
) -> (RunOutcome, Vec<Answer>) {
    let (teller, answers) = channel();
    let terminals = TpccTerminals::new(params, 1, 100).telling(teller);
    let plan = plan(server, params, terminals);
    let over = AtomicBool::new(false);
    let outcome = std::thread::scope(|scope| {
        let disturbing = scope.spawn(|| disturb(&over));
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
/// compares; all conditions.
fn all_is_there(
    session: &mut Connection,
    workload: &dyn Workload,
    base: &pgdyno_workload::Figures,
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
    let findings = audit::after_run(session, workload, postgres(), base, &commits).unwrap();
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
        let (outcome, answers) = run(server, params, |over| end_sessions(server, over));
        let total = outcome.tally.total();
        assert!(total.retries > 0, "nothing was tried again");
        assert!(outcome.tally.connections.lost > 0, "no session was ended");
        all_is_there(&mut session, workload, &base, &outcome, &answers);
    }
    session.simple_query("alter role current_user reset default_transaction_isolation").unwrap();
}

/// Waits until an order has come in: then all clients are connected, and their
/// run has begun.
fn wait_for_an_order(session: &mut Connection, over: &AtomicBool) {
    const SUM: &str = "select sum(d_next_o_id) from district";
    let before = session.query_one_i64(SUM).unwrap();
    while !over.load(Ordering::Relaxed) && session.query_one_i64(SUM).unwrap() == before {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Ends a session that is in the middle of something, again and again.
fn end_sessions(server: &EmbeddedServer, over: &AtomicBool) {
    let mut session = connect(&server.options_tcp());
    wait_for_an_order(&mut session, over);
    while !over.load(Ordering::Relaxed) {
        session
            .simple_query(
                "select pg_terminate_backend(pid) from pg_stat_activity \
                 where pid <> pg_backend_pid() and backend_type = 'client backend' \
                 and xact_start is not null order by random() limit 1",
            )
            .unwrap();
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Assertion 25: a server process is killed; the server throws out everybody,
/// recovers from its log, and the clients come back.
pub(crate) fn by_a_crash(server: &EmbeddedServer, workload: &dyn Workload) {
    let mut session = connect(&server.options_tcp());
    let base = audit::read(&mut session, workload, postgres()).unwrap();
    // Without it the last commits are only in the memory that is thrown away.
    session.simple_query("alter role current_user set synchronous_commit = on").unwrap();
    drop(session);
    let (outcome, answers) = run(server, Params::default(), |over| crash(server, over));
    assert!(outcome.tally.connections.lost > 0, "nobody was thrown out");
    let mut session = come_back(server);
    all_is_there(&mut session, workload, &base, &outcome, &answers);
}

/// Kills a process in the middle of a transaction, once.
fn crash(server: &EmbeddedServer, over: &AtomicBool) {
    let mut session = connect(&server.options_tcp());
    wait_for_an_order(&mut session, over);
    while !over.load(Ordering::Relaxed) {
        let found = session
            .simple_query(
                "select pid from pg_stat_activity where pid <> pg_backend_pid() \
                 and backend_type = 'client backend' and xact_start is not null limit 1",
            )
            .unwrap();
        if let Some(Some(pid)) = found[0].rows.first().map(|row| row[0].clone()) {
            let killed = std::process::Command::new("kill").args(["-9", &pid]).status().unwrap();
            if killed.success() {
                return;
            }
        }
    }
    panic!("the run was over before anything was killed");
}

fn come_back(server: &EmbeddedServer) -> Connection {
    let begin = Instant::now();
    let context = ConnectContext::new(&server.options_tcp()).unwrap();
    loop {
        match Connection::connect(&context) {
            Ok(connection) => return connection,
            Err(error) => assert!(begin.elapsed() < COME_BACK_MAX, "{error}"),
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
