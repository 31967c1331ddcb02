//! The figures of a TPC-C run: what the clients were told, and what the
//! database counts of itself meanwhile. How it is asked is in [`watch`].

mod watch;

use pgdyno_engine::outcome::RunOutcome;
use pgdyno_record::tpcc::{Seen, is_ten_to_each, nopm_max, nopm_max_of_clients};
use pgdyno_record::{Point, TimelineRecord, TpccRecord, TpccType};
use pgdyno_workload::Workload;
use pgdyno_workload::tpcc::deck::KINDS;
use pgdyno_workload::tpcc::terminal::COUNTERS;
use pgdyno_workload::tpcc::transactions;

use self::watch::Sample;
pub(crate) use self::watch::Watch;
use crate::cli::WorkloadArgs;

/// The workload's name.
const NAME: &str = "tpcc";

/// So much of the measured interval must lie between the first and the last
/// question; of the shortest interval with several, most does.
const WATCHED_SHARE_MIN: f64 = 0.6;

/// What the line that announces a run says behind the workload's name.
pub(crate) fn running_label(choice: &WorkloadArgs) -> &'static str {
    let is_lighter = |(name, value): &(String, String)| name == "profile" && value == "hammerdb";
    if choice.workload == NAME && choice.params.iter().any(is_lighter) {
        " (the lighter work of HammerDB's profile)"
    } else {
        ""
    }
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
    use std::time::{Duration, SystemTime};

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
