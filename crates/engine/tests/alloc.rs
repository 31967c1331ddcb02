//! The engine allocates nothing per transaction in the steady state.
//!
//! A counting allocator looks at runs that differ only in their length. What
//! a run costs once (threads, connections, statements, histograms) is in both
//! counts and falls out of the difference; what is left must not grow with the
//! number of transactions. Each worker hands over a finished second, which is
//! the one thing that may be allocated while a run goes on: it grows with time.

#![allow(unsafe_code, reason = "an allocator that counts can only be written so")]
#![allow(clippy::print_stdout, reason = "the figures, where the test is run by hand")]
#![allow(clippy::unwrap_used, reason = "a test ends where its fixture fails")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use pgdyno_engine::observe::Silent;
use pgdyno_engine::outcome::Ended;
use pgdyno_engine::plan::{
    Backoff, ChoiceStream, ClockStart, ConnectPlan, Limit, PollerChoice, Program, Protocol,
    RetryPolicy, RunPlan, TransactionType,
};
use pgdyno_script::{Names, Script, Vars};
use pgdyno_target::{EmbeddedConfig, EmbeddedServer, postgres};
use pgdyno_wire::Connection;
use pgdyno_wire::connect::ConnectContext;

/// Counts every call that asks the system for memory, of any thread.
struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every method hands its arguments to the system's allocator as they
// are and gives back what it says; counting touches no memory but the counter.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the rules of this very method.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above; `memory` came from the system's allocator.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Two workers, so that what they share is part of it.
const WORKERS: u32 = 2;
const CLIENTS: u32 = 4;

/// Transactions of each client: the short run reaches every buffer's final
/// size, the long one does ten times as much.
const SHORT: u64 = 100;
const LONG: u64 = 10 * SHORT;

/// What a second costs at most: for each worker the second itself, its
/// histograms' growth and its message, and the coordinator's adding up.
const PER_SECOND_MAX: u64 = 100 * WORKERS as u64;

/// What the scheduler's whims may cost over a whole run: a histogram that
/// grows for one slow transaction, a queue that doubles.
const WHIMS_MAX: u64 = 150;

const TPCB: &str = "\\set aid random(1, 10000)\n\\set bid random(1, 4)\n\\set delta random(-5000, 5000)\n\
    BEGIN;\n\
    UPDATE accounts SET abalance = abalance + :delta WHERE aid = :aid;\n\
    SELECT abalance FROM accounts WHERE aid = :aid;\n\
    UPDATE branches SET bbalance = bbalance + :delta WHERE bid = :bid;\n\
    INSERT INTO history VALUES (:aid, :bid, :delta, CURRENT_TIMESTAMP);\n\
    END;\n";

const SELECT_ONLY: &str =
    "\\set aid random(1, 10000)\nSELECT abalance FROM accounts WHERE aid = :aid;\n";

/// Variables from the server, arithmetic and a branch.
const GSET: &str = "\\set aid random(1, 10000)\n\
    SELECT abalance AS was, 'text' AS word FROM accounts WHERE aid = :aid \\gset\n\
    \\if :was > 1000000\nSELECT 1;\n\\else\nSELECT :was + 1;\n\\endif\n";

/// Several statements under way at once.
const PIPELINE: &str = "\\startpipeline\nSELECT 1;\nSELECT 2;\n\\endpipeline\n";

const TABLES: &str = "\
    create table accounts (aid int primary key, abalance int) with (fillfactor = 50); \
    create table branches (bid int primary key, bbalance int) with (fillfactor = 10); \
    create table history (aid int, bid int, delta int, mtime timestamp); \
    insert into accounts select a, 0 from generate_series(1, 10000) a; \
    insert into branches select b, 0 from generate_series(1, 4) b";

fn server() -> EmbeddedServer {
    let config = EmbeddedConfig {
        no_fsync: true,
        settings: vec![("shared_buffers".into(), "32MB".into())],
        ..EmbeddedConfig::default()
    };
    let server = EmbeddedServer::start(&config).unwrap();
    let context = ConnectContext::new(&server.options_tcp()).unwrap();
    Connection::connect(&context).unwrap().simple_query(TABLES).unwrap();
    server
}

/// The ways of waiting that this machine has.
fn pollers() -> Vec<PollerChoice> {
    let ring = pgdyno_ring::probe().is_ok().then_some(PollerChoice::IoUring);
    std::iter::once(PollerChoice::Readiness).chain(ring).collect()
}

fn plan(server: &EmbeddedServer, text: &str, protocol: Protocol, transactions: u64) -> RunPlan {
    let mut names = Names::new();
    let script = Script::parse("test.sql", text.as_bytes(), &mut names).unwrap();
    let initial = Vars::new(&names);
    let types = vec![TransactionType { script, weight: 1 }];
    RunPlan {
        endpoints: vec![ConnectContext::new(&server.options_unix()).unwrap()],
        dialect: postgres(),
        program: Program { types, names, initial },
        terminals: None,
        clients: NonZeroU32::new(CLIENTS).unwrap(),
        workers: NonZeroU32::new(WORKERS).unwrap(),
        protocol,
        poller: PollerChoice::Readiness,
        prepare_early: true,
        limit: Limit::Transactions(transactions),
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
        seed: 1,
        choice: ChoiceStream::PerClient,
        statement_latency: true,
        log: None,
        detailed_failures: true,
        exit_on_abort: false,
        verbose_errors: false,
        debug: false,
    }
}

/// Allocations of one run, and the seconds that it took, begun ones counted.
fn cost(plan: RunPlan) -> (u64, u64) {
    let transactions = match plan.limit {
        Limit::Transactions(count) => count * u64::from(CLIENTS),
        Limit::Duration(_) => 0,
    };
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    let begin = Instant::now();
    let outcome = pgdyno_engine::run(plan, Arc::new(Silent), &AtomicBool::new(false)).unwrap();
    let seconds = begin.elapsed().as_secs() + 1;
    let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
    assert_eq!(outcome.ended, Ended::Completed, "{:?}", outcome.errors);
    assert_eq!(outcome.tally.total().committed, transactions);
    (allocations, seconds)
}

/// Descriptors that this process has open. Workers have tables of their own,
/// so one that a worker was to close may be left here.
#[cfg(target_os = "linux")]
fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// A counter that sees nothing would prove nothing.
fn the_counter_counts() {
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    let kept: Vec<Box<u64>> = (0..1000).map(Box::new).collect();
    assert!(ALLOCATIONS.load(Ordering::Relaxed) - before >= 1000, "{}", kept.len());
}

/// Ten times the transactions cost no more allocations, whatever the script
/// and the protocol; only time may cost some. A run leaves no descriptor open.
#[test]
fn nothing_is_allocated_per_transaction() {
    // Not a test of its own: it would run at the same time and be counted.
    the_counter_counts();
    let server = server();
    let cases = [
        (
            "select-only",
            SELECT_ONLY,
            &[Protocol::Simple, Protocol::Extended, Protocol::Prepared][..],
        ),
        ("tpcb", TPCB, &[Protocol::Simple, Protocol::Prepared][..]),
        ("gset", GSET, &[Protocol::Simple, Protocol::Prepared][..]),
        ("pipeline", PIPELINE, &[Protocol::Prepared][..]),
    ];
    for (name, text, protocols) in cases {
        let ways = pollers();
        for (protocol, poller) in protocols.iter().flat_map(|p| ways.iter().map(move |w| (*p, *w)))
        {
            let plan =
                |transactions| RunPlan { poller, ..plan(&server, text, protocol, transactions) };
            // The process's own first-time costs belong to neither run.
            cost(plan(1));
            #[cfg(target_os = "linux")]
            let open = open_descriptors();
            let (short, short_s) = cost(plan(SHORT));
            let (long, long_s) = cost(plan(LONG));
            #[cfg(target_os = "linux")]
            assert_eq!(
                open_descriptors(),
                open,
                "{name}, {protocol:?}, {poller:?}: descriptors left open"
            );
            let more = long.saturating_sub(short);
            let allowed = WHIMS_MAX + PER_SECOND_MAX * long_s.saturating_sub(short_s);
            let transactions = (LONG - SHORT) * u64::from(CLIENTS);
            println!("{name}, {protocol:?}, {poller:?}: {short}, {long} ({long_s} s)");
            assert!(
                more <= allowed,
                "{name}, {protocol:?}, {poller:?}: {more} more allocations for {transactions} more \
                 transactions; {allowed} are allowed ({short} in {short_s} s, {long} in {long_s} s)"
            );
        }
    }
}
