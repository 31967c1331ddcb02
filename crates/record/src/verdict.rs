//! What can be said about a run: a closed list, each entry with its evidence.
//!
//! A figure is printed with the evidence that the work was done, that the
//! database was the bottleneck, and that the run was steady. [`judge`] computes
//! that from a record alone; the same record always gives the same verdicts.

use crate::run::RunRecord;

mod conflicts;
mod endpoints;
pub(crate) mod kinds;
mod rules;
mod words;

pub use kinds::{Severity, Silence, Verdict, VerdictRecord};
pub use rules::{
    DRIFT_MAX, FAILURE_SHARE_MAX, NO_ROW_SHARE_MAX, RATE_SHARE_MIN, RETRIES_PER_COMMIT_MAX,
    STEADY_SECONDS_MIN, VARIATION_MAX, WARM_SHARE_MIN,
};

impl From<Verdict> for VerdictRecord {
    fn from(verdict: Verdict) -> Self {
        Self {
            severity: words::severity(&verdict),
            text: words::text(&verdict),
            advice: match &verdict {
                Verdict::Conflicts { conflicts } => conflicts.advice(),
                _ => words::advice(&verdict).to_owned(),
            },
            verdict,
        }
    }
}

/// Judges a run by its record; the verdicts already in it are not looked at.
/// Most severe first, otherwise in the order of the rules.
#[must_use]
pub fn judge(record: &RunRecord) -> Vec<VerdictRecord> {
    let mut verdicts: Vec<VerdictRecord> =
        rules::all(record).into_iter().map(VerdictRecord::from).collect();
    verdicts.sort_by_key(|verdict| std::cmp::Reverse(verdict.severity));
    verdicts
}
