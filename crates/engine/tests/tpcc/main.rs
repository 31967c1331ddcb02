//! The five transactions of TPC-C against a real server, in both forms, on
//! small tables whose every value is known.

mod ground;
mod orders;
mod payments;
