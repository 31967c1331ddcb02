//! What is to be said of a run's endpoints.

use crate::endpoint::EndpointRecord;
use crate::run::RunRecord;
use crate::verdict::kinds::Verdict;

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
    Some(Verdict::EndpointTrouble { lost, lossy, idle })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::{EndpointTally, EndpointsRecord};
    use crate::run::example;
    use crate::verdict::judge;

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
}
