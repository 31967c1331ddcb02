//! The four types of an expression's value, their coercions and their text.

use std::fmt;

use crate::error::RunError;
use crate::number;

/// A value of an expression. `Copy`, so that evaluating allocates nothing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Value {
    /// SQL's NULL.
    #[default]
    Null,
    /// TRUE or FALSE.
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// A double.
    Double(f64),
}

impl Value {
    /// The type's name in messages: `null`, `boolean`, `int` or `double`.
    #[must_use]
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Int(_) => "int",
            Self::Double(_) => "double",
        }
    }

    /// What `\if`, `\elif` and CASE make of it: NULL and zero are false, NaN is true.
    #[must_use]
    pub fn is_true(self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(truth) => truth,
            Self::Int(int) => int != 0,
            Self::Double(double) => double != 0.0,
        }
    }

    /// As an integer; doubles are rounded half to even.
    ///
    /// # Errors
    /// A boolean, NULL, NaN, or a double beyond 64 bits.
    pub fn to_int(self) -> Result<i64, RunError> {
        match self {
            Self::Int(int) => Ok(int),
            Self::Double(double) => {
                // 2^63; itself out of range, and so is NaN.
                const LIMIT: f64 = 9_223_372_036_854_775_808.0;
                let rounded = double.round_ties_even();
                if (-LIMIT..LIMIT).contains(&rounded) {
                    Ok(rounded as i64)
                } else {
                    Err(RunError::DoubleToInt { value: rounded })
                }
            }
            Self::Null | Self::Bool(_) => {
                Err(RunError::Coerce { from: self.type_name(), to: "int" })
            }
        }
    }

    /// As a double.
    ///
    /// # Errors
    /// A boolean or NULL.
    pub fn to_double(self) -> Result<f64, RunError> {
        match self {
            Self::Double(double) => Ok(double),
            Self::Int(int) => Ok(int as f64),
            Self::Null | Self::Bool(_) => {
                Err(RunError::Coerce { from: self.type_name(), to: "double" })
            }
        }
    }

    /// As a boolean.
    ///
    /// # Errors
    /// Anything that is not a boolean, integers too.
    pub fn to_bool(self) -> Result<bool, RunError> {
        match self {
            Self::Bool(truth) => Ok(truth),
            _ => Err(RunError::Coerce { from: self.type_name(), to: "boolean" }),
        }
    }

    /// Appends the text that takes the place of a variable in SQL.
    pub fn write_text(self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend_from_slice(b"NULL"),
            Self::Bool(true) => out.extend_from_slice(b"true"),
            Self::Bool(false) => out.extend_from_slice(b"false"),
            Self::Int(int) => {
                out.extend_from_slice(itoa::Buffer::new().format(int).as_bytes());
            }
            Self::Double(double) => number::write_double(double, out),
        }
    }
}

/// The text form, as in SQL.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Bool(truth) => write!(f, "{truth}"),
            Self::Int(int) => write!(f, "{int}"),
            Self::Double(double) => f.write_str(&number::double_text(*double)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Doubles become integers by rounding half to even, and only where they fit.
    #[test]
    fn doubles_to_int() {
        for (double, int) in
            [(0.5, 0), (1.5, 2), (2.5, 2), (-0.5, 0), (-1.5, -2), (1e15, 10_i64.pow(15))]
        {
            assert_eq!(Value::Double(double).to_int().ok(), Some(int), "{double}");
        }
        assert_eq!(Value::Double(-9.223_372_036_854_776e18).to_int().ok(), Some(i64::MIN));
        for (double, text) in [
            (9.223_372_036_854_776e18, "9223372036854775808.000000"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            let error = Value::Double(double).to_int().expect_err("does not fit");
            assert_eq!(error.to_string(), format!("double to int overflow for {text}"));
        }
    }
}
