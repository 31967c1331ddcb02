//! TPC-C: an order-entry workload of nine tables and five transactions.
//!
//! After revision 5.11 of the standard. What comes out is derived from TPC-C
//! and no result in the TPC's sense. The tables are in `schema`, their first
//! rows in `population`, what is drawn by chance in [`random`]; the rules are
//! in `conditions`, `invariants`, `audits`, `told` and `sanity`, the routines of `procs=1` in
//! [`functions`].

pub mod answer;
mod audits;
mod conditions;
pub mod deck;
mod delivery;
mod district;
pub mod functions;
pub mod input;
mod invariants;
mod new_order;
mod order_status;
pub mod params;
mod payment;
mod population;
mod probe;
pub mod random;
mod reset;
mod sanity;
mod schema;
#[cfg(test)]
mod seats;
mod shapes;
mod stock_level;
mod tables;
pub mod terminal;
mod told;
pub mod transactions;

use std::sync::OnceLock;

pub use params::{PARAMS, Params, Profile};
use random::Constants;

use crate::entry::{Choice, MakeError};
use crate::params::Chosen;
use crate::workload::Workload;

/// One line for people, of the faithful profile.
pub const DESCRIPTION: &str = "derived from TPC-C: an order-entry mix of 5 transactions on 9 \
     tables; stresses hot rows, joins and inserts";

/// Makes the workload as chosen.
pub(crate) fn make(choice: &Choice<'_>) -> Result<Box<dyn Workload>, MakeError> {
    let params = Params::chosen(&Chosen::new("tpcc", choice))?;
    Ok(Box::new(Tpcc::new(choice.scale, params)))
}

/// Items, the same for any number of warehouses.
pub const ITEMS: u64 = 100_000;
/// Districts of a warehouse.
pub const DISTRICTS: u64 = 10;
/// Customers of a district.
pub const CUSTOMERS: u64 = 3000;
/// Orders of a district after loading.
pub const ORDERS: u64 = 3000;
/// The first order of a district that is not delivered after loading.
pub const FIRST_UNDELIVERED: u64 = 2101;
/// Orders of a district that are not delivered after loading.
pub const UNDELIVERED: u64 = ORDERS - FIRST_UNDELIVERED + 1;
/// Order lines of a district after loading.
pub const LINES: u64 = 10 * ORDERS;

/// What the tables were loaded with, as they tell it themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loaded {
    /// Constants of NURand at the load.
    pub constants: Constants,
    /// Which population it is.
    pub profile: Profile,
    /// Warehouses.
    pub warehouses: u64,
    /// The seed of all rows.
    pub seed: u64,
}

/// TPC-C at a number of warehouses.
#[derive(Debug)]
pub struct Tpcc {
    scale: u64,
    params: Params,
    /// The date of all loaded rows, as SQL takes it.
    time: String,
    /// Known once the tables were looked at.
    loaded: OnceLock<Loaded>,
}

impl Tpcc {
    /// `scale` warehouses; 0 is taken as 1.
    #[must_use]
    pub fn new(scale: u64, params: Params) -> Self {
        let time = jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M:%S+00").to_string();
        Self { scale: scale.max(1), params, time, loaded: OnceLock::new() }
    }

    /// What a person chose.
    #[must_use]
    pub const fn params_chosen(&self) -> &Params {
        &self.params
    }

    /// What the tables were loaded with; `None` before they were looked at.
    #[must_use]
    pub fn loaded(&self) -> Option<Loaded> {
        self.loaded.get().copied()
    }
}
