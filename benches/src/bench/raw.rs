//! The raw results: one JSON object a line, written as they come.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::case::{Case, Phase, Tool};
use super::facts::Facts;
use super::tpcc::TpccRun;

/// The name of the file in a folder of results.
pub(super) const RAW_FILE: &str = "raw.jsonl";

/// A line of the file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum Line {
    /// The machine and the versions; the first line.
    Facts(Box<Facts>),
    /// A run.
    Run(Box<Run>),
    /// A run of the suite `tpcc`.
    Tpcc(Box<TpccRun>),
}

/// One run of one tool. CPU times are those of the tool's process alone, from
/// start to end.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Run {
    #[serde(flatten)]
    pub(super) case: Case,
    pub(super) repetition: u32,
    pub(super) tool: Tool,
    pub(super) phase: Phase,
    /// As it was run, without the wrapper that measures.
    pub(super) command: Vec<String>,
    /// Why its figures do not count.
    pub(super) error: Option<String>,
    /// As the tool said; in the load suite the rows.
    pub(super) transactions: u64,
    /// As the tool said, without the time of connecting.
    pub(super) tps: Option<f64>,
    /// As the tool said: from the first connect to the last client ready.
    pub(super) connect_ms: Option<f64>,
    /// As the tool said, in the load suite: generating and copying rows alone.
    pub(super) generate_s: Option<f64>,
    pub(super) wall_us: u64,
    pub(super) cpu_user_us: u64,
    pub(super) cpu_sys_us: u64,
    pub(super) rss_max_kib: u64,
}

impl Run {
    /// User and system time.
    pub(super) fn cpu_us(&self) -> u64 {
        self.cpu_user_us + self.cpu_sys_us
    }
}

/// Appends a line. Each is written whole and at once, so that an interrupted
/// session leaves a good file.
pub(super) fn append(file: &mut File, line: &Line) -> Result<()> {
    let mut text = serde_json::to_string(line)?;
    text.push('\n');
    file.write_all(text.as_bytes()).context("could not write a result")
}

/// Reads a folder's lines.
pub(super) fn read(folder: &Path) -> Result<Vec<Line>> {
    let path = folder.join(RAW_FILE);
    let file = File::open(&path).with_context(|| format!("could not open {}", path.display()))?;
    let lines = BufReader::new(file).lines().enumerate();
    lines
        .map(|(index, line)| {
            serde_json::from_str(&line?)
                .with_context(|| format!("{}:{}: not a result", path.display(), index + 1))
        })
        .collect()
}
