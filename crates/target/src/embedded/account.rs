//! Under which user the throw-away server runs.
//!
//! A PostgreSQL server refuses to run as root, so root hands it to the user
//! `postgres`, or `nobody` where there is none. Anybody else runs it himself.

use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use nix::unistd::{User, geteuid};

use super::EmbeddedError;

/// Users that root may hand the server to, best first.
const SERVER_USERS: [&str; 2] = ["postgres", "nobody"];

/// The user that the server runs as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Account {
    /// The one who runs pgdyno.
    Own,
    /// Another one, because pgdyno runs as root.
    Other { name: String, uid: u32, gid: u32 },
}

impl Account {
    /// The user for this process's server.
    pub(crate) fn for_server() -> Result<Self, EmbeddedError> {
        if !geteuid().is_root() {
            return Ok(Self::Own);
        }
        SERVER_USERS
            .iter()
            .find_map(|name| User::from_name(name).ok().flatten())
            .filter(|user| !user.uid.is_root())
            .map(|user| Self::Other {
                name: user.name,
                uid: user.uid.as_raw(),
                gid: user.gid.as_raw(),
            })
            .ok_or(EmbeddedError::NoServerUser)
    }

    /// Lets a command run as this user. The standard library drops root's
    /// supplementary groups along with the user id.
    pub(crate) fn apply(&self, command: &mut Command) {
        if let Self::Other { uid, gid, .. } = self {
            command.uid(*uid).gid(*gid);
        }
    }

    /// Gives a file or folder to this user.
    pub(crate) fn give(&self, path: &Path) -> std::io::Result<()> {
        match self {
            Self::Own => Ok(()),
            Self::Other { uid, gid, .. } => chown(path, Some(*uid), Some(*gid)),
        }
    }

    /// For messages.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Own => "the current user".to_owned(),
            Self::Other { name, .. } => format!("user \"{name}\""),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Root never runs the server itself; anybody else does.
    #[test]
    fn root_hands_over() {
        match Account::for_server() {
            Ok(Account::Own) => assert!(!geteuid().is_root()),
            Ok(Account::Other { uid, .. }) => {
                assert!(geteuid().is_root());
                assert_ne!(uid, 0);
            }
            Err(error) => panic!("{error}"),
        }
    }
}
