//! The words: each verdict's severity, its sentence and its advice.

use crate::verdict::kinds::{Severity, Silence, Verdict};
use crate::verdict::rules::FAILURE_SHARE_MAX;

/// How much a verdict takes from the figure.
pub(super) fn severity(verdict: &Verdict) -> Severity {
    match verdict {
        Verdict::Steady { .. } => Severity::Good,
        Verdict::TooShort { .. }
        | Verdict::NotAudited { .. }
        | Verdict::UnknownOutcomes { .. }
        | Verdict::Interrupted => Severity::Note,
        Verdict::Failures { share, .. } if *share <= FAILURE_SHARE_MAX => Severity::Note,
        Verdict::Conflicts { conflicts } if !conflicts.is_heavy() => Severity::Note,
        Verdict::Unsteady { .. }
        | Verdict::NotWarmedUp { .. }
        | Verdict::DriverSaturated { .. }
        | Verdict::WritesFoundNoRow { .. }
        | Verdict::Failures { .. }
        | Verdict::Conflicts { .. }
        | Verdict::EndpointTrouble { .. }
        | Verdict::RetriesDominate { .. }
        | Verdict::RateNotReached { .. }
        | Verdict::ClientsAborted { .. } => Severity::Warning,
        Verdict::AuditFailed { .. } | Verdict::Aborted { .. } | Verdict::NothingCommitted => {
            Severity::Fatal
        }
    }
}

/// One sentence with the evidence.
pub(super) fn text(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Steady { variation, drift } => format!(
            "steady: transactions per second varied by {}, drifted by {}",
            percent(*variation),
            signed_percent(*drift)
        ),
        Verdict::Unsteady { variation, drift } => format!(
            "unsteady: transactions per second varied by {}, drifted by {}",
            percent(*variation),
            signed_percent(*drift)
        ),
        Verdict::TooShort { seconds, seconds_needed } => format!(
            "{seconds} full seconds are too few to say whether it was steady ({seconds_needed} are needed)"
        ),
        Verdict::NotWarmedUp { first_tps, later_tps } => {
            format!("still warming up: {first_tps:.0} tps at first, {later_tps:.0} later")
        }
        Verdict::DriverSaturated { reason } => {
            format!("the driver was the bottleneck, not the database: {reason}")
        }
        Verdict::WritesFoundNoRow { statement, share, independent, .. } => {
            let found = format!("{} of executions did not touch their rows", percent(*share));
            match independent.as_slice() {
                [] => format!("{found}: {statement}"),
                // The likely reason first: a long statement is cut where it is shown.
                names => format!("{found}; {} are drawn independently: {statement}", listed(names)),
            }
        }
        Verdict::AuditFailed { audit, off_by } => format!("audit failed: {audit}, off by {off_by}"),
        Verdict::NotAudited { skipped: 0 } => {
            "no audit looked at the tables after the run".to_owned()
        }
        Verdict::NotAudited { skipped } => {
            format!("no audit looked at the tables after the run; {skipped} skipped")
        }
        Verdict::Failures { share, sqlstate } => {
            format!("{} of transactions failed, most with {sqlstate}", percent(*share))
        }
        Verdict::Conflicts { conflicts } => conflicts.text(),
        Verdict::EndpointTrouble { lost, lossy, idle, silent } => {
            trouble_text(*lost, lossy, idle, *silent)
        }
        Verdict::RetriesDominate { retries_per_commit } => {
            format!("{retries_per_commit:.1} repeated tries for each transaction committed")
        }
        Verdict::UnknownOutcomes { count } => format!(
            "{count} commits of unknown outcome: the connection was lost while they were on their way"
        ),
        Verdict::RateNotReached { rate_tps, tps } => {
            format!("{tps:.0} of {rate_tps:.0} transactions per second were reached")
        }
        Verdict::Interrupted => "interrupted: the figures cover the part that ran".to_owned(),
        Verdict::Aborted { reason } => format!("aborted: {reason}"),
        Verdict::ClientsAborted { aborted, clients } => {
            format!("{aborted} of {clients} clients ended by an error")
        }
        Verdict::NothingCommitted => "no transaction was committed".to_owned(),
    }
}

/// What to do about it; empty where nothing is to be done.
pub(super) fn advice(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Steady { .. } => "",
        Verdict::Unsteady { .. } => {
            "run longer, and look in the timeline for stalls (checkpoints, vacuum, throttling)"
        }
        Verdict::TooShort { .. } => "run for 60 s or more before quoting the figure",
        Verdict::NotWarmedUp { .. } => "use a longer warm-up",
        Verdict::DriverSaturated { .. } => {
            "use more workers, another machine for the driver, or fewer clients"
        }
        Verdict::WritesFoundNoRow { independent, .. } if !independent.is_empty() => {
            "unless every combination of these values has a row, a row is there only by chance: \
             draw one of them and derive the others from it"
        }
        Verdict::WritesFoundNoRow { .. } => {
            "check that the keys drawn belong together and that the tables were loaded at this scale"
        }
        Verdict::AuditFailed { .. } => {
            "do not use the figure; work was lost or done twice, or the tables were not clean before"
        }
        Verdict::NotAudited { .. } => {
            "nothing shows that the work was done; a workload with audits would"
        }
        Verdict::Failures { share, .. } if *share <= FAILURE_SHARE_MAX => "",
        Verdict::Failures { .. } => {
            "allow more tries, spread the work over more rows, or use fewer clients"
        }
        Verdict::RetriesDominate { .. } => {
            "spread the work over more rows (a larger scale), or use fewer clients"
        }
        Verdict::UnknownOutcomes { .. } => "the audits allow for them",
        Verdict::RateNotReached { .. } => "offer less, or read the result as the most it can do",
        Verdict::EndpointTrouble { .. } => {
            "the figure includes the time without them; see the timeline and the server's log"
        }
        // Said by the verdict itself, with figures.
        Verdict::Conflicts { .. } | Verdict::Interrupted => "",
        Verdict::Aborted { .. } => "the server's log says more",
        Verdict::ClientsAborted { .. } => {
            "the others went on with less load than planned; see the errors in the record"
        }
        Verdict::NothingCommitted => "see the failures by SQLSTATE",
    }
}

/// `a`, `a and b`, `a, b and c`.
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

fn percent(share: f64) -> String {
    // What happened is never told as 0.
    if share > 0.0 && share < 0.0005 {
        return "less than 0.1 %".to_owned();
    }
    format!("{:.1} %", share * 100.0)
}

fn signed_percent(share: f64) -> String {
    format!("{:+.1} %", share * 100.0)
}

fn trouble_text(lost: u64, lossy: &[String], idle: &[String], silent: Option<Silence>) -> String {
    let mut parts = Vec::new();
    if lost > 0 {
        let at = if lossy.is_empty() { String::new() } else { format!(" at {}", lossy.join(", ")) };
        let were = if lost == 1 { "connection was" } else { "connections were" };
        parts.push(format!("{lost} {were} lost{at}, and made anew"));
    }
    parts.extend(silent.map(silence_text));
    if !idle.is_empty() {
        parts.push(format!("nothing was committed over {}", idle.join(", ")));
    }
    parts.join("; ")
}

fn silence_text(silent: Silence) -> String {
    let Silence { seconds, from_s, to_s } = silent;
    if to_s - from_s == seconds {
        format!("nothing was committed from {from_s} s to {to_s} s")
    } else {
        format!("nothing was committed in {seconds} s, the longest from {from_s} s to {to_s} s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn idle(independent: &[&str]) -> Verdict {
        Verdict::WritesFoundNoRow {
            script: 0,
            command: 5,
            statement: "UPDATE t;".to_owned(),
            share: 0.954,
            independent: independent.iter().map(|&name| name.to_owned()).collect(),
        }
    }

    /// Independent draws are named before the statement, which may be cut; without them the advice does not speak of them.
    #[test]
    fn independent_draws_are_named() {
        assert_eq!(text(&idle(&[])), "95.4 % of executions did not touch their rows: UPDATE t;");
        for (names, said) in [
            (&["aid", "bid"][..], "; aid and bid are drawn independently: UPDATE t;"),
            (&["a", "b", "c"], "; a, b and c are drawn independently: UPDATE t;"),
        ] {
            assert!(text(&idle(names)).ends_with(said), "{}", text(&idle(names)));
            assert!(advice(&idle(names)).contains("derive"));
        }
        assert!(!advice(&idle(&[])).contains("derive"));
        assert_eq!(severity(&idle(&[])), Severity::Warning);
    }
}
