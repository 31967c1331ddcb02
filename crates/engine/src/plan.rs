//! What a run is to do, complete and checked before the first connection.
//!
//! A plan is a value: the command line makes it, the engine obeys it. It says
//! nothing about printing, and holds no choice that is made while running.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pgdyno_script::script::Script;
use pgdyno_script::{Names, Vars};
use pgdyno_target::dialect::Dialect;
use pgdyno_wire::connect::ConnectContext;

pub use crate::connect::{Balance, ConnectPlan, ConnectRate};
use pgdyno_workload::Terminals;

/// How long transactions under way may take to finish after an interrupt,
/// before their connections are closed. Long enough for a commit on a slow
/// disk, short enough for a person who pressed Ctrl-C.
pub const DRAIN_MAX: Duration = Duration::from_secs(5);

/// One kind of transaction of a run, with its weight among the others.
#[derive(Debug, Clone)]
pub struct TransactionType {
    /// The compiled script.
    pub script: Script,
    /// Share of the transactions: weight / sum of weights. 0 is never chosen.
    pub weight: u32,
}

/// The scripts of a run and the variables that they share.
#[derive(Debug, Clone)]
pub struct Program {
    /// In the order given; at least one has a weight above zero.
    pub types: Vec<TransactionType>,
    /// The names of all variables of all scripts.
    pub names: Names,
    /// The values each client starts with (`-D`, `scale`, …). The engine adds
    /// `client_id`, and `default_seed` and `random_seed`, unless they are set.
    pub initial: Vars,
}

/// How workers wait for their connections, and read and write them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PollerChoice {
    /// `io_uring` where it is to be had, from when a worker's waits are found to
    /// serve several clients each; without a word where not.
    #[default]
    Auto,
    /// Readiness, by epoll or kqueue.
    Readiness,
    /// `io_uring`, or no run. What it cannot carry stays with readiness:
    /// connections with TLS, and while they are being made.
    IoUring,
}

impl PollerChoice {
    /// All, with the names that people choose them by. Where there is no epoll,
    /// its name stands for what the system has instead.
    pub const NAMED: [(&'static str, Self); 3] =
        [("auto", Self::Auto), ("epoll", Self::Readiness), ("io-uring", Self::IoUring)];

    /// The one of this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::NAMED.iter().find(|(known, _)| *known == name).map(|(_, choice)| *choice)
    }
}

/// How SQL travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// One Query message, variables written into the text.
    Simple,
    /// Parse, Bind, Execute for each command.
    Extended,
    /// Parsed once in a session, then Bind and Execute.
    Prepared,
}

/// When a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// After so many transactions of each client, whatever became of them.
    Transactions(u64),
    /// When the time is over; transactions under way are finished.
    Duration(Duration),
}

/// What the duration, the rate and the seconds of the timeline count from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockStart {
    /// Before the clients connect, as pgbench's `-T`.
    BeforeConnecting,
    /// When all clients are connected.
    AfterConnecting,
}

/// Where the stream of random numbers that chooses among scripts comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChoiceStream {
    /// One for each thread, as in pgbench: which client gets which script then
    /// depends on who was faster.
    PerWorker,
    /// One for each client: the same seed gives the same work, whatever the timing.
    PerClient,
}

/// Transactions started by the clock instead of by the end of the one before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Transactions per second over all clients; above zero.
    pub tps: f64,
    /// Equal distances instead of a Poisson process.
    pub steady: bool,
    /// Starts that nobody is awake for may wait for the next multiple of this,
    /// counted from the beginning, so that one wake-up makes several. The wait
    /// is part of the response time and of the lag. Zero starts each at its
    /// own moment.
    pub slack: Duration,
}

/// How long to wait before a transaction is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backoff {
    /// At once, as pgbench.
    None,
    /// `first`, doubled with each try up to `max`, each time a random share
    /// between half and whole of it.
    Exponential {
        /// Wait before the second try.
        first: Duration,
        /// Longest wait.
        max: Duration,
    },
}

/// What happens after an error that a new try may cure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Tries of one transaction; `None` tries until it works or time is over.
    pub tries_max: Option<NonZeroU32>,
    /// The wait between tries.
    pub backoff: Backoff,
}

/// A log of transactions, in pgbench's formats.
#[derive(Debug, Clone, PartialEq)]
pub struct LogPlan {
    /// Files are `PREFIX.PID` and `PREFIX.PID.WORKER`.
    pub prefix: PathBuf,
    /// One line for each interval instead of each transaction.
    pub aggregate: Option<Duration>,
    /// Share of the transactions to write, 0 < rate <= 1; `None` writes all
    /// and draws no random number.
    pub sampling: Option<f64>,
}

/// Everything that a run is to do.
#[derive(Clone)]
pub struct RunPlan {
    /// Where to connect; clients are dealt over the endpoints.
    pub endpoints: Vec<Arc<ConnectContext>>,
    /// Answers what differs from database to database.
    pub dialect: &'static dyn Dialect,
    /// What to run.
    pub program: Program,
    /// Who chooses the transactions and their commands, where the program's
    /// scripts are the commands of procedures; `None` runs them as scripts.
    pub terminals: Option<Arc<dyn Terminals>>,
    /// Sessions; at least 1.
    pub clients: NonZeroU32,
    /// Threads; at least 1 and at most `clients`.
    pub workers: NonZeroU32,
    /// How workers wait.
    pub poller: PollerChoice,
    /// How SQL travels.
    pub protocol: Protocol,
    /// Prepare every statement of every script when a client connects, so that
    /// no measured transaction does. Only with [`Protocol::Prepared`].
    pub prepare_early: bool,
    /// When the measured interval ends.
    pub limit: Limit,
    /// Time before the measured interval; its transactions are kept apart.
    pub warmup: Duration,
    /// Clients begin evenly over this long, at the start of the warm-up and as
    /// part of it; under a rate, the rate grows with them. The measured interval
    /// never begins before the ramp ends.
    pub ramp: Duration,
    /// With [`Limit::Duration`], whether transactions that end after the
    /// duration still belong to the figures, as in pgbench, or are counted apart.
    pub measure_drain: bool,
    /// What the duration counts from.
    pub clock_start: ClockStart,
    /// Starts by the clock.
    pub rate: Option<Rate>,
    /// Latency above which a transaction is counted as late; with a rate,
    /// transactions that are later than that already are skipped.
    pub latency_limit: Option<Duration>,
    /// New tries.
    pub retry: RetryPolicy,
    /// Go on with the next transaction after an error of SQL that is neither
    /// retryable nor a lost connection, instead of ending the client.
    pub continue_on_error: bool,
    /// An error that leaves the outcome of a commit open counts as unknown, and
    /// the client goes on; without it the client ends, as in pgbench.
    pub unknown_goes_on: bool,
    /// A new connection for each transaction.
    pub reconnect: bool,
    /// How sessions are made and kept.
    pub connect: ConnectPlan,
    /// The seed of all random numbers.
    pub seed: u64,
    /// Who chooses scripts.
    pub choice: ChoiceStream,
    /// Time each statement, at the cost of two clock readings for each.
    pub statement_latency: bool,
    /// Log files.
    pub log: Option<LogPlan>,
    /// Tell serialization failures and deadlocks apart in the log.
    pub detailed_failures: bool,
    /// End everything as soon as one client is aborted.
    pub exit_on_abort: bool,
    /// Tell of every error that is tried again or counted as failed.
    pub verbose_errors: bool,
    /// Tell of every step.
    pub debug: bool,
}

impl RunPlan {
    /// From the moment when transactions may begin to the measured interval:
    /// the warm-up, or the ramp where that is longer.
    #[must_use]
    pub fn before_measuring(&self) -> Duration {
        self.warmup.max(self.ramp)
    }

    /// How long after the others client `id` begins.
    #[must_use]
    pub fn ramp_offset(&self, id: u32) -> Duration {
        let ns = self.ramp.as_nanos() * u128::from(id) / u128::from(self.clients.get());
        Duration::from_nanos(ns as u64)
    }

    /// The clients of worker `index`: contiguous blocks, the first ones larger,
    /// as pgbench deals them.
    ///
    /// Returns the first client and how many there are.
    #[must_use]
    pub fn share(&self, index: u32) -> (u32, u32) {
        deal(self.clients.get(), self.workers.get(), index)
    }
}

/// Deals `clients` to `workers` in contiguous blocks, the first ones larger.
fn deal(clients: u32, workers: u32, index: u32) -> (u32, u32) {
    let (mut first, mut left) = (0, clients);
    for i in 0..workers {
        let count = left.div_ceil(workers - i);
        if i == index {
            return (first, count);
        }
        first += count;
        left -= count;
    }
    (first, 0)
}

#[cfg(test)]
mod tests {
    use super::deal;

    /// The shares of all workers together are all clients, each once, and no
    /// worker has more than one client more than another.
    #[test]
    fn shares_add_up() {
        for clients in 1_u32..40 {
            for workers in 1..=clients {
                let mut next = 0;
                for index in 0..workers {
                    let (first, count) = deal(clients, workers, index);
                    assert_eq!(first, next);
                    assert!(count == clients / workers || count == clients.div_ceil(workers));
                    next += count;
                }
                assert_eq!(next, clients);
            }
        }
    }
}
