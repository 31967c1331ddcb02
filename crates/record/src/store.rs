//! Where records lie: one folder per run, one file in it, never overwritten by
//! another run's.
//!
//! A record is written to a temporary file, synced and renamed, so that a
//! reader sees a whole record or none. The folder is made anew for each run; a
//! folder that exists is refused, so no run can replace another; only a run's
//! own record is replaced, by [`Store::replace`], when more is known of it.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::run::{RunRecord, SCHEMA_VERSION};

/// The default folder of all runs, under the working directory.
pub const RUNS_DIR: &str = "pgdyno-runs";

/// The record's file name inside the folder of its run.
pub const RECORD_FILE: &str = "run.json";

/// The largest file that is read as a record. A six-hour run with a hundred
/// statements stays below 20 MB; beyond this the file is something else.
pub const RECORD_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// The longest run id: it is part of a folder's name.
pub const RUN_ID_CHARS_MAX: usize = 64;

/// A folder of runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    dir: PathBuf,
}

/// Why a record could not be kept or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file system refused.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// With which file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A run of this time and id was kept before.
    #[error("{} exists already; a record is never overwritten", path.display())]
    Exists {
        /// The folder of the run.
        path: PathBuf,
    },
    /// The run id cannot be part of a folder's name.
    #[error("\"{run_id}\" is not a run id: it takes 1 to {RUN_ID_CHARS_MAX} of a-z, 0-9 and \"-\"")]
    RunId {
        /// The id.
        run_id: String,
    },
    /// The record could not be put into JSON.
    #[error("cannot write {} as JSON: {source}", path.display())]
    Encode {
        /// The file that was to be written.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
    /// The file is not a record.
    #[error("{} is not a run record: {source}", path.display())]
    Decode {
        /// The file.
        path: PathBuf,
        /// Why, with line and column.
        source: serde_json::Error,
    },
    /// The file is far larger than any record.
    #[error("{} has {bytes} bytes, more than a record can have ({RECORD_BYTES_MAX})", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
    },
    /// The record was written in a form that this program does not know.
    #[error(
        "{} has schema version {found}; this program reads version {SCHEMA_VERSION}. \
         A newer pgdyno can read it",
        path.display()
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
}

/// The one field that every version has.
#[derive(Deserialize)]
struct Versioned {
    schema_version: u32,
}

impl Default for Store {
    fn default() -> Self {
        Self::new(RUNS_DIR)
    }
}

impl Store {
    /// The store in this folder, which need not exist yet.
    #[must_use]
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// The folder that a run has or would have: `<UTC time>-<run id>`, so that
    /// a listing by name is a listing by time.
    #[must_use]
    pub fn run_dir(&self, record: &RunRecord) -> PathBuf {
        let time = record.started_at.strftime("%Y%m%dT%H%M%SZ");
        self.dir.join(format!("{time}-{}", record.run_id))
    }

    /// Writes a record into a new folder and returns the path of its file.
    ///
    /// # Errors
    /// When the run has a folder already, its id is not fit for a name, or the
    /// file system refuses. A temporary file may then remain, never a part of a
    /// record under its final name.
    pub fn write(&self, record: &RunRecord) -> Result<PathBuf, StoreError> {
        let (run_dir, json) = self.encode(record)?;
        fs::create_dir_all(&self.dir).map_err(io_error("create", &self.dir))?;
        fs::create_dir(&run_dir).map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => StoreError::Exists { path: run_dir.clone() },
            _ => io_error("create", &run_dir)(source),
        })?;
        let path = put(&run_dir, &json)?;
        // The names are entries of their folders; without this a power cut
        // could lose the record although its bytes are on disk.
        sync_dir(&self.dir).map_err(io_error("sync", &self.dir))?;
        Ok(path)
    }

    /// Puts a run's record in the place of an earlier state of the same record,
    /// in one step: a reader, or a run that is ended meanwhile, has the earlier
    /// state or the new one. Returns the path of its file.
    ///
    /// # Errors
    /// When the run was not written before, or the file system refuses; the
    /// earlier state then stays.
    pub fn replace(&self, record: &RunRecord) -> Result<PathBuf, StoreError> {
        let (run_dir, json) = self.encode(record)?;
        let path = run_dir.join(RECORD_FILE);
        // No record comes to be by being replaced: the folder may have been
        // moved away or be another's.
        fs::metadata(&path).map_err(io_error("replace", &path))?;
        put(&run_dir, &json)
    }

    /// The folder of a run, and the bytes of its file.
    fn encode(&self, record: &RunRecord) -> Result<(PathBuf, Vec<u8>), StoreError> {
        if !is_run_id(&record.run_id) {
            return Err(StoreError::RunId { run_id: record.run_id.clone() });
        }
        let run_dir = self.run_dir(record);
        let mut json = serde_json::to_vec_pretty(record)
            .map_err(|source| StoreError::Encode { path: run_dir.join(RECORD_FILE), source })?;
        json.push(b'\n');
        Ok((run_dir, json))
    }

    /// Reads a record from its file, or from the folder of its run.
    ///
    /// # Errors
    /// When the file cannot be read, is not a record, or has another version.
    pub fn read(path: &Path) -> Result<RunRecord, StoreError> {
        let file = if path.is_dir() { path.join(RECORD_FILE) } else { path.to_owned() };
        let bytes = fs::metadata(&file).map_err(io_error("read", &file))?.len();
        if bytes > RECORD_BYTES_MAX {
            return Err(StoreError::TooLarge { path: file, bytes });
        }
        let json = fs::read(&file).map_err(io_error("read", &file))?;
        let decode = |source| StoreError::Decode { path: file.clone(), source };
        let version = serde_json::from_slice::<Versioned>(&json).map_err(decode)?.schema_version;
        if version != SCHEMA_VERSION {
            return Err(StoreError::Version { path: file, found: version });
        }
        serde_json::from_slice(&json).map_err(decode)
    }

    /// The folders that hold a record, oldest first. A store whose folder does
    /// not exist has none.
    ///
    /// # Errors
    /// When the folder cannot be listed.
    pub fn runs(&self) -> Result<Vec<PathBuf>, StoreError> {
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(io_error("list", &self.dir)(error)),
        };
        let mut runs = Vec::new();
        for entry in entries {
            let path = entry.map_err(io_error("list", &self.dir))?.path();
            if path.join(RECORD_FILE).is_file() {
                runs.push(path);
            }
        }
        runs.sort();
        Ok(runs)
    }
}

fn is_run_id(text: &str) -> bool {
    let is_fit = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=RUN_ID_CHARS_MAX).contains(&text.len()) && text.bytes().all(is_fit)
}

fn io_error(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.to_owned();
    move |source| StoreError::Io { doing, path, source }
}

/// Writes a record's file under its final name, whole or not at all.
fn put(run_dir: &Path, json: &[u8]) -> Result<PathBuf, StoreError> {
    let path = run_dir.join(RECORD_FILE);
    let temporary = run_dir.join(format!("{RECORD_FILE}.part"));
    write_synced(&temporary, json).map_err(io_error("write", &temporary))?;
    fs::rename(&temporary, &path).map_err(io_error("rename to", &path))?;
    sync_dir(run_dir).map_err(io_error("sync", run_dir))?;
    Ok(path)
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn sync_dir(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::example;

    /// A record comes back as it was written, from its file and its folder.
    #[test]
    fn round_trip() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().join("a/b"));
        let record = example::record();
        let path = store.write(&record).unwrap();
        assert_eq!(Store::read(&path).unwrap(), record);
        assert_eq!(Store::read(path.parent().unwrap()).unwrap(), record);
        assert_eq!(store.runs().unwrap(), [store.run_dir(&record)]);
        let names: Vec<_> = fs::read_dir(store.run_dir(&record)).unwrap().collect();
        assert_eq!(names.len(), 1, "no temporary file is left");
        assert_eq!(Store::new(dir.path().join("none")).runs().unwrap(), Vec::<PathBuf>::new());
    }

    /// A record is never overwritten, and the first one stays as it was.
    #[test]
    fn never_overwrites() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path());
        let record = example::record();
        let path = store.write(&record).unwrap();
        let other = RunRecord { seed: record.seed + 1, ..record.clone() };
        let error = store.write(&other).unwrap_err();
        assert!(matches!(error, StoreError::Exists { .. }), "{error}");
        assert_eq!(Store::read(&path).unwrap(), record);
    }

    /// A run's own record is replaced whole, and one that was not written is not made.
    #[test]
    fn replaces_its_own_only() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path());
        let record = example::record();
        assert!(matches!(store.replace(&record).unwrap_err(), StoreError::Io { .. }));
        assert_eq!(store.runs().unwrap(), Vec::<PathBuf>::new());
        let path = store.write(&record).unwrap();
        let audited = RunRecord { audits: Vec::new(), ..record.clone() };
        assert_ne!(audited, record);
        assert_eq!(store.replace(&audited).unwrap(), path);
        assert_eq!(Store::read(&path).unwrap(), audited);
        let names: Vec<_> = fs::read_dir(store.run_dir(&record)).unwrap().collect();
        assert_eq!(names.len(), 1, "no temporary file is left");
    }

    /// An id cannot lead out of the store.
    #[test]
    fn refuses_unfit_ids() {
        let dir = tempfile::tempdir().unwrap();
        for run_id in ["", "../x", "a/b", "A", "ä", &"a".repeat(RUN_ID_CHARS_MAX + 1)] {
            let record = RunRecord { run_id: run_id.to_owned(), ..example::record() };
            let error = Store::new(dir.path()).write(&record).unwrap_err();
            assert!(matches!(error, StoreError::RunId { .. }), "{error}");
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    /// Each way of not being a record is told with the path.
    #[test]
    fn errors_name_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.json");
        let text_of = |content: &str| {
            fs::write(&path, content).unwrap();
            Store::read(&path).unwrap_err().to_string()
        };
        let name = path.display().to_string();
        for (content, words) in [
            ("", "is not a run record"),
            ("{\"schema_version\": 7}", "has schema version 7"),
            ("{\"schema_version\": 1}", "missing field"),
            ("{\"schema_version\": 1, \"extra\": 2}", "unknown field `extra`"),
        ] {
            let text = text_of(content);
            assert!(text.contains(words) && text.contains(&name), "{text}");
        }
        let missing = Store::read(&dir.path().join("none.json")).unwrap_err().to_string();
        assert!(missing.starts_with("cannot read ") && missing.contains("none.json"), "{missing}");
    }
}
