//! Conflicts: tries that ended because another transaction was in the way.

use serde::{Deserialize, Serialize};

/// Share of tries lost to conflicts above which it is said.
pub const CONFLICT_SHARE_MIN: f64 = 0.01;

/// Share above which the conflicts are what the figure is about.
pub const CONFLICT_SHARE_MAX: f64 = 0.10;

/// Branches or warehouses for each client below which clients meet often: a
/// fifth of a client to each is where conflicts become rare.
pub(crate) const SCALE_PER_CLIENT: u64 = 5;

/// What kind of conflict ended a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConflictKind {
    /// 40001: it could not be put in any order with a concurrent transaction.
    Serialization,
    /// 40P01: chosen as the victim of a deadlock.
    Deadlock,
    /// An optimistic check found that another transaction was first.
    Conflict,
    /// The catalog changed under the session.
    SchemaChanged,
}

impl ConflictKind {
    const ALL: [Self; 4] =
        [Self::Serialization, Self::Deadlock, Self::Conflict, Self::SchemaChanged];

    const fn words(self) -> &'static str {
        match self {
            Self::Serialization => "a concurrent transaction was in the way",
            Self::Deadlock => "transactions waited for each other",
            Self::Conflict => "another transaction changed the same row and committed first",
            Self::SchemaChanged => "the schema changed meanwhile",
        }
    }
}

/// Where and by what tries were ended, as a worker counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conflicts {
    /// By kind; at a statement, and at COMMIT or an autocommitted write.
    counts: [[u64; 2]; 4],
}

impl Conflicts {
    /// Counts one.
    pub fn count(&mut self, kind: ConflictKind, at_commit: bool) {
        self.counts[kind as usize][usize::from(at_commit)] += 1;
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().flatten().zip(other.counts.iter().flatten()) {
            *mine += theirs;
        }
    }

    /// The kinds that occurred.
    #[must_use]
    pub fn to_records(self) -> Vec<ConflictRecord> {
        ConflictKind::ALL
            .into_iter()
            .zip(self.counts)
            .filter(|(_, [at_statement, at_commit])| at_statement + at_commit > 0)
            .map(|(kind, [at_statement, at_commit])| ConflictRecord {
                kind,
                mark: None,
                at_statement,
                at_commit,
            })
            .collect()
    }
}

/// Tries that conflicts of one kind ended, repeated or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConflictRecord {
    /// What kind.
    pub kind: ConflictKind,
    /// The target's own code for it, beside the SQLSTATE; none where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
    /// Found while a statement ran that was not the last.
    pub at_statement: u64,
    /// Found at COMMIT, or at a statement that commits by itself.
    pub at_commit: u64,
}

impl ConflictRecord {
    /// All of this kind.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.at_statement + self.at_commit
    }
}

/// What conflicts did to a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConflictVerdict {
    /// Share (0..=1) of all tries.
    pub share: f64,
    /// The kinds, the most frequent first.
    pub kinds: Vec<ConflictRecord>,
    /// Sessions.
    pub clients: u32,
    /// Scale of the tables, where clients are many for it.
    pub scale: Option<u64>,
    /// Most tries of a transaction; none is without a limit.
    pub tries_max: Option<u32>,
}

impl ConflictVerdict {
    pub(crate) fn text(&self) -> String {
        let kinds: Vec<String> = self
            .kinds
            .iter()
            .map(|one| {
                let mark = one.mark.as_ref().map(|mark| format!("{mark}: ")).unwrap_or_default();
                let place = match (one.at_statement, one.at_commit) {
                    (0, at_commit) => format!("{at_commit} at COMMIT"),
                    (at_statement, 0) => format!("{at_statement} at a statement"),
                    (at_statement, at_commit) => {
                        format!("{at_statement} at a statement, {at_commit} at COMMIT")
                    }
                };
                format!("{mark}{}, {place}", one.kind.words())
            })
            .collect();
        let mut text = format!(
            "{:.1} % of tries were lost to conflicts ({})",
            self.share * 100.0,
            kinds.join("; ")
        );
        if let (Some(scale), false) = (self.scale, self.is_schema()) {
            text.push_str(&format!(
                "; {} clients at scale {scale} meet at the same few rows: hot rows",
                self.clients
            ));
        }
        text
    }

    pub(crate) fn advice(&self) -> String {
        if self.is_schema() {
            return "keep CREATE, ALTER, DROP and GRANT away from the run, and allow more tries \
                    (--max-tries 10)"
                .to_owned();
        }
        let mut ways = Vec::new();
        if self.scale.is_some() {
            let wanted = u64::from(self.clients) * SCALE_PER_CLIENT;
            ways.push(format!("spread the work over more rows (load with --scale {wanted})"));
        } else {
            ways.push("spread the work over more rows".to_owned());
        }
        if self.tries_max == Some(1) {
            ways.push("allow more tries (--max-tries 10 --retry-backoff 10ms..1s)".to_owned());
        }
        ways.push("or use fewer clients (-c)".to_owned());
        ways.join(", ")
    }

    pub(crate) fn is_heavy(&self) -> bool {
        self.share > CONFLICT_SHARE_MAX
    }

    fn is_schema(&self) -> bool {
        self.kinds.first().is_some_and(|kind| kind.kind == ConflictKind::SchemaChanged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Merging adds kind by kind and place by place.
    #[test]
    fn merging_adds() {
        let (mut one, mut two) = (Conflicts::default(), Conflicts::default());
        one.count(ConflictKind::Deadlock, true);
        two.count(ConflictKind::Deadlock, true);
        two.count(ConflictKind::Conflict, false);
        one.merge(&two);
        let records = one.to_records();
        assert_eq!((records[0].at_statement, records[0].at_commit), (0, 2));
        assert_eq!((records[1].at_statement, records[1].at_commit), (1, 0));
    }
}
