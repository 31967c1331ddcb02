//! The exit code of a run, from what is said of it.

use pgdyno_engine::outcome::Ended;
use pgdyno_record::{RunRecord, Severity, Verdict};

use crate::cli::{AuditWhat, RunArgs};
use crate::failure::Failure;

/// The exit code: a run that did not end as planned, or whose figure is
/// refuted, is no success; for those who are strict, neither is one that did
/// not do its work, or that nothing vouches for.
pub(crate) fn judged(args: &RunArgs, record: &RunRecord, ended: Ended) -> Result<(), Failure> {
    let mut said = record.verdicts.iter();
    let fails = said.any(|said| {
        said.severity == Severity::Fatal
            || (args.strict && is_refused_by_strict(&said.verdict, args.audit()))
    });
    if fails || ended != Ended::Completed { Err(Failure::reported()) } else { Ok(()) }
}

/// Scripts have no audits, and `--audit off` is a choice: both are no failure.
fn is_refused_by_strict(said: &Verdict, audit: AuditWhat) -> bool {
    match said {
        Verdict::WritesFoundNoRow { .. } => true,
        Verdict::NotAudited { skipped } => *skipped > 0 && audit != AuditWhat::Off,
        _ => false,
    }
}
