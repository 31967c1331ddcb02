//! How large a workload's tables are on disk, before they are made.
//!
//! A size is a sum over tables: rows times the bytes of a row with its keys
//! and indexes. The bytes were measured on PostgreSQL; for other databases
//! they are taken from there, with a factor and with the doubt said
//! ([`SizeBasis`]). Loaded tables are meant: a run adds rows and dead rows.

use pgdyno_target::dialect::{Dialect, SizeBasis, SizeRelation, postgres};

use crate::registry::{Choice, MakeError, SCALE_MAX, make};
use crate::workload::Workload;

/// An expected size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expected {
    /// All tables with keys and indexes.
    pub bytes: u64,
    /// Where it comes from.
    pub basis: SizeBasis,
}

/// Pages that each table and index has whatever it holds: 8 KiB for the first
/// page, a free-space map of 24 KiB and a visibility map of 8 KiB.
const TABLE_BYTES_FIXED: u64 = 40 << 10;

impl Expected {
    /// Whether a found size of so many tables is as expected.
    #[must_use]
    pub fn fits(self, found: u64, tables: usize) -> bool {
        let slack = TABLE_BYTES_FIXED * 2 * tables as u64;
        let expected = self.bytes as f64;
        let off = self.basis.tolerance() * expected + slack as f64;
        (found as f64 - expected).abs() <= off
    }
}

/// Bytes of a row on PostgreSQL: in the table, in its key, and in each further
/// index. Measured as `pg_table_size` and `pg_indexes_size` after `pgdyno init`
/// on PostgreSQL 15.18 and 18: 2,000,000 rows of pgbench's accounts and of the
/// tables `hotspot`, `scan` and `insert`, 1,000,000 of the other two; between
/// 2,000,000 and 200,000 rows, and between the two majors, they differ by less
/// than 1 %. Branches and tellers, which are small, as published for 50,000
/// and 500,000 rows. TPC-C's at 4 warehouses.
const ROWS: &[(&str, f64, f64)] = &[
    ("pgbench_accounts", 134.4 + 22.5, 22.5),
    ("pgbench_tellers", 42.0 + 22.5, 22.5),
    ("pgbench_branches", 38.0 + 22.5, 22.5),
    ("pgdyno_update", 52.3 + 22.5, 22.5),
    // Equal values share an index entry; four of the five have some.
    ("pgdyno_insert", 68.3, 18.3),
    ("pgdyno_transfer_accounts", 52.3 + 22.5, 22.5),
    ("pgdyno_hotspot", 134.4 + 22.5, 22.5),
    ("pgdyno_scan", 134.4 + 31.6, 22.5),
    ("customer", 687.2 + 31.5, 61.1),
    // A fillfactor of 10 leaves room for eight rows to a page.
    ("district", 1024.0 + 22.5, 22.5),
    ("history", 88.7, 22.5),
    ("item", 106.8 + 22.6, 22.5),
    ("new_order", 45.3 + 31.9, 31.9),
    ("order_line", 95.6 + 31.6, 31.6),
    ("orders", 66.2 + 31.7, 31.7),
    ("stock", 390.4 + 22.5, 22.5),
    ("tpcc_parameters", 64.0, 22.5),
    ("warehouse", 1024.0 + 22.5, 22.5),
];

/// The expected size of freshly loaded tables; `None` where nothing is known
/// of one of them.
#[must_use]
pub fn expected(workload: &dyn Workload, dialect: &dyn Dialect) -> Option<Expected> {
    let mut bytes = 0.0;
    // As many indexes as PostgreSQL makes apart from the keys, whatever words
    // this dialect has for them.
    let statements = workload.key_statements(postgres());
    for table in workload.tables().iter().filter(|table| table.rows > 0) {
        let (_, row, index) = ROWS.iter().find(|(name, ..)| *name == table.name)?;
        let indexes = statements
            .iter()
            .filter(|one| one.table == table.name && one.sql.contains(" INDEX "))
            .count();
        bytes += table.rows as f64 * (row + index * indexes as f64);
    }
    let SizeRelation { factor, basis } = dialect.size_relation();
    Some(Expected { bytes: (bytes * factor) as u64, basis })
}

/// Which scale has a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sized {
    /// The scale, at least 1.
    pub scale: u64,
    /// The size at this scale.
    pub expected: Expected,
    /// What each further unit of scale adds, in bytes.
    pub unit_bytes: u64,
}

/// The largest scale whose tables take no more than `bytes`, or 1; `None`
/// where nothing is known of the tables' size.
///
/// # Errors
/// The workload cannot be made.
pub fn scale_for(
    name: &str,
    params: &[(String, String)],
    dialect: &dyn Dialect,
    bytes: u64,
) -> Result<Option<Sized>, MakeError> {
    let at = |scale| {
        let workload = make(&Choice { name, scale, params })?;
        Ok::<_, MakeError>(expected(workload.as_ref(), dialect))
    };
    // Far enough apart that rounding to bytes is not seen.
    const FAR: u64 = 1000;
    let (Some(one), Some(far)) = (at(1)?, at(FAR + 1)?) else { return Ok(None) };
    let unit_bytes = ((far.bytes - one.bytes) / FAR).max(1);
    // Halved until it is exact: a division of rounded bytes may be a unit off,
    // and a unit takes more from the scale on at which keys get wider.
    let (mut scale, mut too_large) = (1, SCALE_MAX + 1);
    while too_large - scale > 1 {
        let middle = scale + (too_large - scale) / 2;
        match at(middle)?.is_some_and(|expected| expected.bytes <= bytes) {
            true => scale = middle,
            false => too_large = middle,
        }
    }
    Ok(at(scale)?.map(|expected| Sized { scale, expected, unit_bytes }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::workloads;
    use pgdyno_target::dialects;

    /// A scale's size is as asked for, and the next scale's is larger.
    #[test]
    fn scale_is_the_largest_that_fits() {
        const GIB: u64 = 1 << 30;
        for entry in workloads() {
            for bytes in [GIB, 320 * GIB, 9000 * GIB] {
                let Some(sized) = scale_for(entry.name, &[], postgres(), bytes).unwrap() else {
                    continue;
                };
                assert!(sized.expected.bytes <= bytes, "{}", entry.name);
                let scale = sized.scale + 1;
                let next = make(&Choice { name: entry.name, scale, params: &[] }).unwrap();
                let next = expected(next.as_ref(), postgres()).unwrap();
                assert!(next.bytes > bytes, "{}: also scale {scale} fits", entry.name);
            }
        }
    }

    /// The measured sizes are those that were read from the servers: scale 20
    /// on PostgreSQL 15, tables and indexes.
    #[test]
    fn sizes_are_the_measured_ones() {
        type Case = (&'static str, Option<(&'static str, &'static str)>, u64, u64);
        let cases: [Case; 8] = [
            ("tpcb", None, 20, 268_697_600 + 44_949_504 + 122_880),
            ("update", Some(("index", "0")), 1000, 52_232_192 + 22_487_040),
            ("update", Some(("index", "2")), 1000, 52_224_000 + 67_461_120),
            ("insert", Some(("indexes", "5")), 20, 136_609_792 + 182_657_024),
            ("transfer", None, 1000, 52_224_000 + 22_487_040),
            ("hotspot", None, 20, 268_697_600 + 44_949_504),
            ("scan", None, 20, 268_697_600 + 63_102_976),
            ("tpcc", None, 4, 453_435_392),
        ];
        for (name, params, scale, found) in cases {
            let params: Vec<(String, String)> =
                params.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
            let workload = make(&Choice { name, scale, params: &params }).unwrap();
            let expected = expected(workload.as_ref(), postgres()).unwrap();
            let off = (expected.bytes as f64 / found as f64 - 1.0).abs();
            assert!(off < 0.01, "{name}: {} for {found}", expected.bytes);
        }
    }

    /// Published sizes are met: AlloyDB's 731 GB of accounts at scale 50,000,
    /// and Limitless' 170.5 thousand million bytes at scale 10,000.
    #[test]
    fn published_sizes_are_met() {
        let at = |dialect: &str, scale| {
            let dialect = pgdyno_target::dialect_by_name(dialect).unwrap();
            let workload = make(&Choice { name: "tpcb", scale, params: &[] }).unwrap();
            expected(workload.as_ref(), dialect).unwrap().bytes as f64
        };
        assert!((at("alloydb", 50_000) / (731u64 << 30) as f64 - 1.0).abs() < 0.02);
        assert!((at("aurora-limitless", 10_000) / 170_537_803_338.0 - 1.0).abs() < 0.02);
    }

    /// Every dialect has a size for every table that is known, and what is off
    /// by more than the tolerance does not fit.
    #[test]
    fn tolerance_is_as_stated() {
        for dialect in dialects() {
            let workload = make(&Choice { name: "tpcb", scale: 100, params: &[] }).unwrap();
            let expected = expected(workload.as_ref(), *dialect).unwrap();
            let times = |factor: f64| (expected.bytes as f64 * factor) as u64;
            let within = expected.basis.tolerance() * 0.99;
            assert!(expected.fits(times(1.0 + within), 4) && expected.fits(times(1.0 - within), 4));
            assert!(!expected.fits(times(1.01 + expected.basis.tolerance()), 4));
        }
    }
}
