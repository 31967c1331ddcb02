//! Delivery (clause 2.7), run at once instead of from a queue: three batches.
//! The first takes the oldest order of each district out of the queue, the
//! second marks the orders and their lines, the third credits the customers
//! and commits.
//!
//! Two deliveries at one warehouse may find the same oldest order; the later
//! one then deletes nothing of that district. It looks again until it has an
//! order or sees that there is none, so that no order is delivered twice and
//! none is passed over.

use super::answer::{Columns, write_array, write_cents, write_whole};
use super::input::Delivery;
use super::terminal::{Scratch, Slots};
use super::{DISTRICTS, Profile};
use crate::procedure::{BadRow, Batch, Step};
use pgdyno_wire::backend::DataRow;

const BEGIN: usize = 0;
const TAKE: usize = 1;
const LEFT: usize = 2;
const ORDERS: usize = 3;
const LINES: usize = 4;
const CUSTOMERS: usize = 5;
const COMMIT: usize = 6;

/// The commands of the client's form.
pub(super) fn commands(profile: Profile) -> String {
    let counted = match profile {
        Profile::Faithful => ", c_delivery_cnt = c_delivery_cnt + 1",
        Profile::Hammerdb => "",
    };
    format!(
        "BEGIN;
-- pgdyno: rows 0
DELETE FROM new_order USING (SELECT d, (SELECT min(no_o_id) FROM new_order WHERE no_w_id = :w_id AND no_d_id = d) AS o FROM unnest(:districts::int[]) AS asked (d)) AS oldest WHERE no_w_id = :w_id AND no_d_id = d AND no_o_id = o RETURNING no_d_id, no_o_id;
SELECT d FROM unnest(:districts::int[]) AS asked (d) WHERE EXISTS (SELECT 1 FROM new_order WHERE no_w_id = :w_id AND no_d_id = d);
UPDATE orders SET o_carrier_id = :carrier::int FROM unnest(:districts::int[], :orders::int[]) AS taken (d, o) WHERE o_w_id = :w_id AND o_d_id = d AND o_id = o RETURNING o_d_id, o_c_id;
UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP FROM unnest(:districts::int[], :orders::int[]) AS taken (d, o) WHERE ol_w_id = :w_id AND ol_d_id = d AND ol_o_id = o RETURNING ol_d_id, ol_amount;
UPDATE customer SET c_balance = c_balance + amount{counted} FROM unnest(:districts::int[], :customers::int[], :amounts::numeric[]) AS credited (d, c, amount) WHERE c_w_id = :w_id AND c_d_id = d AND c_id = c;
COMMIT;
"
    )
}

/// The command of the form with functions.
pub(super) const FUNCTION: &str = "SELECT * FROM delivery(:w_id::int, :carrier::int);
";

/// One district's order.
#[derive(Debug, Clone, Copy, Default)]
struct Taken {
    /// 0 where none was taken.
    order: i64,
    customer: i64,
    cents: i64,
    /// There are orders left that were not taken.
    left: bool,
}

/// A delivery under way.
#[derive(Debug)]
pub(super) struct State {
    stage: Stage,
    taken: [Taken; DISTRICTS as usize],
    /// It was asked which districts have orders left.
    looked: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Begin,
    Taking,
    Marking,
    Crediting,
}

impl State {
    pub(super) const fn new() -> Self {
        let none = Taken { order: 0, customer: 0, cents: 0, left: false };
        Self { stage: Stage::Begin, taken: [none; DISTRICTS as usize], looked: false }
    }

    pub(super) fn begin(&mut self) {
        self.stage = Stage::Begin;
        self.taken = Default::default();
        self.looked = false;
    }

    /// District and order of all that were taken.
    pub(super) fn delivered(&self) -> impl Iterator<Item = (i32, i64)> + '_ {
        self.districts(|taken| taken.order > 0).map(|(d, taken)| (d as i32, taken.order))
    }

    fn districts(&self, which: impl Fn(&Taken) -> bool) -> impl Iterator<Item = (i64, &Taken)> {
        let numbered = self.taken.iter().enumerate().map(|(at, taken)| (at as i64 + 1, taken));
        numbered.filter(move |(_, taken)| which(taken))
    }

    fn of(&mut self, district: i64) -> Result<&mut Taken, BadRow> {
        let at = usize::try_from(district - 1).ok();
        at.and_then(|at| self.taken.get_mut(at)).ok_or(BadRow("a district that was not asked for"))
    }

    pub(super) fn step(
        &mut self,
        input: &Delivery,
        slots: &Slots,
        scratch: &mut Scratch,
        batch: &mut Batch<'_>,
    ) -> Step {
        match self.stage {
            Stage::Begin => {
                batch.int(slots.w_id, input.warehouse.into());
                batch.int(slots.carrier, input.carrier.into());
                batch.push(BEGIN);
                self.take(slots, scratch, batch);
                self.stage = Stage::Taking;
            }
            Stage::Taking if self.districts(|taken| self.is_open(taken)).next().is_some() => {
                self.take(slots, scratch, batch);
                self.looked = true;
                self.taken.iter_mut().for_each(|taken| taken.left = false);
                batch.push(LEFT);
            }
            Stage::Taking if self.delivered().next().is_none() => {
                batch.push(COMMIT);
                self.stage = Stage::Crediting;
            }
            Stage::Taking => {
                self.mark(slots, scratch, batch);
                self.stage = Stage::Marking;
            }
            Stage::Marking => {
                self.credit(slots, scratch, batch);
                self.stage = Stage::Crediting;
            }
            Stage::Crediting => {
                return Step::Committed;
            }
        }
        Step::Send
    }

    /// Nothing was taken of the district, and there may be something.
    fn is_open(&self, taken: &Taken) -> bool {
        taken.order == 0 && (taken.left || !self.looked)
    }

    /// Takes the oldest order of the districts that are open.
    fn take(&self, slots: &Slots, scratch: &mut Scratch, batch: &mut Batch<'_>) {
        let wanted = self.districts(|taken| self.is_open(taken));
        write_array(&mut scratch.text, wanted, |out, (d, _)| write_whole(out, d));
        batch.text(slots.districts, &scratch.text);
        batch.push(TAKE);
    }

    fn mark(&self, slots: &Slots, scratch: &mut Scratch, batch: &mut Batch<'_>) {
        let taken = || self.districts(|taken| taken.order > 0);
        write_array(&mut scratch.text, taken(), |out, (d, _)| write_whole(out, d));
        batch.text(slots.districts, &scratch.text);
        write_array(&mut scratch.text, taken(), |out, (_, taken)| write_whole(out, taken.order));
        batch.text(slots.orders, &scratch.text);
        batch.push(ORDERS);
        batch.push(LINES);
    }

    fn credit(&self, slots: &Slots, scratch: &mut Scratch, batch: &mut Batch<'_>) {
        let taken = || self.districts(|taken| taken.order > 0);
        write_array(&mut scratch.text, taken(), |out, (_, taken)| write_whole(out, taken.customer));
        batch.text(slots.customers, &scratch.text);
        write_array(&mut scratch.text, taken(), |out, (_, taken)| write_cents(out, taken.cents));
        batch.text(slots.amounts, &scratch.text);
        batch.push(CUSTOMERS);
        batch.push(COMMIT);
    }

    pub(super) fn row(&mut self, command: usize, row: &DataRow<'_>) -> Result<(), BadRow> {
        let mut columns = Columns::of(row);
        match command {
            TAKE => {
                let district = columns.whole()?;
                self.of(district)?.order = columns.whole()?;
            }
            LEFT => self.of(columns.whole()?)?.left = true,
            ORDERS => {
                let district = columns.whole()?;
                self.of(district)?.customer = columns.whole()?;
            }
            LINES => {
                let district = columns.whole()?;
                self.of(district)?.cents += columns.fixed(2)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// The form with a function: one call, a row for each
    /// district that had an order.
    pub(super) fn call(&mut self, input: &Delivery, slots: &Slots, batch: &mut Batch<'_>) -> Step {
        if self.stage != Stage::Begin {
            return Step::Committed;
        }
        self.stage = Stage::Crediting;
        batch.int(slots.w_id, input.warehouse.into());
        batch.int(slots.carrier, input.carrier.into());
        batch.push(0);
        batch.commits();
        Step::Send
    }

    pub(super) fn called(&mut self, row: &DataRow<'_>) -> Result<(), BadRow> {
        let mut columns = Columns::of(row);
        let district = columns.whole()?;
        self.of(district)?.order = columns.whole()?;
        Ok(())
    }
}
