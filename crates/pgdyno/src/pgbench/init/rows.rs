//! The rows of pgbench's tables as COPY text.
//!
//! pgbench formats each row by itself and hands it over as a message of its
//! own, which costs it most of its time. Here a chunk of rows is made by
//! counting in place (see [`pgdyno_workload::rows`]) and sent as it is.

use pgdyno_workload::rows::{push_number, write_counted};

use super::ddl::{ACCOUNTS_PER_SCALE, TELLERS_PER_SCALE};

/// Rows made at a time: about 150 KB, which stays in the processor's cache.
/// It divides the rows between two progress lines, and the accounts of a branch.
pub const CHUNK_ROWS: u64 = 10_000;

/// A table that is filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// pgbench_branches
    Branches,
    /// pgbench_tellers
    Tellers,
    /// pgbench_accounts
    Accounts,
}

impl Table {
    /// In the order of filling.
    pub const ALL: [Self; 3] = [Self::Branches, Self::Tellers, Self::Accounts];

    /// Its name in the database.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Branches => "pgbench_branches",
            Self::Tellers => "pgbench_tellers",
            Self::Accounts => "pgbench_accounts",
        }
    }

    /// Rows at a scale.
    #[must_use]
    pub const fn rows(self, scale: u32) -> u64 {
        (scale as u64) * self.per_branch()
    }

    const fn per_branch(self) -> u64 {
        match self {
            Self::Branches => 1,
            Self::Tellers => TELLERS_PER_SCALE,
            Self::Accounts => ACCOUNTS_PER_SCALE,
        }
    }

    /// Appends the rows with the keys from `first` up to but not including `end`.
    pub fn write(self, first: u64, end: u64, out: &mut Vec<u8>) {
        if self == Self::Branches {
            return write_counted(first..end, b"\t0\t\\N\n", out);
        }
        let rest: &[u8] = if self == Self::Tellers { b"\t0\t\\N\n" } else { b"\t0\t\n" };
        let mut tail = Vec::new();
        let mut key = first;
        while key < end {
            // Rows of one branch differ in their key only.
            let branch = (key - 1) / self.per_branch() + 1;
            let next = (branch * self.per_branch() + 1).min(end);
            tail.clear();
            tail.push(b'\t');
            push_number(branch, &mut tail);
            tail.extend_from_slice(rest);
            write_counted(key..next, &tail, out);
            key = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What pgbench writes for one row.
    fn row(table: Table, key: u64) -> String {
        match table {
            Table::Branches => format!("{key}\t0\t\\N\n"),
            Table::Tellers => format!("{key}\t{}\t0\t\\N\n", (key - 1) / 10 + 1),
            Table::Accounts => format!("{key}\t{}\t0\t\n", (key - 1) / 100_000 + 1),
        }
    }

    proptest! {
        /// Any range of rows is the rows one by one.
        #[test]
        fn ranges_are_their_rows(
            table in prop::sample::select(Table::ALL.to_vec()),
            first in prop_oneof![1u64..300_000, 2_147_480_000u64..2_147_490_000],
            count in 0u64..3000,
        ) {
            let mut out = Vec::new();
            table.write(first, first + count, &mut out);
            let want: String = (first..first + count).map(|key| row(table, key)).collect();
            prop_assert_eq!(String::from_utf8(out).expect("text"), want);
        }
    }
}
