//! Payments, and customers by name.

use pgdyno_workload::tpcc::input::{Input, OrderStatus, Payment, Who};

use crate::ground::{FORMS, Ground};

fn payment(home: (i32, i32), of: (i32, i32), who: Who, cents: i64) -> Input {
    Input::Payment(Payment {
        warehouse: home.0,
        district: home.1,
        customer_warehouse: of.0,
        customer_district: of.1,
        who,
        cents,
    })
}

/// Assertion 20: a payment changes warehouse, district and customer by its
/// amount and adds one row of history; bad credit gets it into its data.
#[test]
fn a20_payment() {
    let mut ground = Ground::new();
    for params in FORMS {
        ground.reset();
        ground.run("update customer set c_data = repeat('z', 500) where c_id = 4");
        let inputs = [
            payment((1, 2), (1, 2), Who::Number(3), 12_345),
            payment((1, 2), (2, 7), Who::Number(4), 500_000),
            payment((1, 2), (1, 2), Who::Number(6), 1),
        ];
        let (answers, outcome) = ground.play(params, &inputs);
        assert_eq!(outcome.tally.total().committed, 3);
        assert_eq!(answers.iter().map(|a| a.number).collect::<Vec<_>>(), [3, 4, 6]);
        // Remote, by name, cents.
        assert_eq!(outcome.tally.counters[2..5], [1, 0, 512_346]);
        assert_eq!(ground.text("select w_ytd from warehouse where w_id = 1"), "5423.46");
        assert_eq!(ground.text("select w_ytd from warehouse where w_id = 2"), "300.00");
        let district = "select string_agg(d_ytd::text, ' ' order by d_ytd) from district \
                        where d_ytd <> 30";
        assert_eq!(ground.text(district), "5153.46");
        let customers = "select string_agg(concat_ws(' ', c_w_id, c_d_id, c_id, c_balance, \
                         c_ytd_payment, c_payment_cnt), ', ' order by c_id) from customer \
                         where c_payment_cnt <> 1";
        assert_eq!(
            ground.text(customers),
            "1 2 3 -133.45 133.45 2, 2 7 4 -5010.00 5010.00 2, 1 2 6 -10.01 10.01 2"
        );
        let history = "select string_agg(concat_ws('|', h_c_id, h_c_d_id, h_c_w_id, h_d_id, \
                       h_w_id, h_amount, h_data), ', ' order by h_c_id) from history";
        assert_eq!(
            ground.text(history),
            "3|2|1|2|1|123.45|house1    dist2, 4|7|2|2|1|5000.00|house1    dist2, \
             6|2|1|2|1|0.01|house1    dist2"
        );
        let data = |ground: &mut Ground, w: i32, d: i32, c: i32| {
            ground.text(&format!(
                "select c_data from customer where c_w_id = {w} and c_d_id = {d} and c_id = {c}"
            ))
        };
        assert_eq!(data(&mut ground, 1, 2, 3), "old data");
        assert_eq!(data(&mut ground, 1, 2, 6), "6 2 1 2 1 0.01 old data");
        let long = data(&mut ground, 2, 7, 4);
        assert_eq!((long.len(), &long[..19]), (500, "4 7 2 2 1 5000.00 z"));
    }
}

/// Assertion 19: of n customers of one name the one in the middle is taken,
/// rounded up, in binary order of first names, by both transactions and for
/// customers of other warehouses as well.
#[test]
fn a19_the_customer_in_the_middle() {
    // In the order of a dictionary, or of ICU, these stand otherwise.
    const FIRST: [&str; 6] = ["B1", "Z2", "a3", "a4", "b5", "c6"];
    let mut ground = Ground::new();
    for params in FORMS {
        ground.reset();
        // District n has n customers of that name, among others.
        for (at, first) in FIRST.iter().enumerate() {
            ground.run(&format!(
                "update customer set c_last = 'BARBARABLE', c_first = '{first}' \
                 where c_id = {} and c_d_id > {at}",
                20 - at
            ));
        }
        ground.run(
            "insert into orders select c_id, c_d_id, c_w_id, c_id, now(), null, 1, 1 from customer; \
             insert into order_line select o_id, o_d_id, o_w_id, 1, 1, 1, null, 1, 1, \
             repeat('x', 24) from orders",
        );
        let name = Who::Name(2);
        for n in 1..=6 {
            let status = OrderStatus { warehouse: 1, district: n, who: name };
            let inputs = [
                payment((1, n), (1, n), name, 100),
                payment((1, 9), (2, n), name, 100),
                Input::OrderStatus(status),
            ];
            let (answers, _) = ground.play(params, &inputs);
            let middle = FIRST[(n as usize).div_ceil(2) - 1].as_bytes();
            for answer in &answers {
                assert_eq!(answer.first_name, middle, "{n} customers, {:?}", answer.input);
            }
            // Order and customer have one number here.
            assert_eq!(answers[2].number, answers[0].number);
        }
    }
}
