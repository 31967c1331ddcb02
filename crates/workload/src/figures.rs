//! Figures read from the tables, and what an audit finds in them.
//!
//! Pure values: a workload says in SQL which figures it wants, [`crate::audit`]
//! reads them, and the workload judges what it was given. So every rule can be
//! tested without a server.

use pgdyno_record::{Audit, AuditOutcome};

/// The figures of one reading, all of one snapshot, in the order of the query.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Figures(Vec<(String, i128)>);

impl Figures {
    /// Collects named figures.
    #[must_use]
    pub fn new(figures: Vec<(String, i128)>) -> Self {
        Self(figures)
    }

    /// The figure of that name; 0 where the reading has none, so that rules
    /// stay free of cases. A reading lacks a figure only where the workload's
    /// query and its rules disagree, which each workload's tests rule out.
    #[must_use]
    pub fn get(&self, name: &str) -> i128 {
        self.0.iter().find(|(known, _)| known == name).map_or(0, |(_, value)| *value)
    }

    /// By how much the figure of that name has grown since `base`.
    #[must_use]
    pub fn change(&self, base: &Self, name: &str) -> i128 {
        self.get(name).saturating_sub(base.get(name))
    }

    /// All figures in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, i128)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value))
    }
}

/// How the transactions of one kind ended between two readings.
///
/// Counts everything between the readings: warm-up and drain belong to it,
/// because the tables do not know when the measured interval began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Commits {
    /// Transactions whose commit the server acknowledged.
    pub committed: u64,
    /// Transactions whose connection was lost while the commit was on its
    /// way: each may have happened or not. The only tolerance of an audit.
    pub unknown: u64,
    /// Of the committed: those in which a write touched fewer rows than it
    /// should, by the command tags.
    pub without_effect: u64,
}

impl std::ops::Add for Commits {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            committed: self.committed + other.committed,
            unknown: self.unknown + other.unknown,
            without_effect: self.without_effect + other.without_effect,
        }
    }
}

/// What a rule came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The rule holds.
    Pass,
    /// Worth telling, but no fault of the run.
    Note,
    /// The rule is broken: work was lost, doubled or invented.
    Fail,
}

/// One rule, what it came to, and the figures it was judged by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// A short, stable name, such as `sums changed alike`.
    pub name: &'static str,
    /// What the rule came to.
    pub verdict: Verdict,
    /// One sentence: the evidence, or which figure is off by how much.
    pub text: String,
    /// The figures behind the sentence, by name.
    pub figures: Vec<(String, i128)>,
    /// What should be and what is, where one pair tells it: of several wrong
    /// figures, the one that is off furthest.
    pub compared: Option<Compared>,
    /// What a person can do about it.
    pub hint: Option<String>,
}

/// A figure beside what it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compared {
    /// What should be.
    pub expected: i128,
    /// What is.
    pub found: i128,
    /// By how much `found` may be above `expected`: commits of unknown
    /// outcome, nothing else.
    pub tolerance: u64,
}

impl Finding {
    /// A finding without a hint or a comparison.
    #[must_use]
    pub fn new(
        name: &'static str,
        verdict: Verdict,
        text: String,
        figures: Vec<(String, i128)>,
    ) -> Self {
        Self { name, verdict, text, figures, compared: None, hint: None }
    }

    /// Adds the pair that tells it.
    #[must_use]
    pub const fn comparing(mut self, expected: i128, found: i128, tolerance: u64) -> Self {
        self.compared = Some(Compared { expected, found, tolerance });
        self
    }

    /// Adds what a person can do.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<&Finding> for Audit {
    /// For the run's record. A note becomes a skipped audit: it tells that the
    /// absolute figures could not be judged, and why. Figures beyond 64 bits
    /// stay in the sentence only.
    fn from(finding: &Finding) -> Self {
        let outcome = match finding.verdict {
            Verdict::Pass => AuditOutcome::Passed,
            Verdict::Note => AuditOutcome::Skipped,
            Verdict::Fail => AuditOutcome::Failed,
        };
        let figure = |pick: fn(Compared) -> i128| {
            finding.compared.and_then(|compared| i64::try_from(pick(compared)).ok())
        };
        let mut detail = finding.text.clone();
        if let Some(hint) = &finding.hint {
            detail.push_str(". ");
            detail.push_str(hint);
        }
        Self {
            name: finding.name.to_owned(),
            outcome,
            expected: figure(|compared| compared.expected),
            found: figure(|compared| compared.found),
            tolerance: finding.compared.map_or(0, |compared| compared.tolerance),
            detail,
        }
    }
}

/// Judges whether figures that must be the same are the same, and says which
/// ones are off by how much.
///
/// Where all but one agree, the odd one is called off. Otherwise there is no
/// telling which is right, and all are compared with the last one, which
/// should be the most direct witness of the work.
#[must_use]
pub fn judge_equal(
    name: &'static str,
    what: &str,
    values: Vec<(String, i128)>,
    on_difference: Verdict,
) -> Finding {
    let Some(last) = values.last().map(|(_, value)| *value) else {
        return Finding::new(name, Verdict::Pass, format!("{what}: nothing to compare"), values);
    };
    let votes = |value: i128| values.iter().filter(|(_, other)| *other == value).count();
    let reference = values
        .iter()
        .map(|(_, value)| *value)
        .find(|value| values.len() > 2 && votes(*value) + 1 >= values.len())
        .unwrap_or(last);
    let off: Vec<String> = values
        .iter()
        .filter(|(_, value)| *value != reference)
        .map(|(figure, value)| {
            format!("{figure} {value:+}, off by {:+}", value.saturating_sub(reference))
        })
        .collect();
    if off.is_empty() {
        let text = format!("{what}: all {reference:+}");
        return Finding::new(name, Verdict::Pass, text, values).comparing(reference, reference, 0);
    }
    let agreeing: Vec<&str> = values
        .iter()
        .filter(|(_, value)| *value == reference)
        .map(|(figure, _)| figure.as_str())
        .collect();
    let text = format!("{what}: {} {reference:+}, but {}", agreeing.join(", "), off.join("; "));
    let furthest = values.iter().map(|(_, value)| *value).max_by_key(|v| v.abs_diff(reference));
    Finding::new(name, on_difference, text, values).comparing(
        reference,
        furthest.unwrap_or(reference),
        0,
    )
}

/// Judges figures whose change must be 0.
#[must_use]
pub fn judge_still(name: &'static str, what: &str, changes: Vec<(String, i128)>) -> Finding {
    let moved: Vec<String> = changes
        .iter()
        .filter(|(_, change)| *change != 0)
        .map(|(figure, change)| format!("{figure} off by {change:+}"))
        .collect();
    let furthest = changes.iter().map(|(_, change)| *change).max_by_key(|change| change.abs());
    let (verdict, text) = if moved.is_empty() {
        (Verdict::Pass, format!("{what}: unchanged"))
    } else {
        (Verdict::Fail, format!("{what}: {}", moved.join("; ")))
    };
    Finding::new(name, verdict, text, changes).comparing(0, furthest.unwrap_or(0), 0)
}

/// Judges whether `rows` new rows fit the transactions that each write one:
/// no fewer than were acknowledged, and no more than those and the unknown.
#[must_use]
pub fn judge_rows(name: &'static str, table: &str, rows: i128, commits: Commits) -> Finding {
    let committed = i128::from(commits.committed);
    let unknown = i128::from(commits.unknown);
    let excess = rows - committed;
    let figures = vec![
        (format!("new rows in {table}"), rows),
        ("transactions committed".to_owned(), committed),
        ("commits of unknown outcome".to_owned(), unknown),
    ];
    let (verdict, text) = if excess < 0 {
        let text = format!(
            "{table} has {rows} new rows for {committed} committed transactions: {} are missing",
            -excess
        );
        (Verdict::Fail, text)
    } else if excess > unknown {
        let text = format!(
            "{table} has {rows} new rows for {committed} committed transactions and {unknown} \
             commits of unknown outcome: {} too many",
            excess - unknown
        );
        (Verdict::Fail, text)
    } else if unknown > 0 {
        let text = format!(
            "{table} has {rows} new rows for {committed} committed transactions; of {unknown} \
             commits of unknown outcome {excess} took place"
        );
        (Verdict::Pass, text)
    } else {
        (Verdict::Pass, format!("{table} has {rows} new rows, one for each committed transaction"))
    };
    Finding::new(name, verdict, text, figures).comparing(committed, rows, commits.unknown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn named(values: &[(&str, i128)]) -> Vec<(String, i128)> {
        values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    }

    /// Where three agree, the fourth is the one that is called off.
    #[test]
    fn the_odd_one_is_named() {
        let values = named(&[("a", 70), ("t", 70), ("b", 70), ("d", 65)]);
        let found = judge_equal("x", "sums", values, Verdict::Fail);
        assert_eq!(found.verdict, Verdict::Fail);
        assert_eq!(found.text, "sums: a, t, b +70, but d +65, off by -5");
    }

    /// Without a majority the last figure is the reference, and all others are listed.
    #[test]
    fn no_majority_compares_with_the_last() {
        let values = named(&[("a", 1), ("t", 1), ("b", 2), ("d", 2)]);
        let found = judge_equal("x", "sums", values, Verdict::Fail);
        assert_eq!(found.text, "sums: b, d +2, but a +1, off by -1; t +1, off by -1");
        let pair = judge_equal("x", "sums", named(&[("a", 5), ("d", 3)]), Verdict::Note);
        assert_eq!(
            (pair.verdict, pair.text.as_str()),
            (Verdict::Note, "sums: d +3, but a +5, off by +2")
        );
    }

    proptest! {
        /// Rows pass exactly between the acknowledged commits and those plus the unknown ones.
        #[test]
        fn unknown_commits_are_the_only_tolerance(
            committed in 0u64..1000, unknown in 0u64..20, rows in 0i128..1100,
        ) {
            let found = judge_rows("rows", "history", rows, Commits { committed, unknown, without_effect: 0 });
            let fits = rows >= i128::from(committed) && rows <= i128::from(committed + unknown);
            prop_assert_eq!(found.verdict == Verdict::Pass, fits, "{}", found.text);
        }

        /// Equal figures pass whatever their number; one changed figure never does.
        #[test]
        fn equality_is_exact(value in any::<i64>(), count in 2usize..6, at in 0usize..6, by in 1i128..9) {
            let mut values: Vec<(String, i128)> =
                (0..count).map(|n| (format!("f{n}"), i128::from(value))).collect();
            prop_assert_eq!(
                judge_equal("x", "sums", values.clone(), Verdict::Fail).verdict, Verdict::Pass);
            values[at % count].1 += by;
            prop_assert_eq!(judge_equal("x", "sums", values, Verdict::Fail).verdict, Verdict::Fail);
        }
    }
}
