//! A session: every case, every repetition, every tool by turns.

use std::fs::File;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::case::{Case, Phase, Suite, Tool, Transport};
use super::measure::measured;
use super::places::Places;
use super::raw::{Line, Run, append};
use super::server::{Address, Servers};
use super::tool::Job;

/// What a run may take beyond its own length: connecting 4,000 clients to a
/// real server takes some ten seconds, loading as long.
const GRACE: Duration = Duration::from_secs(120);

/// How many characters of a tool's complaint are kept.
const ERROR_CHARS_MAX: usize = 300;

/// A session under way.
pub(super) struct Session<'a> {
    pub(super) places: &'a Places,
    pub(super) servers: &'a Servers,
    pub(super) tools: Vec<Tool>,
    /// Which of them run in a case.
    pub(super) asks: fn(&Case, Tool) -> bool,
    pub(super) repetitions: u32,
    pub(super) seconds: u32,
    /// The core of the clients.
    pub(super) core: Option<usize>,
    pub(super) file: File,
}

impl Session<'_> {
    /// Runs the cases. A tool that fails is a result and does not end it.
    pub(super) fn run(&mut self, cases: &[Case]) -> Result<()> {
        self.prepare_peers(cases);
        let begin = Instant::now();
        for (index, case) in cases.iter().enumerate() {
            let head = format!("[{:>3}/{}] {}", index + 1, cases.len(), case.title());
            let address = match self.servers.address(case) {
                Ok(address) => address,
                Err(error) => {
                    say(&format!("{head}: left out: {error:#}"))?;
                    continue;
                }
            };
            say(&format!("{head} ({} s so far)", begin.elapsed().as_secs()))?;
            for repetition in 0..self.repetitions {
                self.repetition(*case, &address, repetition)?;
            }
        }
        Ok(())
    }

    fn repetition(&mut self, case: Case, address: &Address, repetition: u32) -> Result<()> {
        let mut tools: Vec<Tool> =
            self.tools.iter().copied().filter(|tool| (self.asks)(&case, *tool)).collect();
        // Who runs first meets a cooler machine; so the first one changes.
        let first = repetition as usize % tools.len().max(1);
        tools.rotate_left(first);
        let phases: &[Phase] = match case.suite {
            Suite::Connect => &[Phase::Connect],
            Suite::Load => &[Phase::Steady],
            _ => &[Phase::Connect, Phase::Steady],
        };
        for tool in tools {
            let mut seconds = self.seconds;
            for phase in phases {
                let job = Job { case, tool, phase: *phase, address, seconds };
                if let Some(run) = self.one(&job, repetition)? {
                    // pgbench's -T counts from before it connects, and a
                    // thousand connections to a real server take seconds.
                    seconds += u32::try_from(run.wall_us.div_ceil(1_000_000)).unwrap_or(0);
                    tell(&run)?;
                    append(&mut self.file, &Line::Run(Box::new(run)))?;
                }
            }
        }
        Ok(())
    }

    /// `None` where the tool is not installed.
    fn one(&self, job: &Job<'_>, repetition: u32) -> Result<Option<Run>> {
        let Some(program) = self.places.of(job.tool) else { return Ok(None) };
        let command = job.command(program);
        let core = self.core.filter(|_| job.case.is_bound());
        let limit = GRACE + Duration::from_secs(u64::from(job.seconds));
        let measured = measured(&command, &job.address.environment, core, limit)?;
        let used = measured.used;
        let mut run = Run {
            case: job.case,
            repetition,
            tool: job.tool,
            phase: job.phase,
            command,
            error: None,
            transactions: 0,
            tps: None,
            connect_ms: None,
            generate_s: None,
            wall_us: used.wall_us,
            cpu_user_us: used.cpu_user_us,
            cpu_sys_us: used.cpu_sys_us,
            rss_max_kib: used.rss_max_kib,
        };
        let read = job.read(&measured.stdout, &measured.stderr, &mut run);
        run.error = if used.success {
            read.err()
        } else {
            Some(measured.stderr.trim().chars().take(ERROR_CHARS_MAX).collect())
        };
        Ok(Some(run))
    }

    /// sysbench has tables of its own on the real server.
    fn prepare_peers(&mut self, cases: &[Case]) {
        let wanted = |case: &&Case| case.suite == Suite::Select && case.transport != Transport::Tls;
        let (Some(program), Some(postgres), true) = (
            self.places.sysbench.as_ref().filter(|_| self.tools.contains(&Tool::Sysbench)),
            self.servers.postgres(),
            cases.iter().any(|case| wanted(&case)),
        ) else {
            return;
        };
        let mut command = std::process::Command::new(program);
        command.args(["oltp_point_select", "--db-driver=pgsql", "--tables=1"]);
        command.args(["--table-size=100000", "--pgsql-user=postgres", "--pgsql-db=postgres"]);
        command.arg(format!("--pgsql-host={}", postgres.socket_dir.display()));
        command.arg(format!("--pgsql-port={}", postgres.port)).arg("prepare");
        if let Err(error) = super::places::finish(&mut command) {
            // Its runs will fail and say so; the others go on.
            let _ = say(&format!("sysbench could not make its tables: {error:#}"));
        }
    }
}

/// A line for each run on a terminal; elsewhere the case's line is enough.
fn tell(run: &Run) -> Result<()> {
    let words = match &run.error {
        Some(error) => format!("failed: {error}"),
        None if !std::io::stderr().is_terminal() => return Ok(()),
        None => format!(
            "{} transactions, {:.1} ms CPU, {:.1} s",
            run.transactions,
            run.cpu_us() as f64 / 1e3,
            run.wall_us as f64 / 1e6
        ),
    };
    say(&format!("    {} {:?}: {words}", super::case::name(run.tool), run.phase))
}

/// Progress goes to standard error.
pub(super) fn say(line: &str) -> Result<()> {
    writeln!(std::io::stderr(), "{line}").context("could not write progress")
}
