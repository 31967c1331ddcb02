//! Order-Status (clause 2.6): one statement, and so one snapshot, which needs
//! no transaction block.

use super::answer::{Columns, whole};
use super::input::{OrderStatus, Who};
use super::payment::in_the_middle;
use super::terminal::{Scratch, Slots};
use crate::procedure::{BadRow, Batch, Step};
use pgdyno_wire::backend::DataRow;

/// The commands of the client's form: by number, and by name.
pub(super) fn commands() -> String {
    let status = |who: &str| {
        format!(
            "-- pgdyno: rows 1
SELECT c_id, c_first, c_middle, c_last, c_balance, o_id, o_entry_d, o_carrier_id, ol_i_id, \
             ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM customer \
             LEFT JOIN LATERAL (SELECT o_id, o_entry_d, o_carrier_id FROM orders \
             WHERE o_w_id = :w_id AND o_d_id = :d_id AND o_c_id = c_id \
             ORDER BY o_id DESC LIMIT 1) AS latest ON true \
             LEFT JOIN order_line ON ol_w_id = :w_id AND ol_d_id = :d_id AND ol_o_id = o_id \
             WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_id = {who};\n"
        )
    };
    status(":c_id") + &status(&in_the_middle(":w_id", ":d_id"))
}

/// The commands of the form with functions.
pub(super) const FUNCTION: &str =
    "SELECT * FROM ostat(:w_id::int, :d_id::int, :c_id::int, NULL::text);
SELECT * FROM ostat(:w_id::int, :d_id::int, NULL::int, :c_last::text);
";

/// An order status under way. Both forms are one statement with the same
/// columns.
#[derive(Debug)]
pub(super) struct State {
    stage: u8,
    pub(super) order: i64,
    pub(super) rows: u64,
    pub(super) first_name: Vec<u8>,
}

impl State {
    pub(super) const fn new() -> Self {
        Self { stage: 0, order: 0, rows: 0, first_name: Vec::new() }
    }

    pub(super) fn begin(&mut self) {
        (self.stage, self.order, self.rows) = (0, 0, 0);
    }

    pub(super) fn step(
        &mut self,
        input: &OrderStatus,
        slots: &Slots,
        scratch: &mut Scratch,
        batch: &mut Batch<'_>,
    ) -> Step {
        self.stage += 1;
        if self.stage > 1 {
            return Step::Committed;
        }
        batch.int(slots.w_id, input.warehouse.into());
        batch.int(slots.d_id, input.district.into());
        scratch.set_who(input.who, slots, batch);
        batch.push(usize::from(matches!(input.who, Who::Name(_))));
        Step::Send
    }

    pub(super) fn row(&mut self, row: &DataRow<'_>) -> Result<(), BadRow> {
        self.rows += 1;
        if self.rows > 1 {
            return Ok(());
        }
        let mut columns = Columns::of(row);
        let _customer = columns.next()?;
        self.first_name.clear();
        self.first_name.extend_from_slice(columns.text()?);
        for _ in ["c_middle", "c_last", "c_balance"] {
            columns.next()?;
        }
        // A customer of HammerDB's population may have no order.
        self.order = columns.next()?.map_or(Ok(0), whole)?;
        Ok(())
    }
}
