//! The run record: everything that is known about one run, as one JSON value.
//!
//! It is made once, after the run, and written before anything is rendered.
//! Reports are functions of it and of nothing else. Its published form is
//! `schema/run-record-1.json`; a change of meaning needs a new schema version.
//! No secret ever enters it: command lines go through [`crate::redact`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::conflict::ConflictRecord;
use crate::driver::DriverRecord;
use crate::endpoint::EndpointsRecord;
use crate::latency::LatencyRecord;
use crate::sqlstate::SqlState;
use crate::target_statistics::TargetStatistics;
use crate::timeline::TimelineRecord;
use crate::tpcc::TpccRecord;
use crate::verdict::kinds::VerdictRecord;

#[cfg(test)]
pub(crate) mod example;
mod loading;
mod plan;
mod sections;
mod statement;
mod target;

pub use loading::{LoadRecord, LoadedTable, ResetHow, ResetRecord};
pub use plan::{BackoffPlan, Limit, PlanRecord, ScriptInfo, WorkloadRecord};
pub use sections::Sections;
pub use statement::{StatementInfo, StatementKind, StatementRecord};
pub use target::{Endpoint, TargetRecord, TlsRecord};

/// The version of the record's form. Readers refuse a newer one.
pub const SCHEMA_VERSION: u32 = 1;

/// Everything that is known about one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRecord {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// Version of the program that wrote it.
    pub pgdyno_version: String,
    /// Identity of the run: lower-case letters, digits and `-`.
    pub run_id: String,
    /// Start of the measured interval, RFC 3339 in UTC.
    pub started_at: jiff::Timestamp,
    /// The arguments as typed, without secrets.
    pub command_line: Vec<String>,
    /// The seed of all random numbers.
    pub seed: u64,
    /// What was tested.
    pub target: TargetRecord,
    /// With what it was tested.
    pub workload: WorkloadRecord,
    /// How it was tested.
    pub plan: PlanRecord,
    /// How the run came to its end.
    pub ended: Ended,
    /// Loading the tables, where it happened in this run.
    pub load: Option<LoadRecord>,
    /// Bringing the tables back to their initial state, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset: Option<ResetRecord>,
    /// All transaction types together.
    pub totals: Totals,
    /// What became of the offered rate; none without a rate.
    pub schedule: Option<ScheduleRecord>,
    /// Each transaction type, in the order of the scripts.
    pub transactions: Vec<TransactionRecord>,
    /// Each statement, in the order of scripts and commands.
    pub statements: Vec<StatementRecord>,
    /// Connections made for the run.
    pub connections: ConnectionRecord,
    /// Each endpoint, where clients were dealt over several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoints: Option<EndpointsRecord>,
    /// What happened in each second.
    pub timeline: TimelineRecord,
    /// The checks that the work was done.
    pub audits: Vec<Audit>,
    /// What the target counted of itself meanwhile, where it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_statistics: Option<TargetStatistics>,
    /// The figures derived from TPC-C, of a run of its workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tpcc: Option<TpccRecord>,
    /// The driver's own health.
    pub driver: DriverRecord,
    /// The machine that the driver ran on.
    pub machine: MachineRecord,
    /// What can be said about the run; see [`crate::judge`].
    pub verdicts: Vec<VerdictRecord>,
}

/// How a run came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndKind {
    /// As planned.
    Completed,
    /// By a signal.
    Interrupted,
    /// By errors.
    Aborted,
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ended {
    /// How.
    pub how: EndKind,
    /// Clients that ended by an error.
    pub clients_aborted: u32,
    /// The signal or the errors in words, without secrets; the first few.
    pub reasons: Vec<String>,
}

/// All transaction types together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Totals {
    /// Length of the measured interval, s.
    pub seconds: f64,
    /// Transactions committed per second.
    pub tps: f64,
    /// Transactions committed that did their work, per second.
    pub goodput_tps: f64,
    /// The counters.
    pub counts: Counts,
    /// Tries that conflicts with other transactions ended, by kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<ConflictRecord>,
    /// Rows written per committed transaction, from the command tags of the
    /// statements that write; 0 without commits.
    pub rows_written_per_commit: f64,
    /// From the scheduled time to the end, transactions committed or rolled back on purpose.
    pub response: LatencyRecord,
    /// From the actual start to the end, the same ones.
    pub service: LatencyRecord,
}

/// What became of an offered rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScheduleRecord {
    /// Transactions per second that were to start, over all clients.
    pub offered_tps: f64,
    /// Transactions committed per second.
    pub achieved_tps: f64,
    /// Whether starts had equal distances; else those of a Poisson process.
    pub steady: bool,
    /// Starts could wait for the next multiple of so many µs, so that one
    /// wake-up served several; 0 where each had its own moment. The wait is in
    /// the response times and in the lag.
    #[serde(default)]
    pub timer_slack_us: u64,
    /// Starts that had passed without a free client when the time was over.
    /// These transactions are in no histogram: had they run, their response
    /// times would have been among the longest.
    pub queued: u64,
}

/// How many transactions ended how.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Committed.
    pub committed: u64,
    /// Of the committed: a write touched fewer rows than it should.
    pub committed_without_effect: u64,
    /// Of the committed: above the latency limit.
    pub late: u64,
    /// Failed: the sum of the next three.
    pub failed: u64,
    /// Failed with 40001.
    pub failed_serialization: u64,
    /// Failed with 40P01.
    pub failed_deadlock: u64,
    /// Failed otherwise.
    pub failed_other: u64,
    /// Failed ones by SQLSTATE.
    pub failed_by_sqlstate: BTreeMap<SqlState, u64>,
    /// The connection was lost while a commit was on its way.
    pub unknown: u64,
    /// Given up by the schedule before the start.
    pub skipped: u64,
    /// Took more than one try.
    pub retried: u64,
    /// Tries beyond the first.
    pub retries: u64,
    /// Why tries were repeated.
    pub retries_by_sqlstate: BTreeMap<SqlState, u64>,
    /// Time spent in tries that did not commit, µs.
    pub lost_us_sum: u64,
    /// Mean schedule lag of committed transactions, µs.
    pub lag_mean_us: f64,
    /// Largest schedule lag, µs.
    pub lag_max_us: u64,
}

/// One transaction type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransactionRecord {
    /// Name of the script.
    pub name: String,
    /// Its weight in the mix.
    pub weight: u64,
    /// Transactions committed per second.
    pub tps: f64,
    /// Transactions committed that did their work, per second.
    pub goodput_tps: f64,
    /// The counters.
    pub counts: Counts,
    /// From the scheduled time to the end.
    pub response: LatencyRecord,
    /// From the actual start to the end.
    pub service: LatencyRecord,
}

/// Connections made for the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConnectionRecord {
    /// Time until all clients were connected, s. pgbench's "initial connection
    /// time".
    pub initial_s: f64,
    /// Attempts that failed.
    pub failed: u64,
    /// Time spent closing connections, µs.
    pub close_us_sum: u64,
    /// Connections that ended while their client went on with another.
    #[serde(default)]
    pub lost: u64,
    /// Connections left because they were too old.
    #[serde(default)]
    pub renewed: u64,
    /// Time that clients waited for leave to connect, over all of them, µs.
    #[serde(default)]
    pub waited_us_sum: u64,
    /// From the start of connecting to the first ReadyForQuery; its count is
    /// the number of connections made.
    pub setup: LatencyRecord,
}

/// How an audit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditOutcome {
    /// What was found is what was expected, within the tolerance.
    Passed,
    /// It is not.
    Failed,
    /// It could not be looked at; `detail` says why.
    Skipped,
}

/// A check that the work was really done and nothing was lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Audit {
    /// What is compared, e.g. `sum(abalance) = sum(delta)`.
    pub name: String,
    /// How it ended.
    pub outcome: AuditOutcome,
    /// The figure that should be; none when skipped.
    pub expected: Option<i64>,
    /// The figure that is; none when skipped.
    pub found: Option<i64>,
    /// By how much they may differ: commits of unknown outcome, nothing else.
    pub tolerance: u64,
    /// One sentence for people; may be empty.
    pub detail: String,
}

/// The machine that the driver ran on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineRecord {
    /// CPU model, or `unknown`.
    pub cpu_model: String,
    /// Logical CPUs that the process may use.
    pub cores: u32,
    /// Kernel name and release.
    pub kernel: String,
    /// Memory, bytes; 0 when unknown.
    pub memory_bytes: u64,
}

impl Audit {
    /// `found` − `expected`; `None` when one of them is not known.
    #[must_use]
    pub fn difference(&self) -> Option<i128> {
        Some(i128::from(self.found?) - i128::from(self.expected?))
    }
}
