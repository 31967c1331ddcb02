//! The initial rows of pgbench's tables, from the key alone.
//!
//! All balances are 0; `filler` is null in branches and tellers and empty
//! (hence blank-padded) in accounts, as `pgbench -i` leaves them.

use std::ops::Range;

use super::schema::{ACCOUNTS, BRANCHES, TELLERS};
use super::{ACCOUNTS_PER_BRANCH, TELLERS_PER_BRANCH, Tpcb};
use crate::rows::{push_number, write_counted};
use crate::workload::Workload;

/// Appends rows `rows` (from 0) of a table.
pub(super) fn write_rows(tpcb: &Tpcb, table: usize, rows: Range<u64>, out: &mut Vec<u8>) {
    match table {
        BRANCHES => {
            let keys = within(rows, tpcb.scale());
            write_counted(keys.start + 1..keys.end + 1, b"\t0\t\\N\n", out);
        }
        TELLERS => {
            let rows = within(rows, tpcb.tellers());
            write_by_branch(rows, TELLERS_PER_BRANCH, b"\t0\t\\N\n", out);
        }
        ACCOUNTS => {
            let rows = within(rows, tpcb.accounts());
            write_by_branch(rows, ACCOUNTS_PER_BRANCH, b"\t0\t\n", out);
        }
        _ => {}
    }
}

fn within(rows: Range<u64>, count: u64) -> Range<u64> {
    let end = rows.end.min(count);
    rows.start.min(end)..end
}

/// Rows whose branch is (row / `per_branch`) + 1: within a branch only the
/// key changes, so everything behind it is made once.
fn write_by_branch(rows: Range<u64>, per_branch: u64, end: &[u8], out: &mut Vec<u8>) {
    let mut tail = Vec::with_capacity(32);
    let mut row = rows.start;
    while row < rows.end {
        let branch = row / per_branch;
        let stop = rows.end.min((branch + 1) * per_branch);
        tail.clear();
        tail.push(b'\t');
        push_number(branch + 1, &mut tail);
        tail.extend_from_slice(end);
        write_counted(row + 1..stop + 1, &tail, out);
        row = stop;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tpcb::Variant;
    use proptest::prelude::*;

    fn rows(scale: u64, table: usize, range: Range<u64>) -> String {
        let mut out = Vec::new();
        Tpcb::new(Variant::TpcbLike, scale).write_rows(table, range, 7, &mut out);
        String::from_utf8(out).unwrap()
    }

    /// First and last rows are those of `pgbench -i`, at every width of key.
    #[test]
    fn golden_rows() {
        assert_eq!(rows(1, BRANCHES, 0..9), "1\t0\t\\N\n");
        assert_eq!(rows(2, TELLERS, 9..11), "10\t1\t0\t\\N\n11\t2\t0\t\\N\n");
        assert_eq!(rows(1, ACCOUNTS, 0..1), "1\t1\t0\t\n");
        assert_eq!(rows(2, ACCOUNTS, 99_999..100_001), "100000\t1\t0\t\n100001\t2\t0\t\n");
        for scale in [19_999, 20_000, 21_475, 1_000_000] {
            let last = scale * ACCOUNTS_PER_BRANCH;
            assert_eq!(
                rows(scale, ACCOUNTS, last - 1..last + 5),
                format!("{last}\t{scale}\t0\t\n")
            );
        }
    }

    proptest! {
        /// Any split of a range gives the same bytes as the whole range.
        #[test]
        fn splits_give_the_same_bytes(
            table in 0usize..3, scale in 1u64..2_000_000, start in any::<u64>(),
            pieces in prop::collection::vec(1u64..300, 1..8),
        ) {
            let count = [scale, scale * 10, scale * 100_000][table];
            let start = start % count;
            let end = start + pieces.iter().sum::<u64>();
            let mut split = String::new();
            let mut at = start;
            for piece in pieces {
                split += &rows(scale, table, at..at + piece);
                at += piece;
            }
            prop_assert_eq!(split, rows(scale, table, start..end));
        }
    }

    /// Every key is there once, in order, with the branch that pgbench gives it.
    #[test]
    fn every_key_once() {
        let text = rows(2, ACCOUNTS, 0..u64::MAX);
        let mut expected = 0u64;
        for line in text.lines() {
            expected += 1;
            let branch = (expected - 1) / 100_000 + 1;
            assert_eq!(line, format!("{expected}\t{branch}\t0\t"));
        }
        assert_eq!(expected, 200_000);
    }
}
