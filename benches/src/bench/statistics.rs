//! Medians, and the spread of paired ratios.

/// A median with the least and the greatest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spread {
    pub(super) median: f64,
    pub(super) min: f64,
    pub(super) max: f64,
}

/// The median with its spread; `None` of nothing. Values that are no number
/// do not count.
pub(super) fn spread(values: impl IntoIterator<Item = f64>) -> Option<Spread> {
    let mut values: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    let (min, max) = (*values.first()?, *values.last()?);
    let median = if values.len() % 2 == 1 {
        values[middle]
    } else {
        f64::midpoint(values[middle - 1], values[middle])
    };
    Some(Spread { median, min, max })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Odd, even, none, and values that are no number.
    #[test]
    fn medians() {
        assert_eq!(spread([3.0, 1.0, 2.0]), Some(Spread { median: 2.0, min: 1.0, max: 3.0 }));
        assert_eq!(spread([4.0, 1.0]).map(|spread| spread.median), Some(2.5));
        assert_eq!(spread([]), None);
        assert_eq!(spread([f64::NAN, 1.0]).map(|spread| spread.max), Some(1.0));
    }
}
