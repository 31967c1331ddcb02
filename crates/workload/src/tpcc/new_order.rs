//! New-Order (clause 2.4): two batches. The first begins, reads warehouse,
//! customer and items, and takes the items from stock in the order of their
//! keys, so that two orders never wait for each other in a circle. The second
//! counts the district's orders up, inserts, and commits; the district, which
//! all orders of it wait for, is held for no round trip at all.

use super::answer::{
    Columns, LineAnswer, write_array, write_cents, write_four_decimals, write_whole,
};
use super::input::{LINES_MAX, NewOrder};
use super::terminal::{Scratch, Slots};
use super::{Profile, functions};
use crate::procedure::{BadRow, Batch, Step};
use pgdyno_wire::backend::DataRow;

const BEGIN: usize = 0;
const WAREHOUSE: usize = 1;
const CUSTOMER: usize = 2;
const ITEM: usize = 3;
const STOCK_HOME: usize = 4;
const STOCK_ONE: usize = 5;
const DISTRICT: usize = 6;
const ORDER: usize = 7;
const QUEUE: usize = 8;
const LINES: usize = 9;
const COMMIT: usize = 10;
const ROLLBACK: usize = 11;

/// The letters of a stock row's text for one district.
const DIST_LEN: usize = 24;
/// No text of a server has zero bytes.
const NO_DIST: [u8; DIST_LEN] = [0; DIST_LEN];

/// The commands of the client's form.
pub(super) fn commands(profile: Profile) -> String {
    let faithful = profile == Profile::Faithful;
    let dist: String = (1..=10).map(|d| format!(" WHEN {d} THEN s_dist_{d:02}")).collect();
    let quantity = |q: &str| {
        format!(
            "s_quantity = CASE WHEN s_quantity >= {q} + 10 THEN s_quantity - {q} \
             ELSE s_quantity - {q} + 91 END"
        )
    };
    let counted = |q: &str, remote: &str| {
        if faithful {
            format!(", s_ytd = s_ytd + {q}, s_order_cnt = s_order_cnt + 1{remote}")
        } else {
            String::new()
        }
    };
    let returning = format!(
        "RETURNING s_i_id, s_quantity, CASE :d_id::int{dist} END, strpos(s_data, 'ORIGINAL') > 0"
    );
    let home = format!(
        "UPDATE stock SET {}{} FROM unnest(:home_items::int[], :home_quantities::int[]) \
         AS wanted (i, q) WHERE s_w_id = :w_id AND s_i_id = i {returning};",
        quantity("q"),
        counted("q", "")
    );
    let one = format!(
        "UPDATE stock SET {}{} WHERE s_w_id = :supply AND s_i_id = :item {returning};",
        quantity(":quantity::int"),
        counted(":quantity::int", ", s_remote_cnt = s_remote_cnt + :remote::int")
    );
    // HammerDB's amounts hold tax and discount.
    let amount = if faithful {
        "amount"
    } else {
        "round(amount * (1 + :w_tax::numeric + d_tax) * (1 - :c_discount::numeric), 2)"
    };
    format!(
        "BEGIN;
SELECT w_tax FROM warehouse WHERE w_id = :w_id;
SELECT c_discount, c_last, c_credit FROM customer WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_id = :c_id;
SELECT i_id, i_price, i_name, strpos(i_data, 'ORIGINAL') > 0 FROM item WHERE i_id = ANY (:items::int[]);
{home}
{one}
UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = :w_id AND d_id = :d_id RETURNING d_next_o_id - 1, d_tax;
INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) SELECT d_next_o_id - 1, d_id, d_w_id, :c_id::int, CURRENT_TIMESTAMP, :ol_cnt::int, :all_local::int FROM district WHERE d_w_id = :w_id AND d_id = :d_id RETURNING o_entry_d;
INSERT INTO new_order (no_o_id, no_d_id, no_w_id) SELECT d_next_o_id - 1, d_id, d_w_id FROM district WHERE d_w_id = :w_id AND d_id = :d_id;
INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info) SELECT d_next_o_id - 1, d_id, d_w_id, n, i, s, q, {amount}, dist FROM district, unnest(:items::int[], :supplies::int[], :quantities::int[], :amounts::numeric[], :dists::text[]) WITH ORDINALITY AS ordered (i, s, q, amount, dist, n) WHERE d_w_id = :w_id AND d_id = :d_id;
COMMIT;
ROLLBACK;
"
    )
}

/// The command of the form with routines.
pub(super) fn routine() -> String {
    let out = ", NULL".repeat(functions::NEWORD_OUT);
    format!(
        "CALL neword(:w_id::int, :d_id::int, :c_id::int, :items::int[], :supplies::int[], \
         :quantities::int[]{out});\n"
    )
}

/// A new order under way.
#[derive(Debug)]
pub(super) struct State {
    stage: u8,
    /// Units of 10^-4.
    w_tax: i64,
    d_tax: i64,
    discount: i64,
    pub(super) order: i64,
    /// The routine says that it took everything back.
    rolled_back: bool,
    pub(super) lines: [LineAnswer; LINES_MAX],
    /// [`NO_DIST`] until the stock's row has come.
    dists: [[u8; DIST_LEN]; LINES_MAX],
    /// The line of each pushed command that takes one line's item.
    singles: [(u8, u8); LINES_MAX],
    singles_len: usize,
    /// The line is one of those that the home warehouse's command takes.
    at_home: [bool; LINES_MAX],
}

impl State {
    pub(super) const fn new() -> Self {
        Self {
            stage: 0,
            w_tax: 0,
            d_tax: 0,
            discount: 0,
            order: 0,
            rolled_back: false,
            lines: [LineAnswer { price_cents: None, stock: 0, brand: false }; LINES_MAX],
            dists: [NO_DIST; LINES_MAX],
            singles: [(0, 0); LINES_MAX],
            singles_len: 0,
            at_home: [false; LINES_MAX],
        }
    }

    pub(super) fn begin(&mut self) {
        self.stage = 0;
        (self.w_tax, self.d_tax, self.discount) = (0, 0, 0);
        self.order = 0;
        self.rolled_back = false;
        self.dists = [NO_DIST; LINES_MAX];
        self.singles_len = 0;
        self.at_home = [false; LINES_MAX];
        self.lines = [LineAnswer::default(); LINES_MAX];
    }

    /// The total in cents: lines, less discount, plus taxes (clause 2.4.2.2).
    pub(super) fn total_cents(&self, input: &NewOrder) -> i64 {
        const ONE: i64 = 10_000;
        let sum: i64 = (0..input.count).map(|at| self.amount_cents(input, at)).sum();
        let total = i128::from(sum)
            * i128::from(ONE - self.discount)
            * i128::from(ONE + self.w_tax + self.d_tax);
        let unit = i128::from(ONE) * i128::from(ONE);
        ((total + unit / 2) / unit) as i64
    }

    fn amount_cents(&self, input: &NewOrder, at: usize) -> i64 {
        self.lines[at].price_cents.unwrap_or(0) * i64::from(input.lines[at].quantity)
    }

    pub(super) fn step(
        &mut self,
        input: &NewOrder,
        slots: &Slots,
        scratch: &mut Scratch,
        batch: &mut Batch<'_>,
    ) -> Step {
        self.stage += 1;
        match self.stage {
            1 => {
                self.read_and_take(input, slots, scratch, batch);
                Step::Send
            }
            2 => {
                self.write(input, slots, scratch, batch);
                Step::Send
            }
            _ if self.is_complete(input) => Step::Committed,
            _ => Step::RolledBack,
        }
    }

    /// All items were found.
    fn is_complete(&self, input: &NewOrder) -> bool {
        self.lines[..input.count].iter().all(|line| line.price_cents.is_some())
    }

    fn read_and_take(
        &mut self,
        input: &NewOrder,
        slots: &Slots,
        scratch: &mut Scratch,
        batch: &mut Batch<'_>,
    ) {
        batch.int(slots.w_id, input.warehouse.into());
        batch.int(slots.d_id, input.district.into());
        batch.int(slots.c_id, input.customer.into());
        let lines = input.lines();
        let text = &mut scratch.text;
        write_array(text, lines, |out, line| write_whole(out, line.item.into()));
        batch.text(slots.items, text);
        for command in [BEGIN, WAREHOUSE, CUSTOMER, ITEM] {
            batch.push(command);
        }
        let mut order: [u8; LINES_MAX] = std::array::from_fn(|at| at as u8);
        let order = &mut order[..lines.len()];
        let key = |at: &u8| (lines[*at as usize].supply, lines[*at as usize].item, *at);
        order.sort_unstable_by_key(key);
        let mut place = 4;
        let mut home_pushed = false;
        for (n, &at) in order.iter().enumerate() {
            let line = &lines[at as usize];
            let is_home = line.supply == input.warehouse;
            if is_home && !home_pushed {
                home_pushed = true;
                self.take_at_home(input, &order[n..], slots, scratch, batch);
                place += 1;
            }
            // A second line with the same item takes from what the first left.
            if !self.at_home[at as usize] {
                batch.int(slots.supply, line.supply.into());
                batch.int(slots.item, line.item.into());
                batch.int(slots.quantity, line.quantity.into());
                batch.int(slots.remote, i64::from(!is_home));
                batch.push(STOCK_ONE);
                self.singles[self.singles_len] = (place, at);
                self.singles_len += 1;
                place += 1;
            }
        }
    }

    /// One command for the lines that the home warehouse supplies, each item
    /// once: an UPDATE touches a row only once.
    fn take_at_home(
        &mut self,
        input: &NewOrder,
        order: &[u8],
        slots: &Slots,
        scratch: &mut Scratch,
        batch: &mut Batch<'_>,
    ) {
        let lines = input.lines();
        let mut last = 0;
        for &at in order {
            let line = &lines[at as usize];
            let first_of_item = line.item != last;
            last = line.item;
            self.at_home[at as usize] = line.supply == input.warehouse && first_of_item;
        }
        let at_home = self.at_home;
        let taken = || order.iter().map(|at| *at as usize).filter(|at| at_home[*at]);
        let text = &mut scratch.text;
        write_array(text, taken(), |out, at| write_whole(out, lines[at].item.into()));
        batch.text(slots.home_items, text);
        write_array(text, taken(), |out, at| write_whole(out, lines[at].quantity.into()));
        batch.text(slots.home_quantities, text);
        batch.push(STOCK_HOME);
    }

    /// Inserts the order with the lines whose items exist; with all of them it
    /// commits, else it takes everything back (clause 2.4.2.3).
    fn write(&self, input: &NewOrder, slots: &Slots, scratch: &mut Scratch, batch: &mut Batch<'_>) {
        let lines = input.lines();
        let known = || (0..lines.len()).filter(|at| self.lines[*at].price_cents.is_some());
        let text = &mut scratch.text;
        write_array(text, known(), |out, at| write_whole(out, lines[at].item.into()));
        batch.text(slots.items, text);
        write_array(text, known(), |out, at| write_whole(out, lines[at].supply.into()));
        batch.text(slots.supplies, text);
        write_array(text, known(), |out, at| write_whole(out, lines[at].quantity.into()));
        batch.text(slots.quantities, text);
        write_array(text, known(), |out, at| write_cents(out, self.amount_cents(input, at)));
        batch.text(slots.amounts, text);
        // NULL, which the server refuses as it does in the routine: a line is
        // not to be sold that nothing was taken from stock for.
        write_array(text, known(), |out, at| match &self.dists[at] {
            &NO_DIST => out.extend_from_slice(b"NULL"),
            dist => out.extend_from_slice(dist),
        });
        batch.text(slots.dists, text);
        batch.int(slots.ol_cnt, lines.len() as i64);
        batch.int(slots.all_local, i64::from(input.remote_lines() == 0));
        if slots.w_tax.is_some() {
            text.clear();
            write_four_decimals(text, self.w_tax);
            batch.text(slots.w_tax, text);
            text.clear();
            write_four_decimals(text, self.discount);
            batch.text(slots.c_discount, text);
        }
        for command in [DISTRICT, ORDER, QUEUE, LINES] {
            batch.push(command);
        }
        batch.push(if self.is_complete(input) { COMMIT } else { ROLLBACK });
    }

    pub(super) fn row(
        &mut self,
        input: &NewOrder,
        place: usize,
        command: usize,
        row: &DataRow<'_>,
    ) -> Result<(), BadRow> {
        let mut columns = Columns::of(row);
        match command {
            WAREHOUSE => self.w_tax = columns.fixed(4)?,
            CUSTOMER => self.discount = columns.fixed(4)?,
            ITEM => self.item(input, &mut columns)?,
            STOCK_HOME => {
                let item = columns.whole()?;
                let is_it =
                    |at: &usize| self.at_home[*at] && i64::from(input.lines[*at].item) == item;
                let at = (0..input.count).find(is_it);
                self.stock(at, &mut columns)?;
            }
            STOCK_ONE => {
                let _item = columns.whole()?;
                let singles = &self.singles[..self.singles_len];
                let single = singles.iter().find(|(pushed, _)| usize::from(*pushed) == place);
                let at = single.map(|(_, at)| usize::from(*at));
                self.stock(at, &mut columns)?;
            }
            DISTRICT => {
                self.order = columns.whole()?;
                self.d_tax = columns.fixed(4)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn item(&mut self, input: &NewOrder, columns: &mut Columns<'_>) -> Result<(), BadRow> {
        let item = columns.whole()?;
        let price = columns.fixed(2)?;
        let _name = columns.text()?;
        let original = columns.truth()?;
        for (line, answer) in input.lines().iter().zip(&mut self.lines) {
            if i64::from(line.item) == item {
                answer.price_cents = Some(price);
                answer.brand = original;
            }
        }
        Ok(())
    }

    fn stock(&mut self, at: Option<usize>, columns: &mut Columns<'_>) -> Result<(), BadRow> {
        let at = at.ok_or(BadRow("stock of an item that was not ordered"))?;
        self.lines[at].stock = columns.whole()?;
        let dist = columns.text()?;
        self.dists[at] = dist.try_into().map_err(|_| BadRow("s_dist has not 24 letters"))?;
        // The items came before, by the order of the commands.
        self.lines[at].brand &= columns.truth()?;
        Ok(())
    }

    /// The form with a routine: one call, one row.
    pub(super) fn call(
        &mut self,
        input: &NewOrder,
        slots: &Slots,
        scratch: &mut Scratch,
        batch: &mut Batch<'_>,
    ) -> Step {
        self.stage += 1;
        if self.stage > 1 {
            return if self.rolled_back { Step::RolledBack } else { Step::Committed };
        }
        batch.int(slots.w_id, input.warehouse.into());
        batch.int(slots.d_id, input.district.into());
        batch.int(slots.c_id, input.customer.into());
        let text = &mut scratch.text;
        write_array(text, input.lines(), |out, line| write_whole(out, line.item.into()));
        batch.text(slots.items, text);
        write_array(text, input.lines(), |out, line| write_whole(out, line.supply.into()));
        batch.text(slots.supplies, text);
        write_array(text, input.lines(), |out, line| write_whole(out, line.quantity.into()));
        batch.text(slots.quantities, text);
        batch.push(0);
        Step::Send
    }

    pub(super) fn called(&mut self, row: &DataRow<'_>) -> Result<(), BadRow> {
        let mut columns = Columns::of(row);
        self.order = columns.whole()?;
        // It stands last.
        for _ in 0..functions::NEWORD_OUT - 2 {
            columns.next()?;
        }
        self.rolled_back = columns.truth()?;
        Ok(())
    }
}
