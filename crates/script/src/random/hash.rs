//! The hash functions and the pseudo-random permutation.

use super::Prng;

/// FNV-1a over the eight bytes of `value`, from the lowest.
#[must_use]
pub fn hash_fnv1a(value: i64, seed: i64) -> i64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let start = OFFSET ^ seed as u64;
    let hash = value
        .to_le_bytes()
        .iter()
        .fold(start, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
    hash as i64
}

/// MurmurHash64A of the eight bytes of `value`.
#[must_use]
pub fn hash_murmur2(value: i64, seed: i64) -> i64 {
    const M: u64 = 0xc6a4_a793_5bd1_e995;
    const LENGTH_TIMES_M: u64 = M.wrapping_mul(8);
    let mut key = (value as u64).wrapping_mul(M);
    key ^= key >> 47;
    key = key.wrapping_mul(M);
    let mut hash = ((seed as u64 ^ LENGTH_TIMES_M) ^ key).wrapping_mul(M);
    hash ^= hash >> 47;
    hash = hash.wrapping_mul(M);
    hash ^= hash >> 47;
    hash as i64
}

/// Where `value` goes in the permutation of 0..`size` that `seed` selects.
///
/// A value outside of the range is taken modulo `size` as an unsigned number.
/// Sizes below 2 give 0; the caller refuses those below 1.
#[must_use]
pub fn permute(value: i64, size: i64, seed: i64) -> i64 {
    /// Rounds of the cipher, a compromise that PostgreSQL made.
    const ROUNDS: usize = 6;
    if size < 2 {
        return 0;
    }
    let size = size as u64;
    let mut v = value as u64 % size;
    let bits = size.ilog2();
    let mask = (1_u64 << bits) - 1;
    let mut stream = Prng::new(seed as u64);
    for _ in 0..ROUNDS {
        let lower = Scramble::draw(&mut stream, bits, mask);
        if v <= mask {
            v = lower.apply(v);
        }
        let upper = Scramble::draw(&mut stream, bits, mask);
        let mirrored = size - 1 - v;
        if mirrored <= mask {
            v = size - 1 - upper.apply(mirrored);
        }
        // The sum cannot overflow: both are below 2^63.
        v = (v + stream.bounded(size - 1)) % size;
    }
    v as i64
}

/// One keyed bijection of `bits` bits.
struct Scramble {
    multiplier: u64,
    flip: u64,
    bits: u32,
    mask: u64,
}

impl Scramble {
    fn draw(stream: &mut Prng, bits: u32, mask: u64) -> Self {
        let multiplier = (stream.next_u64() & mask) | 1;
        let flip = stream.next_u64() & mask;
        Self { multiplier, flip, bits, mask }
    }

    fn apply(&self, v: u64) -> u64 {
        let v = (v.wrapping_mul(self.multiplier) ^ self.flip) & self.mask;
        ((v << 1) & self.mask) | (v >> (self.bits - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// `permute` is a permutation for every seed and size.
        #[test]
        fn bijective(size in 1_i64..600, seed: i64) {
            let mut seen: Vec<i64> = (0..size).map(|value| permute(value, size, seed)).collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..size).collect::<Vec<_>>());
        }
    }
}
