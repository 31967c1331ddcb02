//! The rules: from the figures of a record to what can be said about it.

use crate::run::{AuditOutcome, EndKind, RunRecord, StatementRecord};
use crate::timeline::TimelineRecord;
use crate::verdict::kinds::Verdict;
use crate::verdict::{conflicts, endpoints};

/// Full seconds below which nothing is said about steadiness: the spread of
/// fewer values is itself too uncertain.
pub const STEADY_SECONDS_MIN: u64 = 5;

/// Largest coefficient of variation of per-second TPS that counts as steady.
/// Checkpoints and autovacuum of a healthy server stay below it; stalls and
/// throttling do not.
pub const VARIATION_MAX: f64 = 0.20;

/// Largest drift between the halves of a run, as a share of its mean, that
/// counts as steady.
pub const DRIFT_MAX: f64 = 0.10;

/// A drift is only called one when it exceeds this many standard errors of
/// counting: slow workloads commit so little that halves differ by chance.
const DRIFT_ERRORS_MIN: f64 = 3.0;

/// The first tenth of a run must reach this share of the second half's TPS,
/// otherwise the target was still warming up.
pub const WARM_SHARE_MIN: f64 = 0.80;

/// Points below which a tenth of a run says nothing.
const WARM_POINTS_MIN: usize = 10;

/// Share of executions that may touch fewer rows than they should before the
/// statement is named.
pub const NO_ROW_SHARE_MAX: f64 = 0.01;

/// Share of failed transactions above which a figure is not what it seems.
pub const FAILURE_SHARE_MAX: f64 = 0.01;

/// Repeated tries per committed transaction above which most of the work was
/// thrown away.
pub const RETRIES_PER_COMMIT_MAX: f64 = 1.0;

/// Share of the offered rate that must be reached.
pub const RATE_SHARE_MIN: f64 = 0.95;

/// Everything that can be said, in the order in which a person would ask.
pub(super) fn all(record: &RunRecord) -> Vec<Verdict> {
    let mut verdicts = ending(record);
    verdicts.extend(audits(record));
    verdicts.extend(record.statements.iter().filter_map(found_no_row));
    verdicts.extend(outcomes(record));
    if record.driver.saturation.saturated {
        verdicts.push(Verdict::DriverSaturated { reason: record.driver.saturation.reason.clone() });
    }
    if record.totals.counts.committed > 0 {
        verdicts.extend(steadiness(&record.timeline, record.totals.seconds));
    }
    verdicts
}

fn ending(record: &RunRecord) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    match record.ended.how {
        EndKind::Completed => {}
        EndKind::Interrupted => verdicts.push(Verdict::Interrupted),
        EndKind::Aborted => verdicts.push(Verdict::Aborted {
            reason: record.ended.reasons.first().cloned().unwrap_or_default(),
        }),
    }
    if record.ended.clients_aborted > 0 {
        verdicts.push(Verdict::ClientsAborted {
            aborted: record.ended.clients_aborted,
            clients: record.plan.clients,
        });
    }
    verdicts
}

fn audits(record: &RunRecord) -> Vec<Verdict> {
    let with = |outcome| record.audits.iter().filter(move |audit| audit.outcome == outcome);
    let mut verdicts: Vec<Verdict> = with(AuditOutcome::Failed)
        .map(|audit| Verdict::AuditFailed {
            audit: audit.name.clone(),
            off_by: audit.difference().map_or("?".to_owned(), |by| format!("{by:+}")),
        })
        .collect();
    if verdicts.is_empty() && with(AuditOutcome::Passed).next().is_none() {
        verdicts.push(Verdict::NotAudited { skipped: record.audits.len() as u64 });
    }
    verdicts
}

fn found_no_row(record: &StatementRecord) -> Option<Verdict> {
    let info = &record.statement;
    let share = ratio(record.short, record.executions);
    (info.rows_expected_min() > 0 && share > NO_ROW_SHARE_MAX).then(|| Verdict::WritesFoundNoRow {
        script: info.script,
        command: info.command,
        statement: info.text.clone(),
        share,
        independent: info.independent.clone(),
    })
}

fn outcomes(record: &RunRecord) -> Vec<Verdict> {
    let counts = &record.totals.counts;
    let mut verdicts = Vec::new();
    if counts.committed == 0 {
        verdicts.push(Verdict::NothingCommitted);
    }
    if counts.failed > 0 {
        let most = counts.failed_by_sqlstate.iter().max_by_key(|(_, count)| **count);
        verdicts.push(Verdict::Failures {
            // Of all that ended, as pgbench's percentage.
            share: ratio(
                counts.failed,
                counts.committed + counts.failed + counts.unknown + counts.skipped,
            ),
            sqlstate: most.map_or_else(String::new, |(state, _)| state.to_string()),
        });
    }
    verdicts.extend(endpoints::trouble(record));
    let conflicts = conflicts::of(record);
    verdicts.extend(conflicts.map(|conflicts| Verdict::Conflicts { conflicts }));
    let retries_per_commit = ratio(counts.retries, counts.committed);
    if retries_per_commit > RETRIES_PER_COMMIT_MAX {
        verdicts.push(Verdict::RetriesDominate { retries_per_commit });
    }
    if counts.unknown > 0 {
        verdicts.push(Verdict::UnknownOutcomes { count: counts.unknown });
    }
    if let Some(rate_tps) = record.plan.rate_tps
        && record.totals.seconds >= STEADY_SECONDS_MIN as f64
        && record.totals.tps < rate_tps * RATE_SHARE_MIN
        // At low rates the arrivals themselves, drawn at random, may be fewer.
        && record.totals.tps * record.totals.seconds
            < arrivals_min(rate_tps * record.totals.seconds)
    {
        verdicts.push(Verdict::RateNotReached { rate_tps, tps: record.totals.tps });
    }
    verdicts
}

/// The fewest Poisson arrivals to be expected: three standard deviations below
/// the mean.
fn arrivals_min(mean: f64) -> f64 {
    mean - 3.0 * mean.sqrt()
}

/// Steady, unsteady, warming up or too short, by the TPS of full points.
fn steadiness(timeline: &TimelineRecord, seconds: f64) -> Vec<Verdict> {
    let width = timeline.width_s.max(1);
    let full = timeline.points.iter().filter(|point| {
        point.second >= 0 && point.second as f64 + width as f64 <= seconds + END_SLACK_S
    });
    let tps: Vec<f64> = full.map(|point| point.commits as f64 / width as f64).collect();
    let seconds_full = tps.len() as u64 * width;
    if seconds_full < STEADY_SECONDS_MIN || (tps.len() as u64) < STEADY_SECONDS_MIN {
        return vec![Verdict::TooShort {
            seconds: seconds_full,
            seconds_needed: STEADY_SECONDS_MIN,
        }];
    }
    let mut verdicts = Vec::new();
    let warming = warming_points(&tps);
    if warming > 0 {
        verdicts.push(Verdict::NotWarmedUp {
            first_tps: mean(&tps[..warming]),
            later_tps: mean(&tps[tps.len() / 2..]),
        });
    }
    let rest = &tps[warming..];
    let (variation, drift) = (variation(rest, width as f64), drift(rest));
    let drift_noise = 2.0 / (rest.iter().sum::<f64>() * width as f64).sqrt();
    let drifted = drift.abs() > DRIFT_MAX.max(DRIFT_ERRORS_MIN * drift_noise);
    if variation > VARIATION_MAX || drifted {
        verdicts.push(Verdict::Unsteady { variation, drift });
    } else if warming == 0 {
        verdicts.push(Verdict::Steady { variation, drift });
    }
    verdicts
}

/// The measured interval ends when the last client has ended, a little before
/// or after the full second; a point that misses this much is still full.
const END_SLACK_S: f64 = 0.02;

/// How many of the first points belong to a warm-up; 0 when it was warm.
fn warming_points(tps: &[f64]) -> usize {
    if tps.len() < WARM_POINTS_MIN {
        return 0;
    }
    // Two at least: one slow second is a stall, not a warm-up.
    let first = (tps.len() / 10).max(2);
    let cold = mean(&tps[..first]) < WARM_SHARE_MIN * mean(&tps[tps.len() / 2..]);
    if cold { first } else { 0 }
}

/// Coefficient of variation of the TPS of points, less the part that counting
/// events gives by itself (Poisson: the variance of a count is its mean), so
/// that ten transactions a second are not called unsteady for being few.
fn variation(tps: &[f64], width_s: f64) -> f64 {
    let mean_tps = mean(tps);
    if mean_tps <= 0.0 {
        return 0.0;
    }
    let squares = tps.iter().map(|tps| (tps - mean_tps).powi(2)).sum::<f64>();
    let sample_variance = squares / (tps.len().max(2) - 1) as f64;
    let counting = 1.0 / (mean_tps * width_s);
    (sample_variance / (mean_tps * mean_tps) - counting).max(0.0).sqrt()
}

/// (second half − first half) / whole; the middle point of an odd count is in
/// neither half.
fn drift(tps: &[f64]) -> f64 {
    let half = tps.len() / 2;
    let whole = mean(tps);
    if whole <= 0.0 {
        return 0.0;
    }
    (mean(&tps[tps.len() - half..]) - mean(&tps[..half])) / whole
}

fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Audit, example};
    use crate::timeline::Point;
    use crate::verdict::{Severity, judge};

    fn timeline(tps: &[u64]) -> TimelineRecord {
        let point = |(second, commits): (usize, &u64)| Point {
            second: second as i64,
            commits: *commits,
            ..Point::default()
        };
        TimelineRecord { width_s: 1, points: tps.iter().enumerate().map(point).collect() }
    }

    fn of(tps: &[u64]) -> Vec<Verdict> {
        steadiness(&timeline(tps), tps.len() as f64)
    }

    fn changed(change: impl FnOnce(&mut RunRecord)) -> Vec<Verdict> {
        let mut record = example::record();
        change(&mut record);
        judge(&record).into_iter().map(|verdict| verdict.verdict).collect()
    }

    /// A clean run is steady and nothing else.
    #[test]
    fn a_clean_run_is_only_steady() {
        let verdicts = changed(|_| {});
        assert!(matches!(verdicts[..], [Verdict::Steady { .. }]), "{verdicts:?}");
    }

    /// Steadiness follows its stated rule: variation, drift, warm-up, length.
    #[test]
    fn steadiness_by_the_rule() {
        assert!(matches!(of(&[1000; 4])[..], [Verdict::TooShort { seconds: 4, .. }]));
        assert!(matches!(of(&[1000; 5])[..], [Verdict::Steady { .. }]));
        let stalls = [1000, 1000, 1000, 100, 1000, 1000, 1000, 0, 1000, 1000];
        assert!(matches!(of(&stalls)[..], [Verdict::Unsteady { .. }]));
        let sinking: Vec<u64> = (0..20).map(|second| 1000 - second * 20).collect();
        assert!(matches!(of(&sinking)[..], [Verdict::Unsteady { drift, .. }] if drift < -0.1));
        let warming = [100, 300, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000];
        assert!(matches!(of(&warming)[..], [Verdict::NotWarmedUp { first_tps: 200.0, .. }]));
    }

    /// Few transactions a second scatter by nature; that is not unsteadiness.
    #[test]
    fn counting_noise_is_not_unsteadiness() {
        // Drawn once from a Poisson distribution with mean 4.
        let few = [3, 5, 4, 7, 2, 4, 1, 6, 4, 3, 5, 4, 2, 8, 4, 3, 6, 4, 5, 2];
        assert!(matches!(of(&few)[..], [Verdict::Steady { .. }]), "{:?}", of(&few));
    }

    /// Warm-up seconds and the cut-off last second are left out.
    #[test]
    fn only_full_measured_seconds_count() {
        let mut timeline = timeline(&[1000; 7]);
        timeline.points[6].commits = 10;
        timeline.points.insert(0, Point { second: -1, commits: 1, ..Point::default() });
        let verdicts = steadiness(&timeline, 6.3);
        assert!(matches!(verdicts[..], [Verdict::Steady { variation: 0.0, .. }]), "{verdicts:?}");
    }

    /// A failed audit is fatal, comes first, and says by how much.
    #[test]
    fn a_failed_audit_comes_first() {
        let mut record = example::record();
        record.driver.saturation.saturated = true;
        record.audits[2] = Audit {
            outcome: AuditOutcome::Failed,
            found: Some(-18_223 - 41),
            ..record.audits[2].clone()
        };
        let verdicts = judge(&record);
        assert_eq!(verdicts[0].severity, Severity::Fatal);
        assert!(matches!(&verdicts[0].verdict,
            Verdict::AuditFailed { off_by, .. } if off_by == "-41"));
        assert!(matches!(verdicts[1].verdict, Verdict::DriverSaturated { .. }));
    }

    /// No audit is said to be no audit, whether none exists or all were skipped.
    #[test]
    fn the_absence_of_audits_is_said() {
        let none = changed(|record| record.audits.clear());
        assert!(none.contains(&Verdict::NotAudited { skipped: 0 }));
        let skipped = changed(|record| {
            record.audits.iter_mut().for_each(|audit| audit.outcome = AuditOutcome::Skipped);
        });
        assert!(skipped.contains(&Verdict::NotAudited { skipped: 4 }));
    }

    /// A write that finds nothing in more than 1 % of executions is named; at
    /// 1 %, or where no row is expected, it is not.
    #[test]
    fn writes_of_nothing_are_named() {
        let with_share = |share: u64| {
            changed(|record| {
                record.statements[1].executions = 10_000;
                record.statements[1].short = share;
                // A SELECT may find nothing.
                record.statements[2].short = 0;
                record.statements[2].no_row = record.statements[2].executions;
            })
        };
        assert!(matches!(with_share(100)[..], [Verdict::Steady { .. }]));
        let named = with_share(9_517);
        assert!(
            matches!(&named[0], Verdict::WritesFoundNoRow { command: 5, share, .. }
            if (share - 0.9517).abs() < 1e-9),
            "{named:?}"
        );
        let declared = changed(|record| {
            record.statements[1].statement.rows_expected = Some(0);
            record.statements[1].short = 0;
            record.statements[1].no_row = record.statements[1].executions;
        });
        assert!(matches!(declared[..], [Verdict::Steady { .. }]));
    }

    /// Every outcome that takes from the figure is said.
    #[test]
    fn outcomes_are_said() {
        let verdicts = changed(|record| {
            record.totals.counts.failed = 50;
            record.totals.counts.failed_by_sqlstate.insert("40001".parse().unwrap(), 50);
            record.totals.counts.retries = record.totals.counts.committed * 3;
            record.totals.counts.unknown = 2;
            record.ended.clients_aborted = 1;
            record.ended.how = EndKind::Interrupted;
            record.plan.rate_tps = Some(record.totals.tps * 2.0);
        });
        for wanted in [
            |v: &Verdict| matches!(v, Verdict::Failures { sqlstate, .. } if sqlstate == "40001"),
            |v: &Verdict| {
                matches!(v, Verdict::RetriesDominate { retries_per_commit }
                if *retries_per_commit == 3.0)
            },
            |v: &Verdict| matches!(v, Verdict::UnknownOutcomes { count: 2 }),
            |v: &Verdict| matches!(v, Verdict::ClientsAborted { aborted: 1, clients: 8 }),
            |v: &Verdict| matches!(v, Verdict::Interrupted),
            |v: &Verdict| matches!(v, Verdict::RateNotReached { .. }),
        ] {
            assert!(verdicts.iter().any(wanted), "{verdicts:?}");
        }
    }

    /// A run that committed nothing is not called steady.
    #[test]
    fn nothing_committed_is_not_steady() {
        let verdicts = changed(|record| {
            record.totals.counts.committed = 0;
            record.timeline.points.iter_mut().for_each(|point| point.commits = 0);
        });
        assert_eq!(verdicts[..], [Verdict::NothingCommitted]);
    }

    /// A low rate that was kept is not held against the target.
    #[test]
    fn random_arrivals_may_be_fewer() {
        let kept = changed(|record| {
            record.plan.rate_tps = Some(10.0);
            record.totals.tps = 9.2;
        });
        assert!(!kept.iter().any(|v| matches!(v, Verdict::RateNotReached { .. })), "{kept:?}");
    }
}
