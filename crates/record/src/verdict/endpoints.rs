//! What is to be said of a run's endpoints.

use crate::endpoint::EndpointRecord;
use crate::run::RunRecord;
use crate::timeline::{Point, TimelineRecord};
use crate::verdict::kinds::{Silence, Verdict};

/// What is to be said, where anything is.
pub(super) fn trouble(record: &RunRecord) -> Option<Verdict> {
    let lost = record.connections.lost;
    let name = |one: &EndpointRecord| format!("{}:{}", one.host, one.port);
    let endpoints = record.endpoints.as_ref();
    let all = || endpoints.iter().flat_map(|endpoints| &endpoints.each);
    let lossy: Vec<String> = all().filter(|one| one.connections_lost > 0).map(name).collect();
    // The others of these two only stand by.
    let is_dealt = endpoints.is_some_and(|e| matches!(e.balance.as_str(), "even" | "random"));
    let has_clients = record.plan.clients as usize >= all().count();
    let idle: Vec<String> =
        all().filter(|one| is_dealt && has_clients && one.committed == 0).map(name).collect();
    if lost == 0 && (idle.is_empty() || record.totals.counts.committed == 0) {
        return None;
    }
    let silent = if lost > 0 { silence(&record.timeline) } else { None };
    Some(Verdict::EndpointTrouble { lost, lossy, idle, silent })
}

/// So many commits would have been expected in a time without any before it is
/// called one. By chance, with starts that are independent of each other, it
/// comes up once in e^20, some half a billion, times: at a rate of one in two
/// seconds, as with think times, pauses of some seconds are no outage.
const COMMITS_MISSED_MIN: f64 = 20.0;

/// The time without a commit that is too long for chance; of several as long the
/// first counts.
fn silence(timeline: &TimelineRecord) -> Option<Silence> {
    let measured = || {
        let known = |point: &Point| Some((u64::try_from(point.second).ok()?, point.commits));
        timeline.points.iter().filter_map(known)
    };
    let width_s = timeline.width_s;
    let length_s = measured().count() as f64 * width_s as f64;
    let commits_per_s = measured().map(|(_, commits)| commits as f64).sum::<f64>() / length_s;
    let mut gaps: Vec<(u64, u64)> = Vec::new();
    for (second, _) in measured().filter(|(_, commits)| *commits == 0) {
        let next = second.saturating_add(width_s);
        match gaps.last_mut() {
            Some((_, to_s)) if *to_s == second => *to_s = next,
            _ => gaps.push((second, next)),
        }
    }
    let long = |(from, to): &&(u64, u64)| (to - from) as f64 * commits_per_s >= COMMITS_MISSED_MIN;
    let gaps: Vec<&(u64, u64)> = gaps.iter().filter(long).collect();
    let seconds = gaps.iter().map(|(from, to)| to - from).sum();
    let mut longest = *gaps.first()?;
    for gap in gaps {
        if gap.1 - gap.0 > longest.1 - longest.0 {
            longest = gap;
        }
    }
    Some(Silence { seconds, from_s: longest.0, to_s: longest.1 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::{EndpointTally, EndpointsRecord};
    use crate::run::example;
    use crate::verdict::{judge, words};

    /// A lost connection and an idle endpoint are said; a spare one that was
    /// not needed is not.
    #[test]
    fn trouble_is_said() {
        let record = |balance: &str, lost: u64| {
            let mut record = example::record();
            let each = [(1, 0), (2, 10)].map(|(port, committed)| {
                let tally = EndpointTally { committed, lost, ..EndpointTally::default() };
                EndpointRecord::new("h".to_owned(), port, None, &tally, 1.0)
            });
            record.connections.lost = lost * 2;
            record.endpoints = Some(EndpointsRecord {
                balance: balance.to_owned(),
                discovered_by: None,
                left_out: Vec::new(),
                each: each.to_vec(),
            });
            record
        };
        let said = |record: &RunRecord| {
            let mut all = judge(record).into_iter();
            all.find(|said| matches!(said.verdict, Verdict::EndpointTrouble { .. }))
                .map(|said| said.text)
        };
        assert_eq!(said(&record("even", 0)).unwrap(), "nothing was committed over h:1");
        assert_eq!(said(&record("nearest", 0)), None);
        let lost = said(&record("nearest", 1)).unwrap();
        assert_eq!(lost, "2 connections were lost at h:1, h:2, and made anew");
    }

    /// How long nobody committed anything is said with the connections that
    /// were lost, and only with them; a warm-up is no part of it.
    #[test]
    fn silence_is_said() {
        let said = |width_s: u64, lost: u64, commits: &[u64]| {
            let mut record = example::record();
            let points = (-1..).zip(commits).map(|(number, &commits)| {
                let second = number * i64::try_from(width_s).unwrap();
                Point { second, commits, ..Point::default() }
            });
            record.timeline = TimelineRecord { width_s, points: points.collect() };
            (record.connections.lost, record.endpoints) = (lost, None);
            trouble(&record).map(|trouble| words::text(&trouble))
        };
        let lost = "1 connection was lost, and made anew";
        assert_eq!(said(1, 0, &[50, 50, 0, 50]), None);
        assert_eq!(said(1, 1, &[0, 50, 50, 50]).unwrap(), lost);
        let one = format!("{lost}; nothing was committed from 1 s to 3 s");
        assert_eq!(said(1, 1, &[0, 50, 0, 0, 50]).unwrap(), one);
        let first = format!("{lost}; nothing was committed from 0 s to 20 s");
        assert_eq!(said(10, 1, &[0, 0, 0, 50]).unwrap(), first);
        let two = format!("{lost}; nothing was committed in 3 s, the longest from 3 s to 5 s");
        assert_eq!(said(1, 1, &[50, 50, 0, 50, 0, 0]).unwrap(), two);
        // With a commit in two seconds, some seconds without are no outage.
        assert_eq!(said(1, 1, &[1, 0, 1, 0, 0, 0, 1, 1, 0]).unwrap(), lost);
        assert_eq!(said(1, 1, &[0, 0, 0, 0]).unwrap(), lost);
    }
}
