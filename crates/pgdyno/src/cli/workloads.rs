//! The options of `pgdyno workloads`.

use clap::{Args, Subcommand};

use super::values::key_value;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct WorkloadsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<WorkloadsCommand>,
    /// Print the list as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorkloadsCommand {
    /// Print DDL, scripts and audits of a workload exactly as they will run
    Show(ShowArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Name of the workload
    pub(crate) name: String,
    /// The kind of database
    #[arg(long, default_value = "postgres", value_name = "NAME")]
    pub(crate) dialect: String,
    /// Scale of the tables
    #[arg(short, long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) scale: u64,
    /// A parameter of the workload
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = key_value)]
    pub(crate) params: Vec<(String, String)>,
    /// Connections that load side by side
    #[arg(short, long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) jobs: u32,
    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
