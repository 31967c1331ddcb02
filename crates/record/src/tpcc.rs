//! The figures of an order-entry run, derived from TPC-C: new orders a minute,
//! the mix, response times against their limits, and what is odd about them.
//!
//! Values and rules; where they come from is said by whoever fills them in.
//! Nothing here is a result in the sense of the TPC.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// New orders a minute that ten terminals with the standard's keying and think
/// times can make at most (clause 4.2.2's ceiling for one warehouse).
pub const NOPM_MAX_PER_WAREHOUSE: f64 = 12.86;

/// Terminals of a warehouse (clause 4.2.2).
pub const TERMINALS_PER_WAREHOUSE: f64 = 10.0;

/// All transactions of a run for one new order: 23 cards for 10, and of the
/// faithful profile one in a hundred new orders is rolled back.
const TPM_PER_NOPM: f64 = 23.0 / 9.9;
const TPM_PER_NOPM_HAMMERDB: f64 = 23.0 / 10.0;

/// The ratio may be so far off before something else must have run. Sessions
/// hand in their statistics up to a second late (PostgreSQL 15 and later), which
/// is 3 % of the shortest time watched.
const RATIO_TOLERANCE: f64 = 0.03;

/// The clients' and the database's count of new orders may be so far apart.
const COUNT_TOLERANCE: f64 = 0.05;

/// Below this many new orders shares say nothing (clause 9.2.2.5's audits).
const NEW_ORDERS_MIN: u64 = 10_000;

/// Rates of a shorter time vary more than the tolerances.
const WATCHED_S_MIN: f64 = 30.0;

/// A quantile that is not above its limit needs some transactions to be one.
const TYPE_MIN: u64 = 20;

/// The figures of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TpccRecord {
    /// What it is, and what it is not.
    pub label: String,
    /// `faithful` or `hammerdb`.
    pub profile: String,
    /// Warehouses.
    pub warehouses: u64,
    /// New orders that were acknowledged as committed, a minute.
    pub nopm: f64,
    /// The same from the growth of `sum(d_next_o_id)`, which counts those of
    /// everybody; none where it could not be read twice.
    pub nopm_database: Option<f64>,
    /// Transactions that ended as they should, rollbacks on purpose included,
    /// a minute.
    pub tpm: f64,
    /// Transactions of the whole server, by its own statistics, a minute; none
    /// where it has none, or is one of several.
    pub tpm_database: Option<f64>,
    /// Share of the most new orders that the think times allow ten terminals to
    /// each warehouse ([`NOPM_MAX_PER_WAREHOUSE`]); none at full speed.
    pub efficiency_percent: Option<f64>,
    /// The same of what the run's own clients can make at most
    /// ([`nopm_max_of_clients`]); none where there are ten to each warehouse.
    #[serde(default)]
    pub efficiency_of_clients_percent: Option<f64>,
    /// New orders that were rolled back on purpose.
    pub rolled_back: u64,
    /// The types in the standard's order.
    pub types: Vec<TpccType>,
    /// What the terminals counted of committed transactions.
    pub counters: BTreeMap<String, u64>,
    /// What is not as it should be, one sentence each.
    pub alarms: Vec<String>,
}

/// One type of transaction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TpccType {
    /// Its name.
    pub name: String,
    /// Committed or rolled back on purpose.
    pub completed: u64,
    /// Share of all completed ones.
    pub share_percent: f64,
    /// The least share that the standard allows; 0 where it demands none.
    pub share_percent_min: f64,
    /// 90th percentile of their response times, µs.
    pub p90_us: u64,
    /// What it may be at most, µs; of a delivery that of its deferred part,
    /// which is the part that is executed (clauses 2.7.2 and 5.2.5).
    pub p90_us_max: u64,
}

/// What the judgement needs beside the figures themselves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// The database's figures are of so many seconds of the measured interval;
    /// of a short time they say nothing about the whole.
    pub watched_s: f64,
    /// New orders a minute that the clients saw committed in those seconds.
    pub watched_nopm: f64,
    /// Clients of the run.
    pub clients: u64,
    /// Tries that were rolled back because of an error: the server counts
    /// them, too.
    pub tries_lost: u64,
}

/// New orders a minute that the terminals of so many warehouses can make at
/// most.
#[must_use]
pub fn nopm_max(warehouses: u64) -> f64 {
    NOPM_MAX_PER_WAREHOUSE * warehouses as f64
}

/// New orders a minute that so many clients with think times can make at most.
#[must_use]
pub fn nopm_max_of_clients(clients: u64) -> f64 {
    NOPM_MAX_PER_WAREHOUSE / TERMINALS_PER_WAREHOUSE * clients as f64
}

/// So many clients are ten to each of so many warehouses.
#[must_use]
pub fn is_ten_to_each(clients: u64, warehouses: u64) -> bool {
    clients as f64 == TERMINALS_PER_WAREHOUSE * warehouses as f64
}

impl TpccRecord {
    /// Transactions for one new order, by the database's figures where there
    /// are any.
    #[must_use]
    pub fn tpm_per_nopm(&self) -> Option<f64> {
        let (tpm, nopm) = match (self.tpm_database, self.nopm_database) {
            (Some(tpm), Some(nopm)) => (tpm, nopm),
            _ => (self.tpm, self.nopm),
        };
        (nopm > 0.0).then(|| tpm / nopm)
    }

    /// Fills in [`TpccRecord::alarms`].
    pub fn judge(&mut self, seen: Seen) {
        let mut alarms = Vec::new();
        self.judge_clients(seen.clients, &mut alarms);
        self.judge_mix(&mut alarms);
        if seen.watched_s >= WATCHED_S_MIN {
            self.judge_counts(seen, &mut alarms);
        }
        let skips = self.counters.get("deliveries_with_skips").copied().unwrap_or(0);
        let deliveries = self.types.get(3).map_or(0, |kind| kind.completed);
        if skips > 1 && skips * 100 > deliveries {
            alarms.push(format!("{skips} of {deliveries} deliveries found a district empty"));
        }
        self.alarms = alarms;
    }

    /// The ceiling of a warehouse is that of ten terminals.
    fn judge_clients(&self, clients: u64, alarms: &mut Vec<String>) {
        if self.efficiency_percent.is_some() && !is_ten_to_each(clients, self.warehouses) {
            alarms.push(format!(
                "{clients} clients at scale {} instead of {}, ten to each warehouse: of the {:.1} \
                 new orders a minute that efficiency is a share of, so many can make {:.1}",
                self.warehouses,
                TERMINALS_PER_WAREHOUSE * self.warehouses as f64,
                nopm_max(self.warehouses),
                nopm_max_of_clients(clients)
            ));
        }
    }

    fn judge_mix(&self, alarms: &mut Vec<String>) {
        let new_orders = self.types.first().map_or(0, |kind| kind.completed);
        let is_faithful = self.profile == "faithful";
        for kind in &self.types {
            if kind.completed >= TYPE_MIN && kind.p90_us > kind.p90_us_max {
                alarms.push(format!(
                    "{}: the 90th percentile is {:.1} s, above {:.0} s",
                    kind.name,
                    kind.p90_us as f64 / 1e6,
                    kind.p90_us_max as f64 / 1e6
                ));
            }
            // HammerDB draws without a deck.
            if is_faithful
                && new_orders >= NEW_ORDERS_MIN
                && kind.share_percent < kind.share_percent_min
            {
                alarms.push(format!(
                    "{}: {:.2} % of the mix, below {:.0} %",
                    kind.name, kind.share_percent, kind.share_percent_min
                ));
            }
        }
        if new_orders >= NEW_ORDERS_MIN && is_faithful {
            let percent = self.rolled_back as f64 * 100.0 / new_orders as f64;
            // The standard's range, and what chance alone makes of fewer.
            let chance = 4.0 * (0.01 * 0.99 / new_orders as f64).sqrt() * 100.0;
            if (percent - 1.0).abs() > chance.max(0.1) {
                alarms.push(format!("{percent:.2} % of new orders rolled back instead of 1 %"));
            }
        }
    }

    /// All transactions for one new order that the server should have counted.
    fn ratio_expected(&self, tries_lost: u64) -> f64 {
        let new_orders = self.types.first().map_or(0, |kind| kind.completed);
        let committed = new_orders.saturating_sub(self.rolled_back).max(1);
        let nominal = if self.profile == "faithful" { TPM_PER_NOPM } else { TPM_PER_NOPM_HAMMERDB };
        nominal + tries_lost as f64 / committed as f64
    }

    fn judge_counts(&self, seen: Seen, alarms: &mut Vec<String>) {
        // Of few the ends of the time watched are too large a part.
        if self.types.first().is_none_or(|kind| kind.completed < NEW_ORDERS_MIN) {
            return;
        }
        if let Some(database) = self.nopm_database
            && seen.watched_nopm > 0.0
            && (database / seen.watched_nopm - 1.0).abs() > COUNT_TOLERANCE
        {
            alarms.push(format!(
                "the tables grew by {database:.0} new orders a minute, the clients saw {:.0} of \
                 them: somebody else wrote",
                seen.watched_nopm
            ));
        }
        let expected = self.ratio_expected(seen.tries_lost);
        if let Some(ratio) = self.tpm_per_nopm()
            && self.tpm_database.is_some()
            && (ratio / expected - 1.0).abs() > RATIO_TOLERANCE
        {
            let why = if ratio > expected {
                "somebody else's are among them"
            } else {
                "some are missing; another server ran them, or its statistics lost them"
            };
            alarms.push(format!(
                "the server counted {ratio:.2} transactions for one new order instead of \
                 {expected:.2}: {why}"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> TpccRecord {
        let kind = |name: &str, completed: u64, share_percent: f64, min: f64| TpccType {
            name: name.to_owned(),
            completed,
            share_percent,
            share_percent_min: min,
            p90_us: 4_000,
            p90_us_max: 5_000_000,
        };
        TpccRecord {
            label: "derived from TPC-C".to_owned(),
            profile: "faithful".to_owned(),
            warehouses: 10,
            nopm: 9_900.0,
            nopm_database: Some(9_910.0),
            tpm: 23_000.0,
            tpm_database: Some(23_100.0),
            efficiency_percent: None,
            efficiency_of_clients_percent: None,
            rolled_back: 100,
            types: vec![
                kind("new order", 10_000, 43.48, 0.0),
                kind("payment", 10_000, 43.48, 43.0),
                kind("order status", 1_000, 4.35, 4.0),
                kind("delivery", 1_000, 4.35, 4.0),
                kind("stock level", 1_000, 4.35, 4.0),
            ],
            counters: BTreeMap::new(),
            alarms: Vec::new(),
        }
    }

    const SEEN: Seen = Seen { watched_s: 60.0, watched_nopm: 9_900.0, clients: 16, tries_lost: 0 };

    fn alarms_of(seen: Seen, change: impl FnOnce(&mut TpccRecord)) -> Vec<String> {
        let mut record = record();
        change(&mut record);
        record.judge(seen);
        record.alarms
    }

    fn alarms(change: impl FnOnce(&mut TpccRecord)) -> Vec<String> {
        alarms_of(SEEN, change)
    }

    /// Assertion 24, the alarms: nothing is said of a run that is as it should
    /// be, and one thing of each that is not.
    #[test]
    fn a24_alarms() {
        assert_eq!(alarms(|_| {}), Vec::<String>::new());
        let one = |change: fn(&mut TpccRecord), word: &str| {
            let said = alarms(change);
            assert_eq!(said.len(), 1, "{said:?}");
            assert!(said[0].contains(word), "{said:?}");
        };
        one(|record| record.types[1].share_percent = 42.9, "payment: 42.90 % of the mix");
        one(|record| record.types[4].p90_us = 5_000_001, "stock level: the 90th percentile");
        one(|record| record.rolled_back = 160, "1.60 % of new orders");
        one(|record| record.tpm_database = Some(30_000.0), "instead of 2.32: somebody else's");
        one(|record| record.tpm_database = Some(23_800.0), "2.40 transactions for one");
        one(|record| record.tpm_database = Some(11_500.0), "instead of 2.32: some are missing");
        one(
            |record| {
                record.profile = "hammerdb".to_owned();
                record.tpm_database = Some(24_000.0);
            },
            "2.42 transactions for one new order instead of 2.30",
        );
        one(
            |record| {
                record.nopm_database = Some(12_000.0);
                record.tpm_database = Some(27_900.0);
            },
            "somebody else wrote",
        );
        one(
            |record| {
                record.counters.insert("deliveries_with_skips".to_owned(), 11);
            },
            "11 of 1000 deliveries",
        );
        // Of a short time the server's figures say nothing.
        let short = Seen { watched_s: 29.0, ..SEEN };
        assert_eq!(alarms_of(short, |r| r.tpm_database = Some(30_000.0)), Vec::<String>::new());
        // Too few to say anything of shares.
        let few = alarms(|record| {
            record.rolled_back = 0;
            record.nopm_database = Some(12_000.0);
            record.types.iter_mut().for_each(|kind| kind.completed /= 10);
        });
        assert_eq!(few, Vec::<String>::new());
    }

    /// Tries that ended in an error are rolled back and counted by the server:
    /// known ones are nobody else's, unknown ones are told.
    #[test]
    fn lost_tries_are_among_the_servers_transactions() {
        let busy = |record: &mut TpccRecord| record.tpm_database = Some(25_000.0);
        // 2000 tries for 9900 new orders.
        let tried = Seen { tries_lost: 2_000, ..SEEN };
        assert_eq!(alarms_of(tried, busy), Vec::<String>::new());
        assert_eq!(alarms_of(SEEN, busy).len(), 1);
    }

    /// Efficiency is a share of what ten terminals for each warehouse can make;
    /// of fewer or more clients it is told how much those can make.
    #[test]
    fn efficiency_is_of_ten_clients_to_a_warehouse() {
        assert!((nopm_max(10) - 128.6).abs() < 1e-9);
        assert!((nopm_max_of_clients(100) - nopm_max(10)).abs() < 1e-9);
        let paced = |record: &mut TpccRecord| record.efficiency_percent = Some(97.0);
        let of = |clients| alarms_of(Seen { clients, ..SEEN }, paced);
        assert_eq!(of(100), Vec::<String>::new());
        for (clients, most) in [(50, "64.3"), (1, "1.3"), (101, "129.9")] {
            let [told] = of(clients).try_into().unwrap();
            let wanted = format!("{clients} clients at scale 10 instead of 100");
            assert!(told.contains(&wanted), "{told}");
            assert!(told.contains("of the 128.6") && told.contains(most), "{told}");
        }
        assert_eq!(alarms(|_| {}), Vec::<String>::new(), "without think times nothing is told");
    }
}
