//! The ground of these tests: a null server, plans against it, and logs.

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pgdyno_benches::null::{Config, NullServer};
use pgdyno_engine::observe::Silent;
use pgdyno_engine::outcome::{Ended, RunOutcome};
use pgdyno_engine::plan::{
    Backoff, ChoiceStream, ClockStart, ConnectPlan, Limit, LogPlan, PollerChoice, Program,
    Protocol, Rate, RetryPolicy, RunPlan, TransactionType,
};
use pgdyno_script::{Names, Script, Vars};
use pgdyno_target::postgres;
use pgdyno_wire::connect::ConnectContext;
use pgdyno_wire::conninfo::{self, MapEnv};

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Tests of time do not run beside each other.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A server that answers after `delay`.
pub(crate) fn server(delay: Duration) -> NullServer {
    NullServer::start(&Config { delay, ..Config::default() }).unwrap()
}

/// The ways of waiting that this machine has.
pub(crate) fn pollers() -> Vec<PollerChoice> {
    let ring = pgdyno_ring::probe().is_ok().then_some(PollerChoice::IoUring);
    std::iter::once(PollerChoice::Readiness).chain(ring).collect()
}

/// One select, again and again, for `time`, without a warm-up. In the simple
/// protocol each transaction is one request and one answer, and nothing else
/// is held back by the server.
pub(crate) fn plan(server: &NullServer, clients: u32, time: Duration) -> RunPlan {
    let dsn = format!("host=127.0.0.1 port={} user=u dbname=d sslmode=disable", server.port());
    let options = conninfo::resolve(Some(&dsn), &[], &MapEnv::default()).unwrap().options;
    let mut names = Names::new();
    let script = Script::parse("select.sql", b"select 1;", &mut names).unwrap();
    let initial = Vars::new(&names);
    RunPlan {
        endpoints: vec![ConnectContext::new(&options).unwrap()],
        dialect: postgres(),
        program: Program { types: vec![TransactionType { script, weight: 1 }], names, initial },
        terminals: None,
        clients: NonZeroU32::new(clients).unwrap(),
        workers: NonZeroU32::MIN,
        protocol: Protocol::Simple,
        poller: PollerChoice::Readiness,
        prepare_early: false,
        limit: Limit::Duration(time),
        warmup: Duration::ZERO,
        ramp: Duration::ZERO,
        measure_drain: true,
        clock_start: ClockStart::AfterConnecting,
        rate: None,
        latency_limit: None,
        retry: RetryPolicy { tries_max: NonZeroU32::new(1), backoff: Backoff::None },
        continue_on_error: false,
        unknown_goes_on: true,
        reconnect: false,
        connect: ConnectPlan::default(),
        seed: 20_261_121,
        choice: ChoiceStream::PerClient,
        statement_latency: false,
        log: None,
        detailed_failures: true,
        exit_on_abort: false,
        verbose_errors: false,
        debug: false,
    }
}

/// So many starts per second, at equal distances.
pub(crate) fn steady(tps: f64) -> Option<Rate> {
    Some(Rate { tps, steady: true, slack: Duration::ZERO })
}

/// Runs to the planned end.
pub(crate) fn run(plan: RunPlan) -> RunOutcome {
    let outcome = pgdyno_engine::run(plan, Arc::new(Silent), &AtomicBool::new(false)).unwrap();
    assert_eq!(outcome.ended, Ended::Completed, "{:?}", outcome.errors);
    outcome
}

/// A line of the transaction log. Times in µs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line {
    pub(crate) client: u32,
    /// From the scheduled start under a rate.
    pub(crate) latency_us: u64,
    pub(crate) end_us: u64,
    /// From the scheduled to the actual start.
    pub(crate) lag_us: u64,
}

impl Line {
    /// The start from which the latency counts.
    pub(crate) fn start_us(&self) -> u64 {
        self.end_us - self.latency_us
    }

    fn parse(text: &str) -> Self {
        let words: Vec<&str> = text.split(' ').collect();
        let number = |at: usize| words[at].parse::<u64>().unwrap();
        Self {
            client: number(0) as u32,
            latency_us: number(2),
            end_us: number(4) * 1_000_000 + number(5),
            lag_us: if words.len() > 6 { number(6) } else { 0 },
        }
    }
}

/// Runs, and gives back the log of all workers as well, in order of the starts.
pub(crate) fn run_with_log(mut plan: RunPlan) -> (RunOutcome, Vec<Line>) {
    let dir = tempfile::tempdir().unwrap();
    plan.log = Some(LogPlan { prefix: dir.path().join("log"), aggregate: None, sampling: None });
    let outcome = run(plan);
    let mut lines = read_logs(dir.path());
    lines.sort_unstable_by_key(Line::start_us);
    (outcome, lines)
}

fn read_logs(dir: &Path) -> Vec<Line> {
    let files = std::fs::read_dir(dir).unwrap();
    let texts = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
    texts
        .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
        .filter(|line| !line.contains("skipped"))
        .map(|line| Line::parse(&line))
        .collect()
}

/// Transactions that ended in the whole run, by what became of them:
/// committed, skipped.
pub(crate) fn ended(outcome: &RunOutcome) -> (u64, u64) {
    let parts = [&outcome.warmup, &outcome.tally, &outcome.drain];
    let totals = parts.map(pgdyno_record::Tally::total);
    (totals.iter().map(|t| t.committed).sum(), totals.iter().map(|t| t.skipped).sum())
}

/// Takes precedence over the machine's other work where that is allowed, for
/// this thread and those that it starts. An ordinary user may not.
pub(crate) fn take_precedence() {
    of_this_thread("chrt", &["--fifo", "--pid", "1"]);
}

/// Lets others go first, which everybody may.
pub(crate) fn give_way() {
    of_this_thread("renice", &["-n", "10", "-p"]);
}

/// Where the program is missing or refuses, the test has a harder time.
fn of_this_thread(program: &str, args: &[&str]) {
    let thread = nix::unistd::gettid().to_string();
    let _ = std::process::Command::new(program)
        .args(args)
        .arg(thread)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status();
}

/// How often a machine may disturb a test before it counts.
const ROUNDS_MAX: u32 = 6;

/// Runs a test whose bounds a busy machine can break by stopping a thread for
/// a while. A clock or a count that is wrong is wrong in each round.
pub(crate) fn in_one_round(test: impl Fn()) {
    for round in 1..ROUNDS_MAX {
        match std::panic::catch_unwind(std::panic::AssertUnwindSafe(&test)) {
            Ok(()) => return,
            Err(_) => eprintln!("round {round} was disturbed"),
        }
    }
    test();
}
