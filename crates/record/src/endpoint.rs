//! One endpoint among several: what a worker counts, and what a record says.

use serde::{Deserialize, Serialize};

use crate::latency::{Latencies, LatencyRecord};

/// Counters of one endpoint.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EndpointTally {
    /// Connections made.
    pub connections: u64,
    /// Attempts that failed.
    pub failed: u64,
    /// Connections that ended while their client had not.
    pub lost: u64,
    /// Transactions committed over it.
    pub committed: u64,
    /// Transactions that failed, whatever the reason.
    pub transactions_failed: u64,
    /// Transactions of unknown outcome.
    pub unknown: u64,
    /// Response times of the committed, where they are wanted: 190 KB each.
    pub response: Option<Latencies>,
}

impl EndpointTally {
    /// Nothing yet; with or without the response times.
    #[must_use]
    pub fn new(with_latency: bool) -> Self {
        Self { response: with_latency.then(Latencies::new), ..Self::default() }
    }

    /// Counts a committed transaction that took `us`.
    #[inline]
    pub fn commit(&mut self, us: u64) {
        self.committed += 1;
        if let Some(response) = &mut self.response {
            response.record(us);
        }
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.connections += other.connections;
        self.failed += other.failed;
        self.lost += other.lost;
        self.committed += other.committed;
        self.transactions_failed += other.transactions_failed;
        self.unknown += other.unknown;
        match (&mut self.response, &other.response) {
            (Some(mine), Some(theirs)) => mine.merge(theirs),
            (None, Some(theirs)) => self.response = Some(theirs.clone()),
            (_, None) => {}
        }
    }

    /// Sets everything back to zero and keeps the histogram's memory.
    pub fn clear(&mut self) {
        let mut response = self.response.take();
        if let Some(response) = &mut response {
            response.clear();
        }
        *self = Self { response, ..Self::default() };
    }

    /// Forgets the transactions, not the connections.
    pub fn clear_work(&mut self) {
        let (connections, failed, lost) = (self.connections, self.failed, self.lost);
        self.clear();
        (self.connections, self.failed, self.lost) = (connections, failed, lost);
    }
}

/// The endpoints of a run, where there were several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndpointsRecord {
    /// How clients were dealt: `even`, `random`, `nearest` or `first`.
    pub balance: String,
    /// Where the endpoints were learnt from; none where they were given.
    pub discovered_by: Option<String>,
    /// Endpoints that were learnt of and not used, each with the reason.
    pub left_out: Vec<String>,
    /// Each endpoint.
    pub each: Vec<EndpointRecord>,
}

/// One endpoint in the measured interval; connections made before it for its
/// transactions count as well.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndpointRecord {
    /// Host name, address, or folder of a Unix socket.
    pub host: String,
    /// Port number.
    pub port: u16,
    /// Median time of an empty query before the run, µs; none where it was
    /// not measured or the endpoint was not there.
    pub round_trip_us: Option<u64>,
    /// Connections made.
    pub connections: u64,
    /// Attempts that failed.
    pub connections_failed: u64,
    /// Connections that ended while their client had not.
    pub connections_lost: u64,
    /// Transactions committed.
    pub committed: u64,
    /// Transactions that failed.
    pub failed: u64,
    /// Transactions of unknown outcome.
    pub unknown: u64,
    /// Transactions committed per second.
    pub tps: f64,
    /// Response times of the committed.
    pub response: LatencyRecord,
}

impl EndpointRecord {
    /// From the counters of a measured interval of `seconds`.
    #[must_use]
    pub fn new(
        host: String,
        port: u16,
        round_trip_us: Option<u64>,
        tally: &EndpointTally,
        seconds: f64,
    ) -> Self {
        let tps = if seconds > 0.0 { tally.committed as f64 / seconds } else { 0.0 };
        let response = tally.response.as_ref().map(Latencies::to_record);
        Self {
            host,
            port,
            round_trip_us,
            connections: tally.connections,
            connections_failed: tally.failed,
            connections_lost: tally.lost,
            committed: tally.committed,
            failed: tally.transactions_failed,
            unknown: tally.unknown,
            tps,
            response: response.unwrap_or_else(|| Latencies::new().to_record()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Merging adds every counter, and clearing the work keeps connections.
    #[test]
    fn merge_and_clear() {
        let mut one = EndpointTally::new(true);
        one.commit(100);
        one.connections = 2;
        let other = EndpointTally {
            connections: 1,
            failed: 3,
            lost: 4,
            committed: 5,
            transactions_failed: 6,
            unknown: 7,
            response: None,
        };
        one.merge(&other);
        let record = EndpointRecord::new("h".to_owned(), 5432, Some(9), &one, 2.0);
        assert_eq!((record.connections, record.connections_failed), (3, 3));
        assert_eq!((record.committed, record.failed, record.unknown), (6, 6, 7));
        assert_eq!((record.tps, record.response.count, record.connections_lost), (3.0, 1, 4));
        one.clear_work();
        assert_eq!((one.connections, one.failed, one.lost, one.committed), (3, 3, 4, 0));
        one.clear();
        assert_eq!(one, EndpointTally::new(true));
    }
}
