//! Which script a transaction runs: weights, and the draw.

use crate::error::ScriptError;
use crate::number;
use crate::random::Prng;

/// Most scripts of a run, as in pgbench.
pub const SCRIPTS_MAX: usize = 128;

/// Weights of scripts, cumulated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptChoice {
    /// `cumulated[i]` is the sum of the weights 0 to i.
    cumulated: Box<[u64]>,
}

impl ScriptChoice {
    /// From the scripts' weights, in order.
    ///
    /// # Errors
    /// No weight above zero, or more than [`SCRIPTS_MAX`] scripts.
    pub fn new(weights: &[u32]) -> Result<Self, ScriptError> {
        if weights.len() > SCRIPTS_MAX {
            return Err(ScriptError::TooManyScripts);
        }
        let cumulated: Box<[u64]> = weights
            .iter()
            .scan(0, |sum, &weight| {
                *sum += u64::from(weight);
                Some(*sum)
            })
            .collect();
        if cumulated.last().is_none_or(|&total| total == 0) {
            return Err(ScriptError::ZeroWeight);
        }
        Ok(Self { cumulated })
    }

    /// Sum of all weights.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.cumulated.last().copied().unwrap_or(0)
    }

    /// Index of the script of the next transaction. Draws from the thread's
    /// stream of choices only if there is more than one script.
    pub fn choose(&self, stream: &mut Prng) -> usize {
        if self.cumulated.len() <= 1 {
            return 0;
        }
        let drawn = stream.bounded(self.total() - 1);
        self.cumulated.partition_point(|&sum| sum <= drawn)
    }
}

/// Cuts `NAME@WEIGHT` at its last `@`; without one the weight is 1.
///
/// # Errors
/// A weight that is not an integer from 0 to 2147483647.
pub fn split_weight(text: &str) -> Result<(&str, u32), ScriptError> {
    let Some(at) = text.rfind('@') else { return Ok((text, 1)) };
    let digits = &text.as_bytes()[at + 1..];
    let weight = match number::long(digits) {
        (Ok(weight), []) if !digits.is_empty() => weight,
        _ => return Err(ScriptError::WeightSyntax { text: text[at..].to_owned() }),
    };
    match i32::try_from(weight) {
        Ok(in_range @ 0..) => Ok((&text[..at], in_range.unsigned_abs())),
        _ => Err(ScriptError::WeightRange { weight }),
    }
}

/// Reads the argument of `-D`: `NAME=VALUE`, both not empty.
///
/// # Errors
/// No `=`, no name, no value; or a name that no variable can have.
pub fn parse_define(text: &str) -> Result<(&str, &str), ScriptError> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => {
            if !crate::names::is_valid_name(name.as_bytes()) {
                return Err(ScriptError::DefinitionName { name: name.to_owned() });
            }
            Ok((name, value))
        }
        _ => Err(ScriptError::Definition { text: text.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Weights are what follows the last `@`, and bad ones say so.
    #[test]
    fn weights() {
        assert_eq!(split_weight("a.sql"), Ok(("a.sql", 1)));
        assert_eq!(split_weight("a@b.sql@3"), Ok(("a@b.sql", 3)));
        assert_eq!(split_weight("x@0"), Ok(("x", 0)));
        assert_eq!(split_weight("x@2147483647"), Ok(("x", 2_147_483_647)));
        for (text, message) in [
            ("x@", "invalid weight specification: @"),
            ("x@a", "invalid weight specification: @a"),
            ("x@1.5", "invalid weight specification: @1.5"),
            ("x@-1", "weight specification out of range (0 .. 2147483647): -1"),
            ("x@99999999999999999999", "invalid weight specification: @99999999999999999999"),
            ("x@2147483648", "weight specification out of range (0 .. 2147483647): 2147483648"),
        ] {
            assert_eq!(split_weight(text).expect_err(text).to_string(), message);
        }
    }

    /// Scripts of weight zero are never chosen, and some weight must be left.
    #[test]
    fn zero_weights() {
        let choice = ScriptChoice::new(&[0, 1, 0, 2, 0]).expect("fine");
        let mut stream = Prng::new(1);
        for _ in 0..1000 {
            assert!(matches!(choice.choose(&mut stream), 1 | 3));
        }
        assert_eq!(ScriptChoice::new(&[0, 0]), Err(ScriptError::ZeroWeight));
        assert_eq!(ScriptChoice::new(&[]), Err(ScriptError::ZeroWeight));
        assert_eq!(ScriptChoice::new(&[1; 129]), Err(ScriptError::TooManyScripts));
    }

    /// A definition has a name and a value.
    #[test]
    fn definitions() {
        assert_eq!(parse_define("a=b=c"), Ok(("a", "b=c")));
        for text in ["a", "=b", "a=", ""] {
            let message = format!("invalid variable definition: \"{text}\"");
            assert_eq!(parse_define(text).expect_err(text).to_string(), message);
        }
        assert_eq!(
            parse_define("1a=2").expect_err("bad name").to_string(),
            "option: invalid variable name: \"1a\""
        );
    }
}
