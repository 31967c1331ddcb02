//! One screen about a run.

use std::path::Path;

use pgdyno_record::RunRecord;

use crate::style::Style;

/// The summary.
#[must_use]
pub fn summary(record: &RunRecord, style: &Style, record_path: Option<&Path>) -> String {
    let _ = (record_path, style);
    format!("{} tps\n", crate::format::rate(record.totals.goodput_tps))
}
