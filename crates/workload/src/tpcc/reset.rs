//! Back to the state after loading: by loading anew, unless nothing was
//! changed.
//!
//! A run changes a tenth of the stock and of the customers within minutes and
//! adds to three tables; putting that back would need the initial rows, which
//! are made by the loader anyway.

use pgdyno_target::dialect::Dialect;

use super::{Tpcc, audits};
use crate::audit::read_figures;
use crate::error::AccessError;
use crate::session::Session;
use crate::workload::Reset;

/// Says whether there is anything to reset.
pub(super) fn reset(
    tpcc: &Tpcc,
    session: &mut dyn Session,
    _dialect: &dyn Dialect,
) -> Result<Reset, AccessError> {
    let now = read_figures(session, "resetting the tables", &audits::query())?;
    if audits::is_fresh(tpcc.scale, &now) {
        return Ok(Reset::Done { rows: 0 });
    }
    let reason = "a run of tpcc changes rows all over its tables".to_owned();
    Ok(Reset::Reload { reason })
}
