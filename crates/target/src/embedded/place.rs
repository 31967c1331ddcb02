//! Where on the machine the server's folder goes.
//!
//! The data should lie on a disk: where the folder for temporary files is in
//! memory, `fsync` costs nothing and the figures of a durable server are not
//! what they say they are.

use std::env;
use std::path::{Path, PathBuf};

/// The folders to try, best first. All of them are swept for stale servers.
pub(crate) fn parents(explicit: Option<&Path>) -> Vec<PathBuf> {
    if let Some(parent) = explicit {
        return vec![parent.to_owned()];
    }
    let asked = env::var_os("TMPDIR").map(PathBuf::from).filter(|path| path.is_absolute());
    let usual = [PathBuf::from("/tmp"), PathBuf::from("/var/tmp")];
    let mut all: Vec<PathBuf> = asked.into_iter().collect();
    all.extend(usual.iter().filter(|path| !is_in_memory(path)).cloned());
    all.extend(usual.iter().filter(|path| is_in_memory(path)).cloned());
    let mut unique = Vec::new();
    for path in all {
        if !unique.contains(&path) {
            unique.push(path);
        }
    }
    unique
}

/// True where a folder is known to lie in memory.
#[cfg(target_os = "linux")]
pub(crate) fn is_in_memory(folder: &Path) -> bool {
    use nix::sys::statfs::{TMPFS_MAGIC, statfs};
    statfs(folder).is_ok_and(|fs| fs.filesystem_type() == TMPFS_MAGIC)
}

/// True where a folder is known to lie in memory.
#[cfg(not(target_os = "linux"))]
pub(crate) fn is_in_memory(_folder: &Path) -> bool {
    false
}

/// Bytes that are free for a server's data.
pub(crate) fn disk_free_bytes(folder: &Path) -> Option<u64> {
    let stat = nix::sys::statvfs::statvfs(folder).ok()?;
    // The types differ between systems: all of them are unsigned, none wider.
    #[allow(clippy::unnecessary_cast)]
    (stat.blocks_available() as u64).checked_mul(stat.fragment_size() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory is told from disk, as far as this machine has both.
    #[test]
    #[cfg(target_os = "linux")]
    fn tells_memory_from_disk() {
        assert!(!is_in_memory(Path::new("/proc")));
        if std::fs::read_to_string("/proc/mounts").unwrap().contains("tmpfs /dev/shm tmpfs") {
            assert!(is_in_memory(Path::new("/dev/shm")));
        }
    }

    /// A folder that was asked for is the only one.
    #[test]
    fn explicit_parent_is_the_only_one() {
        assert_eq!(parents(Some(Path::new("/x"))), vec![PathBuf::from("/x")]);
        assert!(parents(None).contains(&PathBuf::from("/tmp")));
    }
}
