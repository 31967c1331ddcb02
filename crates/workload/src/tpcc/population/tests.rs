//! The population against clause 4.3.3, read back from the COPY text.

use std::ops::Range;

use proptest::prelude::*;

use super::*;
use crate::tpcc::Params;
use crate::workload::Workload;

fn tpcc(profile: Profile, scale: u64) -> Tpcc {
    Tpcc::new(scale, Params { profile, ..Params::default() })
}

fn text(tpcc: &Tpcc, table: usize, rows: Range<u64>) -> String {
    let mut out = Vec::new();
    tpcc.write_rows(table, rows, SEED, &mut out);
    String::from_utf8(out).unwrap()
}

const SEED: u64 = 4711;

fn fields(line: &str) -> Vec<&str> {
    line.split('\t').collect()
}

fn number(text: &str) -> u64 {
    text.parse().unwrap()
}

/// An amount in cents.
fn cents(text: &str) -> i64 {
    text.replace('.', "").parse().unwrap()
}

fn within_sigmas(count: usize, n: usize, share: f64) -> bool {
    let (count, n) = (count as f64, n as f64);
    (count / n - share).abs() <= 4.0 * (share * (1.0 - share) / n).sqrt()
}

proptest! {
    /// Any split of a range gives the same bytes as the whole range, for every
    /// table, within and across districts and warehouses.
    #[test]
    fn a02_splits_give_the_same_bytes(
        table in 0usize..10, hammerdb in any::<bool>(), start in any::<u64>(),
        pieces in prop::collection::vec(1u64..700, 1..5),
    ) {
        let profile = if hammerdb { Profile::Hammerdb } else { Profile::Faithful };
        let tpcc = tpcc(profile, 70_000);
        let count = tpcc.tables()[table].rows;
        let start = start % count;
        let end = start + pieces.iter().sum::<u64>();
        let mut split = String::new();
        let mut at = start;
        for piece in pieces {
            split += &text(&tpcc, table, at..at + piece);
            at += piece;
        }
        let whole = text(&tpcc, table, start..end);
        prop_assert_eq!(whole.lines().count() as u64, end.min(count) - start);
        prop_assert_eq!(split, whole);
    }
}

/// Assertion 2: another seed gives other rows in every table with a random
/// column, and the number of warehouses changes no row of the first.
#[test]
fn a02_seed_decides() {
    let small = tpcc(Profile::Faithful, 1);
    let mut large = tpcc(Profile::Faithful, 50);
    large.time.clone_from(&small.time);
    for table in [ITEM, WAREHOUSE, DISTRICT, STOCK, CUSTOMER, HISTORY, ORDER, ORDER_LINE] {
        let rows = 0..small.tables()[table].rows.min(100);
        assert_eq!(text(&small, table, rows.clone()), text(&large, table, rows.clone()));
        let mut other = Vec::new();
        small.write_rows(table, rows.clone(), SEED + 1, &mut other);
        assert_ne!(text(&small, table, rows).into_bytes(), other, "{table}");
    }
}

/// Assertion 1, the layout: every key is there once, in order, across districts
/// and warehouses.
#[test]
fn a01_keys_are_complete() {
    let tpcc = tpcc(Profile::Faithful, 2);
    let whole = |table: usize| text(&tpcc, table, 0..u64::MAX);
    for (table, per_district) in [(CUSTOMER, 3000), (ORDER, 3000)] {
        for (row, line) in (0u64..).zip(whole(table).lines()) {
            let of = fields(line);
            let district = row / per_district;
            let expected = [row % per_district + 1, district % 10 + 1, district / 10 + 1];
            assert_eq!([number(of[0]), number(of[1]), number(of[2])], expected);
        }
    }
    let mut expected = Vec::new();
    for line in whole(ORDER).lines() {
        let of = fields(line);
        expected
            .extend((1..=number(of[6])).map(|n| format!("{}\t{}\t{}\t{n}", of[0], of[1], of[2])));
    }
    let lines = whole(ORDER_LINE);
    let mut count = 0;
    for (line, expected) in lines.lines().zip(&expected) {
        assert!(line.starts_with(expected.as_str()), "{line} {expected}");
        count += 1;
    }
    assert_eq!((count, expected.len()), (600_000, 600_000));
}

/// Assertion 5: the first thousand customers have each name once, in order;
/// the others fit NURand with the load's constant.
#[test]
fn a05_last_names_fit_nurand() {
    let tpcc = tpcc(Profile::Faithful, 2);
    let c = load_constants(Profile::Faithful, SEED).c_last;
    let names: Vec<String> = (0..1000)
        .map(|number| {
            let mut out = Vec::new();
            push_last_name(number, &mut out);
            String::from_utf8(out).unwrap()
        })
        .collect();
    let numbers: std::collections::HashMap<&str, usize> =
        names.iter().enumerate().map(|(number, name)| (name.as_str(), number)).collect();
    assert_eq!(numbers.len(), 1000);
    let mut counts = [0u64; 1000];
    for (row, line) in text(&tpcc, CUSTOMER, 0..60_000).lines().enumerate() {
        let name = numbers[fields(line)[5]];
        match row % 3000 {
            id if id < 1000 => assert_eq!(name, id),
            _ => counts[name] += 1,
        }
    }
    let mut ways = vec![0u64; 1000];
    for low in 0..256u64 {
        for value in 0..1000u64 {
            ways[(((low | value) + c) % 1000) as usize] += 1;
        }
    }
    // Cells of few expected names are taken together, as chi-square wants it.
    let (mut chi, mut cells, mut rest) = (0.0, 0.0, (0.0, 0.0));
    for (&count, &ways) in counts.iter().zip(&ways) {
        let (found, expected) = (count as f64, ways as f64 / 256_000.0 * 40_000.0);
        if expected < 5.0 {
            rest = (rest.0 + found, rest.1 + expected);
        } else {
            chi += (found - expected).powi(2) / expected;
            cells += 1.0;
        }
    }
    chi += (rest.0 - rest.1).powi(2) / rest.1.max(1.0);
    assert!(cells > 100.0 && chi < cells + 4.0 * (2.0f64 * cells).sqrt(), "{chi} over {cells}");
}

/// Assertion 6: a tenth of the rows is marked, at any place of the string, and
/// a tenth of the customers has bad credit.
#[test]
fn a06_shares_of_the_marker_and_of_bad_credit() {
    let tpcc = tpcc(Profile::Faithful, 2);
    for (table, column) in [(ITEM, 4), (STOCK, 16)] {
        let (mut marked, mut at_start, mut at_end) = (0, 0, 0);
        let mut lengths = [0u32; 25];
        let text = text(&tpcc, table, 0..100_000);
        for line in text.lines() {
            let data = fields(line)[column];
            lengths[data.len() - 26] += 1;
            if let Some(at) = data.find("ORIGINAL") {
                marked += 1;
                at_start += usize::from(at == 0);
                at_end += usize::from(at + 8 == data.len());
            }
        }
        assert!(within_sigmas(marked, 100_000, 0.1), "{marked}");
        assert!(at_start > 200 && at_end > 200, "{at_start} {at_end}");
        assert!(lengths.iter().all(|&n| n > 3000), "{lengths:?}");
    }
    let bad = text(&tpcc, CUSTOMER, 0..60_000).matches("\tBC\t").count();
    assert!(within_sigmas(bad, 60_000, 0.1), "{bad}");
}

/// Assertion 7: orders to 2100 are delivered and of no amount, the others have
/// neither carrier nor date, but an amount and a row in `new_order`.
#[test]
fn a07_undelivered_rule() {
    let tpcc = tpcc(Profile::Faithful, 1);
    let mut carriers = [0u32; 11];
    let mut entries = Vec::new();
    for line in text(&tpcc, ORDER, 0..30_000).lines() {
        let of = fields(line);
        let undelivered = number(of[0]) > 2100;
        assert_eq!(of[5] == "\\N", undelivered, "{line}");
        carriers[if undelivered { 0 } else { number(of[5]) as usize }] += 1;
        assert!((5..=15).contains(&number(of[6])) && of[7] == "1");
        entries.push(of[4].to_owned());
    }
    assert_eq!(carriers[0], 9000);
    assert!(carriers[1..].iter().all(|&n| within_sigmas(n as usize, 21_000, 0.1)), "{carriers:?}");
    let (mut sum, mut open) = (0, 0);
    for line in text(&tpcc, ORDER_LINE, 0..300_000).lines() {
        let of = fields(line);
        let order = number(of[0]);
        let amount = cents(of[8]);
        assert_eq!((of[5], of[7]), ("1", "5"));
        assert!((1..=100_000).contains(&number(of[4])) && of[9].len() == 24);
        if order > 2100 {
            assert!(of[6] == "\\N" && (1..=999_999).contains(&amount), "{line}");
            sum += amount;
            open += 1;
        } else {
            assert!(of[6] == entries[0] && of[8] == "0.00", "{line}");
        }
    }
    let mean = sum as f64 / f64::from(open) / 100.0;
    assert!((mean - 5000.0).abs() < 4.0 * 2887.0 / f64::from(open).sqrt(), "{mean}");
    let queue = text(&tpcc, NEW_ORDER, 0..9000);
    assert_eq!(queue.lines().next(), Some("2101\t1\t1"));
    assert_eq!(queue.lines().last(), Some("3000\t10\t1"));
}

/// Assertion 8: every value is in its domain, and the domain is used.
#[test]
fn a08_value_domains() {
    let tpcc = tpcc(Profile::Faithful, 300);
    let is_zip = |zip: &str| {
        zip.len() == 9 && zip.ends_with("11111") && zip.bytes().all(|b| b.is_ascii_digit())
    };
    let is_tax = |tax: &str| tax.len() == 6 && (0..=2000).contains(&cents(tax));
    for line in text(&tpcc, WAREHOUSE, 0..300).lines() {
        let of = fields(line);
        assert!((6..=10).contains(&of[1].len()) && is_zip(of[6]) && is_tax(of[7]), "{line}");
        assert!(of[5].len() == 2 && of[5].bytes().all(|b| b.is_ascii_uppercase()), "{line}");
        assert_eq!(of[8], "300000.00");
    }
    let mut taxes = std::collections::HashSet::new();
    for line in text(&tpcc, DISTRICT, 0..3000).lines() {
        let of = fields(line);
        assert!(is_zip(of[7]) && is_tax(of[8]) && of[9..] == ["30000.00", "3001"], "{line}");
        taxes.insert(of[8].to_owned());
    }
    assert!(taxes.len() > 1000 && taxes.iter().any(|tax| cents(tax) > 1980), "{}", taxes.len());
    let mut discounts = std::collections::HashSet::new();
    let mut lengths = [[usize::MAX, 0]; 3];
    let mut letters = [0u64; 256];
    for line in text(&tpcc, CUSTOMER, 0..30_000).lines() {
        let of = fields(line);
        assert!(is_zip(of[10]) && of[4] == "OE", "{line}");
        assert!(of[11].len() == 16 && of[11].bytes().all(|b| b.is_ascii_digit()), "{line}");
        assert!((0..=5000).contains(&cents(of[15])), "{line}");
        assert_eq!(
            [of[14], of[16], of[17], of[18], of[19]],
            ["50000.00", "-10.00", "10.00", "1", "0"]
        );
        discounts.insert(of[15].to_owned());
        of[20].bytes().for_each(|letter| letters[usize::from(letter)] += 1);
        for (bounds, column) in lengths.iter_mut().zip([3, 6, 20]) {
            let length = of[column].len();
            *bounds = [bounds[0].min(length), bounds[1].max(length)];
        }
    }
    assert!(discounts.len() > 1000);
    assert_eq!(lengths, [[8, 16], [10, 20], [300, 500]]);
    let is_drawn = |letter: u8| letters[usize::from(letter)] > 190_000;
    let expected = |letter: u8| letter.is_ascii_alphanumeric();
    assert!((0..=255).all(|letter| is_drawn(letter) == expected(letter)), "{letters:?}");
    assert_eq!(letters.iter().filter(|n| **n > 0).count(), 62);
    let mut quantities = [0u32; 101];
    for line in text(&tpcc, STOCK, 0..100_000).lines() {
        let of = fields(line);
        quantities[number(of[2]) as usize] += 1;
        assert!(of[3..13].iter().all(|dist| dist.len() == 24) && of[13..16] == ["0", "0", "0"]);
    }
    assert!(quantities[..10].iter().all(|&n| n == 0) && quantities[10..].iter().all(|&n| n > 900));
    let mut prices = [i64::MAX, 0];
    for line in text(&tpcc, ITEM, 0..100_000).lines() {
        let of = fields(line);
        assert!((1..=10_000).contains(&number(of[1])) && (14..=24).contains(&of[2].len()));
        prices = [prices[0].min(cents(of[3])), prices[1].max(cents(of[3]))];
    }
    assert!((100..110).contains(&prices[0]) && (9990..=10_000).contains(&prices[1]), "{prices:?}");
}

/// HammerDB's population differs where it is known to.
#[test]
fn hammerdbs_deviations() {
    let tpcc = tpcc(Profile::Hammerdb, 1);
    assert_eq!(load_constants(Profile::Hammerdb, SEED).c_last, 123);
    let customers = text(&tpcc, CUSTOMER, 0..30_000);
    assert!(within_sigmas(customers.matches("\tBC\t").count(), 30_000, 0.5));
    assert!(customers.lines().all(|line| cents(fields(line)[15]) % 100 == 0));
    let marked = text(&tpcc, ITEM, 0..100_000).matches("original").count();
    assert!(within_sigmas(marked, 100_000, 0.095), "{marked}");
    for line in text(&tpcc, ORDER_LINE, 0..30_000).lines() {
        let of = fields(line);
        assert_eq!(cents(of[8]) == 0, number(of[0]) > 2100, "{line}");
    }
    for line in text(&tpcc, DISTRICT, 0..10).lines() {
        let tax = cents(fields(line)[8]);
        assert!((1000..=2000).contains(&tax) && tax % 100 == 0, "{line}");
    }
}

/// Row bounds hold for the largest keys of the largest scale, and are not
/// wasteful: chunks are sized by them.
#[test]
fn row_bounds_hold() {
    let tpcc = tpcc(Profile::Faithful, crate::registry::SCALE_MAX);
    for (number, table) in tpcc.tables().iter().enumerate() {
        let last = text(&tpcc, number, table.rows.saturating_sub(3000)..table.rows);
        let longest = last.lines().map(|line| line.len() + 1).max().unwrap();
        assert!(longest <= table.row_bytes_max as usize, "{}: {longest}", table.name);
        assert_eq!(last.lines().next().unwrap().split('\t').count(), table.columns.len());
    }
}
