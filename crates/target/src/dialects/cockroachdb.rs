//! CockroachDB: PostgreSQL's protocol on a distributed key-value store.

use super::reported_version;
use crate::ddl::{self, Spread, TableSpec};
use crate::detect::{Probe, ProbeError};
use crate::dialect::{
    Dialect, Difference, Evidence, Isolation, KeyPlacement, LoadBatch, ResetMethod, SizeRelation,
    TableOptions,
};
use crate::discovery::Discovery;
use crate::params::{Given, Largest, TableParam, TableParamError};
use crate::statistics::{PlanFigures, Statistics, StatisticsQuery};

/// Rows in one COPY. A COPY is one transaction since release 22.2, and a
/// transaction's writes are kept in memory until it commits.
const BATCH_ROWS: u64 = 10_000;

/// CockroachDB.
#[derive(Debug, Clone, Copy)]
pub(super) struct CockroachDb {
    locality: Option<Locality>,
}

/// Where the rows of a table are at home, in a database of several regions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Locality {
    /// Each row in the region that inserted it.
    RegionalByRow,
    /// Everywhere: reads are local, writes are slow.
    Global,
}

impl CockroachDb {
    /// With tables as workloads want them.
    pub(super) const PLAIN: Self = Self { locality: None };
}

const LOCALITY: &str = "locality";

const PARAMS: &[TableParam] = &[TableParam {
    name: LOCALITY,
    help: "regional-by-row (small tables that are read much become global) or global, in a \
           database of several regions [default: the database's]",
}];

impl Dialect for CockroachDb {
    fn name(&self) -> &'static str {
        "cockroachdb"
    }

    fn title(&self) -> &'static str {
        "CockroachDB"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["cockroach", "crdb"]
    }

    fn recognise(&self, probe: &mut dyn Probe) -> Result<Option<Evidence>, ProbeError> {
        let Some(version) = probe.parameter("crdb_version").filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        // The protocol's version is that of the PostgreSQL which is imitated.
        let (_, version_num) = reported_version(probe);
        let how = "it reports the parameter crdb_version".to_owned();
        Ok(Some(Evidence { version, version_num, how }))
    }

    /// A change of the schema goes on in the background after its transaction.
    fn ddl_in_transactions(&self) -> bool {
        false
    }

    fn differences(&self) -> &'static [Difference] {
        &DIFFERENCES
    }

    /// A job that fails takes its index away again.
    fn invalid_indexes_query(&self, _: &[&str]) -> Option<String> {
        None
    }

    fn indexes_query(&self, _: &[&str]) -> Option<String> {
        None
    }

    fn no_jit_statements(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    fn row_estimates_query(&self, _: &[&str]) -> Option<String> {
        None
    }

    fn table_options(&self) -> TableOptions {
        TableOptions { fillfactor: false, unlogged: false, tablespace: false, partitions: false }
    }

    fn key_placement(&self) -> KeyPlacement {
        KeyPlacement::InCreateTable
    }

    /// There is a part of it since release 23.2; loops over queries are not.
    fn has_plpgsql(&self) -> bool {
        false
    }

    /// The hidden key grows with time, so all inserts would meet in one range.
    fn needs_key_on_every_table(&self) -> bool {
        true
    }

    fn pieces(&self) -> Option<&'static str> {
        Some("hash buckets of the keys")
    }

    fn create_table(&self, spec: &TableSpec<'_>) -> Vec<String> {
        let columns = spec.key.join(", ");
        let global = " LOCALITY GLOBAL";
        let locality = match self.locality {
            None => "",
            Some(Locality::RegionalByRow) if spec.spread == Spread::Everywhere => global,
            Some(Locality::RegionalByRow) => " LOCALITY REGIONAL BY ROW",
            Some(Locality::Global) => global,
        };
        let mut create = ddl::create_table(self, spec, &columns, locality);
        if let Some(buckets) = spec.pieces.filter(|_| !spec.key.is_empty()) {
            let plain = format!("PRIMARY KEY ({columns})");
            let hashed = format!("{plain} USING HASH WITH (bucket_count = {buckets})");
            create = create.replace(&plain, &hashed);
        }
        vec![create]
    }

    /// Its `/` gives a decimal.
    fn integer_division(&self, a: &str, b: &str) -> String {
        format!("{a} // {b}")
    }

    fn load_batch(&self) -> LoadBatch {
        LoadBatch { rows: Some(BATCH_ROWS), bytes: None }
    }

    /// Its `server_version` says 13; one that says 14 would still refuse.
    fn can_copy_freeze(&self, _: Option<u32>) -> bool {
        false
    }

    /// TRUNCATE is a change of the schema, and not part of a transaction.
    fn reset_method(&self) -> ResetMethod {
        ResetMethod::DropAndCreate
    }

    fn truncate_statement(&self, _: &[&str]) -> Option<String> {
        None
    }

    fn vacuum_statement(&self, _: &str) -> Option<String> {
        None
    }

    fn statistics_statement(&self, table: &str) -> Option<String> {
        Some(format!("CREATE STATISTICS pgdyno FROM {table}"))
    }

    fn checkpoint_statement(&self) -> Option<&'static str> {
        None
    }

    /// Every node is an equal gateway. The table is there for looking, and a
    /// release may hide it.
    fn discovery(&self) -> Option<Discovery> {
        Some(Discovery {
            query: "SELECT advertise_sql_address FROM crdb_internal.gossip_nodes \
                    WHERE is_live ORDER BY node_id",
            by: "crdb_internal.gossip_nodes",
            keeps_given: false,
        })
    }

    fn isolation_levels(&self) -> &'static [Isolation] {
        &[Isolation::Serializable, Isolation::ReadCommitted, Isolation::RepeatableRead]
    }

    /// Contention (CockroachDB documentation, transaction contention), which is
    /// what its transactions wait for. The events lie in a buffer of limited
    /// size; the columns of the others are not documented for good.
    fn statistics(&self, _: Option<u32>) -> Statistics {
        let events = "SELECT count(*) AS events, \
            coalesce(sum(extract(epoch FROM contention_duration)), 0) AS wait_s \
            FROM crdb_internal.transaction_contention_events \
            WHERE collection_ts > now() - INTERVAL '{seconds} seconds'";
        let contended = |name, sql| StatisticsQuery::counters(name, sql).unverified();
        Statistics {
            queries: vec![
                contended("transaction_contention_events", events),
                contended(
                    "cluster_contended_tables",
                    "SELECT * FROM crdb_internal.cluster_contended_tables",
                ),
                contended(
                    "cluster_contended_indexes",
                    "SELECT * FROM crdb_internal.cluster_contended_indexes",
                ),
            ],
            sessions: None,
            plans: Some(PlanFigures {
                explain: "EXPLAIN ANALYZE",
                numbers: &[
                    ("rows decoded from KV", "kv_rows"),
                    ("KV gRPC calls", "kv_calls"),
                    ("estimated RUs consumed", "request_units"),
                ],
                marks: &[("distribution: full", "is_distributed")],
            }),
            waits_now: None,
        }
    }

    fn database_size_query(&self) -> Option<&'static str> {
        None
    }

    fn table_size_query(&self) -> Option<&'static str> {
        None
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
        let words = [("regional-by-row", Locality::RegionalByRow), ("global", Locality::Global)];
        let given = Given::new(self, params)?;
        let locality = given.word(LOCALITY, &words, "regional-by-row or global")?;
        Ok(Some(super::for_good(Self { locality })))
    }

    fn table_params_in_effect(&self) -> Vec<(&'static str, String)> {
        let word = self.locality.map(|locality| match locality {
            Locality::RegionalByRow => "regional-by-row",
            Locality::Global => "global",
        });
        word.map(|word| (LOCALITY, word.to_owned())).into_iter().collect()
    }
}

static DIFFERENCES: [Difference; 10] = [
    Difference::new(
        "primary keys stand in CREATE TABLE",
        "a late key rewrites the table: 27 of 32 s of a published pgbench -i",
        "CockroachDB documentation, ALTER TABLE",
    ),
    Difference::new(
        "append-only tables get a uuid key",
        "the hidden rowid grows with time and makes one hot range",
        "CockroachDB documentation, SQL performance best practices",
    ),
    Difference::new(
        "hash-sharded keys on request (--param pieces=N)",
        "ordered keys that are written in order meet in one range",
        "CockroachDB documentation, hash-sharded indexes",
    ),
    Difference::new(
        "REGIONAL BY ROW and GLOBAL tables on request (--param locality=…)",
        "the home of a row decides how far its reads and writes travel; the database must have \
         several regions",
        "CockroachDB documentation, table localities",
    ),
    Difference::new(
        "rows come in COPYs of 10,000, each a transaction; --load-method insert where COPY is \
         refused",
        "a COPY is one transaction; the manual wants the admin role for it, a published run did \
         without",
        "CockroachDB documentation, COPY FROM",
    )
    .unverified(),
    Difference::new(
        "reset drops and loads anew; no TRUNCATE, no VACUUM",
        "TRUNCATE is a schema change; there is nothing to vacuum",
        "CockroachDB documentation, TRUNCATE",
    )
    .unverified(),
    Difference::new(
        "statistics by CREATE STATISTICS",
        "they are collected by themselves, but later",
        "CockroachDB documentation, CREATE STATISTICS",
    ),
    Difference::new(
        "the default level is serializable; the level in effect is worth a look",
        "read committed runs as serializable where sql.txn.read_committed_isolation.enabled is \
         off; repeatable read is not offered by every release",
        "CockroachDB documentation, read committed transactions",
    )
    .unverified(),
    Difference::new(
        "40001 may be tried again; 40003 means that the outcome is unknown",
        "\"restart transaction\" and \"result is ambiguous\"",
        "CockroachDB documentation, common errors",
    ),
    Difference::new(
        "clients are dealt over the live nodes of crdb_internal.gossip_nodes",
        "every node is an equal gateway; the table is not meant for production, and releases may hide it",
        "CockroachDB documentation, crdb_internal",
    )
    .unverified(),
];
