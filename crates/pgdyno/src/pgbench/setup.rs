//! What a benchmark does over one connection before its clients start: banner,
//! scale, partitions, vacuum.

use std::io::Write;

use pgdyno_report::pgbench::PgbenchPartitions;
use pgdyno_wire::{Connection, SqlState};

use super::message::{Fatal, Level, Messages};
use super::plan::{BenchPlan, Until};
use super::{PGBENCH_VERSION, PGBENCH_VERSION_NUM};

/// What was found in the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Number of branches, or `-s`, or 1.
    pub scale: i64,
    /// Of pgbench_accounts.
    pub partitions: Option<PgbenchPartitions>,
}

/// Prints the banner, the first output of a run.
pub fn banner(connection: &Connection, messages: &Messages) {
    let server = if connection.server_version_num() == PGBENCH_VERSION_NUM {
        String::new()
    } else {
        format!(", server {}", connection.server_version())
    };
    let mut out = std::io::stdout().lock();
    // A reader that went away is no failure of ours.
    let _ = writeln!(out, "{} ({PGBENCH_VERSION}{server})", messages.program());
    let _ = out.flush();
}

/// The line under `--debug` that tells of the run as a whole.
pub fn debug_line(connection: &Connection, plan: &BenchPlan, messages: &Messages) {
    let options = connection.context().options();
    let host = &connection.endpoint().host;
    let until = match plan.until {
        Until::Transactions(count) => format!("nxacts: {count}"),
        Until::Seconds(seconds) => format!("duration: {seconds}"),
    };
    messages.debug(|| {
        format!(
            "pghost: {host} pgport: {} nclients: {} {until} dbName: {}",
            connection.endpoint().port,
            plan.clients,
            options.dbname
        )
    });
}

/// Looks up scale and partitions, where a built-in script is run.
///
/// # Errors
/// pgbench's tables are not there.
pub fn look(
    connection: &mut Connection,
    plan: &BenchPlan,
    with_builtin: bool,
    messages: &Messages,
) -> Result<Found, Fatal> {
    if !with_builtin {
        return Ok(Found { scale: plan.scale.map_or(1, i64::from), partitions: None });
    }
    let database = connection.context().options().dbname.clone();
    let hint = format!(
        "Perhaps you need to do initialization (\"pgbench -i\") in database \"{database}\"."
    );
    let scale = count_branches(connection, &hint)?;
    if plan.scale.is_some() {
        messages.say(
            Level::Warning,
            &format!("scale option ignored, using count from pgbench_branches table ({scale})"),
        );
    }
    Ok(Found { scale, partitions: find_partitions(connection, &hint)? })
}

fn count_branches(connection: &mut Connection, hint: &str) -> Result<i64, Fatal> {
    let scale =
        connection.query_one_i64("select count(*) from pgbench_branches").map_err(|error| {
            let fatal = Fatal::new(format!("could not count number of branches: {error}"));
            if error.sqlstate() == Some(SqlState::UNDEFINED_TABLE) {
                fatal.with(Level::Hint, hint)
            } else {
                fatal
            }
        })?;
    if scale < 0 {
        return Err(Fatal::new(format!("invalid count(*) from pgbench_branches: \"{scale}\"")));
    }
    Ok(scale)
}

/// The first pgbench_accounts of the search path, how it is partitioned, and
/// into how many. The columns are those of pgbench's question, place in the
/// path first: servers that answer it by rote (stand-ins for tests) fit both.
const PARTITIONS: &str = "\
    SELECT pg_catalog.array_position(pg_catalog.current_schemas(true), n.nspname) AS place, \
      p.partstrat, \
      (SELECT pg_catalog.count(*) FROM pg_catalog.pg_inherits i WHERE i.inhparent = c.oid) \
    FROM pg_catalog.pg_class c \
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
    LEFT JOIN pg_catalog.pg_partitioned_table p ON p.partrelid = c.oid \
    WHERE c.relname = 'pgbench_accounts' \
      AND n.nspname = ANY (pg_catalog.current_schemas(true)) \
    ORDER BY place \
    LIMIT 1";

fn find_partitions(
    connection: &mut Connection,
    hint: &str,
) -> Result<Option<PgbenchPartitions>, Fatal> {
    // Whoever has no such catalogs has no partitions either: nothing is reported.
    let Ok(mut results) = connection.simple_query(PARTITIONS) else { return Ok(None) };
    let found = results.pop().unwrap_or_default();
    if found.rows.is_empty() {
        return Err(Fatal::new("no pgbench_accounts table found in \"search_path\"")
            .with(Level::Hint, hint));
    }
    let method = match found.get(0, 1) {
        None => return Ok(None),
        Some("r") => "range",
        Some("h") => "hash",
        Some(other) => {
            return Err(Fatal::new(format!("unexpected partition method: \"{other}\"")));
        }
    };
    let count = found.get(0, 2).and_then(|count| count.parse().ok()).unwrap_or(0);
    Ok(Some(PgbenchPartitions { method: method.to_owned(), count }))
}

/// Cleans up before the run. Errors are told and ignored: custom scripts need
/// no tables of pgbench's.
pub fn vacuum(connection: &mut Connection, plan: &BenchPlan, messages: &Messages) {
    if plan.no_vacuum {
        return;
    }
    messages.raw(b"starting vacuum...");
    for sql in ["vacuum pgbench_branches", "vacuum pgbench_tellers", "truncate pgbench_history"] {
        try_execute(connection, sql, messages);
    }
    messages.raw(b"end.\n");
    if plan.vacuum_all {
        messages.raw(b"starting vacuum pgbench_accounts...");
        try_execute(connection, "vacuum analyze pgbench_accounts", messages);
        messages.raw(b"end.\n");
    }
}

fn try_execute(connection: &mut Connection, sql: &str, messages: &Messages) {
    if let Err(error) = connection.execute(sql) {
        messages.say(Level::Error, &error.to_string());
        messages.say(Level::Detail, "(ignoring this error and continuing anyway)");
    }
}
