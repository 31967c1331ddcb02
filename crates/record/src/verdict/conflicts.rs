//! What conflicts did to a run.

use crate::conflict::{CONFLICT_SHARE_MIN, ConflictRecord, ConflictVerdict, SCALE_PER_CLIENT};
use crate::run::RunRecord;

/// From a record; none where conflicts do not matter.
pub(super) fn of(record: &RunRecord) -> Option<ConflictVerdict> {
    let counts = &record.totals.counts;
    let mut kinds = record.totals.conflicts.clone();
    let lost: u64 = kinds.iter().map(ConflictRecord::total).sum();
    let tries = counts.committed + counts.failed + counts.unknown + counts.retries;
    let share = if tries == 0 { 0.0 } else { lost as f64 / tries as f64 };
    if share <= CONFLICT_SHARE_MIN {
        return None;
    }
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.total()));
    let clients = record.plan.clients;
    let is_small = |scale: &u64| *scale < u64::from(clients) * SCALE_PER_CLIENT;
    let scale = record.workload.scale.filter(is_small);
    let tries_max = record.plan.tries_max;
    Some(ConflictVerdict { share, kinds, clients, scale, tries_max })
}

#[cfg(test)]
mod tests {
    use crate::conflict::{ConflictKind, Conflicts};
    use crate::run::{RunRecord, example};
    use crate::verdict::{Severity, Verdict, judge};

    fn with(conflicts: Conflicts, failed: u64) -> RunRecord {
        let mut record = example::record();
        record.plan.clients = 32;
        record.plan.tries_max = Some(1);
        record.workload.scale = Some(1);
        record.totals.counts.failed = failed;
        record.totals.conflicts = conflicts.to_records();
        for one in &mut record.totals.conflicts {
            one.mark =
                Some(if one.kind == ConflictKind::Conflict { "OC000" } else { "OC001" }.into());
        }
        record
    }

    fn said(record: &RunRecord) -> Option<(Severity, String, String)> {
        let verdicts = judge(record).into_iter();
        let mut conflicts =
            verdicts.filter(|said| matches!(said.verdict, Verdict::Conflicts { .. }));
        conflicts.next().map(|said| (said.severity, said.text, said.advice))
    }

    /// A hot row is named as that, with the target's own code, the place and
    /// what to change; a few conflicts among many commits are not said.
    #[test]
    fn a_hot_row_is_named() {
        let mut conflicts = Conflicts::default();
        (0..20_000).for_each(|_| conflicts.count(ConflictKind::Conflict, true));
        (0..3).for_each(|_| conflicts.count(ConflictKind::SchemaChanged, false));
        let (severity, text, advice) = said(&with(conflicts, 20_003)).unwrap();
        assert_eq!(severity, Severity::Warning);
        for part in ["OC000: another", "20000 at COMMIT", "OC001", "3 at a statement", "hot row"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        for part in ["--scale 160", "--max-tries 10", "-c"] {
            assert!(advice.contains(part), "{part}: {advice}");
        }
        let mut few = Conflicts::default();
        few.count(ConflictKind::Deadlock, false);
        assert_eq!(said(&with(few, 1)), None);
    }

    /// A changed schema is not cured by more rows.
    #[test]
    fn a_changed_schema_is_another_matter() {
        let mut conflicts = Conflicts::default();
        (0..20_000).for_each(|_| conflicts.count(ConflictKind::SchemaChanged, false));
        let (_, text, advice) = said(&with(conflicts, 20_000)).unwrap();
        assert!(!text.contains("hot") && !advice.contains("--scale"), "{text}: {advice}");
        assert!(advice.contains("ALTER"), "{advice}");
    }
}
