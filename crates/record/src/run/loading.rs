//! How the tables came to be: their loading, and a reset before the run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::sqlstate::SqlState;

/// Loading of the tables.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadRecord {
    /// How, e.g. `copy`.
    pub method: String,
    /// Connections used side by side.
    pub jobs: u32,
    /// Wall-clock time of everything: tables, rows, keys, vacuum; s.
    pub seconds: f64,
    /// Rows over all tables.
    pub rows: u64,
    /// Rows per second while rows were loaded.
    pub rows_per_s: f64,
    /// Each table.
    pub tables: Vec<LoadedTable>,
    /// Statements that were refused and tried again, by SQLSTATE; none most often.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub retries_by_sqlstate: BTreeMap<SqlState, u64>,
    /// What was chosen of the target's tables, such as `partitions`; none most often.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub table_params: BTreeMap<String, String>,
}

/// One loaded table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadedTable {
    /// Its name.
    pub name: String,
    /// Rows loaded.
    pub rows: u64,
    /// Time from its first to its last row, s.
    pub seconds: f64,
}

/// How the tables were brought back to their initial state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResetHow {
    /// They were in it.
    NotNeeded,
    /// What had been changed was put back.
    InPlace,
    /// They were made and loaded anew.
    Reload,
}

/// Bringing the tables back to their initial state before a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResetRecord {
    /// How.
    pub how: ResetHow,
    /// Rows put back, removed or loaded.
    pub rows: u64,
    /// Wall-clock time, looking included; s.
    pub seconds: f64,
    /// Why this way; empty where nothing else was thinkable.
    pub reason: String,
}
