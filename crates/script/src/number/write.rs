//! Doubles as C writes them: `%.15g` and `%f`.

use std::fmt::Write as _;

use super::read::strtol;

/// Digits that `%.15g` keeps: those that survive any way through a decimal.
const DOUBLE_DIGITS: i32 = 15;

/// Appends a double as `%.15g` writes it, with PostgreSQL's words `Infinity` and `NaN`.
pub fn write_double(value: f64, out: &mut Vec<u8>) {
    if value.is_nan() {
        out.extend_from_slice(b"NaN");
        return;
    }
    if value.is_infinite() {
        out.extend_from_slice(if value < 0.0 { b"-Infinity" } else { b"Infinity" });
        return;
    }
    let mut scientific = ShortText::default();
    // Sign, digit, point, 14 digits, `e`, exponent: 24 bytes, which fit.
    let _ = write!(scientific, "{value:.14e}");
    let text = scientific.bytes();
    let (negative, text) = match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        _ => (false, text),
    };
    let Some(e) = memchr::memchr(b'e', text) else { return };
    let (exponent, _) = strtol(&text[e + 1..]);
    let exponent = exponent as i32;
    let mut digits = [b'0'; DOUBLE_DIGITS as usize];
    for (to, &from) in digits.iter_mut().zip(text[..e].iter().filter(|&&byte| byte != b'.')) {
        *to = from;
    }
    let kept = digits.iter().rposition(|&digit| digit != b'0').map_or(1, |last| last + 1);
    if negative {
        out.push(b'-');
    }
    write_digits(&digits[..kept], exponent, out);
}

/// `digits` (first one before the point) times ten to the `exponent`, in the shorter notation.
fn write_digits(digits: &[u8], exponent: i32, out: &mut Vec<u8>) {
    if !(-4..DOUBLE_DIGITS).contains(&exponent) {
        out.push(digits[0]);
        if digits.len() > 1 {
            out.push(b'.');
            out.extend_from_slice(&digits[1..]);
        }
        let sign = if exponent < 0 { '-' } else { '+' };
        let mut tail = ShortText::default();
        let _ = write!(tail, "e{sign}{:02}", exponent.unsigned_abs());
        out.extend_from_slice(tail.bytes());
    } else if exponent < 0 {
        out.extend_from_slice(b"0.");
        out.resize(out.len() + (-exponent - 1) as usize, b'0');
        out.extend_from_slice(digits);
    } else {
        let whole = exponent as usize + 1;
        if digits.len() <= whole {
            out.extend_from_slice(digits);
            out.resize(out.len() + whole - digits.len(), b'0');
        } else {
            out.extend_from_slice(&digits[..whole]);
            out.push(b'.');
            out.extend_from_slice(&digits[whole..]);
        }
    }
}

/// As [`write_double`], as a string.
#[must_use]
pub fn double_text(value: f64) -> String {
    let mut out = Vec::new();
    write_double(value, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// A double as `%f` writes it, with PostgreSQL's words for the special values.
#[must_use]
pub fn fixed6(value: f64) -> String {
    if value.is_finite() { format!("{value:.6}") } else { double_text(value) }
}

/// A text of at most 40 bytes, without allocation.
struct ShortText {
    bytes: [u8; 40],
    len: usize,
}

impl Default for ShortText {
    fn default() -> Self {
        Self { bytes: [0; 40], len: 0 }
    }
}

impl ShortText {
    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl std::fmt::Write for ShortText {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let room = self.bytes.get_mut(self.len..self.len + text.len()).ok_or(std::fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.len += text.len();
        Ok(())
    }
}
