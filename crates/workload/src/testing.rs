//! Helpers of this crate's own tests.

use std::ops::RangeInclusive;

/// Chi-square of counts against expected ones, and its degrees of freedom.
pub(crate) fn chi_square(found: &[u64], expected: &[f64]) -> (f64, usize) {
    assert_eq!(found.len(), expected.len());
    let sum = found
        .iter()
        .zip(expected)
        .map(|(found, expected)| (*found as f64 - expected).powi(2) / expected)
        .sum();
    (sum, found.len() - 1)
}

/// The value that chi-square passes with a probability of one in 10,000, by
/// the approximation of Wilson and Hilferty (1931). Seeds are fixed, so a test
/// that passes once passes always; the bound says that it passes by right.
pub(crate) fn chi_square_max(degrees: usize) -> f64 {
    const QUANTILE: f64 = 3.719;
    let n = degrees as f64;
    let part = 2.0 / (9.0 * n);
    n * (1.0 - part + QUANTILE * part.sqrt()).powi(3)
}

/// All cells are equally likely, as far as the counts tell.
pub(crate) fn assert_uniform(found: &[u64], what: &str) {
    let total: u64 = found.iter().sum();
    let expected = vec![total as f64 / found.len() as f64; found.len()];
    assert_fits(found, &expected, what);
}

/// Counts fit the expected ones.
pub(crate) fn assert_fits(found: &[u64], expected: &[f64], what: &str) {
    let (sum, degrees) = chi_square(found, expected);
    assert!(sum < chi_square_max(degrees), "{what}: chi-square {sum} of {degrees} degrees");
}

/// Cells over which the values of a long range are counted.
const CELLS_MAX: u64 = 100;

/// Values of a range, counted in cells.
pub(crate) struct Cells {
    first: i64,
    /// Values of the range.
    width: u64,
    counts: Vec<u64>,
}

impl Cells {
    pub(crate) fn new(range: RangeInclusive<i64>) -> Self {
        let width = range.end().abs_diff(*range.start()) + 1;
        let cells = if width <= 2 * CELLS_MAX { width } else { CELLS_MAX };
        Self { first: *range.start(), width, counts: vec![0; cells as usize] }
    }

    /// Counts a value, which has to be in the range.
    pub(crate) fn add(&mut self, value: i64) {
        let at = value.wrapping_sub(self.first) as u64;
        assert!(value >= self.first && at < self.width, "{value} is out of the range");
        let cell = u128::from(at) * self.counts.len() as u128 / u128::from(self.width);
        self.counts[cell as usize] += 1;
    }

    /// Every value is as likely; cells may differ by one value.
    pub(crate) fn assert_even(&self, what: &str) {
        let (cells, width) = (self.counts.len() as u128, u128::from(self.width));
        let begin = |cell: usize| (cell as u128 * width).div_ceil(cells);
        let total: u64 = self.counts.iter().sum();
        let share = |cell| (begin(cell + 1) - begin(cell)) as f64 / width as f64;
        let expected: Vec<f64> =
            (0..self.counts.len()).map(|cell| share(cell) * total as f64).collect();
        assert_fits(&self.counts, &expected, what);
    }
}
