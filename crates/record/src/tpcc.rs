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

/// All transactions of a run for one new order: 23 cards for 10, and one in a
/// hundred new orders is rolled back.
const TPM_PER_NOPM: f64 = 2.32;

/// The ratio may be so far off before something else must have run.
const RATIO_TOLERANCE: f64 = 0.06;

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
    /// Transactions of the whole server, by its own statistics, a minute.
    pub tpm_database: Option<f64>,
    /// Share of the most new orders that the think times allow; none at full
    /// speed.
    pub efficiency_percent: Option<f64>,
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
    /// What it may be at most, µs.
    pub p90_us_max: u64,
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

    /// Fills in [`TpccRecord::alarms`]. The database's figures are of
    /// `watched_s` seconds of the measured interval; of a short time they say
    /// nothing about the whole.
    pub fn judge(&mut self, watched_s: f64) {
        let mut alarms = Vec::new();
        self.judge_mix(&mut alarms);
        if watched_s >= WATCHED_S_MIN {
            self.judge_counts(&mut alarms);
        }
        let skips = self.counters.get("deliveries_with_skips").copied().unwrap_or(0);
        let deliveries = self.types.get(3).map_or(0, |kind| kind.completed);
        if skips > 1 && skips * 100 > deliveries {
            alarms.push(format!("{skips} of {deliveries} deliveries found a district empty"));
        }
        self.alarms = alarms;
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

    fn judge_counts(&self, alarms: &mut Vec<String>) {
        if let Some(database) = self.nopm_database
            && self.nopm > 0.0
            && (database / self.nopm - 1.0).abs() > COUNT_TOLERANCE
        {
            alarms.push(format!(
                "the tables grew by {database:.0} new orders a minute, the clients saw {:.0}: \
                 somebody else wrote",
                self.nopm
            ));
        }
        let enough = self.types.first().is_some_and(|kind| kind.completed >= NEW_ORDERS_MIN);
        if let Some(ratio) = self.tpm_per_nopm()
            && enough
            && self.tpm_database.is_some()
            && (ratio / TPM_PER_NOPM - 1.0).abs() > RATIO_TOLERANCE
        {
            alarms.push(format!(
                "{ratio:.2} transactions for one new order instead of {TPM_PER_NOPM}: errors, or \
                 somebody else's transactions"
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

    fn alarms(change: impl FnOnce(&mut TpccRecord)) -> Vec<String> {
        let mut record = record();
        change(&mut record);
        record.judge(60.0);
        record.alarms
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
        one(|record| record.tpm_database = Some(30_000.0), "3.03 transactions for one");
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
        // Too few to say anything of shares.
        let few = alarms(|record| {
            record.rolled_back = 0;
            record.types.iter_mut().for_each(|kind| kind.completed /= 10);
        });
        assert_eq!(few, Vec::<String>::new());
    }
}
