//! What was to be done: the workload and the plan of the run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

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
    /// How the workers waited for their connections: `epoll`, `kqueue` or
    /// `io_uring`.
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
