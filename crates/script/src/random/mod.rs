//! pgbench's random numbers, bit for bit: generator, streams, distributions, hashes.
//!
//! Rules: "PostgreSQL manual, pgbench, random functions". The generator is
//! xoroshiro128**, seeded through splitmix64.

mod draw;
mod hash;
mod streams;

pub use hash::{hash_fnv1a, hash_murmur2, permute};
pub use streams::{SeedSource, Streams, ThreadStreams, parse_seed, strong_seed};

/// One stream of random numbers. `Copy`: a retry saves and restores it by assignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prng {
    s0: u64,
    s1: u64,
}

impl Prng {
    /// The stream that begins at `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut state = seed;
        let s0 = splitmix64(&mut state);
        let s1 = splitmix64(&mut state);
        if s0 == 0 && s1 == 0 {
            // The generator would stay at zero for ever; these are PostgreSQL's substitutes.
            return Self { s0: 0x5851_F42D_4C95_7F2D, s1: 0x1405_7B7E_F767_814F };
        }
        Self { s0, s1 }
    }

    /// The next 64 bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let out = self.s0.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let mixed = self.s0 ^ self.s1;
        self.s0 = self.s0.rotate_left(24) ^ mixed ^ (mixed << 16);
        self.s1 = mixed.rotate_left(37);
        out
    }

    /// Evenly from 0 to `max`, both included. Draws nothing if `max` is 0.
    #[inline]
    pub fn bounded(&mut self, max: u64) -> u64 {
        if max == 0 {
            return 0;
        }
        let shift = max.leading_zeros();
        loop {
            let drawn = self.next_u64() >> shift;
            if drawn <= max {
                return drawn;
            }
        }
    }

    /// Evenly from 0 (included) to 1 (excluded), in steps of 2^-52.
    #[inline]
    pub fn double(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1_u64 << 52) as f64;
        (self.next_u64() >> 12) as f64 * STEP
    }
}

fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A seed whose two words come out as zero must not give a dead generator.
    #[test]
    fn never_dead() {
        let mut dead = Prng { s0: 0, s1: 0 };
        assert_eq!((dead.next_u64(), dead.next_u64()), (0, 0));
        assert_ne!(Prng::new(0), dead);
    }

    proptest! {
        /// A bounded draw stays within its bound, and a copy draws the same again.
        #[test]
        fn bounded_is_bounded(seed: u64, max: u64) {
            let mut stream = Prng::new(seed);
            let mut copy = stream;
            let drawn = stream.bounded(max);
            prop_assert!(drawn <= max);
            prop_assert_eq!(copy.bounded(max), drawn);
        }

        /// Doubles lie in [0, 1).
        #[test]
        fn double_range(seed: u64) {
            let drawn = Prng::new(seed).double();
            prop_assert!((0.0..1.0).contains(&drawn));
        }
    }
}
