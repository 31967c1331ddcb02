//! Finds a PostgreSQL server on this machine.
//!
//! The order: `PGDYNO_PG_BIN`, `pg_config --bindir`, PATH, the usual places,
//! what `make` installed. A folder counts only if its `initdb` and `postgres`
//! can be run by the user that the server will run as.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::EmbeddedError;
use super::account::Account;

/// The environment variable that names the folder of the binaries.
pub const PG_BIN_VARIABLE: &str = "PGDYNO_PG_BIN";

/// Servers before this one are out of support, and their answers untested.
const MAJOR_MIN: u32 = 13;

/// How far above the executable the project's folder may be:
/// `target/debug/deps/test` is four levels down.
const PROJECT_LEVELS: usize = 5;

/// A usable set of server binaries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// The folder of `initdb` and `postgres`.
    pub bin_dir: PathBuf,
    /// As `postgres --version` says it, such as `15.19 (Debian 15.19-0)`.
    pub version: String,
    /// The first number of the version.
    pub major: u32,
    /// Where this installation's own libraries are, if it brings them.
    lib_dir: Option<PathBuf>,
}

impl Installation {
    /// A command on one of the binaries, run as `account`, undisturbed by the
    /// caller's terminal, locale and PG* variables.
    pub(crate) fn command(&self, program: &str, account: &Account) -> Command {
        bare_command(&self.bin_dir, self.lib_dir.as_deref(), program, account)
    }
}

fn bare_command(
    bin_dir: &Path,
    lib_dir: Option<&Path>,
    program: &str,
    account: &Account,
) -> Command {
    let mut command = Command::new(bin_dir.join(program));
    command.env_clear().env("LC_ALL", "C").stdin(Stdio::null()).current_dir("/");
    // A process group of its own: the terminal's SIGINT is pgdyno's business.
    command.process_group(0);
    for kept in ["PATH", "TZ"] {
        if let Some(value) = env::var_os(kept) {
            command.env(kept, value);
        }
    }
    if let Some(path) = library_path(lib_dir) {
        command.env(
            if cfg!(target_os = "macos") { "DYLD_LIBRARY_PATH" } else { "LD_LIBRARY_PATH" },
            path,
        );
    }
    account.apply(&mut command);
    command
}

/// Relocated builds carry the search path of the machine that built them, so
/// their own `lib` has to be named.
fn library_path(lib_dir: Option<&Path>) -> Option<OsString> {
    let before = env::var_os("LD_LIBRARY_PATH");
    let Some(own) = lib_dir else { return before };
    let mut path = own.as_os_str().to_owned();
    if let Some(before) = before.filter(|before| !before.is_empty()) {
        path.push(":");
        path.push(before);
    }
    Some(path)
}

/// Finds the binaries: `explicit` if given, else by the order of this file.
///
/// # Errors
/// Nothing usable, with the list of what was looked at.
pub(crate) fn find(
    explicit: Option<&Path>,
    account: &Account,
) -> Result<Installation, EmbeddedError> {
    let named = match explicit {
        Some(folder) => Some(("the configured folder".to_owned(), folder.to_owned())),
        None => env::var_os(PG_BIN_VARIABLE)
            .filter(|value| !value.is_empty())
            .map(|value| (PG_BIN_VARIABLE.to_owned(), PathBuf::from(value))),
    };
    // A folder that somebody named is the one meant: falling through to
    // another server would measure something else than was asked for.
    if let Some((origin, folder)) = named {
        return examine(&folder, account).map_err(|reason| EmbeddedError::NamedFolder {
            origin,
            folder,
            reason,
        });
    }
    let mut searched = Vec::new();
    for (origin, folder) in candidates() {
        match folder {
            None => searched.push(format!("{origin}: nothing there")),
            Some(folder) => match examine(&folder, account) {
                Ok(found) => return Ok(found),
                Err(reason) => searched.push(format!("{origin}, {}: {reason}", folder.display())),
            },
        }
    }
    Err(EmbeddedError::NotFound { searched })
}

/// Places to look at, in order; `None` for a place that does not exist.
fn candidates() -> Vec<(String, Option<PathBuf>)> {
    let mut found = vec![
        ("pg_config --bindir".to_owned(), pg_config_bindir()),
        ("PATH".to_owned(), folder_on_path("postgres")),
    ];
    for pattern in [
        "/usr/lib/postgresql/*/bin",
        "/usr/pgsql-*/bin",
        "/opt/homebrew/opt/postgresql*/bin",
        "/usr/local/opt/postgresql*/bin",
        "/Applications/Postgres.app/Contents/Versions/*/bin",
        "/usr/local/pgsql*/bin",
    ] {
        let folders = expand(pattern);
        if folders.is_empty() {
            found.push((pattern.to_owned(), None));
        }
        found.extend(folders.into_iter().map(|folder| (pattern.to_owned(), Some(folder))));
    }
    found.push(("the project's .cache/postgres/bin".to_owned(), project_folder()));
    // The second is where `make` unpacks a server for a root whose project
    // folder other users cannot enter.
    for cache in [cache_home(), Some(PathBuf::from("/var/cache"))].into_iter().flatten() {
        let folder = cache.join("pgdyno/postgres/bin");
        let origin = format!("the cache, {}", folder.display());
        found.push((origin, Some(folder).filter(|folder| folder.is_dir())));
    }
    found
}

fn pg_config_bindir() -> Option<PathBuf> {
    let output = Command::new("pg_config").arg("--bindir").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(PathBuf::from(text.trim())).filter(|folder| output.status.success() && folder.is_dir())
}

fn folder_on_path(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).find(|folder| folder.join(program).is_file()).map(|folder| {
        // A link such as /usr/bin/postgres says nothing of where initdb is.
        let real = fs::canonicalize(folder.join(program)).ok();
        let real = real.as_deref().and_then(Path::parent).map(Path::to_owned);
        real.filter(|real| real.join("initdb").is_file()).unwrap_or(folder)
    })
}

/// What `make` fills, seen from the executable: `<project>/target/…/pgdyno`.
/// Not seen from the working folder, which may belong to a stranger.
fn project_folder() -> Option<PathBuf> {
    let executable = env::current_exe().ok()?;
    executable
        .ancestors()
        .skip(1)
        .take(PROJECT_LEVELS)
        .map(|folder| folder.join(".cache/postgres/bin"))
        .find(|folder| folder.is_dir())
}

fn cache_home() -> Option<PathBuf> {
    let set = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))
}

/// Expands the one `*` of a pattern; the highest version first.
fn expand(pattern: &str) -> Vec<PathBuf> {
    let Some((before, after)) = pattern.split_once('*') else { return Vec::new() };
    let (parent, prefix) = before.rsplit_once('/').unwrap_or(("", before));
    let Ok(entries) = fs::read_dir(parent) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.starts_with(prefix))
        .collect();
    names.sort_by_key(|name| std::cmp::Reverse(version_key(name)));
    names
        .iter()
        .map(|name| PathBuf::from(format!("{parent}/{name}{after}")))
        .filter(|folder| folder.is_dir())
        .collect()
}

/// The numbers in a name, so that 10 comes after 9.6.
fn version_key(name: &str) -> Vec<u32> {
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

/// Checks that a folder's `initdb` and `postgres` run, and for which version.
fn examine(folder: &Path, account: &Account) -> Result<Installation, String> {
    let folder = fs::canonicalize(folder).map_err(|error| error.to_string())?;
    for program in ["initdb", "postgres"] {
        if !folder.join(program).is_file() {
            return Err(format!("no {program}"));
        }
    }
    let lib_dir = own_libraries(&folder);
    version_of(&folder, lib_dir.as_deref(), "initdb", account)?;
    let version = version_of(&folder, lib_dir.as_deref(), "postgres", account)?;
    let major = version_key(&version).first().copied().unwrap_or(0);
    if major < MAJOR_MIN {
        return Err(format!("is version {version}; {MAJOR_MIN} or later is needed"));
    }
    Ok(Installation { bin_dir: folder, version, major, lib_dir })
}

fn own_libraries(bin_dir: &Path) -> Option<PathBuf> {
    let lib = bin_dir.parent()?.join("lib");
    ["libpq.so.5", "libpq.5.dylib"].iter().any(|file| lib.join(file).is_file()).then_some(lib)
}

fn version_of(
    folder: &Path,
    lib_dir: Option<&Path>,
    program: &str,
    account: &Account,
) -> Result<String, String> {
    let output = bare_command(folder, lib_dir, program, account)
        .arg("--version")
        .output()
        .map_err(|error| format!("{program} cannot be run by {}: {error}", account.describe()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    // "postgres (PostgreSQL) 15.19 (Debian 15.19-0+deb12u1)"
    let version = text.split_once(") ").map(|(_, version)| version.trim().to_owned());
    match version {
        Some(version) if output.status.success() => Ok(version),
        _ => Err(format!(
            "{program} --version failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The highest version is tried first, by number and not by letter.
    #[test]
    fn expands_highest_first() {
        let temp = tempfile::tempdir().unwrap();
        for version in ["9.6", "15", "10", "18", "common"] {
            fs::create_dir_all(temp.path().join(version).join("bin")).unwrap();
        }
        fs::create_dir(temp.path().join("20")).unwrap();
        let found = expand(&format!("{}/*/bin", temp.path().display()));
        let names: Vec<_> = found
            .iter()
            .map(|p| p.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned())
            .collect();
        assert_eq!(names, ["18", "15", "10", "9.6", "common"]);
    }

    /// A folder that was named and does not serve is an error, not a hint.
    #[test]
    fn named_folder_must_serve() {
        let temp = tempfile::tempdir().unwrap();
        let error = find(Some(temp.path()), &Account::Own).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("no initdb"), "{text}");
        assert!(text.contains(&temp.path().display().to_string()), "{text}");
    }

    /// Binaries that do not run, or are too old, do not count.
    #[test]
    fn binaries_have_to_run() {
        let temp = tempfile::tempdir().unwrap();
        // Written by another process: a file that a test has open for writing
        // can be inherited by another test's child, and then does not run.
        let write = |script: &str| {
            let status = Command::new("sh")
                .args([
                    "-c",
                    "printf %s \"$1\" > initdb && cp initdb postgres && chmod 755 *",
                    "sh",
                ])
                .arg(script)
                .current_dir(temp.path())
                .status();
            assert!(status.unwrap().success());
        };
        write("#!/bin/sh\necho 'no library' >&2; exit 127\n");
        assert!(examine(temp.path(), &Account::Own).unwrap_err().contains("no library"));
        write("#!/bin/sh\necho 'postgres (PostgreSQL) 9.6.24'\n");
        assert!(examine(temp.path(), &Account::Own).unwrap_err().contains("9.6.24"));
        write("#!/bin/sh\necho 'postgres (PostgreSQL) 18.6'\n");
        assert_eq!(examine(temp.path(), &Account::Own).map(|found| found.major), Ok(18));
    }
}
