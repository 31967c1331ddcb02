//! Stock-Level (clause 2.8): one statement.

use super::answer::Columns;
use super::input::StockLevel;
use super::terminal::Slots;
use crate::procedure::{BadRow, Batch, Step};
use pgdyno_wire::backend::DataRow;

/// The command of the client's form.
pub(super) const COMMANDS: &str = "-- pgdyno: rows 1
SELECT count(DISTINCT s_i_id) FROM district JOIN order_line ON ol_w_id = d_w_id AND ol_d_id = d_id AND ol_o_id >= d_next_o_id - 20 AND ol_o_id < d_next_o_id JOIN stock ON s_w_id = d_w_id AND s_i_id = ol_i_id WHERE d_w_id = :w_id AND d_id = :d_id AND s_quantity < :threshold::int;
";

/// The command of the form with functions.
pub(super) const FUNCTION: &str = "-- pgdyno: rows 1
SELECT slev(:w_id::int, :d_id::int, :threshold::int);
";

/// A stock level under way, the same in both forms.
#[derive(Debug)]
pub(super) struct State {
    stage: u8,
    pub(super) low: i64,
}

impl State {
    pub(super) const fn new() -> Self {
        Self { stage: 0, low: 0 }
    }

    pub(super) fn begin(&mut self) {
        (self.stage, self.low) = (0, 0);
    }

    pub(super) fn step(
        &mut self,
        input: &StockLevel,
        slots: &Slots,
        batch: &mut Batch<'_>,
    ) -> Step {
        self.stage += 1;
        if self.stage > 1 {
            return Step::Committed;
        }
        batch.int(slots.w_id, input.warehouse.into());
        batch.int(slots.d_id, input.district.into());
        batch.int(slots.threshold, input.threshold.into());
        batch.push(0);
        Step::Send
    }

    pub(super) fn row(&mut self, row: &DataRow<'_>) -> Result<(), BadRow> {
        self.low = Columns::of(row).whole()?;
        Ok(())
    }
}
