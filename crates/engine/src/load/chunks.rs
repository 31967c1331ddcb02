//! Deals the rows of all tables into chunks that any worker can load.
//!
//! A chunk is one COPY or INSERT statement. Chunks are computed from their number and
//! not listed, because a load can have millions of them.

use std::ops::Range;

use pgdyno_target::dialect::LoadBatch;
use pgdyno_workload::Table;

/// Text of one chunk where the database sets no limit. Large enough that the
/// statement's own cost (a round trip and a commit, about 1 ms with a disk
/// behind it) is small against the time to load it (100 ms and more), small
/// enough that several workers end at nearly the same time.
pub(super) const CHUNK_BYTES: u64 = 2 << 20;

/// How the tables are cut into chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// Each table is one chunk. For a load in one transaction over one
    /// connection: nobody waits for a part of it, and each further statement
    /// would leave the server idle for a round trip, 0.1 to 0.25 s of the 3 s
    /// that 5 million rows take.
    Tables,
    /// What one statement may hold, and at most [`CHUNK_BYTES`].
    Batches(LoadBatch),
}

/// Rows of one table that are loaded by one statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chunk {
    /// Number of the table.
    pub(super) table: usize,
    /// Its rows, from 0.
    pub(super) rows: Range<u64>,
}

/// All chunks of a load, table after table.
#[derive(Debug, Clone)]
pub(super) struct Chunks {
    parts: Vec<Part>,
}

#[derive(Debug, Clone)]
struct Part {
    first: u64,
    rows: u64,
    rows_per_chunk: u64,
}

impl Chunks {
    /// Deals the tables as they are cut.
    pub(super) fn new(tables: &[Table], cut: Cut) -> Self {
        let mut first = 0;
        let parts = tables
            .iter()
            .map(|table| {
                let rows_per_chunk = cut.rows_per_chunk(table);
                let part = Part { first, rows: table.rows, rows_per_chunk };
                first += table.rows.div_ceil(rows_per_chunk);
                part
            })
            .collect();
        Self { parts }
    }

    /// Chunk number `number`, `None` behind the last one.
    pub(super) fn get(&self, number: u64) -> Option<Chunk> {
        let table = self.parts.partition_point(|part| part.first <= number).checked_sub(1)?;
        let part = &self.parts[table];
        let start = (number - part.first).checked_mul(part.rows_per_chunk)?;
        (start < part.rows)
            .then(|| Chunk { table, rows: start..part.rows.min(start + part.rows_per_chunk) })
    }
}

impl Cut {
    /// Rows of a table in one chunk; at least one.
    pub(super) fn rows_per_chunk(self, table: &Table) -> u64 {
        let Self::Batches(batch) = self else { return table.rows.max(1) };
        let row_bytes = u64::from(table.row_bytes_max).max(1);
        let bytes = batch.bytes.map_or(CHUNK_BYTES, |bytes| CHUNK_BYTES.min(bytes));
        (bytes / row_bytes).min(batch.rows.unwrap_or(u64::MAX)).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn table(rows: u64, row_bytes_max: u32) -> Table {
        Table { name: "t", columns: &[], rows, row_bytes_max, key_sum: None }
    }

    proptest! {
        /// The chunks hold every row of every table once, in order, and none
        /// is beyond a database's limits.
        #[test]
        fn every_row_is_in_one_chunk(
            counts in prop::collection::vec(0u64..200_000, 1..6),
            row_bytes in 0u32..200,
            limit in prop::option::of(1u64..5000),
        ) {
            let tables: Vec<Table> = counts.iter().map(|&rows| table(rows, row_bytes)).collect();
            // A hundredth of the rows keeps the number of chunks small.
            let rows_max = limit.map(|rows| rows.max(500));
            let limits = LoadBatch { rows: rows_max, bytes: None };
            let chunks = Chunks::new(&tables, Cut::Batches(limits));
            let mut next = vec![0u64; tables.len()];
            let mut number = 0;
            let mut table_before = 0;
            while let Some(chunk) = chunks.get(number) {
                prop_assert!(chunk.table >= table_before);
                prop_assert_eq!(chunk.rows.start, next[chunk.table]);
                prop_assert!(chunk.rows.end > chunk.rows.start);
                prop_assert!(chunk.rows.end - chunk.rows.start <= rows_max.unwrap_or(u64::MAX));
                next[chunk.table] = chunk.rows.end;
                table_before = chunk.table;
                number += 1;
            }
            prop_assert_eq!(next, counts);
            prop_assert_eq!(chunks.get(number + 1000), None);
        }
    }

    /// A size limit is kept, and a row
    /// larger than the limit still makes a chunk of its own.
    #[test]
    fn byte_limits_are_kept() {
        let limits = LoadBatch { bytes: Some(1000), rows: None };
        let chunks = Chunks::new(&[table(1000, 100)], Cut::Batches(limits));
        assert_eq!(chunks.get(0), Some(Chunk { table: 0, rows: 0..10 }));
        let chunks = Chunks::new(&[table(3, 5000)], Cut::Batches(limits));
        assert_eq!(chunks.get(2), Some(Chunk { table: 0, rows: 2..3 }));
        assert_eq!(chunks.get(3), None);
    }

    /// Uncut, a table is one chunk, and one without rows is none.
    #[test]
    fn whole_tables() {
        let tables = [table(3, 10), table(0, 10), table(50_000_000, 10)];
        let chunks = Chunks::new(&tables, Cut::Tables);
        assert_eq!(chunks.get(0), Some(Chunk { table: 0, rows: 0..3 }));
        assert_eq!(chunks.get(1), Some(Chunk { table: 2, rows: 0..50_000_000 }));
        assert_eq!(chunks.get(2), None);
    }
}
