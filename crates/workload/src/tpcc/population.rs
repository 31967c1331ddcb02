//! The initial rows of all tables (clause 4.3.3), from the seed and the row's
//! number alone.
//!
//! Every row has a generator of its own, made of the seed, the table and the
//! row. What concerns a district as a whole, the order of its customers among
//! the orders and the numbers of lines, is in [`super::district`].
//!
//! Dates are the time at which the workload was made, one for the whole load,
//! so that an order and its lines agree. They are the only thing that two
//! loads with one seed differ in; a load that is resumed gives the rest of the
//! rows the later time, which no rule minds.

use std::ops::Range;

use super::district::{customers, line_counts};
use super::random::{Constants, HAMMERDB_C_LAST, Rng, push_last_name};
use super::shapes::{
    CUSTOMER, DISTRICT, HISTORY, ITEM, NEW_ORDER, ORDER, ORDER_LINE, PARAMETERS, STOCK, WAREHOUSE,
};
use super::{
    CUSTOMERS, DISTRICTS, FIRST_UNDELIVERED, ITEMS, LINES, ORDERS, Profile, Tpcc, UNDELIVERED,
};
use crate::rows::push_number;

/// Share of the rows with the marker in HammerDB's population, of 1000: it
/// marks a tenth with replacement.
const HAMMERDB_MARKED: u64 = 95;
const MARKER: &[u8; 8] = b"ORIGINAL";
const HAMMERDB_MARKER: &[u8; 8] = b"original";

/// The constants of NURand of a load.
pub(super) const fn load_constants(profile: Profile, seed: u64) -> Constants {
    let mut constants = Constants::of_load(seed);
    if matches!(profile, Profile::Hammerdb) {
        constants.c_last = HAMMERDB_C_LAST;
    }
    constants
}

/// Appends rows `rows` (from 0) of a table.
pub(super) fn write_rows(
    tpcc: &Tpcc,
    table: usize,
    rows: Range<u64>,
    seed: u64,
    out: &mut Vec<u8>,
) {
    let maker = Maker {
        seed,
        profile: tpcc.params.profile,
        c_last: load_constants(tpcc.params.profile, seed).c_last,
        time: tpcc.time.as_bytes(),
    };
    let warehouses = tpcc.scale;
    let districts = warehouses.saturating_mul(DISTRICTS);
    match table {
        ITEM => each(rows, ITEMS, |row| maker.item(row, out)),
        WAREHOUSE => each(rows, warehouses, |row| maker.warehouse(row, out)),
        DISTRICT => each(rows, districts, |row| maker.district(row, out)),
        STOCK => each(rows, warehouses.saturating_mul(ITEMS), |row| maker.stock(row, out)),
        CUSTOMER => {
            each(rows, districts.saturating_mul(CUSTOMERS), |row| maker.customer(row, out));
        }
        HISTORY => {
            each(rows, districts.saturating_mul(CUSTOMERS), |row| maker.history(row, out));
        }
        ORDER => by_district(rows, districts, ORDERS, |district, rows| {
            maker.orders(district, rows, out);
        }),
        NEW_ORDER => {
            each(rows, districts.saturating_mul(UNDELIVERED), |row| new_order(row, out));
        }
        ORDER_LINE => by_district(rows, districts, LINES, |district, rows| {
            maker.order_lines(district, rows, out);
        }),
        PARAMETERS => {
            let all = parameters(tpcc, seed);
            each(rows, all.len() as u64, |row| {
                let (name, value) = &all[row as usize];
                out.extend_from_slice(format!("{name}\t{value}\n").as_bytes());
            });
        }
        _ => {}
    }
}

/// The rows of `tpcc_parameters`.
fn parameters(tpcc: &Tpcc, seed: u64) -> [(&'static str, String); 6] {
    let profile = tpcc.params.profile;
    let constants = load_constants(profile, seed);
    [
        ("warehouses", tpcc.scale.to_string()),
        ("seed", seed.to_string()),
        ("profile", profile.name().to_owned()),
        ("c_last", constants.c_last.to_string()),
        ("c_id", constants.c_id.to_string()),
        ("ol_i_id", constants.ol_i_id.to_string()),
    ]
}

fn each(rows: Range<u64>, count: u64, mut write: impl FnMut(u64)) {
    for row in rows.start..rows.end.min(count) {
        write(row);
    }
}

/// Deals a range of rows to the districts that they are in, each with the
/// range within it.
fn by_district(
    rows: Range<u64>,
    districts: u64,
    per_district: u64,
    mut write: impl FnMut(u64, Range<u64>),
) {
    let end = rows.end.min(districts.saturating_mul(per_district));
    let mut row = rows.start;
    while row < end {
        let district = row / per_district;
        let first = district * per_district;
        let stop = end.min(first + per_district);
        write(district, row - first..stop - first);
        row = stop;
    }
}

/// Number of the warehouse of district `district`, which counts from 0.
const fn warehouse_of(district: u64) -> u64 {
    district / DISTRICTS + 1
}

/// Number of a district within its warehouse.
const fn within_warehouse(district: u64) -> u64 {
    district % DISTRICTS + 1
}

/// How much of an item is in stock at first.
const fn quantity(rng: &mut Rng) -> u64 {
    rng.between(10, 100)
}

/// The initial `s_quantity` of a row of stock, counted from 0.
pub(super) const fn stock_quantity(seed: u64, row: u64) -> u64 {
    quantity(&mut Rng::new(seed, STOCK as u64, row))
}

fn new_order(row: u64, out: &mut Vec<u8>) {
    let district = row / UNDELIVERED;
    number(FIRST_UNDELIVERED + row % UNDELIVERED, out);
    number(within_warehouse(district), out);
    push_number(warehouse_of(district), out);
    out.push(b'\n');
}

/// A number and the tab behind it.
fn number(value: u64, out: &mut Vec<u8>) {
    push_number(value, out);
    out.push(b'\t');
}

/// An amount in cents as a decimal number, and the tab behind it.
fn money(cents: u64, out: &mut Vec<u8>) {
    push_number(cents / 100, out);
    let rest = (cents % 100) as u8;
    out.extend_from_slice(&[b'.', b'0' + rest / 10, b'0' + rest % 10, b'\t']);
}

/// A share in ten thousandths as a decimal number, and the tab behind it.
fn share(parts: u64, out: &mut Vec<u8>) {
    let digit = |unit: u64| b'0' + (parts / unit % 10) as u8;
    out.extend_from_slice(&[b'0', b'.', digit(1000), digit(100), digit(10), digit(1), b'\t']);
}

fn text(rng: &mut Rng, min: usize, max: usize, out: &mut Vec<u8>) {
    rng.push_text(min, max, out);
    out.push(b'\t');
}

/// Two streets, city, state and zip code.
fn address(rng: &mut Rng, out: &mut Vec<u8>) {
    for _ in 0..3 {
        text(rng, 10, 20, out);
    }
    out.extend([b'A' + rng.below(26) as u8, b'A' + rng.below(26) as u8, b'\t']);
    rng.push_digits(4, out);
    out.extend_from_slice(b"11111\t");
}

/// What all rows of a load have in common.
struct Maker<'a> {
    seed: u64,
    profile: Profile,
    c_last: u64,
    time: &'a [u8],
}

impl Maker<'_> {
    const fn rng(&self, table: usize, row: u64) -> Rng {
        Rng::new(self.seed, table as u64, row)
    }

    const fn is_hammerdb(&self) -> bool {
        matches!(self.profile, Profile::Hammerdb)
    }

    /// The time of the load and the tab behind it.
    fn time(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.time);
        out.push(b'\t');
    }

    /// `i_data` and `s_data`: 26 to 50 letters, some with the marker in them.
    fn data(&self, rng: &mut Rng, out: &mut Vec<u8>) {
        let start = out.len();
        rng.push_text(26, 50, out);
        let last = out.len() - start - MARKER.len();
        if !self.is_hammerdb() {
            if rng.one_in(10) {
                let at = start + rng.between(0, last as u64) as usize;
                out[at..at + MARKER.len()].copy_from_slice(MARKER);
            }
        } else if rng.below(1000) < HAMMERDB_MARKED {
            // Eight letters take the place of nine.
            let at = start + rng.between(0, last as u64 - 1) as usize;
            out.remove(at);
            out[at..at + MARKER.len()].copy_from_slice(HAMMERDB_MARKER);
        }
    }

    /// A tax from 0 to 20 %; HammerDB's are whole per cents from 10 on.
    fn tax(&self, rng: &mut Rng, out: &mut Vec<u8>) {
        let parts =
            if self.is_hammerdb() { rng.between(10, 20) * 100 } else { rng.between(0, 2000) };
        share(parts, out);
    }

    fn item(&self, row: u64, out: &mut Vec<u8>) {
        let mut rng = self.rng(ITEM, row);
        number(row + 1, out);
        number(rng.between(1, 10_000), out);
        text(&mut rng, 14, 24, out);
        money(rng.between(100, 10_000), out);
        self.data(&mut rng, out);
        out.push(b'\n');
    }

    fn warehouse(&self, row: u64, out: &mut Vec<u8>) {
        let mut rng = self.rng(WAREHOUSE, row);
        number(row + 1, out);
        text(&mut rng, 6, 10, out);
        address(&mut rng, out);
        self.tax(&mut rng, out);
        out.extend_from_slice(b"300000.00\n");
    }

    fn district(&self, row: u64, out: &mut Vec<u8>) {
        let mut rng = self.rng(DISTRICT, row);
        number(within_warehouse(row), out);
        number(warehouse_of(row), out);
        text(&mut rng, 6, 10, out);
        address(&mut rng, out);
        self.tax(&mut rng, out);
        out.extend_from_slice(b"30000.00\t3001\n");
    }

    fn stock(&self, row: u64, out: &mut Vec<u8>) {
        let mut rng = self.rng(STOCK, row);
        number(row % ITEMS + 1, out);
        number(row / ITEMS + 1, out);
        // Drawn first: it is asked for alone by `stock_quantity`.
        number(quantity(&mut rng), out);
        for _ in 0..DISTRICTS {
            rng.push_letters(24, out);
            out.push(b'\t');
        }
        out.extend_from_slice(b"0\t0\t0\t");
        self.data(&mut rng, out);
        out.push(b'\n');
    }

    fn customer(&self, row: u64, out: &mut Vec<u8>) {
        let mut rng = self.rng(CUSTOMER, row);
        let district = row / CUSTOMERS;
        let id = row % CUSTOMERS + 1;
        number(id, out);
        number(within_warehouse(district), out);
        number(warehouse_of(district), out);
        text(&mut rng, 8, 16, out);
        out.extend_from_slice(b"OE\t");
        // The first thousand have each name once, so that none is missing.
        let name = if id <= 1000 { id - 1 } else { rng.nurand(255, 0, 999, self.c_last) };
        push_last_name(name, out);
        out.push(b'\t');
        address(&mut rng, out);
        rng.push_digits(16, out);
        out.push(b'\t');
        self.time(out);
        let is_bad = rng.one_in(if self.is_hammerdb() { 2 } else { 10 });
        out.extend_from_slice(if is_bad { b"BC\t50000.00\t" } else { b"GC\t50000.00\t" });
        let discount =
            if self.is_hammerdb() { rng.between(0, 50) * 100 } else { rng.between(0, 5000) };
        share(discount, out);
        out.extend_from_slice(b"-10.00\t10.00\t1\t0\t");
        rng.push_text(300, 500, out);
        out.push(b'\n');
    }

    fn history(&self, row: u64, out: &mut Vec<u8>) {
        let mut rng = self.rng(HISTORY, row);
        let district = row / CUSTOMERS;
        number(row % CUSTOMERS + 1, out);
        for _ in 0..2 {
            number(within_warehouse(district), out);
            number(warehouse_of(district), out);
        }
        self.time(out);
        out.extend_from_slice(b"10.00\t");
        rng.push_text(12, 24, out);
        out.push(b'\n');
    }

    /// Orders `rows` (from 0) of a district.
    fn orders(&self, district: u64, rows: Range<u64>, out: &mut Vec<u8>) {
        let customers = customers(self.seed, district, self.profile);
        let counts = line_counts(self.seed, district);
        for row in rows {
            let mut rng = self.rng(ORDER, district * ORDERS + row);
            number(row + 1, out);
            number(within_warehouse(district), out);
            number(warehouse_of(district), out);
            number(u64::from(customers[row as usize]), out);
            self.time(out);
            if row + 1 < FIRST_UNDELIVERED {
                number(rng.between(1, 10), out);
            } else {
                out.extend_from_slice(b"\\N\t");
            }
            number(u64::from(counts[row as usize]), out);
            out.extend_from_slice(b"1\n");
        }
    }

    /// Order lines `rows` (from 0) of a district, in the order of the orders.
    fn order_lines(&self, district: u64, rows: Range<u64>, out: &mut Vec<u8>) {
        let mut first = 0;
        for (order, count) in (1..).zip(line_counts(self.seed, district)) {
            let next = first + u64::from(count);
            for row in rows.start.max(first)..rows.end.min(next) {
                let mut rng = self.rng(ORDER_LINE, district * LINES + row);
                number(order, out);
                number(within_warehouse(district), out);
                number(warehouse_of(district), out);
                number(row - first + 1, out);
                number(rng.between(1, ITEMS), out);
                number(warehouse_of(district), out);
                let is_delivered = order < FIRST_UNDELIVERED;
                if is_delivered {
                    self.time(out);
                } else {
                    out.extend_from_slice(b"\\N\t");
                }
                out.extend_from_slice(b"5\t");
                money(self.amount(&mut rng, is_delivered), out);
                rng.push_letters(24, out);
                out.push(b'\n');
            }
            first = next;
            if first >= rows.end {
                break;
            }
        }
    }

    /// A line's amount in cents. HammerDB has it the other way round.
    const fn amount(&self, rng: &mut Rng, is_delivered: bool) -> u64 {
        match (self.is_hammerdb(), is_delivered) {
            (false, true) | (true, false) => 0,
            (false, false) => rng.between(1, 999_999),
            (true, true) => rng.between(10, 10_000),
        }
    }
}

#[cfg(test)]
mod tests;
