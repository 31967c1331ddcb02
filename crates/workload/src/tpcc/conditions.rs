//! The twelve consistency conditions of the standard (clause 3.3.2), each as a
//! statement that counts its violations. What else a correct implementation
//! keeps is in [`super::invariants`].
//!
//! Nulls are compared with `IS DISTINCT FROM` or replaced: with `<>` a missing
//! row would pass unseen. All amounts are exact numerics. No statement needs
//! a temporary table, a lock, or more than one answered row.

use super::{Profile, invariants};
use crate::condition::{Asked, Condition};

/// Counts the rows of a query.
fn counting(violations: &str) -> String {
    format!("SELECT count(*) FROM ({violations}) violations")
}

fn each_run(name: &'static str, title: &'static str, violations: &str) -> Condition {
    Condition { name, title, asked: Asked::EachRun, sql: counting(violations) }
}

/// A condition that only a full audit asks, by a query of its violations.
pub(super) fn full(name: &'static str, title: &'static str, violations: &str) -> Condition {
    Condition { name, title, asked: Asked::FullAudit, sql: counting(violations) }
}

/// The conditions that hold of a profile's tables at any time.
///
/// HammerDB's population breaks 10 and 12 before the first transaction, and
/// its transactions keep fewer counters, so these and the further rules are
/// asked of the faithful profile only.
pub(super) fn conditions(profile: Profile) -> Vec<Condition> {
    let mut all = vec![one(), two(), three(), four(), five(), six(), seven(), eight(), nine()];
    let is_faithful = profile == Profile::Faithful;
    all.extend(is_faithful.then(ten));
    all.push(eleven());
    all.extend(is_faithful.then(twelve));
    if is_faithful {
        all.extend(invariants::conditions());
    }
    all
}

fn one() -> Condition {
    each_run(
        "tpcc 1",
        "3.3.2.1: w_ytd is the sum of d_ytd of the warehouse's districts",
        "SELECT w_id FROM warehouse LEFT JOIN (SELECT d_w_id, sum(d_ytd) AS ytd FROM district \
         GROUP BY d_w_id) d ON d_w_id = w_id WHERE w_ytd IS DISTINCT FROM d.ytd",
    )
}

fn two() -> Condition {
    each_run(
        "tpcc 2",
        "3.3.2.2: d_next_o_id - 1 is the largest o_id and the largest no_o_id of the district",
        "SELECT d_w_id FROM district \
         LEFT JOIN (SELECT o_w_id, o_d_id, max(o_id) AS last FROM orders GROUP BY o_w_id, o_d_id) \
         o ON o_w_id = d_w_id AND o_d_id = d_id \
         LEFT JOIN (SELECT no_w_id, no_d_id, max(no_o_id) AS last FROM new_order \
         GROUP BY no_w_id, no_d_id) n ON no_w_id = d_w_id AND no_d_id = d_id \
         WHERE d_next_o_id - 1 IS DISTINCT FROM o.last \
         OR d_next_o_id - 1 <> coalesce(n.last, d_next_o_id - 1)",
    )
}

fn three() -> Condition {
    each_run(
        "tpcc 3",
        "3.3.2.3: the district's numbers in new_order have no gap",
        "SELECT no_w_id FROM new_order GROUP BY no_w_id, no_d_id \
         HAVING max(no_o_id) - min(no_o_id) + 1 <> count(*)",
    )
}

fn four() -> Condition {
    each_run(
        "tpcc 4",
        "3.3.2.4: the sum of o_ol_cnt is the number of order lines of the district",
        "SELECT o_w_id FROM (SELECT o_w_id, o_d_id, sum(o_ol_cnt) AS lines FROM orders \
         GROUP BY o_w_id, o_d_id) o FULL JOIN (SELECT ol_w_id, ol_d_id, count(*) AS lines \
         FROM order_line GROUP BY ol_w_id, ol_d_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id \
         WHERE o.lines IS DISTINCT FROM l.lines",
    )
}

fn five() -> Condition {
    full(
        "tpcc 5",
        "3.3.2.5: an order has no carrier exactly if it is in new_order",
        "SELECT o_w_id FROM (SELECT o_w_id, o_d_id, o_id FROM orders WHERE o_carrier_id IS NULL) o \
         FULL JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id \
         WHERE o_w_id IS NULL OR no_w_id IS NULL",
    )
}

fn six() -> Condition {
    full(
        "tpcc 6",
        "3.3.2.6: o_ol_cnt is the number of lines of the order",
        "SELECT o_w_id FROM orders LEFT JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, count(*) AS lines \
         FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) l \
         ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id \
         WHERE o_ol_cnt <> coalesce(l.lines, 0)",
    )
}

fn seven() -> Condition {
    full(
        "tpcc 7",
        "3.3.2.7: a line has no delivery date exactly if its order has no carrier",
        "SELECT ol_w_id FROM order_line \
         JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id \
         WHERE (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL)",
    )
}

fn eight() -> Condition {
    full(
        "tpcc 8",
        "3.3.2.8: w_ytd is the sum of h_amount of the warehouse",
        "SELECT w_id FROM warehouse LEFT JOIN (SELECT h_w_id, sum(h_amount) AS paid FROM history \
         GROUP BY h_w_id) h ON h_w_id = w_id WHERE w_ytd IS DISTINCT FROM h.paid",
    )
}

fn nine() -> Condition {
    full(
        "tpcc 9",
        "3.3.2.9: d_ytd is the sum of h_amount of the district",
        "SELECT d_w_id FROM district LEFT JOIN (SELECT h_w_id, h_d_id, sum(h_amount) AS paid \
         FROM history GROUP BY h_w_id, h_d_id) h ON h_w_id = d_w_id AND h_d_id = d_id \
         WHERE d_ytd IS DISTINCT FROM h.paid",
    )
}

/// What each customer has been delivered, by amounts.
const DELIVERED: &str = "\
    (SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) AS amount FROM orders JOIN order_line \
    ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id \
    WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) d \
    ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id";

/// What each customer has paid.
pub(super) const PAID: &str = "\
    (SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) AS amount, count(*) AS payments \
    FROM history GROUP BY h_c_w_id, h_c_d_id, h_c_id) p \
    ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id";

fn ten() -> Condition {
    full(
        "tpcc 10",
        "3.3.2.10: c_balance is the sum of delivered lines minus the sum of payments",
        &format!(
            "SELECT c_id FROM customer LEFT JOIN {DELIVERED} LEFT JOIN {PAID} \
             WHERE c_balance <> coalesce(d.amount, 0) - coalesce(p.amount, 0)"
        ),
    )
}

/// The clause speaks of freshly loaded tables. Deliveries since then are
/// counted in, so that it can be asked at any time.
fn eleven() -> Condition {
    full(
        "tpcc 11",
        "3.3.2.11: orders minus rows of new_order are 2100 and those delivered since the load",
        "SELECT d_w_id FROM district \
         LEFT JOIN (SELECT o_w_id, o_d_id, count(*) AS n, \
         sum(CASE WHEN o_id > 2100 AND o_carrier_id IS NOT NULL THEN 1 ELSE 0 END) AS delivered \
         FROM orders GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id \
         LEFT JOIN (SELECT no_w_id, no_d_id, count(*) AS n FROM new_order \
         GROUP BY no_w_id, no_d_id) q ON no_w_id = d_w_id AND no_d_id = d_id \
         WHERE o.n - coalesce(q.n, 0) IS DISTINCT FROM 2100 + o.delivered",
    )
}

fn twelve() -> Condition {
    full(
        "tpcc 12",
        "3.3.2.12: c_balance plus c_ytd_payment is the sum of delivered lines",
        &format!(
            "SELECT c_id FROM customer LEFT JOIN {DELIVERED} \
             WHERE c_balance + c_ytd_payment <> coalesce(d.amount, 0)"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first four are asked after each run, and none is there twice.
    #[test]
    fn four_are_asked_after_each_run() {
        let all = conditions(Profile::Faithful);
        let mut names: Vec<&str> = all.iter().map(|condition| condition.name).collect();
        for number in 1..=12 {
            assert!(names.contains(&format!("tpcc {number}").as_str()), "{number}");
        }
        let asked: Vec<&str> = all
            .iter()
            .filter(|condition| condition.asked == Asked::EachRun)
            .map(|condition| condition.name)
            .collect();
        assert_eq!(asked, ["tpcc 1", "tpcc 2", "tpcc 3", "tpcc 4"]);
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    /// What HammerDB's population breaks from the start is not asked of it.
    #[test]
    fn hammerdbs_tables_are_asked_for_less() {
        let names: Vec<&str> =
            conditions(Profile::Hammerdb).iter().map(|condition| condition.name).collect();
        assert!(!names.contains(&"tpcc 10") && !names.contains(&"tpcc 12"));
        assert_eq!(names.len(), 10);
    }
}
