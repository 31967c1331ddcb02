//! The initial rows of pgbench's tables as SELECTs, for databases that make
//! them faster than the network brings them.

use pgdyno_target::dialect::Dialect;

use super::schema::{ACCOUNTS, BRANCHES, TELLERS};
use super::{ACCOUNTS_PER_BRANCH, TELLERS_PER_BRANCH};

/// The rows `:first` to `:last` of a table; the same as
/// [`super::data::write_rows`] makes.
pub(super) fn select(table: usize, dialect: &dyn Dialect) -> Option<String> {
    let branch = |per_branch: u64| {
        format!("{} + 1", dialect.integer_division("(r - 1)", &per_branch.to_string()))
    };
    let columns = match table {
        BRANCHES => "r, 0, NULL".to_owned(),
        TELLERS => format!("r, {}, 0, NULL", branch(TELLERS_PER_BRANCH)),
        ACCOUNTS => format!("r, {}, 0, ''", branch(ACCOUNTS_PER_BRANCH)),
        _ => return None,
    };
    Some(format!("SELECT {columns} FROM generate_series(:first, :last) AS g (r)"))
}
