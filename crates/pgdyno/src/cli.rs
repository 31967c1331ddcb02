//! The subcommands and their options; nothing is done here.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::failure::Failure;
use crate::login::LoginArgs;
use crate::terminal::Terminal;
use crate::{audit, bounds, demo, detect, emulate, init, run, size, workloads};

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
    Workloads(workloads::WorkloadsArgs),
    /// Say which scale fits a memory, and how large the tables are
    Size(size::SizeArgs),
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
    Emulate(emulate::EmulateArgs),
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
    /// Print every statement as SQL, and run none; with --dialect, without connecting
    #[arg(long)]
    pub(crate) dry_run: bool,
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

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) workload: WorkloadArgs,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
    #[command(flatten)]
    pub(crate) endpoints: crate::endpoints::EndpointArgs,
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
    /// Latency in ms above which transactions are late, or skipped under a rate
    #[arg(short = 'L', long, value_name = "MS", value_parser = limit_of_ms)]
    pub(crate) latency_limit: Option<std::time::Duration>,
    /// How SQL travels
    #[arg(short = 'M', long, value_enum, default_value_t = ProtocolArg::Prepared)]
    pub(crate) protocol: ProtocolArg,
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
pub(crate) enum IsolationArg {
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

/// Waiting between tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BackoffArg(pub(crate) Option<(std::time::Duration, std::time::Duration)>);

pub(crate) fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        _ => Err("expected a number above 0".to_owned()),
    }
}

/// A limit in ms: whole µs, as latencies are recorded, hence at least one.
fn limit_of_ms(text: &str) -> Result<std::time::Duration, String> {
    std::time::Duration::try_from_secs_f64(positive(text)? / 1000.0)
        .ok()
        .filter(|limit| limit.as_micros() > 0 && *limit <= bounds::TIME_MAX)
        .ok_or_else(|| "expected a number of ms from 0.001 up to ten years".to_owned())
}

/// A number with a unit: `us`, `ms`, `s`, `m`, `h`; seconds without one.
pub(crate) fn duration(text: &str) -> Result<std::time::Duration, String> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let seconds_per_unit = match &text[digits.len()..] {
        "" | "s" => 1.0,
        "us" => 1e-6,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        unit => return Err(format!("\"{unit}\" is no unit of time; there are: us, ms, s, m, h")),
    };
    let number: f64 = digits.parse().map_err(|_| "expected a time such as 60, 90s or 5m")?;
    std::time::Duration::try_from_secs_f64(number * seconds_per_unit)
        .ok()
        .filter(|time| *time <= bounds::TIME_MAX)
        .ok_or_else(|| "expected a time from 0 up to ten years".to_owned())
}

fn backoff(text: &str) -> Result<BackoffArg, String> {
    if text == "none" {
        return Ok(BackoffArg(None));
    }
    let (first, max) = text.split_once("..").unwrap_or((text, "1s"));
    let (first, max) = (duration(first)?, duration(max)?);
    if first.is_zero() || first > max {
        return Err("expected none, or FIRST..MAX with 0 < FIRST <= MAX".to_owned());
    }
    Ok(BackoffArg(Some((first, max))))
}

/// Parses the command line and does what it says. Gives back the exit code.
#[must_use]
pub fn main(built_for_speed: bool) -> u8 {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // A closed pipe is the only way for this to fail.
            let _ = error.print();
            return u8::from(error.use_stderr());
        }
    };
    let terminal = Terminal::look(cli.quiet);
    if !built_for_speed {
        terminal.say("note: this pgdyno was built without optimisation; its own cost is too high");
    }
    let done = match cli.command {
        Command::Demo(args) => demo::demo(&args, &terminal),
        Command::Init(args) => init::init(&args, &terminal),
        Command::Workloads(args) => workloads::run(&args, &terminal),
        Command::Size(args) => size::size(&args, &terminal),
        Command::Detect(args) => detect::detect(&args, &terminal),
        Command::Audit(args) => audit::audit(&args, &terminal),
        Command::Run(args) => run::run(&args, &terminal),
        Command::Emulate(args) => emulate::emulate(&args, &terminal),
        Command::Pgbench { args } => return crate::pgbench::main(&"pgbench".into(), args),
    };
    match done {
        Ok(()) => 0,
        Err(failure) => {
            tell(&failure, &terminal);
            failure.exit_code()
        }
    }
}

fn tell(failure: &Failure, terminal: &Terminal) {
    if !failure.told {
        terminal.error(failure.to_string().trim_end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;
    use std::time::Duration;

    /// The options do not contradict each other.
    #[test]
    fn options_are_consistent() {
        Cli::command().debug_assert();
    }

    /// Times are read with and without unit, and nonsense is refused.
    #[test]
    fn durations() {
        assert_eq!(duration("10"), Ok(Duration::from_secs(10)));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(duration("250us"), Ok(Duration::from_micros(250)));
        for bad in ["", "s", "-1", "1 week", "1d", "nan", "1e999", "1e12"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    /// A limit that no clock can count is refused, as is one below what is recorded.
    #[test]
    fn latency_limits() {
        assert_eq!(limit_of_ms("1.5"), Ok(Duration::from_micros(1500)));
        for bad in ["0", "-1", "1e-9", "1e12", "1e30", "inf", "nan", "x"] {
            assert!(limit_of_ms(bad).is_err(), "{bad}");
        }
    }

    /// A backoff needs two times in order.
    #[test]
    fn backoffs() {
        let ten_to_thousand = (Duration::from_millis(10), Duration::from_secs(1));
        assert_eq!(backoff("10ms..1s"), Ok(BackoffArg(Some(ten_to_thousand))));
        assert_eq!(backoff("10ms"), Ok(BackoffArg(Some(ten_to_thousand))));
        assert_eq!(backoff("none"), Ok(BackoffArg(None)));
        assert!(backoff("2s..1s").is_err() && backoff("0..1s").is_err());
    }
}
