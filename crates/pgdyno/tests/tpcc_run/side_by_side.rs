//! Both forms of the transactions at once: clients that send SQL beside clients
//! that call routines.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use pgdyno_engine::observe::Silent;
use pgdyno_engine::outcome::{Ended, RunOutcome};
use pgdyno_record::SqlState;
use pgdyno_target::{EmbeddedServer, postgres};
use pgdyno_workload::tpcc::Params;
use pgdyno_workload::tpcc::terminal::TpccTerminals;
use pgdyno_workload::{Commits, Verdict, Workload, audit};

use crate::disturbed::plan;
use crate::{connect, violated};

/// Both forms lock rows in one order, so a mix of them waits but does not
/// deadlock; and together they account for what the tables hold.
pub(crate) fn forms_do_not_deadlock(server: &EmbeddedServer, workload: &dyn Workload) {
    let mut session = connect(&server.options_tcp());
    let base = audit::read(&mut session, workload, postgres()).unwrap();
    let run = |procs| {
        let params = Params { procs, ..Params::default() };
        let plan = plan(server, params, TpccTerminals::new(params, 1, 100));
        pgdyno_engine::run(plan, Arc::new(Silent), &AtomicBool::new(false)).unwrap()
    };
    let outcomes: Vec<RunOutcome> = std::thread::scope(|scope| {
        let runs = [false, true].map(|procs| scope.spawn(move || run(procs)));
        runs.map(|run| run.join().unwrap()).into()
    });
    let mut commits = vec![Commits::default(); 5];
    for outcome in &outcomes {
        assert_eq!(outcome.ended, Ended::Completed, "{:?}", outcome.errors);
        let total = outcome.tally.total();
        assert_eq!((total.failed(), total.unknown), (0, 0));
        assert_eq!(total.retries_by_sqlstate.get(&SqlState::DEADLOCK_DETECTED), None);
        for (sum, committed) in commits.iter_mut().zip(&outcome.acknowledged.committed) {
            *sum = *sum + Commits { committed: *committed, ..Commits::default() };
        }
    }
    let findings = audit::after_run(&mut session, workload, postgres(), &base, &commits).unwrap();
    for finding in findings {
        assert_eq!(finding.verdict, Verdict::Pass, "{}: {}", finding.name, finding.text);
    }
    assert_eq!(violated(&mut session, workload, postgres()), Vec::<&str>::new());
}
