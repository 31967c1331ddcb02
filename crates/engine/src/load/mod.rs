//! Fills a workload's tables: drop, create, rows over several connections,
//! keys, statistics, and a check that all of it arrived.
//!
//! What is sent is the dialect's to say; [`planned`] tells it without sending
//! any of it. A worker is a thread with one connection that takes the next chunk
//! of rows, makes its text and sends it, again where the server says that
//! nothing was done and another try may succeed; what a chunk holds depends on
//! its number and the seed alone. A chunk leaves a mark in its own transaction,
//! in the table `pgdyno_load`, so that a later load can go on after any crash.
//! The calling thread only watches: it tells the observer how far things are
//! and passes an interrupt on. Nothing is printed here.

mod begin;
mod check;
mod chunks;
mod error;
mod invalid;
mod jobs;
mod link;
mod marks;
mod patience;
mod plan;
mod progress;
mod sending;
mod steps;
mod threads;
mod unfinished;
mod values;

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use pgdyno_target::dialect::{Dialect, LoadMethod};
use pgdyno_wire::connect::ConnectContext;
use pgdyno_workload::Workload;

pub use error::LoadError;
pub use plan::{How, Planned, PlannedStep, planned};
pub use progress::{
    Begun, LoadObserver, LoadReport, LoadedTable, Phase, Progress, SilentLoad, TableProgress,
};
pub use unfinished::is_unfinished;

/// Time between two reports to the observer, and the longest time until an
/// interrupt is seen by the watching thread.
pub const TICK: Duration = Duration::from_millis(100);

/// What to load, and over which connections.
#[derive(Debug, Clone)]
pub struct LoadPlan<'a> {
    /// Tables and data.
    pub workload: &'a dyn Workload,
    /// What the database accepts.
    pub dialect: &'a dyn Dialect,
    /// Where to connect, at least one; connections are dealt in turn.
    pub endpoints: &'a [Arc<ConnectContext>],
    /// Connections that load side by side. With 1, and without `resume`, tables
    /// are made and filled in one transaction with `COPY … FREEZE` where the
    /// dialect has it; then there is never a part of a load to go on with.
    pub jobs: NonZeroU32,
    /// Seed of the data.
    pub seed: u64,
    /// How rows are sent; `None` leaves it to the dialect.
    pub method: Option<LoadMethod>,
    /// Goes on with a load that was broken off; where there is none, begins
    /// anew.
    pub resume: bool,
}

impl<'a> LoadPlan<'a> {
    /// The plan without the places to connect to.
    #[must_use]
    pub fn how(&self) -> How<'a> {
        let Self { workload, dialect, method, jobs, seed, resume, .. } = *self;
        How { workload, dialect, method, jobs, seed, resume }
    }
}

/// Makes the workload's tables anew, fills them, and checks the result.
///
/// Existing tables of the same names are dropped first, unless the load
/// [goes on](LoadPlan::resume) with them. Sets nothing global;
/// all connections are closed at the end. An interrupt ends it within half a
/// second, also while the server works on one long statement.
///
/// # Errors
/// See [`LoadError`]. When one worker fails the others stop, and the first
/// reason is the one that is told.
pub fn load(
    plan: &LoadPlan<'_>,
    observer: &dyn LoadObserver,
    interrupt: &AtomicBool,
) -> Result<LoadReport, LoadError> {
    steps::Steps::new(plan, observer, interrupt).all()
}
