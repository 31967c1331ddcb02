//! What a terminal keys in: the inputs of the five transactions, drawn before
//! the transaction and without looking at the database (clauses 2.4.1 to
//! 2.8.1).

use super::deck::Kind;
use super::random::{A_C_ID, A_C_LAST, A_OL_I_ID, Constants, Rng};
use super::{CUSTOMERS, DISTRICTS, ITEMS, Profile};

/// The most lines of an order.
pub const LINES_MAX: usize = 15;
/// The fewest.
const LINES_MIN: u64 = 5;
/// An item number that no item has.
pub const UNUSED_ITEM: i32 = ITEMS as i32 + 1;
/// Names of customers are numbered 0 to this.
const NAME_MAX: u64 = 999;

/// One line of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Line {
    /// The item; [`UNUSED_ITEM`] where the order is to be rolled back.
    pub item: i32,
    /// The warehouse that supplies it.
    pub supply: i32,
    /// How many, 1 to 10.
    pub quantity: i32,
}

/// An order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NewOrder {
    /// The terminal's warehouse.
    pub warehouse: i32,
    /// District, 1 to 10.
    pub district: i32,
    /// Customer, 1 to 3000.
    pub customer: i32,
    /// Lines, of which the first `count` count.
    pub lines: [Line; LINES_MAX],
    /// How many lines, 5 to 15.
    pub count: usize,
}

impl NewOrder {
    /// The lines.
    #[must_use]
    pub fn lines(&self) -> &[Line] {
        &self.lines[..self.count.min(LINES_MAX)]
    }

    /// True where the last item does not exist.
    #[must_use]
    pub fn is_invalid(&self) -> bool {
        self.lines().last().is_some_and(|line| line.item == UNUSED_ITEM)
    }

    /// Lines that another warehouse supplies.
    #[must_use]
    pub fn remote_lines(&self) -> usize {
        self.lines().iter().filter(|line| line.supply != self.warehouse).count()
    }
}

/// A customer, in the way in which he is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Who {
    /// By number, 1 to 3000.
    Number(i32),
    /// By last name, given by its number from 0 to 999.
    Name(u16),
}

/// A payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Payment {
    /// The terminal's warehouse, which gets the money.
    pub warehouse: i32,
    /// District that gets it.
    pub district: i32,
    /// The customer's warehouse.
    pub customer_warehouse: i32,
    /// The customer's district.
    pub customer_district: i32,
    /// The customer.
    pub who: Who,
    /// Amount in cents, 1.00 to 5000.00.
    pub cents: i64,
}

/// A question for a customer's latest order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct OrderStatus {
    /// The terminal's warehouse.
    pub warehouse: i32,
    /// District.
    pub district: i32,
    /// The customer.
    pub who: Who,
}

/// A delivery of the oldest order of each district.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Delivery {
    /// The terminal's warehouse.
    pub warehouse: i32,
    /// Carrier, 1 to 10.
    pub carrier: i32,
}

/// A question for items that are low in stock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StockLevel {
    /// The terminal's warehouse.
    pub warehouse: i32,
    /// The terminal's district.
    pub district: i32,
    /// Below this a stock is low, 10 to 20.
    pub threshold: i32,
}

/// The inputs of one transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(clippy::large_enum_variant, reason = "a terminal holds one, in place")]
pub enum Input {
    /// Of a new order.
    NewOrder(NewOrder),
    /// Of a payment.
    Payment(Payment),
    /// Of an order status.
    OrderStatus(OrderStatus),
    /// Of a delivery.
    Delivery(Delivery),
    /// Of a stock level.
    StockLevel(StockLevel),
}

impl Input {
    /// Which transaction they are for.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::NewOrder(_) => Kind::NewOrder,
            Self::Payment(_) => Kind::Payment,
            Self::OrderStatus(_) => Kind::OrderStatus,
            Self::Delivery(_) => Kind::Delivery,
            Self::StockLevel(_) => Kind::StockLevel,
        }
    }
}

/// The warehouses of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Homes {
    /// The first, from 0.
    first: u64,
    /// How many.
    count: u64,
    /// From one to the next; past the last warehouse it goes on at the first.
    step: u64,
    /// All warehouses.
    warehouses: u64,
}

impl Homes {
    /// One home for the whole run: clients are dealt to warehouses in turn.
    #[must_use]
    pub const fn one(client: u64, warehouses: u64) -> Self {
        Self { first: client % warehouses, count: 1, step: 1, warehouses }
    }

    /// A share of all warehouses: client v of V has v, v + V, v + 2V, ….
    #[must_use]
    pub const fn share(client: u64, clients: u64, warehouses: u64) -> Self {
        let count = warehouses.div_ceil(clients);
        Self { first: client % warehouses, count, step: clients, warehouses }
    }

    /// The warehouse of the next transaction, from 1.
    fn draw(&self, rng: &mut Rng) -> i32 {
        self.nth(if self.count == 1 { 0 } else { rng.below(self.count) })
    }

    fn nth(&self, n: u64) -> i32 {
        ((self.first + n * self.step) % self.warehouses + 1) as i32
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = i32> + '_ {
        (0..self.count).map(|n| self.nth(n))
    }
}

/// Draws the inputs of one terminal.
#[derive(Debug, Clone)]
pub struct Drawer {
    /// Its random numbers; the deck and the think times draw from them, too.
    pub rng: Rng,
    homes: Homes,
    warehouses: u64,
    /// The district that its stock levels ask for.
    district: i32,
    constants: Constants,
    profile: Profile,
}

impl Drawer {
    /// The drawer of a terminal that stands in district `district`.
    #[must_use]
    pub const fn new(
        rng: Rng,
        homes: Homes,
        district: i32,
        constants: Constants,
        profile: Profile,
    ) -> Self {
        Self { rng, homes, warehouses: homes.warehouses, district, constants, profile }
    }

    /// All inputs of a transaction.
    pub fn draw(&mut self, kind: Kind) -> Input {
        let warehouse = self.homes.draw(&mut self.rng);
        match kind {
            Kind::NewOrder => Input::NewOrder(self.new_order(warehouse)),
            Kind::Payment => Input::Payment(self.payment(warehouse)),
            Kind::OrderStatus => {
                let district = self.district();
                Input::OrderStatus(OrderStatus { warehouse, district, who: self.who() })
            }
            Kind::Delivery => {
                Input::Delivery(Delivery { warehouse, carrier: self.rng.between(1, 10) as i32 })
            }
            Kind::StockLevel => Input::StockLevel(StockLevel {
                warehouse,
                district: self.district,
                threshold: self.rng.between(10, 20) as i32,
            }),
        }
    }

    fn district(&mut self) -> i32 {
        self.rng.between(1, DISTRICTS) as i32
    }

    fn customer(&mut self) -> i32 {
        if self.profile == Profile::Hammerdb {
            return self.rng.between(1, CUSTOMERS) as i32;
        }
        self.rng.nurand(A_C_ID, 1, CUSTOMERS, self.constants.c_id) as i32
    }

    fn who(&mut self) -> Who {
        if self.rng.between(1, 100) <= 60 {
            Who::Name(self.rng.nurand(A_C_LAST, 0, NAME_MAX, self.constants.c_last) as u16)
        } else {
            Who::Number(self.customer())
        }
    }

    /// Another warehouse than `home`, where there is one.
    fn other(&mut self, home: i32) -> i32 {
        if self.warehouses == 1 {
            return home;
        }
        let drawn = self.rng.between(1, self.warehouses - 1) as i32;
        if drawn >= home { drawn + 1 } else { drawn }
    }

    fn new_order(&mut self, warehouse: i32) -> NewOrder {
        let district = self.district();
        let customer = self.customer();
        let count = self.rng.between(LINES_MIN, LINES_MAX as u64) as usize;
        // HammerDB's routine commits orders with an unknown item.
        let invalid = self.rng.one_in(100) && self.profile == Profile::Faithful;
        let mut lines = [Line::default(); LINES_MAX];
        for line in &mut lines[..count] {
            *line = self.line(warehouse);
        }
        if invalid {
            lines[count - 1].item = UNUSED_ITEM;
        }
        NewOrder { warehouse, district, customer, lines, count }
    }

    fn line(&mut self, home: i32) -> Line {
        let hammerdb = self.profile == Profile::Hammerdb;
        let item = if hammerdb {
            self.rng.between(1, ITEMS)
        } else {
            self.rng.nurand(A_OL_I_ID, 1, ITEMS, self.constants.ol_i_id)
        };
        let supply = match (self.rng.one_in(100), hammerdb) {
            (false, _) => home,
            // HammerDB draws among all of them, home included.
            (true, true) => self.rng.between(1, self.warehouses) as i32,
            (true, false) => self.other(home),
        };
        Line { item: item as i32, supply, quantity: self.rng.between(1, 10) as i32 }
    }

    fn payment(&mut self, warehouse: i32) -> Payment {
        let district = self.district();
        let (customer_warehouse, customer_district) = if self.rng.between(1, 100) <= 85 {
            (warehouse, district)
        } else {
            (self.other(warehouse), self.district())
        };
        let who = self.who();
        let cents = if self.profile == Profile::Hammerdb {
            self.rng.between(1, 5000) * 100
        } else {
            self.rng.between(100, 500_000)
        };
        Payment {
            warehouse,
            district,
            customer_warehouse,
            customer_district,
            who,
            cents: cents as i64,
        }
    }
}

#[cfg(test)]
mod tests;
