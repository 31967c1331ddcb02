//! The list of workloads, and how one is made by name.

pub use crate::entry::{Choice, Entry, MakeError, Param, SCALE_MAX};
use crate::params::{Chosen, PIECES};
use crate::plain;
use crate::tpcb::{Branch, Tpcb, Variant, Weights};
use crate::tpcc;
use crate::workload::Workload;

/// Which branch is used, for the workloads on pgbench's tables.
const BRANCH: Param = Param {
    name: "branch",
    help: "which branch a transaction uses: drawn (as pgbench: by chance, whatever the \
           account) or account (the account's own, named in every statement, so that one \
           shard serves the transaction) [default: drawn]",
};

const TPCB_PARAMS: &[Param] = &[BRANCH, PIECES];

const SHARDED_PARAMS: &[Param] = &[
    Param {
        name: "local",
        help: "share of the transactions whose account is of the teller's own branch, in \
               percent, 0 to 100; the others' is any other [default: 85]",
    },
    PIECES,
];

const NO_AGGREGATES_PARAMS: &[Param] = &[
    BRANCH,
    Param {
        name: "reads",
        help: "whether teller and branch are read, which are not updated: yes or no; without, \
               it is simple-update [default: no]",
    },
    PIECES,
];

const MIXED_PARAMS: &[Param] = &[
    Param { name: "select", help: "weight of select-only, 0 to 1,000,000 [default: 70]" },
    Param { name: "update", help: "weight of simple-update [default: 20]" },
    Param { name: "tpcb", help: "weight of tpcb [default: 5]" },
    Param {
        name: "insert",
        help: "weight of the insert of a history row without a change [default: 5]",
    },
    BRANCH,
    PIECES,
];

/// A weight above it would be a mistake; four of them stay within 32 bits.
const WEIGHT_MAX: u32 = 1_000_000;

const fn tpcb_entry(
    variant: Variant,
    params: &'static [Param],
    make: fn(&Choice<'_>) -> Result<Box<dyn Workload>, MakeError>,
) -> Entry {
    Entry { name: variant.name(), description: variant.description(), params, make }
}

fn make_tpcb(variant: Variant, choice: &Choice<'_>) -> Result<Box<dyn Workload>, MakeError> {
    let chosen = Chosen::new(variant.name(), choice);
    let mut tpcb = Tpcb::new(variant, choice.scale);
    let branches = [Branch::Drawn, Branch::OfAccount];
    if let Some(place) = chosen.word("branch", &branches.map(Branch::name))? {
        tpcb = tpcb.with_branch(branches[place]);
    }
    if let Some(pieces) = chosen.pieces()? {
        tpcb = tpcb.with_pieces(pieces);
    }
    if let Some(local) = chosen.small("local", 0..=100)? {
        tpcb = tpcb.with_local(local);
    }
    if let Some(reads) = chosen.yes("reads")? {
        tpcb = tpcb.with_reads(reads);
    }
    if variant == Variant::Mixed {
        tpcb = tpcb.with_weights(weights(&chosen)?);
    }
    Ok(Box::new(tpcb))
}

fn weights(chosen: &Chosen<'_>) -> Result<Weights, MakeError> {
    let mut weights = Weights::default();
    let all = [
        ("select", &mut weights.select),
        ("update", &mut weights.update),
        ("tpcb", &mut weights.tpcb),
        ("insert", &mut weights.insert),
    ];
    for (name, weight) in all {
        *weight = chosen.small(name, 0..=WEIGHT_MAX)?.unwrap_or(*weight);
    }
    let Weights { select, update, tpcb, insert } = weights;
    if select + update + tpcb + insert == 0 {
        return Err(MakeError::ParamValue {
            workload: Variant::Mixed.name(),
            name: "insert".to_owned(),
            value: "0".to_owned(),
            expected: "one weight above 0: then nothing would be run".to_owned(),
        });
    }
    Ok(weights)
}

/// All workloads, in the order in which they are listed.
#[must_use]
pub fn workloads() -> &'static [Entry] {
    use Variant::{
        Mixed, NoAggregates, SelectOnly, Sharded, SimpleUpdate, SingleStatement, TpcbLike,
    };
    const ENTRIES: &[Entry] = &[
        tpcb_entry(TpcbLike, TPCB_PARAMS, |choice| make_tpcb(TpcbLike, choice)),
        tpcb_entry(Sharded, SHARDED_PARAMS, |choice| make_tpcb(Sharded, choice)),
        tpcb_entry(SingleStatement, TPCB_PARAMS, |choice| make_tpcb(SingleStatement, choice)),
        tpcb_entry(NoAggregates, NO_AGGREGATES_PARAMS, |choice| make_tpcb(NoAggregates, choice)),
        tpcb_entry(SimpleUpdate, TPCB_PARAMS, |choice| make_tpcb(SimpleUpdate, choice)),
        tpcb_entry(SelectOnly, TPCB_PARAMS, |choice| make_tpcb(SelectOnly, choice)),
        tpcb_entry(Mixed, MIXED_PARAMS, |choice| make_tpcb(Mixed, choice)),
        plain::ENTRIES[0],
        plain::ENTRIES[1],
        plain::ENTRIES[2],
        plain::ENTRIES[3],
        plain::ENTRIES[4],
        Entry {
            name: "tpcc",
            description: tpcc::DESCRIPTION,
            params: tpcc::PARAMS,
            make: tpcc::make,
        },
    ];
    ENTRIES
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
            assert!(entry.description.contains("; stresses "), "{}", entry.description);
        }
    }

    /// A wrong name lists what exists; wrong parameters and scales are named.
    #[test]
    fn errors_say_what_exists() {
        let names: Vec<&str> = workloads().iter().map(|entry| entry.name).collect();
        let error = make(&Choice { name: "tpcx", scale: 1, params: &[] }).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("there is no workload \"tpcx\"; there are: {}", names.join(", "))
        );
        assert!(names.starts_with(&["tpcb", "tpcb-sharded"]));
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
