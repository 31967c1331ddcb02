//! Parameters of workloads: reading `--param NAME=VALUE`, and what several of
//! them share.

use std::ops::RangeInclusive;

use pgdyno_target::dialect::Dialect;

use crate::entry::{Choice, MakeError, Param};

/// The most pieces that a table can be asked to have: a thousandth of it would
/// already be a strange choice, and a slip of the finger can take hours.
const PIECES_MAX: u64 = 65_536;

/// Into how many pieces tables are split, for all workloads that spread them.
pub(crate) const PIECES: Param = Param {
    name: "pieces",
    help: "into how many pieces each table is split, where the database lets one say so: \
           tablets, hash buckets, shards [default: the database's]",
};

/// What a person chose, of one workload.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chosen<'a> {
    workload: &'static str,
    params: &'a [(String, String)],
}

impl<'a> Chosen<'a> {
    pub(crate) const fn new(workload: &'static str, choice: &Choice<'a>) -> Self {
        Self { workload, params: choice.params }
    }

    /// The value of a parameter: of two with one name, the later.
    fn text(&self, name: &str) -> Option<&'a str> {
        self.params.iter().rfind(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    fn refused(&self, name: &str, value: &str, expected: impl Into<String>) -> MakeError {
        MakeError::ParamValue {
            workload: self.workload,
            name: name.to_owned(),
            value: value.to_owned(),
            expected: expected.into(),
        }
    }

    /// A whole number within a range; `None` where it was not given.
    pub(crate) fn whole(
        &self,
        name: &str,
        range: RangeInclusive<u64>,
    ) -> Result<Option<u64>, MakeError> {
        let Some(value) = self.text(name) else { return Ok(None) };
        let number = value.parse().ok().filter(|number| range.contains(number));
        let expected = || format!("a whole number from {} to {}", range.start(), range.end());
        number.map(Some).ok_or_else(|| self.refused(name, value, expected()))
    }

    /// The same for figures of 32 bits.
    pub(crate) fn small(
        &self,
        name: &str,
        range: RangeInclusive<u32>,
    ) -> Result<Option<u32>, MakeError> {
        let range = u64::from(*range.start())..=u64::from(*range.end());
        Ok(self.whole(name, range)?.and_then(|number| u32::try_from(number).ok()))
    }

    /// A number with decimals within a range.
    pub(crate) fn decimal(
        &self,
        name: &str,
        range: RangeInclusive<f64>,
    ) -> Result<Option<f64>, MakeError> {
        let Some(value) = self.text(name) else { return Ok(None) };
        let number = value.parse().ok().filter(|number| range.contains(number));
        let expected = || format!("a number from {} to {}", range.start(), range.end());
        number.map(Some).ok_or_else(|| self.refused(name, value, expected()))
    }

    /// One of several words; gives its place in `words`.
    pub(crate) fn word(&self, name: &str, words: &[&str]) -> Result<Option<usize>, MakeError> {
        let Some(value) = self.text(name) else { return Ok(None) };
        let found = words.iter().position(|word| *word == value);
        found.map(Some).ok_or_else(|| self.refused(name, value, words.join(" or ")))
    }

    /// `yes` or `no`.
    pub(crate) fn yes(&self, name: &str) -> Result<Option<bool>, MakeError> {
        Ok(self.word(name, &["no", "yes"])?.map(|place| place == 1))
    }

    /// [`PIECES`].
    pub(crate) fn pieces(&self) -> Result<Option<u32>, MakeError> {
        Ok(self.whole("pieces", 1..=PIECES_MAX)?.and_then(|number| u32::try_from(number).ok()))
    }
}

/// Whether a number of pieces can be asked for.
pub(crate) fn check_pieces(pieces: Option<u32>, dialect: &dyn Dialect) -> Result<(), String> {
    if pieces.is_some() && dialect.pieces().is_none() {
        return Err(format!(
            "--param pieces: {} does not let one choose into how many pieces a table is split",
            dialect.title()
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of two values the later counts; what is out of range is told with its
    /// range.
    #[test]
    fn values_are_checked() {
        let params: Vec<(String, String)> =
            [("n", "3"), ("n", "4"), ("f", "nan"), ("w", "maybe"), ("m", "70000")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .to_vec();
        let choice = Choice { name: "x", scale: 1, params: &params };
        let chosen = Chosen::new("x", &choice);
        assert_eq!(chosen.whole("n", 0..=4), Ok(Some(4)));
        assert_eq!(chosen.whole("absent", 0..=4), Ok(None));
        let told = chosen.whole("n", 5..=9).unwrap_err().to_string();
        assert!(told.ends_with("is \"4\"; expected a whole number from 5 to 9"), "{told}");
        assert!(chosen.decimal("f", 0.0..=1.0).is_err());
        let told = chosen.yes("w").unwrap_err().to_string();
        assert!(told.ends_with("expected no or yes"), "{told}");
        assert!(chosen.small("m", 0..=65_536).is_err());
    }
}
