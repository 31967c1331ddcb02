//! Who takes part in the suite `tpcc`, and what is known of each.

use serde::{Deserialize, Serialize};

/// Who is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::bench) enum Contender {
    /// The yardstick: select-only, which every machine can measure.
    Pgbench,
    /// pgdyno, statements of the client.
    PgdynoSql,
    /// pgdyno, one call of a routine for each transaction.
    PgdynoProcs,
    /// The same with the work of HammerDB's routines.
    PgdynoHammerdb,
    /// go-tpc: Go, statements of the client.
    GoTpc,
    /// HammerDB: Tcl, one call of a routine for each transaction.
    Hammerdb,
    /// BenchBase: Java, statements of the client.
    Benchbase,
}

/// What a run of a contender is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::bench) enum Stage {
    /// Filling the tables.
    Load,
    /// As short as the tool can: what starting and connecting costs.
    Short,
    /// Some seconds at full speed.
    Steady,
}

impl Contender {
    /// All that have tables, in the order of the table of results.
    pub(super) const WITH_TABLES: [Self; 6] = [
        Self::PgdynoSql,
        Self::PgdynoProcs,
        Self::PgdynoHammerdb,
        Self::GoTpc,
        Self::Hammerdb,
        Self::Benchbase,
    ];

    /// For people.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Pgbench => "pgbench, select-only",
            Self::PgdynoSql => "pgdyno, SQL of the client",
            Self::PgdynoProcs => "pgdyno, routines",
            Self::PgdynoHammerdb => "pgdyno, routines, HammerDB's work",
            Self::GoTpc => "go-tpc",
            Self::Hammerdb => "HammerDB",
            Self::Benchbase => "BenchBase",
        }
    }

    /// Its own database.
    pub(super) fn database(self) -> &'static str {
        match self {
            Self::Pgbench => "postgres",
            Self::PgdynoSql => "pgdyno_sql",
            Self::PgdynoProcs => "pgdyno_procs",
            Self::PgdynoHammerdb => "pgdyno_hammerdb",
            Self::GoTpc => "go_tpc",
            Self::Hammerdb => "hammerdb",
            Self::Benchbase => "benchbase",
        }
    }

    /// What its nine tables are called.
    pub(super) fn tables(self) -> [&'static str; 9] {
        let orders = if self == Self::Benchbase { "oorder" } else { "orders" };
        let rest = ["warehouse", "district", "customer", "history", "new_order", "order_line"];
        let [a, b, c, d, e, f] = rest;
        [a, b, c, d, e, f, orders, "stock", "item"]
    }

    /// Whether it makes its database itself.
    pub(super) fn makes_database(self) -> bool {
        self == Self::Hammerdb
    }

    /// The stages of one repetition. HammerDB counts in whole minutes, so that
    /// it has no short run; its start is a part of its figure, half a second
    /// of CPU in a minute.
    pub(super) fn stages(self) -> &'static [Stage] {
        match self {
            Self::Pgbench => &[Stage::Short, Stage::Steady],
            Self::Hammerdb => &[Stage::Load, Stage::Steady],
            _ => &[Stage::Load, Stage::Short, Stage::Steady],
        }
    }
}
