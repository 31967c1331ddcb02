//! pgbench's four tables, as statements for a dialect.

use pgdyno_target::dialect::{Dialect, KeyPlacement};

use super::{BIGINT_SCALE, Tpcb};
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

/// All tables in one statement, as pgbench drops them.
pub(super) fn drop_statements() -> Vec<String> {
    vec![
        "DROP TABLE IF EXISTS pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers"
            .to_owned(),
    ]
}

/// The tables with pgbench's columns and types, in pgbench's order.
pub(super) fn create_statements(tpcb: &Tpcb, dialect: &dyn Dialect) -> Vec<String> {
    let aid = if tpcb.scale() >= BIGINT_SCALE { "bigint" } else { "int" };
    let inline = dialect.key_placement() == KeyPlacement::InCreateTable;
    // pgbench writes the clause also for 100, which is the server's default.
    let fill = if dialect.table_options().fillfactor { " WITH (fillfactor=100)" } else { "" };
    let key = |column: &str| {
        if inline { format!(", PRIMARY KEY ({column})") } else { String::new() }
    };
    // The script names its columns, so a generated key does not disturb it.
    let history_key = if dialect.needs_key_on_every_table() {
        ", id uuid NOT NULL DEFAULT gen_random_uuid(), PRIMARY KEY (id)"
    } else {
        ""
    };
    vec![
        format!(
            "CREATE TABLE pgbench_history (tid int, bid int, aid {aid}, delta int, \
             mtime timestamp, filler char(22){history_key})"
        ),
        format!(
            "CREATE TABLE pgbench_tellers (tid int NOT NULL, bid int, tbalance int, \
             filler char(84){}){fill}",
            key("tid")
        ),
        format!(
            "CREATE TABLE pgbench_accounts (aid {aid} NOT NULL, bid int, abalance int, \
             filler char(84){}){fill}",
            key("aid")
        ),
        format!(
            "CREATE TABLE pgbench_branches (bid int NOT NULL, bbalance int, \
             filler char(88){}){fill}",
            key("bid")
        ),
    ]
}

/// Primary keys after the load, where that is the fast way. The large table
/// stands first: with several connections it then starts first.
pub(super) fn key_statements(dialect: &dyn Dialect) -> Vec<TableStatement> {
    if dialect.key_placement() == KeyPlacement::InCreateTable {
        return Vec::new();
    }
    [("pgbench_accounts", "aid"), ("pgbench_tellers", "tid"), ("pgbench_branches", "bid")]
        .into_iter()
        .map(|(table, column)| TableStatement {
            table,
            sql: format!("ALTER TABLE {table} ADD PRIMARY KEY ({column})"),
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
    use pgdyno_target::dialect::{Evidence, TableOptions, postgres};

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
            assert!(ddl[0].contains(&format!("aid {kind},")), "{}", ddl[0]);
        }
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
        assert_eq!(key_statements(postgres()).len(), 3);
        assert!(accounts_ddl(1, &Strict).ends_with("filler char(84), PRIMARY KEY (aid))"));
        assert!(key_statements(&Strict).is_empty() && settle_statements(&Strict).is_empty());
        let history = &create_statements(&Tpcb::new(Variant::TpcbLike, 1), &Strict)[0];
        assert!(history.contains("PRIMARY KEY (id)"), "{history}");
    }
}
