//! What a transaction gives back to its terminal, as far as anybody asks, and
//! the reading of columns.

use pgdyno_wire::backend::{DataRow, Values};

use super::deck::Kind;
use super::input::{Input, LINES_MAX};
use crate::procedure::BadRow;

/// One line of an order as the terminal shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LineAnswer {
    /// The item's price in cents; `None` where there is no such item.
    pub price_cents: Option<i64>,
    /// Stock after the order.
    pub stock: i64,
    /// Both the item's and the stock's data are marked as original.
    pub brand: bool,
}

/// What one transaction came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The inputs.
    pub input: Input,
    /// False where it was rolled back.
    pub committed: bool,
    /// The order of a new order or an order status; the items that are low of
    /// a stock level; the districts delivered of a delivery; the customer of
    /// a payment.
    pub number: i64,
    /// Of a new order: the total in cents, where the client computes it.
    pub total_cents: i64,
    /// Of a new order: the lines, where the client sees them.
    pub lines: [LineAnswer; LINES_MAX],
    /// Of a delivery: district and order of each that was delivered.
    pub delivered: Vec<(i32, i64)>,
    /// Of a payment or an order status: the customer's first name.
    pub first_name: Vec<u8>,
    /// Rows of the last statement that gave rows.
    pub rows: u64,
}

impl Answer {
    /// Which transaction it was.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        self.input.kind()
    }
}

/// The columns of a row, left to right.
pub(super) struct Columns<'a>(Values<'a>);

impl<'a> Columns<'a> {
    pub(super) fn of(row: &DataRow<'a>) -> Self {
        Self(row.values())
    }

    /// The next column; `None` is NULL.
    pub(super) fn next(&mut self) -> Result<Option<&'a [u8]>, BadRow> {
        match self.0.next() {
            Some(Ok(value)) => Ok(value),
            _ => Err(BadRow("a row with too few columns")),
        }
    }

    /// The next column, which is not NULL.
    pub(super) fn text(&mut self) -> Result<&'a [u8], BadRow> {
        self.next()?.ok_or(BadRow("NULL in a column that is never NULL"))
    }

    /// The next column as a whole number.
    pub(super) fn whole(&mut self) -> Result<i64, BadRow> {
        fixed(self.text()?, 0)
    }

    /// The next column in units of 10^-`decimals`.
    pub(super) fn fixed(&mut self, decimals: usize) -> Result<i64, BadRow> {
        fixed(self.text()?, decimals)
    }

    /// The next column as a truth value.
    pub(super) fn truth(&mut self) -> Result<bool, BadRow> {
        Ok(self.text()? == b"t")
    }
}

/// Reads a whole number.
pub(super) fn whole(text: &[u8]) -> Result<i64, BadRow> {
    fixed(text, 0)
}

/// Reads a decimal number in units of 10^-`decimals`; further digits are cut.
fn fixed(text: &[u8], decimals: usize) -> Result<i64, BadRow> {
    let (negative, digits) = match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        _ => (false, text),
    };
    let (mut value, mut after_point) = (0i64, None);
    for &byte in digits {
        match (byte, after_point) {
            (b'.', None) => after_point = Some(0),
            (b'0'..=b'9', Some(n)) if n >= decimals => {}
            (b'0'..=b'9', _) => {
                value = value.saturating_mul(10).saturating_add(i64::from(byte - b'0'));
                after_point = after_point.map(|n| n + 1);
            }
            _ => return Err(BadRow("a number that is none")),
        }
    }
    if digits.is_empty() {
        return Err(BadRow("a number without digits"));
    }
    for _ in after_point.unwrap_or(0)..decimals {
        value = value.saturating_mul(10);
    }
    Ok(if negative { -value } else { value })
}

/// Writes an array as PostgreSQL reads it: `{1,2,3}`.
pub(super) fn write_array<T>(
    out: &mut Vec<u8>,
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut Vec<u8>, T),
) {
    out.clear();
    out.push(b'{');
    for item in items {
        write(out, item);
        out.push(b',');
    }
    if out.last() == Some(&b',') {
        out.pop();
    }
    out.push(b'}');
}

/// Appends a whole number.
pub(super) fn write_whole(out: &mut Vec<u8>, value: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends an amount of cents as a decimal number.
pub(super) fn write_cents(out: &mut Vec<u8>, cents: i64) {
    write_decimal::<100>(out, cents);
}

/// Appends a number of 10^-4 as a decimal number.
pub(super) fn write_four_decimals(out: &mut Vec<u8>, value: i64) {
    write_decimal::<10_000>(out, value);
}

/// Appends `units` / `ONE`, a power of ten, with all its decimals. By hand:
/// each order writes some ten amounts, and `write!` of them was a hundredth of
/// the driver's time.
fn write_decimal<const ONE: u64>(out: &mut Vec<u8>, units: i64) {
    if units < 0 {
        out.push(b'-');
    }
    let units = units.unsigned_abs();
    out.extend_from_slice(itoa::Buffer::new().format(units / ONE).as_bytes());
    out.push(b'.');
    let mut place = ONE / 10;
    while place > 0 {
        out.push(b'0' + (units / place % 10) as u8);
        place /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decimal numbers are read exactly in the units asked for.
    #[test]
    fn decimals_are_exact() {
        for (text, decimals, value) in [
            ("12.34", 2, 1234),
            ("-10.00", 2, -1000),
            ("0.0731", 4, 731),
            ("0.1", 4, 1000),
            ("7", 2, 700),
            ("1.2399", 2, 123),
            ("3001", 0, 3001),
        ] {
            assert_eq!(fixed(text.as_bytes(), decimals), Ok(value), "{text}");
        }
        for text in ["", "-", "x", "1.2.3", "NaN"] {
            assert!(fixed(text.as_bytes(), 2).is_err(), "{text}");
        }
    }

    /// Arrays and amounts are written as PostgreSQL reads them.
    #[test]
    fn arrays_and_amounts() {
        let mut out = Vec::new();
        write_array(&mut out, [5, -7, 300], write_cents);
        assert_eq!(out, b"{0.05,-0.07,3.00}");
        write_array(&mut out, [1, 22], write_whole);
        assert_eq!(out, b"{1,22}");
        write_array(&mut out, [0; 0], write_whole);
        assert_eq!(out, b"{}");
        out.clear();
        for units in [0, 731, 10_000, 123_456_789, i64::MAX] {
            write_four_decimals(&mut out, units);
            out.push(b' ');
        }
        assert_eq!(out, b"0.0000 0.0731 1.0000 12345.6789 922337203685477.5807 ");
        out.clear();
        write_cents(&mut out, i64::MIN);
        assert_eq!(out, b"-92233720368547758.08");
    }
}
