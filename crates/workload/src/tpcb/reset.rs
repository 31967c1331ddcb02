//! Back to the state after loading, without loading.
//!
//! Emptying the history and putting the changed balances back costs one scan
//! and as many row writes as there are changed rows, and leaves keys and
//! statistics in place; a short run changes a small part of the accounts. It
//! leaves dead rows, though, one for each changed row, so above a share of the
//! accounts loading anew is both cheaper and cleaner.

use pgdyno_target::dialect::{Dialect, ResetMethod};

use super::Tpcb;
use crate::audit::read_figures;
use crate::error::AccessError;
use crate::session::Session;
use crate::workload::{Reset, Workload};

/// Above one changed account in this many, the tables are loaded anew.
///
/// Measured at scale 20 on PostgreSQL 15: putting back and vacuuming took
/// 2.1 s for a tenth of the accounts, 3.2 s for a quarter and 3.6 s for half;
/// loading all of them with keys and statistics took 1.4 to 2.1 s.
const CHANGED_SHARE_MAX: i128 = 10;

const WHAT: &str = "resetting the tables";

const LOOK: &str = "SELECT (SELECT count(*) FROM pgbench_branches) AS branches, \
     (SELECT count(*) FROM pgbench_tellers) AS tellers, \
     a.n AS accounts, a.changed FROM (SELECT count(*) AS n, \
     coalesce(sum(CASE WHEN abalance = 0 THEN 0 ELSE 1 END), 0) AS changed \
     FROM pgbench_accounts) a";

const BALANCES: [(&str, &str); 3] = [
    ("pgbench_accounts", "abalance"),
    ("pgbench_tellers", "tbalance"),
    ("pgbench_branches", "bbalance"),
];

/// Resets in place, or says why that is not the way.
pub(super) fn reset(
    tpcb: &Tpcb,
    session: &mut dyn Session,
    dialect: &dyn Dialect,
) -> Result<Reset, AccessError> {
    if dialect.reset_method() == ResetMethod::DropAndCreate {
        return Ok(reload(format!("{} is cheaper to load than to put back", dialect.title())));
    }
    let Some(truncate) = dialect.truncate_statement(&["pgbench_history"]) else {
        return Ok(reload(format!("{} has no way to empty a table in place", dialect.title())));
    };
    let limits = dialect.transaction_limits();
    if limits.rows.is_some() || limits.ddl_statements.is_some() {
        return Ok(reload(format!("{} limits what one transaction may change", dialect.title())));
    }
    let found = read_figures(session, WHAT, LOOK)?;
    let expected =
        [("branches", tpcb.scale()), ("tellers", tpcb.tellers()), ("accounts", tpcb.accounts())];
    for (figure, rows) in expected {
        if found.get(figure) != i128::from(rows) {
            return Ok(reload(format!("there are {} {figure}, not {rows}", found.get(figure))));
        }
    }
    let changed = found.get("changed");
    if changed * CHANGED_SHARE_MAX > i128::from(tpcb.accounts()) {
        return Ok(reload(format!("{changed} of {} accounts were changed", tpcb.accounts())));
    }
    let rows = put_back(session, &truncate)?;
    for (table, _) in BALANCES {
        if let Some(sql) = dialect.vacuum_statement(table) {
            execute(session, &sql)?;
        }
    }
    Ok(Reset::Done { rows })
}

const fn reload(reason: String) -> Reset {
    Reset::Reload { reason }
}

/// All or nothing, so that an interrupted reset leaves the tables as they were.
fn put_back(session: &mut dyn Session, truncate: &str) -> Result<u64, AccessError> {
    execute(session, "BEGIN")?;
    let done = (|| {
        let mut rows = execute(session, truncate)?;
        for (table, column) in BALANCES {
            let sql = format!("UPDATE {table} SET {column} = 0 WHERE {column} IS DISTINCT FROM 0");
            rows += execute(session, &sql)?;
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
