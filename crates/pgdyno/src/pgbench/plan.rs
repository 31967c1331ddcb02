//! The second level of a command line: what the options mean together.
//!
//! [`PgbenchPlan::make`] holds pgbench's own order of checks, because the first
//! failing one is the one that is told. Past it nothing is unclear any more: no
//! `Option` that is "not typed", only values.

use std::ffi::OsString;
use std::time::Duration;

use pgdyno_engine::plan::PollerChoice;

use super::message::{Fatal, Level};
use super::scripts::Library;
use super::typed::{PartitionMethod, QueryMode, Typed, TypedBench, TypedConnection, TypedInit};
use crate::bounds;

/// Transactions of each client where neither `-t` nor `-T` is given.
const TRANSACTIONS_DEFAULT: i32 = 10;

/// Steps where no `-I` is given.
const STEPS_DEFAULT: &str = "dtgvp";

/// What the command line asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct PgbenchPlan {
    /// Where to connect.
    pub connection: Connection,
    /// What to do there.
    pub task: Task,
}

/// Where to connect: what libpq would be given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// `-h`.
    pub host: Option<String>,
    /// `-p`.
    pub port: Option<String>,
    /// `-U`.
    pub user: Option<String>,
    /// A name, a connection string or a URI.
    pub dbname: String,
}

/// One of pgbench's two modes.
#[derive(Debug, Clone, PartialEq)]
pub enum Task {
    /// `-i`
    Initialize(InitPlan),
    /// A benchmark.
    Run(Box<BenchPlan>),
}

/// One step of an initialization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// `d`
    DropTables,
    /// `t`
    CreateTables,
    /// `g`
    GenerateClientSide,
    /// `G`
    GenerateServerSide,
    /// `v`
    Vacuum,
    /// `p`
    PrimaryKeys,
    /// `f`
    ForeignKeys,
}

/// Partitions of pgbench_accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Partitions {
    /// At least 1.
    pub count: u32,
    /// How rows are dealt.
    pub method: PartitionMethod,
}

/// An initialization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InitPlan {
    /// In order, each as often as it is to be done.
    pub steps: Vec<Step>,
    /// At least 1.
    pub scale: u32,
    /// 10 to 100.
    pub fillfactor: u32,
    /// Progress every five seconds only.
    pub quiet: bool,
    /// For tables.
    pub tablespace: Option<String>,
    /// For primary keys.
    pub index_tablespace: Option<String>,
    /// Of pgbench_accounts.
    pub partitions: Option<Partitions>,
    /// `create unlogged table`
    pub unlogged: bool,
}

/// When a benchmark ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// After so many transactions of each client.
    Transactions(u32),
    /// After so many seconds.
    Seconds(u32),
}

/// The log of transactions.
#[derive(Debug, Clone, PartialEq)]
pub struct LogOptions {
    /// Without pid and thread.
    pub prefix: OsString,
    /// Seconds in one line.
    pub aggregate_s: Option<u32>,
    /// Share of the transactions.
    pub sampling_rate: Option<f64>,
}

/// Progress reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgressOptions {
    /// Seconds between two.
    pub every_s: u32,
    /// Unix time instead of seconds since the start.
    pub timestamp: bool,
}

/// A benchmark. The scripts are in the [`Library`].
#[derive(Debug, Clone, PartialEq)]
pub struct BenchPlan {
    /// At least 1.
    pub clients: u32,
    /// At least 1, at most `clients`.
    pub threads: u32,
    /// The end.
    pub until: Until,
    /// How SQL travels.
    pub protocol: QueryMode,
    /// `-s`, where it was given.
    pub scale: Option<u32>,
    /// `-D`, in order.
    pub define: Vec<(String, String)>,
    /// Transactions per second over all clients.
    pub rate_tps: Option<f64>,
    /// Latency above which a transaction is late.
    pub latency_limit: Option<Duration>,
    /// Tries of one transaction; 0 is unlimited.
    pub max_tries: u32,
    /// The seed, where it was given.
    pub seed: Option<u64>,
    /// A connection for each transaction.
    pub connect: bool,
    /// No vacuum before the run.
    pub no_vacuum: bool,
    /// Vacuum accounts too.
    pub vacuum_all: bool,
    /// Log files.
    pub log: Option<LogOptions>,
    /// Progress.
    pub progress: Option<ProgressOptions>,
    /// `-r`
    pub report_per_command: bool,
    /// `--failures-detailed`
    pub failures_detailed: bool,
    /// `--exit-on-abort`
    pub exit_on_abort: bool,
    /// `--verbose-errors`
    pub verbose_errors: bool,
    /// `--continue-on-error`
    pub continue_on_error: bool,
    /// `--latency-percentiles`
    pub percentiles: Vec<f64>,
    /// `--json`
    pub json: Option<OsString>,
    /// `--poller`
    pub poller: PollerChoice,
}

impl PgbenchPlan {
    /// Checks what was typed as a whole. `try_help` is the hint's text.
    ///
    /// # Errors
    /// The first failing check, in pgbench's order.
    pub fn make(typed: Typed, library: &mut Library, try_help: &str) -> Result<Self, Fatal> {
        if !typed.initialize && library.is_empty() {
            library.add_builtin("tpcb-like", 1)?;
        }
        if typed.bench.protocol != QueryMode::Simple {
            library.check_parameters()?;
        }
        if !typed.initialize {
            library.check_weights()?;
        }
        let connection = choose_connection(typed.connection, &typed.operands, try_help)?;
        let task = if typed.initialize {
            if typed.bench_option_seen {
                return Err(Fatal::new(
                    "some of the specified options cannot be used in initialization (-i) mode",
                ));
            }
            Task::Initialize(InitPlan::make(typed.init, typed.scale, typed.no_vacuum)?)
        } else {
            if typed.init_option_seen {
                return Err(Fatal::new(
                    "some of the specified options cannot be used in benchmarking mode",
                ));
            }
            let mut bench = BenchPlan::make(typed.bench)?;
            bench.scale = typed.scale.map(i32::unsigned_abs);
            bench.no_vacuum = typed.no_vacuum;
            bench.seed = typed.seed;
            Task::Run(Box::new(bench))
        };
        Ok(Self { connection, task })
    }
}

/// Where `-d` is given no operand is expected; else the first one is the
/// database. The default is libpq's for PGDATABASE, but PGUSER and not `-U`
/// stands in for it: that is pgbench's own.
fn choose_connection(
    typed: TypedConnection,
    operands: &[OsString],
    try_help: &str,
) -> Result<Connection, Fatal> {
    let mut operands = operands.iter();
    let dbname = match typed.dbname {
        Some(name) => name,
        None => match operands.next() {
            Some(name) => name.to_string_lossy().into_owned(),
            None => default_dbname()?,
        },
    };
    if let Some(extra) = operands.next() {
        return Err(Fatal::new(format!(
            "too many command-line arguments (first is \"{}\")",
            extra.to_string_lossy()
        ))
        .with(Level::Hint, try_help));
    }
    Ok(Connection { host: typed.host, port: typed.port, user: typed.user, dbname })
}

fn default_dbname() -> Result<String, Fatal> {
    for name in ["PGDATABASE", "PGUSER"] {
        if let Some(value) = std::env::var_os(name).filter(|value| !value.is_empty()) {
            return Ok(value.to_string_lossy().into_owned());
        }
    }
    let uid = nix::unistd::geteuid();
    match nix::unistd::User::from_uid(uid) {
        Ok(Some(user)) => Ok(user.name),
        Ok(None) => Err(Fatal::new(format!(
            "could not look up effective user ID {uid}: user does not exist"
        ))),
        Err(error) => {
            Err(Fatal::new(format!("could not look up effective user ID {uid}: {}", error.desc())))
        }
    }
}

impl InitPlan {
    fn make(typed: TypedInit, scale: Option<i32>, no_vacuum: bool) -> Result<Self, Fatal> {
        let count = typed.partitions.unsigned_abs();
        let partitions = match (count, typed.partition_method) {
            (0, Some(_)) => {
                return Err(Fatal::new(
                    "--partition-method requires greater than zero --partitions",
                ));
            }
            (0, None) => None,
            (count, method) => {
                Some(Partitions { count, method: method.unwrap_or(PartitionMethod::Range) })
            }
        };
        let typed_steps = typed.steps.as_deref().unwrap_or(STEPS_DEFAULT);
        let mut steps: Vec<Step> = typed_steps.chars().filter_map(Step::from_letter).collect();
        if no_vacuum {
            steps.retain(|step| *step != Step::Vacuum);
        }
        if typed.foreign_keys && !steps.contains(&Step::ForeignKeys) {
            steps.push(Step::ForeignKeys);
        }
        Ok(Self {
            steps,
            scale: scale.map_or(1, i32::unsigned_abs),
            fillfactor: typed.fillfactor.map_or(100, i32::unsigned_abs),
            quiet: typed.quiet,
            tablespace: typed.tablespace,
            index_tablespace: typed.index_tablespace,
            partitions,
            unlogged: typed.unlogged,
        })
    }
}

impl Step {
    /// Blanks are no steps; other letters were refused when they were typed.
    const fn from_letter(letter: char) -> Option<Self> {
        Some(match letter {
            'd' => Self::DropTables,
            't' => Self::CreateTables,
            'g' => Self::GenerateClientSide,
            'G' => Self::GenerateServerSide,
            'v' => Self::Vacuum,
            'p' => Self::PrimaryKeys,
            'f' => Self::ForeignKeys,
            _ => return None,
        })
    }
}

impl BenchPlan {
    fn make(typed: TypedBench) -> Result<Self, Fatal> {
        let until = choose_until(&typed)?;
        check_logging(&typed, until)?;
        if typed.progress_timestamp && typed.progress_s.is_none() {
            return Err(Fatal::new("--progress-timestamp is allowed only under --progress"));
        }
        let latency_limit = typed.latency_limit_ms.and_then(limit_of_ms);
        let max_tries = typed.max_tries.unwrap_or(1);
        if max_tries == 0 && latency_limit.is_none() && !matches!(until, Until::Seconds(_)) {
            return Err(Fatal::new(
                "an unlimited number of transaction tries can only be used with --latency-limit \
                 or a duration (-T)",
            ));
        }
        let clients = typed.clients.map_or(1, i32::unsigned_abs);
        Ok(Self {
            clients,
            threads: typed.jobs.map_or(1, i32::unsigned_abs).min(clients),
            until,
            protocol: typed.protocol,
            scale: None,
            define: typed.define,
            rate_tps: typed.rate_tps,
            latency_limit,
            max_tries,
            seed: None,
            connect: typed.connect,
            no_vacuum: false,
            vacuum_all: typed.vacuum_all,
            log: typed.log.then(|| LogOptions {
                prefix: typed.log_prefix.unwrap_or_else(|| "pgbench_log".into()),
                aggregate_s: typed.aggregate_s.map(i32::unsigned_abs),
                sampling_rate: typed.sampling_rate,
            }),
            progress: typed.progress_s.map(|every_s| ProgressOptions {
                every_s: every_s.unsigned_abs(),
                timestamp: typed.progress_timestamp,
            }),
            report_per_command: typed.report_per_command,
            failures_detailed: typed.failures_detailed,
            exit_on_abort: typed.exit_on_abort,
            verbose_errors: typed.verbose_errors,
            continue_on_error: typed.continue_on_error,
            percentiles: typed.percentiles,
            json: typed.json,
            poller: typed.poller,
        })
    }
}

fn choose_until(typed: &TypedBench) -> Result<Until, Fatal> {
    match (typed.transactions, typed.duration_s) {
        (Some(_), Some(_)) => Err(Fatal::new(
            "specify either a number of transactions (-t) or a duration (-T), not both",
        )),
        (None, Some(seconds)) => Ok(Until::Seconds(seconds.unsigned_abs())),
        (count, None) => {
            Ok(Until::Transactions(count.unwrap_or(TRANSACTIONS_DEFAULT).unsigned_abs()))
        }
    }
}

fn check_logging(typed: &TypedBench, until: Until) -> Result<(), Fatal> {
    if typed.sampling_rate.is_some() && !typed.log {
        return Err(Fatal::new(
            "log sampling (--sampling-rate) is allowed only when logging transactions (-l)",
        ));
    }
    if typed.sampling_rate.is_some() && typed.aggregate_s.is_some() {
        return Err(Fatal::new(
            "log sampling (--sampling-rate) and aggregation (--aggregate-interval) cannot be used \
             at the same time",
        ));
    }
    if typed.aggregate_s.is_some() && !typed.log {
        return Err(Fatal::new(
            "log aggregation is allowed only when actually logging transactions",
        ));
    }
    if typed.log_prefix.is_some() && !typed.log {
        return Err(Fatal::new(
            "log file prefix (--log-prefix) is allowed only when logging transactions (-l)",
        ));
    }
    if let (Some(interval), Until::Seconds(duration)) = (typed.aggregate_s, until) {
        let interval = interval.unsigned_abs();
        if interval > duration {
            return Err(Fatal::new(format!(
                "number of seconds for aggregation ({interval}) must not be higher than test \
                 duration ({duration})"
            )));
        }
        if duration % interval != 0 {
            return Err(Fatal::new(format!(
                "duration ({duration}) must be a multiple of aggregation interval ({interval})"
            )));
        }
    }
    Ok(())
}

/// Whole microseconds, as pgbench keeps it; less than one is no limit at all,
/// and one without end is as good as ten years.
fn limit_of_ms(ms: f64) -> Option<Duration> {
    let us = (ms * 1000.0) as u64;
    (us > 0).then(|| Duration::from_micros(us).min(bounds::TIME_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pgbench::message::Messages;
    use crate::pgbench::options::{Id, Mode, OPTIONS, Opt};

    /// Both levels, and the first line of what is said where one refuses.
    fn read(words: &[&str]) -> Result<(Typed, PgbenchPlan), String> {
        let mut messages = Messages::from_argv0("pgbench".as_ref());
        let mut library = Library::default();
        let first_line =
            |fatal: Fatal| fatal.lines.first().map_or_else(String::new, |l| l.1.clone());
        let args = words.iter().map(OsString::from);
        let typed = Typed::read(args, &mut messages, &mut library).map_err(first_line)?;
        let plan = PgbenchPlan::make(typed.clone(), &mut library, "try").map_err(first_line)?;
        Ok((typed, plan))
    }

    /// An option with its good argument, in one spelling, after what it needs.
    fn line<'a>(option: &Opt, spelled: &'a [String]) -> Vec<&'a str> {
        let mut words: Vec<&str> = option.trial.with.split_whitespace().collect();
        if option.mode == Mode::Init && option.id != Id::Initialize {
            words.push("-i");
        }
        words.extend(spelled.iter().map(String::as_str));
        words
    }

    fn spellings(option: &Opt) -> Vec<Vec<String>> {
        let good = option.trial.good;
        let mut all = Vec::new();
        match option.value {
            None => all.push(vec![format!("--{}", option.long)]),
            Some(_) => {
                all.push(vec![format!("--{}", option.long), good.into()]);
                all.push(vec![format!("--{}={good}", option.long)]);
            }
        }
        if let Some(letter) = option.short {
            let letter = char::from(letter);
            all.push(vec![format!("-{letter}{good}")]);
            if option.value.is_some() {
                all.push(vec![format!("-{letter}"), good.into()]);
            }
        }
        all
    }

    /// Options whose trial cannot be accepted: they need a file, or end the program.
    const WITHOUT_GOOD: [Id; 2] = [Id::File, Id::ShowScript];

    /// Every spelling of every option means the same, and something.
    #[test]
    fn spellings_mean_the_same() {
        let (nothing, _) = read(&[]).expect("no options");
        for option in OPTIONS.iter().filter(|o| !WITHOUT_GOOD.contains(&o.id)) {
            let seen: Vec<_> = spellings(option)
                .iter()
                .map(|spelled| {
                    let words = line(option, spelled);
                    read(&words).unwrap_or_else(|error| panic!("{words:?}: {error}"))
                })
                .collect();
            assert!(seen.windows(2).all(|pair| pair[0] == pair[1]), "{}", option.long);
            assert_ne!(seen[0].0, nothing, "{}", option.long);
        }
    }

    /// Every option is refused in the mode that is not its own.
    #[test]
    fn modes_are_kept() {
        for option in OPTIONS.iter().filter(|o| !WITHOUT_GOOD.contains(&o.id)) {
            let spelled = &spellings(option)[0];
            let mut words: Vec<&str> = spelled.iter().map(String::as_str).collect();
            let said = match option.mode {
                Mode::Init if option.id == Id::Initialize => continue,
                Mode::Init => "some of the specified options cannot be used in benchmarking mode",
                Mode::Bench => {
                    words.push("-i");
                    "some of the specified options cannot be used in initialization (-i) mode"
                }
                Mode::Both => {
                    words.push("-i");
                    assert!(read(&words).is_ok(), "{words:?}");
                    continue;
                }
            };
            assert_eq!(read(&words).map(|_| ()), Err(said.to_owned()), "{words:?}");
        }
    }

    /// Every option refuses the bad arguments of its entry with the words of its entry,
    /// even where a later option is wrong as well.
    #[test]
    fn bad_arguments_are_told_at_once() {
        for option in OPTIONS {
            for (bad, said) in option.trial.bad {
                let typed = format!("--{}={bad}", option.long);
                assert_eq!(read(&[&typed, "-c0"]).map(|_| ()), Err((*said).to_owned()), "{typed}");
            }
        }
    }

    /// `-n` takes out every vacuum, and foreign keys come once and last.
    #[test]
    fn steps() {
        let steps = |words: &[&str]| match read(words).expect("fine").1.task {
            Task::Initialize(plan) => plan.steps,
            Task::Run(_) => panic!("no initialization"),
        };
        use Step::{
            CreateTables, DropTables, ForeignKeys, GenerateClientSide, PrimaryKeys, Vacuum,
        };
        assert_eq!(
            steps(&["-i", "--foreign-keys"]),
            [DropTables, CreateTables, GenerateClientSide, Vacuum, PrimaryKeys, ForeignKeys]
        );
        assert_eq!(steps(&["-i", "-nI", "v f v", "--foreign-keys"]), [ForeignKeys]);
    }

    /// There are never more threads than clients, and a tiny limit is none.
    #[test]
    fn what_options_mean_together() {
        let bench = |words: &[&str]| match read(words).expect("fine").1.task {
            Task::Run(plan) => *plan,
            Task::Initialize(_) => panic!("no benchmark"),
        };
        assert_eq!(bench(&["-c2", "-j5"]).threads, 2);
        assert_eq!(bench(&[]).until, Until::Transactions(10));
        assert_eq!(bench(&["-L", "inf"]).latency_limit, Some(bounds::TIME_MAX));
        assert_eq!(bench(&["-L", "0.0001"]).latency_limit, None);
        assert_eq!(bench(&["-L", "1.5"]).latency_limit, Some(Duration::from_micros(1500)));
        assert_eq!(bench(&["-T", "3", "--max-tries=0"]).max_tries, 0);
    }
}
