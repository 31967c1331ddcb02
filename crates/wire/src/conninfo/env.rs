//! The surroundings that libpq looks at: variables, user, home, folders.
//!
//! A trait, so that tests and drivers of a fleet can bring their own instead of
//! changing the process' environment, which other threads read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nix::unistd::{Uid, User};

/// The folder of Unix sockets that Debian's packages, and most others, use.
const SOCKET_DIR_PACKAGED: &str = "/var/run/postgresql";
/// The folder that PostgreSQL built from source uses.
const SOCKET_DIR_SOURCE: &str = "/tmp";
/// Where builds of libpq look for `pg_service.conf` when `PGSYSCONFDIR` is not
/// set: Debian, the PostgreSQL project's RPMs, builds from source, Homebrew. libpq
/// has exactly one compiled in; we cannot know which and take the first that exists.
const SERVICE_DIRS: [&str; 4] = [
    "/etc/postgresql-common",
    "/etc/sysconfig/pgsql",
    "/usr/local/pgsql/etc",
    "/opt/homebrew/etc/postgresql",
];

/// Where [`super::resolve`] gets what is not in the connection string.
pub trait Env {
    /// An environment variable; `Some("")` is a variable set to nothing, which
    /// to libpq is not the same as one that is not set.
    fn var(&self, name: &str) -> Option<String>;

    /// The operating system's name of who runs this: `user`'s default.
    ///
    /// # Errors
    /// A sentence, where the user has no name.
    fn os_user(&self) -> Result<String, String>;

    /// The home folder: `$HOME`, or else what the operating system says.
    fn home(&self) -> Option<PathBuf>;

    /// The folder of Unix sockets used where no host is given.
    fn default_socket_dir(&self) -> String;

    /// Folders of the system-wide `pg_service.conf` where `PGSYSCONFDIR` is not set.
    fn service_dirs(&self) -> Vec<PathBuf>;
}

/// The process' own surroundings.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProcessEnv;

impl Env for ProcessEnv {
    fn var(&self, name: &str) -> Option<String> {
        std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
    }

    fn os_user(&self) -> Result<String, String> {
        let uid = Uid::effective();
        match User::from_uid(uid) {
            Ok(Some(user)) => Ok(user.name),
            Ok(None) => Err(format!("local user with ID {uid} does not exist")),
            Err(error) => Err(format!("could not look up local user ID {uid}: {}", error.desc())),
        }
    }

    fn home(&self) -> Option<PathBuf> {
        match self.var("HOME") {
            Some(home) if !home.is_empty() => Some(PathBuf::from(home)),
            _ => User::from_uid(Uid::current()).ok().flatten().map(|user| user.dir),
        }
    }

    fn default_socket_dir(&self) -> String {
        let packaged = Path::new(SOCKET_DIR_PACKAGED).is_dir();
        (if packaged { SOCKET_DIR_PACKAGED } else { SOCKET_DIR_SOURCE }).to_owned()
    }

    fn service_dirs(&self) -> Vec<PathBuf> {
        SERVICE_DIRS.iter().map(PathBuf::from).collect()
    }
}

/// Surroundings out of a map: nothing of the process' own gets in.
#[derive(Debug, Clone)]
pub struct MapEnv {
    vars: BTreeMap<String, String>,
    os_user: Option<String>,
    socket_dir: String,
}

impl Default for MapEnv {
    fn default() -> Self {
        Self::new("nobody")
    }
}

impl MapEnv {
    /// No variables; this operating system user; sockets in `/var/run/postgresql`.
    #[must_use]
    pub fn new(os_user: impl Into<String>) -> Self {
        Self {
            vars: BTreeMap::new(),
            os_user: Some(os_user.into()),
            socket_dir: SOCKET_DIR_PACKAGED.to_owned(),
        }
    }

    /// Adds a variable; `HOME` is the home folder.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.vars.insert(name.into(), value.into());
        self
    }

    /// Another default folder of Unix sockets.
    #[must_use]
    pub fn with_socket_dir(mut self, dir: impl Into<String>) -> Self {
        self.socket_dir = dir.into();
        self
    }

    /// An operating system user without a name.
    #[must_use]
    pub fn without_os_user(mut self) -> Self {
        self.os_user = None;
        self
    }
}

impl Env for MapEnv {
    fn var(&self, name: &str) -> Option<String> {
        self.vars.get(name).cloned()
    }

    fn os_user(&self) -> Result<String, String> {
        self.os_user.clone().ok_or_else(|| "local user does not exist".to_owned())
    }

    fn home(&self) -> Option<PathBuf> {
        self.var("HOME").map(PathBuf::from)
    }

    fn default_socket_dir(&self) -> String {
        self.socket_dir.clone()
    }

    fn service_dirs(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The process' environment answers every question without a panic.
    #[test]
    fn the_process_has_surroundings() {
        assert!(ProcessEnv.var("PGDYNO_SURELY_NOT_SET").is_none());
        assert!(ProcessEnv.var("PATH").is_some());
        assert!(ProcessEnv.home().is_some());
        assert!(ProcessEnv.os_user().is_ok_and(|name| !name.is_empty()));
        assert!(ProcessEnv.default_socket_dir().starts_with('/'));
    }
}
