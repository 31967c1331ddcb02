//! Errors planted one by one, and which conditions must catch each of them.

use pgdyno_target::postgres;
use pgdyno_wire::Connection;
use pgdyno_workload::{Session, Workload, audit};

use crate::violated;

/// Two districts of the first warehouse in a schema of their own: every
/// condition is asked again for every error, and on all rows that takes long.
const SMALL: &[&str] = &[
    "CREATE SCHEMA small",
    "CREATE TABLE small.warehouse AS SELECT * FROM warehouse WHERE w_id = 1",
    "UPDATE small.warehouse SET w_ytd = 60000",
    "CREATE TABLE small.district AS SELECT * FROM district WHERE d_w_id = 1 AND d_id <= 2",
    "CREATE TABLE small.customer AS SELECT * FROM customer WHERE c_w_id = 1 AND c_d_id <= 2",
    "CREATE TABLE small.history AS SELECT * FROM history WHERE h_w_id = 1 AND h_d_id <= 2",
    "CREATE TABLE small.orders AS SELECT * FROM orders WHERE o_w_id = 1 AND o_d_id <= 2",
    "CREATE TABLE small.new_order AS SELECT * FROM new_order WHERE no_w_id = 1 AND no_d_id <= 2",
    "CREATE TABLE small.order_line AS SELECT * FROM order_line WHERE ol_w_id = 1 AND ol_d_id <= 2",
    "UPDATE small.order_line SET ol_i_id = ol_i_id % 1000 + 1",
    "CREATE TABLE small.stock AS SELECT * FROM stock WHERE s_w_id = 1 AND s_i_id <= 1000",
    "CREATE TABLE small.item AS SELECT * FROM item WHERE i_id <= 1000",
    "SET search_path = small",
    "ANALYZE",
];

/// A correct delivery of order `$` of the first district.
const DELIVER: &str = "\
    DELETE FROM new_order WHERE no_d_id = 1 AND no_o_id = $; \
    UPDATE orders SET o_carrier_id = 7 WHERE o_d_id = 1 AND o_id = $; \
    UPDATE order_line SET ol_delivery_d = now() WHERE ol_d_id = 1 AND ol_o_id = $; ";

/// Its second half: the customer is credited.
const CREDIT: &str = "\
    UPDATE customer SET c_delivery_cnt = c_delivery_cnt + 1, c_balance = c_balance + \
    (SELECT sum(ol_amount) FROM order_line WHERE ol_d_id = 1 AND ol_o_id = $) \
    WHERE c_d_id = 1 AND c_id = (SELECT o_c_id FROM orders WHERE o_d_id = 1 AND o_id = $)";

/// A correct order of two lines.
const ENTER: &str = "\
    INSERT INTO orders VALUES (3001, 1, 1, 5, now(), NULL, 2, 1); \
    INSERT INTO new_order VALUES (3001, 1, 1); \
    INSERT INTO order_line SELECT 3001, 1, 1, i_id, i_id, 1, NULL, 5, 5 * i_price, s_dist_01 \
    FROM item JOIN stock ON s_i_id = i_id WHERE i_id <= 2; \
    UPDATE stock SET s_ytd = 5, s_order_cnt = 1 WHERE s_i_id <= 2; \
    UPDATE district SET d_next_o_id = 3002 WHERE d_id = 1";

/// What it is, the SQL that plants it, and the conditions that are then
/// violated: no others.
type Error = (&'static str, &'static str, &'static [&'static str]);

/// `DELIVER n` and `CREDIT n` stand for a delivery of order n and its half,
/// `ENTER order` for a new order.
const ERRORS: &[Error] = &[
    ("nothing", "SELECT 1", &[]),
    ("a correct delivery", "DELIVER 2101", &[]),
    ("a correct order", "ENTER order", &[]),
    ("w_ytd is off by a cent", "UPDATE warehouse SET w_ytd = w_ytd + 0.01", &["tpcc 1", "tpcc 8"]),
    (
        "d_ytd is off by a cent",
        "UPDATE district SET d_ytd = d_ytd - 0.01 WHERE d_id = 2",
        &["tpcc 1", "tpcc 9"],
    ),
    (
        "an order number was taken and not used",
        "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_id = 1",
        &["tpcc 2"],
    ),
    (
        "the latest order is lost",
        "DELETE FROM orders WHERE o_d_id = 1 AND o_id = 3000; \
             DELETE FROM new_order WHERE no_d_id = 1 AND no_o_id = 3000; \
             DELETE FROM order_line WHERE ol_d_id = 1 AND ol_o_id = 3000",
        &["tpcc 2"],
    ),
    ("a delivery out of order", "DELIVER 2500", &["tpcc 3"]),
    (
        "a line without an order",
        "INSERT INTO order_line SELECT 0, ol_d_id, ol_w_id, ol_number, ol_i_id, \
             ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info FROM order_line \
             WHERE ol_d_id = 1 AND ol_o_id = 9 AND ol_number = 1",
        &["tpcc 4", "tpcc lines"],
    ),
    (
        "a line's amount is off by a cent",
        "ENTER order; UPDATE order_line SET ol_amount = ol_amount + 0.01 \
             WHERE ol_o_id = 3001 AND ol_number = 2",
        &["tpcc new lines"],
    ),
    (
        "a line has the text of another district",
        "ENTER order; UPDATE order_line SET ol_dist_info = s_dist_02 FROM stock \
             WHERE ol_o_id = 3001 AND ol_number = 2 AND s_i_id = 2",
        &["tpcc new lines"],
    ),
    (
        "an order changed no stock",
        "ENTER order; UPDATE stock SET s_ytd = 0, s_order_cnt = 0 WHERE s_i_id = 2",
        &["tpcc stock"],
    ),
    (
        "a line is of an item that is not there",
        "UPDATE order_line SET ol_i_id = 1001 WHERE ol_d_id = 1 AND ol_o_id = 9 AND ol_number = 1",
        &["tpcc stock of lines"],
    ),
    (
        "an order is of nobody",
        "UPDATE orders SET o_c_id = 3001 WHERE o_d_id = 1 AND o_id = 9",
        &["tpcc customers of orders"],
    ),
    ("an item is lost", "DELETE FROM item WHERE i_id = 77", &["tpcc items of stock"]),
    (
        "a stock is of a warehouse that is not there",
        "CREATE TEMP TABLE one AS SELECT * FROM stock WHERE s_i_id = 77; \
             UPDATE one SET s_w_id = 2; INSERT INTO stock SELECT * FROM one",
        &["tpcc warehouses of stock"],
    ),
    (
        "a row of new_order has no order",
        "INSERT INTO new_order VALUES (3001, 1, 1)",
        &["tpcc 2", "tpcc 5", "tpcc 11", "tpcc orders of new orders"],
    ),
    (
        "a payment is of a district that is not there",
        "UPDATE history SET h_d_id = 9 WHERE h_d_id = 1 AND h_c_id = 5",
        &["tpcc 9", "tpcc districts of payments"],
    ),
    (
        "a customer is of a district that is not there",
        "CREATE TEMP TABLE one AS SELECT * FROM customer WHERE c_d_id = 1 AND c_id = 5; \
             UPDATE one SET c_d_id = 9; INSERT INTO customer SELECT * FROM one",
        &["tpcc 10", "tpcc customers", "tpcc districts of customers"],
    ),
    (
        "a district is of a warehouse that is not there",
        "CREATE TEMP TABLE one AS SELECT * FROM district WHERE d_id = 1; \
             UPDATE one SET d_w_id = 2; INSERT INTO district SELECT * FROM one",
        &["tpcc 2", "tpcc 9", "tpcc warehouses of districts"],
    ),
    (
        "a payment is of nobody",
        "UPDATE history SET h_c_id = 0 WHERE h_d_id = 1 AND h_c_id = 5",
        &["tpcc 10", "tpcc customers", "tpcc customers of payments"],
    ),
    (
        "an order line is removed",
        "DELETE FROM order_line WHERE ol_d_id = 1 AND ol_o_id = 9 AND ol_number = \
             (SELECT o_ol_cnt FROM orders WHERE o_d_id = 1 AND o_id = 9)",
        &["tpcc 4", "tpcc 6"],
    ),
    (
        "a delivered order lost its carrier and dates",
        "UPDATE orders SET o_carrier_id = NULL WHERE o_d_id = 1 AND o_id = 9; \
             UPDATE order_line SET ol_delivery_d = NULL WHERE ol_d_id = 1 AND ol_o_id = 9",
        &["tpcc 5"],
    ),
    (
        "a row of new_order is lost",
        "DELETE FROM new_order WHERE no_d_id = 1 AND no_o_id = 2500",
        &["tpcc 3", "tpcc 5", "tpcc 11"],
    ),
    (
        "a line is counted with another order",
        "UPDATE orders SET o_ol_cnt = o_ol_cnt + CASE o_id WHEN 9 THEN 1 ELSE -1 END \
             WHERE o_d_id = 1 AND o_id IN (9, 10)",
        &["tpcc 6"],
    ),
    (
        "a line lost its date",
        "UPDATE order_line SET ol_delivery_d = NULL \
             WHERE ol_d_id = 1 AND ol_o_id = 9 AND ol_number = 1",
        &["tpcc 7"],
    ),
    (
        "warehouse and district are off by the same cent",
        "UPDATE warehouse SET w_ytd = w_ytd + 0.01; \
             UPDATE district SET d_ytd = d_ytd + 0.01 WHERE d_id = 1",
        &["tpcc 8", "tpcc 9"],
    ),
    (
        "a payment is booked in another district",
        "UPDATE history SET h_d_id = 2 WHERE h_d_id = 1 AND h_c_d_id = 1 AND h_c_id = 5",
        &["tpcc 9"],
    ),
    (
        "a balance and its payments are off by a cent, each the other way",
        "UPDATE customer SET c_balance = c_balance + 0.01, \
             c_ytd_payment = c_ytd_payment - 0.01 WHERE c_d_id = 1 AND c_id = 5",
        &["tpcc 10", "tpcc customers"],
    ),
    (
        "a balance is off by a cent",
        "UPDATE customer SET c_balance = c_balance - 0.01 WHERE c_d_id = 1 AND c_id = 5",
        &["tpcc 10", "tpcc 12"],
    ),
    ("a doubled delivery", "DELIVER 2101; CREDIT 2101", &["tpcc 10", "tpcc 12", "tpcc customers"]),
    (
        "an old order is lost with all its lines",
        "DELETE FROM orders WHERE o_d_id = 1 AND o_id = 9; \
             DELETE FROM order_line WHERE ol_d_id = 1 AND ol_o_id = 9",
        &["tpcc 11"],
    ),
    (
        "payments of a customer are off by a cent",
        "UPDATE customer SET c_ytd_payment = c_ytd_payment + 0.01 \
             WHERE c_d_id = 1 AND c_id = 5",
        &["tpcc 12", "tpcc customers"],
    ),
    (
        "stock was changed without a line",
        "UPDATE stock SET s_order_cnt = s_order_cnt + 1 WHERE s_i_id = 77",
        &["tpcc stock"],
    ),
    (
        "stock fell below its least",
        "UPDATE stock SET s_quantity = 9 WHERE s_i_id = 77",
        &["tpcc stock"],
    ),
    (
        "an order tells of a supply that its lines do not have",
        "UPDATE orders SET o_all_local = 0 WHERE o_d_id = 1 AND o_id = 9",
        &["tpcc lines"],
    ),
    (
        "a delivery is counted and not made",
        "UPDATE customer SET c_delivery_cnt = 1 WHERE c_d_id = 1 AND c_id = 5",
        &["tpcc customers"],
    ),
];

/// The SQL with its abbreviations written out.
fn written_out(sql: &str) -> String {
    let part = |part: &str| match part.trim().split_once(' ') {
        Some(("DELIVER", order)) => format!("{DELIVER}{CREDIT}").replace('$', order),
        Some(("CREDIT", order)) => CREDIT.replace('$', order),
        Some(("ENTER", _)) => ENTER.to_owned(),
        _ => part.to_owned(),
    };
    sql.split(';').map(part).collect::<Vec<_>>().join(";")
}

/// Assertion 3: each planted error is caught by its conditions and no others,
/// and each condition catches
/// one.
pub(crate) fn errors_are_caught(session: &mut Connection, workload: &dyn Workload) {
    for sql in SMALL {
        Session::execute(session, sql).unwrap();
    }
    for rule in workload.conditions(postgres()) {
        let catches = |names: &[&str]| names.contains(&rule.name);
        assert!(ERRORS.iter().any(|(_, _, names)| catches(names)), "{} is not tested", rule.name);
    }
    for (what, sql, expected) in ERRORS {
        Session::execute(session, "BEGIN").unwrap();
        session.simple_query(&written_out(sql)).unwrap();
        assert_eq!(violated(session, workload, postgres()), *expected, "{what}");
        Session::execute(session, "ROLLBACK").unwrap();
    }
}

/// Assertion 3, beyond: a stock that is off by one, in its range, is found by
/// what was loaded, also where another is off by as much the other way; one
/// that was ordered from is not. `workload` has looked at its tables.
pub(crate) fn stock_is_compared_with_the_load(session: &mut Connection, workload: &dyn Workload) {
    let all = workload.conditions(postgres());
    let since = all.iter().find(|rule| rule.name == "tpcc stock since the load").unwrap();
    let asked = workload.conditions_asked(postgres(), false);
    assert!(asked.len() < all.len() && asked.iter().all(|rule| rule.name != since.name));
    let ordered = "s_quantity = CASE WHEN s_quantity < 17 THEN s_quantity + 84 \
                   ELSE s_quantity - 7 END, s_ytd = 7";
    let off = |w: u32, i: u32, by: i32| {
        let sql = format!("s_quantity = s_quantity + {by}");
        format!("UPDATE stock SET {sql} WHERE s_w_id = {w} AND s_i_id = {i}")
    };
    let (one_item, two_items) = ([off(1, 9, 5), off(2, 9, -5)], [off(2, 18, 5), off(2, 9, -10)]);
    for (statements, expected) in [
        (vec![off(2, 9, 1)], 1),
        (one_item.to_vec(), 1),
        (two_items.to_vec(), 1),
        (vec![format!("UPDATE stock SET {ordered} WHERE s_w_id = 2 AND s_i_id = 9")], 0),
    ] {
        Session::execute(session, "BEGIN").unwrap();
        for sql in &statements {
            assert_eq!(Session::execute(session, sql), Ok(1));
        }
        assert_eq!(audit::violations(session, since).unwrap(), expected, "{statements:?}");
        Session::execute(session, "ROLLBACK").unwrap();
    }
}

/// A rule of fresh tables and what breaks it.
const FRESH: &[(&str, &str)] = &[
    ("fresh warehouses", "UPDATE warehouse SET w_ytd = w_ytd + 0.01 WHERE w_id = 1"),
    ("fresh districts", "UPDATE district SET d_next_o_id = 3002 WHERE d_w_id = 1 AND d_id = 9"),
    ("fresh stock", "UPDATE stock SET s_ytd = 1 WHERE s_w_id = 1 AND s_i_id = 5"),
    ("fresh stock", "UPDATE stock SET s_dist_05 = 'a' WHERE s_w_id = 1 AND s_i_id = 5"),
    (
        "fresh customers",
        "UPDATE customer SET c_last = 'BARBARBAR' WHERE c_w_id = 1 AND c_d_id = 2 AND \
         c_last = 'EINGEINGEING'",
    ),
    (
        "fresh texts of customers",
        "UPDATE customer SET c_phone = '1' WHERE c_w_id = 2 AND c_d_id = 2 AND c_id = 2",
    ),
    (
        "fresh texts of customers",
        "UPDATE customer SET c_state = 'a' WHERE c_w_id = 2 AND c_d_id = 2 AND c_id = 2",
    ),
    (
        "fresh last names",
        "UPDATE customer SET c_last = 'PRIPRIPRI' WHERE c_w_id = 1 AND c_id < 500",
    ),
    ("fresh history", "UPDATE history SET h_amount = 10.01 WHERE h_w_id = 1 AND h_c_id = 5"),
    (
        "fresh new orders",
        "DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 4 AND no_o_id = 2101",
    ),
    (
        "fresh orders",
        "UPDATE orders SET o_c_id = 1 WHERE o_w_id = 1 AND o_d_id = 4 AND o_id IN (8, 9)",
    ),
    (
        "fresh lines",
        "UPDATE order_line SET ol_amount = 0.01 WHERE ol_w_id = 1 AND ol_d_id = 4 AND \
         ol_o_id = 2100 AND ol_number = 1",
    ),
    (
        "fresh amounts",
        "UPDATE order_line SET ol_amount = ol_amount / 2 WHERE ol_w_id = 1 AND ol_d_id = 3 AND \
         ol_o_id > 2100",
    ),
    ("fresh items", "UPDATE item SET i_data = 'no' WHERE i_id % 9 < 2"),
];

/// Each rule of fresh tables holds, and catches what it is for.
pub(crate) fn fresh_rules_catch(session: &mut Connection, workload: &dyn Workload) {
    let mut rules = workload.fresh_conditions(postgres());
    // The others hold at any time, and have errors of their own.
    rules.retain(|rule| rule.name.starts_with("fresh"));
    let names: Vec<&str> = rules.iter().map(|rule| rule.name).collect();
    let mut tested: Vec<&str> = FRESH.iter().map(|(name, _)| *name).collect();
    tested.dedup();
    assert_eq!(names, tested);
    for (name, sql) in FRESH {
        let rule = rules.iter().find(|rule| rule.name == *name).unwrap();
        Session::execute(session, "BEGIN").unwrap();
        assert!(Session::execute(session, sql).unwrap() > 0, "{name}");
        assert!(audit::violations(session, rule).unwrap() > 0, "{name}");
        Session::execute(session, "ROLLBACK").unwrap();
    }
}
