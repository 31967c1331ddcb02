//! Latencies: an HDR histogram plus the exact sums that pgbench reports from.
//!
//! The histogram answers quantiles (3 significant digits, 1 µs to 1 h, its size
//! fixed at creation); count, sum, sum of squares, minimum and maximum are kept
//! exactly beside it. All sums are integers, so merging is exact and the order
//! of merging does not matter.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use serde::{Deserialize, Serialize};

/// The largest latency that the histogram holds, in µs: one hour. Longer ones
/// are counted apart. A larger range costs memory for what no run should see.
pub const LATENCY_US_MAX: u64 = 3_600_000_000;

/// Significant decimal digits of the histogram: a quantile is off by at most
/// 0.1 %.
pub const SIGNIFICANT_DIGITS: u8 = 3;

/// Bytes before the counts in the V2 format: cookie, length of the counts,
/// normalising offset, digits, lowest, highest, ratio.
const V2_HEADER_BYTES: usize = 40;

/// A distribution of durations in µs. About 190 KB from the first record on, or
/// from [`Latencies::reserve`]: a run has many that nothing is ever recorded
/// in, and touching their memory was two fifths of a process's start.
#[derive(Clone, Debug)]
pub struct Latencies {
    histogram: Option<Histogram<u64>>,
    /// Longer than [`LATENCY_US_MAX`]: in the sums, not in the histogram.
    over_range: u64,
    sum_us: u128,
    sum_squares_us2: u128,
    us_min: u64,
    us_max: u64,
}

/// Why a stored distribution could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LatencyError {
    /// Not base64.
    #[error("the histogram is not base64: {0}")]
    Base64(#[from] base64::DecodeError),
    /// Not a V2 histogram.
    #[error("the histogram is not in HDR V2 format: {0}")]
    Format(String),
    /// A V2 histogram with another range or precision.
    #[error(
        "the histogram holds {low}..{high} µs with {digits} digits, not 1..{LATENCY_US_MAX} with {SIGNIFICANT_DIGITS}"
    )]
    Range {
        /// Lowest value it tells from zero.
        low: u64,
        /// Highest value it holds.
        high: u64,
        /// Its significant digits.
        digits: u64,
    },
    /// Plain figures that do not belong to the histogram beside them.
    #[error("{field} of the stored latencies is {stored}, but the histogram says {found}")]
    Inconsistent {
        /// The field.
        field: &'static str,
        /// What is written there.
        stored: String,
        /// What the histogram holds.
        found: String,
    },
}

/// A distribution as it stands in a record: plain figures for people and jq,
/// and the histogram itself for programs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatencyRecord {
    /// How many were recorded, those over the range included.
    pub count: u64,
    /// How many were longer than one hour; they are not in the histogram.
    pub over_range: u64,
    /// Sum in µs, a decimal number as text (it may exceed 64 bits).
    pub sum_us: String,
    /// Sum of squares in µs², a decimal number as text.
    pub sum_squares_us2: String,
    /// Arithmetic mean, µs; 0 when empty.
    pub mean_us: f64,
    /// sqrt(mean of squares − square of mean), as pgbench, µs.
    pub stddev_us: f64,
    /// Exact minimum, µs; 0 when empty.
    pub min_us: u64,
    /// Quantile 0.5, µs.
    pub p50_us: u64,
    /// Quantile 0.9, µs.
    pub p90_us: u64,
    /// Quantile 0.95, µs.
    pub p95_us: u64,
    /// Quantile 0.99, µs.
    pub p99_us: u64,
    /// Quantile 0.999, µs.
    pub p999_us: u64,
    /// Exact maximum, µs; 0 when empty.
    pub max_us: u64,
    /// The histogram: HDR V2, base64.
    pub hdr_v2: String,
}

impl Default for Latencies {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialEq for Latencies {
    fn eq(&self, other: &Self) -> bool {
        self.over_range == other.over_range
            && self.sum_us == other.sum_us
            && self.sum_squares_us2 == other.sum_squares_us2
            && self.us_min == other.us_min
            && self.us_max == other.us_max
            && self.held() == other.held()
    }
}

impl Latencies {
    /// An empty distribution. Allocates nothing yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            histogram: None,
            over_range: 0,
            sum_us: 0,
            sum_squares_us2: 0,
            us_min: u64::MAX,
            us_max: 0,
        }
    }

    /// Allocates now, and touches, what recording needs: for one that is
    /// recorded in while something is measured.
    pub fn reserve(&mut self) {
        self.histogram();
    }

    #[inline]
    fn histogram(&mut self) -> &mut Histogram<u64> {
        self.histogram.get_or_insert_with(empty_histogram)
    }

    /// The histogram, where something is in it.
    fn held(&self) -> Option<&Histogram<u64>> {
        self.histogram.as_ref().filter(|histogram| !histogram.is_empty())
    }

    /// How many are in the histogram.
    fn held_count(&self) -> u64 {
        self.histogram.as_ref().map_or(0, Histogram::len)
    }

    /// Records one duration in µs. Zero is legal. Never fails.
    #[inline]
    pub fn record(&mut self, us: u64) {
        if self.histogram().record(us).is_err() {
            self.over_range += 1;
        }
        let wide = u128::from(us);
        self.sum_us += wide;
        // Integers, where pgbench adds doubles: merging stays exact, and the
        // deviation agrees with pgbench's to the last digit that it prints.
        self.sum_squares_us2 = self.sum_squares_us2.saturating_add(wide * wide);
        self.us_min = self.us_min.min(us);
        self.us_max = self.us_max.max(us);
    }

    /// Records `times` durations of so many µs: a sample that stands for others.
    #[inline]
    pub fn record_times(&mut self, us: u64, times: u64) {
        if times == 0 {
            return;
        }
        if self.histogram().record_n(us, times).is_err() {
            self.over_range += times;
        }
        let wide = u128::from(us);
        self.sum_us += wide * u128::from(times);
        self.sum_squares_us2 =
            self.sum_squares_us2.saturating_add((wide * wide).saturating_mul(u128::from(times)));
        self.us_min = self.us_min.min(us);
        self.us_max = self.us_max.max(us);
    }

    /// Adds all of `other`. Exact: the result is as if everything had been
    /// recorded here.
    pub fn merge(&mut self, other: &Self) {
        // Both have the same fixed range, so this is the path of equal bounds,
        // which cannot fail.
        if let Some(theirs) = other.held() {
            let added = self.histogram().add(theirs);
            debug_assert!(added.is_ok(), "histograms of one range add up");
        }
        self.over_range += other.over_range;
        self.sum_us += other.sum_us;
        self.sum_squares_us2 = self.sum_squares_us2.saturating_add(other.sum_squares_us2);
        self.us_min = self.us_min.min(other.us_min);
        self.us_max = self.us_max.max(other.us_max);
    }

    /// Forgets everything, keeps the memory.
    pub fn clear(&mut self) {
        if let Some(histogram) = &mut self.histogram {
            histogram.reset();
        }
        self.over_range = 0;
        self.sum_us = 0;
        self.sum_squares_us2 = 0;
        self.us_min = u64::MAX;
        self.us_max = 0;
    }

    /// How many were recorded, those over the range included.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.held_count() + self.over_range
    }

    /// Whether nothing was recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// How many were longer than [`LATENCY_US_MAX`].
    #[must_use]
    pub fn over_range(&self) -> u64 {
        self.over_range
    }

    /// How many were longer than `us`, to three digits of it.
    #[must_use]
    pub fn count_above(&self, us: u64) -> u64 {
        let Some(histogram) = self.held() else { return self.count() };
        let up_to = histogram.highest_equivalent(us.min(LATENCY_US_MAX));
        self.count() - histogram.count_between(0, up_to)
    }

    /// Exact sum in µs.
    #[must_use]
    pub fn sum_us(&self) -> u128 {
        self.sum_us
    }

    /// Exact sum of squares in µs².
    #[must_use]
    pub fn sum_squares_us2(&self) -> u128 {
        self.sum_squares_us2
    }

    /// Arithmetic mean in µs; 0 when empty.
    #[must_use]
    pub fn mean_us(&self) -> f64 {
        mean(self.sum_us, self.count())
    }

    /// Standard deviation in µs as pgbench computes it:
    /// sqrt(mean of squares − square of mean); 0 when empty.
    #[must_use]
    pub fn stddev_us(&self) -> f64 {
        stddev(self.sum_us, self.sum_squares_us2, self.count())
    }

    /// Exact minimum in µs; 0 when empty.
    #[must_use]
    pub fn min_us(&self) -> u64 {
        if self.is_empty() { 0 } else { self.us_min }
    }

    /// Exact maximum in µs, also of those over the range; 0 when empty.
    #[must_use]
    pub fn max_us(&self) -> u64 {
        self.us_max
    }

    /// The smallest duration in µs that at least the share `quantile` (0..=1)
    /// of all do not exceed, to 3 significant digits and never beyond the exact
    /// minimum and maximum. Ranks that fall over the range give the maximum.
    #[must_use]
    pub fn quantile_us(&self, quantile: f64) -> u64 {
        let count = self.count();
        if count == 0 {
            return 0;
        }
        let rank = ((quantile.clamp(0.0, 1.0) * count as f64).ceil() as u64).clamp(1, count);
        let in_histogram = self.held_count();
        let Some(histogram) = self.held().filter(|_| rank <= in_histogram && rank < count) else {
            return self.us_max;
        };
        // Half a rank back, so that rounding cannot push the rank one up.
        let share = (rank as f64 - 0.5) / in_histogram as f64;
        histogram.value_at_quantile(share).clamp(self.us_min, self.us_max)
    }

    /// The histogram (without those over the range) in HDR V2 format.
    #[must_use]
    pub fn to_v2(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let empty;
        let histogram = match &self.histogram {
            Some(histogram) => histogram,
            None => {
                empty = empty_histogram();
                &empty
            }
        };
        let written = V2Serializer::new().serialize(histogram, &mut bytes);
        debug_assert!(written.is_ok(), "writing to memory does not fail");
        bytes
    }

    /// The form that goes into a record.
    #[must_use]
    pub fn to_record(&self) -> LatencyRecord {
        LatencyRecord {
            count: self.count(),
            over_range: self.over_range,
            sum_us: self.sum_us.to_string(),
            sum_squares_us2: self.sum_squares_us2.to_string(),
            mean_us: self.mean_us(),
            stddev_us: self.stddev_us(),
            min_us: self.min_us(),
            p50_us: self.quantile_us(0.5),
            p90_us: self.quantile_us(0.9),
            p95_us: self.quantile_us(0.95),
            p99_us: self.quantile_us(0.99),
            p999_us: self.quantile_us(0.999),
            max_us: self.max_us(),
            hdr_v2: STANDARD.encode(self.to_v2()),
        }
    }

    /// Reads a distribution back from a record.
    ///
    /// # Errors
    /// When the histogram cannot be decoded, has another range or precision, or
    /// when the plain figures do not belong to it.
    pub fn from_record(record: &LatencyRecord) -> Result<Self, LatencyError> {
        let histogram = decode_v2(&STANDARD.decode(&record.hdr_v2)?)?;
        let held = histogram.len().saturating_add(record.over_range);
        if held != record.count {
            return Err(inconsistent("count", &record.count, &held));
        }
        let number = |field, text: &str| {
            text.parse::<u128>().map_err(|_| inconsistent(field, &text, &"a whole number"))
        };
        Ok(Self {
            over_range: record.over_range,
            sum_us: number("sum_us", &record.sum_us)?,
            sum_squares_us2: number("sum_squares_us2", &record.sum_squares_us2)?,
            us_min: if held == 0 { u64::MAX } else { record.min_us },
            us_max: record.max_us,
            histogram: Some(histogram),
        })
    }
}

/// Mean of whole numbers; 0 when there are none.
pub(crate) fn mean(sum: u128, count: u64) -> f64 {
    if count == 0 { 0.0 } else { sum as f64 / count as f64 }
}

/// pgbench's standard deviation; 0 when there are none, and never the root of
/// a negative number that rounding made.
pub(crate) fn stddev(sum: u128, sum_squares: u128, count: u64) -> f64 {
    let mean_of_all = mean(sum, count);
    (mean(sum_squares, count) - mean_of_all * mean_of_all).max(0.0).sqrt()
}

fn empty_histogram() -> Histogram<u64> {
    // Not auto-resizing: a histogram that grows would allocate while measuring.
    match Histogram::new_with_bounds(1, LATENCY_US_MAX, SIGNIFICANT_DIGITS) {
        Ok(histogram) => histogram,
        Err(error) => unreachable!("the range is a valid constant: {error}"),
    }
}

fn decode_v2(bytes: &[u8]) -> Result<Histogram<u64>, LatencyError> {
    // The decoder allocates what the header asks for, so the header is held
    // against the bytes that are really there, and against our range, first.
    let Some((header, counts)) = bytes.split_first_chunk::<V2_HEADER_BYTES>() else {
        let what = format!("{} bytes are fewer than its header", bytes.len());
        return Err(LatencyError::Format(what));
    };
    let field = |at: usize, len: usize| {
        header[at..at + len].iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
    };
    if field(4, 4) != counts.len() as u64 {
        let (told, found) = (field(4, 4), counts.len());
        let what = format!("it announces {told} bytes of counts and has {found}");
        return Err(LatencyError::Format(what));
    }
    let (digits, low, high) = (field(12, 4), field(16, 8), field(24, 8));
    if (low, high, digits) != (1, LATENCY_US_MAX, u64::from(SIGNIFICANT_DIGITS)) {
        return Err(LatencyError::Range { low, high, digits });
    }
    Deserializer::new()
        .deserialize(&mut &*bytes)
        .map_err(|error| LatencyError::Format(error.to_string()))
}

fn inconsistent(field: &'static str, stored: &dyn ToString, found: &dyn ToString) -> LatencyError {
    LatencyError::Inconsistent { field, stored: stored.to_string(), found: found.to_string() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(values: &[u64]) -> Latencies {
        let mut latencies = Latencies::new();
        values.iter().for_each(|us| latencies.record(*us));
        latencies
    }

    /// Durations of every size, over the range included.
    fn durations() -> impl Strategy<Value = Vec<u64>> {
        let one = prop_oneof![0..5_000_u64, 0..LATENCY_US_MAX, Just(u64::MAX), any::<u64>()];
        prop::collection::vec(one, 0..200)
    }

    /// A sample that stands for several is as many records.
    #[test]
    fn samples_count_for_others() {
        let mut sampled = of(&[7]);
        for us in [0, 40, u64::MAX] {
            sampled.record_times(us, 3);
            sampled.record_times(us, 0);
        }
        assert_eq!(sampled.count_above(7), 6);
        assert_eq!(sampled, of(&[7, 0, 0, 0, 40, 40, 40, u64::MAX, u64::MAX, u64::MAX]));
    }

    /// One that nothing was recorded in is the same with and without its memory,
    /// whatever is asked of it, and merging it changes nothing.
    #[test]
    fn reserved_or_not() {
        let (mut reserved, lazy) = (Latencies::new(), Latencies::new());
        reserved.reserve();
        assert_eq!(reserved, lazy);
        assert_eq!(reserved.to_record(), lazy.to_record());
        let full = of(&[3, 5, u64::MAX]);
        let (mut one, mut other) = (full.clone(), lazy.clone());
        one.merge(&lazy);
        other.merge(&full);
        assert_eq!((&one, &other), (&full, &full));
        let beyond = of(&[u64::MAX]);
        let mut merged = lazy;
        merged.merge(&beyond);
        assert_eq!(
            (&merged, merged.count_above(9), merged.quantile_us(0.5)),
            (&beyond, 1, u64::MAX)
        );
        other.clear();
        assert_eq!(other, Latencies::new());
    }

    /// Zero is a duration like any other, and an empty distribution is all zero.
    #[test]
    fn zero_and_empty() {
        let empty = Latencies::new();
        assert_eq!((empty.count(), empty.min_us(), empty.max_us()), (0, 0, 0));
        assert_eq!((empty.quantile_us(0.5), empty.mean_us(), empty.stddev_us()), (0, 0.0, 0.0));
        let zero = of(&[0, 0]);
        assert_eq!((zero.count(), zero.quantile_us(0.5), zero.max_us()), (2, 0, 0));
    }

    /// Mean and deviation are pgbench's formulas.
    #[test]
    fn mean_and_stddev_as_pgbench() {
        let latencies = of(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert_eq!((latencies.mean_us(), latencies.stddev_us()), (5.0, 2.0));
        // Equal values whose squares exceed a double's 53 bits: still no spread.
        let equal = of(&[3_333_333_333; 3]);
        assert!(equal.stddev_us() < 1_000.0, "{}", equal.stddev_us());
    }

    /// What is longer than an hour is counted apart, is the maximum, and the
    /// quantiles know of it.
    #[test]
    fn over_range_is_counted_apart() {
        let latencies = of(&[10, 20, LATENCY_US_MAX * 2, LATENCY_US_MAX * 3]);
        assert_eq!((latencies.count(), latencies.over_range()), (4, 2));
        assert_eq!(latencies.quantile_us(0.5), 20);
        assert_eq!(latencies.quantile_us(0.75), LATENCY_US_MAX * 3);
        assert_eq!(latencies.max_us(), LATENCY_US_MAX * 3);
    }

    /// A histogram with another range, cut short, or with more counts announced
    /// than present is refused before anything is allocated for it.
    #[test]
    fn refuses_foreign_histograms() {
        let good = of(&[1, 2, 3]).to_record();
        let with = |bytes: &[u8]| {
            let record = LatencyRecord { hdr_v2: STANDARD.encode(bytes), ..good.clone() };
            Latencies::from_record(&record).unwrap_err().to_string()
        };
        let bytes = of(&[1, 2, 3]).to_v2();
        assert!(with(&bytes[..30]).contains("fewer than its header"));
        assert!(with(&bytes[..bytes.len() - 1]).contains("announces"));
        let mut wide = bytes.clone();
        wide[24..32].fill(0xff);
        assert!(with(&wide).contains("holds 1.."));
        let mut cookie = bytes;
        cookie[3] ^= 1;
        assert!(with(&cookie).contains("V2 format"));
        let miscounted = LatencyRecord { count: 4, ..good };
        assert!(Latencies::from_record(&miscounted).unwrap_err().to_string().contains("count"));
    }

    proptest! {
        /// However the work is split, the sum is what one would have recorded.
        #[test]
        fn merge_of_a_split_is_the_whole(values in durations(), at in any::<prop::sample::Index>()) {
            let at = at.index(values.len() + 1);
            let (mut left, mut right) = (of(&values[..at]), of(&values[at..]));
            let other_way = { let mut r = right.clone(); r.merge(&left); r };
            left.merge(&right);
            prop_assert_eq!(&left, &of(&values));
            prop_assert_eq!(&left, &other_way);
            right.clear();
            prop_assert_eq!(right, Latencies::new());
        }

        /// A record gives back exactly the distribution that it was made of,
        /// also through JSON.
        #[test]
        fn record_round_trip(values in durations()) {
            let latencies = of(&values);
            let json = serde_json::to_string(&latencies.to_record()).unwrap();
            let record: LatencyRecord = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(Latencies::from_record(&record).unwrap(), latencies);
        }

        /// Quantiles are those of the sorted list, to three digits.
        #[test]
        fn quantiles_are_true(
            mut values in prop::collection::vec(0..LATENCY_US_MAX, 1..300),
            quantile in 0.0..=1.0_f64,
        ) {
            let latencies = of(&values);
            values.sort_unstable();
            let rank = ((quantile * values.len() as f64).ceil() as usize).clamp(1, values.len());
            let (truth, said) = (values[rank - 1], latencies.quantile_us(quantile));
            prop_assert!(said >= truth && said as f64 <= truth as f64 * 1.001 + 1.0,
                "{said} for {truth}");
        }

        /// Bytes from outside never make the decoder panic.
        #[test]
        fn decoding_never_panics(mut bytes in prop::collection::vec(any::<u8>(), 0..120)) {
            let _ = decode_v2(&bytes);
            let good = of(&[1, 50, 7_000]).to_v2();
            if bytes.len() > V2_HEADER_BYTES {
                bytes[..V2_HEADER_BYTES].copy_from_slice(&good[..V2_HEADER_BYTES]);
                let counts = (bytes.len() - V2_HEADER_BYTES) as u32;
                bytes[4..8].copy_from_slice(&counts.to_be_bytes());
                let _ = decode_v2(&bytes);
            }
        }
    }
}
