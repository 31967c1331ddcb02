//! Rows as COPY text, made without a formatter.
//!
//! Generators write millions of rows whose only changing part is a key that
//! counts up. [`Counter`] keeps that key as decimal digits and adds one to
//! them in place, so that a row costs one copy of a few bytes and, nine times
//! in ten, one changed digit. Text and not binary COPY: a row of
//! `pgbench_accounts` is 13 bytes as text and at least 30 as binary, and a
//! PostgreSQL 15 took the text form in no more time.

/// Digits that a 64-bit number can have.
const DIGITS_MAX: usize = 20;

/// A number in decimal digits that can be counted up.
///
/// ```
/// let mut key = pgdyno_workload::rows::Counter::new(99);
/// key.increment();
/// assert_eq!(key.digits(), b"100");
/// ```
#[derive(Debug, Clone)]
pub struct Counter {
    text: [u8; DIGITS_MAX],
    start: usize,
}

impl Counter {
    /// Starts at `value`.
    #[must_use]
    pub fn new(value: u64) -> Self {
        let mut formatted = itoa::Buffer::new();
        let digits = formatted.format(value).as_bytes();
        let mut text = [b'0'; DIGITS_MAX];
        let start = DIGITS_MAX - digits.len();
        text[start..].copy_from_slice(digits);
        Self { text, start }
    }

    /// The digits, without leading zeros.
    #[must_use]
    pub fn digits(&self) -> &[u8] {
        &self.text[self.start..]
    }

    /// Adds one. After the largest number of 20 digits it starts again at 0,
    /// which no key reaches.
    pub fn increment(&mut self) {
        for at in (0..DIGITS_MAX).rev() {
            if self.text[at] < b'9' {
                self.text[at] += 1;
                self.start = self.start.min(at);
                return;
            }
            self.text[at] = b'0';
        }
        self.start = DIGITS_MAX - 1;
    }
}

/// Appends one row for each key of `keys`: the key's digits, then `tail`,
/// which begins with the tab after the key and ends with the newline.
pub fn write_counted(keys: std::ops::Range<u64>, tail: &[u8], out: &mut Vec<u8>) {
    let count = usize::try_from(keys.end.saturating_sub(keys.start)).unwrap_or(0);
    let mut key = Counter::new(keys.start);
    out.reserve(count.saturating_mul(DIGITS_MAX + tail.len()).min(RESERVE_MAX));
    for _ in 0..count {
        out.extend_from_slice(key.digits());
        out.extend_from_slice(tail);
        key.increment();
    }
}

/// The most that is reserved ahead: callers ask for a few hundred KiB at a
/// time, and a range that is given whole must not ask for all its memory twice.
const RESERVE_MAX: usize = 1 << 20;

/// Appends a number in decimal.
pub fn push_number(value: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Counting up gives the decimal text of every following number.
        #[test]
        fn counter_agrees_with_formatting(start in 0u64..u64::MAX - 2000, steps in 0u64..2000) {
            let mut counter = Counter::new(start);
            for step in 0..=steps {
                let expected = (start + step).to_string();
                prop_assert_eq!(counter.digits(), expected.as_bytes());
                counter.increment();
            }
        }
    }

    /// Carries run through all digits and make the number longer.
    #[test]
    fn carries_lengthen_the_number() {
        for nines in [9u64, 99, 999, 99_999, 2_147_483_647, 9_999_999_999] {
            let mut counter = Counter::new(nines);
            counter.increment();
            assert_eq!(counter.digits(), (nines + 1).to_string().as_bytes());
        }
    }

    /// Rows are key, tail, and nothing between.
    #[test]
    fn rows_are_key_and_tail() {
        let mut out = Vec::new();
        write_counted(9..12, b"\t1\n", &mut out);
        assert_eq!(out, b"9\t1\n10\t1\n11\t1\n");
    }
}
