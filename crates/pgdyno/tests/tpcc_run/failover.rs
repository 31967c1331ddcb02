//! A server that is stopped at once and started again in the middle of a run:
//! the run goes on, and nothing that was acknowledged is missing.

use std::num::NonZeroU32;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use pgdyno_engine::observe::Silent;
use pgdyno_engine::outcome::{Ended, RunOutcome};
use pgdyno_engine::plan::{Limit, RunPlan};
use pgdyno_target::EmbeddedServer;
use pgdyno_wire::Connection;
use pgdyno_workload::tpcc::Params;
use pgdyno_workload::tpcc::answer::Answer;
use pgdyno_workload::tpcc::terminal::TpccTerminals;
use pgdyno_workload::{Workload, audit};

use crate::disturbed::{all_is_there, come_back, commit_in_earnest, plan};
use crate::{connect, outages};

const CLIENTS: u32 = 16;

/// Committed before the server is stopped, and again after it has come back.
pub(crate) const NEW_ORDERS: i64 = 100;

/// The run is ended when it has shown that it goes on; never by itself.
const RUN_MAX: Duration = Duration::from_secs(600);

/// Any machine commits so few orders within this.
const GROW_MAX: Duration = Duration::from_secs(60);

/// The server's program `pg_ctl`, as the owner of the data. A server that it
/// started ends with this value.
pub(crate) struct Control {
    program: PathBuf,
    data: PathBuf,
    port: u16,
}

impl Control {
    fn of(server: &EmbeddedServer) -> Self {
        Self {
            program: server.installation().bin_dir.join("pg_ctl"),
            data: server.data_dir(),
            port: server.options_unix().hosts[0].port,
        }
    }

    /// True where the program says that it was done.
    fn tell(&self, words: &[&str]) -> bool {
        let owner = std::fs::metadata(&self.data).unwrap();
        Command::new(&self.program)
            .arg("-D")
            .arg(&self.data)
            .args(["-s", "-w", "-t", "60"])
            .args(words)
            .uid(owner.uid())
            .gid(owner.gid())
            .status()
            .unwrap()
            .success()
    }

    pub(crate) fn stop(&self) -> bool {
        self.tell(&["-m", "immediate", "stop"])
    }

    /// Only its socket: somebody else may have taken the port meanwhile.
    pub(crate) fn start(&self) -> bool {
        let options = format!("-p {} -c listen_addresses=", self.port);
        let log = self.data.join("restarted.log");
        self.tell(&["-o", &options, "-l", &log.to_string_lossy(), "start"])
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Ends the run, also where a check before it has failed.
struct EndRun<'a>(&'a AtomicBool);

impl Drop for EndRun<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Assertion 25, the whole server: of 16 clients' acknowledged orders none is
/// missing after a stop without a checkpoint, the clients come back, and all
/// conditions hold. Both forms; the server is stopped afterwards.
pub(crate) fn by_a_failover(server: &EmbeddedServer, workload: &dyn Workload) {
    let control = Control::of(server);
    for procs in [false, true] {
        let mut session = connect(&server.options_unix());
        let base = audit::read(&mut session, workload, pgdyno_target::postgres()).unwrap();
        commit_in_earnest(&mut session);
        drop(session);
        let (outcome, answers) = run(server, &control, Params { procs, ..Params::default() });
        assert_eq!(outcome.ended, Ended::Interrupted, "{:?}", outcome.errors);
        assert!(outcome.tally.connections.lost > 0, "nobody was thrown out");
        let mut session = connect(&server.options_unix());
        all_is_there(&mut session, workload, &base, CLIENTS, &outcome, &answers);
    }
    outages::are_named(&server.options_unix(), &control);
}

fn run(server: &EmbeddedServer, control: &Control, params: Params) -> (RunOutcome, Vec<Answer>) {
    let (teller, answers) = channel();
    let terminals = TpccTerminals::new(params, 1, 100).telling(teller);
    let plan = RunPlan {
        clients: NonZeroU32::new(CLIENTS).unwrap(),
        limit: Limit::Duration(RUN_MAX),
        ..plan(server, params, terminals)
    };
    let interrupt = AtomicBool::new(false);
    let outcome = std::thread::scope(|scope| {
        let failing = scope.spawn(|| {
            let _end = EndRun(&interrupt);
            let mut session = connect(&server.options_unix());
            wait_for_growth(&mut session);
            assert!(control.stop(), "the server was not stopped");
            assert!(control.start(), "the server was not started");
            wait_for_growth(&mut come_back(&server.options_unix()));
        });
        let outcome = pgdyno_engine::run(plan, Arc::new(Silent), &interrupt);
        failing.join().unwrap();
        outcome.unwrap()
    });
    (outcome, answers.try_iter().collect())
}

/// Waits until so many orders more are committed than at the first look.
fn wait_for_growth(session: &mut Connection) {
    let begin = Instant::now();
    let mut look = || session.query_one_i64("select sum(d_next_o_id) from district").unwrap();
    let first = look();
    while look() < first + NEW_ORDERS {
        assert!(begin.elapsed() < GROW_MAX, "the run does not go on");
        std::thread::sleep(Duration::from_millis(20));
    }
}
