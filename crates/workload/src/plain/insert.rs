//! `insert`: rows like those of pgbench's history, with an index on each of
//! five columns.
//!
//! Four of the indexes are written at random places, the one on the time at
//! its end. The table starts with rows, so that the indexes have a size that
//! can be chosen: whether they fit into memory decides the result.

use super::data::{drawn_up_to, push_numbers};
use super::reset::PutBack;
use super::rules::{AtRest, Rule};
use super::{Index, OwnTable, Plain, by};
use crate::entry::{Choice, Entry, MakeError, Param};
use crate::params::{Chosen, PIECES};
use crate::rows::push_number;
use crate::workload::{KeySum, Workload};

/// Rows at the start for each unit of scale, and the range of drawn numbers:
/// at scale 10,000 the thousand million of the published script.
const ROWS: u64 = 100_000;

const TABLE: &str = "pgdyno_insert";
const COUNT: &str = "rows in pgdyno_insert";

pub(super) const ENTRY: Entry = Entry::new(
    "insert",
    "history rows into a table with five secondary indexes; stresses index writes at random \
     places and the log",
    &[
        Param {
            name: "indexes",
            help: "how many of the columns tid, bid, aid, delta, mtime have an index, in this \
                   order; with fewer than 3, the look for the tables reads them whole \
                   [default: 5]",
        },
        PIECES,
    ],
    make,
);

const INDEXES: [Index; 5] = [
    Index { name: "pgdyno_insert_tid", columns: &["tid"] },
    Index { name: "pgdyno_insert_bid", columns: &["bid"] },
    Index { name: "pgdyno_insert_aid", columns: &["aid"] },
    Index { name: "pgdyno_insert_delta", columns: &["delta"] },
    Index { name: "pgdyno_insert_mtime", columns: &["mtime"] },
];

const SCRIPT: &str = r"\set tid random(1, 100000 * :scale)
\set bid random(1, 100000 * :scale)
\set aid random(1, 100000 * :scale)
\set delta random(-500000000, 500000000)
-- pgdyno: rows 1
INSERT INTO pgdyno_insert (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
";

fn make(choice: &Choice<'_>) -> Result<Box<dyn Workload>, MakeError> {
    let chosen = Chosen::new(ENTRY.name, choice);
    let indexes = chosen.small("indexes", 0..=5)?.unwrap_or(5);
    let rows = ROWS * choice.scale;
    let table = OwnTable {
        name: TABLE,
        columns: &[
            ("tid", "bigint NOT NULL"),
            ("bid", "bigint NOT NULL"),
            ("aid", "bigint NOT NULL"),
            ("delta", "int NOT NULL"),
            ("mtime", "timestamp NOT NULL"),
            ("filler", "char(22)"),
        ],
        loaded: &["tid", "bid", "aid", "delta", "mtime"],
        key: &[],
        spread: by("aid"),
        indexes: INDEXES.into_iter().take(indexes as usize).collect(),
        rows,
        // Three numbers of 15 digits, one of 10, 19 of the time, 5 between.
        row_bytes_max: 79,
        key_sum: Some(KeySum::counting("aid", rows)),
        write_row,
        figures: &[(COUNT, "count(*)")],
    };
    Ok(Box::new(Plain {
        entry: &ENTRY,
        scale: choice.scale,
        params: vec![("indexes", indexes.to_string())],
        pieces: chosen.pieces()?,
        tables: vec![table],
        script: SCRIPT.to_owned(),
        rules: vec![Rule::RowPerCommit { name: "inserts", table: TABLE, figure: COUNT }],
        at_rest: vec![AtRest::AtLeast(COUNT, i128::from(rows))],
        // Clients draw up to the largest that was loaded.
        scale_column: "aid",
        scale_unit: ROWS,
        known_indexes: &INDEXES,
        put_back: PutBack::Load { reason: "indexes are as loaded only when they are made anew" },
    }))
}

/// Numbers drawn for each row within its own 100,000, so that they need not
/// know the scale; the whole is even all the same.
fn write_row(row: u64, seed: u64, out: &mut Vec<u8>) {
    let first = row / ROWS * ROWS;
    let near = |stream: u64| first + drawn_up_to(seed.wrapping_add(stream), row, ROWS);
    push_numbers(&[near(1), near(2), row + 1], out);
    out.push(b'\t');
    let delta = drawn_up_to(seed.wrapping_add(3), row, 1_000_000_001).cast_signed() - 500_000_001;
    if delta < 0 {
        out.push(b'-');
    }
    push_number(delta.unsigned_abs(), out);
    out.extend_from_slice(b"\t2026-01-01 00:00:00\n");
}
