//! The first level of a command line: what was typed, left to right.
//!
//! Each option is read the moment it comes by, scripts included, and what is
//! wrong with it by itself is said at once: an error in a script hides one in a
//! later option, as with pgbench. What options mean together is the business of
//! [`super::plan`].

use std::ffi::{OsStr, OsString};

use pgdyno_engine::plan::PollerChoice;
use pgdyno_script::choice::parse_define;

use super::cnum::{self, IntError};
use super::getopt::Scanner;
use super::message::{Fatal, Level, Messages};
use super::options::{self, Id, Mode};
use super::scripts::{self, Library};
use crate::open_files::{self, OpenFilesError};

/// Files open besides the clients' sockets, as pgbench counts them: the three
/// standard streams.
const OPEN_FILES_BESIDES_CLIENTS: u64 = 3;

/// `-M`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum QueryMode {
    /// One Query message for a command.
    #[default]
    Simple,
    /// Parse, Bind, Execute for a command.
    Extended,
    /// Prepared once in a session.
    Prepared,
}

impl QueryMode {
    /// As typed and as reported.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Simple => "simple",
            Self::Extended => "extended",
            Self::Prepared => "prepared",
        }
    }
}

/// `--partition-method`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartitionMethod {
    /// Equal ranges of `aid`.
    Range,
    /// By hash of `aid`.
    Hash,
}

/// Where to connect, as typed; libpq's sources fill in the rest.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TypedConnection {
    /// `-h`.
    pub host: Option<String>,
    /// `-p`.
    pub port: Option<String>,
    /// `-U`.
    pub user: Option<String>,
    /// `-d`.
    pub dbname: Option<String>,
}

/// The options of initialization.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TypedInit {
    /// `-I`.
    pub steps: Option<String>,
    /// `-F`.
    pub fillfactor: Option<i32>,
    /// `-q`.
    pub quiet: bool,
    /// `--foreign-keys`.
    pub foreign_keys: bool,
    /// `--tablespace`.
    pub tablespace: Option<String>,
    /// `--index-tablespace`.
    pub index_tablespace: Option<String>,
    /// `--partitions`.
    pub partitions: i32,
    /// `--partition-method`.
    pub partition_method: Option<PartitionMethod>,
    /// `--unlogged-tables`.
    pub unlogged: bool,
}

/// The options of benchmarking.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TypedBench {
    /// `-c`.
    pub clients: Option<i32>,
    /// `-C`.
    pub connect: bool,
    /// `-D`, in order; a later one of the same name wins.
    pub define: Vec<(String, String)>,
    /// `-j`.
    pub jobs: Option<i32>,
    /// `-l`.
    pub log: bool,
    /// `-L`, ms.
    pub latency_limit_ms: Option<f64>,
    /// `-M`.
    pub protocol: QueryMode,
    /// `-P`, s.
    pub progress_s: Option<i32>,
    /// `-r`.
    pub report_per_command: bool,
    /// `-R`, transactions/s.
    pub rate_tps: Option<f64>,
    /// `-t`.
    pub transactions: Option<i32>,
    /// `-T`, s.
    pub duration_s: Option<i32>,
    /// `-v`.
    pub vacuum_all: bool,
    /// `--aggregate-interval`, s.
    pub aggregate_s: Option<i32>,
    /// `--exit-on-abort`.
    pub exit_on_abort: bool,
    /// `--failures-detailed`.
    pub failures_detailed: bool,
    /// `--log-prefix`.
    pub log_prefix: Option<OsString>,
    /// `--max-tries`; 0 is unlimited.
    pub max_tries: Option<u32>,
    /// `--progress-timestamp`.
    pub progress_timestamp: bool,
    /// `--sampling-rate`.
    pub sampling_rate: Option<f64>,
    /// `--verbose-errors`.
    pub verbose_errors: bool,
    /// `--continue-on-error`.
    pub continue_on_error: bool,
    /// `--poller`.
    pub poller: PollerChoice,
    /// `--latency-percentiles`.
    pub percentiles: Vec<f64>,
    /// `--json`.
    pub json: Option<OsString>,
}

/// A whole command line, as typed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Typed {
    /// `-i`.
    pub initialize: bool,
    /// `-n`.
    pub no_vacuum: bool,
    /// `-s`.
    pub scale: Option<i32>,
    /// `--debug`.
    pub debug: bool,
    /// The last seed, of the environment or of the command line.
    pub seed: Option<u64>,
    /// Where to connect.
    pub connection: TypedConnection,
    /// Initialization.
    pub init: TypedInit,
    /// Benchmarking.
    pub bench: TypedBench,
    /// Some option of [`Mode::Init`] was typed.
    pub init_option_seen: bool,
    /// Some option of [`Mode::Bench`] was typed.
    pub bench_option_seen: bool,
    /// What is no option, in order.
    pub operands: Vec<OsString>,
}

impl Typed {
    /// Reads the arguments after `argv[0]`. Scripts go to `library` as they come.
    ///
    /// # Errors
    /// The first thing that is wrong with one option by itself; also the quiet
    /// end after `-b list` and `--show-script`.
    pub fn read(
        args: impl IntoIterator<Item = OsString>,
        messages: &mut Messages,
        library: &mut Library,
    ) -> Result<Self, Fatal> {
        let mut typed = Self::default();
        if let Some(seed) = std::env::var_os("PGBENCH_RANDOM_SEED") {
            typed.set_seed(&seed, "PGBENCH_RANDOM_SEED environment variable", messages)?;
        }
        let specs = options::specs();
        let posix = std::env::var_os("POSIXLY_CORRECT").is_some();
        let mut scanner = Scanner::new(&specs, args, posix);
        while let Some(next) = scanner.next_option() {
            match next {
                Ok((id, value)) => {
                    typed.take(id, &value.unwrap_or_default(), messages, library)?;
                }
                Err(complaint) => {
                    messages.usage_error(&complaint.text());
                    return Err(Fatal::quiet(1));
                }
            }
        }
        typed.operands = scanner.into_operands();
        Ok(typed)
    }

    fn take(
        &mut self,
        id: Id,
        raw: &OsStr,
        messages: &mut Messages,
        library: &mut Library,
    ) -> Result<(), Fatal> {
        let value = raw.to_string_lossy();
        let int = |min, max| option_int(id, &value, min, max);
        self.note_mode(id);
        match id {
            Id::Initialize => self.initialize = true,
            Id::NoVacuum => self.no_vacuum = true,
            Id::Scale => self.scale = Some(int(1, i32::MAX)?),
            Id::Debug => {
                self.debug = true;
                messages.show_debug();
            }
            Id::Dbname => self.connection.dbname = Some(value.into_owned()),
            Id::Host => self.connection.host = Some(value.into_owned()),
            Id::Port => self.connection.port = Some(value.into_owned()),
            Id::Username => self.connection.user = Some(value.into_owned()),
            Id::RandomSeed => self.set_seed(raw, "--random-seed option", messages)?,
            Id::Builtin if value == "list" => return Err(scripts::list()),
            Id::Builtin => library.add_builtin_weighted(&value)?,
            Id::File => library.add_file(raw)?,
            Id::SelectOnly => library.add_builtin("select-only", 1)?,
            Id::SkipSomeUpdates => library.add_builtin("simple-update", 1)?,
            Id::ShowScript => return Err(scripts::show(&value)?),
            _ if options::entry(id).mode == Mode::Init => self.init.take(id, &value)?,
            _ => self.bench.take(id, raw)?,
        }
        Ok(())
    }

    /// `-i` itself is of neither mode.
    fn note_mode(&mut self, id: Id) {
        match options::entry(id).mode {
            Mode::Init if id != Id::Initialize => self.init_option_seen = true,
            Mode::Bench => self.bench_option_seen = true,
            _ => {}
        }
    }

    fn set_seed(&mut self, raw: &OsStr, from: &str, messages: &Messages) -> Result<(), Fatal> {
        let text = raw.to_string_lossy();
        let seed = match text.as_ref() {
            "time" => clock_us(),
            "rand" => strong_random()?,
            number => cnum::seed(number).ok_or_else(|| {
                Fatal::new(format!("unrecognized random seed option \"{number}\""))
                    .with(Level::Detail, "Expecting an unsigned integer, \"time\" or \"rand\".")
                    .with(Level::Error, format!("error while setting random seed from {from}"))
            })?,
        };
        messages.say(Level::Info, &format!("setting random seed to {seed}"));
        self.seed = Some(seed);
        Ok(())
    }
}

impl TypedInit {
    fn take(&mut self, id: Id, value: &str) -> Result<(), Fatal> {
        match id {
            Id::InitSteps => {
                check_steps(value)?;
                self.steps = Some(value.to_owned());
            }
            Id::Fillfactor => self.fillfactor = Some(option_int(id, value, 10, 100)?),
            Id::Quiet => self.quiet = true,
            Id::ForeignKeys => self.foreign_keys = true,
            Id::Tablespace => self.tablespace = Some(value.to_owned()),
            Id::IndexTablespace => self.index_tablespace = Some(value.to_owned()),
            Id::Partitions => self.partitions = option_int(id, value, 0, i32::MAX)?,
            Id::PartitionMethod => {
                self.partition_method = Some(match value.to_ascii_lowercase().as_str() {
                    "range" => PartitionMethod::Range,
                    "hash" => PartitionMethod::Hash,
                    _ => {
                        return Err(Fatal::new(format!(
                            "invalid partition method, expecting \"range\" or \"hash\", got: \"{value}\""
                        )));
                    }
                });
            }
            _ => self.unlogged = true,
        }
        Ok(())
    }
}

impl TypedBench {
    fn take(&mut self, id: Id, raw: &OsStr) -> Result<(), Fatal> {
        let text = raw.to_string_lossy();
        let value = text.as_ref();
        let positive = || option_int(id, value, 1, i32::MAX);
        match id {
            Id::Client => {
                let clients = positive()?;
                allow_open_files(clients)?;
                self.clients = Some(clients);
            }
            Id::Define => self.take_define(value)?,
            Id::Jobs => self.jobs = Some(positive()?),
            Id::LatencyLimit => {
                self.latency_limit_ms = Some(above_zero(value, "invalid latency limit")?);
            }
            Id::Protocol => {
                self.protocol = [QueryMode::Simple, QueryMode::Extended, QueryMode::Prepared]
                    .into_iter()
                    .find(|mode| mode.name() == value)
                    .ok_or_else(|| Fatal::new(format!("invalid query mode (-M): \"{value}\"")))?;
            }
            Id::Progress => self.progress_s = Some(positive()?),
            Id::Rate => self.rate_tps = Some(above_zero(value, "invalid rate limit")?),
            Id::Transactions => self.transactions = Some(positive()?),
            Id::Time => self.duration_s = Some(positive()?),
            Id::AggregateInterval => self.aggregate_s = Some(positive()?),
            Id::LogPrefix => self.log_prefix = Some(raw.to_owned()),
            Id::MaxTries => {
                let tries = u32::try_from(cnum::atoi(value)).map_err(|_| {
                    Fatal::new(format!("invalid number of maximum tries: \"{value}\""))
                })?;
                self.max_tries = Some(tries);
            }
            Id::SamplingRate => {
                let rate = above_zero(value, "invalid sampling rate")?;
                if rate > 1.0 {
                    return Err(Fatal::new(format!("invalid sampling rate: \"{value}\"")));
                }
                self.sampling_rate = Some(rate);
            }
            Id::LatencyPercentiles => self.percentiles = percentiles(value)?,
            Id::Json => self.json = Some(raw.to_owned()),
            Id::Poller => {
                self.poller = PollerChoice::by_name(value)
                    .ok_or_else(|| Fatal::new(format!("invalid poller: \"{value}\"")))?;
            }
            _ => self.take_switch(id),
        }
        Ok(())
    }

    const fn take_switch(&mut self, id: Id) {
        match id {
            Id::Connect => self.connect = true,
            Id::Log => self.log = true,
            Id::ReportPerCommand => self.report_per_command = true,
            Id::VacuumAll => self.vacuum_all = true,
            Id::ExitOnAbort => self.exit_on_abort = true,
            Id::FailuresDetailed => self.failures_detailed = true,
            Id::ProgressTimestamp => self.progress_timestamp = true,
            Id::VerboseErrors => self.verbose_errors = true,
            Id::ContinueOnError => self.continue_on_error = true,
            _ => {}
        }
    }

    fn take_define(&mut self, value: &str) -> Result<(), Fatal> {
        let (name, text) = parse_define(value).map_err(|error| scripts::fatal(&error))?;
        self.define.push((name.to_owned(), text.to_owned()));
        Ok(())
    }
}

fn option_int(id: Id, value: &str, min: i32, max: i32) -> Result<i32, Fatal> {
    let option = options::entry(id);
    let names = match option.short {
        Some(letter) => format!("-{}/--{}", char::from(letter), option.long),
        None => format!("--{}", option.long),
    };
    cnum::option_int(value, min, max).map_err(|error| {
        Fatal::new(match error {
            IntError::Invalid => format!("invalid value \"{value}\" for option {names}"),
            IntError::OutOfRange => format!("{names} must be in range {min}..{max}"),
        })
    })
}

/// A number that is not zero or less. Not "above zero": pgbench lets `nan` pass.
fn above_zero(value: &str, complaint: &str) -> Result<f64, Fatal> {
    let number = cnum::atof(value);
    if number <= 0.0 {
        return Err(Fatal::new(format!("{complaint}: \"{value}\"")));
    }
    Ok(number)
}

fn check_steps(steps: &str) -> Result<(), Fatal> {
    if steps.is_empty() {
        return Err(Fatal::new("no initialization steps specified"));
    }
    match steps.chars().find(|c| !" dtgGvpf".contains(*c)) {
        None => Ok(()),
        Some(step) => Err(Fatal::new(format!("unrecognized initialization step \"{step}\""))
            .with(Level::Detail, "Allowed step characters are: \"dtgGvpf\".")),
    }
}

fn percentiles(value: &str) -> Result<Vec<f64>, Fatal> {
    let parsed: Option<Vec<f64>> = value
        .split(',')
        .map(|part| part.trim().parse().ok().filter(|p| (0.0..=100.0).contains(p)))
        .collect();
    parsed.ok_or_else(|| Fatal::new(format!("invalid latency percentiles: \"{value}\"")))
}

/// Makes room for the clients' sockets, or says that there is none.
fn allow_open_files(clients: i32) -> Result<(), Fatal> {
    let clients = u64::from(clients.unsigned_abs());
    open_files::allow(clients, OPEN_FILES_BESIDES_CLIENTS).map_err(|error| {
        let fatal = Fatal::new(error.to_string());
        match error {
            OpenFilesError::Limit { .. } => fatal.with(
                Level::Hint,
                "Reduce number of clients, or use limit/ulimit to increase the system limit.",
            ),
            OpenFilesError::System { .. } => fatal,
        }
    })
}

/// `--random-seed=time`.
pub(super) fn clock_us() -> u64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_micros() as u64)
}

/// `--random-seed=rand`.
fn strong_random() -> Result<u64, Fatal> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|_| Fatal::new("could not generate random seed"))?;
    Ok(u64::from_ne_bytes(bytes))
}
