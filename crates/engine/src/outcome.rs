//! What a run gives back: everything that was counted, and how it ended.
//!
//! No figure here is rounded or judged; that is the record's and the report's
//! business.

use std::time::{Duration, SystemTime};

use pgdyno_record::driver::WorkerHealth;
use pgdyno_record::tally::Tally;
use pgdyno_record::timeline::TimelineRecord;

/// Distinct errors that are kept with their text; further ones are counted
/// only. A person reads the first few, and they are usually all the same.
pub const ERRORS_KEPT_MAX: usize = 20;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// As planned, for every client.
    Completed,
    /// Somebody asked for the end.
    Interrupted,
    /// At least one client could not go on.
    Aborted,
}

/// A client that could not go on, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientError {
    /// The first client that this happened to.
    pub client: u32,
    /// How many clients it happened to.
    pub count: u64,
    /// The endpoint, `host:port`.
    pub endpoint: String,
    /// SQLSTATE, where the server gave one.
    pub sqlstate: Option<String>,
    /// The command that the first client was at, `FILE:LINE`; `None` outside
    /// of a script.
    pub place: Option<String>,
    /// What happened, with host, port and the server's words.
    pub text: String,
}

/// Transactions by outcome, over everything that the run did: warm-up,
/// measured interval and drain. The audits go by these.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Acknowledged {
    /// Committed, by script.
    pub committed: Vec<u64>,
    /// The connection was lost while a commit was on its way, by script.
    pub unknown: Vec<u64>,
}

impl Acknowledged {
    /// Nothing yet, for so many scripts.
    #[must_use]
    pub fn new(scripts: usize) -> Self {
        Self { committed: vec![0; scripts], unknown: vec![0; scripts] }
    }

    /// Adds the outcomes in `tally`.
    pub fn add(&mut self, tally: &Tally) {
        for (index, script) in tally.scripts.iter().enumerate() {
            self.committed[index] += script.committed;
            self.unknown[index] += script.unknown;
        }
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.committed.iter_mut().zip(&other.committed) {
            *mine += theirs;
        }
        for (mine, theirs) in self.unknown.iter_mut().zip(&other.unknown) {
            *mine += theirs;
        }
    }
}

/// A statement's place: what the index in [`Tally::statements`] means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatementSlot {
    /// Index of the script.
    pub script: usize,
    /// Index of the command in the script, from 0.
    pub command: usize,
    /// Which statement of the command, where `\;` joins several; else 0.
    pub part: usize,
}

/// All that was measured.
#[derive(Debug, Clone)]
pub struct RunOutcome {
    /// How it ended.
    pub ended: Ended,
    /// Clients that could not go on.
    pub clients_aborted: u32,
    /// Their errors, the first [`ERRORS_KEPT_MAX`] distinct ones.
    pub errors: Vec<ClientError>,
    /// The measured interval.
    pub tally: Tally,
    /// Transactions that ended in the warm-up.
    pub warmup: Tally,
    /// Transactions that ended after the measured interval.
    pub drain: Tally,
    /// What the index of each statement in the tallies means.
    pub slots: Vec<StatementSlot>,
    /// All of it, for the audits.
    pub acknowledged: Acknowledged,
    /// Under a rate with a time limit: scheduled starts that had passed when
    /// the time was over, and for which no client had been free. They were
    /// neither begun nor skipped, and no figure holds them.
    pub queued: u64,
    /// Second by second, all workers together.
    pub timeline: TimelineRecord,
    /// How the workers waited: `epoll`, `kqueue` or `io_uring`.
    pub poller: &'static str,
    /// Each worker's own health.
    pub workers: Vec<WorkerHealth>,
    /// From the start of connecting until all clients were connected.
    pub connecting: Duration,
    /// Length of the measured interval: as planned where it was limited by
    /// time and not interrupted, else until the last transaction ended.
    pub measured: Duration,
    /// When the measured interval began.
    pub started_at: SystemTime,
    /// `default_seed` as it was drawn; `None` where the plan had it set.
    pub default_seed: Option<i64>,
}
