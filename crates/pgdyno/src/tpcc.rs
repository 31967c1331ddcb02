//! The figures of a TPC-C run: what the clients were told, and what the
//! database counts of itself meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use pgdyno_engine::outcome::RunOutcome;
use pgdyno_engine::plan::RunPlan;
use pgdyno_record::tpcc::{Seen, is_ten_to_each, nopm_max, nopm_max_of_clients};
use pgdyno_record::{Point, TimelineRecord, TpccRecord, TpccType};
use pgdyno_wire::Connection;
use pgdyno_workload::Workload;
use pgdyno_workload::tpcc::deck::KINDS;
use pgdyno_workload::tpcc::terminal::COUNTERS;
use pgdyno_workload::tpcc::transactions;

use crate::cli::WorkloadArgs;

/// The workload's name.
const NAME: &str = "tpcc";

/// How often the database is asked: often enough to meet the ends of a short
/// interval, and no load worth mentioning.
const ASK_EVERY: Duration = Duration::from_secs(1);

/// Of the time at least so much goes by between two questions for each part
/// that a question takes: on large tables it may take long.
const PAUSE_PER_QUESTION: u32 = 50;

/// How often the thread looks whether the run is over.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// So much of the measured interval must lie between the first and the last
/// question; of the shortest interval with several, most does.
const WATCHED_SHARE_MIN: f64 = 0.6;

/// How long one question may take: a server that hangs must not hold up the
/// end of a run.
const QUESTION_MAX: Duration = Duration::from_secs(30);

const ORDERS: &str = "SELECT sum(d_next_o_id)::bigint FROM district";

/// As HammerDB counts: all databases of the server, rollbacks too.
const TRANSACTIONS: &str =
    "SELECT sum(xact_commit + xact_rollback)::bigint FROM pg_catalog.pg_stat_database";

/// What was read at one moment.
#[derive(Debug, Clone, Copy)]
struct Sample {
    at: SystemTime,
    orders: i64,
    transactions: Option<i64>,
}

/// Reads the database's counters while a run goes on, over a session of its
/// own.
pub(crate) struct Watch {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<Vec<Sample>>>,
}

impl Watch {
    /// Starts to watch a run of TPC-C; of other workloads there is nothing to
    /// read. A database that does not answer is no reason to give up a run.
    pub(crate) fn start(
        workload: Option<&dyn Workload>,
        plan: &RunPlan,
        connect: impl FnOnce() -> Option<Connection>,
    ) -> Self {
        let is_alone = is_one_server(plan);
        let over = Arc::new(AtomicBool::new(false));
        if workload.is_none_or(|workload| workload.name() != NAME) {
            return Self { over, thread: None };
        }
        let flag = Arc::clone(&over);
        let thread = connect().and_then(|connection| {
            let body = move || watch(connection, is_alone, &flag);
            std::thread::Builder::new().name("tpcc counters".to_owned()).spawn(body).ok()
        });
        Self { over, thread }
    }

    /// The figures of the run; `None` of other workloads.
    pub(crate) fn record(
        mut self,
        workload: Option<&dyn Workload>,
        outcome: &RunOutcome,
        clients: u32,
    ) -> Option<TpccRecord> {
        let samples = self.samples();
        let workload = workload.filter(|workload| workload.name() == NAME)?;
        let minutes = outcome.measured.as_secs_f64() / 60.0;
        (minutes > 0.0).then(|| record(workload, outcome, &samples, clients.into()))
    }

    fn samples(&mut self) -> Vec<Sample> {
        self.over.store(true, Ordering::Relaxed);
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.samples();
    }
}

/// What the line that announces a run says behind the workload's name.
pub(crate) fn running_label(choice: &WorkloadArgs) -> &'static str {
    let is_lighter = |(name, value): &(String, String)| name == "profile" && value == "hammerdb";
    if choice.workload == NAME && choice.params.iter().any(is_lighter) {
        " (the lighter work of HammerDB's profile)"
    } else {
        ""
    }
}

/// The run has one server, as far as addresses tell. Statistics are of the
/// server that is asked, tables of all.
fn is_one_server(plan: &RunPlan) -> bool {
    let mut hosts = plan
        .endpoints
        .iter()
        .flat_map(|context| context.endpoints())
        .map(|endpoint| (&endpoint.host, endpoint.port));
    let first = hosts.next();
    // A name with several addresses is one server.
    hosts.all(|other| Some(other) == first)
}

fn watch(mut connection: Connection, is_alone: bool, over: &AtomicBool) -> Vec<Sample> {
    connection.set_timeout(Some(QUESTION_MAX));
    let mut samples = Vec::new();
    let mut next = SystemTime::now();
    while !over.load(Ordering::Relaxed) {
        if SystemTime::now() < next {
            std::thread::sleep(LOOK_EVERY);
            continue;
        }
        let begin = SystemTime::now();
        let Ok(orders) = connection.query_one_i64(ORDERS) else { break };
        let at = SystemTime::now();
        // Where there is no such view, it is not asked for again and again.
        let known =
            is_alone && samples.last().is_none_or(|last: &Sample| last.transactions.is_some());
        let transactions = if known { connection.query_one_i64(TRANSACTIONS).ok() } else { None };
        samples.push(Sample { at, orders, transactions });
        let took = begin.elapsed().unwrap_or_default();
        next = begin + ASK_EVERY.max(took * PAUSE_PER_QUESTION);
    }
    samples
}

fn record(
    workload: &dyn Workload,
    outcome: &RunOutcome,
    samples: &[Sample],
    clients: u64,
) -> TpccRecord {
    let minutes = outcome.measured.as_secs_f64() / 60.0;
    let params = workload.params();
    let value = |name: &str| {
        let found = params.iter().find(|(param, _)| *param == name);
        found.map(|(_, value)| value.as_str()).unwrap_or_default()
    };
    let profile = value("profile").to_owned();
    let is_paced = value("think") == "1";
    let scripts = &outcome.tally.scripts;
    let completed =
        |at: usize| scripts.get(at).map_or(0, |script| script.committed + script.rolled_back);
    let all: u64 = (0..KINDS.len()).map(completed).sum();
    let nopm = scripts.first().map_or(0, |script| script.committed) as f64 / minutes;
    let inside = inside(outcome, samples);
    let mut record = TpccRecord {
        label: label(&profile),
        profile,
        warehouses: workload.scale(),
        nopm,
        nopm_database: per_minute(&inside, |sample| Some(sample.orders)),
        tpm: all as f64 / minutes,
        tpm_database: per_minute(&inside, |sample| sample.transactions),
        efficiency_percent: is_paced.then(|| nopm * 100.0 / nopm_max(workload.scale())),
        efficiency_of_clients_percent: (is_paced && !is_ten_to_each(clients, workload.scale()))
            .then(|| nopm * 100.0 / nopm_max_of_clients(clients)),
        rolled_back: scripts.first().map_or(0, |script| script.rolled_back),
        types: KINDS
            .into_iter()
            .map(|kind| {
                let at = kind.index();
                let response = scripts.get(at).map(|script| script.response.to_record());
                TpccType {
                    name: transactions::name(kind).to_owned(),
                    completed: completed(at),
                    share_percent: completed(at) as f64 * 100.0 / all.max(1) as f64,
                    share_percent_min: kind.permille_min() as f64 / 10.0,
                    p90_us: response.map_or(0, |response| response.p90_us),
                    p90_us_max: kind.response_limit_s() * 1_000_000,
                }
            })
            .collect(),
        counters: COUNTERS
            .iter()
            .zip(&outcome.tally.counters)
            .map(|(name, count)| ((*name).to_owned(), *count))
            .collect(),
        alarms: Vec::new(),
    };
    let total = outcome.tally.total();
    record.judge(Seen {
        watched_s: inside.map_or(0.0, |(first, last)| seconds(&first, &last)),
        watched_nopm: inside.map_or(0.0, |(first, last)| watched_nopm(outcome, &first, &last)),
        clients,
        tries_lost: total.retries + total.failed(),
    });
    record
}

fn label(profile: &str) -> String {
    match profile {
        "hammerdb" => {
            "the lighter work of HammerDB's TPROC-C, derived from TPC-C; not comparable \
                       with the faithful profile, and no result in the sense of the TPC"
        }
        _ => "derived from TPC-C; no result in the sense of the TPC",
    }
    .to_owned()
}

/// The first and the last sample of the measured interval. Those of a part of
/// it, because the server was away, tell nothing about the whole.
fn inside(outcome: &RunOutcome, samples: &[Sample]) -> Option<(Sample, Sample)> {
    let end = outcome.started_at + outcome.measured;
    let mut inside =
        samples.iter().filter(|sample| sample.at >= outcome.started_at && sample.at <= end);
    let (first, last) = (*inside.next()?, *inside.next_back()?);
    let share = seconds(&first, &last) / outcome.measured.as_secs_f64();
    (share >= WATCHED_SHARE_MIN).then_some((first, last))
}

/// New orders a minute that the clients saw between two samples: the seconds
/// of the timeline, by the share of new orders in the whole, which a deck keeps.
fn watched_nopm(outcome: &RunOutcome, first: &Sample, last: &Sample) -> f64 {
    let total = outcome.tally.total().committed;
    let new_orders = outcome.tally.scripts.first().map_or(0, |script| script.committed);
    let offset = |sample: &Sample| {
        sample.at.duration_since(outcome.started_at).unwrap_or_default().as_secs_f64()
    };
    let commits = commits_between(&outcome.timeline, offset(first), offset(last));
    commits * new_orders as f64 / total.max(1) as f64 * 60.0 / seconds(first, last).max(1e-9)
}

/// Commits between two moments, s from the start of the measured interval; of
/// a point that lies in part between them the same part.
fn commits_between(timeline: &TimelineRecord, from_s: f64, to_s: f64) -> f64 {
    let width_s = timeline.width_s as f64;
    let part = |point: &Point| {
        let begin_s = point.second as f64;
        let inside_s = to_s.min(begin_s + width_s) - from_s.max(begin_s);
        point.commits as f64 * (inside_s / width_s).clamp(0.0, 1.0)
    };
    timeline.points.iter().map(part).sum()
}

/// From one sample to another; 0 where the clock went back.
fn seconds(first: &Sample, last: &Sample) -> f64 {
    last.at.duration_since(first.at).unwrap_or_default().as_secs_f64()
}

/// How fast a counter grew between two samples.
fn per_minute(
    samples: &Option<(Sample, Sample)>,
    counter: impl Fn(&Sample) -> Option<i64>,
) -> Option<f64> {
    let (first, last) = samples.as_ref()?;
    let seconds = seconds(first, last);
    let grown = counter(last)?.checked_sub(counter(first)?)?;
    (seconds > 0.0 && grown >= 0).then(|| grown as f64 / seconds * 60.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the clients saw is taken from the time that was watched, to the
    /// part of a second, so that a run that slows down looks like no stranger.
    #[test]
    fn commits_are_those_of_the_time_watched() {
        let point = |second, commits| Point { second, commits, ..Point::default() };
        let points = vec![point(-1, 7), point(0, 100), point(1, 200), point(2, 400), point(3, 80)];
        let timeline = TimelineRecord { width_s: 1, points };
        let between = |from_s, to_s| commits_between(&timeline, from_s, to_s);
        assert_eq!(between(0.0, 4.0), 780.0);
        assert_eq!(between(0.5, 2.25), 50.0 + 200.0 + 100.0);
        assert_eq!(between(1.25, 1.5), 50.0);
        let wide = TimelineRecord { width_s: 2, points: vec![point(0, 100), point(2, 60)] };
        assert_eq!(commits_between(&wide, 1.0, 3.0), 80.0);
    }

    /// A rate is the growth between two moments; without two there is none.
    #[test]
    fn rates_need_two_samples() {
        let at = |s: u64, orders| Sample {
            at: SystemTime::UNIX_EPOCH + Duration::from_secs(s),
            orders,
            transactions: (orders > 100).then_some(orders * 2),
        };
        let pair = Some((at(10, 100), at(40, 400)));
        assert_eq!(per_minute(&pair, |sample| Some(sample.orders)), Some(600.0));
        assert_eq!(per_minute(&pair, |sample| sample.transactions), None);
        assert_eq!(per_minute(&None, |sample| Some(sample.orders)), None);
        let back = Some((at(10, 100), at(40, 50)));
        assert_eq!(per_minute(&back, |sample| Some(sample.orders)), None);
    }
}
