//! What an expression makes of a variable's text.

use crate::number::{signed, skip_blanks, split_sign, strtod};
use crate::value::Value;

/// The kind of a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TextKind {
    /// A value.
    Value(Value),
    /// The empty text.
    Empty,
    /// Digits, but too many.
    IntOutOfRange,
    /// Blanks and a sign without digits, which pgbench takes for an integer.
    IntWithoutDigits,
    /// None of the forms.
    Malformed,
}

/// Types the text of a variable.
#[must_use]
pub fn classify(text: &[u8]) -> TextKind {
    let is = |word: &str| text.eq_ignore_ascii_case(word.as_bytes());
    let begins = |word: &str| {
        word.len() >= text.len() && text.eq_ignore_ascii_case(&word.as_bytes()[..text.len()])
    };
    if text.is_empty() {
        return TextKind::Empty;
    }
    if is("null") {
        return TextKind::Value(Value::Null);
    }
    if begins("true") || begins("yes") || is("on") {
        return TextKind::Value(Value::Bool(true));
    }
    if begins("false") || begins("no") || is("off") || is("of") {
        return TextKind::Value(Value::Bool(false));
    }
    let (negative, rest) = split_sign(skip_blanks(text));
    if rest.is_empty() {
        return TextKind::IntWithoutDigits;
    }
    if rest.iter().all(u8::is_ascii_digit) {
        return signed(negative, rest)
            .map_or(TextKind::IntOutOfRange, |int| TextKind::Value(Value::Int(int)));
    }
    match strtod(text) {
        Some(read) if !read.out_of_range => TextKind::Value(Value::Double(read.value)),
        _ => TextKind::Malformed,
    }
}
