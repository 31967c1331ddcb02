//! New orders, their deliveries, and what is asked about them.

use pgdyno_target::postgres;
use pgdyno_workload::Workload as _;
use pgdyno_workload::tpcc::Tpcc;
use pgdyno_workload::tpcc::input::{
    Delivery, Input, LINES_MAX, Line, NewOrder, OrderStatus, StockLevel, UNUSED_ITEM, Who,
};
use pgdyno_workload::tpcc::terminal::TpccTerminals;

use crate::ground::{FORMS, Ground, run, run_failing};

fn order(customer: i32, items: &[(i32, i32, i32)]) -> Input {
    let mut lines = [Line::default(); LINES_MAX];
    for (line, &(item, supply, quantity)) in lines.iter_mut().zip(items) {
        *line = Line { item, supply, quantity };
    }
    let count = items.len();
    Input::NewOrder(NewOrder { warehouse: 1, district: 3, customer, lines, count })
}

/// Assertion 16: rows as ordered, the district's number up by one, stock by
/// the rule at its borders, counters, amounts, total and brand.
#[test]
fn a16_new_order() {
    let mut ground = Ground::new();
    for params in FORMS {
        ground.reset();
        for (item, quantity) in [(15, 15), (7, 14), (8, 10)] {
            ground.run(&format!("update stock set s_quantity = {quantity} where s_i_id = {item}"));
        }
        // 15 is original on both sides, 10 only as an item, 9 only in stock.
        let lines = [(15, 1, 5), (7, 1, 5), (8, 1, 10), (10, 1, 1), (9, 2, 3)];
        let (answers, outcome) = ground.play(params, &[order(4, &lines)]);
        assert_eq!(outcome.tally.total().committed, 1);
        assert_eq!((answers[0].committed, answers[0].number), (true, 1));
        let stocks = |ground: &mut Ground, column: &str| {
            ground.text(&format!(
                "select string_agg({column}::text, ' ' order by s_w_id, s_i_id) from stock \
                 where (s_w_id = 1 and s_i_id in (7, 8, 10, 15)) or (s_w_id = 2 and s_i_id = 9)"
            ))
        };
        assert_eq!(stocks(&mut ground, "s_quantity"), "100 91 49 10 47");
        assert_eq!(stocks(&mut ground, "s_ytd"), "5 10 1 5 3");
        assert_eq!(stocks(&mut ground, "s_order_cnt"), "1 1 1 1 1");
        assert_eq!(stocks(&mut ground, "s_remote_cnt"), "0 0 0 0 1");
        assert_eq!(ground.number("select sum(s_order_cnt) from stock"), 5);
        let made = "select concat_ws(' ', o_id, o_d_id, o_w_id, o_c_id, o_carrier_id is null, \
                    o_ol_cnt, o_all_local) from orders";
        assert_eq!(ground.text(made), "1 3 1 4 t 5 0");
        let queued = "select concat_ws(' ', no_o_id, no_d_id, no_w_id) from new_order";
        assert_eq!(ground.text(queued), "1 3 1");
        let made = "select string_agg(concat_ws(' ', ol_number, ol_i_id, ol_supply_w_id, \
                    ol_quantity, ol_amount, ol_dist_info = repeat('c', 24), \
                    ol_delivery_d is null), ', ' order by ol_number) from order_line \
                    where ol_o_id = 1 and ol_d_id = 3 and ol_w_id = 1";
        assert_eq!(
            ground.text(made),
            "1 15 1 5 76.25 t t, 2 7 1 5 36.25 t t, 3 8 1 10 82.50 t t, 4 10 1 1 10.25 t t, \
             5 9 2 3 27.75 t t"
        );
        let next = "select d_next_o_id from district where d_w_id = 1 and d_id = 3";
        assert_eq!(ground.number(next), 2);
        assert_eq!(ground.number("select sum(d_next_o_id) from district"), 21);
        if !params.procs {
            // 233.00 less 20 %, plus 15 %.
            assert_eq!(answers[0].total_cents, 21_436);
            let brands = answers[0].lines.map(|line| line.brand);
            assert_eq!(brands[..5], [true, false, false, false, false]);
            let stocks = answers[0].lines.map(|line| line.stock);
            assert_eq!(stocks[..5], [10, 100, 91, 49, 47]);
        }
    }
}

/// Counts rows that are written, also those that are taken back: sequences go
/// on whatever becomes of the transaction.
const WATCHED: [&str; 5] = ["stock", "district", "orders", "new_order", "order_line"];

fn watch(ground: &mut Ground) {
    ground.run(
        "create function seen() returns trigger language plpgsql as $$ begin \
         perform nextval('seen_' || tg_table_name); return null; end $$",
    );
    for table in WATCHED {
        ground.run(&format!(
            "create sequence seen_{table}; create trigger seen after insert or update on {table} \
             for each row execute function seen()"
        ));
    }
}

fn seen(ground: &mut Ground) -> [i64; WATCHED.len()] {
    let count = "case when is_called then last_value else 0 end";
    WATCHED.map(|table| ground.number(&format!("select {count} from seen_{table}")))
}

/// Assertion 17: an order whose last item does not exist does the work of its
/// other lines and leaves no trace; it is no failure.
#[test]
fn a17_rolled_back_on_purpose() {
    let mut ground = Ground::new();
    watch(&mut ground);
    for params in FORMS {
        ground.reset();
        for table in WATCHED {
            ground.run(&format!("alter sequence seen_{table} restart"));
        }
        assert_eq!(seen(&mut ground), [0; WATCHED.len()]);
        let before = ground.hash();
        let lines = [(1, 1, 1), (2, 1, 2), (3, 2, 3), (4, 1, 4), (UNUSED_ITEM, 1, 5)];
        let (answers, outcome) = ground.play(params, &[order(1, &lines)]);
        let total = outcome.tally.total();
        assert_eq!((total.committed, total.rolled_back), (0, 1));
        assert!(!answers[0].committed);
        // The number that the order would have had is shown.
        assert_eq!(answers[0].number, 1);
        assert_eq!(ground.hash(), before);
        assert_eq!(seen(&mut ground), [4, 1, 1, 1, 4], "procs={}", params.procs);
        if !params.procs {
            let rows: Vec<u64> = outcome.tally.statements.iter().map(|s| s.rows).collect();
            // Item, stock at home, stock elsewhere, district, order, queue, lines.
            assert_eq!(rows[3..10], [4, 3, 1, 1, 1, 1, 4]);
        }
    }
}

/// Assertion 18: an order with the same item twice takes it twice, one line
/// after the other, from the same and from different warehouses.
#[test]
fn a18_the_same_item_twice() {
    let mut ground = Ground::new();
    for params in FORMS {
        ground.reset();
        ground.run("update stock set s_quantity = 16 where s_i_id = 6");
        let lines = [(6, 1, 5), (2, 1, 1), (6, 1, 6), (6, 2, 7), (6, 1, 2)];
        let (answers, _) = ground.play(params, &[order(1, &lines)]);
        assert!(answers[0].committed);
        // 16 - 5 = 11; 11 - 6 + 91 = 96; 96 - 2 = 94. And 16 - 7 + 91.
        let left = "select string_agg(concat_ws(' ', s_quantity, s_ytd, s_order_cnt, \
                    s_remote_cnt), ', ' order by s_w_id) from stock where s_i_id = 6";
        assert_eq!(ground.text(left), "94 13 3 0, 100 7 1 1");
        let lines = "select string_agg(concat_ws(' ', ol_i_id, ol_supply_w_id, ol_amount, \
                     ol_dist_info), ', ' order by ol_number) from order_line";
        let info = "c".repeat(24);
        let expected = ["6 1 31.25", "2 1 2.25", "6 1 37.50", "6 2 43.75", "6 1 12.50"]
            .map(|line| format!("{line} {info}"));
        assert_eq!(ground.text(lines), expected.join(", "));
        if !params.procs {
            let stocks = answers[0].lines.map(|line| line.stock);
            assert_eq!(stocks[..5], [11, 49, 96, 100, 94]);
        }
    }
}

/// Where a stock row is missing no form sells the line, whatever the client's
/// last order left behind: the server refuses it and nothing changes.
#[test]
fn a16_a_missing_stock_row_is_an_error() {
    let mut ground = Ground::new();
    for params in FORMS {
        ground.reset();
        ground.run("delete from stock where s_i_id = 9 or (s_i_id = 8 and s_w_id = 2)");
        for missing in [(9, 1, 1), (8, 2, 1)] {
            let inputs = [order(1, &[(1, 1, 1), (2, 1, 1)]), order(2, &[(3, 1, 1), missing])];
            let terminals = TpccTerminals::given(params, &inputs);
            let outcome = run_failing(ground.plan(params, terminals, 1, 2));
            let states: Vec<_> = outcome.errors.iter().map(|e| e.sqlstate.as_deref()).collect();
            assert_eq!(states, [Some("23502")], "{:?}", outcome.errors);
            assert_eq!(ground.number("select count(*) from orders where o_c_id = 2"), 0);
            assert_eq!(ground.number("select sum(s_order_cnt) from stock where s_i_id = 3"), 0);
        }
        // The first of each two.
        assert_eq!(ground.number("select count(*) from orders where o_c_id = 1"), 2);
    }
}

/// So many orders of each district of warehouse 1, oldest first, of two lines
/// of 1.00 and 2.00; order o is customer (o - 1) mod 20 + 1's.
fn plant_orders(ground: &mut Ground, count: u32) {
    ground.run(&format!(
        "insert into orders select o, d, 1, (o - 1) % 20 + 1, now(), null, 2, 1 \
           from generate_series(1, 10) d, generate_series(1, {count}) o; \
         insert into new_order select o_id, o_d_id, o_w_id from orders; \
         insert into order_line select o_id, o_d_id, o_w_id, n, n, 1, null, 1, n, repeat('x', 24) \
           from orders, generate_series(1, 2) n; \
         update district set d_next_o_id = {count} + 1 where d_w_id = 1; analyze"
    ));
}

/// Assertion 21: the oldest order of each district is delivered and its
/// customer credited; a district without one is passed over and told.
#[test]
fn a21_delivery() {
    let mut ground = Ground::new();
    for params in FORMS {
        ground.reset();
        plant_orders(&mut ground, 3);
        ground.run("delete from new_order where no_d_id = 4; delete from new_order where no_d_id = 6 and no_o_id = 1");
        let delivery = Input::Delivery(Delivery { warehouse: 1, carrier: 7 });
        let (answers, outcome) = ground.play(params, &[delivery]);
        let expected: Vec<(i32, i64)> =
            [1, 2, 3, 5, 6, 7, 8, 9, 10].map(|d| (d, if d == 6 { 2 } else { 1 })).to_vec();
        assert_eq!(answers[0].delivered, expected);
        let skipped = &outcome.tally.counters[6..9];
        assert_eq!(skipped, [9, 1, 1], "delivered, skipped, deliveries with skips");
        let carried = "select count(*) from orders where o_carrier_id = 7 and \
                       o_id = case o_d_id when 6 then 2 else 1 end and o_d_id <> 4";
        assert_eq!(ground.number(carried), 9);
        assert_eq!(ground.number("select count(*) from orders where o_carrier_id is null"), 21);
        assert_eq!(
            ground.number("select count(*) from order_line where ol_delivery_d is null"),
            42
        );
        assert_eq!(ground.number("select count(*) from new_order"), 30 - 3 - 1 - 9);
        let credited = "select string_agg(concat_ws(' ', c_d_id, c_id, c_balance), ', ' \
                        order by c_d_id) from customer where c_delivery_cnt = 1";
        let expected: Vec<String> = [1, 2, 3, 5, 6, 7, 8, 9, 10]
            .map(|d| format!("{d} {} -7.00", if d == 6 { 2 } else { 1 }))
            .to_vec();
        assert_eq!(ground.text(credited), expected.join(", "));
        assert_eq!(ground.number("select sum(c_delivery_cnt) from customer"), 9);
    }
}

/// Assertion 21: in 200 rounds of two deliveries beside each other on one
/// warehouse every order is delivered once and no district passed over; the
/// conditions that a doubled credit or a lost row would break hold.
#[test]
fn a21_deliveries_side_by_side() {
    const ROUNDS: u64 = 200;
    const CLIENTS: u32 = 2;
    /// Left in each district, so that there is something to look at.
    const LEFT: u32 = 5;
    let mut ground = Ground::new();
    for params in FORMS {
        ground.reset();
        plant_orders(&mut ground, ROUNDS as u32 * CLIENTS + LEFT);
        ground.run(
            "insert into history select c_id, c_d_id, c_w_id, c_d_id, c_w_id, now(), 10, 'x' \
             from customer",
        );
        let delivery = Input::Delivery(Delivery { warehouse: 1, carrier: 7 });
        let terminals = TpccTerminals::given(params, &[delivery]);
        let outcome = run(ground.plan(params, terminals, CLIENTS, ROUNDS));
        let all = ROUNDS * u64::from(CLIENTS);
        assert_eq!(outcome.tally.total().committed, all);
        assert_eq!(outcome.tally.counters[6..9], [all * 10, 0, 0]);
        assert_eq!(ground.number("select count(*) from new_order"), 10 * i64::from(LEFT));
        let open = "select count(*) from orders where o_carrier_id is null";
        assert_eq!(ground.number(open), 10 * i64::from(LEFT));
        let deliveries = "select sum(c_delivery_cnt) from customer";
        assert_eq!(ground.number(deliveries), all as i64 * 10);
        let credited = "select (sum(c_balance + 10) * 100)::bigint from customer";
        assert_eq!(ground.number(credited), all as i64 * 10 * 300);
        let mut asked = 0;
        for condition in Tpcc::new(2, params).conditions(postgres()) {
            if ["tpcc 3", "tpcc 5", "tpcc 7", "tpcc 10", "tpcc 12"].contains(&condition.name) {
                assert_eq!(ground.number(&condition.sql), 0, "{}", condition.name);
                asked += 1;
            }
        }
        assert_eq!(asked, 5);
    }
}

/// Assertion 22: an order status tells of the latest order and all its lines;
/// a stock level counts distinct items of the last 20 orders strictly below
/// the threshold.
#[test]
fn a22_questions() {
    let mut ground = Ground::new();
    for params in FORMS {
        ground.reset();
        plant_orders(&mut ground, 45);
        ground.run("delete from order_line where ol_o_id = 41 and ol_number = 2");
        let status =
            |district, who| Input::OrderStatus(OrderStatus { warehouse: 1, district, who });
        let (answers, _) = ground.play(
            params,
            &[status(2, Who::Number(1)), status(2, Who::Number(5)), status(9, Who::Number(6))],
        );
        let told: Vec<(i64, u64)> = answers.iter().map(|a| (a.number, a.rows)).collect();
        assert_eq!(told, [(41, 1), (45, 2), (26, 2)]);
        // Nobody ordered there, as it may be in HammerDB's tables.
        let none = OrderStatus { warehouse: 2, district: 2, who: Who::Number(1) };
        let (answers, _) = ground.play(params, &[Input::OrderStatus(none)]);
        assert_eq!((answers[0].number, answers[0].rows), (0, 1));
        assert_eq!(answers[0].first_name, b"first1");

        // Orders 26 to 45 count; each has one more line with an item of its own.
        ground.run(
            "insert into order_line select o_id, o_d_id, o_w_id, 3, o_id, 1, null, 1, 1, \
             repeat('x', 24) from orders where o_d_id = 2; \
             update stock set s_quantity = case s_i_id when 1 then 14 when 2 then 15 when 25 then 10 \
             when 26 then 10 when 45 then 14 when 44 then 15 else 99 end where s_w_id = 1; \
             update stock set s_quantity = 1 where s_w_id = 2",
        );
        let level =
            |threshold| Input::StockLevel(StockLevel { warehouse: 1, district: 2, threshold });
        let (answers, _) = ground.play(params, &[level(15), level(16), level(10), level(11)]);
        let low: Vec<i64> = answers.iter().map(|answer| answer.number).collect();
        assert_eq!(low, [3, 5, 0, 1]);
        let brute = ground.number(
            "select count(*) from (select distinct ol_i_id from order_line where ol_w_id = 1 \
             and ol_d_id = 2 and ol_o_id between 26 and 45) i where exists (select 1 from stock \
             where s_w_id = 1 and s_i_id = ol_i_id and s_quantity < 15)",
        );
        assert_eq!(low[0], brute);
    }
}
