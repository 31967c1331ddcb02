//! Numbers as C reads them: `strtol`, `atoi`, `strtod`.

/// C's `isspace` in its own locale.
pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

/// What is left after leading blanks, as C's `isspace` has them.
pub(crate) fn skip_blanks(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|&byte| !is_blank(byte)).unwrap_or(text.len());
    &text[start..]
}

/// A sign, if there is one, and the rest.
pub(crate) fn split_sign(text: &[u8]) -> (bool, &[u8]) {
    match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) => (false, rest),
        _ => (false, text),
    }
}

/// Leading digits and the rest.
fn split_digits(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len()))
}

/// The leading decimal integer as C's `strtol` reads it, and what follows;
/// the ends of 64 bits where it is beyond them; 0 and the whole text if there is none.
pub(crate) fn strtol(text: &[u8]) -> (i64, &[u8]) {
    let (number, rest) = long(text);
    (number.unwrap_or_else(|end| end), rest)
}

/// As [`strtol`]; what is beyond 64 bits is an error with the nearer end.
pub(crate) fn long(text: &[u8]) -> (Result<i64, i64>, &[u8]) {
    let (negative, rest) = split_sign(skip_blanks(text));
    let (digits, rest) = split_digits(rest);
    if digits.is_empty() {
        return (Ok(0), text);
    }
    let end = if negative { i64::MIN } else { i64::MAX };
    (signed(negative, digits).ok_or(end), rest)
}

pub(crate) fn signed(negative: bool, digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0_i64, |sum, digit| {
        let digit = i64::from(digit - b'0');
        let sum = sum.checked_mul(10)?;
        if negative { sum.checked_sub(digit) } else { sum.checked_add(digit) }
    })
}

/// The leading integer as C's `atoi` on 64-bit systems reads it: through a long, cut to 32 bits.
pub(crate) fn atoi(text: &[u8]) -> i32 {
    strtol(text).0 as i32
}

/// Nothing but digits as an integer, if it fits.
pub(crate) fn digits_to_int(digits: &[u8]) -> Option<i64> {
    signed(false, digits)
}

/// A double that was read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Read {
    pub(crate) value: f64,
    /// Where C sets ERANGE: overflow, or a subnormal or zero that is not exact.
    pub(crate) out_of_range: bool,
}

/// The whole text as C's `strtod` reads it: leading blanks, sign, decimal or
/// hexadecimal, `inf`, `infinity`, `nan`, `nan(…)`. `None` if anything is left over.
pub(crate) fn strtod(text: &[u8]) -> Option<Read> {
    let (negative, rest) = split_sign(skip_blanks(text));
    let read = special(rest).or_else(|| hexadecimal(rest)).or_else(|| decimal(rest))?;
    Some(Read { value: if negative { -read.value } else { read.value }, ..read })
}

fn special(text: &[u8]) -> Option<Read> {
    let value = if text.eq_ignore_ascii_case(b"inf") || text.eq_ignore_ascii_case(b"infinity") {
        f64::INFINITY
    } else if text.len() >= 3 && text[..3].eq_ignore_ascii_case(b"nan") {
        let inner = match &text[3..] {
            [] => &[],
            [b'(', inner @ .., b')'] => inner,
            _ => return None,
        };
        if !inner.iter().all(|&byte| byte == b'_' || byte.is_ascii_alphanumeric()) {
            return None;
        }
        f64::NAN
    } else {
        return None;
    };
    Some(Read { value, out_of_range: false })
}

fn decimal(text: &[u8]) -> Option<Read> {
    let (whole, rest) = split_digits(text);
    let (fraction, rest) = match rest.split_first() {
        Some((b'.', rest)) => split_digits(rest),
        _ => (&[][..], rest),
    };
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let exponent = match rest.split_first() {
        None => 0,
        Some((b'e' | b'E', rest)) => whole_exponent(rest)?,
        Some(_) => return None,
    };
    let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    let out_of_range = value.is_infinite()
        || (value < f64::MIN_POSITIVE
            && Decimal::of(whole, fraction, exponent) != Decimal::exact(value));
    Some(Read { value, out_of_range })
}

/// An exponent with optional sign that ends the text.
fn whole_exponent(text: &[u8]) -> Option<i64> {
    let (negative, digits) = split_sign(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(signed(negative, digits).unwrap_or(if negative { i64::MIN } else { i64::MAX }))
}

/// A decimal in normal form: digits without zeros at either end, and the power
/// of ten of the last of them.
#[derive(Debug, PartialEq)]
struct Decimal {
    digits: Vec<u8>,
    power: i64,
}

impl Decimal {
    fn of(whole: &[u8], fraction: &[u8], exponent: i64) -> Self {
        let mut digits = [whole, fraction].concat();
        let mut power = exponent.saturating_sub(fraction.len() as i64);
        while digits.last() == Some(&b'0') {
            digits.pop();
            power = power.saturating_add(1);
        }
        let leading = digits.iter().take_while(|&&digit| digit == b'0').count();
        digits.drain(..leading);
        if digits.is_empty() {
            power = 0;
        }
        Self { digits, power }
    }

    /// The value of a small double to its last binary digit, which is 2^-1074.
    fn exact(value: f64) -> Self {
        let text = format!("{value:.1074}");
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        Self::of(whole.as_bytes(), fraction.as_bytes(), 0)
    }
}

fn hexadecimal(text: &[u8]) -> Option<Read> {
    let [b'0', b'x' | b'X', rest @ ..] = text else { return None };
    let (mut mantissa, mut power, mut digits, mut lost) = (0_u64, 0_i64, 0_usize, false);
    let mut fraction = false;
    let mut at = 0;
    while let Some(&byte) = rest.get(at) {
        if byte == b'.' && !fraction {
            fraction = true;
            at += 1;
            continue;
        }
        let Some(digit) = char::from(byte).to_digit(16) else { break };
        if mantissa >> 60 == 0 {
            mantissa = mantissa << 4 | u64::from(digit);
            power -= if fraction { 4 } else { 0 };
        } else {
            lost |= digit != 0;
            power += if fraction { 0 } else { 4 };
        }
        digits += 1;
        at += 1;
    }
    let exponent = match rest[at..].split_first() {
        None => 0,
        Some((b'p' | b'P', rest)) => whole_exponent(rest)?,
        Some(_) => return None,
    };
    if digits == 0 {
        return None;
    }
    Some(binary(mantissa, lost, power.saturating_add(exponent)))
}

/// `mantissa` times two to the `power`, rounded half to even; `lost`: there were more digits.
fn binary(mantissa: u64, lost: bool, power: i64) -> Read {
    /// Power of two of a double's lowest possible digit.
    const LOWEST: i64 = -1074;
    /// Beyond these any mantissa of 64 bits is zero or infinite.
    const POWER_MAX: i64 = 1100;
    if mantissa == 0 {
        return Read { value: 0.0, out_of_range: false };
    }
    let power = power.clamp(LOWEST - POWER_MAX, POWER_MAX);
    let length = i64::from(64 - mantissa.leading_zeros());
    let drop = (length - 53).max(LOWEST - power).max(0);
    let (kept, inexact) = if drop > 64 {
        (0, true)
    } else {
        let wide = u128::from(mantissa);
        let (kept, rest) = (wide >> drop, wide & ((1_u128 << drop) - 1));
        let half = if drop == 0 { u128::MAX } else { 1_u128 << (drop - 1) };
        let up = rest > half || (rest == half && (lost || kept & 1 == 1));
        (kept + u128::from(up), rest != 0 || lost)
    };
    // Two steps, for one power of two may itself be out of range; both are exact.
    let scale = (power + drop) as i32;
    let value = kept as f64 * 2.0_f64.powi(scale / 2) * 2.0_f64.powi(scale - scale / 2);
    let out_of_range = value.is_infinite() || (value < f64::MIN_POSITIVE && inexact);
    Read { value, out_of_range }
}
