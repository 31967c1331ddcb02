//! From what was measured to the run's record. Nothing is measured here.

use std::collections::BTreeMap;
use std::time::Duration;

use pgdyno_engine::load::LoadReport;
use pgdyno_engine::outcome::{ClientError, Ended as HowEnded, RunOutcome};
use pgdyno_engine::plan::{Backoff, Limit as PlanLimit, Protocol, RunPlan};
use pgdyno_record::{
    Audit, BackoffPlan, ConflictKind, DriverRecord, EndKind, Ended, Endpoint, Limit, LoadRecord,
    LoadedTable, MachineRecord, PlanRecord, ResetRecord, RunRecord, SCHEMA_VERSION, ScheduleRecord,
    Sections, TargetRecord, TlsRecord, WorkloadRecord, judge, redact,
};
use pgdyno_target::Machine;
use pgdyno_target::dialect::{Dialect, Isolation, RetryClass};
use pgdyno_wire::Connection;
use pgdyno_wire::options::SslMode;
use pgdyno_workload::{Finding, Workload};

use crate::endpoints::Endpoints;
use crate::opened::Opened;
use crate::program;

/// Settings that people ask for first when they read another's figure.
const SETTINGS: &[&str] = &[
    "shared_buffers",
    "work_mem",
    "max_connections",
    "max_wal_size",
    "fsync",
    "synchronous_commit",
    "full_page_writes",
    "wal_level",
    "checkpoint_timeout",
    "autovacuum",
    "random_page_cost",
    "default_transaction_isolation",
];

/// Everything about a run that the engine does not know.
pub(crate) struct Facts<'a> {
    pub(crate) opened: &'a Opened,
    pub(crate) endpoints: &'a Endpoints,
    pub(crate) work_name: &'a str,
    pub(crate) workload: Option<&'a dyn Workload>,
    pub(crate) load: Option<&'a LoadReport>,
    pub(crate) plan: &'a RunPlan,
    pub(crate) isolation: Option<Isolation>,
    pub(crate) settings: ServerFacts,
    pub(crate) findings: &'a [Finding],
    pub(crate) reset: Option<ResetRecord>,
}

/// What the server says of itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServerFacts {
    pub(crate) settings: BTreeMap<String, String>,
    pub(crate) tls: Option<TlsRecord>,
}

/// Processors that this process may use.
pub(crate) fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(u32::MAX))
}

/// Reads what the server says of itself. A server that does not say is no
/// reason to give up a run.
pub(crate) fn settings(connection: &mut Connection) -> ServerFacts {
    let names: Vec<String> = SETTINGS.iter().map(|name| format!("'{name}'")).collect();
    let sql = format!(
        "SELECT name, current_setting(name) FROM pg_catalog.pg_settings WHERE name IN ({}) \
         ORDER BY name",
        names.join(", ")
    );
    let mut settings = BTreeMap::new();
    if let Ok(results) = connection.simple_query(&sql) {
        for row in results.into_iter().flat_map(|result| result.rows) {
            if let [Some(name), Some(value)] = row.as_slice() {
                settings.insert(name.clone(), value.clone());
            }
        }
    }
    ServerFacts { settings, tls: tls(connection) }
}

fn tls(connection: &Connection) -> Option<TlsRecord> {
    let session = connection.tls()?;
    let name = |text: String| text.trim_matches('"').to_owned();
    let mode = connection.options().ssl.mode;
    Some(TlsRecord {
        version: session
            .protocol_version()
            .map_or_else(String::new, |version| name(format!("{version:?}"))),
        cipher: session
            .negotiated_cipher_suite()
            .map_or_else(String::new, |suite| name(format!("{:?}", suite.suite()))),
        verified: matches!(mode, SslMode::VerifyCa | SslMode::VerifyFull),
    })
}

/// The whole record, judged.
pub(crate) fn record(facts: &Facts<'_>, outcome: &RunOutcome) -> RunRecord {
    let scripts = program::script_infos(&facts.plan.program);
    let statements = program::statement_infos(&facts.plan.program, &outcome.slots);
    let mut sections = Sections::new(
        &outcome.tally,
        &scripts,
        &statements,
        outcome.measured.as_secs_f64(),
        outcome.connecting.as_secs_f64(),
    );
    for one in &mut sections.totals.conflicts {
        one.mark = conflict_mark(facts.opened.dialect, one.kind).map(str::to_owned);
    }
    let driver =
        DriverRecord::new(&outcome.workers, rss_max_bytes(), sections.totals.response.p50_us);
    let args: Vec<String> =
        std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect();
    let schedule = facts.plan.rate.map(|rate| ScheduleRecord {
        offered_tps: rate.tps,
        achieved_tps: sections.totals.tps,
        steady: rate.steady,
        timer_slack_us: rate.slack.as_micros() as u64,
        queued: outcome.queued,
    });
    let mut record = RunRecord {
        schema_version: SCHEMA_VERSION,
        pgdyno_version: env!("CARGO_PKG_VERSION").to_owned(),
        run_id: run_id(),
        started_at: jiff::Timestamp::try_from(outcome.started_at).unwrap_or_default(),
        command_line: redact::redact_args(&args),
        seed: facts.plan.seed,
        target: target(facts),
        workload: WorkloadRecord {
            name: facts.work_name.to_owned(),
            scale: facts.workload.map(Workload::scale),
            params: facts.workload.map_or_else(BTreeMap::new, params),
            scripts,
        },
        plan: plan(facts, outcome),
        ended: ended(outcome),
        load: facts.load.map(load),
        reset: facts.reset.clone(),
        totals: sections.totals,
        schedule,
        transactions: sections.transactions,
        statements: sections.statements,
        connections: sections.connections,
        endpoints: facts.endpoints.record(outcome),
        timeline: outcome.timeline.clone(),
        audits: facts.findings.iter().map(Audit::from).collect(),
        target_statistics: None,
        tpcc: None,
        driver,
        machine: machine(),
        verdicts: Vec::new(),
    };
    record.verdicts = judge(&record);
    record
}

/// The target's own code for a kind of conflict.
fn conflict_mark(dialect: &dyn Dialect, kind: ConflictKind) -> Option<&'static str> {
    dialect.conflict_mark(match kind {
        ConflictKind::Serialization => RetryClass::Serialization,
        ConflictKind::Deadlock => RetryClass::Deadlock,
        ConflictKind::Conflict => RetryClass::Conflict,
        ConflictKind::SchemaChanged => RetryClass::SchemaChanged,
    })
}

/// Eight letters and digits: enough to tell the runs of one second apart.
fn run_id() -> String {
    let bits =
        pgdyno_script::random::strong_seed().unwrap_or_else(|_| u64::from(std::process::id()));
    format!("{:08x}", bits as u32)
}

fn target(facts: &Facts<'_>) -> TargetRecord {
    let opened = facts.opened;
    let first = opened.endpoints.first().map(|context| context.options());
    let endpoints = opened.endpoints.iter().flat_map(|context| &context.options().hosts);
    TargetRecord {
        name: opened.name.clone(),
        kind: opened.detected.dialect.name().to_owned(),
        dialect: opened.dialect.name().to_owned(),
        detected_by: opened.detected.how.clone(),
        server_version: opened.detected.version.clone(),
        server_version_num: opened.detected.version_num.unwrap_or(0),
        database: first.map_or_else(String::new, |options| options.dbname.clone()),
        user: first.map_or_else(String::new, |options| options.user.clone()),
        endpoints: endpoints
            .map(|host| Endpoint {
                host: if host.name.is_empty() {
                    host.addr.map_or_else(String::new, |addr| addr.to_string())
                } else {
                    host.name.clone()
                },
                port: host.port,
            })
            .collect(),
        tls: facts.settings.tls.clone(),
        settings: facts.settings.settings.clone(),
    }
}

fn params(workload: &dyn Workload) -> BTreeMap<String, String> {
    workload.params().into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn plan(facts: &Facts<'_>, outcome: &RunOutcome) -> PlanRecord {
    let plan = facts.plan;
    PlanRecord {
        clients: plan.clients.get(),
        workers: plan.workers.get(),
        limit: match plan.limit {
            PlanLimit::Duration(time) => Limit::Duration { seconds: time.as_secs_f64() },
            PlanLimit::Transactions(per_client) => Limit::Transactions { per_client },
        },
        warmup_s: plan.before_measuring().as_secs_f64(),
        ramp_s: plan.ramp.as_secs_f64(),
        rate_tps: plan.rate.map(|rate| rate.tps),
        latency_limit_us: plan.latency_limit.map(whole_us),
        protocol: match plan.protocol {
            Protocol::Simple => "simple",
            Protocol::Extended => "extended",
            Protocol::Prepared => "prepared",
        }
        .to_owned(),
        tries_max: plan.retry.tries_max.map(std::num::NonZeroU32::get),
        backoff: match plan.retry.backoff {
            Backoff::None => None,
            Backoff::Exponential { first, max } => Some(BackoffPlan {
                first_us: whole_us(first),
                factor: 2.0,
                max_us: whole_us(max),
                jitter: 0.5,
            }),
        },
        isolation: facts.isolation.map(|level| level.to_string()),
        session_settings: session_settings(facts.opened),
        reconnect: plan.reconnect,
        poller: outcome.poller.to_owned(),
        connect_rate: plan.connect.rate.map(|rate| rate.per_second),
        connect_burst: plan.connect.rate.map(|rate| rate.burst),
        session_age_s: plan.connect.session_age.map(|age| age.as_secs_f64()),
    }
}

/// What `--set` asked for; a value whose name says that it is a secret is kept back.
fn session_settings(opened: &Opened) -> BTreeMap<String, String> {
    let shown = |(name, value): (&String, &String)| {
        let pair = redact::redact_setting(&format!("{name}={value}"));
        let value = pair.split_once('=').map_or_else(String::new, |(_, value)| value.to_owned());
        (name.clone(), value)
    };
    opened.session_settings.iter().map(shown).collect()
}

fn whole_us(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn ended(outcome: &RunOutcome) -> Ended {
    let how = match outcome.ended {
        HowEnded::Completed => EndKind::Completed,
        HowEnded::Interrupted => EndKind::Interrupted,
        HowEnded::Aborted => EndKind::Aborted,
    };
    let mut reasons: Vec<String> = outcome.errors.iter().map(reason).collect();
    if how == EndKind::Interrupted {
        reasons.insert(0, "a signal asked for the end".to_owned());
    }
    Ended { how, clients_aborted: outcome.clients_aborted, reasons }
}

/// An error with the place and the SQLSTATE that libpq's words leave out.
pub(crate) fn reason(error: &ClientError) -> String {
    let mut text = format!("{}: {}", error.endpoint, redact::redact(&error.text));
    if let Some(sqlstate) = &error.sqlstate {
        text.push_str(&format!(" (SQLSTATE {sqlstate})"));
    }
    if let Some(place) = &error.place {
        text.push_str(&format!(", at {place}"));
    }
    if error.count > 1 {
        text.push_str(&format!("; the same for {} more clients", error.count - 1));
    }
    text
}

fn load(report: &LoadReport) -> LoadRecord {
    LoadRecord {
        method: if report.frozen { "copy freeze" } else { report.method.name() }.to_owned(),
        jobs: report.jobs,
        seconds: report.elapsed().as_secs_f64(),
        rows: report.rows(),
        rows_per_s: report.rows_per_s(),
        tables: report
            .tables
            .iter()
            .map(|table| LoadedTable {
                name: table.table.to_owned(),
                rows: table.rows,
                seconds: table.elapsed.as_secs_f64(),
            })
            .collect(),
        retries_by_sqlstate: report
            .retries
            .iter()
            .filter_map(|(sqlstate, count)| Some((sqlstate.parse().ok()?, *count)))
            .collect(),
        table_params: report
            .table_params
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()))
            .collect(),
    }
}

fn machine() -> MachineRecord {
    let here = Machine::here();
    MachineRecord {
        cpu_model: here.cpu_model.unwrap_or_else(|| "unknown".to_owned()),
        cores: u32::try_from(here.cpus).unwrap_or(u32::MAX),
        kernel: here.kernel,
        memory_bytes: here.memory_bytes.unwrap_or(0),
    }
}

/// The largest resident memory of this process so far.
///
/// Linux hands the figure of `getrusage` down through `exec`, so that a large
/// process that starts a small one would be counted; the kernel's own status
/// file begins anew with the program.
fn rss_max_bytes() -> u64 {
    use nix::sys::resource::{UsageWho, getrusage};
    if let Some(kib) =
        std::fs::read_to_string("/proc/self/status").ok().as_deref().and_then(high_water_kib)
    {
        return kib * 1024;
    }
    // Linux counts in KiB, macOS in bytes.
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    getrusage(UsageWho::RUSAGE_SELF)
        .ok()
        .and_then(|usage| u64::try_from(usage.max_rss()).ok())
        .map_or(0, |rss| rss * unit)
}

/// `VmHWM:     7124 kB` (proc_pid_status(5)).
fn high_water_kib(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel's line is read; anything else is no figure.
    #[test]
    fn high_water() {
        assert_eq!(high_water_kib("Name:\tx\nVmHWM:\t    7124 kB\nVmRSS:\t1 kB\n"), Some(7124));
        assert_eq!(high_water_kib("VmRSS:\t1 kB\n"), None);
        assert!(rss_max_bytes() > 100_000);
    }
}
