//! The command line of `pgdyno-bench`.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::{Parser, Subcommand, ValueEnum};
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use super::case::{Case, Protocol, Selection, ServerKind, Suite, Tool, Transport};
use super::places::Places;
use super::raw::{Line, RAW_FILE, append};
use super::run::{Session, say};
use super::server::Servers;
use super::{bounds, facts, folder, measure, tpcc};

/// The counts of clients of the select suite.
const CLIENTS: [u32; 6] = [1, 16, 64, 256, 1000, 4000];
/// The same with --quick.
const CLIENTS_QUICK: [u32; 3] = [16, 64, 1000];

/// Seconds of a run of the suite `tpcc`. Of the rarer types there are one in
/// 23, so that a second says little of the mix.
const TPCC_SECONDS: u32 = 15;
const TPCC_SECONDS_QUICK: u32 = 5;

/// Runs floor, pgdyno and the installed peers by turns, and compares.
#[derive(Debug, Parser)]
#[command(version)]
struct Typed {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Runs the matrix and writes a folder of results.
    Run(TypedRun),
    /// Writes README.md and summary.md of a folder anew from its raw results.
    Summary {
        /// The folder.
        folder: PathBuf,
    },
    /// Runs one command and writes what its process used.
    #[command(hide = true)]
    Measure {
        #[arg(long)]
        out: PathBuf,
        #[arg(long)]
        core: Option<usize>,
        #[arg(long)]
        limit_ms: u64,
        #[arg(last = true, required = true)]
        command: Vec<String>,
    },
}

#[derive(Debug, Parser)]
struct TypedRun {
    /// What to measure; without it everything.
    #[arg(long, value_enum, value_delimiter = ',')]
    suites: Vec<Suite>,
    /// Against whom; without it both.
    #[arg(long, value_enum, value_delimiter = ',')]
    servers: Vec<ServerKind>,
    /// Over what; without it all.
    #[arg(long, value_enum, value_delimiter = ',')]
    transports: Vec<Transport>,
    /// How; without it both.
    #[arg(long, value_enum, value_delimiter = ',')]
    protocols: Vec<Protocol>,
    /// Who; without it all that are there.
    #[arg(long, value_enum, value_delimiter = ',')]
    tools: Vec<Tool>,
    /// Counts of clients.
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=20_000))]
    clients: Vec<u32>,
    /// Repetitions of each case: 5, or 2 with --quick.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: Option<u32>,
    /// Seconds of each steady run: 3; 2 with --bounds, 1 with --quick; of the suite tpcc 15, or 5.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: Option<u32>,
    /// Prepared only, 16, 64 and 1,000 clients, shorter, no loading.
    #[arg(long)]
    quick: bool,
    /// The cases that have a bound, and no others, in some twenty minutes.
    #[arg(long, conflicts_with_all = [
        "suites", "servers", "transports", "protocols", "clients", "quick",
    ])]
    bounds: bool,
    /// Binds no process to a core.
    #[arg(long)]
    no_pin: bool,
    /// Where the folder of results is made.
    #[arg(long, default_value = "benches/runs")]
    runs: PathBuf,
}

/// Reads the command line and does what it says.
///
/// # Errors
/// Anything that kept it from being done; a tool that fails is a result.
pub fn main() -> Result<()> {
    match Typed::parse().action {
        Action::Run(typed) => run(&typed),
        Action::Summary { folder } => print(&folder::describe(&folder)?),
        Action::Measure { out, core, limit_ms, command } => {
            measure::wrap(&command, &out, core, Duration::from_millis(limit_ms))
        }
    }
}

fn run(typed: &TypedRun) -> Result<()> {
    let places = Places::find()?;
    let selection = selection(typed);
    let cases = if typed.bounds { bounds::cases() } else { selection.cases() };
    let wants_tpcc = !typed.bounds
        && selection.suites.contains(&Suite::Tpcc)
        && selection.servers.contains(&ServerKind::Postgres);
    if cases.is_empty() && !wants_tpcc {
        bail!("the selection leaves nothing to measure");
    }
    let tools = tools(typed, &places)?;
    let asks = match (typed.tools.is_empty(), typed.bounds) {
        (false, _) => Case::suits,
        (true, true) => bounds::asks,
        (true, false) => Case::asks,
    };
    let two = std::thread::available_parallelism().is_ok_and(|count| count.get() >= 2);
    let cores = (two && !typed.no_pin).then_some((0, 1));
    let of_tpcc = if wants_tpcc { tpcc::CLIENTS } else { 1 };
    let clients_max = cases.iter().map(|case| case.clients).fold(of_tpcc, u32::max);
    raise_file_limit(clients_max)?;
    let facts = facts::collect(&places, cores);
    let wants_postgres = wants_tpcc || cases.iter().any(|case| case.server == ServerKind::Postgres);
    say("starting the servers")?;
    let servers =
        Servers::start(&places, wants_postgres, clients_max, cores.map(|(_, core)| core))?;
    let folder = folder::make(&typed.runs)?;
    let mut file = std::fs::File::create(folder.join(RAW_FILE))?;
    append(&mut file, &Line::Facts(Box::new(facts)))?;
    let (repetitions, seconds) = match (typed.bounds, typed.quick) {
        (true, _) => (bounds::REPETITIONS, bounds::SECONDS),
        (false, true) => (2, 1),
        (false, false) => (5, 3),
    };
    let mut session = Session {
        places: &places,
        servers: &servers,
        tools,
        asks,
        repetitions: typed.repetitions.unwrap_or(repetitions),
        seconds: typed.seconds.unwrap_or(seconds),
        core: cores.map(|(core, _)| core),
        file,
    };
    session.run(&cases)?;
    if wants_tpcc {
        let default = if typed.quick { TPCC_SECONDS_QUICK } else { TPCC_SECONDS };
        tpcc::run(&mut session, typed.seconds.unwrap_or(default))?;
    }
    print(&folder::describe(&folder)?)?;
    say(&format!("results are in {}", folder.display()))
}

/// Who is run. Says who is not.
fn tools(typed: &TypedRun, places: &Places) -> Result<Vec<Tool>> {
    let mut tools = if typed.bounds && typed.tools.is_empty() {
        bounds::TOOLS.to_vec()
    } else {
        some_or_all(&typed.tools)
    };
    if let (true, Err(error)) = (tools.contains(&Tool::PgdynoEpoll), pgdyno_ring::probe()) {
        tools.retain(|tool| *tool != Tool::PgdynoEpoll);
        say(&format!("pgdyno-epoll would be pgdyno once more and is left out: {error}"))?;
    }
    for tool in &tools {
        if places.of(*tool).is_none() {
            say(&format!("{} is not there and is left out", super::case::name(*tool)))?;
        }
    }
    Ok(tools)
}

fn selection(typed: &TypedRun) -> Selection {
    let mut suites = some_or_all(&typed.suites);
    let mut protocols = some_or_all(&typed.protocols);
    if typed.quick && typed.suites.is_empty() {
        suites.retain(|suite| *suite != Suite::Load);
    }
    if typed.quick && typed.protocols.is_empty() {
        protocols = vec![Protocol::Prepared];
    }
    let clients = match (typed.clients.is_empty(), typed.quick) {
        (false, _) => typed.clients.clone(),
        (true, true) => CLIENTS_QUICK.to_vec(),
        (true, false) => CLIENTS.to_vec(),
    };
    Selection {
        suites,
        servers: some_or_all(&typed.servers),
        transports: some_or_all(&typed.transports),
        protocols,
        clients,
        clients_named: !typed.clients.is_empty(),
    }
}

fn some_or_all<T: ValueEnum + Clone>(named: &[T]) -> Vec<T> {
    if named.is_empty() { T::value_variants().to_vec() } else { named.to_vec() }
}

/// Descriptors that a client or the null server holds beside its sockets.
const FILES_SPARE: u64 = 100;

/// Every client and every server inherits the limit.
fn raise_file_limit(clients: u32) -> Result<()> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    let need = u64::from(clients) + FILES_SPARE;
    if soft >= need {
        return Ok(());
    }
    if hard < need {
        bail!("{need} open files are needed and {hard} are allowed; use fewer --clients");
    }
    setrlimit(Resource::RLIMIT_NOFILE, need, hard).context("could not raise the limit of files")
}

fn print(text: &str) -> Result<()> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
