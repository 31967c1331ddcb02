//! pgbench's four tables, as statements for a dialect.

use pgdyno_target::ddl::{Spread, TableSpec};
use pgdyno_target::dialect::Dialect;

use super::{BIGINT_SCALE, BIGINT_TELLERS_SCALE, Tpcb};
use crate::workload::{KeySum, Table, TableStatement, Workload};

/// Position of `pgbench_branches` among the tables.
pub(super) const BRANCHES: usize = 0;
/// Position of `pgbench_tellers`.
pub(super) const TELLERS: usize = 1;
/// Position of `pgbench_accounts`.
pub(super) const ACCOUNTS: usize = 2;

/// The tables in pgbench's order of loading; the small ones come first, so
/// that a mistake shows at once.
pub(super) fn tables(tpcb: &Tpcb) -> Vec<Table> {
    vec![
        Table {
            name: "pgbench_branches",
            columns: &["bid", "bbalance", "filler"],
            rows: tpcb.scale(),
            // Key of 10 digits, "\t0\t\\N\n".
            row_bytes_max: 16,
            key_sum: Some(KeySum::counting("bid", tpcb.scale())),
        },
        Table {
            name: "pgbench_tellers",
            columns: &["tid", "bid", "tbalance", "filler"],
            rows: tpcb.tellers(),
            // Keys of 11 and 10 digits, "\t", "\t0\t\\N\n".
            row_bytes_max: 28,
            key_sum: Some(KeySum::counting("tid", tpcb.tellers())),
        },
        Table {
            name: "pgbench_accounts",
            columns: &["aid", "bid", "abalance", "filler"],
            rows: tpcb.accounts(),
            // Keys of 15 and 10 digits, "\t", "\t0\t\n".
            row_bytes_max: 30,
            key_sum: Some(KeySum::counting("aid", tpcb.accounts())),
        },
        Table {
            name: "pgbench_history",
            columns: &["tid", "bid", "aid", "delta", "mtime", "filler"],
            rows: 0,
            row_bytes_max: 0,
            key_sum: None,
        },
    ]
}

/// All four, the large ones first.
const NAMES: [&str; 4] =
    ["pgbench_accounts", "pgbench_branches", "pgbench_history", "pgbench_tellers"];

/// Drops all tables, in the way of the dialect.
pub(super) fn drop_statements(dialect: &dyn Dialect) -> Vec<String> {
    dialect.drop_tables(&NAMES)
}

/// A table's columns with their types.
type Columns = Vec<(&'static str, &'static str)>;

fn columns(tpcb: &Tpcb, table: &str) -> Columns {
    let kind = |bigint_from| {
        let is_wide = tpcb.scale() >= bigint_from;
        if is_wide { ("bigint NOT NULL", "bigint") } else { ("int NOT NULL", "int") }
    };
    let (aid_key, aid) = kind(BIGINT_SCALE);
    let (tid_key, tid) = kind(BIGINT_TELLERS_SCALE);
    match table {
        "pgbench_branches" => {
            vec![("bid", "int NOT NULL"), ("bbalance", "int"), ("filler", "char(88)")]
        }
        "pgbench_tellers" => {
            vec![("tid", tid_key), ("bid", "int"), ("tbalance", "int"), ("filler", "char(84)")]
        }
        "pgbench_accounts" => {
            vec![("aid", aid_key), ("bid", "int"), ("abalance", "int"), ("filler", "char(84)")]
        }
        _ => vec![
            ("tid", tid),
            ("bid", "int"),
            ("aid", aid),
            ("delta", "int"),
            ("mtime", "timestamp"),
            ("filler", "char(22)"),
        ],
    }
}

/// A table with its primary key and without its columns. Where tables are
/// spread, a branch and all that belongs to it are together, so the branches
/// come first: the others are put beside them.
fn specs(tpcb: &Tpcb) -> [TableSpec<'static>; 4] {
    const BESIDE: Spread<'static> = Spread::By { by: "bid", beside: Some("pgbench_branches") };
    let spec = |name, key, spread, fillfactor| TableSpec {
        name,
        columns: &[],
        key,
        spread,
        fillfactor,
        pieces: tpcb.pieces,
    };
    // pgbench writes the clause also for 100, which is the server's default.
    [
        spec("pgbench_branches", &["bid"], Spread::By { by: "bid", beside: None }, Some(100)),
        spec("pgbench_tellers", &["tid"], BESIDE, Some(100)),
        spec("pgbench_accounts", &["aid"], BESIDE, Some(100)),
        spec("pgbench_history", &[], BESIDE, None),
    ]
}

/// The tables with pgbench's columns and types.
pub(super) fn create_statements(tpcb: &Tpcb, dialect: &dyn Dialect) -> Vec<String> {
    let made = |spec: &TableSpec<'static>| {
        let columns = columns(tpcb, spec.name);
        dialect.create_table(&TableSpec { columns: &columns, ..*spec })
    };
    specs(tpcb).iter().flat_map(made).collect()
}

/// Primary keys after the load, where that is the fast way. The large table
/// stands first: with several connections it then starts first.
pub(super) fn key_statements(tpcb: &Tpcb, dialect: &dyn Dialect) -> Vec<TableStatement> {
    let mut specs = specs(tpcb);
    specs.sort_by_key(|spec| spec.name != "pgbench_accounts");
    specs
        .iter()
        .filter_map(|spec| {
            dialect.add_key(spec).map(|sql| TableStatement { table: spec.name, sql })
        })
        .collect()
}

/// Statistics (and, where the dialect has it, a vacuum) of every table.
pub(super) fn settle_statements(dialect: &dyn Dialect) -> Vec<TableStatement> {
    ["pgbench_accounts", "pgbench_tellers", "pgbench_branches", "pgbench_history"]
        .into_iter()
        .filter_map(|table| {
            dialect.statistics_statement(table).map(|sql| TableStatement { table, sql })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tpcb::Variant;
    use pgdyno_target::detect::{Probe, ProbeError};
    use pgdyno_target::dialect::{Evidence, KeyPlacement, TableOptions, postgres};

    /// A database that is as unlike PostgreSQL as the dialects allow.
    #[derive(Debug)]
    struct Strict;

    impl Dialect for Strict {
        fn name(&self) -> &'static str {
            "strict"
        }

        fn title(&self) -> &'static str {
            "Strict"
        }

        fn recognise(&self, _: &mut dyn Probe) -> Result<Option<Evidence>, ProbeError> {
            Ok(None)
        }

        fn table_options(&self) -> TableOptions {
            TableOptions {
                fillfactor: false,
                unlogged: false,
                tablespace: false,
                partitions: false,
            }
        }

        fn key_placement(&self) -> KeyPlacement {
            KeyPlacement::InCreateTable
        }

        fn needs_key_on_every_table(&self) -> bool {
            true
        }

        fn statistics_statement(&self, _: &str) -> Option<String> {
            None
        }
    }

    fn accounts_ddl(scale: u64, dialect: &dyn Dialect) -> String {
        create_statements(&Tpcb::new(Variant::TpcbLike, scale), dialect)[2].clone()
    }

    /// Account numbers have 64 bits exactly from scale 20,000 on, as with pgbench.
    #[test]
    fn bigint_from_scale_20000() {
        for (scale, kind) in
            [(1, "int"), (19_999, "int"), (20_000, "bigint"), (1_000_000, "bigint")]
        {
            let tpcb = Tpcb::new(Variant::TpcbLike, scale);
            let ddl = create_statements(&tpcb, postgres());
            assert!(ddl[2].contains(&format!("(aid {kind} NOT NULL")), "{}", ddl[2]);
            assert!(ddl[3].contains(&format!("aid {kind},")), "{}", ddl[3]);
        }
    }

    /// Every column takes the largest key that is loaded into it, at every scale
    /// around which a key outgrows its type.
    #[test]
    fn columns_take_all_keys() {
        for scale in [
            1,
            19_999,
            20_000,
            21_474,
            21_475,
            1_000_000,
            BIGINT_TELLERS_SCALE - 1,
            BIGINT_TELLERS_SCALE,
            crate::registry::SCALE_MAX,
        ] {
            let tpcb = Tpcb::new(Variant::TpcbLike, scale);
            for (table, columns) in [
                ("pgbench_branches", vec![("bid", scale)]),
                ("pgbench_tellers", vec![("tid", tpcb.tellers()), ("bid", scale)]),
                ("pgbench_accounts", vec![("aid", tpcb.accounts()), ("bid", scale)]),
                (
                    "pgbench_history",
                    vec![("tid", tpcb.tellers()), ("aid", tpcb.accounts()), ("bid", scale)],
                ),
            ] {
                let types = super::columns(&tpcb, table);
                for (column, last) in columns {
                    let (_, kind) = types.iter().find(|(name, _)| *name == column).unwrap();
                    let most =
                        if kind.starts_with("bigint") { i64::MAX as u64 } else { i32::MAX as u64 };
                    assert!(last <= most, "{table}.{column} {kind} at {scale}");
                }
            }
        }
        assert_eq!(BIGINT_TELLERS_SCALE, 214_748_365);
    }

    /// Row bounds hold for the largest keys of the largest scale.
    #[test]
    fn row_bounds_hold_at_the_largest_scale() {
        let tpcb = Tpcb::new(Variant::TpcbLike, crate::registry::SCALE_MAX);
        for (number, table) in tables(&tpcb).iter().enumerate().filter(|(_, t)| t.rows > 0) {
            let mut out = Vec::new();
            tpcb.write_rows(number, table.rows - 1..table.rows, 0, &mut out);
            assert!(out.len() <= table.row_bytes_max as usize, "{}: {}", table.name, out.len());
        }
    }

    /// Keys are in the table where the dialect wants them there, and nowhere twice.
    #[test]
    fn keys_follow_the_dialect() {
        assert!(accounts_ddl(1, postgres()).ends_with("filler char(84)) WITH (fillfactor=100)"));
        let tpcb = Tpcb::new(Variant::TpcbLike, 1);
        let keys = key_statements(&tpcb, postgres());
        assert_eq!(keys.len(), 3);
        assert_eq!(keys[0].sql, "ALTER TABLE pgbench_accounts ADD PRIMARY KEY (aid)");
        assert!(accounts_ddl(1, &Strict).ends_with("filler char(84), PRIMARY KEY (aid))"));
        assert!(key_statements(&tpcb, &Strict).is_empty() && settle_statements(&Strict).is_empty());
        let history = &create_statements(&tpcb, &Strict)[3];
        assert!(history.contains("PRIMARY KEY (id)"), "{history}");
    }
}
