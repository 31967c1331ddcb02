//! The kinds of databases: one file each that says only what differs from
//! PostgreSQL, and the list of them.

mod alloydb;
mod aurora_dsql;
mod aurora_limitless;
mod aurora_postgres;
mod citus;
mod cloudsql;
mod cockroachdb;
mod postgres;
mod yugabytedb;

use crate::detect::{Probe, ProbeError};
use crate::dialect::{Dialect, Evidence};

pub(crate) use postgres::Postgres;

/// In the order in which they are asked. First those that a parameter status
/// gives away, without a question; then DSQL, which refuses the questions of
/// the others; PostgreSQL is what remains.
pub(crate) static ALL: [&dyn Dialect; 9] = [
    &cockroachdb::CockroachDb::PLAIN,
    &yugabytedb::YugabyteDb::PLAIN,
    &aurora_dsql::AuroraDsql,
    &aurora_limitless::AuroraLimitless,
    &citus::Citus,
    &alloydb::AlloyDb::PLAIN,
    &cloudsql::CloudSql::PLAIN,
    &aurora_postgres::AuroraPostgres::PLAIN,
    &Postgres::PLAIN,
];

/// A dialect that lives as long as all others. A process makes one, for its
/// target, so that nothing is to be gained by giving it back.
fn for_good(dialect: impl Dialect + 'static) -> &'static dyn Dialect {
    Box::leak(Box::new(dialect))
}

/// `server_version` as a number in the manner of `server_version_num`:
/// "16.15" is 160015, "13.0.0" is 130000. What stands behind is left out.
fn version_num(server_version: &str) -> Option<u32> {
    let mut parts = server_version.split(|c: char| !c.is_ascii_digit());
    let major: u32 = parts.next()?.parse().ok()?;
    let minor: u32 = parts.next().and_then(|part| part.parse().ok()).unwrap_or(0);
    major.checked_mul(10_000)?.checked_add(minor)
}

/// The version as every server of the protocol reports it when it starts a
/// session.
fn reported_version(probe: &dyn Probe) -> (String, Option<u32>) {
    let version = probe.parameter("server_version").unwrap_or_default();
    let num = version_num(&version);
    (version, num)
}

/// The values of a setting that is on or off.
fn on_or_off(text: &str) -> bool {
    matches!(text, "on" | "off")
}

/// Asks a question whose answer is a row with a first value of this `shape`
/// only on one kind of database; some servers have an answer to everything.
/// The second value is the version, in words.
fn by_question(
    probe: &mut dyn Probe,
    question: &str,
    shape: fn(&str) -> bool,
    how: &str,
) -> Result<Option<Evidence>, ProbeError> {
    let Some(row) = probe.first_row(question)? else { return Ok(None) };
    let Some(first) = row.first().and_then(Option::as_deref).filter(|first| shape(first)) else {
        return Ok(None);
    };
    let (reported, version_num) = reported_version(probe);
    let version = row.get(1).cloned().flatten().unwrap_or(reported);
    Ok(Some(Evidence { version, version_num, how: format!("{how} ({first})") }))
}

#[cfg(test)]
mod tests;
