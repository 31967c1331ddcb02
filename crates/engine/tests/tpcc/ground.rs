//! The ground of these tests: a server, small tables whose every value is
//! known, and terminals that are given their inputs.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use std::time::Duration;

use pgdyno_engine::observe::Silent;
use pgdyno_engine::outcome::{Ended, RunOutcome};
use pgdyno_engine::plan::{
    Backoff, ChoiceStream, ClockStart, ConnectPlan, Limit, Program, Protocol, RetryPolicy, RunPlan,
    TransactionType,
};
use pgdyno_script::{Names, Script, Vars};
use pgdyno_target::embedded::{EmbeddedConfig, EmbeddedServer};
use pgdyno_target::postgres;
use pgdyno_wire::Connection;
use pgdyno_wire::connect::ConnectContext;
use pgdyno_workload::tpcc::answer::Answer;
use pgdyno_workload::tpcc::input::Input;
use pgdyno_workload::tpcc::terminal::TpccTerminals;
use pgdyno_workload::tpcc::{Params, Tpcc, transactions};
use pgdyno_workload::{Body, Workload};

/// Two warehouses, ten districts each, 20 customers a district, 100 items.
/// Item i costs i.25; stock is 50 everywhere; every fifth item and every third
/// stock are original. Customer c of a district is named after number c and
/// has bad credit if c is even.
const ROWS: &str = "\
insert into item select i, i, 'item ' || i, i + 0.25, case when i % 5 = 0 then 'xxORIGINALxx' else 'plain' end
  from generate_series(1, 100) i;
insert into warehouse select w, 'house' || w, 's', 's', 'city', 'ST', '123411111', 0.1, 300 from generate_series(1, 2) w;
insert into district select d, w, 'dist' || d, 's', 's', 'city', 'ST', '123411111', 0.05, 30, 1
  from generate_series(1, 2) w, generate_series(1, 10) d;
insert into stock select i, w, 50, repeat('a', 24), repeat('b', 24), repeat('c', 24), repeat('d', 24), repeat('e', 24),
    repeat('f', 24), repeat('g', 24), repeat('h', 24), repeat('i', 24), repeat('j', 24), 0, 0, 0,
    case when i % 3 = 0 then 'ORIGINAL' else 'plain' end
  from generate_series(1, 2) w, generate_series(1, 100) i;
insert into customer select c, d, w, 'first' || c, 'OE', 'NAME' || c, 's', 's', 'city', 'ST', '123411111', '1234567890123456',
    now(), case when c % 2 = 0 then 'BC' else 'GC' end, 50000, 0.2, -10, 10, 1, 0, 'old data'
  from generate_series(1, 2) w, generate_series(1, 10) d, generate_series(1, 20) c;";

/// A server with the tables.
pub(crate) struct Ground {
    server: EmbeddedServer,
    pub(crate) sql: Connection,
}

/// Both forms: commands of the client's, and routines.
pub(crate) const FORMS: [Params; 2] = [form(false), form(true)];

const fn form(procs: bool) -> Params {
    Params {
        procs,
        think: false,
        allwarehouse: false,
        profile: pgdyno_workload::tpcc::Profile::Faithful,
        partitions: None,
        foreign_keys: false,
        pieces: None,
    }
}

impl Ground {
    /// Tables with their keys, routines and foreign keys, and the rows.
    pub(crate) fn new() -> Self {
        let config = EmbeddedConfig { no_fsync: true, ..EmbeddedConfig::default() };
        let server = EmbeddedServer::start(&config).unwrap();
        let context = ConnectContext::new(&server.options_tcp()).unwrap();
        let mut sql = Connection::connect(&context).unwrap();
        let tpcc = Tpcc::new(2, Params { procs: true, foreign_keys: true, ..Params::default() });
        let mut statements = tpcc.create_statements(postgres());
        statements.extend(tpcc.key_statements(postgres()).into_iter().map(|keyed| keyed.sql));
        statements.extend(tpcc.settle_statements(postgres()).into_iter().map(|keyed| keyed.sql));
        for statement in statements {
            sql.simple_query(&statement).unwrap();
        }
        let mut ground = Self { server, sql };
        ground.reset();
        ground
    }

    /// All rows as at first.
    pub(crate) fn reset(&mut self) {
        self.run(
            "truncate item, warehouse, district, stock, customer, history, orders, new_order, \
             order_line",
        );
        self.run(ROWS);
        self.run("analyze");
    }

    pub(crate) fn run(&mut self, sql: &str) {
        self.sql.simple_query(sql).unwrap();
    }

    pub(crate) fn number(&mut self, sql: &str) -> i64 {
        self.sql.query_one_i64(sql).unwrap()
    }

    /// One text.
    pub(crate) fn text(&mut self, sql: &str) -> String {
        let results = self.sql.simple_query(sql).unwrap();
        results[0].rows[0][0].clone().unwrap_or_default()
    }

    /// Everything that is in the tables, as one hash.
    pub(crate) fn hash(&mut self) -> String {
        let tables = [
            "item",
            "warehouse",
            "district",
            "stock",
            "customer",
            "history",
            "orders",
            "new_order",
            "order_line",
        ];
        let hash = |table| {
            format!(
                "(select md5(coalesce(string_agg(t::text, ',' order by t::text), '')) from {table} t)"
            )
        };
        let sql = tables.map(hash).join(" || ");
        self.text(&format!("select {sql}"))
    }

    /// A plan in which each of `clients` runs `transactions` of the inputs.
    pub(crate) fn plan(
        &self,
        params: Params,
        terminals: TpccTerminals,
        clients: u32,
        transactions: u64,
    ) -> RunPlan {
        RunPlan {
            endpoints: vec![ConnectContext::new(&self.server.options_unix()).unwrap()],
            dialect: postgres(),
            program: program(params),
            terminals: Some(Arc::new(terminals)),
            clients: NonZeroU32::new(clients).unwrap(),
            workers: NonZeroU32::MIN,
            protocol: Protocol::Prepared,
            poller: pgdyno_engine::plan::PollerChoice::Auto,
            prepare_early: true,
            limit: Limit::Transactions(transactions),
            warmup: Duration::ZERO,
            ramp: Duration::ZERO,
            measure_drain: true,
            clock_start: ClockStart::AfterConnecting,
            rate: None,
            latency_limit: None,
            retry: RetryPolicy { tries_max: NonZeroU32::new(1000), backoff: Backoff::None },
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

    /// Runs the inputs one after the other over one client; gives back what
    /// they came to.
    pub(crate) fn play(&self, params: Params, inputs: &[Input]) -> (Vec<Answer>, RunOutcome) {
        let (teller, answers) = channel();
        let terminals = TpccTerminals::given(params, inputs).telling(teller);
        let outcome = run(self.plan(params, terminals, 1, inputs.len() as u64));
        let answers: Vec<Answer> = answers.try_iter().collect();
        assert_eq!(answers.len(), inputs.len());
        (answers, outcome)
    }
}

/// Runs to the planned end, without a failure.
pub(crate) fn run(plan: RunPlan) -> RunOutcome {
    let outcome = pgdyno_engine::run(plan, Arc::new(Silent), &AtomicBool::new(false)).unwrap();
    assert_eq!(outcome.ended, Ended::Completed, "{:?}", outcome.errors);
    assert_eq!(outcome.tally.total().failed(), 0);
    outcome
}

/// Runs until its client cannot go on.
pub(crate) fn run_failing(plan: RunPlan) -> RunOutcome {
    let outcome = pgdyno_engine::run(plan, Arc::new(Silent), &AtomicBool::new(false)).unwrap();
    assert_eq!(outcome.ended, Ended::Aborted, "{:?}", outcome.errors);
    outcome
}

fn program(params: Params) -> Program {
    let mut names = Names::new();
    let mut types = Vec::new();
    for transaction in transactions::transactions(&params) {
        let Body::Procedure(text) = transaction.body else { panic!("a procedure") };
        let script = Script::parse(transaction.name, text.as_bytes(), &mut names).unwrap();
        types.push(TransactionType { script, weight: transaction.weight });
    }
    let initial = Vars::new(&names);
    Program { types, names, initial }
}
