//! What the list of workloads is made of: entries, parameters, choices, and why
//! a choice is refused.

use crate::workload::Workload;

/// The largest scale: `pgbench_accounts` then has 2^47 keys and more, and all
/// keys and their sums stay within 64 and 128 bits.
pub const SCALE_MAX: u64 = 2_147_483_647;

/// A parameter that a workload takes as `--param NAME=VALUE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub name: &'static str,
    /// One line: meaning, values and default.
    pub help: &'static str,
}

/// A workload that can be asked for.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The name it is looked up by.
    pub name: &'static str,
    /// One line: what it does and what it stresses.
    pub description: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    pub(crate) make: fn(&Choice<'_>) -> Result<Box<dyn Workload>, MakeError>,
}

impl Entry {
    /// An entry whose maker is given a name, scale and parameters that exist.
    pub(crate) const fn new(
        name: &'static str,
        description: &'static str,
        params: &'static [Param],
        make: fn(&Choice<'_>) -> Result<Box<dyn Workload>, MakeError>,
    ) -> Self {
        Self { name, description, params, make }
    }
}

/// What a person chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice<'a> {
    /// `--workload`.
    pub name: &'a str,
    /// `--scale`.
    pub scale: u64,
    /// `--param`, in the order given; of two with one name the later counts.
    pub params: &'a [(String, String)],
}

/// A workload could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MakeError {
    /// No workload has this name.
    #[error("there is no workload \"{name}\"; there are: {}", known.join(", "))]
    UnknownWorkload {
        /// The name asked for.
        name: String,
        /// The names that exist.
        known: Vec<&'static str>,
    },
    /// The workload has no such parameter.
    #[error("workload \"{workload}\" has no parameter \"{name}\"; {}", has(known))]
    UnknownParam {
        /// The workload.
        workload: &'static str,
        /// The parameter asked for.
        name: String,
        /// The parameters that exist.
        known: Vec<&'static str>,
    },
    /// A parameter has a value that it does not take.
    #[error("parameter \"{name}\" of workload \"{workload}\" is \"{value}\"; expected {expected}")]
    ParamValue {
        /// The workload.
        workload: &'static str,
        /// The parameter.
        name: String,
        /// The value asked for.
        value: String,
        /// What it takes.
        expected: String,
    },
    /// The scale is out of range.
    #[error("scale {0} is out of range (1 .. {SCALE_MAX})")]
    Scale(u64),
}

fn has(known: &[&'static str]) -> String {
    if known.is_empty() { "it has none".into() } else { format!("it has: {}", known.join(", ")) }
}
