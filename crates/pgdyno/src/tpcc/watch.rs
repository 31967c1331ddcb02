//! Reads the database's own counters while a TPC-C run goes on. What follows
//! from them is not known here.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use pgdyno_engine::outcome::RunOutcome;
use pgdyno_engine::plan::RunPlan;
use pgdyno_record::TpccRecord;
use pgdyno_wire::Connection;
use pgdyno_wire::connect::ConnectContext;
use pgdyno_workload::Workload;

use super::{NAME, record};

/// How often the database is asked: often enough to meet the ends of a short
/// interval, and no load worth mentioning.
const ASK_EVERY: Duration = Duration::from_secs(1);

/// Of the time at least so much goes by between two questions for each part
/// that a question takes: on large tables it may take long.
const PAUSE_PER_QUESTION: u32 = 50;

/// How often the thread looks whether the run is over.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How long one question may take: a server that hangs must not hold up the
/// end of a run.
const QUESTION_MAX: Duration = Duration::from_secs(30);

const ORDERS: &str = "SELECT sum(d_next_o_id)::bigint FROM district";

/// As HammerDB counts: all databases of the server, rollbacks too.
const TRANSACTIONS: &str =
    "SELECT sum(xact_commit + xact_rollback)::bigint FROM pg_catalog.pg_stat_database";

/// What was read at one moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    pub(super) at: SystemTime,
    pub(super) orders: i64,
    pub(super) transactions: Option<i64>,
}

/// Reads the database's counters while a run goes on, over a session of its
/// own.
pub(crate) struct Watch {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<Vec<Sample>>>,
}

impl Watch {
    /// Starts to watch a run of TPC-C; of other workloads there is nothing to
    /// read. A database that does not answer is no reason to give up a run.
    pub(crate) fn start(
        workload: Option<&dyn Workload>,
        plan: &RunPlan,
        own: impl FnOnce() -> Option<Arc<ConnectContext>>,
    ) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        if workload.is_none_or(|workload| workload.name() != NAME) {
            return Self { over, thread: None };
        }
        let thread = own().and_then(|own| {
            let asking = Asking {
                own,
                over: Arc::clone(&over),
                counts: is_one_server(&plan.endpoints),
                samples: Vec::new(),
            };
            let body = move || asking.watch();
            std::thread::Builder::new().name("tpcc counters".to_owned()).spawn(body).ok()
        });
        Self { over, thread }
    }

    /// The figures of the run; `None` of other workloads.
    pub(crate) fn record(
        mut self,
        workload: Option<&dyn Workload>,
        outcome: &RunOutcome,
        clients: u32,
    ) -> Option<TpccRecord> {
        let samples = self.samples();
        let workload = workload.filter(|workload| workload.name() == NAME)?;
        let minutes = outcome.measured.as_secs_f64() / 60.0;
        (minutes > 0.0).then(|| record(workload, outcome, &samples, clients.into()))
    }

    fn samples(&mut self) -> Vec<Sample> {
        self.over.store(true, Ordering::Relaxed);
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.samples();
    }
}

/// The run has one server, as far as addresses tell. Statistics are of the
/// server that is asked, tables of all.
fn is_one_server(endpoints: &[Arc<ConnectContext>]) -> bool {
    let mut hosts = endpoints
        .iter()
        .flat_map(|context| context.endpoints())
        .map(|endpoint| (&endpoint.host, endpoint.port));
    let first = hosts.next();
    // A name with several addresses is one server.
    hosts.all(|other| Some(other) == first)
}

/// The thread's side.
struct Asking {
    own: Arc<ConnectContext>,
    over: Arc<AtomicBool>,
    /// The server's statistics are asked as well.
    counts: bool,
    samples: Vec<Sample>,
}

impl Asking {
    fn watch(mut self) -> Vec<Sample> {
        let mut connection = self.connect();
        let mut next = SystemTime::now();
        while !self.over.load(Ordering::Relaxed) {
            if SystemTime::now() < next {
                std::thread::sleep(LOOK_EVERY);
                continue;
            }
            let begin = SystemTime::now();
            let answered = self.look(&mut connection);
            // Nothing was ever read: there is nothing to go on with.
            if self.samples.is_empty() {
                break;
            }
            // What a server that is away keeps waiting is no cost of asking it.
            next = if answered {
                let took = begin.elapsed().unwrap_or_default();
                begin + ASK_EVERY.max(took * PAUSE_PER_QUESTION)
            } else {
                SystemTime::now() + ASK_EVERY
            };
        }
        self.samples
    }

    /// Whether there was an answer. After an outage the tables go on where they
    /// were. A server's statistics do not: a crash sets them back.
    fn look(&mut self, connection: &mut Option<Connection>) -> bool {
        let sample = connection.as_mut().and_then(|session| self.ask(session));
        let answered = sample.is_some();
        match sample {
            Some(sample) => self.samples.push(sample),
            None => (self.counts, *connection) = (false, self.connect()),
        }
        answered
    }

    /// Given up when the run is over.
    fn connect(&self) -> Option<Connection> {
        let over = Some(Arc::clone(&self.over));
        let mut connection = Connection::connect_interruptible(&self.own, over).ok()?;
        connection.set_timeout(Some(QUESTION_MAX));
        Some(connection)
    }

    fn ask(&mut self, connection: &mut Connection) -> Option<Sample> {
        let orders = connection.query_one_i64(ORDERS).ok()?;
        let at = SystemTime::now();
        let transactions = self.counts.then(|| connection.query_one_i64(TRANSACTIONS).ok());
        let transactions = transactions.flatten();
        // Where there is no such view, it is not asked for again and again.
        self.counts = transactions.is_some();
        Some(Sample { at, orders, transactions })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing helper is a failing test")]

    use pgdyno_target::{EmbeddedConfig, EmbeddedServer};
    use pgdyno_wire::conninfo::{self, MapEnv};

    use super::*;

    /// A session that is lost is made anew and the tables are read on; the
    /// server's statistics, which an outage may set back, are not.
    #[test]
    fn tables_are_read_on_after_an_outage() {
        let config = EmbeddedConfig { no_fsync: true, ..EmbeddedConfig::default() };
        let server = EmbeddedServer::start(&config).unwrap();
        let own = ConnectContext::new(&server.options_unix()).unwrap();
        let mut other = Connection::connect(&own).unwrap();
        other.execute("CREATE TABLE district AS SELECT 3001 AS d_next_o_id").unwrap();
        let over = Arc::new(AtomicBool::new(false));
        let mut asking = Asking { own, over, counts: true, samples: Vec::new() };
        let mut connection = asking.connect();
        asking.look(&mut connection);
        asking.look(&mut connection);
        assert!(asking.samples[1].transactions >= asking.samples[0].transactions);
        assert!(asking.samples[0].transactions.is_some());
        other
            .execute(
                "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity \
                 WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'",
            )
            .unwrap();
        other.execute("UPDATE district SET d_next_o_id = 3002").unwrap();
        asking.look(&mut connection);
        assert_eq!(asking.samples.len(), 2);
        asking.look(&mut connection);
        let last = asking.samples[2];
        assert_eq!((last.orders, last.transactions), (3002, None));
    }

    /// One server is one address, however often it is named; several hosts to
    /// be tried in order are several, as are several endpoints, given or learnt,
    /// and two ports of one machine.
    #[test]
    fn one_server_is_one_address() {
        let is_one = |each: &[&str]| {
            let context = |dsn: &&str| {
                let known = conninfo::resolve(Some(dsn), &[], &MapEnv::new("os")).unwrap();
                ConnectContext::new(&known.options).unwrap()
            };
            is_one_server(&each.iter().map(context).collect::<Vec<_>>())
        };
        assert!(is_one(&["host=a port=1 user=u"]));
        assert!(is_one(&["host=a port=1 user=u", "host=a port=1 user=u"]));
        assert!(is_one(&["host=/folder user=u"]));
        assert!(!is_one(&["host=a,b user=u"]));
        assert!(!is_one(&["host=a user=u", "host=b user=u"]));
        assert!(!is_one(&["host=a user=u", "host=a user=u", "host=b user=u"]));
        assert!(!is_one(&["host=a port=1 user=u", "host=a port=2 user=u"]));
    }
}
