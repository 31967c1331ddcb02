//! YugabyteDB (YSQL): PostgreSQL's query layer on a distributed store.

use super::version_num;
use crate::ddl::{self, TableSpec};
use crate::detect::{Probe, ProbeError};
use crate::dialect::{
    Dialect, Difference, Evidence, KeyPlacement, LoadBatch, ResetMethod, RetryClass, SizeRelation,
    TableOptions,
};
use crate::discovery::Discovery;
use crate::params::{Given, Largest, TableParam, TableParamError};
use crate::statistics::{PlanFigures, Statistics, postgres, waits};

/// Rows in one COPY: the server commits after so many by itself
/// (`yb_default_copy_from_rows_per_transaction`), so that a larger one which
/// fails leaves a part of its rows behind and cannot be tried again.
const BATCH_ROWS: u64 = 20_000;

/// YugabyteDB.
#[derive(Debug, Clone, Copy)]
pub(super) struct YugabyteDb {
    /// In the one tablet that all colocated tables share, or not; `None` leaves
    /// it to the database.
    colocation: Option<bool>,
    keys: Option<Keys>,
}

/// How rows are spread by their key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keys {
    /// By a hash of its first column.
    Hash,
    /// In order.
    Range,
}

impl YugabyteDb {
    /// With tables as workloads want them.
    pub(super) const PLAIN: Self = Self { colocation: None, keys: None };

    /// Colocated rows are in order, in any case.
    fn in_order(&self) -> bool {
        self.keys == Some(Keys::Range) || self.colocation == Some(true)
    }
}

const COLOCATION: &str = "colocation";
const KEYS: &str = "keys";

const PARAMS: &[TableParam] = &[
    TableParam {
        name: COLOCATION,
        help: "on or off: in the one tablet of all colocated tables, in a database that was made \
               for it [default: the database's]",
    },
    TableParam {
        name: KEYS,
        help: "hash (by a key's first column) or range (in order) [default: hash; range where \
               colocated]",
    },
];

impl Dialect for YugabyteDb {
    fn name(&self) -> &'static str {
        "yugabytedb"
    }

    fn title(&self) -> &'static str {
        "YugabyteDB"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["yugabyte", "ysql"]
    }

    fn recognise(&self, probe: &mut dyn Probe) -> Result<Option<Evidence>, ProbeError> {
        let Some(version) = probe.parameter("server_version").filter(|text| text.contains("-YB-"))
        else {
            return Ok(None);
        };
        let version_num = version_num(&version);
        let how = "server_version contains -YB-".to_owned();
        Ok(Some(Evidence { version, version_num, how }))
    }

    /// A DDL statement commits by itself, whatever the transaction around it does.
    fn ddl_in_transactions(&self) -> bool {
        false
    }

    fn differences(&self) -> &'static [Difference] {
        &DIFFERENCES
    }

    fn table_options(&self) -> TableOptions {
        TableOptions { fillfactor: false, unlogged: false, tablespace: true, partitions: true }
    }

    fn key_placement(&self) -> KeyPlacement {
        KeyPlacement::InCreateTable
    }

    /// Tables in order are split at values, and colocated ones not at all.
    fn pieces(&self) -> Option<&'static str> {
        (!self.in_order()).then_some("tablets")
    }

    /// The first column is hashed, the others are in order. Said, because a
    /// setting decides what an unsaid one means.
    fn create_table(&self, spec: &TableSpec<'_>) -> Vec<String> {
        let first_way = if self.in_order() { "ASC" } else { "HASH" };
        let mut columns = spec.key.iter();
        let mut key =
            columns.next().map(|first| format!("{first} {first_way}")).unwrap_or_default();
        for column in columns {
            key.push_str(&format!(", {column} ASC"));
        }
        let colocation = self.colocation.map(|on| format!(" WITH (colocation = {on})"));
        let tablets = spec.pieces.filter(|_| !self.in_order());
        let tablets = tablets.map(|n| format!(" SPLIT INTO {n} TABLETS")).unwrap_or_default();
        let behind = colocation.unwrap_or_default() + &tablets;
        vec![ddl::create_table(self, spec, &key, &behind)]
    }

    fn load_batch(&self) -> LoadBatch {
        LoadBatch { rows: Some(BATCH_ROWS), bytes: None }
    }

    /// Current releases ignore FREEZE, older ones fail over it.
    fn can_copy_freeze(&self, _: Option<u32>) -> bool {
        false
    }

    /// TRUNCATE works, but makes the tablets anew as dropping does, and
    /// updates leave work for the compaction of the next run.
    fn reset_method(&self) -> ResetMethod {
        ResetMethod::DropAndCreate
    }

    fn vacuum_statement(&self, _: &str) -> Option<String> {
        None
    }

    fn statistics_statement(&self, table: &str) -> Option<String> {
        Some(format!("ANALYZE {table}"))
    }

    fn checkpoint_statement(&self) -> Option<&'static str> {
        None
    }

    /// All tablet servers take connections.
    fn discovery(&self) -> Option<Discovery> {
        Some(Discovery {
            query: "SELECT host, port, public_ip FROM yb_servers() ORDER BY host, port",
            by: "yb_servers()",
            keeps_given: false,
        })
    }

    fn effective_isolation_query(&self) -> Option<&'static str> {
        Some("SELECT yb_get_effective_transaction_isolation_level()")
    }

    /// Conflicts of the store that the query layer did not wrap come as
    /// internal errors with a text that says whether to try again.
    fn classify(&self, sqlstate: &str, message: &str) -> RetryClass {
        match sqlstate {
            "40001" => RetryClass::Serialization,
            "40P01" => RetryClass::Deadlock,
            "40003" | "08007" => RetryClass::OutcomeUnknown,
            "XX000" if message.contains("Try again") => RetryClass::Conflict,
            "XX000" if message.contains("Timed out") => RetryClass::OutcomeUnknown,
            _ => RetryClass::NotRetryable,
        }
    }

    /// The views of PostgreSQL's front, the history of what sessions waited for,
    /// and the requests to the store that stand below a plan (YugabyteDB documentation, EXPLAIN with DIST).
    fn statistics(&self, _: Option<u32>) -> Statistics {
        let plans = PlanFigures {
            explain: "EXPLAIN (ANALYZE, DIST, COSTS OFF)",
            numbers: &[
                ("Storage Read Requests", "storage_read_requests"),
                ("Storage Rows Scanned", "storage_rows_scanned"),
                ("Storage Write Requests", "storage_write_requests"),
                ("Storage Flush Requests", "storage_flush_requests"),
                ("Catalog Read Requests", "catalog_read_requests"),
                ("Storage Execution Time", "storage_execution_ms"),
            ],
            marks: &[],
        };
        let mut all = postgres::front_only(self.database_size_query());
        all.queries.push(waits::yugabytedb());
        Statistics { plans: Some(plans), ..all }
    }

    fn database_size_query(&self) -> Option<&'static str> {
        None
    }

    fn table_size_query(&self) -> Option<&'static str> {
        Some("SELECT pg_table_size($1::text::regclass)")
    }

    fn size_relation(&self) -> SizeRelation {
        SizeRelation::ESTIMATED
    }

    fn table_params(&self) -> &'static [TableParam] {
        PARAMS
    }

    fn with_table_params(
        &self,
        params: &[(String, String)],
        _: Option<Largest>,
    ) -> Result<Option<&'static dyn Dialect>, TableParamError> {
        let given = Given::new(self, params)?;
        let colocation = given.word(COLOCATION, &[("on", true), ("off", false)], "on or off")?;
        let words = [("hash", Keys::Hash), ("range", Keys::Range)];
        let keys = given.word(KEYS, &words, "hash or range")?;
        if colocation == Some(true) && keys == Some(Keys::Hash) {
            let reason = "colocated tables have range keys only".to_owned();
            return Err(TableParamError::Unfit { name: KEYS, reason });
        }
        Ok(Some(super::for_good(Self { colocation, keys })))
    }

    fn table_params_in_effect(&self) -> Vec<(&'static str, String)> {
        let colocation = self.colocation.map(|on| if on { "on" } else { "off" });
        let keys = self.keys.map(|keys| match keys {
            Keys::Hash => "hash",
            Keys::Range => "range",
        });
        let of = |name, word: Option<&str>| word.map(|word| (name, word.to_owned()));
        of(COLOCATION, colocation).into_iter().chain(of(KEYS, keys)).collect()
    }
}

static DIFFERENCES: [Difference; 10] = [
    Difference::new(
        "primary keys stand in CREATE TABLE, hashed by their first column",
        "a late key rewrites the table",
        "YugabyteDB documentation, CREATE TABLE",
    ),
    Difference::new(
        "SPLIT INTO n TABLETS on request (--param pieces=N)",
        "the number of tablets bounds what can be written side by side",
        "YugabyteDB documentation, tablet splitting",
    ),
    Difference::new(
        "range keys and colocated tables on request (--param keys=range, --param colocation=on)",
        "ordered keys serve scans; colocated tables share one tablet and have range keys, in a \
         database that was made for it",
        "YugabyteDB documentation, colocated tables; CREATE TABLE, primary key",
    ),
    Difference::new(
        "no fillfactor",
        "some versions ignore it, some refuse it",
        "yugabyte-db issue 21120",
    )
    .unverified(),
    Difference::new(
        "rows come in COPYs of 20,000",
        "a COPY commits after every 20,000 rows: a larger one is not atomic and cannot be tried \
         again",
        "YugabyteDB documentation, bulk import",
    ),
    Difference::new(
        "COPY without FREEZE",
        "current releases ignore it, older ones fail",
        "yugabyte-db issue 5156",
    ),
    Difference::new(
        "ANALYZE instead of VACUUM; reset drops and loads anew",
        "there is nothing to vacuum; updates leave compaction for the next run",
        "YugabyteDB documentation, ANALYZE",
    )
    .unverified(),
    Difference::new(
        "the level in effect is asked of yb_get_effective_transaction_isolation_level()",
        "read committed runs as repeatable read where yb_enable_read_committed_isolation is off",
        "YugabyteDB documentation, isolation levels",
    ),
    Difference::new(
        "XX000 with \"Try again\" may be tried again, with \"Timed out\" it is unknown",
        "errors of the store come unwrapped at times; the list is not documented",
        "YugabyteDB documentation, transaction errors",
    )
    .unverified(),
    Difference::new(
        "clients are dealt over the servers of yb_servers()",
        "every tablet server takes connections, and one name leads to one of them",
        "YugabyteDB documentation, smart drivers",
    ),
];
