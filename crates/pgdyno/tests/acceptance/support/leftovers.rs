//! What a server leaves on the machine: processes and folders.

use std::path::Path;
use std::time::{Duration, Instant};

use super::room::LOOK_EVERY;

/// How long the clean-up behind a killed pgdyno may take.
const CLEAN_UP_MAX: Duration = Duration::from_secs(60);

/// Processes whose command line names `folder` or something in it.
pub(crate) fn processes(folder: &Path) -> Vec<(u32, String)> {
    let needle = folder.to_str().unwrap();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if line.contains(needle) {
            found.push((pid, line));
        }
    }
    found
}

/// What lies in `folder`.
pub(crate) fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Nothing is left in `folder`, and nobody works there.
pub(crate) fn assert_none(folder: &Path, when: &str) {
    assert_eq!(files(folder), Vec::<String>::new(), "files are left {when}");
    assert_eq!(processes(folder), Vec::new(), "processes are left {when}");
}

/// Waits until nothing is left in `folder`.
pub(crate) fn await_none(folder: &Path, when: &str) {
    let begin = Instant::now();
    while !files(folder).is_empty() || !processes(folder).is_empty() {
        if begin.elapsed() > CLEAN_UP_MAX {
            assert_none(folder, when);
        }
        std::thread::sleep(LOOK_EVERY);
    }
}
