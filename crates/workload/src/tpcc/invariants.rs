//! What a correct implementation keeps beyond the standard's twelve
//! conditions: stock, counters and lines follow from the orders and payments
//! that changed them, and no row refers to one that is not there.
//!
//! Tables that are spread by warehouse are joined by their warehouse, or with
//! a grouped part of the other: joins of other kinds are not had everywhere.

use super::conditions::{PAID, full};
use super::population::stock_quantity;
use super::shapes::{CROSSING, FOREIGN_KEYS, SHAPES};
use super::{ITEMS, Loaded};
use crate::condition::{Asked, Condition};

/// The rules that need to know nothing of the load.
pub(super) fn conditions() -> Vec<Condition> {
    let mut all = vec![stock(), customers(), lines(), new_lines()];
    all.extend(references());
    all
}

fn stock() -> Condition {
    full(
        "tpcc stock",
        "s_quantity is 10 to 100; s_ytd, s_order_cnt and s_remote_cnt are those of the lines",
        "SELECT s_i_id FROM stock LEFT JOIN (SELECT ol_supply_w_id, ol_i_id, \
         sum(ol_quantity) AS ytd, count(*) AS orders, \
         sum(CASE WHEN ol_supply_w_id <> ol_w_id THEN 1 ELSE 0 END) AS remote \
         FROM order_line WHERE ol_o_id > 3000 GROUP BY ol_supply_w_id, ol_i_id) l \
         ON ol_supply_w_id = s_w_id AND ol_i_id = s_i_id \
         WHERE s_quantity NOT BETWEEN 10 AND 100 OR s_ytd <> coalesce(l.ytd, 0) \
         OR s_order_cnt <> coalesce(l.orders, 0) OR s_remote_cnt <> coalesce(l.remote, 0)",
    )
}

fn customers() -> Condition {
    full(
        "tpcc customers",
        "c_payment_cnt and c_ytd_payment are those of the history, c_delivery_cnt of the orders",
        &format!(
            "SELECT c_id FROM customer LEFT JOIN {PAID} \
             LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, count(*) AS deliveries FROM orders \
             WHERE o_id > 2100 AND o_carrier_id IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) o \
             ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id \
             WHERE c_payment_cnt <> coalesce(p.payments, 0) \
             OR c_ytd_payment <> coalesce(p.amount, 0) \
             OR c_delivery_cnt <> coalesce(o.deliveries, 0)"
        ),
    )
}

fn lines() -> Condition {
    full(
        "tpcc lines",
        "each line has its order, lines count from 1, and o_all_local tells of their supply",
        "SELECT coalesce(o_id, ol_o_id) FROM orders FULL JOIN (SELECT ol_w_id, ol_d_id, \
         ol_o_id, min(ol_number) AS first, max(ol_number) AS last, count(*) AS n, \
         sum(CASE WHEN ol_supply_w_id <> ol_w_id THEN 1 ELSE 0 END) AS remote \
         FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) l \
         ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id \
         WHERE o_id IS NULL OR l.n IS NULL OR l.first <> 1 OR l.last <> l.n \
         OR (o_all_local = 1) <> (l.remote = 0)",
    )
}

/// What a new order writes into its lines.
fn new_lines() -> Condition {
    let texts: String = (1..=10).map(|d| format!("WHEN {d} THEN s_dist_{d:02} ")).collect();
    let text = format!("CASE ol_d_id {texts}END");
    full(
        "tpcc new lines",
        "lines since the load cost quantity times price and have the text of stock and district",
        &format!(
            "SELECT ol_o_id FROM order_line JOIN item ON i_id = ol_i_id \
             WHERE ol_o_id > 3000 AND ol_amount <> ol_quantity * i_price \
             UNION ALL SELECT ol_o_id FROM order_line JOIN stock ON s_w_id = ol_w_id \
             AND s_i_id = ol_i_id WHERE ol_o_id > 3000 AND ol_supply_w_id = ol_w_id \
             AND ol_dist_info IS DISTINCT FROM {text} \
             UNION ALL SELECT s_i_id FROM stock JOIN (SELECT DISTINCT ol_supply_w_id, ol_i_id, \
             ol_d_id, ol_dist_info FROM order_line WHERE ol_o_id > 3000 \
             AND ol_supply_w_id <> ol_w_id) l ON s_w_id = ol_supply_w_id AND s_i_id = ol_i_id \
             WHERE ol_dist_info IS DISTINCT FROM {text}"
        ),
    )
}

/// Nine of the ten references, for databases that do not enforce them; that of
/// a line to its order is in [`lines`]. By foreign key the rule's name, and what
/// must hold.
const REFERENCES: [(&str, &str, &str); 9] = [
    ("order_line_stock", "tpcc stock of lines", "each line's stock is there"),
    ("stock_item", "tpcc items of stock", "each stock's item is there"),
    ("stock_warehouse", "tpcc warehouses of stock", "each stock's warehouse is there"),
    ("new_order_order", "tpcc orders of new orders", "each row of new_order has its order"),
    ("orders_customer", "tpcc customers of orders", "each order's customer is there"),
    ("history_customer", "tpcc customers of payments", "each payment's customer is there"),
    ("history_district", "tpcc districts of payments", "each payment's district is there"),
    ("customer_district", "tpcc districts of customers", "each customer's district is there"),
    ("district_warehouse", "tpcc warehouses of districts", "each district's warehouse is there"),
];

/// A rule for each: one that does not hold is named, and several connections
/// can share them.
fn references() -> impl Iterator<Item = Condition> {
    REFERENCES.into_iter().filter_map(|(key, name, title)| {
        let (_, table, columns, parent) =
            FOREIGN_KEYS.iter().find(|(foreign, ..)| *foreign == key)?;
        let sql = orphans(table, columns, parent, CROSSING.contains(&key));
        Some(Condition { name, title, asked: Asked::FullAudit, sql })
    })
}

/// Counts what refers to nothing.
fn orphans(table: &str, columns: &str, parent: &'static str, crosses: bool) -> String {
    let (parent, keys) = parent_of(parent);
    let pairs: Vec<String> = columns
        .split(", ")
        .zip(&keys)
        .map(|(column, key)| format!("c.{column} = p.{key}"))
        .collect();
    let on = pairs.join(" AND ");
    if crosses {
        let distinct = format!("(SELECT DISTINCT {columns} FROM {table})");
        format!(
            "SELECT (SELECT count(*) FROM {distinct} c) - \
             (SELECT count(*) FROM {parent} p JOIN {distinct} c ON {on})"
        )
    } else {
        let key = &keys[0];
        format!("SELECT count(*) FROM {table} c LEFT JOIN {parent} p ON {on} WHERE p.{key} IS NULL")
    }
}

/// What a foreign key refers to: the table, and its columns where they are
/// named, else its key.
fn parent_of(parent: &'static str) -> (&'static str, Vec<&'static str>) {
    if let Some((table, columns)) = parent.split_once(" (") {
        return (table, columns.trim_end_matches(')').split(", ").collect());
    }
    let shape = SHAPES.iter().find(|shape| shape.name == parent);
    (parent, shape.map(|shape| shape.key.to_vec()).unwrap_or_default())
}

/// Stock falls by what is ordered, and rises by 91 when it runs low: so the
/// rest of `s_quantity + s_ytd` by 91 stays what it was at the load. All rests
/// are summed up, each times its row's [`weight`]. Rows that are off by
/// multiples of 91 are unseen; so are several whose differences, weighted, come
/// to nothing, which is one chance in a million and not what errors do.
pub(super) fn stock_since_load(loaded: &Loaded) -> Condition {
    let expected: u128 = (0..loaded.warehouses.saturating_mul(ITEMS))
        .map(|row| {
            let rest = stock_quantity(loaded.seed, row) % 91;
            u128::from(rest) * u128::from(weight(row / ITEMS + 1, row % ITEMS + 1))
        })
        .sum();
    Condition {
        name: "tpcc stock since the load",
        title: "s_quantity fell by s_ytd since the load, but for multiples of 91",
        asked: Asked::FullAudit,
        sql: format!(
            "SELECT CASE WHEN sum(rest * (h * h % {PRIME} + 1)) = {expected} THEN 0 ELSE 1 END \
             FROM (SELECT (s_quantity + s_ytd::bigint) % 91 AS rest, \
             (s_w_id::bigint * {W_FACTOR} + s_i_id::bigint * {I_FACTOR}) % {PRIME} AS h \
             FROM stock) s"
        ),
    }
}

/// The weights are below this prime, and their squares far below 63 bits.
const PRIME: u64 = 1_000_003;
const W_FACTOR: u64 = 7919;
const I_FACTOR: u64 = 104_729;

/// The weight of a stock row: made of both parts of its key, never 0, and of a
/// square, so that neither equal and opposite differences of two rows nor those
/// of four at the corners of a rectangle (two items in two warehouses) cancel.
const fn weight(warehouse: u64, item: u64) -> u64 {
    let hash = (warehouse * W_FACTOR + item * I_FACTOR) % PRIME;
    hash * hash % PRIME + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every reference but that of a line to its order is asked, each by itself,
    /// with the columns of both sides.
    #[test]
    fn references_are_the_standards() {
        let all: Vec<Condition> = references().collect();
        assert_eq!(all.len(), FOREIGN_KEYS.len() - 1);
        let keys: Vec<&str> = REFERENCES.iter().map(|(key, ..)| *key).collect();
        let others = FOREIGN_KEYS.iter().filter(|(key, ..)| !keys.contains(key));
        assert_eq!(others.map(|(key, ..)| *key).collect::<Vec<_>>(), ["order_line_order"]);
        let sql = |name: &str| all.iter().find(|one| one.name == name).map(|one| one.sql.as_str());
        assert_eq!(
            sql("tpcc warehouses of districts"),
            Some(
                "SELECT count(*) FROM district c LEFT JOIN warehouse p ON c.d_w_id = p.w_id \
                 WHERE p.w_id IS NULL"
            )
        );
        for (name, part) in [
            ("tpcc items of stock", "FROM stock c LEFT JOIN item p ON c.s_i_id = p.i_id WHERE"),
            (
                "tpcc orders of new orders",
                "new_order c LEFT JOIN orders p ON c.no_w_id = p.o_w_id AND c.no_d_id = p.o_d_id \
                 AND c.no_o_id = p.o_id",
            ),
            ("tpcc stock of lines", "c.ol_supply_w_id = p.s_w_id AND c.ol_i_id = p.s_i_id"),
        ] {
            assert!(sql(name).is_some_and(|sql| sql.contains(part)), "{name}");
        }
    }

    /// Differences of opposite signs do not cancel where a sum by item, or of
    /// a linear hash, would let them: one item in two warehouses, items n and
    /// 2 n, and two items in two warehouses.
    #[test]
    fn opposite_differences_do_not_cancel() {
        let sum = |rows: &[(u64, u64, i64)]| -> i64 {
            rows.iter().map(|(w, i, by)| weight(*w, *i) as i64 * by).sum()
        };
        for i in [1, 9, 777, 49_999] {
            for w in [1, 2, 50, 9999] {
                assert!((1..=PRIME).contains(&weight(w, i)));
                assert_ne!(sum(&[(w, i, 5), (w + 1, i, -5)]), 0, "{w} {i}");
                assert_ne!(sum(&[(w, i, 2), (w, 2 * i, -1)]), 0, "{w} {i}");
                let corners = [(w, i, 5), (w, i + 1, -5), (w + 1, i, -5), (w + 1, i + 1, 5)];
                assert_ne!(sum(&corners), 0, "{w} {i}");
            }
        }
    }
}
