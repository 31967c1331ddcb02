//! `hotspot`: updates of rows that are drawn by Zipf's law.
//!
//! A few rows take most of the updates, which is what distributed and
//! optimistic databases mind most.

use super::data::push_numbers;
use super::reset::PutBack;
use super::rules::{AtRest, Rule};
use super::{OwnTable, Plain, by};
use crate::entry::{Choice, Entry, MakeError, Param};
use crate::params::{Chosen, PIECES};
use crate::workload::{KeySum, Workload};

/// Rows for each unit of scale.
const ROWS: u64 = 100_000;

/// With 100,000 rows the hottest takes about one update in seven. The range is
/// that of pgbench's `random_zipfian`.
const SKEW_DEFAULT: f64 = 1.1;
const SKEW_MIN: f64 = 1.001;
const SKEW_MAX: f64 = 1000.0;

const COUNT: &str = "rows in pgdyno_hotspot";
const HITS: &str = "sum(hits)";

pub(super) const ENTRY: Entry = Entry::new(
    "hotspot",
    "updates of rows drawn by Zipf's law; stresses hot rows: lock queues, or conflicts and retries",
    &[
        Param {
            name: "skew",
            help: "the exponent: row of rank k is drawn with a share of 1/k^skew, 1.001 to 1000; \
                   at 1.1 the hottest of 100,000 rows takes one update in seven [default: 1.1]",
        },
        Param {
            name: "scatter",
            help: "yes: the hot rows lie all over the keys; no: side by side at their beginning, \
                   which databases with ranges of keys feel [default: yes]",
        },
        PIECES,
    ],
    make,
);

/// A fixed seed of the permutation: the same rows are hot in every run, and
/// by every driver.
fn script(skew: f64, scatter: bool) -> String {
    let id = if scatter { "1 + permute(:rank - 1, 100000 * :scale, 0)" } else { ":rank" };
    format!(
        r"\set rank random_zipfian(1, 100000 * :scale, {skew:?})
\set id {id}
-- pgdyno: rows 1
UPDATE pgdyno_hotspot SET hits = hits + 1 WHERE id = :id;
"
    )
}

fn make(choice: &Choice<'_>) -> Result<Box<dyn Workload>, MakeError> {
    let chosen = Chosen::new(ENTRY.name, choice);
    let skew = chosen.decimal("skew", SKEW_MIN..=SKEW_MAX)?.unwrap_or(SKEW_DEFAULT);
    let scatter = chosen.yes("scatter")?.unwrap_or(true);
    let rows = ROWS * choice.scale;
    let table = OwnTable {
        name: "pgdyno_hotspot",
        columns: &[("id", "bigint NOT NULL"), ("hits", "bigint NOT NULL"), ("filler", "char(84)")],
        loaded: &["id", "hits", "filler"],
        key: &["id"],
        spread: by("id"),
        indexes: Vec::new(),
        rows,
        // Key of 15 digits, "\t0\t\n".
        row_bytes_max: 19,
        key_sum: Some(KeySum::counting("id", rows)),
        write_row,
        figures: &[(COUNT, "count(*)"), (HITS, "coalesce(sum(hits), 0)")],
    };
    Ok(Box::new(Plain {
        entry: &ENTRY,
        scale: choice.scale,
        params: vec![
            ("skew", skew.to_string()),
            ("scatter", if scatter { "yes" } else { "no" }.to_owned()),
        ],
        pieces: chosen.pieces()?,
        tables: vec![table],
        script: script(skew, scatter),
        rules: vec![
            Rule::CountPerCommit { name: "updates", figure: HITS },
            Rule::Still { name: "rows", what: "number of rows", figures: vec![COUNT] },
        ],
        at_rest: vec![AtRest::Is(COUNT, i128::from(rows))],
        scale_column: "id",
        scale_unit: ROWS,
        known_indexes: &[],
        put_back: PutBack::Rows { changed: "hits <> 0", set: "hits = 0" },
    }))
}

fn write_row(row: u64, _seed: u64, out: &mut Vec<u8>) {
    push_numbers(&[row + 1, 0], out);
    out.extend_from_slice(b"\t\n");
}
