//! The server's folder: made, locked, found again when stale, removed.
//!
//! A folder belongs to a living pgdyno exactly as long as its `owner.lock` is
//! locked. The system drops the lock when the process ends, however it ends,
//! so the next start can tell a stale folder from one in use.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};
use nix::unistd::geteuid;

use super::account::Account;
use super::process;

/// Folders are named `pgdyno-` and eight hexadecimal digits.
const PREFIX: &str = "pgdyno-";
/// The file whose lock means "in use".
const LOCK_FILE: &str = "owner.lock";
/// The lock file's first line. A folder without it is not ours to remove.
const LOCK_MAGIC: &str = "pgdyno embedded server";
/// The pid of a running `initdb`.
const INITDB_PID: &str = "initdb.pid";
/// Tries to find a name that is free.
const NAME_TRIES: u32 = 16;
/// Tries to remove a folder in which dying processes may still make files.
const REMOVE_TRIES: u32 = 20;
/// A socket's path must fit into `sun_path`: 108 bytes on Linux and 104
/// elsewhere, each with a closing zero.
const SOCKET_PATH_MAX: usize = if cfg!(target_os = "linux") { 107 } else { 103 };
/// The longest that this file adds to a parent folder.
const LONGEST_SOCKET: &str = "/pgdyno-01234567/s/.s.PGSQL.65535.lock";

/// A folder for one server, locked by this process.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    _lock: Flock<File>,
}

impl Folder {
    /// Makes a folder in the first of `parents` that serves.
    pub(crate) fn create(parents: &[PathBuf], account: &Account) -> io::Result<Self> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "no folder for temporary files");
        for parent in parents {
            match Self::create_in(parent, account) {
                Ok(folder) => return Ok(folder),
                Err(error) => {
                    last = io::Error::new(error.kind(), format!("{}: {error}", parent.display()));
                }
            }
        }
        Err(last)
    }

    fn create_in(parent: &Path, account: &Account) -> io::Result<Self> {
        let parent = fs::canonicalize(parent)?;
        if parent.as_os_str().len() + LONGEST_SOCKET.len() > SOCKET_PATH_MAX {
            let message = "the path is too long for a Unix socket in it";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        if *account != Account::Own && !reachable_by_all(&parent)? {
            let message = format!("{} cannot reach it", account.describe());
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
        }
        let path = make_unique(&parent, account)?;
        let made = lock_new(&path).and_then(|lock| {
            for name in ["data", "s"] {
                let inner = path.join(name);
                DirBuilder::new().mode(0o700).create(&inner)?;
                account.give(&inner)?;
            }
            Ok(lock)
        });
        match made {
            Ok(lock) => Ok(Self { path, _lock: lock }),
            Err(error) => {
                let _ = fs::remove_dir_all(&path);
                Err(error)
            }
        }
    }

    /// The folder itself.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The data folder.
    pub(crate) fn data(&self) -> PathBuf {
        self.path.join("data")
    }

    /// The folder of the Unix socket.
    pub(crate) fn sockets(&self) -> PathBuf {
        self.path.join("s")
    }

    /// The file that takes what the server and `initdb` print.
    pub(crate) fn log(&self) -> PathBuf {
        self.path.join("log")
    }

    /// Writes a file that only `account` can read.
    pub(crate) fn private_file(
        &self,
        name: &str,
        text: &str,
        account: &Account,
    ) -> io::Result<PathBuf> {
        let path = self.path.join(name);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        file.write_all(text.as_bytes())?;
        account.give(&path)?;
        Ok(path)
    }

    /// Notes a running `initdb`, for whoever has to clean up after us.
    pub(crate) fn note_initdb(&self, pid: Option<u32>) -> io::Result<()> {
        let file = self.path.join(INITDB_PID);
        match pid {
            Some(pid) => fs::write(file, format!("{pid}\n")),
            None => fs::remove_file(file),
        }
    }

    /// Removes everything.
    pub(crate) fn remove(&self) -> io::Result<()> {
        remove(&self.path)
    }
}

fn make_unique(parent: &Path, account: &Account) -> io::Result<PathBuf> {
    // The server's user has to pass through; nobody can list.
    let mode = if *account == Account::Own { 0o700 } else { 0o711 };
    let mut tries = 0;
    loop {
        let path = parent.join(format!("{PREFIX}{:08x}", random_u32()?));
        match DirBuilder::new().mode(mode).create(&path) {
            Ok(()) => {
                // The umask may have taken the bits that the server's user needs.
                fs::set_permissions(&path, fs::Permissions::from_mode(mode))?;
                return Ok(path);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < NAME_TRIES => {
                tries += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

fn random_u32() -> io::Result<u32> {
    getrandom::u32().map_err(io::Error::other)
}

/// True where any user can enter the folder and all above it.
fn reachable_by_all(folder: &Path) -> io::Result<bool> {
    for part in folder.ancestors() {
        if fs::metadata(part)?.permissions().mode() & 0o001 == 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Makes the lock file. It gets its name only once it is locked: a lock file
/// that can be seen and is free always means a dead owner.
fn lock_new(folder: &Path) -> io::Result<Flock<File>> {
    let draft = folder.join("owner.new");
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    writeln!(file, "{LOCK_MAGIC}\npid {}", std::process::id())?;
    let lock = Flock::lock(file, FlockArg::LockExclusiveNonblock)
        .map_err(|(_, errno)| io::Error::from(errno))?;
    fs::rename(draft, folder.join(LOCK_FILE))?;
    Ok(lock)
}

fn remove(path: &Path) -> io::Result<()> {
    let mut tries = 0;
    loop {
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(_) if tries < REMOVE_TRIES => {
                tries += 1;
                std::thread::sleep(process::POLL);
            }
            other => return other,
        }
    }
}

/// Stops and removes what pgdynos that died have left in `parents`. Gives
/// back the folders removed. What cannot be removed is left to another start.
pub(crate) fn sweep(parents: &[PathBuf]) -> Vec<PathBuf> {
    let mut removed = Vec::new();
    for parent in parents {
        let Ok(parent) = fs::canonicalize(parent) else { continue };
        let Ok(entries) = fs::read_dir(&parent) else { continue };
        for entry in entries.flatten() {
            if is_our_name(&entry.file_name()) && sweep_one(&entry.path()).unwrap_or(false) {
                removed.push(entry.path());
            }
        }
    }
    removed
}

fn is_our_name(name: &OsStr) -> bool {
    name.to_str()
        .and_then(|name| name.strip_prefix(PREFIX))
        .is_some_and(|rest| rest.len() == 8 && rest.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// True where the folder was stale and is gone.
fn sweep_one(path: &Path) -> io::Result<bool> {
    // In a folder that everybody writes to, somebody may plant a folder with
    // our name and another server's pid in it: only what this user made counts.
    let meta = fs::symlink_metadata(path)?;
    if !meta.is_dir() || meta.uid() != geteuid().as_raw() {
        return Ok(false);
    }
    let lock_path = path.join(LOCK_FILE);
    let file = match File::open(&lock_path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // In the making, or killed in the making: gone only if empty.
            return Ok(false);
        }
        Err(error) => return Err(error),
    };
    if file.metadata()?.uid() != geteuid().as_raw() {
        return Ok(false);
    }
    let Ok(mut lock) = Flock::lock(file, FlockArg::LockExclusiveNonblock) else {
        return Ok(false);
    };
    let mut text = String::new();
    lock.read_to_string(&mut text)?;
    if text.lines().next() != Some(LOCK_MAGIC) {
        return Ok(false);
    }
    stop_leftovers(path);
    remove(path)?;
    Ok(true)
}

/// Stops `initdb` and the server of a stale folder, if they still run.
fn stop_leftovers(path: &Path) {
    for file in [path.join(INITDB_PID), path.join("data/postmaster.pid")] {
        let Ok(text) = fs::read_to_string(file) else { continue };
        // A standalone backend writes its pid with a minus.
        let pid =
            text.lines().next().and_then(|line| line.trim().trim_start_matches('-').parse().ok());
        if let Some(pid) = pid
            && process::belongs_to(pid, path)
        {
            process::end_stranger(pid);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parents(temp: &tempfile::TempDir) -> Vec<PathBuf> {
        vec![temp.path().to_owned()]
    }

    /// A folder in use is left alone; the same folder without its owner goes.
    #[test]
    fn sweeps_only_what_is_stale() {
        let temp = tempfile::tempdir().unwrap();
        let folder = Folder::create(&parents(&temp), &Account::Own).unwrap();
        let path = folder.path().to_owned();
        assert_eq!(sweep(&parents(&temp)), Vec::<PathBuf>::new());
        assert!(path.is_dir());
        drop(folder);
        assert_eq!(sweep(&parents(&temp)), vec![path.clone()]);
        assert!(!path.exists());
    }

    /// Folders that merely look like ours stay.
    #[test]
    fn leaves_strangers_alone() {
        let temp = tempfile::tempdir().unwrap();
        for name in ["pgdyno-results", "pgdyno-0123abcd", "other"] {
            fs::create_dir(temp.path().join(name)).unwrap();
            fs::write(temp.path().join(name).join("file"), "precious").unwrap();
        }
        fs::write(temp.path().join("pgdyno-0123abcd/owner.lock"), "somebody else's").unwrap();
        assert!(sweep(&parents(&temp)).is_empty());
        assert!(temp.path().join("pgdyno-results/file").exists());
        assert!(temp.path().join("pgdyno-0123abcd/file").exists());
    }

    /// A parent whose path leaves no room for a socket is passed over.
    #[test]
    fn long_parents_are_passed_over() {
        let temp = tempfile::tempdir().unwrap();
        let long = temp.path().join("x".repeat(90));
        fs::create_dir(&long).unwrap();
        let folder =
            Folder::create(&[long.clone(), temp.path().to_owned()], &Account::Own).unwrap();
        assert!(!folder.path().starts_with(&long));
        assert!(Folder::create(&[long], &Account::Own).unwrap_err().to_string().contains("long"));
    }

    /// The password file is for the server's user alone.
    #[test]
    fn private_files_are_private() {
        let temp = tempfile::tempdir().unwrap();
        let folder = Folder::create(&parents(&temp), &Account::Own).unwrap();
        let file = folder.private_file("pw", "secret", &Account::Own).unwrap();
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
