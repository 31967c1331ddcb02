//! How the rows of one chunk travel: by COPY, by INSERTs of many rows or of
//! one, or as a SELECT that the server runs by itself.

use pgdyno_workload::{Table, Workload};

use super::chunks::Chunk;
use super::error::Failure;
use super::link::Link;
use super::plan::{Travel, Way};
use super::values::{fields, insert_prepared, write_insert};

/// COPY text made and sent at a time, per worker. More gave no more speed, as
/// a socket takes about 200 KiB at once; less costs system calls.
const SEND_BYTES: u64 = 256 << 10;

/// Single INSERTs that travel together. Their replies, some 30 bytes each, fit
/// into any socket's buffer while this side still writes.
const SINGLE_ROWS: u64 = 100;

/// What all workers need to send rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sending<'a> {
    pub(super) workload: &'a dyn Workload,
    pub(super) tables: &'a [Table],
    pub(super) way: &'a Way,
    pub(super) seed: u64,
}

/// Hears which row was sent last, and how many bytes the newly sent ones had.
pub(super) type Tell<'a> = dyn FnMut(u64, usize) + 'a;

impl Sending<'_> {
    /// Sends a chunk's rows once. Gives the rows that the server took.
    pub(super) fn send(
        &self,
        link: &mut Link,
        chunk: &Chunk,
        text: &mut Vec<u8>,
        tell: &mut Tell<'_>,
    ) -> Result<u64, Failure> {
        match self.way.travel(chunk.table) {
            Travel::Copy => self.copy(link, chunk, text, tell),
            Travel::Insert => self.insert(link, chunk, text, tell),
            Travel::InsertSingle => self.insert_single(link, chunk, text, tell),
            Travel::Server(_) => self.insert_select(link, chunk, tell),
        }
    }

    /// Names a chunk in an error.
    pub(super) fn what(&self, chunk: &Chunk) -> String {
        let word = match self.way.travel(chunk.table) {
            Travel::Copy => "COPY",
            Travel::Insert | Travel::InsertSingle => "INSERT",
            Travel::Server(_) => "INSERT … SELECT",
        };
        let (first, last) = (chunk.rows.start + 1, chunk.rows.end);
        format!("{word} of rows {first} to {last} into {}", self.tables[chunk.table].name)
    }

    /// One COPY: its text is made and sent piece by piece.
    fn copy(
        &self,
        link: &mut Link,
        chunk: &Chunk,
        text: &mut Vec<u8>,
        tell: &mut Tell<'_>,
    ) -> Result<u64, Failure> {
        let table = &self.tables[chunk.table];
        let piece = (SEND_BYTES / u64::from(table.row_bytes_max).max(1)).max(1);
        let mut row = chunk.rows.start;
        let fill = |text: &mut Vec<u8>| {
            let end = chunk.rows.end.min(row + piece);
            self.workload.write_rows(chunk.table, row..end, self.seed, text);
            tell(end, text.len());
            row = end;
            !text.is_empty()
        };
        let sql = self.way.statement(table, chunk.table);
        link.copy(&sql, || self.what(chunk), text, fill)
    }

    /// One INSERT of all rows of a chunk.
    fn insert(
        &self,
        link: &mut Link,
        chunk: &Chunk,
        text: &mut Vec<u8>,
        tell: &mut Tell<'_>,
    ) -> Result<u64, Failure> {
        let table = &self.tables[chunk.table];
        text.clear();
        self.workload.write_rows(chunk.table, chunk.rows.clone(), self.seed, text);
        let mut sql = String::with_capacity(text.len() * 3);
        write_insert(table.name, table.columns, &String::from_utf8_lossy(text), &mut sql);
        tell(chunk.rows.end, text.len());
        link.execute(&sql, || self.what(chunk)).map(|done| done.rows)
    }

    /// One INSERT for each row, prepared once and sent in batches.
    fn insert_single(
        &self,
        link: &mut Link,
        chunk: &Chunk,
        text: &mut Vec<u8>,
        tell: &mut Tell<'_>,
    ) -> Result<u64, Failure> {
        let table = &self.tables[chunk.table];
        let name = format!("pgdyno_load_{}", chunk.table);
        let what = || self.what(chunk);
        link.prepare(&name, &insert_prepared(table.name, table.columns), what)?;
        let (mut row, mut taken) = (chunk.rows.start, 0);
        while row < chunk.rows.end {
            let end = chunk.rows.end.min(row + SINGLE_ROWS);
            text.clear();
            self.workload.write_rows(chunk.table, row..end, self.seed, text);
            let rows: Vec<Vec<Option<String>>> =
                String::from_utf8_lossy(text).lines().map(fields).collect();
            taken += link.run_prepared(&name, &rows, what)?;
            tell(end, text.len());
            row = end;
        }
        Ok(taken)
    }

    /// Rows that the server makes.
    fn insert_select(
        &self,
        link: &mut Link,
        chunk: &Chunk,
        tell: &mut Tell<'_>,
    ) -> Result<u64, Failure> {
        let sql = self.way.server_statement(&self.tables[chunk.table], chunk);
        let done = link.execute(&sql, || self.what(chunk))?;
        tell(chunk.rows.end, 0);
        Ok(done.rows)
    }
}
