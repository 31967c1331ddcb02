//! The command that runs floor, pgdyno and the installed peers by turns.

pub mod command;
