//! The suite `tpcc`: what a transaction and a new order cost the client, for
//! pgdyno and for the peers that are installed, on one PostgreSQL.
//!
//! Not a part of the matrix of cases: the tools load tables of their own, and
//! their lengths are not the same. The yardstick, pgbench's select-only
//! transaction, is measured in the same minutes, so that figures of another
//! machine can be laid beside these.

mod bounds;
mod commands;
mod contender;
mod contest;
mod figures;
mod outputs;
mod peers;
mod result;
mod settings;
mod summary;

pub(super) use contest::run;
pub(super) use result::TpccRun;
pub(super) use summary::summarise;

/// Clients of a run.
pub(super) const CLIENTS: u32 = 16;
/// Few, so that a repetition is minutes and not hours; with more, the same
/// transactions wait less for one another.
const WAREHOUSES: u32 = 2;
/// One for each warehouse: go-tpc cannot use more.
const LOAD_CONNECTIONS: u32 = WAREHOUSES;
