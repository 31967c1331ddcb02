//! The inputs have the shares and ranges that the clauses give them.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

use super::*;
use crate::tpcc::random::is_legal_run_constant;

const SAMPLES: u64 = 200_000;

fn drawer(client: u64, homes: Homes, profile: Profile) -> Drawer {
    let constants = Constants::of_run(42, 100);
    assert!(is_legal_run_constant(100, constants.c_last));
    Drawer::new(Rng::new(42, 7, client), homes, 3, constants, profile)
}

fn new_orders(drawer: &mut Drawer, count: u64) -> Vec<NewOrder> {
    let one = |_| match drawer.draw(Kind::NewOrder) {
        Input::NewOrder(order) => order,
        other => panic!("{other:?}"),
    };
    (0..count).map(one).collect()
}

fn payments(drawer: &mut Drawer, count: u64) -> Vec<Payment> {
    let one = |_| match drawer.draw(Kind::Payment) {
        Input::Payment(payment) => payment,
        other => panic!("{other:?}"),
    };
    (0..count).map(one).collect()
}

/// A share of `p` is met within four deviations.
fn assert_share(found: usize, of: u64, p: f64) {
    let share = found as f64 / of as f64;
    let tolerance = 4.0 * (p * (1.0 - p) / of as f64).sqrt();
    assert!((share - p).abs() <= tolerance, "{share} is not {p} ± {tolerance}");
}

/// All cells are equally likely, at a significance far below 1e-4.
fn assert_even(counts: &HashMap<i32, u64>, cells: usize) {
    assert_eq!(counts.len(), cells, "{counts:?}");
    let all: u64 = counts.values().sum();
    let expected = all as f64 / cells as f64;
    let chi: f64 = counts.values().map(|n| (*n as f64 - expected).powi(2) / expected).sum();
    let freedom = (cells - 1) as f64;
    assert!(chi < freedom + 5.0 * (2.0 * freedom).sqrt() + 10.0, "{chi} over {cells}");
}

fn tally(values: impl Iterator<Item = i32>) -> HashMap<i32, u64> {
    let mut counts = HashMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    counts
}

/// The most frequent value comes up as often as NURand has it: drawn evenly it
/// would be far rarer. A tenth is more than four deviations of these samples.
fn assert_hottest(values: impl Iterator<Item = i32>, percent: f64) {
    let counts = tally(values);
    let all: u64 = counts.values().sum();
    let share = counts.values().max().map_or(0.0, |most| *most as f64 / all as f64 * 100.0);
    assert!((share / percent - 1.0).abs() < 0.1, "{share} % is not {percent} %");
}

/// Assertion 11: new orders at 10 warehouses: 1 % roll back by their last
/// line alone, 5 to 15 lines evenly, 1 % of lines remote and never from home,
/// evenly from the other nine.
#[test]
fn a11_new_orders() {
    let orders = new_orders(&mut drawer(3, Homes::one(3, 10), Profile::Faithful), SAMPLES);
    assert_share(orders.iter().filter(|order| order.is_invalid()).count(), SAMPLES, 0.01);
    assert_even(&tally(orders.iter().map(|order| order.count as i32)), 11);
    let lines: u64 = orders.iter().map(|order| order.count as u64).sum();
    assert!((lines as f64 / SAMPLES as f64 - 10.0).abs() < 0.029);
    let remote = || {
        let lines = orders.iter().flat_map(NewOrder::lines);
        lines.filter(|line| line.supply != 4).map(|line| line.supply)
    };
    assert_share(remote().count(), lines, 0.01);
    assert_even(&tally(remote()), 9);
    assert_even(&tally(orders.iter().map(|order| order.district)), 10);
    let quantities = orders.iter().flat_map(NewOrder::lines).map(|line| line.quantity);
    assert_even(&tally(quantities), 10);
    assert_hottest(orders.iter().map(|order| order.customer), 1.922);
    let items = orders.iter().flat_map(NewOrder::lines).map(|line| line.item);
    assert_hottest(items.filter(|item| *item != UNUSED_ITEM), 0.1946);
    for order in &orders {
        assert_eq!(order.warehouse, 4);
        assert!((1..=3000).contains(&order.customer));
        let (last, others) = order.lines().split_last().unwrap();
        assert!(others.iter().all(|line| (1..=100_000).contains(&line.item)));
        assert!((1..=100_000).contains(&last.item) || last.item == UNUSED_ITEM);
        assert!(order.lines().iter().all(|line| (1..=10).contains(&line.supply)));
    }
}

/// Assertion 12: payments: 15 % remote, 60 % by name, independently of each
/// other; amounts in cents; local customers are of the home district.
#[test]
fn a12_payments() {
    let payments = payments(&mut drawer(0, Homes::one(0, 10), Profile::Faithful), SAMPLES);
    let is_remote = |p: &&Payment| p.customer_warehouse != p.warehouse;
    let by_name = |p: &&Payment| matches!(p.who, Who::Name(_));
    assert_share(payments.iter().filter(is_remote).count(), SAMPLES, 0.15);
    assert_share(payments.iter().filter(by_name).count(), SAMPLES, 0.60);
    let both = payments.iter().filter(|p| is_remote(p) && by_name(p)).count();
    assert_share(both, SAMPLES, 0.15 * 0.60);
    assert!(payments.iter().all(|p| (100..=500_000).contains(&p.cents)));
    assert_share(payments.iter().filter(|p| p.cents % 100 == 0).count(), SAMPLES, 0.01);
    for payment in payments.iter().filter(|p| !is_remote(p)) {
        assert_eq!(payment.customer_district, payment.district);
    }
    let districts = payments.iter().filter(is_remote).map(|p| p.customer_district);
    assert_even(&tally(districts), 10);
    assert_even(&tally(payments.iter().map(|p| p.district)), 10);
    let warehouses = payments.iter().filter(is_remote).map(|p| p.customer_warehouse);
    assert_even(&tally(warehouses), 9);
    // Ten even parts of the amounts, and both ends.
    assert_even(&tally(payments.iter().map(|p| ((p.cents - 100) * 10 / 499_901) as i32)), 10);
    let cents = || payments.iter().map(|p| p.cents);
    assert!(cents().min() < Some(200) && cents().max() > Some(499_900));
    let of_name = |p: &Payment| match p.who {
        Who::Name(name) => Some(i32::from(name)),
        Who::Number(_) => None,
    };
    let of_number = |p: &Payment| match p.who {
        Who::Number(number) => Some(number),
        Who::Name(_) => None,
    };
    assert_hottest(payments.iter().filter_map(of_name), 2.563);
    assert_hottest(payments.iter().filter_map(of_number), 1.922);
    let one = self::payments(&mut drawer(0, Homes::one(0, 1), Profile::Faithful), 2000);
    assert!(one.iter().all(|p| p.customer_warehouse == 1));
}

/// Assertion 12, of the order status: 60 % by name. The other two have their
/// ranges, and a stock level asks for the terminal's own district.
#[test]
fn a12_the_other_inputs() {
    let mut drawer = drawer(0, Homes::one(0, 2), Profile::Faithful);
    let mut by_name = 0;
    let (mut carriers, mut thresholds) = (HashMap::new(), HashMap::new());
    for _ in 0..20_000 {
        match drawer.draw(Kind::OrderStatus) {
            Input::OrderStatus(input) => by_name += usize::from(matches!(input.who, Who::Name(_))),
            other => panic!("{other:?}"),
        }
        match drawer.draw(Kind::Delivery) {
            Input::Delivery(input) => *carriers.entry(input.carrier).or_default() += 1,
            other => panic!("{other:?}"),
        }
        match drawer.draw(Kind::StockLevel) {
            Input::StockLevel(input) => {
                assert_eq!((input.warehouse, input.district), (1, 3));
                *thresholds.entry(input.threshold).or_default() += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_share(by_name, 20_000, 0.6);
    assert_even(&carriers, 10);
    assert_even(&thresholds, 11);
}

/// Assertion 15: a terminal's inputs come from its seed and number alone.
#[test]
fn a15_inputs_are_determined() {
    let hash = |client| {
        let mut drawer = drawer(client, Homes::one(client, 5), Profile::Faithful);
        let kinds = crate::tpcc::deck::KINDS;
        let inputs: Vec<Input> =
            kinds.into_iter().cycle().take(1000).map(|kind| drawer.draw(kind)).collect();
        BuildHasherDefault::<DefaultHasher>::default().hash_one(inputs)
    };
    assert_eq!((0..20).map(hash).collect::<Vec<_>>(), (0..20).map(hash).collect::<Vec<_>>());
    assert_ne!(hash(1), hash(2));
}

/// Of the warehouses that clients share, each belongs to one client where the
/// clients divide them, and none is left out in any case.
#[test]
fn all_warehouses_are_covered() {
    for (clients, warehouses, exact) in
        [(4, 16, true), (16, 16, true), (3, 16, false), (16, 4, false), (1, 7, true)]
    {
        let counts = tally(
            (0..clients)
                .flat_map(|v| Homes::share(v, clients, warehouses).all().collect::<Vec<_>>()),
        );
        assert_eq!(counts.len() as u64, warehouses);
        assert!(counts.keys().all(|w| (1..=warehouses as i32).contains(w)));
        assert!(!exact || counts.values().all(|n| *n == 1), "{counts:?}");
    }
    let even = tally((0..40).flat_map(|v| Homes::one(v, 4).all().collect::<Vec<_>>()));
    assert_even(&even, 4);
    assert!(even.values().all(|n| *n == 10));
}

/// HammerDB's work: no order is rolled back, amounts are whole, items and
/// customers are drawn evenly.
#[test]
fn hammerdb_draws_otherwise() {
    let mut drawer = drawer(0, Homes::one(0, 2), Profile::Hammerdb);
    let orders = new_orders(&mut drawer, 50_000);
    assert!(!orders.iter().any(NewOrder::is_invalid));
    let lines: u64 = orders.iter().map(|order| order.count as u64).sum();
    let remote = orders.iter().map(NewOrder::remote_lines).sum();
    // Half of the draws among two warehouses are home.
    assert_share(remote, lines, 0.005);
    let low = orders.iter().flat_map(NewOrder::lines).filter(|line| line.item <= 50_000).count();
    assert_share(low, lines, 0.5);
    assert_share(orders.iter().filter(|o| o.customer <= 1500).count(), 50_000, 0.5);
    assert!(payments(&mut drawer, 5000).iter().all(|p| p.cents % 100 == 0));
}
