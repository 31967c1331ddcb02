//! What rows are made of: numbers from seed and key alone.

use crate::rows::push_number;

/// A number that looks drawn, the same for the same seed and key everywhere:
/// the finaliser of `SplitMix64` (Steele, Lea, Flood: "Fast splittable
/// pseudorandom number generators", 2014).
pub(super) const fn drawn(seed: u64, key: u64) -> u64 {
    let mut mixed = key.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(seed);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Evenly from 1 to `most`, at least 1. The product of 128 bits keeps it even
/// without a division.
pub(super) fn drawn_up_to(seed: u64, key: u64, most: u64) -> u64 {
    let scaled = (u128::from(drawn(seed, key)) * u128::from(most.max(1))) >> 64;
    u64::try_from(scaled).unwrap_or(0) + 1
}

/// Appends numbers, separated by tabs.
pub(super) fn push_numbers(numbers: &[u64], out: &mut Vec<u8>) {
    for (at, number) in numbers.iter().enumerate() {
        if at > 0 {
            out.push(b'\t');
        }
        push_number(*number, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_uniform;

    /// Drawn values are even over their range, for neighbouring keys as for
    /// neighbouring seeds.
    #[test]
    fn drawn_values_are_uniform() {
        const CELLS: u64 = 100;
        for seed in [0, 1, u64::MAX] {
            let mut cells = vec![0u64; CELLS as usize];
            for key in 0..100_000 {
                cells[(drawn_up_to(seed, key, CELLS) - 1) as usize] += 1;
            }
            assert_uniform(&cells, &format!("keys at seed {seed}"));
        }
        let mut cells = vec![0u64; CELLS as usize];
        for seed in 0..100_000 {
            cells[(drawn_up_to(seed, 7, CELLS) - 1) as usize] += 1;
        }
        assert_uniform(&cells, "seeds");
    }

    /// The ends of the range are reached and not passed.
    #[test]
    fn drawn_values_stay_in_range() {
        for most in [1, 2, 3, u64::MAX] {
            for key in 0..1000 {
                assert!((1..=most).contains(&drawn_up_to(5, key, most)));
            }
        }
    }
}
