//! The throw-away PostgreSQL server.
//!
//! Found, initialised, started, stopped and removed by this module. It is a
//! real server with real passwords and, unless asked otherwise, real
//! durability; only its data are meant to go away. It does not handle
//! signals: who catches Ctrl-C calls [`EmbeddedServer::stop`], or sets
//! [`EmbeddedConfig::cancel`] while the server is starting.

mod account;
mod error;
mod find;
mod folder;
mod guard;
mod place;
mod process;
mod settings;
mod start;

use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use pgdyno_wire::options::Options;

use crate::resolve::{EMBEDDED, Target};

pub use error::EmbeddedError;
pub use find::{Installation, PG_BIN_VARIABLE};
use folder::Folder;
use guard::Guard;

/// Lines of the server's log that go into an error.
const LOG_TAIL_LINES: usize = 15;

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
    /// How long `initdb`, and then the server, may take to get ready.
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
            // A cold disk under load was seen to take 20 s for initdb.
            start_timeout: Duration::from_secs(90),
            cancel: None,
        }
    }
}

/// Finds the server that [`EmbeddedServer::start`] would start, and starts
/// nothing.
///
/// # Errors
/// No usable server was found, with what was looked at.
pub fn find_installation(bin_dir: Option<&Path>) -> Result<Installation, EmbeddedError> {
    find::find(bin_dir, &account::Account::for_server()?)
}

/// A running throw-away server. Dropping it stops and removes it.
#[derive(Debug)]
pub struct EmbeddedServer {
    installation: Installation,
    child: Option<Child>,
    pid: u32,
    guard: Guard,
    folder: Folder,
    in_memory: bool,
    unix: Options,
    tcp: Options,
}

impl EmbeddedServer {
    /// Cleans up after servers whose pgdyno died, makes a data folder and
    /// starts a server on it. Takes a second or two.
    ///
    /// # Errors
    /// No server was found, or it did not start (with the log's tail), or the
    /// start was interrupted. Nothing is left behind in any case.
    pub fn start(config: &EmbeddedConfig) -> Result<Self, EmbeddedError> {
        start::start(config)
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

    /// The server as a target, over its Unix socket.
    #[must_use]
    pub fn target(&self) -> Target {
        Target {
            name: EMBEDDED.to_owned(),
            options: vec![self.options_unix()],
            dialect: Some(crate::dialect::postgres()),
            login: crate::login::Login::default(),
        }
    }

    /// The postmaster's process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The server's data folder.
    #[must_use]
    pub fn data_dir(&self) -> PathBuf {
        self.folder.data()
    }

    /// The binaries that run.
    #[must_use]
    pub fn installation(&self) -> &Installation {
        &self.installation
    }

    /// True where the data lie in memory, so that durability costs nothing
    /// and the figures do not speak for a disk.
    #[must_use]
    pub fn is_in_memory(&self) -> bool {
        self.in_memory
    }

    /// True while the server runs; false once it has ended by itself.
    pub fn is_running(&mut self) -> bool {
        self.child.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(None)))
    }

    /// The last lines of the server's log, for error messages.
    #[must_use]
    pub fn log_tail(&self) -> String {
        log_tail(&self.folder)
    }

    /// Stops the server (fast, then immediate) and removes its folder.
    ///
    /// # Errors
    /// The server would not stop, or the folder could not be removed.
    pub fn stop(mut self) -> Result<(), EmbeddedError> {
        self.shut_down()
    }

    fn shut_down(&mut self) -> Result<(), EmbeddedError> {
        let Some(mut child) = self.child.take() else { return Ok(()) };
        let ended = process::end_server(&mut child);
        let removed = self.folder.remove();
        self.guard.dismiss();
        ended.map_err(EmbeddedError::io("stop the server"))?;
        removed.map_err(EmbeddedError::io(format!("remove {}", self.folder.path().display())))
    }
}

impl Drop for EmbeddedServer {
    fn drop(&mut self) {
        // Nobody is left to be told; the next start sweeps what remains.
        let _ = self.shut_down();
    }
}

fn log_tail(folder: &Folder) -> String {
    let bytes = std::fs::read(folder.log()).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LOG_TAIL_LINES)..].join("\n")
}
