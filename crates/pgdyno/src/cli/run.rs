//! The options of `pgdyno run`.

use clap::{Args, ValueEnum};

use super::values::{BackoffArg, backoff, duration, limit_of_ms, positive, timer_slack};
use super::{EndpointArgs, OutputArgs, TargetArgs, WorkloadArgs};

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) workload: WorkloadArgs,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
    #[command(flatten)]
    pub(crate) endpoints: EndpointArgs,
    #[command(flatten)]
    pub(crate) retry: RetryArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// A script in pgbench's language instead of a workload; again for a mix
    #[arg(short = 'f', long = "script", value_name = "FILE[@WEIGHT]")]
    pub(crate) scripts: Vec<String>,
    /// A variable for the scripts
    #[arg(short = 'D', long = "define", value_name = "NAME=VALUE")]
    pub(crate) defines: Vec<String>,
    /// Scale of the tables: found by itself, except for an embedded server and as
    /// :scale in scripts
    #[arg(short, long, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) scale: Option<u64>,
    /// Bring the tables back to their initial state first, in the cheapest way that
    /// the target allows [alone: always]
    #[arg(long, value_enum, num_args = 0..=1, value_name = "WHEN",
          default_value = "never", default_missing_value = "always")]
    pub(crate) reset: ResetWhen,
    /// What is read of the tables before and after the run to audit it
    #[arg(
        long,
        value_enum,
        default_value = "auto",
        value_name = "WHAT",
        conflicts_with = "no_audit"
    )]
    pub(crate) audit: AuditWhat,
    /// The same as --audit off
    #[arg(long)]
    pub(crate) no_audit: bool,
    /// Whether the target's own statistics are read before and after the run
    #[arg(long, value_enum, default_value = "auto", value_name = "WHAT")]
    pub(crate) target_stats: TargetStatsArg,
    /// Exit with 2 also where a statement touched fewer rows than it should in more than
    /// 1 % of its executions, or an audit could not be made
    #[arg(long)]
    pub(crate) strict: bool,
}

/// How hard, and for how long.
#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    /// Sessions
    #[arg(short, long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) clients: u32,
    /// Threads that drive them [default: as many as the machine can spare]
    #[arg(short = 'j', long, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) workers: Option<u32>,
    /// Length of the measured interval, e.g. 60, 90s, 5m [default: 10s]
    #[arg(short = 'T', long, value_parser = duration, conflicts_with = "transactions")]
    pub(crate) time: Option<std::time::Duration>,
    /// Transactions of each client, instead of a time
    #[arg(short, long, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) transactions: Option<u64>,
    /// Time before the measured interval, kept apart
    #[arg(long, default_value = "0", value_parser = duration)]
    pub(crate) warmup: std::time::Duration,
    /// Begin the clients evenly over this time, all connected before. It is part of the
    /// warm-up: the measured interval begins when both are over
    #[arg(long, default_value = "0", value_parser = duration, value_name = "TIME")]
    pub(crate) ramp: std::time::Duration,
    /// Transactions per second, over all clients
    #[arg(short = 'R', long, value_parser = positive)]
    pub(crate) rate: Option<f64>,
    /// Start at equal distances instead of at random
    #[arg(long, requires = "rate")]
    pub(crate) rate_steady: bool,
    /// Under a rate, let starts wait for the next multiple of this, e.g. 1ms: one wake-up of the
    /// driver then serves several. The wait is part of the response time and of the lag
    #[arg(long, default_value = "0", value_parser = timer_slack, requires = "rate", value_name = "TIME")]
    pub(crate) timer_slack: std::time::Duration,
    /// Latency in ms above which transactions are late, or skipped under a rate
    #[arg(short = 'L', long, value_name = "MS", value_parser = limit_of_ms)]
    pub(crate) latency_limit: Option<std::time::Duration>,
    /// How SQL travels
    #[arg(short = 'M', long, value_enum, default_value_t = ProtocolArg::Prepared)]
    pub(crate) protocol: ProtocolArg,
    /// How to wait for the connections. io-uring hands all requests of a turn to the kernel at
    /// once; auto takes to it where that is allowed, once a wait is found to serve several clients
    #[arg(long, value_enum, default_value_t = PollerArg::Auto)]
    pub(crate) poller: PollerArg,
    /// A new connection for each transaction
    #[arg(short = 'C', long)]
    pub(crate) reconnect: bool,
    /// Isolation level of all transactions [default: the server's]
    #[arg(long, value_enum)]
    pub(crate) isolation: Option<IsolationArg>,
    /// Seed of all random numbers [default: by chance; it is recorded]
    #[arg(long)]
    pub(crate) seed: Option<u64>,
}

/// What is tried again.
#[derive(Debug, Args)]
pub(crate) struct RetryArgs {
    /// Tries of a transaction that fails with a serialization failure or deadlock; 0: no limit
    #[arg(long, default_value_t = 1)]
    pub(crate) max_tries: u32,
    /// Wait between tries: none, or FIRST..MAX, doubled each time, with jitter
    #[arg(long, default_value = "none", value_parser = backoff, value_name = "none|10ms..1s")]
    pub(crate) retry_backoff: BackoffArg,
    /// Count other errors of SQL as failed transactions instead of ending the client
    #[arg(long)]
    pub(crate) continue_on_error: bool,
}

impl RunArgs {
    /// What is audited, whichever way it was said.
    pub(crate) const fn audit(&self) -> AuditWhat {
        if self.no_audit { AuditWhat::Off } else { self.audit }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TargetStatsArg {
    /// Where the target has some
    Auto,
    /// Never
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AuditWhat {
    /// Sums, numbers of rows and other cheap checks
    Auto,
    /// Every check that the workload has
    Full,
    /// Nothing
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResetWhen {
    /// Leave the tables as they are
    Never,
    /// Only where they are not clean
    Auto,
    /// In any case
    Always,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProtocolArg {
    Simple,
    Extended,
    Prepared,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PollerArg {
    Auto,
    Epoll,
    IoUring,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum IsolationArg {
    ReadCommitted,
    RepeatableRead,
    Serializable,
}
