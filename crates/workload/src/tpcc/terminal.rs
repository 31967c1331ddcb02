//! Terminals: each draws its inputs from the seed and its number, and runs
//! the five transactions in one of their two forms.

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use pgdyno_script::Slot;
use pgdyno_wire::backend::DataRow;

use super::answer::Answer;
use super::deck::{Deck, think};
use super::input::{Drawer, Homes, Input, LINES_MAX, NewOrder, Who};
use super::random::{Constants, Rng, push_last_name};
use super::{DISTRICTS, Params, delivery, new_order, order_status, payment, stock_level};
use crate::procedure::{BadRow, Batch, Seat, Step, Terminal, Terminals, TransactionEnd, Turn};

/// The stream of terminals, apart from those of tables and constants.
const STREAM_TERMINAL: u64 = 0x7e12;

/// What terminals count beside what is counted of all transactions. Only of
/// those that committed, unless the name says otherwise.
pub const COUNTERS: &[&str] = &[
    "order_lines",
    "order_lines_remote",
    "payments_remote",
    "payments_by_name",
    "payment_cents",
    "order_statuses_by_name",
    "districts_delivered",
    "districts_skipped",
    "deliveries_with_skips",
];

/// Places in [`COUNTERS`].
#[derive(Debug, Clone, Copy)]
enum Counter {
    Lines,
    LinesRemote,
    PaymentsRemote,
    PaymentsByName,
    PaymentCents,
    StatusesByName,
    Delivered,
    Skipped,
    DeliveriesWithSkips,
}

/// Where the inputs of terminals come from.
#[derive(Debug, Clone)]
enum Source {
    /// Drawn, for a run.
    Drawn { warehouses: u64, c_last_load: u64 },
    /// Given, one after the other and then from the first again.
    Given(Arc<[Input]>),
}

/// Makes the terminals of a run.
#[derive(Debug, Clone)]
pub struct TpccTerminals {
    params: Params,
    source: Source,
    teller: Option<Sender<Answer>>,
}

impl TpccTerminals {
    /// Terminals at tables of so many warehouses that were loaded with this
    /// constant C for last names.
    #[must_use]
    pub const fn new(params: Params, warehouses: u64, c_last_load: u64) -> Self {
        let source = Source::Drawn { warehouses, c_last_load };
        Self { params, source, teller: None }
    }

    /// Terminals that run these inputs one after the other, and then again
    /// from the first. There is at least one.
    #[must_use]
    pub fn given(params: Params, inputs: &[Input]) -> Self {
        Self { params, source: Source::Given(inputs.into()), teller: None }
    }

    /// The same, and every answer is told as soon as its transaction has
    /// ended.
    #[must_use]
    pub fn telling(self, teller: Sender<Answer>) -> Self {
        Self { teller: Some(teller), ..self }
    }

    fn drawer(&self, seat: &Seat<'_>, warehouses: u64, c_last_load: u64) -> Drawer {
        let (client, clients) = (u64::from(seat.client), u64::from(seat.clients));
        let homes = if self.params.allwarehouse {
            Homes::share(client, clients, warehouses)
        } else {
            Homes::one(client, warehouses)
        };
        // Ten terminals of a warehouse stand in ten districts.
        let district = client / warehouses % DISTRICTS + 1;
        let constants = Constants::of_profile(self.params.profile, seat.seed, c_last_load);
        let rng = Rng::new(seat.seed, STREAM_TERMINAL, client);
        Drawer::new(rng, homes, district as i32, constants, self.params.profile)
    }
}

impl Terminals for TpccTerminals {
    fn terminal(&self, seat: &Seat<'_>) -> Box<dyn Terminal> {
        let source = match &self.source {
            Source::Drawn { warehouses, c_last_load } => Inputs::Drawn {
                drawer: self.drawer(seat, (*warehouses).max(1), *c_last_load),
                deck: Deck::new(self.params.profile),
            },
            Source::Given(inputs) => Inputs::Given { inputs: Arc::clone(inputs), next: 0 },
        };
        Box::new(TpccTerminal::new(self.params, source, self.teller.clone(), seat))
    }

    fn counters(&self) -> &'static [&'static str] {
        COUNTERS
    }

    fn is_paced(&self) -> bool {
        self.params.think
    }
}

/// Where the inputs of one terminal come from.
#[derive(Debug)]
enum Inputs {
    Drawn { drawer: Drawer, deck: Deck },
    Given { inputs: Arc<[Input]>, next: usize },
}

/// Where the variables of the commands are; none where no command has one.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names are those of the columns and of the commands")]
pub(super) struct Slots {
    pub(super) w_id: Option<Slot>,
    pub(super) d_id: Option<Slot>,
    pub(super) c_id: Option<Slot>,
    pub(super) c_w_id: Option<Slot>,
    pub(super) c_d_id: Option<Slot>,
    pub(super) c_last: Option<Slot>,
    pub(super) amount: Option<Slot>,
    pub(super) items: Option<Slot>,
    pub(super) supplies: Option<Slot>,
    pub(super) quantities: Option<Slot>,
    pub(super) amounts: Option<Slot>,
    pub(super) dists: Option<Slot>,
    pub(super) home_items: Option<Slot>,
    pub(super) home_quantities: Option<Slot>,
    pub(super) supply: Option<Slot>,
    pub(super) item: Option<Slot>,
    pub(super) quantity: Option<Slot>,
    pub(super) remote: Option<Slot>,
    pub(super) ol_cnt: Option<Slot>,
    pub(super) all_local: Option<Slot>,
    pub(super) w_tax: Option<Slot>,
    pub(super) c_discount: Option<Slot>,
    pub(super) carrier: Option<Slot>,
    pub(super) districts: Option<Slot>,
    pub(super) orders: Option<Slot>,
    pub(super) customers: Option<Slot>,
    pub(super) threshold: Option<Slot>,
}

impl Slots {
    fn of(seat: &Seat<'_>) -> Self {
        let slot = |name| seat.slot(name);
        Self {
            w_id: slot("w_id"),
            d_id: slot("d_id"),
            c_id: slot("c_id"),
            c_w_id: slot("c_w_id"),
            c_d_id: slot("c_d_id"),
            c_last: slot("c_last"),
            amount: slot("amount"),
            items: slot("items"),
            supplies: slot("supplies"),
            quantities: slot("quantities"),
            amounts: slot("amounts"),
            dists: slot("dists"),
            home_items: slot("home_items"),
            home_quantities: slot("home_quantities"),
            supply: slot("supply"),
            item: slot("item"),
            quantity: slot("quantity"),
            remote: slot("remote"),
            ol_cnt: slot("ol_cnt"),
            all_local: slot("all_local"),
            w_tax: slot("w_tax"),
            c_discount: slot("c_discount"),
            carrier: slot("carrier"),
            districts: slot("districts"),
            orders: slot("orders"),
            customers: slot("customers"),
            threshold: slot("threshold"),
        }
    }
}

/// Room for texts under construction.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) text: Vec<u8>,
}

impl Scratch {
    /// Sets the customer's number or last name.
    pub(super) fn set_who(&mut self, who: Who, slots: &Slots, batch: &mut Batch<'_>) {
        match who {
            Who::Number(number) => batch.int(slots.c_id, number.into()),
            Who::Name(number) => {
                self.text.clear();
                push_last_name(number.into(), &mut self.text);
                batch.text(slots.c_last, &self.text);
            }
        }
    }
}

/// One terminal.
#[derive(Debug)]
struct TpccTerminal {
    params: Params,
    source: Inputs,
    teller: Option<Sender<Answer>>,
    slots: Slots,
    scratch: Scratch,
    input: Input,
    /// The pause after the transaction before.
    thinking: Duration,
    new_order: new_order::State,
    payment: payment::State,
    order_status: order_status::State,
    delivery: delivery::State,
    stock_level: stock_level::State,
}

impl TpccTerminal {
    fn new(
        params: Params,
        source: Inputs,
        teller: Option<Sender<Answer>>,
        seat: &Seat<'_>,
    ) -> Self {
        let nothing = NewOrder {
            warehouse: 1,
            district: 1,
            customer: 1,
            lines: Default::default(),
            count: 0,
        };
        Self {
            params,
            source,
            teller,
            slots: Slots::of(seat),
            scratch: Scratch::default(),
            input: Input::NewOrder(nothing),
            thinking: Duration::ZERO,
            new_order: new_order::State::new(),
            payment: payment::State::new(),
            order_status: order_status::State::new(),
            delivery: delivery::State::new(),
            stock_level: stock_level::State::new(),
        }
    }

    fn add(&self, counters: &mut [u64]) {
        let mut add = |counter: Counter, by: u64| {
            if let Some(counter) = counters.get_mut(counter as usize) {
                *counter += by;
            }
        };
        match &self.input {
            Input::NewOrder(input) => {
                add(Counter::Lines, input.count as u64);
                add(Counter::LinesRemote, input.remote_lines() as u64);
            }
            Input::Payment(input) => {
                let is_remote = input.customer_warehouse != input.warehouse;
                add(Counter::PaymentsRemote, is_remote.into());
                add(Counter::PaymentsByName, matches!(input.who, Who::Name(_)).into());
                add(Counter::PaymentCents, input.cents.unsigned_abs());
            }
            Input::OrderStatus(input) => {
                add(Counter::StatusesByName, matches!(input.who, Who::Name(_)).into());
            }
            Input::Delivery(_) => {
                let delivered = self.delivery.delivered().count() as u64;
                add(Counter::Delivered, delivered);
                add(Counter::Skipped, DISTRICTS - delivered);
                add(Counter::DeliveriesWithSkips, (delivered < DISTRICTS).into());
            }
            Input::StockLevel(_) => {}
        }
    }

    fn tell(&self, committed: bool) {
        let Some(teller) = &self.teller else { return };
        let mut answer = Answer {
            input: self.input,
            committed,
            number: 0,
            total_cents: 0,
            lines: [Default::default(); LINES_MAX],
            delivered: Vec::new(),
            first_name: Vec::new(),
            rows: 0,
        };
        match &self.input {
            Input::NewOrder(input) => {
                answer.number = self.new_order.order;
                answer.total_cents = self.new_order.total_cents(input);
                answer.lines = self.new_order.lines;
            }
            Input::Payment(_) => {
                answer.number = self.payment.customer;
                answer.first_name.clone_from(&self.payment.first_name);
            }
            Input::OrderStatus(_) => {
                answer.number = self.order_status.order;
                answer.rows = self.order_status.rows;
                answer.first_name.clone_from(&self.order_status.first_name);
            }
            Input::Delivery(_) => {
                answer.delivered = self.delivery.delivered().collect();
                answer.number = answer.delivered.len() as i64;
            }
            Input::StockLevel(_) => answer.number = self.stock_level.low,
        }
        // Nobody listens any more.
        let _ = teller.send(answer);
    }
}

impl Terminal for TpccTerminal {
    fn next(&mut self) -> Turn {
        let mut wait = Duration::ZERO;
        match &mut self.source {
            Inputs::Drawn { drawer, deck } => {
                let kind = deck.draw(&mut drawer.rng);
                self.input = drawer.draw(kind);
                if self.params.think {
                    wait = self.thinking + Duration::from_secs(kind.keying_s());
                    let mean_s = kind.think_mean_s(self.params.profile);
                    self.thinking = think(&mut drawer.rng, mean_s);
                }
            }
            Inputs::Given { inputs, next } => {
                self.input = inputs[*next % inputs.len()];
                *next += 1;
            }
        }
        Turn { transaction: self.input.kind().index(), wait }
    }

    fn begin(&mut self) {
        match self.input {
            Input::NewOrder(_) => self.new_order.begin(),
            Input::Payment(_) => self.payment.begin(),
            Input::OrderStatus(_) => self.order_status.begin(),
            Input::Delivery(_) => self.delivery.begin(),
            Input::StockLevel(_) => self.stock_level.begin(),
        }
    }

    fn step(&mut self, batch: &mut Batch<'_>) -> Step {
        let (slots, scratch) = (&self.slots, &mut self.scratch);
        match (&self.input, self.params.procs) {
            (Input::NewOrder(input), false) => self.new_order.step(input, slots, scratch, batch),
            (Input::NewOrder(input), true) => self.new_order.call(input, slots, scratch, batch),
            (Input::Payment(input), false) => self.payment.step(input, slots, scratch, batch),
            (Input::Payment(input), true) => self.payment.call(input, slots, scratch, batch),
            (Input::OrderStatus(input), _) => self.order_status.step(input, slots, scratch, batch),
            (Input::Delivery(input), false) => self.delivery.step(input, slots, scratch, batch),
            (Input::Delivery(input), true) => self.delivery.call(input, slots, batch),
            (Input::StockLevel(input), _) => self.stock_level.step(input, slots, batch),
        }
    }

    fn row(&mut self, place: usize, command: usize, row: DataRow<'_>) -> Result<(), BadRow> {
        match (&self.input, self.params.procs) {
            (Input::NewOrder(input), false) => self.new_order.row(input, place, command, &row),
            (Input::NewOrder(_), true) => self.new_order.called(&row),
            (Input::Payment(_), false) => self.payment.row(command, &row),
            (Input::Payment(_), true) => self.payment.called(&row),
            (Input::OrderStatus(_), _) => self.order_status.row(&row),
            (Input::Delivery(_), false) => self.delivery.row(command, &row),
            (Input::Delivery(_), true) => self.delivery.called(&row),
            (Input::StockLevel(_), _) => self.stock_level.row(&row),
        }
    }

    fn ended(&mut self, end: TransactionEnd, counters: &mut [u64]) {
        match end {
            TransactionEnd::Committed => {
                self.add(counters);
                self.tell(true);
            }
            TransactionEnd::RolledBack => self.tell(false),
            TransactionEnd::Failed | TransactionEnd::Unknown => {}
        }
    }
}
