//! What the target counted of itself, read before and after a run.
//!
//! The figures are the server's own and cover the time between the readings:
//! warm-up, measured interval and drain, and whatever else used the server.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The server's own figures around a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetStatistics {
    /// From the reading before to the reading after, s.
    pub seconds: f64,
    /// What was read, each view on its own.
    pub groups: Vec<StatisticsGroup>,
    /// What the server says that single statements cost it, each run once
    /// after the run and taken back.
    pub plans: Vec<StatementPlan>,
    /// What could not be read, and why.
    pub notes: Vec<String>,
}

/// How figures are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatisticsKind {
    /// They grow; the difference counts. What did not grow is left out.
    Counters,
    /// They are what they are, such as a size.
    Values,
}

/// One view of the server's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatisticsGroup {
    /// The name of the view, or of what was asked.
    pub name: String,
    /// How its figures are to be read.
    pub kind: StatisticsKind,
    /// False where what the figures mean is not documented for certain.
    pub verified: bool,
    /// Its rows; where they are ranked, the largest first.
    pub rows: Vec<StatisticsRow>,
    /// Rows that changed as well, and were too many.
    pub rows_left_out: u64,
}

/// One row of a view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatisticsRow {
    /// What it is about, such as the text of a statement.
    pub labels: BTreeMap<String, String>,
    /// Its figures by the server's names.
    pub figures: BTreeMap<String, StatisticsFigure>,
}

/// One figure, twice.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatisticsFigure {
    /// Before the run; none where the row was not there yet.
    pub before: Option<f64>,
    /// After the run; none where the row was gone.
    pub after: Option<f64>,
    /// By how much it grew; none where it was set back in between.
    pub difference: Option<f64>,
}

/// What the server says that a statement cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatementPlan {
    /// The transaction type.
    pub script: String,
    /// The statement's first line.
    pub statement: String,
    /// The figures by the server's names.
    pub figures: BTreeMap<String, f64>,
}

impl TargetStatistics {
    /// A group by its name.
    #[must_use]
    pub fn group(&self, name: &str) -> Option<&StatisticsGroup> {
        self.groups.iter().find(|group| group.name == name)
    }

    /// By how much a figure grew, over all rows of a group; none where none of
    /// them has it.
    #[must_use]
    pub fn grown(&self, group: &str, figure: &str) -> Option<f64> {
        let rows = &self.group(group)?.rows;
        let differences: Vec<f64> =
            rows.iter().filter_map(|row| row.figures.get(figure)?.difference).collect();
        (!differences.is_empty()).then(|| differences.iter().sum())
    }
}
