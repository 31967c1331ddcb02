//! What is to be said of a run's endpoints.

use crate::endpoint::EndpointRecord;
use crate::run::RunRecord;
use crate::timeline::TimelineRecord;
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

/// The time without a commit; of several as long the first counts.
fn silence(timeline: &TimelineRecord) -> Option<Silence> {
    let width_s = timeline.width_s;
    let mut found: Option<Silence> = None;
    // Where the present one began, and where it would go on.
    let (mut begin_s, mut next_s) = (0, 0);
    for point in &timeline.points {
        let Ok(second) = u64::try_from(point.second) else { continue };
        if point.commits > 0 {
            continue;
        }
        if second != next_s {
            begin_s = second;
        }
        next_s = second.saturating_add(width_s);
        let all = found.get_or_insert(Silence { seconds: 0, from_s: begin_s, to_s: begin_s });
        all.seconds = all.seconds.saturating_add(width_s);
        if next_s - begin_s > all.to_s - all.from_s {
            (all.from_s, all.to_s) = (begin_s, next_s);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::{EndpointTally, EndpointsRecord};
    use crate::run::example;
    use crate::timeline::Point;
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
        assert_eq!(said(1, 0, &[5, 5, 0, 5]), None);
        assert_eq!(said(1, 1, &[0, 5, 5, 5]).unwrap(), lost);
        let one = format!("{lost}; nothing was committed from 1 s to 3 s");
        assert_eq!(said(1, 1, &[0, 5, 0, 0, 5]).unwrap(), one);
        let first = format!("{lost}; nothing was committed from 0 s to 20 s");
        assert_eq!(said(10, 1, &[0, 0, 0, 5]).unwrap(), first);
        let two = format!("{lost}; nothing was committed in 3 s, the longest from 3 s to 5 s");
        assert_eq!(said(1, 1, &[5, 5, 0, 5, 0, 0]).unwrap(), two);
    }
}
