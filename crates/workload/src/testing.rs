//! Helpers of this crate's own tests.

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
