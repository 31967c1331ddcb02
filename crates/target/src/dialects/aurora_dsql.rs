//! Amazon Aurora DSQL: optimistic, distributed, and strict about what a
//! transaction may hold.
//!
//! Facts are those of the Aurora DSQL User Guide as of autumn 2026. The service
//! changes several times a year and its version number does not tell, so what
//! is refused here may be accepted tomorrow.

use std::time::Duration;

use pgdyno_token::Service;

use super::by_question;
use crate::ddl::{self, IndexSpec};
use crate::detect::{Probe, ProbeError};
use crate::dialect::{
    ConnectionLimits, Dialect, Difference, Evidence, ForeignKeys, Isolation, KeyPlacement,
    LoadBatch, ResetMethod, RetryClass, SizeRelation, TableOptions, TransactionLimits,
};
use crate::statistics::{PlanFigures, Statistics};

/// Rows in one COPY. The limit is 3,000 rows of a transaction; 2,000 is what
/// the service's own loader sends, and leaves room for what else is counted.
const BATCH_ROWS: u64 = 2000;

/// Rows that one count may read. A count is a transaction of at most 300 s;
/// at this number 3,500 rows a second are enough.
const COUNT_ROWS: u64 = 1_000_000;

/// What may be set (Aurora DSQL User Guide, supported session parameters),
/// besides the planner's `enable_…`.
const SETTINGS: [&str; 11] = [
    "application_name",
    "client_encoding",
    "datestyle",
    "dsql.enable_batched_nestloop",
    "disable_sync_create_index",
    "extra_float_digits",
    "intervalstyle",
    "role",
    "search_path",
    "timezone",
    // Not a setting but a word of the protocol that drivers send.
    "replication",
];

/// Amazon Aurora DSQL.
#[derive(Debug, Clone, Copy)]
pub(super) struct AuroraDsql;

impl Dialect for AuroraDsql {
    fn name(&self) -> &'static str {
        "aurora-dsql"
    }

    fn title(&self) -> &'static str {
        "Amazon Aurora DSQL"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["dsql"]
    }

    fn recognise(&self, probe: &mut dyn Probe) -> Result<Option<Evidence>, ProbeError> {
        // Outside of a transaction block, so that the error of others is
        // without consequence.
        let question = "SELECT sys.dsql_major_version(), version()";
        by_question(
            probe,
            question,
            |v| v.parse::<u32>().is_ok(),
            "sys.dsql_major_version() answers",
        )
    }

    /// `<cluster>.dsql<something>.<region>.on.aws`, as the service's own
    /// connectors tell it.
    fn owns_host(&self, host: &str) -> bool {
        let Some(rest) = host.to_ascii_lowercase().strip_suffix(".on.aws").map(str::to_owned)
        else {
            return false;
        };
        let parts: Vec<&str> = rest.split('.').collect();
        matches!(parts.as_slice(), [cluster, service, region]
            if !cluster.is_empty() && service.starts_with("dsql") && !region.is_empty())
    }

    fn token_service(&self) -> Option<Service> {
        Some(Service::AuroraDsql)
    }

    fn takes_only_tokens(&self) -> bool {
        true
    }

    fn differences(&self) -> &'static [Difference] {
        &DIFFERENCES
    }

    fn table_options(&self) -> TableOptions {
        TableOptions { fillfactor: false, unlogged: false, tablespace: false, partitions: false }
    }

    fn key_placement(&self) -> KeyPlacement {
        KeyPlacement::InCreateTable
    }

    /// Functions are written in SQL only.
    fn has_plpgsql(&self) -> bool {
        false
    }

    fn foreign_keys(&self) -> ForeignKeys {
        ForeignKeys::InCreateTable
    }

    /// Without one there is a hidden key; a uuid of our own is spread over the
    /// storage for certain.
    fn needs_key_on_every_table(&self) -> bool {
        true
    }

    fn drop_tables(&self, tables: &[&str]) -> Vec<String> {
        tables.iter().map(|table| format!("DROP TABLE IF EXISTS {table}")).collect()
    }

    fn create_index(&self, index: &IndexSpec<'_>) -> String {
        ddl::create_index(index, " ASYNC")
    }

    fn wait_for_job(&self, job_id: &str) -> Option<String> {
        is_plain(job_id).then(|| format!("CALL sys.wait_for_job('{job_id}')"))
    }

    fn job_status_query(&self, job_id: &str) -> Option<String> {
        is_plain(job_id)
            .then(|| format!("SELECT status, details FROM sys.jobs WHERE job_id = '{job_id}'"))
    }

    fn unfinished_jobs_query(&self) -> Option<&'static str> {
        Some("SELECT job_id FROM sys.jobs WHERE status IN ('submitted', 'processing')")
    }

    fn load_batch(&self) -> LoadBatch {
        // A quarter of the limit: it counts what is stored, with the overhead
        // of rows and index entries.
        LoadBatch { rows: Some(BATCH_ROWS), bytes: Some(TRANSACTION_BYTES_MAX / 4) }
    }

    fn count_rows_max(&self) -> Option<u64> {
        Some(COUNT_ROWS)
    }

    fn can_copy_freeze(&self, _: Option<u32>) -> bool {
        false
    }

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
        Some(format!("ANALYZE {table}"))
    }

    fn checkpoint_statement(&self) -> Option<&'static str> {
        None
    }

    fn transaction_limits(&self) -> TransactionLimits {
        TransactionLimits {
            rows: Some(3000),
            bytes: Some(TRANSACTION_BYTES_MAX),
            age: Some(Duration::from_secs(300)),
            ddl_statements: Some(1),
        }
    }

    fn connection_limits(&self) -> ConnectionLimits {
        ConnectionLimits {
            per_second: Some(100),
            burst: Some(1000),
            session_age: Some(Duration::from_secs(3600)),
        }
    }

    fn isolation_levels(&self) -> &'static [Isolation] {
        &[Isolation::RepeatableRead]
    }

    /// The one level needs no words, and words would end the connection.
    fn isolation_setting(
        &self,
        level: Isolation,
    ) -> Result<Option<(&'static str, String)>, String> {
        if level == Isolation::RepeatableRead {
            return Ok(None);
        }
        Err(format!(
            "Amazon Aurora DSQL runs every transaction at repeatable read; {level} cannot be had"
        ))
    }

    fn check_setting(&self, name: &str) -> Result<(), String> {
        let name = name.to_ascii_lowercase();
        if SETTINGS.contains(&name.as_str()) || name.starts_with("enable_") {
            return Ok(());
        }
        Err(format!(
            "Amazon Aurora DSQL refuses the setting \"{name}\", and the connection with it; it \
             takes: {}, and the planner's enable_*",
            SETTINGS[..SETTINGS.len() - 1].join(", ")
        ))
    }

    /// The state is 40001 for both kinds; the mark in the message tells them
    /// apart. The text around the mark has changed over the years, and some
    /// layers hand the mark on as the state itself.
    fn classify(&self, sqlstate: &str, message: &str) -> RetryClass {
        match sqlstate {
            "OC001" => RetryClass::SchemaChanged,
            "OC000" => RetryClass::Conflict,
            "40001" if message.contains("OC001") => RetryClass::SchemaChanged,
            "40001" => RetryClass::Conflict,
            "40003" | "08007" => RetryClass::OutcomeUnknown,
            _ => RetryClass::NotRetryable,
        }
    }

    fn conflict_mark(&self, class: RetryClass) -> Option<&'static str> {
        match class {
            RetryClass::Conflict => Some("OC000"),
            RetryClass::SchemaChanged => Some("OC001"),
            _ => None,
        }
    }

    /// No view counts anything; what a statement costs stands at the end of its
    /// plan (Aurora DSQL User Guide, DPU estimates in EXPLAIN ANALYZE VERBOSE).
    fn statistics(&self, _: Option<u32>) -> Statistics {
        let plans = PlanFigures {
            explain: "EXPLAIN ANALYZE VERBOSE",
            numbers: &[
                ("Compute", "compute_dpu"),
                ("Read", "read_dpu"),
                ("Write", "write_dpu"),
                ("Multi-Region Write", "multi_region_write_dpu"),
                ("Total", "total_dpu"),
            ],
            marks: &[],
        };
        Statistics { plans: Some(plans), ..Statistics::default() }
    }

    fn database_size_query(&self) -> Option<&'static str> {
        None
    }

    fn no_jit_statements(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    fn table_size_query(&self) -> Option<&'static str> {
        None
    }

    fn size_relation(&self) -> SizeRelation {
        SizeRelation::ESTIMATED
    }
}

/// Data that a transaction may write: 10 MiB, as the service accounts it.
const TRANSACTION_BYTES_MAX: u64 = 10 << 20;

/// The server makes the identifiers of jobs, of letters and digits; anything
/// else would be a quotation mark in the wrong place.
fn is_plain(job_id: &str) -> bool {
    !job_id.is_empty() && job_id.chars().all(|c| c.is_ascii_alphanumeric())
}

const QUOTAS: &str = "Aurora DSQL User Guide, cluster quotas and database limits";
const UNSUPPORTED: &str = "Aurora DSQL User Guide, unsupported PostgreSQL features";

static DIFFERENCES: [Difference; 15] = [
    Difference::new(
        "without a password a token is made and renewed, over verified TLS",
        "passwords are IAM tokens that live for 15 minutes",
        "Aurora DSQL User Guide, authentication tokens",
    ),
    Difference::new(
        "primary keys stand in CREATE TABLE",
        "ALTER TABLE … ADD PRIMARY KEY is refused (0A000)",
        UNSUPPORTED,
    ),
    Difference::new(
        "no fillfactor, tablespace, UNLOGGED or partitions",
        "they are refused, and storage has none of it",
        UNSUPPORTED,
    ),
    Difference::new(
        "append-only tables get a uuid key",
        "storage is ordered and split by key; random keys spread the inserts",
        "Aurora DSQL User Guide, primary keys",
    ),
    Difference::new(
        "rows come in COPYs of 2,000, each a transaction, tried again on 40001",
        "a transaction may change 3,000 rows and 10 MiB",
        QUOTAS,
    ),
    Difference::new(
        "each DDL statement is a transaction of its own, one after the other, tried again on OC001",
        "one DDL statement to a transaction, not together with DML",
        "Aurora DSQL User Guide, DDL and distributed transactions",
    ),
    Difference::new(
        "indexes by CREATE INDEX ASYNC, then CALL sys.wait_for_job",
        "CREATE INDEX without ASYNC is refused; examples with SELECT sys.wait_for_job exist as \
         well, and where the CALL fails, sys.jobs is polled",
        "Aurora DSQL User Guide, asynchronous indexes",
    )
    .unverified(),
    Difference::new(
        "reset drops and loads anew; no VACUUM, only ANALYZE",
        "TRUNCATE and VACUUM are refused",
        UNSUPPORTED,
    ),
    Difference::new(
        "only repeatable read, and nothing is sent to ask for it",
        "another level, or default_transaction_isolation as a start-up parameter, ends the connection",
        "Aurora DSQL User Guide, concurrency control",
    ),
    Difference::new(
        "unknown settings are refused before connecting",
        "a start-up parameter outside of a short list ends the connection",
        "Aurora DSQL User Guide, supported session parameters",
    ),
    Difference::new(
        "40001 with OC000 is a conflict, with OC001 a changed schema; both may be tried again",
        "conflicts surface at COMMIT, without waiting",
        "Aurora DSQL User Guide, concurrency control",
    ),
    Difference::new(
        "rows are counted in ranges of a million keys",
        "a statement may take 300 s; how fast a count is, is not documented",
        QUOTAS,
    )
    .unverified(),
    Difference::new(
        "no size of database or tables in the record",
        "pg_database is not there, and which size functions work is not documented",
        "Aurora DSQL User Guide, system tables",
    )
    .unverified(),
    Difference::new(
        "at most 90 new connections a second after the first 900",
        "100 a second are allowed after a burst of 1,000, to everybody together",
        QUOTAS,
    ),
    Difference::new(
        "sessions are left after 45 to 55 minutes, each at its own moment",
        "the service ends them after an hour",
        QUOTAS,
    ),
];
