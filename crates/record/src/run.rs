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
use crate::verdict::VerdictRecord;

#[cfg(test)]
pub(crate) mod example;
mod sections;

pub use sections::Sections;

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

/// The database under test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetRecord {
    /// Its name in `pgdyno.toml`, or `embedded`; none for a plain URI.
    pub name: Option<String>,
    /// Its kind, e.g. `postgres`, `aurora-dsql`.
    pub kind: String,
    /// The dialect that was used; differs from `kind` only when forced.
    pub dialect: String,
    /// How the dialect was found, one sentence.
    pub detected_by: String,
    /// The server's `version()` or `server_version`.
    pub server_version: String,
    /// `server_version_num`, e.g. 150008; 0 where the server has none.
    pub server_version_num: u32,
    /// Name of the database.
    pub database: String,
    /// Name of the user.
    pub user: String,
    /// Where the connections went.
    pub endpoints: Vec<Endpoint>,
    /// The TLS of the connections; none when they were in the clear.
    pub tls: Option<TlsRecord>,
    /// Selected server settings, name to value.
    pub settings: BTreeMap<String, String>,
}

/// One host and port of a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    /// Host name, address, or folder of a Unix socket.
    pub host: String,
    /// Port number.
    pub port: u16,
}

/// The TLS session of the connections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsRecord {
    /// E.g. `TLSv1.3`.
    pub version: String,
    /// E.g. `TLS13_AES_256_GCM_SHA384`.
    pub cipher: String,
    /// Whether the server's certificate was verified.
    pub verified: bool,
}

/// The workload as it was run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkloadRecord {
    /// Its name, e.g. `tpcb`, or `script`.
    pub name: String,
    /// Scale factor, where it has one.
    pub scale: Option<u64>,
    /// Parameters and variables, name to value.
    pub params: BTreeMap<String, String>,
    /// The transaction types.
    pub scripts: Vec<ScriptInfo>,
}

/// A transaction type as it was run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptInfo {
    /// Its name: a file, or the description of a built-in.
    pub name: String,
    /// Its weight in the mix.
    pub weight: u64,
    /// Its text, whole; empty for a transaction that is not a script.
    pub text: String,
}

/// How a run ends by plan.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case", deny_unknown_fields)]
pub enum Limit {
    /// After this many seconds.
    Duration {
        /// Length of the measured interval, s.
        seconds: f64,
    },
    /// After this many transactions of each client.
    Transactions {
        /// Transactions per client.
        per_client: u64,
    },
}

/// Waiting between tries.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BackoffPlan {
    /// Wait before the second try, µs.
    pub first_us: u64,
    /// Factor from one wait to the next.
    pub factor: f64,
    /// Longest wait, µs.
    pub max_us: u64,
    /// Share (0..=1) of each wait that is drawn at random.
    pub jitter: f64,
}

/// How it was tested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanRecord {
    /// Sessions.
    pub clients: u32,
    /// Threads.
    pub workers: u32,
    /// How the run was to end.
    pub limit: Limit,
    /// Warm-up before the measured interval, the ramp included, s.
    pub warmup_s: f64,
    /// Clients began evenly over this long at the start of the warm-up, s.
    pub ramp_s: f64,
    /// Offered rate over all clients, transactions per second; none is as
    /// fast as possible.
    pub rate_tps: Option<f64>,
    /// Latency above which a transaction is late or skipped, µs.
    pub latency_limit_us: Option<u64>,
    /// `simple`, `extended` or `prepared`.
    pub protocol: String,
    /// Most tries of one transaction; none is without a limit.
    pub tries_max: Option<u32>,
    /// Waiting between tries; none is at once.
    pub backoff: Option<BackoffPlan>,
    /// Isolation level asked for; none is the server's default.
    pub isolation: Option<String>,
    /// Settings that every session began with (`--set`), name to value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub session_settings: BTreeMap<String, String>,
    /// Whether each transaction makes its own connection (`-C`).
    pub reconnect: bool,
    /// How readiness was waited for, e.g. `epoll`.
    pub poller: String,
    /// New connections a second, sustained; none is as fast as possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect_rate: Option<f64>,
    /// New connections at once, before that rate counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect_burst: Option<u32>,
    /// Age at which the server ends a session; clients leave theirs before, s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_age_s: Option<f64>,
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

/// Loading of the tables.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadRecord {
    /// How, e.g. `copy`.
    pub method: String,
    /// Connections used side by side.
    pub jobs: u32,
    /// Wall-clock time of everything: tables, rows, keys, vacuum; s.
    pub seconds: f64,
    /// Rows over all tables.
    pub rows: u64,
    /// Rows per second while rows were loaded.
    pub rows_per_s: f64,
    /// Each table.
    pub tables: Vec<LoadedTable>,
    /// Statements that were refused and tried again, by SQLSTATE; none most often.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub retries_by_sqlstate: BTreeMap<SqlState, u64>,
    /// What was chosen of the target's tables, such as `partitions`; none most often.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub table_params: BTreeMap<String, String>,
}

/// One loaded table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadedTable {
    /// Its name.
    pub name: String,
    /// Rows loaded.
    pub rows: u64,
    /// Time from its first to its last row, s.
    pub seconds: f64,
}

/// How the tables were brought back to their initial state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResetHow {
    /// They were in it.
    NotNeeded,
    /// What had been changed was put back.
    InPlace,
    /// They were made and loaded anew.
    Reload,
}

/// Bringing the tables back to their initial state before a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResetRecord {
    /// How.
    pub how: ResetHow,
    /// Rows put back, removed or loaded.
    pub rows: u64,
    /// Wall-clock time, looking included; s.
    pub seconds: f64,
    /// Why this way; empty where nothing else was thinkable.
    pub reason: String,
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
    /// From the scheduled time to the end, committed transactions.
    pub response: LatencyRecord,
    /// From the actual start to the end, committed transactions.
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

/// What a statement is, from its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatementKind {
    /// SELECT, VALUES, TABLE.
    Select,
    /// INSERT.
    Insert,
    /// UPDATE.
    Update,
    /// DELETE.
    Delete,
    /// MERGE.
    Merge,
    /// BEGIN, START TRANSACTION.
    Begin,
    /// COMMIT, END.
    Commit,
    /// ROLLBACK, ABORT.
    Rollback,
    /// Any other SQL.
    Other,
    /// A backslash command.
    Meta,
}

/// A statement's identity, known before the run. Its position in the list is
/// the index into [`crate::Tally::statements`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatementInfo {
    /// Index of its script, from 0.
    pub script: u32,
    /// Index of the command in its script, from 0, backslash commands counted.
    pub command: u32,
    /// First line of its text.
    pub text: String,
    /// What it is.
    pub kind: StatementKind,
    /// Whether it writes rows by itself or in a CTE.
    pub writes: bool,
    /// Rows that each execution should touch at least, where declared.
    pub rows_expected: Option<u64>,
    /// Whether it writes within its WITH, where the command tag does not count:
    /// only an audit of the tables can tell.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub writes_hidden: bool,
    /// Variables that its WHERE asks for at once, though each is drawn
    /// independently of another: rows that have them all are there by chance.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub independent: Vec<String>,
}

/// One statement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatementRecord {
    /// What it is.
    pub statement: StatementInfo,
    /// Executions that succeeded.
    pub executions: u64,
    /// Sum of the rows in the command tags.
    pub rows: u64,
    /// Executions that touched fewer rows than they should.
    pub short: u64,
    /// Executions that touched no row.
    pub no_row: u64,
    /// Their share (0..=1) of the executions.
    #[serde(default)]
    pub no_row_share: f64,
    /// Executions that ended the transaction as failed.
    pub failures: u64,
    /// Executions after whose failure the transaction was tried again.
    pub retries: u64,
    /// Mean time of successful executions, µs.
    pub time_mean_us: f64,
    /// Their distribution, where it was asked for.
    pub latency: Option<LatencyRecord>,
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

impl StatementInfo {
    /// Rows below which an execution counts as short: as declared, otherwise
    /// one for a statement that writes and none for one that does not.
    #[must_use]
    pub fn rows_expected_min(&self) -> u64 {
        self.rows_expected.unwrap_or(u64::from(self.writes))
    }
}

impl Audit {
    /// `found` − `expected`; `None` when one of them is not known.
    #[must_use]
    pub fn difference(&self) -> Option<i128> {
        Some(i128::from(self.found?) - i128::from(self.expected?))
    }
}
