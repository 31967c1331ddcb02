//! Why a throw-away server could not be had.

use std::path::PathBuf;
use std::time::Duration;

/// Why the server could not be started or stopped.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    /// No PostgreSQL server was found.
    #[error(
        "no PostgreSQL server was found on this machine; looked at:\n  {}\n\
         hint: run `make setup` in pgdyno's folder, install your system's PostgreSQL server \
         package (Debian: apt-get install postgresql), or set PGDYNO_PG_BIN to the folder of \
         initdb and postgres",
        searched.join("\n  ")
    )]
    NotFound {
        /// Each place and what was wrong with it.
        searched: Vec<String>,
    },
    /// A folder was named, and there is no usable server in it.
    #[error(
        "{origin} names {}, which cannot serve: {reason}\n\
         hint: name the folder that holds initdb and postgres, version 13 or later",
        folder.display()
    )]
    NamedFolder {
        /// Who named it: `PGDYNO_PG_BIN`, or the configuration.
        origin: String,
        /// The folder.
        folder: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Root has nobody to hand the server to.
    #[error(
        "a PostgreSQL server refuses to run as root, and there is neither a user \"postgres\" \
         nor a user \"nobody\" to run it\nhint: run pgdyno as an ordinary user"
    )]
    NoServerUser,
    /// A file or folder could not be made, written or removed.
    #[error("could not {what}: {source}")]
    Io {
        /// What was being done.
        what: String,
        /// The system's words.
        source: std::io::Error,
    },
    /// `initdb` or the server ended with an error.
    #[error("{program} of {} failed ({status}); its last words:\n{log_tail}", bin_dir.display())]
    Failed {
        /// `initdb` or `postgres`.
        program: &'static str,
        /// Which server.
        bin_dir: PathBuf,
        /// How it ended.
        status: String,
        /// The end of the log.
        log_tail: String,
    },
    /// The server did not get ready in time.
    #[error(
        "{program} was not ready after {} s; its last words:\n{log_tail}",
        waited.as_secs()
    )]
    Timeout {
        /// `initdb` or `postgres`.
        program: &'static str,
        /// How long it was waited for.
        waited: Duration,
        /// The end of the log.
        log_tail: String,
    },
    /// The start was given up because the caller asked for it.
    #[error("the start of the server was interrupted")]
    Interrupted,
}

impl EmbeddedError {
    /// For `map_err`: an I/O error with what was being done.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}
