//! Workloads: schema, data, a weighted mix of transactions, and the audits
//! that belong to them.
//!
//! A [`Workload`] is a value that answers questions: which statements make the
//! tables, which bytes fill them, what is run, and what must be true of the
//! tables afterwards. It opens no connection and starts no thread; the loader
//! and the engine do that. [`registry`] lists what there is.

pub mod audit;
pub mod condition;
#[cfg(test)]
mod distributions;
mod entry;
mod error;
pub mod figures;
mod params;
mod plain;
pub mod procedure;
pub mod registry;
pub mod rows;
#[cfg(test)]
mod scales;
pub mod session;
pub mod size;
#[cfg(test)]
mod testing;
pub mod told;
pub mod tpcb;
pub mod tpcc;
pub mod workload;

pub use condition::{Asked, Condition};
pub use error::{AccessError, ProbeError};
pub use figures::{Commits, Figures, Finding, Verdict};
pub use procedure::{BadRow, Batch, Seat, Sink, Step, Terminal, Terminals, TransactionEnd, Turn};
pub use registry::{Choice, Entry, MakeError, make, workloads};
pub use session::{Row, Session, SqlError};
pub use told::Told;
pub use workload::{Body, Found, KeySum, Reset, Table, TableStatement, Transaction, Workload};
