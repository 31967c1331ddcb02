//! What the clients of a run know of it beyond how many transactions
//! committed: how many of each kind they dealt with, and what their terminals
//! counted.

/// What the clients of a run know of it, over all of it: warm-up, measured
/// interval and drain.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Told {
    /// Clients of the run.
    pub clients: u32,
    /// Transactions that came to an end, whichever, in the order of
    /// [`crate::Workload::transactions`].
    pub finished: Vec<u64>,
    /// What [`crate::Terminals::counters`] names, in that order; of committed
    /// transactions unless a name says otherwise.
    pub counters: Vec<u64>,
}
