//! `update`: one row of a small table at a time, with 0, 1 or 2 secondary
//! indexes.
//!
//! Without an index the row's shard serves the whole transaction; with one,
//! databases that spread indexes by their own key have to commit over two.

use super::data::push_numbers;
use super::reset::PutBack;
use super::rules::{AtRest, Rule};
use super::{Index, OwnTable, Plain, by};
use crate::entry::{Choice, Entry, MakeError, Param};
use crate::params::{Chosen, PIECES};
use crate::workload::{KeySum, Workload};

/// Rows for each unit of scale: small enough to be in every cache, as the
/// published comparison of single-shard with multi-shard updates has it.
const ROWS: u64 = 1000;

const TABLE: &str = "pgdyno_update";
const COUNT: &str = "rows in pgdyno_update";
const CHANGES: &str = "sum(changes)";

pub(super) const ENTRY: Entry = Entry::new(
    "update",
    "one row of a small table by key, value after value; stresses the commit of one shard, and \
     of several with an index",
    &[
        Param {
            name: "index",
            help: "secondary indexes on the columns that are updated: 0, 1 or 2 [default: 0]",
        },
        PIECES,
    ],
    make,
);

const INDEXES: [Index; 2] = [
    Index { name: "pgdyno_update_value", columns: &["value"] },
    Index { name: "pgdyno_update_other", columns: &["other"] },
];

/// The values change, so every index is written; the counter is what the
/// audit knows the update by.
const SCRIPT: &str = r"\set id random(1, 1000 * :scale)
\set value random(1, 1000000)
\set other random(1, 1000000)
-- pgdyno: rows 1
UPDATE pgdyno_update SET value = :value, other = :other, changes = changes + 1 WHERE id = :id;
";

fn make(choice: &Choice<'_>) -> Result<Box<dyn Workload>, MakeError> {
    let chosen = Chosen::new(ENTRY.name, choice);
    let indexes = chosen.small("index", 0..=2)?.unwrap_or(0);
    let rows = ROWS * choice.scale;
    let table = OwnTable {
        name: TABLE,
        columns: &[
            ("id", "bigint NOT NULL"),
            ("value", "int NOT NULL"),
            ("other", "int NOT NULL"),
            ("changes", "bigint NOT NULL"),
        ],
        loaded: &["id", "value", "other", "changes"],
        key: &["id"],
        spread: by("id"),
        indexes: INDEXES.into_iter().take(indexes as usize).collect(),
        rows,
        // Key of 13 digits, two values of 7, "\t" three times, "0\n".
        row_bytes_max: 32,
        key_sum: Some(KeySum::counting("id", rows)),
        write_row,
        figures: &[(COUNT, "count(*)"), (CHANGES, "coalesce(sum(changes), 0)")],
    };
    Ok(Box::new(Plain {
        entry: &ENTRY,
        scale: choice.scale,
        params: vec![("index", indexes.to_string())],
        pieces: chosen.pieces()?,
        tables: vec![table],
        script: SCRIPT.to_owned(),
        rules: vec![
            Rule::CountPerCommit { name: "updates", figure: CHANGES },
            Rule::Still { name: "rows", what: "number of rows", figures: vec![COUNT] },
        ],
        at_rest: vec![AtRest::Is(COUNT, i128::from(rows))],
        scale_column: "id",
        scale_unit: ROWS,
        known_indexes: &INDEXES,
        put_back: PutBack::Rows {
            // The values also as scripts of people's own leave them.
            changed: "changes <> 0 OR value <> (id - 1) % 1000000 + 1 \
                      OR other <> (id - 1) % 1000000 + 1",
            set: "value = (id - 1) % 1000000 + 1, other = (id - 1) % 1000000 + 1, changes = 0",
        },
    }))
}

/// Values as the keys, as far as they go.
fn write_row(row: u64, _seed: u64, out: &mut Vec<u8>) {
    let value = row % 1_000_000 + 1;
    push_numbers(&[row + 1, value, value, 0], out);
    out.push(b'\n');
}
