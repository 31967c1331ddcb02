//! `scan`: short ranges of neighbouring rows.
//!
//! Rows are in groups, and a range never leaves its group: where tables are
//! spread by a hash of the group, one shard serves the read, in order.

use super::data::{drawn_up_to, push_numbers};
use super::reset::PutBack;
use super::rules::{AtRest, Rule};
use super::{OwnTable, Plain, by};
use crate::entry::{Choice, Entry, MakeError, Param};
use crate::params::{Chosen, PIECES};
use crate::workload::{KeySum, Workload};

/// Groups for each unit of scale.
const GROUPS: u64 = 100;
/// Rows of a group.
const GROUP_ROWS: u64 = 1000;

const ROWS_DEFAULT: u64 = 100;

const COUNT: &str = "rows in pgdyno_scan";
const SUM: &str = "sum(value)";

pub(super) const ENTRY: Entry = Entry::new(
    "scan",
    "ranges of neighbouring rows by key; stresses reads in order and the transfer of rows",
    &[Param { name: "rows", help: "rows of one range, 1 to 1000 [default: 100]" }, PIECES],
    make,
);

fn script(rows: u64) -> String {
    let last_first = GROUP_ROWS - rows + 1;
    let more = rows - 1;
    format!(
        r"\set grp random(1, {GROUPS} * :scale)
\set first random(1, {last_first})
\set last :first + {more}
-- pgdyno: rows {rows}
SELECT pos, value, filler FROM pgdyno_scan WHERE grp = :grp AND pos BETWEEN :first AND :last ORDER BY pos;
"
    )
}

fn make(choice: &Choice<'_>) -> Result<Box<dyn Workload>, MakeError> {
    let chosen = Chosen::new(ENTRY.name, choice);
    let length = chosen.whole("rows", 1..=GROUP_ROWS)?.unwrap_or(ROWS_DEFAULT);
    let groups = GROUPS * choice.scale;
    let rows = GROUP_ROWS * groups;
    let positions = i128::from(groups) * i128::from(GROUP_ROWS * (GROUP_ROWS + 1) / 2);
    let table = OwnTable {
        name: "pgdyno_scan",
        columns: &[
            ("grp", "bigint NOT NULL"),
            ("pos", "int NOT NULL"),
            ("value", "int NOT NULL"),
            ("filler", "char(84)"),
        ],
        loaded: &["grp", "pos", "value", "filler"],
        key: &["grp", "pos"],
        spread: by("grp"),
        indexes: Vec::new(),
        rows,
        // Group of 12 digits, 4 and 7 more, "\t" three times and "\n".
        row_bytes_max: 27,
        key_sum: Some(KeySum { expression: "pos", expected: positions, counts: false }),
        write_row,
        figures: &[(COUNT, "count(*)"), (SUM, "coalesce(sum(value), 0)")],
    };
    Ok(Box::new(Plain {
        entry: &ENTRY,
        scale: choice.scale,
        params: vec![("rows", length.to_string())],
        pieces: chosen.pieces()?,
        tables: vec![table],
        script: script(length),
        rules: vec![Rule::Still {
            name: "untouched",
            what: "rows that no transaction changes",
            figures: vec![COUNT, SUM],
        }],
        at_rest: vec![AtRest::Is(COUNT, i128::from(rows))],
        scale_column: "grp",
        scale_unit: GROUPS,
        known_indexes: &[],
        put_back: PutBack::Nothing,
    }))
}

fn write_row(row: u64, seed: u64, out: &mut Vec<u8>) {
    let value = drawn_up_to(seed, row, 1_000_000);
    push_numbers(&[row / GROUP_ROWS + 1, row % GROUP_ROWS + 1, value], out);
    out.extend_from_slice(b"\t\n");
}
