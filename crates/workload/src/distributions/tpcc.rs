//! TPC-C: what is drawn for its rows and by its terminals.

use super::{DRAWS, expected};
use crate::registry::{Choice, make};
use crate::testing::{Cells, assert_fits, assert_uniform};
use crate::tpcc::Profile;
use crate::tpcc::deck::{CARDS, Deck, KINDS, Kind, think};
use crate::tpcc::input::{Drawer, Homes, Input, Who};
use crate::tpcc::random::{
    A_C_ID, A_C_LAST, A_OL_I_ID, Constants, Rng, is_legal_run_constant, push_last_name,
};

fn rng(key: u64) -> Rng {
    Rng::new(20_261_121, 5, key)
}

/// Numbers and fractions are even, in one stream and over neighbouring ones.
#[test]
fn numbers_are_even() {
    let mut one = rng(1);
    for n in [2i64, 3, 10, 91, 100_000, 1 << 62] {
        let (mut within, mut over) = (Cells::new(0..=n - 1), Cells::new(0..=n - 1));
        for key in 0..DRAWS {
            within.add(one.below(n as u64) as i64);
            over.add(rng(key).below(n as u64) as i64);
        }
        within.assert_even(&format!("below {n}"));
        over.assert_even(&format!("first number below {n} of a key"));
    }
    let mut cells = Cells::new(0..=99);
    for _ in 0..DRAWS {
        // 1 is in the range, 0 is not.
        cells.add((one.unit() * 100.0).ceil() as i64 - 1);
    }
    cells.assert_even("fractions");
}

/// Letters are even at each place of a string and after any other letter;
/// digits at each place, beyond those of one draw as well.
#[test]
fn letters_and_digits_are_even() {
    const LETTERS: usize = 62;
    let place = |letter: u8| match letter {
        b'0'..=b'9' => usize::from(letter - b'0'),
        b'A'..=b'Z' => usize::from(letter - b'A') + 10,
        _ => usize::from(letter - b'a') + 36,
    };
    let mut places = vec![vec![0u64; LETTERS]; 8];
    let mut pairs = vec![0u64; LETTERS * LETTERS];
    let mut digits = vec![vec![0u64; 10]; 20];
    let (mut one, mut out) = (rng(2), Vec::new());
    for _ in 0..30_000 {
        out.clear();
        one.push_letters(8, &mut out);
        for (counts, letter) in places.iter_mut().zip(&out) {
            counts[place(*letter)] += 1;
        }
        for pair in out.windows(2) {
            pairs[place(pair[0]) * LETTERS + place(pair[1])] += 1;
        }
        out.clear();
        one.push_digits(20, &mut out);
        for (counts, digit) in digits.iter_mut().zip(&out) {
            counts[usize::from(digit - b'0')] += 1;
        }
    }
    for (at, counts) in places.iter().enumerate() {
        assert_uniform(counts, &format!("letters at place {at}"));
    }
    assert_uniform(&pairs, "pairs of letters");
    for (at, counts) in digits.iter().enumerate() {
        assert_uniform(counts, &format!("digits at place {at}"));
    }
    let mut lengths = Cells::new(300..=500);
    for _ in 0..DRAWS {
        out.clear();
        one.push_text(300, 500, &mut out);
        lengths.add(out.len() as i64);
    }
    lengths.assert_even("lengths of a-strings");
}

/// Each of the 24 orders of four things is as likely.
#[test]
fn shuffles_are_even() {
    let mut counts = std::collections::BTreeMap::new();
    let mut one = rng(3);
    for _ in 0..DRAWS {
        let mut list = [0, 1, 2, 3];
        one.shuffle(&mut list);
        *counts.entry(list).or_insert(0u64) += 1;
    }
    assert_eq!(counts.len(), 24);
    assert_uniform(&counts.into_values().collect::<Vec<_>>(), "orders");
}

/// In how many ways `low | value` gives each number, for `low` of 0 to `a` and
/// `value` of `first` to `last`.
fn ways(a: u64, first: u64, last: u64) -> Vec<u64> {
    let mut ways = vec![0u64; (last.max(a) + 1).next_power_of_two() as usize];
    // Blocks in which the bits of `a` take all values have a closed form:
    // three ways for each bit that is set.
    let block = a + 1;
    assert!(block.is_power_of_two());
    let mut value = first;
    while value <= last {
        if value.is_multiple_of(block) && value + a <= last {
            for low in 0..block {
                ways[(value + low) as usize] += 3u64.pow(low.count_ones());
            }
            value += block;
        } else {
            for low in 0..block {
                ways[(low | value) as usize] += 1;
            }
            value += 1;
        }
    }
    ways
}

/// Expected weights of `NURand` in cells of `width` values of `first ..= last`.
fn nurand_weights(a: u64, first: u64, last: u64, c: u64, width: u64) -> Vec<f64> {
    let range = last - first + 1;
    let mut weights = vec![0.0; range.div_ceil(width) as usize];
    for (number, ways) in ways(a, first, last).into_iter().enumerate() {
        let value = (number as u64 + c) % range;
        weights[(value / width) as usize] += ways as f64;
    }
    weights
}

/// `NURand` of all three fields, items in cells of a hundred; the function as
/// well as what terminals make of it with their run's constants.
#[test]
fn nurand_fits() {
    const SCALE: u64 = 10;
    let constants = Constants::of_run(42, 100);
    let homes = Homes::one(3, SCALE);
    let mut drawer = Drawer::new(rng(4), homes, 3, constants, Profile::Faithful);
    let (mut names, mut customers, mut items) = (vec![0u64; 50], vec![0u64; 60], vec![0u64; 1000]);
    let (mut named, mut numbered, mut lines) = (0u64, 0u64, 0u64);
    while named < DRAWS || lines < 5 * DRAWS {
        if let Input::OrderStatus(status) = drawer.draw(Kind::OrderStatus) {
            match status.who {
                Who::Name(name) => {
                    names[usize::from(name) / 20] += 1;
                    named += 1;
                }
                Who::Number(customer) => {
                    customers[(customer as usize - 1) / 50] += 1;
                    numbered += 1;
                }
            }
        }
        if let Input::NewOrder(order) = drawer.draw(Kind::NewOrder) {
            for line in order.lines().iter().filter(|line| line.item <= 100_000) {
                items[(line.item as usize - 1) / 100] += 1;
                lines += 1;
            }
        }
    }
    let all = [
        (names, named, nurand_weights(A_C_LAST, 0, 999, constants.c_last, 20), "last names"),
        (customers, numbered, nurand_weights(A_C_ID, 1, 3000, constants.c_id, 50), "customers"),
        (items, lines, nurand_weights(A_OL_I_ID, 1, 100_000, constants.ol_i_id, 100), "items"),
    ];
    for (found, count, weights, what) in all {
        let sum: f64 = weights.iter().sum();
        let wanted: Vec<f64> = weights.iter().map(|one| one / sum * count as f64).collect();
        assert_fits(&found, &wanted, what);
        // It would not pass for an even draw.
        let even = vec![count as f64 / found.len() as f64; found.len()];
        assert!(crate::testing::chi_square(&found, &even).0 > 1000.0, "{what}");
    }
}

/// Each legal constant of a run is as likely, and each one of a load.
#[test]
fn constants_are_even() {
    let mut loads = Cells::new(0..=255);
    for seed in 0..DRAWS {
        loads.add(Constants::of_load(seed).c_last as i64);
    }
    loads.assert_even("C of loads");
    let legal: Vec<u64> = (0..=A_C_LAST).filter(|run| is_legal_run_constant(100, *run)).collect();
    let mut counts = vec![0u64; legal.len()];
    for seed in 0..DRAWS {
        let c = Constants::of_run(seed, 100).c_last;
        counts[legal.iter().position(|run| *run == c).unwrap()] += 1;
    }
    assert_uniform(&counts, "C of runs");
}

/// A card is as likely at each place of the deck; `HammerDB` draws each type
/// by its weight.
#[test]
fn cards_are_even() {
    let mut one = rng(5);
    let mut deck = Deck::new(Profile::Faithful);
    let mut places = vec![vec![0u64; CARDS]; KINDS.len()];
    for turn in 0..20_000 * CARDS {
        places[deck.draw(&mut one).index()][turn % CARDS] += 1;
    }
    for (kind, counts) in KINDS.iter().zip(&places) {
        // Ten cards of one kind are apart from each other in a deck, so their
        // places are more even than chance.
        assert_uniform(counts, &format!("places of {kind:?}"));
    }
    let mut deck = Deck::new(Profile::Hammerdb);
    let mut counts = vec![0u64; KINDS.len()];
    for _ in 0..DRAWS {
        counts[deck.draw(&mut one).index()] += 1;
    }
    let weights = KINDS.map(|kind| f64::from(kind.cards()));
    assert_fits(&counts, &expected(&weights), "types");
}

/// Think times are exponential up to ten means.
#[test]
fn think_times_are_exponential() {
    const CLASSES: usize = 50;
    let mut one = rng(6);
    for mean_s in [5u64, 10, 12] {
        let mut counts = vec![0u64; CLASSES];
        for _ in 0..DRAWS {
            let means = think(&mut one, mean_s).as_secs_f64() / mean_s as f64;
            let share = 1.0 - (-means).exp();
            counts[((share * CLASSES as f64) as usize).min(CLASSES - 1)] += 1;
        }
        assert_uniform(&counts, "think times");
    }
}

/// What terminals draw evenly, and the shares of what they draw by lot.
#[test]
fn inputs_are_even() {
    let constants = Constants::of_run(42, 100);
    let mut drawer = Drawer::new(rng(7), Homes::one(3, 10), 3, constants, Profile::Faithful);
    let cells = |first, last| Cells::new(first..=last);
    let mut cents = cells(100, 500_000);
    let (mut districts, mut others) = (cells(1, 10), cells(1, 9));
    let (mut carriers, mut thresholds) = (cells(1, 10), cells(10, 20));
    let (mut counts, mut quantities) = (cells(5, 15), cells(1, 10));
    let (mut remote, mut invalid, mut named) = (0, 0, 0);
    for _ in 0..DRAWS {
        for kind in KINDS {
            match drawer.draw(kind) {
                Input::NewOrder(order) => {
                    counts.add(order.count as i64);
                    quantities.add(order.lines()[0].quantity.into());
                    invalid += u64::from(order.is_invalid());
                }
                Input::Payment(payment) => {
                    cents.add(payment.cents);
                    districts.add(payment.district.into());
                    named += u64::from(matches!(payment.who, Who::Name(_)));
                    let other = payment.customer_warehouse;
                    if other != payment.warehouse {
                        remote += 1;
                        others.add(i64::from(other) - i64::from(other > payment.warehouse));
                    }
                }
                Input::Delivery(delivery) => carriers.add(delivery.carrier.into()),
                Input::StockLevel(level) => thresholds.add(level.threshold.into()),
                Input::OrderStatus(_) => {}
            }
        }
    }
    for (cells, what) in [
        (cents, "amounts"),
        (districts, "districts"),
        (others, "other warehouses"),
        (carriers, "carriers"),
        (thresholds, "thresholds"),
        (counts, "lines of an order"),
        (quantities, "quantities"),
    ] {
        cells.assert_even(what);
    }
    for (count, share, what) in
        [(remote, 0.15, "remote payments"), (invalid, 0.01, "rollbacks"), (named, 0.6, "by name")]
    {
        assert_fits(&[count, DRAWS - count], &expected(&[share, 1.0 - share]), what);
    }
}

/// The names of clause 4.3.2.3 are a thousand different ones, so that what
/// holds of their numbers holds of them.
#[test]
fn names_are_as_many_as_numbers() {
    let mut names = std::collections::BTreeSet::new();
    for number in 0..1000 {
        let mut name = Vec::new();
        push_last_name(number, &mut name);
        names.insert(name);
    }
    assert_eq!(names.len(), 1000);
}

/// A column of loaded rows, as a number.
type Read = fn(&str) -> i64;

/// Loaded values are even over their domains.
#[test]
fn loaded_values_are_even() {
    /// Decimal numbers as whole ones.
    const WHOLE: Read = |text| text.replace('.', "").parse().unwrap();
    const LENGTH: Read = |text| text.len() as i64;
    let tpcc = make(&Choice { name: "tpcc", scale: 50, params: &[] }).unwrap();
    let columns: [(&str, &str, Read, i64, i64); 16] = [
        ("item", "i_im_id", WHOLE, 1, 10_000),
        ("item", "i_price", WHOLE, 100, 10_000),
        ("item", "i_name", LENGTH, 14, 24),
        ("item", "i_data", LENGTH, 26, 50),
        ("stock", "s_quantity", WHOLE, 10, 100),
        ("stock", "s_data", LENGTH, 26, 50),
        ("district", "d_tax", WHOLE, 0, 2000),
        ("district", "d_name", LENGTH, 6, 10),
        ("customer", "c_discount", WHOLE, 0, 5000),
        ("customer", "c_first", LENGTH, 8, 16),
        ("customer", "c_city", LENGTH, 10, 20),
        ("customer", "c_data", LENGTH, 300, 500),
        ("history", "h_data", LENGTH, 12, 24),
        ("orders", "o_carrier_id", WHOLE, 1, 10),
        ("order_line", "ol_i_id", WHOLE, 1, 100_000),
        ("order_line", "ol_amount", WHOLE, 1, 999_999),
    ];
    let mut texts = std::collections::BTreeMap::new();
    for (table, column, read, first, last) in columns {
        let number = tpcc.tables().iter().position(|one| one.name == table).unwrap();
        let text: &String = texts.entry(number).or_insert_with(|| {
            let rows = tpcc.tables()[number].rows.min(30_000);
            let mut text = Vec::new();
            tpcc.write_rows(number, 0..rows, 20_261_121, &mut text);
            String::from_utf8(text).unwrap()
        });
        let at = tpcc.tables()[number].columns.iter().position(|name| *name == column).unwrap();
        let mut cells = Cells::new(first..=last);
        for value in text.lines().map(|line| line.split('\t').nth(at).unwrap()) {
            // What is not delivered has no carrier; what is, has no amount.
            if value != "\\N" && value != "0.00" || column == "d_tax" || column == "c_discount" {
                cells.add(read(value));
            }
        }
        cells.assert_even(&format!("{table}.{column}"));
    }
}
