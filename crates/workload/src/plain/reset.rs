//! Back to the state after loading: changed rows are put back where that is
//! cheaper than loading all of them.

use pgdyno_target::dialect::{Dialect, ResetMethod};

use super::Plain;
use crate::audit::read_figures;
use crate::error::AccessError;
use crate::session::Session;
use crate::workload::Reset;

/// Above one changed row in this many, the tables are loaded anew; measured
/// for pgbench's tables, whose rows are as long as the longest here.
const CHANGED_SHARE_MAX: i128 = 10;

const WHAT: &str = "resetting the tables";

/// How the tables can be put back.
#[derive(Debug, Clone)]
pub(super) enum PutBack {
    /// No transaction changes anything.
    Nothing,
    /// Only by loading.
    Load {
        /// Why, for people.
        reason: &'static str,
    },
    /// Rows of the first table by one statement; further tables are emptied.
    Rows {
        /// The condition that a changed row meets and a loaded one does not.
        changed: &'static str,
        /// What is set, so that the row is as loaded.
        set: &'static str,
    },
}

/// Resets in place, or says why that is not the way.
pub(super) fn reset(
    plain: &Plain,
    session: &mut dyn Session,
    dialect: &dyn Dialect,
) -> Result<Reset, AccessError> {
    let Some(first) = plain.tables.first() else { return Ok(Reset::Done { rows: 0 }) };
    let (changed, set) = match plain.put_back {
        PutBack::Nothing => ("false", ""),
        PutBack::Load { reason } => return Ok(reload(reason)),
        PutBack::Rows { changed, set } => (changed, set),
    };
    let found = read_figures(
        session,
        WHAT,
        &format!(
            "SELECT count(*) AS rows, coalesce(sum(CASE WHEN {changed} THEN 1 ELSE 0 END), 0) AS \
             changed FROM {}",
            first.name
        ),
    )?;
    let (rows, changes) = (found.get("rows"), found.get("changed"));
    if rows != i128::from(first.rows) {
        return Ok(reload(format!("{} has {rows} rows, not {}", first.name, first.rows)));
    }
    if set.is_empty() {
        return Ok(Reset::Done { rows: 0 });
    }
    if dialect.reset_method() == ResetMethod::DropAndCreate {
        return Ok(reload(format!("{} is cheaper to load than to put back", dialect.title())));
    }
    let limits = dialect.transaction_limits();
    if limits.rows.is_some() || limits.ddl_statements.is_some() {
        return Ok(reload(format!("{} limits what one transaction may change", dialect.title())));
    }
    if changes * CHANGED_SHARE_MAX > rows {
        return Ok(reload(format!("{changes} of {rows} rows of {} were changed", first.name)));
    }
    let logs: Vec<&str> = plain.tables.iter().skip(1).map(|table| table.name).collect();
    let truncate = if logs.is_empty() { None } else { dialect.truncate_statement(&logs) };
    if truncate.is_none() && !logs.is_empty() {
        return Ok(reload(format!("{} has no way to empty a table in place", dialect.title())));
    }
    let update = format!("UPDATE {} SET {set} WHERE {changed}", first.name);
    let rows = put_back(session, &truncate.into_iter().chain([update]).collect::<Vec<_>>())?;
    if let Some(sql) = dialect.vacuum_statement(first.name) {
        execute(session, &sql)?;
    }
    Ok(Reset::Done { rows })
}

fn reload(reason: impl Into<String>) -> Reset {
    Reset::Reload { reason: reason.into() }
}

/// All or nothing, so that an interrupted reset leaves the tables as they were.
fn put_back(session: &mut dyn Session, statements: &[String]) -> Result<u64, AccessError> {
    execute(session, "BEGIN")?;
    let done = (|| {
        let mut rows = 0;
        for sql in statements {
            rows += execute(session, sql)?;
        }
        execute(session, "COMMIT")?;
        Ok(rows)
    })();
    if done.is_err() {
        // The first error is the one to tell; where the connection is gone,
        // the server rolls back by itself.
        let _ = session.execute("ROLLBACK");
    }
    done
}

fn execute(session: &mut dyn Session, sql: &str) -> Result<u64, AccessError> {
    session.execute(sql).map_err(|source| AccessError::Statement {
        what: WHAT,
        sql: sql.to_owned(),
        source,
    })
}
