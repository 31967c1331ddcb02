//! The rules of the described workloads, as data.

use pgdyno_target::dialect::Isolation;

use crate::figures::{Commits, Figures, Finding, Verdict, judge_rows, judge_still};

/// What must be true of the figures' changes over a run.
#[derive(Debug, Clone)]
pub(super) enum Rule {
    /// Nothing touches these.
    Still { name: &'static str, what: &'static str, figures: Vec<&'static str> },
    /// Each commit leaves one row in a table.
    RowPerCommit { name: &'static str, table: &'static str, figure: &'static str },
    /// Each commit adds one to a counter.
    CountPerCommit { name: &'static str, figure: &'static str },
    /// A read-modify-write of two rows in each transaction that leaves a row
    /// in a log: their counters grow by two for each row, and what is moved
    /// from one to the other neither comes nor goes.
    Moved {
        counter: &'static str,
        log: &'static str,
        total: &'static str,
        /// Rows are locked before they are read: no level loses an update.
        locks: bool,
    },
}

impl Rule {
    pub(super) fn judge(
        &self,
        level: Option<Isolation>,
        base: &Figures,
        now: &Figures,
        commits: Commits,
    ) -> Finding {
        match self {
            Self::Still { name, what, figures } => {
                let changes =
                    figures.iter().map(|figure| ((*figure).to_owned(), now.change(base, figure)));
                judge_still(name, what, changes.collect())
            }
            Self::RowPerCommit { name, table, figure } => {
                judge_rows(name, table, now.change(base, figure), commits)
            }
            Self::CountPerCommit { name, figure } => {
                judge_count(name, figure, now.change(base, figure), commits)
            }
            Self::Moved { counter, log, total, locks } => {
                let change = |figure: &str| now.change(base, figure);
                let changes = Moves {
                    counted: (counter, change(counter)),
                    logged: (log, change(log)),
                    total: (total, change(total)),
                };
                let promised = *locks || level.is_some_and(|l| l >= Isolation::RepeatableRead);
                changes.judge(promised, level, commits.without_effect)
            }
        }
    }
}

/// Judges whether a counter grew as the transactions that each add one to it.
fn judge_count(name: &'static str, figure: &str, grown: i128, commits: Commits) -> Finding {
    let (committed, unknown) = (i128::from(commits.committed), i128::from(commits.unknown));
    let excess = grown - committed;
    let (verdict, end) = if excess < 0 {
        (Verdict::Fail, format!(": {} are missing", -excess))
    } else if excess > unknown {
        (Verdict::Fail, format!(": {} too many", excess - unknown))
    } else {
        (Verdict::Pass, String::new())
    };
    let of_unknown = if unknown > 0 {
        format!(" and {unknown} commits of unknown outcome")
    } else {
        String::new()
    };
    let text =
        format!("{figure} grew by {grown} for {committed} committed transactions{of_unknown}{end}");
    let figures = vec![
        (figure.to_owned(), grown),
        ("transactions committed".to_owned(), committed),
        ("commits of unknown outcome".to_owned(), unknown),
    ];
    Finding::new(name, verdict, text, figures).comparing(committed, grown, commits.unknown)
}

/// The changes that [`Rule::Moved`] is judged by.
struct Moves<'a> {
    counted: (&'a str, i128),
    logged: (&'a str, i128),
    total: (&'a str, i128),
}

impl Moves<'_> {
    /// Each update adds one to what it has read, so one that is written over
    /// is missing from the counters: their lag is the number of lost updates.
    ///
    /// An update that another one writes over has found its row. Where writes
    /// found none, the isolation level is no excuse.
    fn judge(&self, promised: bool, level: Option<Isolation>, without_effect: u64) -> Finding {
        const NAME: &str = "transfers";
        let expected = self.logged.1.saturating_mul(2);
        let lost = expected.saturating_sub(self.counted.1);
        let total = self.total.1;
        let figures = [self.counted, self.logged, self.total]
            .map(|(figure, change)| (figure.to_owned(), change))
            .to_vec();
        let made = |verdict, text: String| {
            Finding::new(NAME, verdict, text, figures.clone()).comparing(
                expected,
                self.counted.1,
                0,
            )
        };
        let logged = self.logged.1;
        if lost == 0 && total == 0 {
            return made(
                Verdict::Pass,
                format!("{logged} transfers changed {expected} balances, and their total by 0"),
            );
        }
        if lost < 0 || (lost == 0 && total != 0) {
            let text = format!(
                "{logged} transfers left {} changes of balances and changed their total by \
                 {total:+}: more than lost updates can explain",
                self.counted.1
            );
            return made(Verdict::Fail, text);
        }
        let what = format!(
            "{lost} of {expected} updates were lost, and the total of all balances changed by \
             {total:+}"
        );
        if promised {
            return made(Verdict::Fail, what);
        }
        if without_effect > 0 {
            let text = format!(
                "{what}; in {without_effect} commits a write did not find its row, which is no \
                 lost update that a level allows"
            );
            return made(Verdict::Fail, text);
        }
        let where_ = level.map_or_else(
            || "at a level that the server does not tell".to_owned(),
            |level| format!("at {level}"),
        );
        made(
            Verdict::Note,
            format!("lost updates are allowed here, {where_} without locks: {what}"),
        )
        .with_hint(
            "--isolation repeatable-read or --param lock=for-update forbids them; retries \
                 (--max-tries) are then needed",
        )
    }
}

/// What holds of tables at rest, whatever was run on them.
#[derive(Debug, Clone, Copy)]
pub(super) enum AtRest {
    /// The figure is as loaded.
    Is(&'static str, i128),
    /// Nothing was taken away since the load.
    AtLeast(&'static str, i128),
    /// The first figure is twice the second.
    Twice(&'static str, &'static str),
}

impl AtRest {
    /// Fewer changes than the log has: lost updates leave this behind, and at
    /// read committed an honest server may lose them.
    fn lags(self, base: &Figures) -> bool {
        matches!(self, Self::Twice(figure, of)
            if base.get(figure) < base.get(of).saturating_mul(2))
    }

    /// What is wrong, for people.
    fn fault(self, base: &Figures, scale: u64) -> Option<String> {
        let (figure, expected, fits) = match self {
            Self::Is(figure, value) => (figure, value.to_string(), base.get(figure) == value),
            Self::AtLeast(figure, value) => {
                (figure, format!("{value} or more"), base.get(figure) >= value)
            }
            Self::Twice(figure, of) => {
                let value = base.get(of).saturating_mul(2);
                (figure, format!("{value}, twice the {of},"), base.get(figure) == value)
            }
        };
        let found = base.get(figure);
        (!fits).then(|| format!("{figure}: {found} instead of {expected} at scale {scale}"))
    }
}

/// Judges tables at rest.
pub(super) fn judge_base(scale: u64, expected: &[AtRest], base: &Figures) -> Finding {
    const NAME: &str = "clean base";
    let faults: Vec<String> = expected.iter().filter_map(|rule| rule.fault(base, scale)).collect();
    let figures = base.iter().map(|(name, value)| (name.to_owned(), value)).collect();
    if faults.is_empty() {
        let text = format!("tables fit scale {scale} and agree with each other");
        return Finding::new(NAME, Verdict::Pass, text, figures);
    }
    let mut text = format!("base was not clean: {}", faults.join("; "));
    if expected.iter().any(|rule| rule.lags(base)) {
        text.push_str("; a run that lost updates, as read committed allows, leaves this");
    }
    Finding::new(NAME, Verdict::Note, text, figures).with_hint(
        "An earlier run leaves this behind. The run is judged by what it changed; --reset starts \
         from a clean base.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(values: &[(&str, i128)]) -> Figures {
        Figures::new(values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect())
    }

    fn moved(level: Option<Isolation>, locks: bool, changes: [i128; 3]) -> Finding {
        let rule = Rule::Moved { counter: "c", log: "l", total: "t", locks };
        let base = figures(&[("c", 10), ("l", 5), ("t", 1000)]);
        let [c, l, t] = changes;
        let now = figures(&[("c", 10 + c), ("l", 5 + l), ("t", 1000 + t)]);
        rule.judge(level, &base, &now, Commits::default())
    }

    /// At a level that allows lost updates, updates that found no row are a
    /// fault all the same: no level allows those.
    #[test]
    fn swallowed_updates_are_no_lost_updates() {
        let rule = Rule::Moved { counter: "c", log: "l", total: "t", locks: false };
        let base = figures(&[("c", 0), ("l", 0), ("t", 0)]);
        let now = figures(&[("c", 19), ("l", 10), ("t", 3)]);
        for (without_effect, verdict) in [(0, Verdict::Note), (1, Verdict::Fail)] {
            let commits = Commits { without_effect, ..Commits::default() };
            let found = rule.judge(Some(Isolation::ReadCommitted), &base, &now, commits);
            assert_eq!(found.verdict, verdict, "{}", found.text);
        }
    }

    /// A lost update is a fault where the level or the locks forbid it, and is
    /// named and counted where they do not.
    #[test]
    fn lost_updates_by_level() {
        use Isolation::{ReadCommitted, RepeatableRead, Serializable};
        for level in [None, Some(ReadCommitted)] {
            let found = moved(level, false, [19, 10, 3]);
            assert_eq!(found.verdict, Verdict::Note);
            let said = ["lost updates are allowed here", "1 of 20", "+3"];
            assert!(said.iter().all(|word| found.text.contains(word)), "{}", found.text);
            assert_eq!(moved(level, true, [19, 10, 3]).verdict, Verdict::Fail);
        }
        for level in [RepeatableRead, Serializable] {
            assert_eq!(moved(Some(level), false, [19, 10, 0]).verdict, Verdict::Fail);
            assert_eq!(moved(Some(level), false, [20, 10, 0]).verdict, Verdict::Pass);
        }
    }

    /// What no lost update explains is a fault at every level.
    #[test]
    fn invented_money_is_a_fault_everywhere() {
        for changes in [[20, 10, 1], [21, 10, 0]] {
            let found = moved(Some(Isolation::ReadCommitted), false, changes);
            assert_eq!(found.verdict, Verdict::Fail, "{}", found.text);
        }
    }

    /// A counter passes exactly between the acknowledged commits and those plus
    /// the unknown ones.
    #[test]
    fn counters_follow_the_commits() {
        for (grown, verdict, end) in [
            (9, Verdict::Fail, "unknown outcome: 1 are missing"),
            (10, Verdict::Pass, "unknown outcome"),
            (12, Verdict::Pass, "unknown outcome"),
            (13, Verdict::Fail, "unknown outcome: 1 too many"),
        ] {
            let found = judge_count(
                "x",
                "c",
                grown,
                Commits { committed: 10, unknown: 2, without_effect: 0 },
            );
            assert_eq!(found.verdict, verdict, "{}", found.text);
            assert!(found.text.ends_with(end), "{}", found.text);
        }
    }

    /// A base is clean exactly where each rule holds.
    #[test]
    fn base_is_judged_rule_by_rule() {
        let rules = [AtRest::Is("n", 5), AtRest::AtLeast("m", 3), AtRest::Twice("c", "l")];
        let judged =
            |n, m, c, l| judge_base(1, &rules, &figures(&[("n", n), ("m", m), ("c", c), ("l", l)]));
        for clean in [judged(5, 3, 0, 0), judged(5, 9, 8, 4)] {
            assert_eq!(clean.verdict, Verdict::Pass, "{}", clean.text);
        }
        for (other, text) in [
            (judged(4, 3, 0, 0), "n: 4 instead of 5 at scale 1"),
            (judged(5, 2, 0, 0), "m: 2 instead of 3 or more at scale 1"),
            (
                judged(5, 3, 7, 4),
                "c: 7 instead of 8, twice the l, at scale 1; a run that lost updates, as read \
                 committed allows, leaves this",
            ),
            (judged(5, 3, 9, 4), "c: 9 instead of 8, twice the l, at scale 1"),
        ] {
            assert_eq!(other.verdict, Verdict::Note);
            assert_eq!(other.text, format!("base was not clean: {text}"));
        }
    }
}
