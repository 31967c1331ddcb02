//! The figures of the contenders, and how they are set against each other.

use std::collections::BTreeMap;

use super::contender::Contender;
use crate::bench::statistics::{Spread, spread};

/// A figure of each repetition.
pub(super) type Series = BTreeMap<u32, f64>;

/// The figures of a contender.
#[derive(Debug, Default)]
pub(super) struct Figures {
    pub(super) cpu_us_per_transaction: Series,
    pub(super) cpu_us_per_order: Series,
    pub(super) nopm: Series,
    pub(super) load_rows_per_s: Series,
    pub(super) load_cpu_us_per_row: Series,
    pub(super) load_s: Series,
    pub(super) version: Option<String>,
}

/// The figures of all that were measured.
pub(super) type All = BTreeMap<Contender, Figures>;

/// The ratio of two series, each repetition with itself.
pub(super) fn ratio(over: &Series, under: &Series) -> Option<Spread> {
    spread(over.iter().filter_map(|(repetition, value)| Some(value / under.get(repetition)?)))
}

/// Median, least and greatest; empty where there is nothing.
pub(super) fn show(series: &Series, digits: usize) -> String {
    spread(series.values().copied()).map_or(String::new(), |spread| shown(spread, digits))
}

/// The same of a spread.
pub(super) fn shown(spread: Spread, digits: usize) -> String {
    let Spread { median, min, max } = spread;
    format!("{median:.digits$} ({min:.digits$}..{max:.digits$})")
}
