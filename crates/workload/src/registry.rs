//! The list of workloads, and how one is made by name.

use crate::tpcb::{Branch, Tpcb, Variant};
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
    make: fn(&Choice<'_>) -> Result<Box<dyn Workload>, MakeError>,
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
        expected: &'static str,
    },
    /// The scale is out of range.
    #[error("scale {0} is out of range (1 .. {SCALE_MAX})")]
    Scale(u64),
}

fn has(known: &[&'static str]) -> String {
    if known.is_empty() { "it has none".into() } else { format!("it has: {}", known.join(", ")) }
}

/// Parameters of pgbench's tables.
const TPCB_PARAMS: &[Param] = &[
    Param {
        name: "branch",
        help: "which branch a transaction uses: drawn (as pgbench: by chance, whatever the \
               account) or account (the account's own, named in every statement, so that one \
               shard serves the transaction) [default: drawn]",
    },
    Param {
        name: "pieces",
        help: "into how many pieces each table is split, where the database lets one say so: \
               tablets, hash buckets, shards [default: the database's]",
    },
];

/// The most pieces that a table can be asked to have: a thousandth of it would
/// already be a strange choice, and a slip of the finger can take hours.
const PIECES_MAX: u32 = 65_536;

const fn tpcb_entry(
    variant: Variant,
    make: fn(&Choice<'_>) -> Result<Box<dyn Workload>, MakeError>,
) -> Entry {
    Entry { name: variant.name(), description: variant.description(), params: TPCB_PARAMS, make }
}

fn make_tpcb(variant: Variant, choice: &Choice<'_>) -> Result<Box<dyn Workload>, MakeError> {
    let mut tpcb = Tpcb::new(variant, choice.scale);
    for (name, value) in choice.params {
        let refused = |expected: &'static str| MakeError::ParamValue {
            workload: variant.name(),
            name: name.clone(),
            value: value.clone(),
            expected,
        };
        match name.as_str() {
            "branch" => {
                let branch = Branch::by_name(value).ok_or_else(|| refused("drawn or account"))?;
                tpcb = tpcb.with_branch(branch);
            }
            "pieces" => {
                let pieces = value.parse().ok().filter(|n| (1..=PIECES_MAX).contains(n));
                tpcb = tpcb.with_pieces(pieces.ok_or_else(|| refused("a number from 1 to 65536"))?);
            }
            // Names were checked against the list.
            _ => {}
        }
    }
    Ok(Box::new(tpcb))
}

/// All workloads, in the order in which they are listed.
#[must_use]
pub fn workloads() -> &'static [Entry] {
    const ENTRIES: [Entry; 3] = [
        tpcb_entry(Variant::TpcbLike, |choice| make_tpcb(Variant::TpcbLike, choice)),
        tpcb_entry(Variant::SimpleUpdate, |choice| make_tpcb(Variant::SimpleUpdate, choice)),
        tpcb_entry(Variant::SelectOnly, |choice| make_tpcb(Variant::SelectOnly, choice)),
    ];
    &ENTRIES
}

/// Makes a workload.
///
/// # Errors
/// The name, a parameter or the scale is not one that exists; the error lists
/// what does.
pub fn make(choice: &Choice<'_>) -> Result<Box<dyn Workload>, MakeError> {
    let Some(entry) = workloads().iter().find(|entry| entry.name == choice.name) else {
        return Err(MakeError::UnknownWorkload {
            name: choice.name.to_owned(),
            known: workloads().iter().map(|entry| entry.name).collect(),
        });
    };
    if choice.scale == 0 || choice.scale > SCALE_MAX {
        return Err(MakeError::Scale(choice.scale));
    }
    for (name, _) in choice.params {
        if !entry.params.iter().any(|param| param.name == name) {
            return Err(MakeError::UnknownParam {
                workload: entry.name,
                name: name.clone(),
                known: entry.params.iter().map(|param| param.name).collect(),
            });
        }
    }
    (entry.make)(choice)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each listed workload can be made, and answers with its own name.
    #[test]
    fn every_entry_can_be_made() {
        for entry in workloads() {
            let made = make(&Choice { name: entry.name, scale: 2, params: &[] }).unwrap();
            assert_eq!((made.name(), made.description()), (entry.name, entry.description));
            assert_eq!(made.scale(), 2);
            assert!(made.transactions().iter().any(|transaction| transaction.weight > 0));
        }
    }

    /// A wrong name lists what exists; wrong parameters and scales are named.
    #[test]
    fn errors_say_what_exists() {
        let error = make(&Choice { name: "tpcx", scale: 1, params: &[] }).unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no workload \"tpcx\"; there are: tpcb, simple-update, select-only"
        );
        let params = [("skew".to_owned(), "1".to_owned())];
        let error = make(&Choice { name: "tpcb", scale: 1, params: &params }).unwrap_err();
        let text = error.to_string();
        assert_eq!(text, "workload \"tpcb\" has no parameter \"skew\"; it has: branch, pieces");
        for (name, value) in [("branch", "own"), ("pieces", "0"), ("pieces", "many")] {
            let params = [(name.to_owned(), value.to_owned())];
            let error = make(&Choice { name: "tpcb", scale: 1, params: &params }).unwrap_err();
            let text = error.to_string();
            assert!(text.contains(name) && text.contains(value), "{text}");
        }
        for scale in [0, SCALE_MAX + 1] {
            let error = make(&Choice { name: "tpcb", scale, params: &[] }).unwrap_err();
            assert_eq!(error, MakeError::Scale(scale));
        }
    }
}
