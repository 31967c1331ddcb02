//! What freshly loaded tables must show besides counts and sums of keys, as
//! the last step of a load. Each statement reads one table once.
//!
//! These rules are stricter than the conditions: they hold before the first
//! transaction only. Ranges are those that the population can have, and both
//! ends must occur where there are rows enough for it. What is drawn by chance
//! is allowed six standard deviations for the number of rows that are there,
//! which a correct load exceeds once in 500 million.

use super::{Profile, Tpcc, conditions};
use crate::condition::{Asked, Condition};

/// So many warehouses are asked for all conditions at the end of their load;
/// beyond that the joins take longer than people wait for, and `audit` asks
/// them. The rules of this file, and the conditions that each run is asked for
/// (1 to 4), are asked at any scale.
const CONDITIONS_SCALE_MAX: u64 = 4;

/// The square of the standard deviations that a mean or a share may be off.
const SIGMAS_SQUARED: u32 = 36;

fn rule(name: &'static str, title: &'static str, sql: &str) -> Condition {
    Condition { name, title, asked: Asked::EachRun, sql: sql.to_owned() }
}

/// One violation where one of `faults` is true of all rows of a table.
fn whole(name: &'static str, title: &'static str, table: &str, faults: &[String]) -> Condition {
    let sql = format!("SELECT CASE WHEN {} THEN 1 ELSE 0 END FROM {table}", faults.join(" OR "));
    Condition { name, title, asked: Asked::EachRun, sql }
}

/// A column's values do not reach from one to the other, or beyond.
fn not_from(column: &str, least: &str, most: &str) -> String {
    format!("min({column}) <> {least} OR max({column}) <> {most}")
}

/// The lengths of a text do not reach from `least` to `most`, or beyond.
fn not_long(column: &str, least: u32, most: u32) -> String {
    not_from(&format!("length({column})"), &least.to_string(), &most.to_string())
}

/// A sum over `rows` draws of a mean and a variance is too far off. Squared, so
/// that it is exact; `mean` and `variance` have a decimal point, so that no
/// part of it is computed in 32 or 64 bits.
fn off(sum: &str, rows: &str, mean: &str, variance: &str) -> String {
    debug_assert!(mean.contains('.') && variance.contains('.'));
    let off = format!("({sum} - {mean} * {rows})");
    format!("{off} * {off} > {SIGMAS_SQUARED} * {variance} * {rows}")
}

/// The share of rows with a property is too far from `percent`.
fn share_off(property: &str, percent: f64) -> String {
    let share = percent / 100.0;
    let sum = format!("sum(CASE WHEN {property} THEN 1 ELSE 0 END)");
    let variance = format!("{:.6}", share * (1.0 - share));
    off(&sum, "count(*)", &format!("{share:.4}"), &variance)
}

/// The rules of a fresh load.
pub(super) fn conditions(tpcc: &Tpcc) -> Vec<Condition> {
    let profile = tpcc.params.profile;
    let mut all = vec![
        warehouses(),
        districts(),
        stock(profile),
        customers(),
        customer_texts(profile),
        names(),
        rule(
            "fresh history",
            "each district has 3000 payments of 10 of its own customers",
            "SELECT count(*) FROM (SELECT h_w_id FROM history GROUP BY h_w_id, h_d_id \
             HAVING count(*) <> 3000 OR count(DISTINCT h_c_id) <> 3000 OR min(h_amount) <> 10 \
             OR max(h_amount) <> 10 OR min(length(h_data)) < 12 OR max(length(h_data)) > 24 OR \
             sum(CASE WHEN h_c_w_id <> h_w_id OR h_c_d_id <> h_d_id THEN 1 ELSE 0 END) <> 0) d",
        ),
        rule(
            "fresh new orders",
            "each district's new orders are 2101 to 3000",
            "SELECT count(*) FROM (SELECT no_w_id FROM new_order GROUP BY no_w_id, no_d_id \
             HAVING count(*) <> 900 OR min(no_o_id) <> 2101 OR max(no_o_id) <> 3000) d",
        ),
        orders(profile),
        lines(profile),
        line_means(profile),
        items(profile),
    ];
    let is_small = tpcc.scale <= CONDITIONS_SCALE_MAX;
    let conditions = conditions::conditions(profile).into_iter();
    all.extend(conditions.filter(|one| is_small || one.asked == Asked::EachRun));
    all
}

/// What addresses of a table with this prefix must not be.
fn bad_address(prefix: &str) -> String {
    let street = |name: &str| format!("length({prefix}_{name}) NOT BETWEEN 10 AND 20");
    let streets = ["street_1", "street_2", "city"].map(street).join(" OR ");
    format!(
        "{streets} OR {prefix}_state NOT SIMILAR TO '[A-Z][A-Z]' \
         OR {prefix}_zip NOT SIMILAR TO '[0-9]{{4}}11111'"
    )
}

fn warehouses() -> Condition {
    rule(
        "fresh warehouses",
        "w_ytd is 300000, taxes are at most 20 %, names and addresses are as they must be",
        &format!(
            "SELECT count(*) FROM warehouse WHERE w_ytd <> 300000 OR w_tax NOT BETWEEN 0 AND 0.2 \
             OR length(w_name) NOT BETWEEN 6 AND 10 OR {}",
            bad_address("w")
        ),
    )
}

fn districts() -> Condition {
    rule(
        "fresh districts",
        "d_ytd is 30000, d_next_o_id is 3001, taxes are at most 20 %, names and addresses as they \
         must be",
        &format!(
            "SELECT count(*) FROM district WHERE d_ytd <> 30000 OR d_next_o_id <> 3001 \
             OR d_tax NOT BETWEEN 0 AND 0.2 OR length(d_name) NOT BETWEEN 6 AND 10 OR {}",
            bad_address("d")
        ),
    )
}

/// The least length of data with a marker, and the share that has one:
/// HammerDB's takes the place of nine letters with eight.
const fn marked(profile: Profile) -> (u32, f64, &'static str) {
    match profile {
        Profile::Faithful => (26, 10.0, "ORIGINAL"),
        Profile::Hammerdb => (25, 9.5, "original"),
    }
}

fn stock(profile: Profile) -> Condition {
    let (shortest, percent, marker) = marked(profile);
    whole(
        "fresh stock",
        "s_quantity is 10 to 100 and 55 in the middle, the counters are 0, a tenth is marked as \
         original, s_data has 26 to 50 letters",
        "stock",
        &[
            not_from("s_quantity", "10", "100"),
            // Of 91 equally likely numbers.
            off("sum(s_quantity)", "count(*)", "55.0", "690.0"),
            "max(s_ytd) <> 0 OR max(s_order_cnt) <> 0 OR max(s_remote_cnt) <> 0".to_owned(),
            "min(s_ytd) <> 0 OR min(s_order_cnt) <> 0 OR min(s_remote_cnt) <> 0".to_owned(),
            not_long("s_data", shortest, 50),
            // The columns' type keeps them from being longer.
            (1..=10)
                .map(|d| format!("min(length(s_dist_{d:02})) <> 24"))
                .collect::<Vec<_>>()
                .join(" OR "),
            share_off(&format!("s_data LIKE '%{marker}%'"), percent),
        ],
    )
}

fn customers() -> Condition {
    rule(
        "fresh customers",
        "each district has 1000 last names; balances, counters and discounts are the initial",
        "SELECT count(*) FROM (SELECT c_w_id FROM customer GROUP BY c_w_id, c_d_id \
         HAVING count(*) <> 3000 OR count(DISTINCT c_last) <> 1000 \
         OR min(c_balance) <> -10 OR max(c_balance) <> -10 \
         OR min(c_ytd_payment) <> 10 OR max(c_ytd_payment) <> 10 \
         OR min(c_payment_cnt) <> 1 OR max(c_payment_cnt) <> 1 OR max(c_delivery_cnt) <> 0 \
         OR min(c_discount) < 0 OR max(c_discount) > 0.5 \
         OR min(c_credit_lim) <> 50000 OR max(c_credit_lim) <> 50000) d",
    )
}

fn customer_texts(profile: Profile) -> Condition {
    let bad_credit = if profile == Profile::Hammerdb { 50.0 } else { 10.0 };
    whole(
        "fresh texts of customers",
        "a tenth has bad credit; names, addresses, numbers and data have their letters and lengths",
        "customer",
        &[
            share_off("c_credit = 'BC'", bad_credit),
            "sum(CASE WHEN c_credit IN ('BC', 'GC') AND c_middle = 'OE' AND \
             c_zip LIKE '____11111' AND c_state SIMILAR TO '[A-Z][A-Z]' AND \
             length(c_phone) = 16 THEN 0 ELSE 1 END) <> 0"
                .to_owned(),
            not_long("c_first", 8, 16),
            not_long("c_street_1", 10, 20),
            not_long("c_street_2", 10, 20),
            not_long("c_city", 10, 20),
            not_long("c_data", 300, 500),
        ],
    )
}

/// Each district has each name once, and 2000 drawn with NURand. The hottest
/// three come up 3^8 times in 256,000 draws.
fn names() -> Condition {
    let share = 6561.0 / 256_000.0;
    let mean = format!("{:.6}", 1.0 + 2000.0 * share);
    let variance = format!("{:.6}", 2000.0 * share * (1.0 - share));
    whole(
        "fresh last names",
        "the most frequent last name is had by about 52 customers of a district",
        "(SELECT c_last, count(*) AS n FROM customer GROUP BY c_last) names",
        &[off("max(n)", "(sum(n) / 3000)", &mean, &variance)],
    )
}

fn orders(profile: Profile) -> Condition {
    match profile {
        Profile::Faithful => rule(
            "fresh orders",
            "each customer has one order, in random order; 900 of a district have no carrier, the \
             others 1 to 10; 5 to 15 lines",
            "SELECT count(*) FROM (SELECT o_w_id FROM orders GROUP BY o_w_id, o_d_id \
             HAVING count(*) <> 3000 OR count(DISTINCT o_c_id) <> 3000 OR min(o_c_id) <> 1 \
             OR max(o_c_id) <> 3000 OR count(o_carrier_id) <> 2100 OR min(o_ol_cnt) <> 5 \
             OR max(o_ol_cnt) <> 15 OR sum(o_ol_cnt) <> 30000 OR min(o_all_local) <> 1 \
             OR min(o_carrier_id) <> 1 OR max(o_carrier_id) <> 10 \
             OR sum(CASE WHEN o_c_id = o_id THEN 1 ELSE 0 END) > 20 \
             OR max(CASE WHEN o_carrier_id IS NOT NULL THEN o_id END) <> 2100) d",
        ),
        Profile::Hammerdb => rule(
            "fresh orders",
            "900 orders of a district have no carrier; 5 to 15 lines",
            "SELECT count(*) FROM (SELECT o_w_id FROM orders GROUP BY o_w_id, o_d_id \
             HAVING count(*) <> 3000 OR count(o_carrier_id) <> 2100 OR min(o_ol_cnt) <> 5 \
             OR max(o_ol_cnt) <> 15 OR sum(o_ol_cnt) <> 30000 OR min(o_all_local) <> 1 \
             OR max(CASE WHEN o_carrier_id IS NOT NULL THEN o_id END) <> 2100) d",
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

/// Amounts and items are drawn evenly: 0.01 to 9999.99, HammerDB's 0.10 to
/// 100.00, and 1 to 100,000.
fn line_means(profile: Profile) -> Condition {
    let (with_amount, mean, variance) = match profile {
        Profile::Faithful => ("ol_o_id > 2100", "5000.0", "8333317.0"),
        Profile::Hammerdb => ("ol_o_id < 2101", "50.05", "832.0"),
    };
    let rows = format!("sum(CASE WHEN {with_amount} THEN 1 ELSE 0 END)");
    whole(
        "fresh amounts",
        "the amounts of lines are even over their range, and so are their items",
        "order_line",
        &[
            off("sum(ol_amount)", &rows, mean, variance),
            off("sum(ol_i_id)", "count(*)", "50000.5", "833333333.0"),
            "min(length(ol_dist_info)) <> 24".to_owned(),
        ],
    )
}

fn items(profile: Profile) -> Condition {
    let (shortest, percent, marker) = marked(profile);
    whole(
        "fresh items",
        "a tenth of the items is marked as original, prices are 1 to 100",
        "item",
        &[
            share_off(&format!("i_data LIKE '%{marker}%'"), percent),
            not_long("i_data", shortest, 50),
            not_long("i_name", 14, 24),
            "min(i_price) < 1 OR max(i_price) > 100".to_owned(),
            "min(i_im_id) < 1 OR max(i_im_id) > 10000".to_owned(),
            // Of 9901 equally likely prices.
            off("sum(i_price)", "count(*)", "50.5", "817.0"),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tpcc::Params;

    /// Conditions that take long are asked of small loads, the first four and
    /// the rules of fresh tables of all.
    #[test]
    fn conditions_are_asked_of_small_loads() {
        let count = |scale| {
            let all = conditions(&Tpcc::new(scale, Params::default()));
            let of_the_standard = all.iter().filter(|rule| rule.name.starts_with("tpcc"));
            (all.len() - of_the_standard.clone().count(), of_the_standard.count())
        };
        assert_eq!((count(1).0, count(CONDITIONS_SCALE_MAX).0), (12, 12));
        assert!(count(1).1 >= 12 && count(1).1 == count(CONDITIONS_SCALE_MAX).1);
        for scale in [CONDITIONS_SCALE_MAX + 1, 1000] {
            let all = conditions(&Tpcc::new(scale, Params::default()));
            let names: Vec<&str> = all.iter().map(|rule| rule.name).collect();
            assert_eq!(names[12..], ["tpcc 1", "tpcc 2", "tpcc 3", "tpcc 4"]);
            assert!(names[..12].iter().all(|name| name.starts_with("fresh ")));
        }
    }
}
