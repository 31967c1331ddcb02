//! Procedures against a real server: batches, rows, errors in the middle of a
//! batch, new tries with the same inputs, rollbacks on purpose, pauses.

#![allow(clippy::unwrap_used, reason = "a test ends where its fixture fails")]

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pgdyno_engine::observe::Silent;
use pgdyno_engine::outcome::{Ended, RunOutcome};
use pgdyno_engine::plan::{
    Backoff, ChoiceStream, ClockStart, ConnectPlan, Limit, Program, Protocol, RetryPolicy, RunPlan,
    TransactionType,
};
use pgdyno_script::{Names, Script, Slot, Vars};
use pgdyno_target::embedded::{EmbeddedConfig, EmbeddedServer};
use pgdyno_target::postgres;
use pgdyno_wire::Connection;
use pgdyno_wire::backend::DataRow;
use pgdyno_wire::connect::ConnectContext;
use pgdyno_workload::{BadRow, Batch, Seat, Step, Terminal, Terminals, TransactionEnd, Turn};

const TABLES: &str = "\
    create table account (id int primary key, balance bigint not null); \
    create table note (client int, number int, text text); \
    insert into account select a, 0 from generate_series(1, 1000) a; \
    create sequence first_tries; \
    create function fail_once(a int) returns int language plpgsql as $$ begin \
      if nextval('first_tries') % 2 = 1 then \
        raise exception 'again' using errcode = '40001'; end if; return a; end $$";

/// Commands: 0 BEGIN, 1 update, 2 fails at each first try, 3 insert, 4 COMMIT,
/// 5 ROLLBACK, 6 a refusal with a state of its own.
const COMMANDS: &str = "BEGIN;
UPDATE account SET balance = balance + :delta WHERE id = :id RETURNING id, balance;
SELECT fail_once(:id::int);
INSERT INTO note VALUES (:client, :number, :text);
COMMIT;
ROLLBACK;
SELECT 1 / (:id::int - :id::int);
";

/// What the terminals of a run do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deed {
    /// One batch: begin, update, insert, commit.
    OneBatch,
    /// Two batches; the first fails in its middle at each first try.
    FailsOnce,
    /// Every other transaction rolls back on purpose.
    RollsBack,
    /// The server's refusal is the foreseen end.
    Refused,
    /// As one batch, but a row is not what the terminal can use.
    Unusable,
}

#[derive(Debug)]
struct Deeds {
    deed: Deed,
    wait: Duration,
    rows: Arc<AtomicU64>,
    /// What was begun: client, number and id of each try.
    tries: Arc<Mutex<Vec<(u32, i64, i64)>>>,
}

impl Deeds {
    fn new(deed: Deed) -> Self {
        let (rows, tries) = (Arc::default(), Arc::default());
        Self { deed, wait: Duration::ZERO, rows, tries }
    }
}

impl Terminals for Deeds {
    fn terminal(&self, seat: &Seat<'_>) -> Box<dyn Terminal> {
        let slots = ["delta", "id", "client", "number", "text"].map(|name| seat.slot(name));
        assert!(slots.iter().all(Option::is_some));
        Box::new(One {
            deed: self.deed,
            wait: self.wait,
            rows: Arc::clone(&self.rows),
            tries: Arc::clone(&self.tries),
            slots,
            client: seat.client,
            number: 0,
            stage: 0,
            last: 0,
        })
    }

    fn counters(&self) -> &'static [&'static str] {
        &["ended", "of them committed"]
    }
}

#[derive(Debug)]
struct One {
    deed: Deed,
    wait: Duration,
    rows: Arc<AtomicU64>,
    tries: Arc<Mutex<Vec<(u32, i64, i64)>>>,
    slots: [Option<Slot>; 5],
    client: u32,
    number: i64,
    stage: u32,
    last: i64,
}

impl One {
    /// Each client has accounts of its own.
    fn id(&self) -> i64 {
        i64::from(self.client) * 10 + self.number % 10 + 1
    }

    fn rolls_back(&self) -> bool {
        self.deed == Deed::RollsBack && self.number % 2 == 0
    }
}

impl Terminal for One {
    fn next(&mut self) -> Turn {
        self.number += 1;
        Turn { transaction: 0, wait: self.wait }
    }

    fn begin(&mut self) {
        self.stage = 0;
        self.tries.lock().unwrap().push((self.client, self.number, self.id()));
    }

    fn step(&mut self, batch: &mut Batch<'_>) -> Step {
        self.stage += 1;
        let [delta, id, client, number, text] = self.slots;
        batch.int(delta, 5);
        batch.int(id, self.id());
        batch.int(client, self.client.into());
        batch.int(number, self.number);
        batch.text(text, b"it's");
        let end = if self.rolls_back() { 5 } else { 4 };
        let commands: &[usize] = match (self.deed, self.stage) {
            (Deed::OneBatch | Deed::RollsBack | Deed::Unusable, 1) => &[0, 1, 3, end],
            (Deed::FailsOnce, 1) => &[0, 1, 2, 1],
            (Deed::FailsOnce, 2) => &[3, 4],
            (Deed::Refused, 1) => &[1, 6],
            _ if self.rolls_back() => return Step::RolledBack,
            _ => return Step::Committed,
        };
        for command in commands {
            // What is pushed keeps the values of this moment.
            batch.int(delta, 5);
            batch.push(*command);
            batch.int(delta, 1_000_000);
        }
        Step::Send
    }

    fn row(&mut self, place: usize, command: usize, row: DataRow<'_>) -> Result<(), BadRow> {
        self.rows.fetch_add(1, Ordering::Relaxed);
        if self.deed == Deed::Unusable && self.number == TRANSACTIONS as i64 {
            return Err(BadRow("as planned"));
        }
        let first = row.values().next().and_then(Result::ok).flatten();
        self.last = first
            .and_then(|text| std::str::from_utf8(text).ok()?.parse().ok())
            .ok_or(BadRow("no number"))?;
        assert_eq!(self.last, self.id());
        assert!(matches!((place, command), (1, 1) | (2, 2) | (3, 1) | (0, 1)), "{place} {command}");
        Ok(())
    }

    fn refused(&mut self, sqlstate: &str) -> bool {
        self.deed == Deed::Refused && sqlstate == "22012"
    }

    fn ended(&mut self, end: TransactionEnd, counters: &mut [u64]) {
        counters[0] += 1;
        counters[1] += u64::from(end == TransactionEnd::Committed);
    }
}

fn server() -> (EmbeddedServer, Connection) {
    let config = EmbeddedConfig { no_fsync: true, ..EmbeddedConfig::default() };
    let server = EmbeddedServer::start(&config).unwrap();
    let context = ConnectContext::new(&server.options_tcp()).unwrap();
    let mut connection = Connection::connect(&context).unwrap();
    connection.simple_query(TABLES).unwrap();
    (server, connection)
}

const CLIENTS: u32 = 4;
const TRANSACTIONS: u64 = 25;
const ALL: u64 = CLIENTS as u64 * TRANSACTIONS;

fn plan(server: &EmbeddedServer, deeds: Deeds, protocol: Protocol) -> RunPlan {
    let mut names = Names::new();
    let script = Script::parse("deeds", COMMANDS.as_bytes(), &mut names).unwrap();
    let initial = Vars::new(&names);
    RunPlan {
        endpoints: vec![ConnectContext::new(&server.options_unix()).unwrap()],
        dialect: postgres(),
        program: Program { types: vec![TransactionType { script, weight: 1 }], names, initial },
        terminals: Some(Arc::new(deeds)),
        clients: NonZeroU32::new(CLIENTS).unwrap(),
        workers: NonZeroU32::new(2).unwrap(),
        protocol,
        poller: pgdyno_engine::plan::PollerChoice::Auto,
        prepare_early: true,
        limit: Limit::Transactions(TRANSACTIONS),
        warmup: Duration::ZERO,
        ramp: Duration::ZERO,
        measure_drain: true,
        clock_start: ClockStart::AfterConnecting,
        rate: None,
        latency_limit: None,
        retry: RetryPolicy { tries_max: NonZeroU32::new(50), backoff: Backoff::None },
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

fn run(plan: RunPlan) -> RunOutcome {
    let outcome = pgdyno_engine::run(plan, Arc::new(Silent), &AtomicBool::new(false)).unwrap();
    assert_eq!(outcome.ended, Ended::Completed, "{:?}", outcome.errors);
    outcome
}

fn number(connection: &mut Connection, sql: &str) -> i64 {
    connection.query_one_i64(sql).unwrap()
}

const PROTOCOLS: [Protocol; 3] = [Protocol::Simple, Protocol::Extended, Protocol::Prepared];

/// A batch does all of its commands in order, whatever the protocol and
/// whether or not statements were prepared before; texts keep their quotes.
#[test]
fn batches_do_their_work() {
    let (server, mut connection) = server();
    for protocol in PROTOCOLS {
        for early in [true, false] {
            connection.simple_query("truncate note; update account set balance = 0").unwrap();
            let deeds = Deeds::new(Deed::OneBatch);
            let rows = Arc::clone(&deeds.rows);
            let plan = RunPlan {
                prepare_early: early,
                reconnect: !early,
                ..plan(&server, deeds, protocol)
            };
            let outcome = run(plan);
            let total = outcome.tally.total();
            assert_eq!((total.committed, total.failed(), total.rolled_back), (ALL, 0, 0));
            assert_eq!(outcome.tally.counters, [ALL, ALL]);
            assert_eq!(rows.load(Ordering::Relaxed), ALL);
            let executions: Vec<u64> =
                outcome.tally.statements.iter().map(|statement| statement.executions).collect();
            assert_eq!(executions, [ALL, ALL, 0, ALL, ALL, 0, 0], "{protocol:?}");
            assert_eq!(total.rows_written, 2 * ALL);
            let sum = number(&mut connection, "select sum(balance)::bigint from account");
            assert_eq!(sum, 5 * ALL as i64);
            let kept = "select count(*) from note where text = 'it''s'";
            assert_eq!(number(&mut connection, kept), ALL as i64);
        }
    }
}

/// An error in the middle of a batch undoes what came before it and skips what
/// comes after; the new try has the same inputs, and only it counts.
#[test]
fn a_new_try_has_the_same_inputs() {
    let (server, mut connection) = server();
    for protocol in PROTOCOLS {
        connection
            .simple_query(
                "truncate note; update account set balance = 0; alter sequence first_tries restart",
            )
            .unwrap();
        let deeds = Deeds::new(Deed::FailsOnce);
        let tries = Arc::clone(&deeds.tries);
        let outcome = run(RunPlan {
            // One after the other, so that every first try fails and no second.
            clients: NonZeroU32::MIN,
            workers: NonZeroU32::MIN,
            ..plan(&server, deeds, protocol)
        });
        let total = outcome.tally.total();
        assert_eq!((total.committed, total.retries), (TRANSACTIONS, TRANSACTIONS), "{protocol:?}");
        assert_eq!(total.retries_by_sqlstate.len(), 1);
        let failed_at: Vec<u64> = outcome.tally.statements.iter().map(|s| s.retries).collect();
        assert_eq!(failed_at, [0, 0, TRANSACTIONS, 0, 0, 0, 0]);
        let executions: Vec<u64> = outcome.tally.statements.iter().map(|s| s.executions).collect();
        let n = TRANSACTIONS;
        assert_eq!(executions, [2 * n, 3 * n, n, n, n, 0, 0], "{protocol:?}");
        assert_eq!(total.rows_written, 3 * n);
        let tries = std::mem::take(&mut *tries.lock().unwrap());
        assert_eq!(tries.len() as u64, 2 * n);
        assert!(tries.chunks(2).all(|pair| pair[0] == pair[1]), "{tries:?}");
        let sum = number(&mut connection, "select sum(balance)::bigint from account");
        assert_eq!(sum, 10 * n as i64);
    }
}

/// A rollback on purpose is no commit and no failure, by ROLLBACK as by an
/// error that the terminal foresees.
#[test]
fn rollbacks_on_purpose_are_counted_apart() {
    let (server, mut connection) = server();
    for protocol in PROTOCOLS {
        connection.simple_query("update account set balance = 0").unwrap();
        let outcome = run(plan(&server, Deeds::new(Deed::RollsBack), protocol));
        let total = outcome.tally.total();
        let half = u64::from(CLIENTS) * (TRANSACTIONS / 2);
        assert_eq!((total.committed, total.rolled_back), (ALL - half, half), "{protocol:?}");
        assert_eq!((total.failed(), total.finished()), (0, ALL));
        assert_eq!(outcome.acknowledged.committed, [ALL - half]);
        assert_eq!((total.response.count(), total.service.count()), (ALL, ALL));
        let sum = number(&mut connection, "select sum(balance)::bigint from account");
        assert_eq!(sum, 5 * (ALL - half) as i64);
        let outcome = run(plan(&server, Deeds::new(Deed::Refused), protocol));
        let total = outcome.tally.total();
        assert_eq!((total.committed, total.rolled_back, total.failed()), (0, ALL, 0));
        let after = number(&mut connection, "select sum(balance)::bigint from account");
        assert_eq!(after, sum, "an implicit transaction is undone as a whole");
    }
}

/// Pauses before transactions are in no latency, and a run that is over does
/// not wait for their end.
#[test]
fn pauses_are_not_measured() {
    let (server, _connection) = server();
    let hour = Duration::from_secs(3600);
    let deeds = Deeds { wait: hour, ..Deeds::new(Deed::OneBatch) };
    let outcome = run(RunPlan {
        limit: Limit::Duration(Duration::from_millis(300)),
        ..plan(&server, deeds, Protocol::Prepared)
    });
    assert_eq!(outcome.tally.total().finished(), 0);
    let pause = Duration::from_millis(700);
    let deeds = Deeds { wait: pause, ..Deeds::new(Deed::OneBatch) };
    let begin = std::time::Instant::now();
    let outcome =
        run(RunPlan { limit: Limit::Transactions(3), ..plan(&server, deeds, Protocol::Prepared) });
    assert!(begin.elapsed() >= pause * 3);
    assert_eq!(outcome.tally.total().committed, 3 * u64::from(CLIENTS));
    let fastest_us = outcome.tally.total().response.min_us();
    assert!(fastest_us < 700_000, "{fastest_us}");
}

/// An answer that ends a client while its commit is on the way leaves that
/// commit's outcome unknown: it was sent, and nobody was told of it.
#[test]
fn an_unusable_answer_leaves_the_commit_unknown() {
    let (server, mut connection) = server();
    for protocol in PROTOCOLS {
        connection.simple_query("update account set balance = 0").unwrap();
        let plan = plan(&server, Deeds::new(Deed::Unusable), protocol);
        let outcome = pgdyno_engine::run(plan, Arc::new(Silent), &AtomicBool::new(false)).unwrap();
        assert_ne!(outcome.ended, Ended::Completed);
        let (clients, committed) = (u64::from(CLIENTS), ALL - u64::from(CLIENTS));
        assert_eq!(outcome.acknowledged.committed, [committed], "{protocol:?}");
        assert_eq!(outcome.acknowledged.unknown, [clients], "{protocol:?}");
        let sum = number(&mut connection, "select sum(balance)::bigint / 5 from account");
        assert!((committed..=ALL).contains(&(sum as u64)), "{sum} of {ALL}");
    }
}
