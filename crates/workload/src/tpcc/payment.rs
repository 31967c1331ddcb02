//! Payment (clause 2.5): one batch. The customer comes first and the
//! warehouse, which all payments to it wait for, last before the commit.

use super::Profile;
use super::answer::{Columns, write_cents};
use super::input::{Payment, Who};
use super::terminal::{Scratch, Slots};
use crate::procedure::{BadRow, Batch, Step};
use pgdyno_wire::backend::DataRow;

const BEGIN: usize = 0;
const BY_NUMBER: usize = 1;
const HISTORY: usize = 2;
const BY_NAME: usize = 3;
const DISTRICT: usize = 4;
const WAREHOUSE: usize = 5;
const COMMIT: usize = 6;

/// The customer in the middle of those with the name, rounded up, by first
/// name (clause 2.5.2.2). Binary order: the same on every server.
pub(super) fn in_the_middle(w_id: &str, d_id: &str) -> String {
    format!(
        "(SELECT (array_agg(c_id ORDER BY c_first COLLATE \"C\", c_id))[((count(*) + 1) / 2)::int] \
         FROM customer WHERE c_w_id = {w_id} AND c_d_id = {d_id} AND c_last = :c_last)"
    )
}

/// The commands of the client's form.
pub(super) fn commands(profile: Profile) -> String {
    let (counted, blanks) = match profile {
        Profile::Faithful => (
            ", c_ytd_payment = c_ytd_payment + :amount::numeric, c_payment_cnt = c_payment_cnt + 1",
            "    ",
        ),
        Profile::Hammerdb => ("", " "),
    };
    let customer = |who: &str| {
        format!(
            "UPDATE customer SET c_balance = c_balance - :amount::numeric{counted}, \
             c_data = CASE c_credit WHEN 'BC' THEN left(concat_ws(' ', c_id, c_d_id, c_w_id, \
             :d_id::int, :w_id::int, :amount::numeric, c_data), 500) ELSE c_data END \
             WHERE c_w_id = :c_w_id AND c_d_id = :c_d_id AND c_id = {who} \
             RETURNING c_id, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, \
             c_zip, c_phone, c_since, c_credit, c_credit_lim, c_discount, c_balance, \
             CASE c_credit WHEN 'BC' THEN left(c_data, 200) END"
        )
    };
    let history = |c_id: &str, from: &str| {
        format!(
            "INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, \
             h_data) SELECT {c_id}, :c_d_id::int, :c_w_id::int, d_id, w_id, CURRENT_TIMESTAMP, \
             :amount::numeric, w_name || '{blanks}' || d_name FROM {from}warehouse, district \
             WHERE w_id = :w_id AND d_w_id = :w_id AND d_id = :d_id"
        )
    };
    let address = |p: &str| {
        let columns = ["name", "street_1", "street_2", "city", "state", "zip"];
        columns.map(|column| format!("{p}_{column}")).join(", ")
    };
    format!(
        "BEGIN;
{by_number};
{history};
-- pgdyno: rows 1
WITH paid AS ({by_name}), kept AS ({history_of_paid}) SELECT * FROM paid;
UPDATE district SET d_ytd = d_ytd + :amount::numeric WHERE d_w_id = :w_id AND d_id = :d_id RETURNING {d_address};
UPDATE warehouse SET w_ytd = w_ytd + :amount::numeric WHERE w_id = :w_id RETURNING {w_address};
COMMIT;
",
        by_number = customer(":c_id"),
        history = history(":c_id::int", ""),
        by_name = customer(&in_the_middle(":c_w_id", ":c_d_id")),
        history_of_paid = history("c_id", "paid, "),
        d_address = address("d"),
        w_address = address("w"),
    )
}

/// The command of the form with functions.
pub(super) const FUNCTION: &str = "-- pgdyno: rows 1
SELECT * FROM payment(:w_id::int, :d_id::int, :c_w_id::int, :c_d_id::int, :c_id::int, NULL::text, :amount::numeric);
-- pgdyno: rows 1
SELECT * FROM payment(:w_id::int, :d_id::int, :c_w_id::int, :c_d_id::int, NULL::int, :c_last::text, :amount::numeric);
";

/// A payment under way.
#[derive(Debug)]
pub(super) struct State {
    stage: u8,
    pub(super) customer: i64,
    pub(super) first_name: Vec<u8>,
}

impl State {
    pub(super) const fn new() -> Self {
        Self { stage: 0, customer: 0, first_name: Vec::new() }
    }

    pub(super) fn begin(&mut self) {
        self.stage = 0;
        self.customer = 0;
    }

    pub(super) fn step(
        &mut self,
        input: &Payment,
        slots: &Slots,
        scratch: &mut Scratch,
        batch: &mut Batch<'_>,
    ) -> Step {
        self.stage += 1;
        if self.stage > 1 {
            return Step::Committed;
        }
        set(input, slots, scratch, batch);
        let customer: &[usize] = match input.who {
            Who::Number(_) => &[BY_NUMBER, HISTORY],
            Who::Name(_) => &[BY_NAME],
        };
        batch.push(BEGIN);
        for command in customer.iter().chain(&[DISTRICT, WAREHOUSE, COMMIT]) {
            batch.push(*command);
        }
        Step::Send
    }

    pub(super) fn row(&mut self, command: usize, row: &DataRow<'_>) -> Result<(), BadRow> {
        if matches!(command, BY_NUMBER | BY_NAME) {
            let mut columns = Columns::of(row);
            self.customer = columns.whole()?;
            self.first_name.clear();
            self.first_name.extend_from_slice(columns.text()?);
        }
        Ok(())
    }

    /// The form with a function: one call, one row.
    pub(super) fn call(
        &mut self,
        input: &Payment,
        slots: &Slots,
        scratch: &mut Scratch,
        batch: &mut Batch<'_>,
    ) -> Step {
        self.stage += 1;
        if self.stage > 1 {
            return Step::Committed;
        }
        set(input, slots, scratch, batch);
        batch.push(usize::from(matches!(input.who, Who::Name(_))));
        batch.commits();
        Step::Send
    }

    pub(super) fn called(&mut self, row: &DataRow<'_>) -> Result<(), BadRow> {
        let mut columns = Columns::of(row);
        // The addresses of warehouse and district.
        for _ in 0..10 {
            columns.next()?;
        }
        self.customer = columns.whole()?;
        self.first_name.clear();
        self.first_name.extend_from_slice(columns.text()?);
        Ok(())
    }
}

fn set(input: &Payment, slots: &Slots, scratch: &mut Scratch, batch: &mut Batch<'_>) {
    batch.int(slots.w_id, input.warehouse.into());
    batch.int(slots.d_id, input.district.into());
    batch.int(slots.c_w_id, input.customer_warehouse.into());
    batch.int(slots.c_d_id, input.customer_district.into());
    scratch.set_who(input.who, slots, batch);
    scratch.text.clear();
    write_cents(&mut scratch.text, input.cents);
    batch.text(slots.amount, &scratch.text);
}
