//! One run of one contender, as it stands in the raw results.

use serde::{Deserialize, Serialize};

use super::contender::{Contender, Stage};

/// A run of the suite `tpcc`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::bench) struct TpccRun {
    pub(in crate::bench) contender: Contender,
    pub(in crate::bench) stage: Stage,
    pub(in crate::bench) repetition: u32,
    /// As it was run, without the wrapper that measures.
    pub(in crate::bench) command: Vec<String>,
    /// Why its figures do not count.
    pub(in crate::bench) error: Option<String>,
    /// What the tool says that it is.
    pub(in crate::bench) version: Option<String>,
    /// Rows in the nine tables after a load, counted.
    pub(in crate::bench) rows: Option<u64>,
    /// As the tool says; of HammerDB the commits of its database.
    pub(in crate::bench) transactions: Option<u64>,
    /// Growth of `sum(d_next_o_id)` from before the run to its end.
    pub(in crate::bench) new_orders: Option<u64>,
    /// New orders a minute, as the tool says; of BenchBase by their growth.
    pub(in crate::bench) nopm: Option<f64>,
    pub(in crate::bench) wall_us: u64,
    /// Of the tool's processes, the server's not among them.
    pub(in crate::bench) cpu_user_us: u64,
    pub(in crate::bench) cpu_sys_us: u64,
    pub(in crate::bench) rss_max_kib: u64,
}

impl TpccRun {
    /// User and system time.
    pub(super) fn cpu_us(&self) -> u64 {
        self.cpu_user_us + self.cpu_sys_us
    }
}
