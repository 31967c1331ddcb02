//! What a target counts of itself, read before and after a run.
//!
//! A dialect names the questions ([`Statistics`]); this module asks them over
//! a session of its own, outside of what is measured, and takes the
//! differences. A question that fails is a note: statistics never cost a run.

mod plans;
pub(crate) mod postgres;
mod read;
pub(crate) mod waits;

use std::borrow::Cow;

pub use pgdyno_record::StatisticsKind;
use pgdyno_record::{StatisticsFigure, StatisticsGroup, StatisticsRow};
pub use plans::{PlanFigures, Sample, explain};
pub use read::{Reading, compare, read, read_again, wait_for_sessions};
pub use waits::{WaitSamples, name_servers};

/// Rows of one view that are kept where a question says nothing else.
const ROWS_MAX: usize = 20;

/// What can be asked of a kind of database.
#[derive(Debug, Clone, Default)]
pub struct Statistics {
    /// Views to be read before and after.
    pub queries: Vec<StatisticsQuery>,
    /// One row, one number: sessions like this one that are still there. Servers
    /// hand in their last figures when a session ends, which takes a moment.
    pub sessions: Option<&'static str>,
    /// What single statements cost, where the server says that.
    pub plans: Option<PlanFigures>,
    /// What sessions wait for at this moment, a row for each event with the
    /// number of sessions: where the server itself keeps no count of waits.
    /// To be asked again and again under load, but never while it is measured.
    pub waits_now: Option<&'static str>,
}

/// One view, and how its columns are to be read.
#[derive(Debug, Clone)]
pub struct StatisticsQuery {
    pub(crate) name: &'static str,
    pub(crate) sql: Cow<'static, str>,
    pub(crate) kind: StatisticsKind,
    /// Columns that say what a row is about; empty means all that are no number.
    pub(crate) labels: &'static [&'static str],
    /// Columns that are neither label nor figure.
    pub(crate) ignored: &'static [&'static str],
    /// The rows with the largest sum of these come first.
    pub(crate) rank: &'static [&'static str],
    pub(crate) rows_max: usize,
    pub(crate) verified: bool,
    /// The extension that makes the view.
    pub(crate) extension: Option<&'static str>,
}

/// In a question: the time since the first reading, in seconds. Such a
/// question is about a buffer of events with their times, of which the oldest
/// are forgotten, and is asked once, afterwards.
pub(crate) const SECONDS: &str = "{seconds}";

impl StatisticsQuery {
    /// A view of counters.
    pub(crate) fn counters(name: &'static str, sql: impl Into<Cow<'static, str>>) -> Self {
        Self {
            name,
            sql: sql.into(),
            kind: StatisticsKind::Counters,
            labels: &[],
            ignored: &["stats_reset"],
            rank: &[],
            rows_max: ROWS_MAX,
            verified: true,
            extension: None,
        }
    }

    /// Values that may grow and shrink.
    pub(crate) fn values(name: &'static str, sql: impl Into<Cow<'static, str>>) -> Self {
        Self { kind: StatisticsKind::Values, ..Self::counters(name, sql) }
    }

    pub(crate) fn labelled(self, labels: &'static [&'static str]) -> Self {
        Self { labels, ..self }
    }

    /// Leaves columns out; where they are named, `stats_reset` is to be among
    /// them unless there are labels.
    pub(crate) fn without(self, ignored: &'static [&'static str]) -> Self {
        Self { ignored, ..self }
    }

    pub(crate) fn top(self, rows_max: usize, rank: &'static [&'static str]) -> Self {
        Self { rows_max, rank, ..self }
    }

    /// Asked only where the extension is there: a view that is not there would
    /// leave an error in the server's log before each run.
    pub(crate) fn of_extension(self, name: &'static str) -> Self {
        Self { extension: Some(name), ..self }
    }

    /// What the view holds is not documented for certain.
    pub(crate) fn unverified(self) -> Self {
        Self { verified: false, ..self }
    }

    /// The name of what is asked.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The question.
    #[must_use]
    pub fn sql(&self) -> &str {
        &self.sql
    }
}
