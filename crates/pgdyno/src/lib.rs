//! The faces of the binary, as a library so that tests can call them.

mod assemble;
mod audit;
mod audits;
mod bounds;
pub mod cli;
mod demo;
mod detect;
mod dry_run;
mod emulate;
mod endpoints;
mod exit;
mod failure;
mod filling;
mod init;
mod live;
mod login;
mod open_files;
mod opened;
pub mod pgbench;
mod program;
mod run;
mod signals;
mod size;
mod table_params;
mod terminal;
mod tpcc;
mod workloads;
