//! What reading a value gives, and how a bad one is told.

use super::error::{ConnInfoError, ConnInfoErrorKind};
use super::keywords::is_blank;

pub(crate) type Checked<T> = Result<T, ConnInfoError>;

pub(crate) fn error(kind: ConnInfoErrorKind, message: impl Into<String>) -> ConnInfoError {
    ConnInfoError::new(kind, message)
}

pub(crate) fn bad_value(keyword: &str, value: &str) -> ConnInfoError {
    error(ConnInfoErrorKind::BadValue, format!("invalid {keyword} value: \"{value}\""))
}

/// Blanks around the digits are allowed, anything else is not.
pub(crate) fn integer(keyword: &str, text: &str) -> Checked<i32> {
    text.trim_matches(is_blank).parse().map_err(|_| {
        error(
            ConnInfoErrorKind::BadValue,
            format!("invalid integer value \"{text}\" for connection option \"{keyword}\""),
        )
    })
}
