//! The command that runs floor, pgdyno and the installed peers by turns.
//!
//! A case is a server, a transport, a protocol and a number of clients. In each
//! repetition of a case every tool runs once, one right after the other, and
//! the order rotates; so a ratio is made of two figures that are seconds apart.
//! Each run is done twice: once with one transaction for each client, which is
//! what connecting costs, and once for some seconds; the difference is the
//! steady state.
//!
//! The raw results go to a file as they come; everything that is said about
//! them is computed from that file, so it can be said again.

mod bounds;
mod case;
pub mod command;
mod facts;
mod folder;
mod measure;
mod places;
mod postgres;
mod raw;
mod run;
mod server;
mod statistics;
mod stop;
mod summary;
mod table;
mod tool;
mod tpcc;
