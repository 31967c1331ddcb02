//! The routines of `procs=1`, called one by one, against what the clauses say
//! must change and must be answered. The conditions are asked afterwards.

use pgdyno_wire::Connection;
use pgdyno_workload::Session;

use crate::value;

type Row = Vec<Option<String>>;

fn run(session: &mut Connection, sql: &str) -> Vec<Row> {
    Session::query(session, sql).unwrap_or_else(|error| panic!("{sql}: {error}")).1
}

fn text(row: &Row, column: usize) -> &str {
    row[column].as_deref().unwrap_or("null")
}

/// Calls `neword` for customer 5 of district 1 of warehouse 1; lines are item,
/// supply, quantity.
fn neword(session: &mut Connection, lines: &[(u32, u32, u32)]) -> Row {
    let list = |pick: fn(&(u32, u32, u32)) -> u32| {
        let all: Vec<String> = lines.iter().map(|line| pick(line).to_string()).collect();
        format!("ARRAY[{}]::int[]", all.join(","))
    };
    let out = vec!["NULL"; pgdyno_workload::tpcc::functions::NEWORD_OUT].join(", ");
    let (items, supplies, quantities) =
        (list(|line| line.0), list(|line| line.1), list(|line| line.2));
    let sql = format!("CALL neword(1, 1, 5, {items}, {supplies}, {quantities}, {out})");
    let [row] = run(session, &sql).try_into().unwrap();
    row
}

/// Everything that a transaction can change, in one text.
fn state(session: &mut Connection) -> String {
    let part = |table: &str| {
        format!(
            "(SELECT count(*) || ':' || sum(hashtextextended(t::text, 0)::numeric) FROM {table} t)"
        )
    };
    let tables =
        ["district", "warehouse", "stock", "orders", "new_order", "order_line", "customer"];
    let all: Vec<String> = tables.map(part).to_vec();
    value(session, &format!("SELECT {}", all.join(" || ")))
}

/// All of them; the tables are changed for good.
pub(crate) fn do_their_work(session: &mut Connection) {
    orders_are_entered(session);
    unknown_items_change_nothing(session);
    repeated_items_change_stock_in_turn(session);
    the_customer_in_the_middle_is_taken(session);
    payments_are_booked(session);
    the_oldest_orders_are_delivered(session);
    reads_agree_with_the_tables(session);
}

/// Assertion 16: one order over two warehouses.
fn orders_are_entered(session: &mut Connection) {
    run(
        session,
        "UPDATE stock SET s_quantity = CASE s_i_id WHEN 11 THEN 15 WHEN 12 THEN 14 ELSE 10 END, \
         s_data = CASE s_i_id WHEN 12 THEN 'no' ELSE 'an ORIGINAL one' END \
         WHERE s_i_id IN (11, 12, 13)",
    );
    run(
        session,
        "UPDATE item SET i_data = CASE i_id WHEN 13 THEN 'no' ELSE 'ORIGINAL' END \
                  WHERE i_id IN (11, 12, 13)",
    );
    let row = neword(session, &[(11, 1, 5), (13, 2, 10), (12, 1, 5)]);
    assert_eq!(text(&row, 0), "3001");
    assert_eq!(text(&row, 10), "{10,91,100}", "s_quantity after");
    assert_eq!(text(&row, 11), "{B,G,G}");
    assert_eq!(text(&row, 13), "f");
    let checked = value(
        session,
        "SELECT count(*) FROM order_line JOIN item ON i_id = ol_i_id JOIN stock ON \
         s_i_id = ol_i_id AND s_w_id = ol_supply_w_id WHERE ol_w_id = 1 AND ol_d_id = 1 AND \
         ol_o_id = 3001 AND ol_amount = ol_quantity * i_price AND ol_dist_info = s_dist_01 AND \
         s_ytd = ol_quantity AND s_order_cnt = 1 AND ol_delivery_d IS NULL AND \
         s_remote_cnt = CASE ol_supply_w_id WHEN 2 THEN 1 ELSE 0 END AND \
         (ol_number, ol_i_id) IN ((1, 11), (2, 13), (3, 12))",
    );
    assert_eq!(checked, "3");
    let order = "SELECT count(*) FROM orders JOIN new_order ON no_w_id = o_w_id AND \
                 no_d_id = o_d_id AND no_o_id = o_id JOIN district ON d_w_id = o_w_id AND \
                 d_id = o_d_id AND d_next_o_id = 3002 WHERE o_w_id = 1 AND o_d_id = 1 AND \
                 o_id = 3001 AND o_c_id = 5 AND o_ol_cnt = 3 AND o_all_local = 0 AND \
                 o_carrier_id IS NULL";
    assert_eq!(value(session, order), "1");
    let total = "SELECT sum(ol_amount) * (1 - c_discount) * (1 + w_tax + d_tax) FROM order_line, \
                 customer, warehouse, district WHERE ol_w_id = 1 AND ol_d_id = 1 AND \
                 ol_o_id = 3001 AND c_w_id = 1 AND c_d_id = 1 AND c_id = 5 AND w_id = 1 AND \
                 d_w_id = 1 AND d_id = 1 GROUP BY c_discount, w_tax, d_tax";
    assert_eq!(value(session, total), text(&row, 7));
}

/// Assertion 17: the customer is still answered, with what the good lines left
/// in stock, and not a byte has changed.
fn unknown_items_change_nothing(session: &mut Connection) {
    run(session, "UPDATE stock SET s_quantity = s_i_id WHERE s_w_id = 1 AND s_i_id IN (21, 22)");
    let before = state(session);
    let row = neword(session, &[(21, 1, 5), (22, 1, 5), (100_001, 1, 1)]);
    assert_eq!((text(&row, 0), text(&row, 13)), ("3002", "t"));
    assert_ne!(text(&row, 5), "null");
    assert_eq!(text(&row, 10), "{16,17,NULL}", "s_quantity before it was taken back");
    assert_eq!(state(session), before);
}

/// Assertion 18: the same item twice from one supply and once from another.
fn repeated_items_change_stock_in_turn(session: &mut Connection) {
    run(session, "UPDATE stock SET s_quantity = 25 WHERE s_i_id = 31");
    let row = neword(session, &[(31, 1, 10), (31, 2, 3), (31, 1, 10)]);
    assert_eq!(text(&row, 10), "{15,22,96}");
    let lines = "SELECT count(*) FROM order_line WHERE ol_w_id = 1 AND ol_d_id = 1 AND \
                 ol_o_id = 3002 AND ol_amount > 0 AND length(ol_dist_info) = 24";
    assert_eq!(value(session, lines), "3");
    let stock = "SELECT string_agg(s_w_id || ':' || s_ytd || ':' || s_order_cnt || ':' || \
                 s_remote_cnt, ' ' ORDER BY s_w_id) FROM stock WHERE s_i_id = 31";
    assert_eq!(value(session, stock), "1:20:2:0 2:3:1:1");
}

/// Assertion 19: of n customers of one name, the one at ceil(n / 2) by first
/// name, local and remote, for payments and for the status of orders.
fn the_customer_in_the_middle_is_taken(session: &mut Connection) {
    for (n, expected) in [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (6, 3)] {
        let name = format!("PLANTED{n}");
        run(
            session,
            &format!(
                "UPDATE customer SET c_last = '{name}', c_first = chr(96 + c_id - 100 * {n}) \
                 WHERE c_d_id = 3 AND c_id BETWEEN 100 * {n} + 1 AND 100 * {n} + {n}"
            ),
        );
        let id = (100 * n + expected).to_string();
        let local = run(session, &format!("SELECT c_id FROM ostat(1, 3, NULL, '{name}')"));
        assert!(!local.is_empty() && local.iter().all(|row| text(row, 0) == id), "{local:?}");
        for home in [1, 2] {
            let sql = format!("SELECT c_id FROM payment({home}, 4, 1, 3, NULL, '{name}', 1.50)");
            assert_eq!(value(session, &sql), id, "{n} from {home}");
        }
    }
}

/// Assertion 20: amounts arrive everywhere, data of bad customers grows in
/// front, a remote payment credits the home and debits the remote customer.
fn payments_are_booked(session: &mut Connection) {
    run(
        session,
        "UPDATE customer SET c_credit = CASE c_id WHEN 7 THEN 'BC' ELSE 'GC' END, \
                  c_data = repeat('x', 495) WHERE c_w_id = 2 AND c_d_id = 5 AND c_id IN (7, 8)",
    );
    let ytd = "SELECT w_ytd + d_ytd FROM warehouse JOIN district ON d_w_id = w_id \
               WHERE w_id = 1 AND d_id = 6";
    let grown = |session: &mut Connection, before: &str| {
        value(session, &format!("SELECT ({ytd}) - {before}"))
    };
    let customer = |session: &mut Connection, id: u32| {
        let what = "c_balance, c_ytd_payment, c_payment_cnt, c_data";
        let sql =
            format!("SELECT {what} FROM customer WHERE c_w_id = 2 AND c_d_id = 5 AND c_id = {id}");
        run(session, &sql).remove(0)
    };
    let before = value(session, ytd);
    let bad = run(session, "SELECT c_data, c_balance FROM payment(1, 6, 2, 5, 7, NULL, 123.45)");
    assert!(text(&bad[0], 0).starts_with("7 5 2 6 1 123.45 xxx") && text(&bad[0], 0).len() == 200);
    let row = customer(session, 7);
    assert_eq!([text(&row, 0), text(&row, 1), text(&row, 2)], ["-133.45", "133.45", "2"]);
    assert!(text(&row, 3).starts_with("7 5 2 6 1 123.45 xxx") && text(&row, 3).len() == 500);
    let good = run(session, "SELECT c_data FROM payment(1, 6, 2, 5, 8, NULL, 0.55)");
    assert_eq!(text(&good[0], 0), "");
    assert_eq!(text(&customer(session, 8), 3), "x".repeat(495));
    assert_eq!(grown(session, &before), "248.00");
    let history = "SELECT count(*) FROM history JOIN warehouse ON w_id = 1 JOIN district ON \
                   d_w_id = 1 AND d_id = 6 WHERE h_w_id = 1 AND h_d_id = 6 AND h_c_w_id = 2 AND \
                   h_c_d_id = 5 AND h_c_id IN (7, 8) AND h_amount IN (123.45, 0.55) AND \
                   h_data = w_name || '    ' || d_name";
    assert_eq!(value(session, history), "2");
}

/// Assertion 21: the oldest of each district; one without is left out.
fn the_oldest_orders_are_delivered(session: &mut Connection) {
    // Emptied by deliveries of its own, one district at a time.
    run(session, "CREATE TABLE kept AS SELECT * FROM new_order WHERE no_w_id = 2 AND no_d_id = 10");
    run(session, "DELETE FROM new_order WHERE no_w_id = 2 AND no_d_id = 10");
    let rows = run(session, "SELECT d_id, o_id FROM delivery(2, 4) ORDER BY d_id");
    let told: Vec<(&str, &str)> = rows.iter().map(|row| (text(row, 0), text(row, 1))).collect();
    let districts: Vec<String> = (1..=9).map(|d: u32| d.to_string()).collect();
    let expected: Vec<(&str, &str)> = districts.iter().map(|d| (d.as_str(), "2101")).collect();
    assert_eq!(told, expected);
    run(session, "INSERT INTO new_order SELECT * FROM kept");
    let done = "SELECT count(*) FROM orders JOIN customer ON c_w_id = o_w_id AND c_d_id = o_d_id \
                AND c_id = o_c_id WHERE o_w_id = 2 AND o_id = 2101 AND o_carrier_id = 4 AND \
                c_delivery_cnt = 1 AND NOT EXISTS (SELECT FROM new_order WHERE no_w_id = 2 AND \
                no_d_id = o_d_id AND no_o_id = 2101)";
    assert_eq!(value(session, done), "9");
    let again = run(session, "SELECT d_id, o_id FROM delivery(2, 4) WHERE d_id IN (9, 10)");
    assert_eq!([text(&again[0], 1), text(&again[1], 1)], ["2102", "2101"]);
}

/// Assertion 22: the latest order with all its lines; items below a threshold
/// counted once, over exactly twenty orders.
fn reads_agree_with_the_tables(session: &mut Connection) {
    let status = run(session, "SELECT o_id, ol_i_id FROM ostat(1, 1, 5, NULL)");
    let lines: Vec<(&str, &str)> = status.iter().map(|row| (text(row, 0), text(row, 1))).collect();
    assert_eq!(lines, [("3002", "31"), ("3002", "31"), ("3002", "31")]);
    // Orders 2983 to 3002 count: one item just outside, one just inside, one
    // twice, and one at the threshold.
    run(session, "UPDATE stock SET s_quantity = 50 WHERE s_w_id = 1");
    for (order, item, quantity) in [(2982, 41, 12), (2983, 42, 12), (2990, 43, 12), (2991, 43, 12)]
        .into_iter()
        .chain([(2992, 44, 15)])
    {
        run(
            session,
            &format!(
                "UPDATE order_line SET ol_i_id = {item} WHERE ol_w_id = 1 AND ol_d_id = 1 AND \
                 ol_o_id = {order} AND ol_number = 1"
            ),
        );
        let low = format!("UPDATE stock SET s_quantity = {quantity} WHERE s_w_id = 1 AND ");
        run(session, &format!("{low} s_i_id = {item}"));
    }
    run(
        session,
        "UPDATE order_line SET ol_i_id = 45 WHERE ol_w_id = 1 AND ol_d_id = 1 AND \
                  ol_o_id > 2981 AND ol_number > 1 AND ol_i_id IN (41, 42, 43, 44)",
    );
    assert_eq!(value(session, "SELECT slev(1, 1, 15)"), "2");
    assert_eq!(value(session, "SELECT slev(1, 1, 16)"), "3");
    assert_eq!(value(session, "SELECT slev(1, 1, 12)"), "0");
}
