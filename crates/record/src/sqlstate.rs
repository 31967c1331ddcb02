//! SQLSTATEs as small values: five bytes, copied, compared, counted.
//!
//! Not a list of all codes: only the few that decide how a failure is counted
//! have a name here.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A SQLSTATE: five characters from `0-9A-Z`, as the server sends them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SqlState([u8; 5]);

/// The first two characters of a SQLSTATE: its class, e.g. `40`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SqlStateClass([u8; 2]);

/// How pgbench counts a failed transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// SQLSTATE 40001.
    Serialization,
    /// SQLSTATE 40P01.
    Deadlock,
    /// Every other failure.
    Other,
}

/// A text that is not a SQLSTATE.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a SQLSTATE: it takes {1} characters from 0-9 and A-Z")]
pub struct NotSqlState(String, usize);

impl SqlState {
    /// `serialization_failure`.
    pub const SERIALIZATION_FAILURE: Self = Self(*b"40001");
    /// `deadlock_detected`.
    pub const DEADLOCK_DETECTED: Self = Self(*b"40P01");
    /// `connection_failure`: what a lost connection is counted as.
    pub const CONNECTION_FAILURE: Self = Self(*b"08006");
    /// `internal_error`: stands for a code that is no SQLSTATE.
    pub const INTERNAL_ERROR: Self = Self(*b"XX000");

    /// The code in these bytes; `None` when they are not a SQLSTATE.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let code: [u8; 5] = bytes.try_into().ok()?;
        code.iter().all(|byte| is_code_byte(*byte)).then_some(Self(code))
    }

    /// The five characters.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // Every constructor checks for ASCII; the empty text can never appear.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// The first two characters.
    #[must_use]
    pub fn class(self) -> SqlStateClass {
        SqlStateClass([self.0[0], self.0[1]])
    }

    /// How pgbench counts a failure with this code.
    #[must_use]
    pub fn failure_class(self) -> FailureClass {
        match self {
            Self::SERIALIZATION_FAILURE => FailureClass::Serialization,
            Self::DEADLOCK_DETECTED => FailureClass::Deadlock,
            _ => FailureClass::Other,
        }
    }
}

impl SqlStateClass {
    /// The two characters.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

fn is_code_byte(byte: u8) -> bool {
    byte.is_ascii_digit() || byte.is_ascii_uppercase()
}

impl FromStr for SqlState {
    type Err = NotSqlState;

    fn from_str(text: &str) -> Result<Self, NotSqlState> {
        Self::from_bytes(text.as_bytes()).ok_or_else(|| NotSqlState(text.to_owned(), 5))
    }
}

impl FromStr for SqlStateClass {
    type Err = NotSqlState;

    fn from_str(text: &str) -> Result<Self, NotSqlState> {
        match text.as_bytes() {
            &[a, b] if is_code_byte(a) && is_code_byte(b) => Ok(Self([a, b])),
            _ => Err(NotSqlState(text.to_owned(), 2)),
        }
    }
}

/// The four traits that both widths share: text in messages, text in JSON.
macro_rules! text_like {
    ($type:ty) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

text_like!(SqlState);
text_like!(SqlStateClass);

#[cfg(test)]
mod tests {
    use super::*;

    /// Codes are counted as pgbench counts them; only two are special.
    #[test]
    fn failure_classes() {
        let class = |text: &str| text.parse::<SqlState>().unwrap().failure_class();
        assert_eq!(class("40001"), FailureClass::Serialization);
        assert_eq!(class("40P01"), FailureClass::Deadlock);
        assert_eq!(class("40003"), FailureClass::Other);
        assert_eq!(class("23505"), FailureClass::Other);
    }

    /// What is not a SQLSTATE is refused, and the message says what one is.
    #[test]
    fn refuses_other_texts() {
        for text in ["", "4000", "400011", "40p01", "4000 ", "äbc"] {
            let error = text.parse::<SqlState>().unwrap_err();
            assert!(error.to_string().contains("5 characters"), "{error}");
        }
        assert!("4".parse::<SqlStateClass>().is_err());
    }

    /// A code survives JSON, also as the key of a map.
    #[test]
    fn json_round_trip() {
        let counts = std::collections::BTreeMap::from([(SqlState::SERIALIZATION_FAILURE, 3)]);
        let text = serde_json::to_string(&counts).unwrap();
        assert_eq!(text, r#"{"40001":3}"#);
        let back: std::collections::BTreeMap<SqlState, u64> = serde_json::from_str(&text).unwrap();
        assert_eq!(back, counts);
        assert_eq!(SqlState::SERIALIZATION_FAILURE.class().to_string(), "40");
    }
}
