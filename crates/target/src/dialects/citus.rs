//! Citus: PostgreSQL with an extension that spreads tables over nodes.

use super::by_question;
use crate::ddl::{self, Spread, TableSpec};
use crate::detect::{Probe, ProbeError};
use crate::dialect::{
    Dialect, Difference, Evidence, ForeignKeys, KeyPlacement, RetryClass, SizeRelation,
};
use crate::discovery::Discovery;
use crate::statistics::{PlanFigures, Statistics, StatisticsQuery, postgres};

/// Citus, the extension or the managed services built on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Citus;

impl Dialect for Citus {
    fn name(&self) -> &'static str {
        "citus"
    }

    fn title(&self) -> &'static str {
        "Citus"
    }

    fn recognise(&self, probe: &mut dyn Probe) -> Result<Option<Evidence>, ProbeError> {
        let question = "SELECT extversion, version() FROM pg_extension WHERE extname = 'citus'";
        by_question(
            probe,
            question,
            |v| v.starts_with(|c: char| c.is_ascii_digit()),
            "the extension citus is installed",
        )
    }

    /// In a transaction that has written to one shard, a command for all shards
    /// can be refused.
    fn ddl_in_transactions(&self) -> bool {
        false
    }

    fn differences(&self) -> &'static [Difference] {
        &DIFFERENCES
    }

    /// Before distributing: afterwards it would be an ALTER TABLE on every
    /// shard.
    fn key_placement(&self) -> KeyPlacement {
        KeyPlacement::InCreateTable
    }

    /// Between collocated tables along the distribution column, or to
    /// reference tables.
    fn foreign_keys(&self) -> ForeignKeys {
        ForeignKeys::WithinShard
    }

    fn pieces(&self) -> Option<&'static str> {
        Some("shards")
    }

    fn create_table(&self, spec: &TableSpec<'_>) -> Vec<String> {
        let key = spec.key_with_shard_key().join(", ");
        let create = ddl::create_table(self, spec, &key, "");
        let name = spec.name;
        match spec.spread {
            Spread::Anywhere => vec![create],
            Spread::Everywhere => {
                vec![create, format!("SELECT create_reference_table('{name}')")]
            }
            Spread::By { by, beside: Some(beside) } => vec![
                create,
                format!(
                    "SELECT create_distributed_table('{name}', '{by}', colocate_with => '{beside}')"
                ),
            ],
            // Not with whatever else happens to have as many shards.
            Spread::By { by, beside: None } => {
                let shards =
                    spec.pieces.map(|n| format!(", shard_count => {n}")).unwrap_or_default();
                vec![
                    create,
                    format!(
                        "SELECT create_distributed_table('{name}', '{by}', \
                         colocate_with => 'none'{shards})"
                    ),
                ]
            }
        }
    }

    fn add_key(&self, _: &TableSpec<'_>) -> Option<String> {
        None
    }

    /// Distributing copies nothing, but the table that a COPY fills is then
    /// not the one that the transaction made.
    fn can_copy_freeze(&self, _: Option<u32>) -> bool {
        false
    }

    /// PostgreSQL's states, and the one case where a COMMIT over several nodes
    /// went half way. A worker that is down is an error of class 08 in a
    /// session that lives on: nothing was done, but the next try would find
    /// the worker as it is.
    fn classify(&self, sqlstate: &str, message: &str) -> RetryClass {
        match sqlstate {
            "40001" => RetryClass::Serialization,
            "40P01" => RetryClass::Deadlock,
            "40003" | "08007" => RetryClass::OutcomeUnknown,
            "XX000" if message.contains("could not commit transaction for shard") => {
                RetryClass::OutcomeUnknown
            }
            _ => RetryClass::NotRetryable,
        }
    }

    /// Workers with metadata route statements as the coordinator does. The
    /// coordinator's own row often says `localhost`; it is the given one.
    fn discovery(&self) -> Option<Discovery> {
        Some(Discovery {
            query: "SELECT nodename, nodeport FROM pg_dist_node WHERE groupid <> 0 \
                    AND noderole = 'primary' AND isactive AND hasmetadata AND metadatasynced \
                    ORDER BY nodeid",
            by: "pg_dist_node",
            keeps_given: true,
        })
    }

    /// All nodes; the coordinator's own function sees 8 KiB.
    /// `citus_stat_counters` came with Citus 13.1. All views speak of the node
    /// that was asked.
    fn statistics(&self, version_num: Option<u32>) -> Statistics {
        let mut all = postgres::statistics(version_num, self.database_size_query());
        all.queries.push(
            StatisticsQuery::counters("citus_stat_counters", "SELECT * FROM citus_stat_counters")
                .without(&["database_id", "stats_reset"])
                .unverified(),
        );
        all.plans = Some(PlanFigures {
            explain: "EXPLAIN",
            numbers: &[("Task Count", "tasks")],
            marks: &[],
        });
        all
    }

    fn database_size_query(&self) -> Option<&'static str> {
        Some("SELECT coalesce(sum(citus_total_relation_size(table_name)), 0) FROM citus_tables")
    }

    /// The coordinator's catalog knows the indexes, but not the rows, which are
    /// in tables of other names.
    fn row_estimates_query(&self, _: &[&str]) -> Option<String> {
        None
    }

    fn table_size_query(&self) -> Option<&'static str> {
        Some("SELECT citus_total_relation_size($1::text::regclass)")
    }

    fn size_relation(&self) -> SizeRelation {
        SizeRelation::SAME_STORAGE
    }
}

const MEASURED: &str = "measured on Citus 13.2.2 and 14.0.1, one coordinator and two workers";

static DIFFERENCES: [Difference; 7] = [
    Difference::new(
        "tables are distributed (create_distributed_table) or copied (create_reference_table) \
         before they are filled",
        "an undistributed table works, on one node",
        "Citus documentation, creating and modifying distributed objects",
    ),
    Difference::new(
        "the distribution column is in every primary key, and keys stand in CREATE TABLE",
        "a key without it is refused (0A000)",
        MEASURED,
    ),
    Difference::new(
        "COPY without FREEZE",
        "whether FREEZE reaches the shards is not documented",
        "Citus documentation, ingesting data",
    )
    .unverified(),
    Difference::new(
        "a COMMIT that failed on one node (XX000) counts as unknown",
        "\"could not commit transaction for shard … on at least one active node\"",
        MEASURED,
    ),
    Difference::new(
        "sizes by citus_total_relation_size",
        "PostgreSQL's functions see the coordinator's empty tables",
        MEASURED,
    ),
    Difference::new(
        "sums over shards are read when all clients have ended",
        "a sum under load is torn at every isolation level",
        MEASURED,
    ),
    Difference::new(
        "clients are dealt over the given node and the workers with metadata in pg_dist_node",
        "every node routes statements; DDL stays with the one given",
        "Citus documentation, querying from any node",
    ),
];
