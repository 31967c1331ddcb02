//! Whether a workload's tables are those of a load that was broken off: asked
//! before a run, because rows may all be there while a key is missing.

use pgdyno_workload::{Session, Workload};

use super::marks::{self, Identity};

/// True where a load of one of the workload's tables left its marks behind, or
/// marks that do not say of what: a load that begins anew over another takes
/// the plan away first. To be asked where the workload's tables are there.
///
/// The catalog is asked first: a select from a table that is not there would
/// leave an error in the server's log before each run. A database that cannot
/// answer counts as "no"; the workload's own probe has its say in any case.
pub fn is_unfinished(session: &mut dyn Session, workload: &dyn Workload) -> bool {
    let Ok((_, rows)) = session.query(&marks::exists()) else { return false };
    let first = rows.first().and_then(|row| row.first()).and_then(Option::as_deref);
    if first.is_none_or(|number| number == "0") {
        return false;
    }
    let Ok((_, rows)) = session.query(&marks::look()) else { return false };
    let Some(plan) = marks::plan_in(&rows) else { return true };
    workload.tables().iter().any(|table| plan.fills(table.name))
}

impl Identity {
    /// Whether the load puts rows into this table.
    fn fills(&self, table: &str) -> bool {
        self.get(&marks::cut_of(table)) != marks::NO_FACT
    }
}
