//! Sixteen clients at full speed, undisturbed, in both forms. `make test-long`
//! has 60 s of each, with one and two warehouses, on two versions of the
//! server; `make test` a number of decks.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use std::time::Duration;

use pgdyno_engine::observe::Silent;
use pgdyno_engine::outcome::Ended;
use pgdyno_engine::plan::{Limit, RunPlan};
use pgdyno_target::{EmbeddedServer, postgres};
use pgdyno_workload::tpcc::Params;
use pgdyno_workload::tpcc::terminal::TpccTerminals;
use pgdyno_workload::{Choice, Workload, audit, make};

use crate::disturbed::{all_is_there, plan};
use crate::{connect, fill, server_of};

const CLIENTS: u32 = 16;

/// Cards of four decks for each client: a count, so that a slow machine does the
/// same.
const TRANSACTIONS: u64 = 92;

/// Seconds of each run, instead of the decks.
pub(crate) const SECONDS: &str = "PGDYNO_TEST_TPCC_SECONDS";

/// After 16 clients at full speed every acknowledged new order is there, the
/// counts and sums are those of what was acknowledged, and all twelve
/// conditions hold.
pub(crate) fn conditions_hold(server: &EmbeddedServer, workload: &dyn Workload) {
    let seconds = std::env::var(SECONDS).ok().and_then(|text| text.parse().ok());
    let Some(seconds) = seconds else {
        return run_on(server, workload, 1, Limit::Transactions(TRANSACTIONS));
    };
    let limit = Limit::Duration(Duration::from_secs(seconds));
    run_on(server, workload, 1, limit);
    let newer = server_of("PGDYNO_TEST_PG18_BIN");
    let routines = [("procs".to_owned(), "1".to_owned())];
    let two = make(&Choice { name: "tpcc", scale: 2, params: &routines }).unwrap();
    fill(&newer.options_unix(), &*two);
    run_on(&newer, &*two, 2, limit);
    newer.stop().unwrap();
}

fn run_on(server: &EmbeddedServer, workload: &dyn Workload, warehouses: u64, limit: Limit) {
    let mut session = connect(&server.options_tcp());
    for procs in [false, true] {
        let base = audit::read(&mut session, workload, postgres()).unwrap();
        let params = Params { procs, ..Params::default() };
        let (teller, answers) = channel();
        let terminals = TpccTerminals::new(params, warehouses, 100).telling(teller);
        let plan = RunPlan {
            clients: NonZeroU32::new(CLIENTS).unwrap(),
            limit,
            ..plan(server, params, terminals)
        };
        let outcome = pgdyno_engine::run(plan, Arc::new(Silent), &AtomicBool::new(false)).unwrap();
        assert_eq!(outcome.ended, Ended::Completed, "{:?}", outcome.errors);
        let total = outcome.tally.total();
        assert_eq!((total.failed(), total.unknown), (0, 0));
        let new_orders = outcome.acknowledged.committed[0];
        assert!(new_orders > 0, "no new order");
        let minutes = outcome.measured.as_secs_f64() / 60.0;
        let nopm = new_orders as f64 / minutes;
        eprintln!("{warehouses} warehouses, procs={procs}: {nopm:.0} new orders a minute");
        let answers: Vec<_> = answers.try_iter().collect();
        all_is_there(&mut session, workload, &base, CLIENTS, &outcome, &answers);
    }
}
