//! Numbers as the C library reads them, for options that pgbench hands to it.
//!
//! A command line that says `-L 10ms` or `--max-tries=5x` works with pgbench,
//! because `atof` and `atoi` stop at the first letter. It works here as well.
//! Nothing here knows which option it reads for.

/// Blanks as C's `isspace` has them.
const BLANKS: &[char] = &[' ', '\t', '\n', '\x0b', '\x0c', '\r'];

/// Splits the leading decimal integer off: the value, saturated, and the rest.
/// `None` where there is no digit.
fn leading_int(text: &str) -> Option<(i128, &str)> {
    let body = text.trim_start_matches(BLANKS);
    let (negative, digits) = match body.as_bytes().first() {
        Some(b'-') => (true, &body[1..]),
        Some(b'+') => (false, &body[1..]),
        _ => (false, body),
    };
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    if end == 0 {
        return None;
    }
    // More digits than any 64-bit number has, so the sum cannot leave i128.
    let value = digits[..end]
        .trim_start_matches('0')
        .bytes()
        .take(30)
        .fold(0_i128, |sum, digit| sum * 10 + i128::from(digit - b'0'));
    Some((if negative { -value } else { value }, &digits[end..]))
}

/// What is wrong with the argument of an option that takes an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntError {
    /// Something that is no part of a number.
    Invalid,
    /// Outside of the range.
    OutOfRange,
}

/// An integer option: blanks around it are allowed, nothing else is. The empty
/// text is 0, as pgbench has it.
///
/// # Errors
/// As [`IntError`] says.
pub fn option_int(text: &str, min: i32, max: i32) -> Result<i32, IntError> {
    let (value, rest) = match leading_int(text) {
        Some(found) => found,
        // `strtol` without a digit leaves the whole text unread.
        None => (0, text),
    };
    if !rest.trim_start_matches(BLANKS).is_empty() {
        return Err(IntError::Invalid);
    }
    match i32::try_from(value) {
        Ok(value) if (min..=max).contains(&value) => Ok(value),
        _ => Err(IntError::OutOfRange),
    }
}

/// C's `atoi`: the leading integer, or 0. Too large numbers are cut to 32 bits
/// of the 64-bit value, which is what the usual C libraries do.
#[must_use]
pub fn atoi(text: &str) -> i32 {
    let (value, _) = leading_int(text).unwrap_or((0, text));
    let wide = value.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
    wide as i32
}

/// `sscanf("%lu%c")` as pgbench uses it for seeds: one unsigned number with
/// nothing behind it. Negative numbers wrap, too large ones become the largest.
#[must_use]
pub fn seed(text: &str) -> Option<u64> {
    let (value, rest) = leading_int(text)?;
    if !rest.is_empty() {
        return None;
    }
    let largest = i128::from(u64::MAX);
    if value.abs() > largest {
        return Some(u64::MAX);
    }
    Some(value as u64)
}

/// C's `atof`: the leading number, or 0. Knows hexadecimal numbers, `inf` and `nan`.
#[must_use]
pub fn atof(text: &str) -> f64 {
    let body = text.trim_start_matches(BLANKS);
    let (sign, magnitude) = match body.as_bytes().first() {
        Some(b'-') => (-1.0, &body[1..]),
        Some(b'+') => (1.0, &body[1..]),
        _ => (1.0, body),
    };
    let lower = magnitude.to_ascii_lowercase();
    if lower.starts_with("inf") {
        return sign * f64::INFINITY;
    }
    if lower.starts_with("nan") {
        return f64::NAN;
    }
    if let Some(hex) = lower.strip_prefix("0x")
        && hex.starts_with(|c: char| c.is_ascii_hexdigit() || c == '.')
    {
        return sign * leading_hex(hex);
    }
    sign * leading_decimal(&lower)
}

fn leading_decimal(text: &str) -> f64 {
    let bytes = text.as_bytes();
    let digits =
        |from: usize| from + bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if bytes.get(end) == Some(&b'e') {
        let signed = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if bytes.get(signed).is_some_and(u8::is_ascii_digit) {
            end = digits(signed);
        }
    }
    text[..end].parse().unwrap_or(0.0)
}

fn leading_hex(text: &str) -> f64 {
    let (mut value, mut scale, mut fraction) = (0.0_f64, 1.0_f64, false);
    let mut rest = text.chars();
    let mut exponent = None;
    while let Some(c) = rest.next() {
        match c.to_digit(16) {
            Some(digit) if fraction => {
                scale /= 16.0;
                value += f64::from(digit) * scale;
            }
            Some(digit) => value = value * 16.0 + f64::from(digit),
            None if c == '.' && !fraction => fraction = true,
            None if c == 'p' => {
                exponent = leading_int(rest.as_str());
                break;
            }
            None => break,
        }
    }
    let power = exponent.map_or(0, |(power, _)| power.clamp(-5000, 5000) as i32);
    value * 2.0_f64.powi(power)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Integer options take what pgbench takes.
    #[test]
    fn integers_of_options() {
        assert_eq!(option_int(" +5 ", 1, 10), Ok(5));
        assert_eq!(option_int("", 1, 10), Err(IntError::OutOfRange));
        assert_eq!(option_int("", 0, 10), Ok(0));
        assert_eq!(option_int("5.", 1, 10), Err(IntError::Invalid));
        assert_eq!(option_int("x", 1, 10), Err(IntError::Invalid));
        assert_eq!(option_int("-", 0, 10), Err(IntError::Invalid));
        assert_eq!(option_int("11", 1, 10), Err(IntError::OutOfRange));
        assert_eq!(option_int(&"9".repeat(99), 1, i32::MAX), Err(IntError::OutOfRange));
    }

    /// `atof` stops where the C library stops.
    #[test]
    fn leading_numbers() {
        for (text, want) in [
            ("10ms", 10.0),
            (" -1.5e1x", -15.0),
            (".5", 0.5),
            ("5.", 5.0),
            ("1e", 1.0),
            ("1e+", 1.0),
            ("1e+2", 100.0),
            ("x", 0.0),
            ("", 0.0),
            (".", 0.0),
            ("0x1F.8p1", 63.0),
            ("0xz", 0.0),
            ("infinite", f64::INFINITY),
        ] {
            assert_eq!(atof(text), want, "{text}");
        }
        assert!(atof("nan").is_nan());
    }

    /// Seeds wrap and saturate as with the real pgbench.
    #[test]
    fn seeds() {
        assert_eq!(seed(" 12"), Some(12));
        assert_eq!(seed("12 "), None);
        assert_eq!(seed(""), None);
        assert_eq!(seed("-1"), Some(u64::MAX));
        assert_eq!(seed(&"9".repeat(23)), Some(u64::MAX));
    }

    proptest! {
        /// Every 64-bit number is read as itself, and no text makes a reader panic.
        #[test]
        fn readers_agree_with_rust(number: i64, real in -1e300_f64..1e300, text in "\\PC{0,12}") {
            prop_assert_eq!(seed(&(number as u64).to_string()), Some(number as u64));
            prop_assert_eq!(atoi(&(number as i32).to_string()), number as i32);
            prop_assert_eq!(atof(&format!("{real:e}rest")).to_bits(), real.to_bits());
            let _ = (seed(&text), atoi(&text), atof(&text), option_int(&text, 0, 9));
        }
    }
}
