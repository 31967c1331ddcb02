//! What freshly loaded tables must show besides counts and sums of keys, as
//! the last step of a load. Each statement reads one table once.
//!
//! These rules are stricter than the conditions: they hold before the first
//! transaction only.

use super::Profile;
use crate::condition::{Asked, Condition};

fn rule(name: &'static str, title: &'static str, sql: &str) -> Condition {
    Condition { name, title, asked: Asked::EachRun, sql: sql.to_owned() }
}

/// The rules of a fresh load.
pub(super) fn conditions(profile: Profile) -> Vec<Condition> {
    let mut all = vec![
        rule(
            "fresh warehouses",
            "w_ytd is 300000, taxes are at most 20 %, zip codes end with 11111",
            "SELECT count(*) FROM warehouse WHERE w_ytd <> 300000 OR w_tax NOT BETWEEN 0 AND 0.2 \
             OR w_zip NOT LIKE '____11111'",
        ),
        rule(
            "fresh districts",
            "d_ytd is 30000, d_next_o_id is 3001, taxes are at most 20 %",
            "SELECT count(*) FROM district WHERE d_ytd <> 30000 OR d_next_o_id <> 3001 \
             OR d_tax NOT BETWEEN 0 AND 0.2 OR d_zip NOT LIKE '____11111'",
        ),
        rule(
            "fresh stock",
            "s_quantity is 10 to 100, the counters are 0, s_data has 26 to 50 letters",
            "SELECT count(*) FROM stock WHERE s_quantity NOT BETWEEN 10 AND 100 OR s_ytd <> 0 \
             OR s_order_cnt <> 0 OR s_remote_cnt <> 0 OR length(s_data) NOT BETWEEN 25 AND 50",
        ),
        rule(
            "fresh customers",
            "each district has 1000 last names; balances, counters and discounts are the initial",
            "SELECT count(*) FROM (SELECT c_w_id FROM customer GROUP BY c_w_id, c_d_id \
             HAVING count(*) <> 3000 OR count(DISTINCT c_last) <> 1000 \
             OR min(c_balance) <> -10 OR max(c_balance) <> -10 \
             OR min(c_ytd_payment) <> 10 OR max(c_ytd_payment) <> 10 \
             OR min(c_payment_cnt) <> 1 OR max(c_payment_cnt) <> 1 OR max(c_delivery_cnt) <> 0 \
             OR min(c_discount) < 0 OR max(c_discount) > 0.5) d",
        ),
        rule(
            "fresh history",
            "each district has 3000 payments of 10",
            "SELECT count(*) FROM (SELECT h_w_id FROM history GROUP BY h_w_id, h_d_id \
             HAVING count(*) <> 3000 OR min(h_amount) <> 10 OR max(h_amount) <> 10) d",
        ),
        rule(
            "fresh new orders",
            "each district's new orders are 2101 to 3000",
            "SELECT count(*) FROM (SELECT no_w_id FROM new_order GROUP BY no_w_id, no_d_id \
             HAVING count(*) <> 900 OR min(no_o_id) <> 2101 OR max(no_o_id) <> 3000) d",
        ),
    ];
    all.push(orders(profile));
    all.push(lines(profile));
    all.push(items());
    all
}

fn orders(profile: Profile) -> Condition {
    match profile {
        Profile::Faithful => rule(
            "fresh orders",
            "each customer has one order; 900 of a district have no carrier; 5 to 15 lines",
            "SELECT count(*) FROM (SELECT o_w_id FROM orders GROUP BY o_w_id, o_d_id \
             HAVING count(*) <> 3000 OR count(DISTINCT o_c_id) <> 3000 OR min(o_c_id) <> 1 \
             OR max(o_c_id) <> 3000 OR count(o_carrier_id) <> 2100 OR min(o_ol_cnt) <> 5 \
             OR max(o_ol_cnt) <> 15 OR sum(o_ol_cnt) <> 30000 OR min(o_all_local) <> 1 \
             OR max(CASE WHEN o_carrier_id IS NOT NULL THEN o_id END) <> 2100) d",
        ),
        Profile::Hammerdb => rule(
            "fresh orders",
            "900 orders of a district have no carrier; 5 to 15 lines",
            "SELECT count(*) FROM (SELECT o_w_id FROM orders GROUP BY o_w_id, o_d_id \
             HAVING count(*) <> 3000 OR count(o_carrier_id) <> 2100 OR min(o_ol_cnt) <> 5 \
             OR max(o_ol_cnt) <> 15 OR sum(o_ol_cnt) <> 30000 OR min(o_all_local) <> 1) d",
        ),
    }
}

fn lines(profile: Profile) -> Condition {
    match profile {
        Profile::Faithful => rule(
            "fresh lines",
            "lines to 2100 are delivered and of no amount, the others neither; own supply, 5 each",
            "SELECT count(*) FROM order_line WHERE ol_supply_w_id <> ol_w_id OR ol_quantity <> 5 \
             OR ol_i_id NOT BETWEEN 1 AND 100000 OR ol_number NOT BETWEEN 1 AND 15 \
             OR (ol_o_id < 2101) <> (ol_delivery_d IS NOT NULL) OR (ol_o_id < 2101) <> (ol_amount = 0)",
        ),
        Profile::Hammerdb => rule(
            "fresh lines",
            "lines to 2100 are delivered and have an amount, the others neither; own supply, 5 each",
            "SELECT count(*) FROM order_line WHERE ol_supply_w_id <> ol_w_id OR ol_quantity <> 5 \
             OR ol_i_id NOT BETWEEN 1 AND 100000 OR ol_number NOT BETWEEN 1 AND 15 \
             OR (ol_o_id < 2101) <> (ol_delivery_d IS NOT NULL) OR (ol_o_id < 2101) <> (ol_amount > 0)",
        ),
    }
}

/// A tenth of the items carry the marker, give or take what chance does: five
/// standard deviations of 100,000 draws are 475.
fn items() -> Condition {
    rule(
        "fresh items",
        "a tenth of the items is marked as original, prices are 1 to 100",
        "SELECT CASE WHEN sum(CASE WHEN upper(i_data) LIKE '%ORIGINAL%' THEN 1 ELSE 0 END) \
         BETWEEN 9000 AND 10475 AND min(i_price) >= 1 AND max(i_price) <= 100 THEN 0 ELSE 1 END \
         FROM item",
    )
}
