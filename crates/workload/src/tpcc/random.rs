//! The random values of TPC-C: one small generator, NURand and its constants,
//! random strings and last names (clauses 2.1.4 to 2.1.6, 4.3.2).
//!
//! Loading and running draw from the same functions. A [`Rng`] is one word
//! made from a seed and the key of what is drawn, so that nothing
//! depends on the order in which rows or transactions are made.

use super::Profile;

/// Constant A of NURand for last names.
pub const A_C_LAST: u64 = 255;
/// Constant A of NURand for customer numbers.
pub const A_C_ID: u64 = 1023;
/// Constant A of NURand for item numbers.
pub const A_OL_I_ID: u64 = 8191;

/// The letters of an a-string: upper, lower, digits. The standard allows more,
/// but letters beyond these sort differently from one collation to the next.
const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// All pairs of letters: two are drawn at a time.
static PAIRS: [[u8; 2]; 62 * 62] = pairs();

const fn pairs() -> [[u8; 2]; 62 * 62] {
    let mut all = [[0; 2]; 62 * 62];
    let mut at = 0;
    while at < all.len() {
        all[at] = [LETTERS[at / 62], LETTERS[at % 62]];
        at += 1;
    }
    all
}

const SYLLABLES: [&[u8]; 10] =
    [b"BAR", b"OUGHT", b"ABLE", b"PRI", b"PRES", b"ESE", b"ANTI", b"CALLY", b"ATION", b"EING"];

/// A generator of 64-bit numbers: `SplitMix64`, which passes the usual test
/// batteries and needs one addition and two multiplications a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rng {
    state: u64,
}

/// 2^64 divided by the golden ratio, odd: the step of `SplitMix64`.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Rng {
    /// The generator of one key of one stream: a table's row, a client. Other
    /// streams and keys of the same seed have nothing in common with it.
    #[must_use]
    pub const fn new(seed: u64, stream: u64, key: u64) -> Self {
        let base = mix(seed.wrapping_add(STEP)) ^ mix(stream.wrapping_mul(STEP).wrapping_add(1));
        Self { state: mix(mix(base).wrapping_add(key.wrapping_mul(STEP))) }
    }

    /// The next number, all 64 bits of it.
    #[inline]
    pub const fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mix(self.state)
    }

    /// A number below `n`; 0 where `n` is 0. Scaled instead of divided: the
    /// error is at most n / 2^64.
    #[inline]
    pub const fn below(&mut self, n: u64) -> u64 {
        ((self.next_u64() as u128 * n as u128) >> 64) as u64
    }

    /// `random(first .. last)` of clause 2.1.5: both ends included.
    #[inline]
    pub const fn between(&mut self, first: u64, last: u64) -> u64 {
        first + self.below(last - first + 1)
    }

    /// True in one of `n` cases.
    #[inline]
    pub const fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// A number above 0 and at most 1, for think times.
    #[must_use]
    pub fn unit(&mut self) -> f64 {
        // 53 bits are what a double holds.
        ((self.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// NURand of clause 2.1.6 over `first ..= last` with the field's A and C.
    #[inline]
    pub const fn nurand(&mut self, a: u64, first: u64, last: u64, c: u64) -> u64 {
        let drawn = self.between(0, a) | self.between(first, last);
        (drawn + c) % (last - first + 1) + first
    }

    /// Appends an a-string of exactly `length` letters.
    #[inline]
    pub fn push_letters(&mut self, length: usize, out: &mut Vec<u8>) {
        let end = out.len() + length;
        while out.len() < end {
            out.extend_from_slice(&self.eight_letters());
        }
        out.truncate(end);
    }

    /// Eight letters of one draw: four times the leading digit in base 62².
    /// 16 of the 64 bits are left, so no letter is favoured by more than 2^-16.
    #[inline]
    fn eight_letters(&mut self) -> [u8; 8] {
        let mut rest = self.next_u64();
        let mut letters = [0; 8];
        for pair in letters.as_chunks_mut::<2>().0 {
            let wide = u128::from(rest) * PAIRS.len() as u128;
            *pair = PAIRS[(wide >> 64) as usize];
            rest = wide as u64;
        }
        letters
    }

    /// Appends an a-string of `min` to `max` letters.
    #[inline]
    pub fn push_text(&mut self, min: usize, max: usize, out: &mut Vec<u8>) {
        let length = self.between(min as u64, max as u64) as usize;
        self.push_letters(length, out);
    }

    /// Appends an n-string of exactly `length` digits.
    pub fn push_digits(&mut self, length: usize, out: &mut Vec<u8>) {
        let mut rest = self.next_u64();
        for at in 0..length {
            // 16 digits take 54 of 64 bits; more need another draw.
            if at % 16 == 0 && at > 0 {
                rest = self.next_u64();
            }
            let wide = u128::from(rest) * 10;
            out.push(b'0' + (wide >> 64) as u8);
            rest = wide as u64;
        }
    }

    /// Brings a list into random order (Fisher and Yates), fixed points
    /// included: each order is as likely as any other.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            let other = self.below(last as u64 + 1) as usize;
            list.swap(last, other);
        }
    }
}

/// Appends the last name of a number from 0 to 999 (clause 4.3.2.3); of a
/// larger one the name of its last three digits.
pub fn push_last_name(number: u64, out: &mut Vec<u8>) {
    for digit in [number / 100 % 10, number / 10 % 10, number % 10] {
        out.extend_from_slice(SYLLABLES[digit as usize]);
    }
}

/// The constants C of NURand, one a field (clause 2.1.6.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constants {
    /// For last names, 0 to 255.
    pub c_last: u64,
    /// For customer numbers, 0 to 1023.
    pub c_id: u64,
    /// For item numbers, 0 to 8191.
    pub ol_i_id: u64,
}

/// C for last names in HammerDB's population and in its runs alike, which
/// breaks the rule of the distance.
pub const HAMMERDB_C_LAST: u64 = 123;

/// Streams of the constants, apart from those of the tables and clients.
const STREAM_LOAD: u64 = 0x10ad;
const STREAM_RUN: u64 = 0x0c12;

impl Constants {
    /// Those of a load with this seed. Only the one for last names is used by
    /// it; the others are kept beside it to be told.
    #[must_use]
    pub const fn of_load(seed: u64) -> Self {
        let mut rng = Rng::new(seed, STREAM_LOAD, 0);
        Self {
            c_last: rng.between(0, A_C_LAST),
            c_id: rng.between(0, A_C_ID),
            ol_i_id: rng.between(0, A_OL_I_ID),
        }
    }

    /// Those of a run with this seed on data that was loaded with
    /// `c_last_load`: the same for all clients of the run, and the one for
    /// last names at a legal distance from the load's, which is 0 to 255; of a
    /// larger one the distance is that from 255.
    #[must_use]
    pub fn of_run(seed: u64, c_last_load: u64) -> Self {
        let mut rng = Rng::new(seed, STREAM_RUN, 0);
        let (c_id, ol_i_id) = (rng.between(0, A_C_ID), rng.between(0, A_OL_I_ID));
        // From 375 on no number is at a legal distance.
        let c_last_load = c_last_load.min(A_C_LAST);
        let mut c_last = rng.between(0, A_C_LAST);
        // About half of all numbers are legal, so this ends after two draws on
        // average; every legal one is as likely as any other.
        while !is_legal_run_constant(c_last_load, c_last) {
            c_last = rng.between(0, A_C_LAST);
        }
        Self { c_last, c_id, ol_i_id }
    }

    /// Those of a run in a profile. HammerDB has the load's constant in its
    /// runs, so that the names that are many are those that are asked for.
    #[must_use]
    pub fn of_profile(profile: Profile, seed: u64, c_last_load: u64) -> Self {
        let constants = Self::of_run(seed, c_last_load);
        match profile {
            Profile::Faithful => constants,
            Profile::Hammerdb => Self { c_last: HAMMERDB_C_LAST, ..constants },
        }
    }
}

/// Whether C of a run may follow C of the load for last names: their distance
/// is 65 to 119, and neither 96 nor 112 (clause 2.1.6.1).
#[must_use]
pub const fn is_legal_run_constant(load: u64, run: u64) -> bool {
    let delta = load.abs_diff(run);
    delta >= 65 && delta <= 119 && delta != 96 && delta != 112
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often each value should come up among `n` draws of NURand, exactly:
    /// all pairs of (random(0..A), random(x..y)) counted.
    fn expected_shares(a: u64, first: u64, last: u64, c: u64) -> Vec<f64> {
        let width = (last - first + 1) as usize;
        let mut ways = vec![0u64; width];
        for low in 0..=a {
            for value in first..=last {
                ways[(((low | value) + c) % width as u64) as usize] += 1;
            }
        }
        let all = ((a + 1) * width as u64) as f64;
        ways.into_iter().map(|count| count as f64 / all).collect()
    }

    fn draws(a: u64, first: u64, last: u64, c: u64, n: u64) -> Vec<u64> {
        let mut rng = Rng::new(5, 1, c);
        let mut counts = vec![0u64; (last - first + 1) as usize];
        for _ in 0..n {
            counts[(rng.nurand(a, first, last, c) - first) as usize] += 1;
        }
        counts
    }

    /// Assertion 9: with several constants NURand stays in its range, fits the
    /// exact distribution, and each of its hottest values is as hot as the
    /// clause makes it. (Items by their exact distribution as well: with all
    /// other generators.)
    #[test]
    fn a09_nurand_fits_its_distribution() {
        const N: u64 = 1_000_000;
        let mut cs = Rng::new(9, 9, 9);
        for (a, (first, last), share) in [
            (A_C_LAST, (0, 999), 0.025_63),
            (A_C_ID, (1, 3000), 0.019_22),
            (A_OL_I_ID, (1, 100_000), 0.001_946),
        ] {
            let width = last - first + 1;
            for c in [0, cs.between(0, a), a] {
                // Counting goes out of bounds where a value does.
                let counts = draws(a, first, last, c, N);
                assert_eq!(counts.iter().sum::<u64>(), N);
                let hottest = (1..=width / (a + 1)).map(|k| (k * (a + 1) - 1 + c) % width);
                for value in hottest {
                    let found = counts[value as usize] as f64 / N as f64;
                    let sigma = (share * (1.0 - share) / N as f64).sqrt();
                    assert!((found - share).abs() < 4.0 * sigma, "{value} at C = {c}: {found}");
                }
                if a == A_OL_I_ID {
                    continue;
                }
                let shares = expected_shares(a, first, last, c);
                let chi: f64 = counts
                    .iter()
                    .zip(&shares)
                    .map(|(&n, p)| (n as f64 - p * N as f64).powi(2) / (p * N as f64))
                    .sum();
                let cells = (width - 1) as f64;
                // At this many cells chi-square is nearly normal; 4 sigma.
                assert!(chi < cells + 4.0 * (2.0 * cells).sqrt(), "{chi} over {cells} cells");
            }
        }
    }

    /// Assertion 10: a run's C for last names is at a legal distance from every
    /// load's, in range, and the same wherever it is computed.
    #[test]
    fn a10_run_constants_are_legal() {
        for load in 0..=A_C_LAST {
            for seed in 0..40 {
                let run = Constants::of_run(seed, load);
                let delta = load.abs_diff(run.c_last);
                assert!((65..=119).contains(&delta) && delta != 96 && delta != 112, "{delta}");
                assert!(run.c_last <= 255 && run.c_id <= 1023 && run.ol_i_id <= 8191);
                assert_eq!(run, Constants::of_run(seed, load));
            }
        }
        assert_eq!(Constants::of_run(1, u64::MAX), Constants::of_run(1, A_C_LAST));
        for seed in 0..40 {
            let run = Constants::of_run(seed, 123);
            assert_eq!(Constants::of_profile(Profile::Faithful, seed, 123), run);
            assert_eq!(Constants::of_profile(Profile::Hammerdb, seed, 123).c_last, 123);
        }
        assert!(!is_legal_run_constant(0, 64) && !is_legal_run_constant(0, 120));
        assert!(!is_legal_run_constant(0, 96) && !is_legal_run_constant(112, 0));
    }

    /// Assertion 5, the names: digits become syllables.
    #[test]
    fn a05_last_names() {
        for (number, name) in [
            (371, "PRICALLYOUGHT"),
            (40, "BARPRESBAR"),
            (0, "BARBARBAR"),
            (999, "EINGEINGEING"),
            (777, "CALLYCALLYCALLY"),
        ] {
            let mut out = Vec::new();
            push_last_name(number, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), name);
        }
    }

    /// Letters and digits are drawn evenly, and lengths reach both ends.
    #[test]
    fn strings_are_even() {
        let mut rng = Rng::new(1, 2, 3);
        let mut out = Vec::new();
        rng.push_letters(620_000, &mut out);
        assert_eq!(out.len(), 620_000);
        for letter in LETTERS {
            let count = out.iter().filter(|l| *l == letter).count();
            assert!(count.abs_diff(10_000) < 600, "{} {count}", *letter as char);
        }
        let mut lengths = [0u32; 4];
        for _ in 0..4000 {
            out.clear();
            rng.push_text(8, 11, &mut out);
            lengths[out.len() - 8] += 1;
        }
        assert!(lengths.iter().all(|&n| n.abs_diff(1000) < 150), "{lengths:?}");
        out.clear();
        rng.push_digits(160_000, &mut out);
        for digit in b'0'..=b'9' {
            let count = out.iter().filter(|d| **d == digit).count();
            assert!(count.abs_diff(16_000) < 700, "{count}");
        }
    }

    /// Streams and keys that differ by one share nothing.
    #[test]
    fn streams_are_apart() {
        let mut seen = std::collections::HashSet::new();
        for (seed, stream, key) in
            (0..8).flat_map(|s| (0..8).flat_map(move |t| (0..64).map(move |k| (s, t, k))))
        {
            let mut rng = Rng::new(seed, stream, key);
            for _ in 0..8 {
                assert!(seen.insert(rng.next_u64()));
            }
        }
    }
}
