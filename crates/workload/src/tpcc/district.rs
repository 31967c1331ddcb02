//! What is drawn for a district as a whole: which customer placed which order,
//! and how many lines each order has.
//!
//! Both are made from the seed and the district alone, in some microseconds,
//! so that any range of rows can be made without those before it.

use super::random::Rng;
use super::{CUSTOMERS, LINES, ORDERS, Profile};

/// Streams of the two lists, apart from those of the tables.
const STREAM_CUSTOMERS: u64 = 0xc0de;
const STREAM_COUNTS: u64 = 0xc047;

const N: usize = ORDERS as usize;

// Every customer places one order; and pairs of orders need an even number.
const _: () = assert!(CUSTOMERS == ORDERS && ORDERS.is_multiple_of(2) && LINES == ORDERS * 10);

/// The customer of each order: a random permutation of all of them.
///
/// HammerDB means one as well, but leaves each order with a customer drawn
/// from those that a correct exchange would still have.
pub(super) fn customers(seed: u64, district: u64, profile: Profile) -> [u16; N] {
    let mut rng = Rng::new(seed, STREAM_CUSTOMERS, district);
    let mut all: [u16; N] = std::array::from_fn(|order| order as u16 + 1);
    match profile {
        Profile::Faithful => rng.shuffle(&mut all),
        Profile::Hammerdb => {
            for customer in &mut all {
                *customer = rng.between(u64::from(*customer), CUSTOMERS) as u16;
            }
        }
    }
    all
}

/// The number of lines of each order: uniform from 5 to 15, and 30,000 in the
/// district.
///
/// Half of the numbers are drawn, the other half are these taken from 20, and
/// all are shuffled. So each order's number is uniform as the standard wants
/// it, while the sum is the same for every district and seed: the number of
/// rows is known beforehand, and any range of lines can be made without
/// counting those before. Independent draws would let the sum of a district
/// vary by 0.6 % (one standard deviation), and the loader would have to draw
/// all of them to know the number of rows.
pub(super) fn line_counts(seed: u64, district: u64) -> [u8; N] {
    let mut rng = Rng::new(seed, STREAM_COUNTS, district);
    let mut all = [0; N];
    for pair in all.as_chunks_mut::<2>().0 {
        let count = rng.between(5, 15) as u8;
        *pair = [count, 20 - count];
    }
    rng.shuffle(&mut all);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every district has 30,000 lines, and the numbers are uniform 5 to 15.
    #[test]
    fn line_counts_are_uniform_with_a_known_sum() {
        let mut counts = [0u64; 11];
        for district in 0..100 {
            let all = line_counts(9, district);
            assert_eq!(all.iter().map(|&n| u64::from(n)).sum::<u64>(), LINES);
            for count in all {
                counts[usize::from(count) - 5] += 1;
            }
        }
        let expected = 300_000.0 / 11.0;
        let chi: f64 = counts.iter().map(|&n| (n as f64 - expected).powi(2) / expected).sum();
        // Five free cells, each counted twice: 25.7 of chi-square with 5
        // degrees at 1e-4, doubled.
        assert!(chi < 51.5, "{chi} {counts:?}");
    }

    /// Neighbouring orders know nothing of each other: the correlation of
    /// successive numbers is that of a shuffled list.
    #[test]
    fn neighbours_are_independent() {
        let mut sum = 0.0;
        for district in 0..50 {
            let all = line_counts(3, district);
            sum += all
                .windows(2)
                .map(|pair| (f64::from(pair[0]) - 10.0) * (f64::from(pair[1]) - 10.0))
                .sum::<f64>();
        }
        let correlation = sum / (50.0 * 2999.0) / 10.0;
        assert!(correlation.abs() < 4.0 / (50.0f64 * 2999.0).sqrt(), "{correlation}");
    }

    /// Assertion 4: the customers of a district's orders are a permutation, not
    /// the identity, and differ from district to district.
    #[test]
    fn a04_customers_are_permuted() {
        let identity: Vec<u16> = (1..=3000).collect();
        let mut before = None;
        for district in 0..20 {
            let all = customers(1, district, Profile::Faithful);
            assert_ne!(all.to_vec(), identity);
            assert_ne!(Some(all), before);
            before = Some(all);
            let mut sorted = all.to_vec();
            sorted.sort_unstable();
            assert_eq!(sorted, identity);
        }
    }

    /// HammerDB's is none: about half of the customers have no order.
    #[test]
    fn hammerdbs_customers_are_no_permutation() {
        let mut all = customers(1, 0, Profile::Hammerdb).to_vec();
        all.sort_unstable();
        all.dedup();
        assert!((1400..1600).contains(&all.len()), "{}", all.len());
    }
}
