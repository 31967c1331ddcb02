//! The views of PostgreSQL, by the version that brought them.

use super::{Statistics, StatisticsQuery, waits};

/// Statements kept: the ones that took the longest.
const STATEMENTS_MAX: usize = 10;

/// Sessions of the same program and user, besides the one that asks.
const SESSIONS: &str = "SELECT count(*) FROM pg_catalog.pg_stat_activity \
    WHERE application_name = current_setting('application_name') \
    AND usename = current_user AND pid <> pg_backend_pid()";

/// Everything that a server of this version counts. Without a version, what
/// the oldest supported one has.
pub(crate) fn statistics(version_num: Option<u32>, size: Option<&str>) -> Statistics {
    let version = version_num.unwrap_or(0);
    let mut queries = common(size);
    queries.push(waits::sampled_by_extension());
    queries.push(StatisticsQuery::counters(
        "pg_stat_bgwriter",
        "SELECT * FROM pg_catalog.pg_stat_bgwriter",
    ));
    if version >= 140_000 {
        queries
            .push(StatisticsQuery::counters("pg_stat_wal", "SELECT * FROM pg_catalog.pg_stat_wal"));
    }
    if version >= 160_000 {
        queries.push(
            StatisticsQuery::counters("pg_stat_io", "SELECT * FROM pg_catalog.pg_stat_io")
                .labelled(&["backend_type", "object", "context"])
                .without(&["op_bytes"])
                .top(20, &["reads", "writes", "extends", "hits"]),
        );
    }
    if version >= 170_000 {
        queries.push(StatisticsQuery::counters(
            "pg_stat_checkpointer",
            "SELECT * FROM pg_catalog.pg_stat_checkpointer",
        ));
    }
    let waits_now = Some(waits::NOW);
    Statistics { queries, sessions: Some(SESSIONS), plans: None, waits_now }
}

/// What databases with PostgreSQL's front but another storage have as well.
pub(crate) fn common(size: Option<&str>) -> Vec<StatisticsQuery> {
    let mut queries = vec![database(), tables(), statements()];
    if let Some(size) = size {
        let sql = format!("SELECT ({size}) AS bytes");
        queries.push(StatisticsQuery::values("database_size", sql));
    }
    queries
}

/// The statistics of databases without PostgreSQL's storage.
pub(crate) fn front_only(size: Option<&str>) -> Statistics {
    let (queries, sessions) = (common(size), Some(SESSIONS));
    Statistics { queries, sessions, ..Statistics::default() }
}

fn database() -> StatisticsQuery {
    StatisticsQuery::counters(
        "pg_stat_database",
        "SELECT * FROM pg_catalog.pg_stat_database WHERE datname = current_database()",
    )
    .labelled(&["datname"])
    .without(&["datid", "numbackends"])
}

fn tables() -> StatisticsQuery {
    StatisticsQuery::counters("pg_stat_user_tables", "SELECT * FROM pg_catalog.pg_stat_user_tables")
        .labelled(&["schemaname", "relname"])
        // The last four are states, not counters.
        .without(&[
            "relid",
            "n_live_tup",
            "n_dead_tup",
            "n_mod_since_analyze",
            "n_ins_since_vacuum",
        ])
        .top(20, &["n_tup_ins", "n_tup_upd", "n_tup_del", "seq_scan", "idx_scan"])
}

/// Without a schema: the extension may be in any that the path names.
fn statements() -> StatisticsQuery {
    StatisticsQuery::counters(
        "pg_stat_statements",
        "SELECT * FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_%' AND dbid = \
         (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())",
    )
    .labelled(&["userid", "queryid", "toplevel", "query"])
    .without(&[
        "dbid",
        "min_plan_time",
        "max_plan_time",
        "mean_plan_time",
        "stddev_plan_time",
        "min_exec_time",
        "max_exec_time",
        "mean_exec_time",
        "stddev_exec_time",
    ])
    .top(STATEMENTS_MAX, &["total_exec_time"])
    .of_extension("pg_stat_statements")
}
