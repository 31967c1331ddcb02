//! The options of `pgdyno size`.

use clap::Args;

use super::WorkloadArgs;
use super::values::{memory, percent};

/// Memory of the database's machine that holds data, in percent: its buffers
/// and the system's page cache. The rest is for sessions, sorts, the system
/// and its programs. A rule of thumb, hence an option.
const USABLE_DEFAULT: &str = "75%";

#[derive(Debug, Args)]
pub(crate) struct SizeArgs {
    #[command(flatten)]
    pub(crate) workload: WorkloadArgs,
    /// Memory of the database's machine, e.g. 128GB; units are those of
    /// PostgreSQL's settings: a GB is 1024 MB
    #[arg(long, value_name = "SIZE", value_parser = memory, required_unless_present = "scale")]
    pub(crate) ram: Option<u64>,
    /// Share of the data that is to fit into this memory
    #[arg(long, value_name = "PERCENT", default_value = "100%", value_parser = percent)]
    pub(crate) cached: f64,
    /// Share of the memory that holds data
    #[arg(long, value_name = "PERCENT", default_value = USABLE_DEFAULT, value_parser = percent)]
    pub(crate) usable: f64,
    /// Say the size of this scale instead
    #[arg(short, long, conflicts_with_all = ["ram", "cached", "usable"],
          value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) scale: Option<u64>,
    /// For this kind of database only [default: all]
    #[arg(long, value_name = "NAME")]
    pub(crate) dialect: Option<String>,
    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
