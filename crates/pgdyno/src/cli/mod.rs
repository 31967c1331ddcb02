//! The subcommands and their options; nothing is done here.

mod emulate;
mod endpoints;
mod run;
mod size;
mod values;
mod workloads;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use emulate::{EmulateArgs, Emulated};
pub(crate) use endpoints::{BalanceArg, EndpointArgs};
pub(crate) use run::{
    AuditWhat, IsolationArg, LoadArgs, PollerArg, ProtocolArg, ResetWhen, RetryArgs, RunArgs,
    TargetStatsArg,
};
pub(crate) use size::SizeArgs;
pub(crate) use values::BackoffArg;
use values::{duration, key_value};
pub(crate) use workloads::{ShowArgs, WorkloadsArgs, WorkloadsCommand};

use crate::login::LoginArgs;

/// A dynamometer for PostgreSQL-compatible databases.
///
/// Puts a database on the rollers, drives it with a known load, and says what
/// it can do and whether the figure can be believed.
#[derive(Debug, Parser)]
#[command(name = "pgdyno", version, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = "\
A TARGET is a connection URI (postgresql://host/db), a keyword string
(\"host=h dbname=d\"), a name from pgdyno.toml, or \"embedded\" for a throw-away
server. Without one the PG* variables count; where none is set: embedded.

Everything that pgbench does, with pgbench's own options: pgdyno pgbench …

Exit codes: 0 fine, 1 usage or input, 2 not completed or an audit failed.")]
pub(crate) struct Cli {
    /// Only errors and results
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start a throw-away PostgreSQL, load it, run it for ten seconds, judge it
    Demo(DemoArgs),
    /// Make and load the tables of a workload
    Init(InitArgs),
    /// List the workloads, or show what one of them sends
    Workloads(WorkloadsArgs),
    /// Say which scale fits a memory, and how large the tables are
    Size(SizeArgs),
    /// Say what a target is, and what is done differently for it
    Detect(DetectArgs),
    /// Look whether a workload's tables, at rest, are what they must be
    #[command(
        after_help = "Exit codes: 0 everything holds, 1 usage or input, 2 something does not."
    )]
    Audit(AuditArgs),
    /// Run a workload or scripts, audit the tables, write the record
    Run(Box<RunArgs>),
    /// Stand in for a database that one has not got, until Ctrl-C
    Emulate(EmulateArgs),
    /// Behave as pgbench, with pgbench's options (see pgdyno pgbench --help)
    #[command(disable_help_flag = true)]
    Pgbench {
        /// pgbench's options
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<std::ffi::OsString>,
    },
}

/// How the target is found.
#[derive(Debug, Args)]
pub(crate) struct TargetArgs {
    /// Connection URI, keyword string, name from pgdyno.toml, or "embedded"
    pub(crate) target: Option<String>,
    /// Read named targets from this file only
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Take the target for this kind of database instead of asking it
    #[arg(long, value_name = "NAME")]
    pub(crate) dialect: Option<String>,
    /// Embedded server only: durability off, for speed without meaning
    #[arg(long)]
    pub(crate) no_fsync: bool,
    #[command(flatten)]
    pub(crate) login: LoginArgs,
}

/// Which workload.
#[derive(Debug, Args)]
pub(crate) struct WorkloadArgs {
    /// Name of the workload
    #[arg(short, long, default_value = "tpcb", value_name = "NAME")]
    pub(crate) workload: String,
    /// A parameter of the workload
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = key_value)]
    pub(crate) params: Vec<(String, String)>,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Scale: branches; 100,000 accounts each
    #[arg(short, long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) scale: u64,
    /// Sessions
    #[arg(short, long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) clients: u32,
    /// Length of the measured interval, e.g. 10, 90s, 5m
    #[arg(short = 'T', long, default_value = "10s", value_parser = duration)]
    pub(crate) time: std::time::Duration,
    /// Durability off, for speed without meaning
    #[arg(long)]
    pub(crate) no_fsync: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) workload: WorkloadArgs,
    /// Scale of the tables
    #[arg(short, long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) scale: u64,
    /// Connections that load side by side
    #[arg(short, long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) jobs: u32,
    /// Seed of generated data
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// How rows are sent [default: as the target takes them fastest]
    #[arg(long, value_enum)]
    pub(crate) load_method: Option<LoadMethodArg>,
    /// Go on with a load that was broken off, or begin one that can be gone on with
    ///
    /// Every chunk of rows leaves a mark in the table pgdyno_load, in its own
    /// transaction, until the load is complete. Workload, scale, parameters,
    /// seed and load method must be those of the load that was broken off; the
    /// number of connections may differ. Where nothing was broken off, the tables
    /// are made anew, as without this. With --jobs 1 and without this, tables are
    /// made and filled in one transaction where the target has COPY FREEZE, and
    /// then there is never anything to go on with.
    #[arg(long)]
    pub(crate) resume: bool,
    /// What is asked of the tables once they are loaded
    #[arg(long, value_enum, default_value_t = InitAudit::Auto)]
    pub(crate) audit: InitAudit,
    /// Print every statement as SQL, and run none; with --dialect, without connecting
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum InitAudit {
    /// Counts, sums and other checks that take little beside the load
    Auto,
    /// Every check that the workload has, as "pgdyno audit"
    Full,
}

#[derive(Debug, Args)]
pub(crate) struct DetectArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) workload: WorkloadArgs,
    /// Scale that the tables must have [default: as found]
    #[arg(short, long, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) scale: Option<u64>,
    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LoadMethodArg {
    /// COPY … FROM STDIN
    Copy,
    /// INSERT … VALUES with several rows
    Insert,
    /// INSERT … VALUES, prepared, one statement for each row
    InsertSingle,
    /// INSERT … SELECT: the server makes the rows itself
    Server,
}

/// Where results go.
#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// Write the record as JSON to this file; "-": to standard output, instead of the summary
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Folder in which every run leaves its record
    #[arg(long, default_value = "pgdyno-runs", value_name = "FOLDER")]
    pub(crate) records: PathBuf,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    /// The options do not contradict each other.
    #[test]
    fn options_are_consistent() {
        Cli::command().debug_assert();
    }
}
