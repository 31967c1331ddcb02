//! `pgdyno run`: the way of one run, in order.
//!
//! Target, workload, load (embedded only), base of the audits, warm-up,
//! measured interval, drain, record, audits, report. Each step hands a value
//! on; the record is on disk before the tables are audited, and again with the
//! audits before anything is rendered.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use pgdyno_engine::load::{LoadReport, is_unfinished};
use pgdyno_engine::plan::{
    Backoff, ChoiceStream, ClockStart, Limit, PollerChoice, Program, Protocol, Rate, RetryPolicy,
    RunPlan,
};
use pgdyno_record::{Audit, RunRecord, Store, StoreError, judge};
use pgdyno_report::format;
use pgdyno_target::dialect::Isolation;
use pgdyno_wire::options::Host;
use pgdyno_workload::{Body, Choice, Terminals, Workload, make};

use crate::assemble::{self, Facts};
use crate::cli::{AuditWhat, IsolationArg, PollerArg, ProtocolArg, ResetWhen, RunArgs};
use crate::endpoints::Endpoints;
use crate::failure::Failure;
use crate::live::Live;
use crate::opened::{Opened, Wishes};
use crate::terminal::Terminal;
use crate::tpcc;
use crate::{
    audits, bounds, exit, filling, open_files, program, signals, table_params, target_stats,
};

/// The measured interval where neither time nor transactions were given.
const TIME_DEFAULT: Duration = Duration::from_secs(10);

/// The scale an embedded server gets when none is named.
const EMBEDDED_SCALE_DEFAULT: u64 = 10;

/// Files open besides the clients' sockets: a few for each thread that drives
/// them, the sessions of the audits, the record. 64 are enough for 20 threads.
const OPEN_FILES_BESIDES_CLIENTS: u64 = 64;

/// What is run: a workload with its tables, or scripts.
struct Work {
    workload: Option<Box<dyn Workload>>,
    program: Program,
    terminals: Option<Arc<dyn Terminals>>,
    load: Option<LoadReport>,
}

/// Runs, and reports.
pub(crate) fn run(args: &RunArgs, terminal: &Terminal) -> Result<(), Failure> {
    check(args)?;
    let scripts = scripts(args)?;
    let stop = signals::stop_flag().map_err(Failure::not_completed)?;
    make_room(args.load.clients)?;
    let isolation = args.load.isolation.map(isolation);
    let wishes = Wishes { clients: args.load.clients, isolation };
    let mut opened = Opened::open(&args.target, wishes, terminal, &stop)?;
    opened.table_params = table_params::of_tables(&args.workload);
    let endpoints = Endpoints::find(&args.endpoints, &mut opened, terminal, &stop)?;
    let work = prepare(args, scripts, &opened, terminal, &stop)?;
    let workload = work.workload.as_deref();
    let audits::Before { base, reset } =
        audits::before_run(args, &opened, workload, terminal, &stop)?;
    let plan = make_plan(args, &opened, &endpoints, &work)?;
    let settings = assemble::settings(&mut opened.connect(&stop)?);
    let around = target_stats::Around::begin(args.target_stats, &opened, &plan, &stop);
    announce(args, &plan, &opened, terminal);
    let live = Arc::new(Live::new(terminal.err, terminal.is_quiet(), around.clock()));
    let watch = tpcc::Watch::start(workload, &plan, || opened.own().ok());
    let outcome =
        pgdyno_engine::run(plan.clone(), live, &stop).map_err(|error| start_failed(&error))?;
    let facts = Facts {
        opened: &opened,
        endpoints: &endpoints,
        work_name: workload.map_or("script", |w| w.name()),
        workload,
        load: work.load.as_ref(),
        plan: &plan,
        isolation,
        settings,
        findings: &base.as_ref().map(audits::not_finished).unwrap_or_default(),
        reset,
    };
    let mut record = assemble::record(&facts, &outcome);
    // Before the target is asked anything more, and before the audits, which
    // may take minutes: whoever ends them by a second signal keeps what was
    // measured.
    let store = Store::new(&args.output.records);
    let mut path = kept(store.write(&record), terminal);
    record.target_statistics = around.end(&opened, &plan);
    record.tpcc = watch.record(workload, &outcome, args.load.clients);
    if path.is_some() && (record.target_statistics.is_some() || record.tpcc.is_some()) {
        path = kept(store.replace(&record), terminal);
    }
    if let (Some(workload), Some(base)) = (workload, base) {
        let findings =
            audits::after_run(&opened, workload, base, &outcome, args.load.clients, terminal);
        record.audits = findings.iter().map(Audit::from).collect();
        record.verdicts = judge(&record);
        if path.is_some() {
            path = kept(store.replace(&record), terminal);
        }
    }
    opened.close(terminal);
    render(args, &record, path.as_deref(), terminal)?;
    exit::judged(args, &record, outcome.ended)
}

/// Makes room for the clients' sockets before anything is started or loaded.
fn make_room(clients: u32) -> Result<(), Failure> {
    open_files::allow(clients.into(), OPEN_FILES_BESIDES_CLIENTS).map_err(|error| {
        Failure::usage(format!(
            "{error}\nhint: use fewer clients (-c), or raise the limit (ulimit -n)"
        ))
    })
}

/// A record that cannot be kept is no reason not to show it.
fn kept(stored: Result<PathBuf, StoreError>, terminal: &Terminal) -> Option<PathBuf> {
    stored.map_err(|error| terminal.warn(&format!("the record could not be kept: {error}"))).ok()
}

/// What clap cannot check.
fn check(args: &RunArgs) -> Result<(), Failure> {
    if args.scripts.is_empty() && !args.defines.is_empty() {
        return Err(Failure::usage(
            "-D/--define is for scripts\nhint: a workload's parameters are set with --param",
        ));
    }
    let has_scripts = !args.scripts.is_empty();
    if has_scripts && (args.reset != ResetWhen::Never || args.audit == AuditWhat::Full) {
        return Err(Failure::usage(
            "--reset and --audit full are for workloads: of what scripts need, nothing is known",
        ));
    }
    let limited = args.load.transactions.is_some();
    if args.retry.max_tries == 0 && limited && args.load.latency_limit.is_none() {
        return Err(Failure::usage(
            "an unlimited number of tries (--max-tries 0) needs --time or --latency-limit",
        ));
    }
    Ok(())
}

fn isolation(level: IsolationArg) -> Isolation {
    match level {
        IsolationArg::ReadCommitted => Isolation::ReadCommitted,
        IsolationArg::RepeatableRead => Isolation::RepeatableRead,
        IsolationArg::Serializable => Isolation::Serializable,
    }
}

/// The scripts that were given, compiled before anything is started or
/// connected to; without any, the workload's words are checked instead.
fn scripts(args: &RunArgs) -> Result<Option<Program>, Failure> {
    if args.scripts.is_empty() {
        return choose(args, 1).map(|_| None);
    }
    program::of_files(&args.scripts, &args.defines).map(Some)
}

fn choose(args: &RunArgs, scale: u64) -> Result<Box<dyn Workload>, Failure> {
    let name = args.workload.workload.as_str();
    let params = table_params::of_workload(&args.workload);
    make(&Choice { name, scale, params: &params }).map_err(Failure::usage)
}

/// Sees that the tables are there, or makes them.
fn prepare(
    args: &RunArgs,
    scripts: Option<Program>,
    opened: &Opened,
    terminal: &Terminal,
    stop: &Arc<AtomicBool>,
) -> Result<Work, Failure> {
    if let Some(mut program) = scripts {
        let scale = scale_of_scripts(args, opened, terminal, stop)?;
        program::set_scale(&mut program, scale);
        return Ok(Work { workload: None, program, terminals: None, load: None });
    }
    let workload = choose(args, 1)?;
    workload.check(opened.dialect).map_err(Failure::usage)?;
    if opened.is_embedded {
        let workload = choose(args, args.scale.unwrap_or(EMBEDDED_SCALE_DEFAULT))?;
        let jobs = NonZeroU32::new(assemble::cores().min(4)).unwrap_or(NonZeroU32::MIN);
        let load = filling::fill(opened, workload.as_ref(), jobs, 0, terminal, stop)?;
        let program = program::of_workload(workload.as_ref())?;
        let terminals = terminals(workload.as_ref(), args, opened, stop)?;
        return Ok(Work { workload: Some(workload), program, terminals, load: Some(load) });
    }
    let word = in_shell(&pgdyno_record::redact::redact(&opened.word));
    let mut session = opened.connect(stop)?;
    let found = workload.probe(&mut session, &word).map_err(Failure::not_completed)?;
    if is_unfinished(&mut session, workload.as_ref()) {
        return Err(Failure::not_completed(format!(
            "the loading of these tables was broken off: rows or keys may be missing\n\
             Go on with: pgdyno init {word} --workload {} --scale {} --resume, with the options \
             of then\nor load them anew, without --resume",
            workload.name(),
            found.scale,
        )));
    }
    drop(session);
    if let Some(scale) = args.scale
        && scale != found.scale
    {
        terminal
            .warn(&format!("the tables are at scale {}; --scale {scale} is ignored", found.scale));
    }
    let workload = choose(args, found.scale)?;
    let program = program::of_workload(workload.as_ref())?;
    let terminals = terminals(workload.as_ref(), args, opened, stop)?;
    Ok(Work { workload: Some(workload), program, terminals, load: None })
}

/// What runs the transactions, where they are procedures.
fn terminals(
    workload: &dyn Workload,
    args: &RunArgs,
    opened: &Opened,
    stop: &Arc<AtomicBool>,
) -> Result<Option<Arc<dyn Terminals>>, Failure> {
    let is_procedure = |t: &pgdyno_workload::Transaction| matches!(t.body, Body::Procedure(_));
    if !workload.transactions().iter().any(is_procedure) {
        return Ok(None);
    }
    let terminals =
        workload.terminals(&mut opened.connect(stop)?).map_err(Failure::not_completed)?;
    if args.load.rate.is_some() && terminals.as_ref().is_some_and(|made| made.is_paced()) {
        return Err(Failure::usage(
            "terminals that think keep their own pace\nhint: leave out --rate, or --param think",
        ));
    }
    Ok(terminals)
}

/// `:scale` of scripts, as pgbench has it: the number of branches where one of
/// its own scripts is run, which relies on it; else as given, or 1.
fn scale_of_scripts(
    args: &RunArgs,
    opened: &Opened,
    terminal: &Terminal,
    stop: &Arc<AtomicBool>,
) -> Result<u64, Failure> {
    if !program::has_builtin(&args.scripts) {
        return Ok(args.scale.unwrap_or(1));
    }
    let branches = opened
        .connect(stop)?
        .query_one_i64("SELECT count(*) FROM pgbench_branches")
        .map_err(|error| {
            let word = in_shell(&pgdyno_record::redact::redact(&opened.word));
            let hint = if opened.is_embedded {
                "a throw-away server has none of pgbench's tables; --workload tpcb makes them"
                    .to_owned()
            } else {
                format!("pgbench's own scripts need its tables: pgdyno init {word}")
            };
            Failure::not_completed(format!("{error}\nhint: {}", hint.trim_end()))
        })?;
    // Of empty tables every scale is as good; 1 keeps random(1, :scale) valid.
    let found = u64::try_from(branches).unwrap_or(0).max(1);
    if let Some(scale) = args.scale
        && scale != found
    {
        terminal.warn(&format!("the tables are at scale {found}; --scale {scale} is ignored"));
    }
    Ok(found)
}

/// A word as it is typed in a shell, so that a suggested command can be pasted.
pub(crate) fn in_shell(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn make_plan(
    args: &RunArgs,
    opened: &Opened,
    endpoints: &Endpoints,
    work: &Work,
) -> Result<RunPlan, Failure> {
    let load = &args.load;
    let clients = NonZeroU32::new(load.clients).unwrap_or(NonZeroU32::MIN);
    let workers = load.workers.unwrap_or_else(|| workers_default(opened)).min(clients.get());
    let seed = match load.seed {
        Some(seed) => seed,
        None => pgdyno_script::random::strong_seed().map_err(Failure::not_completed)?,
    };
    let limit = match (load.transactions, load.time) {
        (Some(count), _) => Limit::Transactions(count),
        (None, time) => Limit::Duration(time.unwrap_or(TIME_DEFAULT)),
    };
    let backoff = match args.retry.retry_backoff.0 {
        Some((first, max)) => Backoff::Exponential { first, max },
        None => Backoff::None,
    };
    Ok(RunPlan {
        endpoints: endpoints.contexts.clone(),
        dialect: opened.dialect,
        program: work.program.clone(),
        terminals: work.terminals.clone(),
        clients,
        workers: NonZeroU32::new(workers).unwrap_or(NonZeroU32::MIN),
        protocol: match load.protocol {
            ProtocolArg::Simple => Protocol::Simple,
            ProtocolArg::Extended => Protocol::Extended,
            ProtocolArg::Prepared => Protocol::Prepared,
        },
        poller: match load.poller {
            PollerArg::Auto => PollerChoice::Auto,
            PollerArg::Epoll => PollerChoice::Readiness,
            PollerArg::IoUring => PollerChoice::IoUring,
        },
        prepare_early: !load.reconnect,
        limit,
        warmup: load.warmup,
        ramp: load.ramp,
        measure_drain: matches!(limit, Limit::Transactions(_)),
        clock_start: ClockStart::AfterConnecting,
        rate: load.rate.map(|tps| Rate {
            tps: bounds::rate(tps, clients.get()),
            steady: load.rate_steady,
            slack: load.timer_slack,
        }),
        latency_limit: load.latency_limit,
        retry: RetryPolicy { tries_max: NonZeroU32::new(args.retry.max_tries), backoff },
        continue_on_error: args.retry.continue_on_error,
        unknown_goes_on: true,
        reconnect: load.reconnect,
        connect: endpoints.connect_plan(&args.endpoints, opened),
        seed,
        choice: ChoiceStream::PerClient,
        statement_latency: true,
        log: None,
        detailed_failures: true,
        exit_on_abort: false,
        verbose_errors: false,
        debug: false,
    })
}

/// On the server's own machine half of the cores are the server's.
fn workers_default(opened: &Opened) -> u32 {
    let mut hosts = opened.endpoints.iter().flat_map(|context| &context.options().hosts);
    let cores = assemble::cores();
    if hosts.any(is_local) { (cores / 2).max(1) } else { cores }
}

/// A host that is this machine by its name or address alone.
fn is_local(host: &Host) -> bool {
    let address = host.addr.or_else(|| host.name.parse().ok());
    host.is_unix()
        || address.map_or(host.name == "localhost", |address: IpAddr| address.is_loopback())
}

fn announce(args: &RunArgs, plan: &RunPlan, opened: &Opened, terminal: &Terminal) {
    let unicode = terminal.err.unicode;
    let length = match plan.limit {
        Limit::Duration(time) => format::duration_s(time.as_secs_f64(), unicode),
        Limit::Transactions(count) => {
            format!("{} each", format::counted(count, "transaction"))
        }
    };
    let warmup = warmup_words(plan, unicode);
    let what = if args.scripts.is_empty() { &args.workload.workload } else { "scripts" };
    let label = tpcc::running_label(&args.workload);
    terminal.say(&format!(
        "Running {what}{label} on {}: {}, {}, {length}{warmup} (seed {}) …",
        opened.detected_title(),
        format::counted(u64::from(plan.clients.get()), "client"),
        format::counted(u64::from(plan.workers.get()), "worker"),
        plan.seed,
    ));
}

fn warmup_words(plan: &RunPlan, unicode: bool) -> String {
    let shown = |time: Duration| format::duration_s(time.as_secs_f64(), unicode);
    let whole = plan.before_measuring();
    match (whole.is_zero(), plan.ramp.is_zero()) {
        (true, _) => String::new(),
        (false, true) => format!(" after {} of warm-up", shown(whole)),
        (false, false) => {
            let ramp = shown(plan.ramp);
            format!(" after {} of warm-up, in which clients begin over {ramp}", shown(whole))
        }
    }
}

fn start_failed(error: &pgdyno_engine::RunError) -> Failure {
    use pgdyno_engine::RunError;
    let mut text = error.to_string();
    match error {
        RunError::Connect { sqlstate: Some(sqlstate), .. } => {
            text.push_str(&format!("\nSQLSTATE: {sqlstate}"));
            if let Some(hint) = crate::failure::hint_for(sqlstate) {
                text.push_str(&format!("\nhint: {hint}"));
            }
            Failure::not_completed(text)
        }
        RunError::Script(_) | RunError::Encode(_) => Failure::usage(text),
        _ => Failure::not_completed(text),
    }
}

fn render(
    args: &RunArgs,
    record: &RunRecord,
    path: Option<&std::path::Path>,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let as_json = || {
        serde_json::to_string_pretty(record)
            .map(|text| text + "\n")
            .map_err(|error| Failure::not_completed(format!("the record has no JSON: {error}")))
    };
    let summary = || terminal.result(&pgdyno_report::summary(record, &terminal.out, path));
    match &args.output.json {
        Some(file) if file.as_os_str() == "-" => terminal.result(&as_json()?),
        Some(file) => {
            // First: a file that cannot be written must not cost the summary.
            summary();
            std::fs::write(file, as_json()?).map_err(|error| {
                Failure::not_completed(format!("could not write {}: {error}", file.display()))
            })?;
        }
        None => summary(),
    }
    Ok(())
}
