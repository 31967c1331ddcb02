//! Sixteen clients at full speed on freshly loaded tables, undisturbed, in both
//! forms. `make test-long` has 60 s of each, with one and two warehouses, on
//! two versions of the server; `make test` a number of decks.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use std::time::Duration;

use pgdyno_engine::observe::Silent;
use pgdyno_engine::outcome::Ended;
use pgdyno_engine::plan::{Limit, RunPlan};
use pgdyno_target::postgres;
use pgdyno_workload::tpcc::Params;
use pgdyno_workload::tpcc::terminal::TpccTerminals;
use pgdyno_workload::{Choice, audit, make};

use crate::disturbed::{all_is_there, plan};
use crate::{connect, fill, server_of, violated};

const CLIENTS: u32 = 16;

/// Cards of four decks for each client: a count, so that a slow machine does the
/// same.
const TRANSACTIONS: u64 = 92;

/// Seconds of each run, instead of the decks.
const SECONDS: &str = "PGDYNO_TEST_TPCC_SECONDS";

/// After 16 clients at full speed every acknowledged new order is there, the
/// counts and sums are those of what was acknowledged, and all twelve
/// conditions hold.
#[test]
fn conditions_hold_after_full_speed() {
    let Some(seconds) = std::env::var(SECONDS).ok().and_then(|text| text.parse().ok()) else {
        return run_on("PGDYNO_TEST_PG15_BIN", 1, Limit::Transactions(TRANSACTIONS));
    };
    let limit = || Limit::Duration(Duration::from_secs(seconds));
    run_on("PGDYNO_TEST_PG15_BIN", 1, limit());
    run_on("PGDYNO_TEST_PG18_BIN", 2, limit());
}

fn run_on(variable: &str, warehouses: u64, limit: Limit) {
    let server = server_of(variable);
    let routines = [("procs".to_owned(), "1".to_owned())];
    let workload = make(&Choice { name: "tpcc", scale: warehouses, params: &routines }).unwrap();
    fill(&server.options_unix(), &*workload);
    let mut session = connect(&server.options_unix());
    assert_eq!(violated(&mut session, &*workload, postgres()), Vec::<&str>::new());
    for procs in [false, true] {
        let base = audit::read(&mut session, &*workload, postgres()).unwrap();
        let params = Params { procs, ..Params::default() };
        let (teller, answers) = channel();
        let terminals = TpccTerminals::new(params, warehouses, 100).telling(teller);
        let plan = RunPlan {
            clients: NonZeroU32::new(CLIENTS).unwrap(),
            limit,
            ..plan(&server, params, terminals)
        };
        let outcome = pgdyno_engine::run(plan, Arc::new(Silent), &AtomicBool::new(false)).unwrap();
        assert_eq!(outcome.ended, Ended::Completed, "{:?}", outcome.errors);
        let total = outcome.tally.total();
        assert_eq!((total.failed(), total.unknown), (0, 0));
        assert!(outcome.acknowledged.committed[0] > 0, "no new order");
        let answers: Vec<_> = answers.try_iter().collect();
        all_is_there(&mut session, &*workload, &base, &outcome, &answers);
    }
    drop(session);
    server.stop().unwrap();
}
