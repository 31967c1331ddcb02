//! Amazon Aurora PostgreSQL Limitless Database: PostgreSQL behind routers that
//! spread tables over shards.

use pgdyno_token::Service;

use super::by_question;
use crate::ddl::{self, Spread, TableSpec};
use crate::detect::{Probe, ProbeError};
use crate::dialect::{
    Dialect, Difference, Evidence, ForeignKeys, Isolation, KeyPlacement, RetryClass, SizeBasis,
    SizeRelation, TableOptions,
};
use crate::discovery::Discovery;
use crate::statistics::{PlanFigures, Statistics, StatisticsQuery, postgres, waits};

/// Amazon Aurora PostgreSQL Limitless Database.
#[derive(Debug, Clone, Copy)]
pub(super) struct AuroraLimitless;

impl Dialect for AuroraLimitless {
    fn name(&self) -> &'static str {
        "aurora-limitless"
    }

    fn title(&self) -> &'static str {
        "Amazon Aurora PostgreSQL Limitless Database"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["limitless"]
    }

    fn recognise(&self, probe: &mut dyn Probe) -> Result<Option<Evidence>, ProbeError> {
        let question = "SELECT to_regclass('rds_aurora.limitless_subclusters')::text, version()";
        by_question(
            probe,
            question,
            |v| v.ends_with("limitless_subclusters"),
            "there is a relation of Limitless",
        )
    }

    /// Whether a router takes both in one transaction is not documented.
    fn ddl_in_transactions(&self) -> bool {
        false
    }

    fn token_service(&self) -> Option<Service> {
        Some(Service::Rds)
    }

    fn differences(&self) -> &'static [Difference] {
        &DIFFERENCES
    }

    fn table_options(&self) -> TableOptions {
        TableOptions { fillfactor: false, unlogged: true, tablespace: false, partitions: false }
    }

    /// Late keys are accepted. In place, a key that cannot be enforced within
    /// one shard is refused before the load and not after it.
    fn key_placement(&self) -> KeyPlacement {
        KeyPlacement::InCreateTable
    }

    /// Between collocated tables along the shard key, or to reference
    /// tables.
    fn foreign_keys(&self) -> ForeignKeys {
        ForeignKeys::WithinShard
    }

    fn create_table(&self, spec: &TableSpec<'_>) -> Vec<String> {
        let key = spec.key_with_shard_key().join(", ");
        let create = ddl::create_table(self, spec, &key, "");
        let set = |name: &str, value: &str| {
            format!("SET rds_aurora.limitless_create_table_{name} = '{value}'")
        };
        let reset = |name: &str| format!("RESET rds_aurora.limitless_create_table_{name}");
        match spec.spread {
            Spread::Anywhere => vec![create],
            Spread::Everywhere => {
                vec![set("mode", "reference"), create, reset("mode")]
            }
            Spread::By { by, beside } => {
                let mut all =
                    vec![set("mode", "sharded"), set("shard_key", &format!("{{\"{by}\"}}"))];
                all.extend(beside.map(|table| set("collocate_with", table)));
                all.push(create);
                all.extend(beside.map(|_| reset("collocate_with")));
                all.push(reset("shard_key"));
                all.push(reset("mode"));
                all
            }
        }
    }

    fn add_key(&self, _: &TableSpec<'_>) -> Option<String> {
        None
    }

    /// "cannot perform COPY FREEZE because the table was not created or
    /// truncated in the current subtransaction", on every kind of table.
    fn can_copy_freeze(&self, _: Option<u32>) -> bool {
        false
    }

    fn checkpoint_statement(&self) -> Option<&'static str> {
        None
    }

    /// The routers. The name of the shard group leads to one of them.
    fn discovery(&self) -> Option<Discovery> {
        Some(Discovery {
            query: "SELECT router_endpoint FROM aurora_limitless_router_endpoints() ORDER BY 1",
            by: "aurora_limitless_router_endpoints()",
            keeps_given: false,
        })
    }

    fn isolation_levels(&self) -> &'static [Isolation] {
        &[Isolation::ReadCommitted, Isolation::RepeatableRead]
    }

    /// A deadlock over several shards has a text of its own; its state is not
    /// documented.
    fn classify(&self, sqlstate: &str, message: &str) -> RetryClass {
        match sqlstate {
            "40001" => RetryClass::Serialization,
            "40P01" => RetryClass::Deadlock,
            "40003" | "08007" => RetryClass::OutcomeUnknown,
            _ if message.contains("distributed deadlock") => RetryClass::Deadlock,
            _ => RetryClass::NotRetryable,
        }
    }

    /// The routers' and shards' own counts of statements, and how many of the
    /// calls were served by one shard alone (Aurora User Guide, single-shard
    /// queries). The other views speak of the router that was asked.
    fn statistics(&self, version_num: Option<u32>) -> Statistics {
        let mut all = postgres::statistics(version_num, self.database_size_query());
        all.queries.push(
            StatisticsQuery::counters(
                "limitless_stat_statements",
                "SELECT subcluster_id, subcluster_type, query, calls, sso_calls \
                 FROM rds_aurora.limitless_stat_statements",
            )
            .labelled(&["subcluster_id", "subcluster_type", "query"])
            .top(20, &["calls"]),
        );
        all.queries.push(waits::limitless());
        all.waits_now = None;
        all.plans = Some(PlanFigures {
            explain: "EXPLAIN",
            numbers: &[],
            marks: &[("Single Shard Optimized", "single_shard")],
        });
        all
    }

    /// Sizes are told per subcluster, by functions whose shape differs
    /// between releases.
    fn database_size_query(&self) -> Option<&'static str> {
        None
    }

    fn table_size_query(&self) -> Option<&'static str> {
        None
    }

    /// Rows and their indexes are in the shards, whose catalogs a router does
    /// not show.
    fn indexes_query(&self, _: &[&str]) -> Option<String> {
        None
    }

    fn no_jit_statements(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    fn row_estimates_query(&self, _: &[&str]) -> Option<String> {
        None
    }

    /// 170.5 GB over all shards for pgbench's tables at scale 10,000
    /// ("Benchmarking Amazon Aurora Limitless with pgbench"); PostgreSQL's take
    /// 157 GB.
    fn size_relation(&self) -> SizeRelation {
        SizeRelation { factor: 1.09, basis: SizeBasis::Published }
    }
}

const DDL: &str = "Amazon Aurora User Guide, Limitless Database, DDL limitations";

static DIFFERENCES: [Difference; 8] = [
    Difference::new(
        "tables are sharded and collocated by session variables around CREATE TABLE",
        "without them tables are standard ones: all data on one shard",
        "Amazon Aurora User Guide, creating sharded and reference tables by using variables",
    ),
    Difference::new(
        "the shard key is in every primary key, as the last column",
        "unique indexes must contain the whole shard key",
        DDL,
    ),
    Difference::new(
        "no fillfactor and no partitions",
        "storage parameters and PARTITION BY are refused; a run of 2024 got past a fillfactor",
        DDL,
    )
    .unverified(),
    Difference::new(
        "COPY without FREEZE, over as many connections as wanted",
        "FREEZE is refused; a router has to place every row by itself",
        "Amazon Aurora User Guide, loading data into Limitless Database",
    ),
    Difference::new(
        "a distributed deadlock may be tried again, whatever its SQLSTATE",
        "its text is documented, its SQLSTATE is not",
        "Amazon Aurora User Guide, Limitless Database, distributed deadlocks",
    )
    .unverified(),
    Difference::new(
        "read committed and repeatable read only",
        "serializable is not announced",
        "Amazon Aurora User Guide, Limitless Database, transactions",
    )
    .unverified(),
    Difference::new(
        "no CHECKPOINT, no sizes in the record",
        "sizes are kept per subcluster",
        "Amazon Aurora User Guide, Limitless Database, statistics functions",
    )
    .unverified(),
    Difference::new(
        "clients are dealt over the routers of aurora_limitless_router_endpoints()",
        "a burst of connections by the name of the shard group tends to land on one router",
        "Amazon Aurora User Guide, Limitless Database, connecting",
    ),
];
