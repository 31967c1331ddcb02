//! A benchmark from its plan to its report.

use std::io::Write;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pgdyno_engine::RunError;
use pgdyno_engine::outcome::Ended;
use pgdyno_engine::plan::{
    Backoff, ChoiceStream, ClockStart, ConnectPlan, Limit, LogPlan, Program, Protocol, Rate,
    RetryPolicy, RunPlan, TransactionType,
};
use pgdyno_script::Vars;
use pgdyno_script::names::SCALE;
use pgdyno_target::dialect;

use super::message::{Fatal, Level, Messages};
use super::plan::{BenchPlan, LogOptions, Until};
use super::scripts::Library;
use super::session::Server;
use super::setup::{self, Found};
use super::summary::Summary;
use super::typed::QueryMode;
use super::watch::Watch;
use super::{EXIT_ABORTED, connection_failed, interrupt};
use crate::bounds;

/// Runs a benchmark and prints its report; the exit code.
///
/// # Errors
/// Whatever keeps the run from starting.
pub fn run(
    server: &mut Server,
    plan: &BenchPlan,
    library: Library,
    messages: &Messages,
) -> Result<u8, Fatal> {
    let found = prepare(server, plan, &library, messages)?;
    let throttled = rate(plan).is_some();
    let engine_plan = engine_plan(server, plan, library, &found, messages.shows_debug());
    let watch = Arc::new(Watch::new(messages, plan, throttled));
    let stop = interrupt::stop_on_interrupt();
    let outcome = pgdyno_engine::run(engine_plan.clone(), watch, &stop)
        .map_err(|error| not_started(&error, plan))?;
    let summary = Summary::new(plan, &engine_plan, &found, throttled, &outcome);
    let mut out = std::io::stdout().lock();
    // A reader that went away is no failure of the run.
    let _ = out.write_all(summary.text().as_bytes()).and_then(|()| out.flush());
    drop(out);
    if let Some(file) = &plan.json {
        summary.write_json(file.as_ref()).map_err(Fatal::new)?;
    }
    match outcome.ended {
        Ended::Completed => Ok(0),
        Ended::Aborted => {
            messages.say(Level::Error, "Run was aborted; the above results are incomplete.");
            Ok(EXIT_ABORTED)
        }
        Ended::Interrupted => {
            messages.say(Level::Error, "Run was interrupted; the above results are incomplete.");
            Ok(EXIT_ABORTED)
        }
    }
}

/// Everything over the setup connection, which is closed before clients connect.
fn prepare(
    server: &mut Server,
    plan: &BenchPlan,
    library: &Library,
    messages: &Messages,
) -> Result<Found, Fatal> {
    let mut connection =
        server.connect(messages).map_err(|text| connection_failed(text, "setup"))?;
    setup::banner(&connection, messages);
    setup::debug_line(&connection, plan, messages);
    let found = setup::look(&mut connection, plan, library.has_builtin(), messages)?;
    setup::vacuum(&mut connection, plan, messages);
    Ok(found)
}

fn engine_plan(
    server: &Server,
    plan: &BenchPlan,
    library: Library,
    found: &Found,
    debug: bool,
) -> RunPlan {
    RunPlan {
        endpoints: vec![Arc::clone(&server.context)],
        dialect: dialect::postgres(),
        program: program(plan, library, found),
        terminals: None,
        clients: NonZeroU32::new(plan.clients).unwrap_or(NonZeroU32::MIN),
        workers: NonZeroU32::new(plan.threads).unwrap_or(NonZeroU32::MIN),
        protocol: match plan.protocol {
            QueryMode::Simple => Protocol::Simple,
            QueryMode::Extended => Protocol::Extended,
            QueryMode::Prepared => Protocol::Prepared,
        },
        poller: plan.poller,
        prepare_early: false,
        limit: match plan.until {
            Until::Transactions(count) => Limit::Transactions(count.into()),
            Until::Seconds(seconds) => Limit::Duration(Duration::from_secs(seconds.into())),
        },
        warmup: Duration::ZERO,
        ramp: Duration::ZERO,
        measure_drain: true,
        clock_start: ClockStart::BeforeConnecting,
        rate: rate(plan),
        latency_limit: plan.latency_limit,
        retry: RetryPolicy { tries_max: NonZeroU32::new(plan.max_tries), backoff: Backoff::None },
        continue_on_error: plan.continue_on_error,
        unknown_goes_on: false,
        reconnect: plan.connect,
        connect: ConnectPlan::default(),
        seed: plan.seed.unwrap_or_else(super::typed::clock_us),
        choice: ChoiceStream::PerWorker,
        statement_latency: plan.report_per_command,
        log: plan.log.as_ref().map(log_plan),
        detailed_failures: plan.failures_detailed,
        exit_on_abort: plan.exit_on_abort,
        verbose_errors: plan.verbose_errors,
        debug,
    }
}

/// The scripts, and the variables that each client starts with: `-D` wins over
/// what is set automatically.
fn program(plan: &BenchPlan, library: Library, found: &Found) -> Program {
    let mut names = library.names;
    let slots: Vec<_> =
        plan.define.iter().map(|(name, value)| (names.intern(name.as_bytes()), value)).collect();
    let scale = names.intern(SCALE.as_bytes());
    let mut initial = Vars::new(&names);
    for (slot, value) in slots {
        initial.set_text(slot, value.as_bytes());
    }
    if !initial.is_set(scale) {
        initial.set_int(scale, found.scale);
    }
    let types = library
        .entries
        .into_iter()
        .map(|entry| TransactionType { script: entry.script, weight: entry.weight })
        .collect();
    Program { types, names, initial }
}

/// A rate without end is no rate: pgbench's delay between transactions is then 0.
fn rate(plan: &BenchPlan) -> Option<Rate> {
    let tps = plan.rate_tps.filter(|tps| tps.is_finite())?;
    Some(Rate { tps: bounds::rate(tps, plan.clients), steady: false, slack: Duration::ZERO })
}

fn log_plan(log: &LogOptions) -> LogPlan {
    LogPlan {
        prefix: PathBuf::from(&log.prefix),
        aggregate: log.aggregate_s.map(|s| Duration::from_secs(s.into())),
        // A rate that is no number passes pgbench's check and then leaves out nothing.
        sampling: log.sampling_rate.filter(|rate| !rate.is_nan()),
    }
}

fn not_started(error: &RunError, plan: &BenchPlan) -> Fatal {
    match error {
        RunError::Connect { client, text, .. } => connection_failed_of_client(text, *client),
        RunError::Worker { worker, error } if plan.log.is_some() => {
            let prefix = plan.log.as_ref().map(|log| log.prefix.to_string_lossy());
            let thread = if *worker == 0 { String::new() } else { format!(".{worker}") };
            let path = format!("{}.{}{thread}", prefix.unwrap_or_default(), std::process::id());
            let reason = super::scripts::reason(error);
            Fatal::new(format!("could not open logfile \"{path}\": {reason}"))
        }
        RunError::Interrupted => Fatal { lines: Vec::new(), code: EXIT_ABORTED },
        other => Fatal::new(other.to_string()),
    }
}

fn connection_failed_of_client(text: &str, client: u32) -> Fatal {
    connection_failed(text.to_owned(), &format!("client {client}"))
}
