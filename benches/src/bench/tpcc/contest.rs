//! A session of the suite: in each repetition the yardstick, then every
//! contender with freshly loaded tables.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::commands::Task;
use super::contender::{Contender, Stage};
use super::outputs::{self, Said};
use super::peers::Peers;
use super::result::TpccRun;
use super::settings::HAMMERDB_USER;
use crate::bench::measure::{Measured, measured};
use crate::bench::postgres::Postgres;
use crate::bench::raw::{Line, append};
use crate::bench::run::{Session, say};

/// What a run may take beyond its own length. Loading by the slowest peer
/// takes a minute on two idle cores.
const GRACE: Duration = Duration::from_secs(900);

/// A server's processes have ended, and told what they counted, within this.
const QUIET_MAX: Duration = Duration::from_secs(60);

/// How many characters of a tool's complaint are kept.
const ERROR_CHARS_MAX: usize = 300;

/// Counted by the database at one moment.
#[derive(Debug, Clone, Copy)]
struct Counted {
    new_orders: u64,
    commits: u64,
}

/// Runs the suite with the session's servers. A contender that fails is a
/// result and ends nothing.
///
/// # Errors
/// Where there is no server, or it does not answer; where results cannot be
/// written.
pub(in crate::bench) fn run(session: &mut Session<'_>, seconds: u32) -> Result<()> {
    let servers = session.servers;
    let postgres = servers.postgres().context("no PostgreSQL was started")?;
    let folder = tempfile::tempdir().context("could not make a temporary folder")?;
    let peers = Peers::find();
    let begin = Instant::now();
    for repetition in 0..session.repetitions {
        let mut order = Contender::WITH_TABLES;
        let first = repetition as usize % order.len();
        order.rotate_left(first);
        for contender in std::iter::once(Contender::Pgbench).chain(order) {
            let seconds = if contender == Contender::Pgbench { session.seconds } else { seconds };
            let mut task = Task {
                contender,
                stage: Stage::Load,
                port: postgres.port,
                folder: folder.path(),
                seconds,
            };
            if task.command(session.places, &peers)?.is_none() {
                if repetition == 0 {
                    say(&format!("{} is not there and is left out", contender.title()))?;
                }
                continue;
            }
            let so_far = begin.elapsed().as_secs();
            say(&format!("tpcc, {repetition}: {} ({so_far} s so far)", contender.title()))?;
            make_database(postgres, contender)?;
            for stage in contender.stages() {
                task.stage = *stage;
                let Some(run) = one(session, postgres, &peers, task, repetition)? else { break };
                let is_failed = run.error.is_some();
                if let Some(error) = &run.error {
                    say(&format!("    {} {stage:?} failed: {error}", contender.title()))?;
                }
                append(&mut session.file, &Line::Tpcc(Box::new(run)))?;
                if is_failed {
                    break;
                }
            }
            drop_database(postgres, contender)?;
        }
    }
    Ok(())
}

/// One run. None where the tool has gone.
fn one(
    session: &Session<'_>,
    postgres: &Postgres,
    peers: &Peers,
    task: Task<'_>,
    repetition: u32,
) -> Result<Option<TpccRun>> {
    let Some(command) = task.command(session.places, peers)? else { return Ok(None) };
    let is_load = task.stage == Stage::Load;
    // Loading wants both cores; a run has the server on another than its own.
    let core = session.core.filter(|_| !is_load);
    session.servers.bind_postgres(core.is_some())?;
    let has_tables = !is_load && task.contender != Contender::Pgbench;
    let before = if has_tables { Some(count(postgres, task.contender)?) } else { None };
    // What an earlier run has left is not this one's.
    forget(&task.record())?;
    let limit = GRACE + Duration::from_secs(u64::from(task.length_s()));
    let output = measured(&command, &environment(&task), core, limit)?;
    let after = if has_tables { Some(count(postgres, task.contender)?) } else { None };
    let mut run = describe(&task, repetition, command, &output, version(&task, peers, &output));
    if let (Some(before), Some(after)) = (before, after) {
        fill_in(&mut run, &task, before, after);
    }
    if run.error.is_none() && is_load {
        run.rows = Some(rows(postgres, task.contender)?);
        settle(postgres, task.contender)?;
    }
    if run.error.is_none() && !is_load && run.transactions.is_none() {
        run.error = Some("it names no number of transactions".to_owned());
    }
    Ok(Some(run))
}

fn describe(
    task: &Task<'_>,
    repetition: u32,
    command: Vec<String>,
    output: &Measured,
    version: Option<String>,
) -> TpccRun {
    let said = match task.contender {
        Contender::Pgbench => outputs::pgbench(&output.stdout),
        Contender::GoTpc => outputs::go_tpc(&output.stdout),
        Contender::Hammerdb => outputs::hammerdb(&output.stdout),
        Contender::Benchbase => outputs::benchbase(&output.stdout),
        Contender::PgdynoSql | Contender::PgdynoProcs | Contender::PgdynoHammerdb => {
            std::fs::read_to_string(task.record())
                .map_or_else(|_| Said::default(), |text| outputs::pgdyno(&text))
        }
    };
    let used = output.used;
    TpccRun {
        contender: task.contender,
        stage: task.stage,
        repetition,
        command,
        error: failure(output),
        version,
        rows: None,
        transactions: said.transactions,
        new_orders: None,
        nopm: said.nopm,
        wall_us: used.wall_us,
        cpu_user_us: used.cpu_user_us,
        cpu_sys_us: used.cpu_sys_us,
        rss_max_kib: used.rss_max_kib,
    }
}

fn failure(output: &Measured) -> Option<String> {
    let short = |text: &str| text.trim().chars().take(ERROR_CHARS_MAX).collect::<String>();
    if output.used.success {
        return outputs::complaint(&output.stdout).map(short);
    }
    let stderr = short(&output.stderr);
    // Some of them complain on standard output, at its end.
    let last = output.stdout.trim().lines().next_back().unwrap_or_default();
    Some(if stderr.is_empty() { short(last) } else { stderr })
}

fn forget(file: &Path) -> Result<()> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("could not remove {}", file.display()))
        }
        _ => Ok(()),
    }
}

/// What the database has counted of the run.
fn fill_in(run: &mut TpccRun, task: &Task<'_>, before: Counted, after: Counted) {
    let new_orders = after.new_orders.saturating_sub(before.new_orders);
    run.new_orders = Some(new_orders);
    if task.contender == Contender::Hammerdb {
        // Each call is a transaction.
        run.transactions = Some(after.commits.saturating_sub(before.commits));
    }
    if task.contender == Contender::Benchbase && task.length_s() > 0 {
        run.nopm = Some(new_orders as f64 * 60.0 / f64::from(task.length_s()));
    }
}

fn version(task: &Task<'_>, peers: &Peers, output: &Measured) -> Option<String> {
    match task.contender {
        Contender::GoTpc => peers.go_tpc_version(),
        Contender::Hammerdb => outputs::hammerdb_version(&output.stdout),
        _ => None,
    }
}

/// TLS is not what is compared. HammerDB writes into the folder of temporary
/// files.
fn environment(task: &Task<'_>) -> Vec<(String, String)> {
    let folder = task.folder.display().to_string();
    let mut variables = vec![("PGSSLMODE".to_owned(), "disable".to_owned())];
    if task.contender == Contender::Hammerdb {
        variables.extend(["TMP", "TMPDIR"].map(|name| (name.to_owned(), folder.clone())));
    }
    variables
}

fn make_database(postgres: &Postgres, contender: Contender) -> Result<()> {
    if contender == Contender::Pgbench {
        return Ok(());
    }
    drop_database(postgres, contender)?;
    if contender.makes_database() {
        return Ok(());
    }
    postgres.sql("postgres", &format!("create database {}", contender.database())).map(drop)
}

fn drop_database(postgres: &Postgres, contender: Contender) -> Result<()> {
    if contender == Contender::Pgbench {
        return Ok(());
    }
    let database = contender.database();
    postgres.sql("postgres", &format!("drop database if exists {database} with (force)"))?;
    postgres.sql("postgres", &format!("drop role if exists {HAMMERDB_USER}")).map(drop)
}

/// So that no contender's first run meets unknown tables or a checkpoint that
/// another one's load has left.
fn settle(postgres: &Postgres, contender: Contender) -> Result<()> {
    postgres.sql(contender.database(), "vacuum (analyze)")?;
    postgres.sql("postgres", "checkpoint").map(drop)
}

fn rows(postgres: &Postgres, contender: Contender) -> Result<u64> {
    let counts = contender.tables().map(|table| format!("(select count(*) from {table})"));
    number(postgres, contender.database(), &format!("select {}", counts.join(" + ")))
}

/// Waits until nobody is in the database: a session tells what it counted at
/// its end.
fn count(postgres: &Postgres, contender: Contender) -> Result<Counted> {
    let database = contender.database();
    let begin = Instant::now();
    let sessions = format!("select count(*) from pg_stat_activity where datname = '{database}'");
    while number(postgres, "postgres", &sessions)? > 0 {
        if begin.elapsed() > QUIET_MAX {
            bail!("sessions of {} do not end", contender.title());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let commits = format!("select xact_commit from pg_stat_database where datname = '{database}'");
    let commits = number(postgres, "postgres", &commits)?;
    let new_orders = number(postgres, database, "select sum(d_next_o_id) from district")?;
    Ok(Counted { new_orders, commits })
}

fn number(postgres: &Postgres, database: &str, sql: &str) -> Result<u64> {
    let text = postgres.sql(database, sql)?;
    text.trim().parse().with_context(|| format!("the server answered \"{}\" to {sql}", text.trim()))
}
