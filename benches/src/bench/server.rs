//! The servers that are measured against.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};
use nix::sys::signal::Signal;
use nix::unistd::Pid;

use super::case::{Case, ServerKind, Suite, Transport};
use super::measure::pin;
use super::places::Places;
use super::postgres::Postgres;
use super::stop::stop;

/// The servers of a session. Dropping it stops them.
#[derive(Debug)]
pub(super) struct Servers {
    null: Null,
    postgres: Option<Postgres>,
    core: Option<usize>,
    /// Removed with everything in it.
    folder: tempfile::TempDir,
}

/// How to reach a server.
#[derive(Debug, Clone)]
pub(super) struct Address {
    /// A host, or the folder of a Unix socket.
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) user: &'static str,
    pub(super) database: &'static str,
    /// For what a tool leaves behind.
    pub(super) folder: PathBuf,
    /// Variables for the client's environment.
    pub(super) environment: Vec<(String, String)>,
}

impl Servers {
    /// Starts the null server, and a PostgreSQL where one is wanted.
    pub(super) fn start(
        places: &Places,
        wants_postgres: bool,
        clients_max: u32,
        core: Option<usize>,
    ) -> Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("pgdyno-bench-")
            .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .tempdir()
            .context("could not make a temporary folder")?;
        let null = Null::start(&places.nullserver, folder.path(), core)?;
        let postgres = if wants_postgres {
            let bin = places.postgres_bin.as_deref().context(
                "no PostgreSQL server was found; set PGDYNO_PG_BIN to the folder of initdb and \
                 postgres, or leave it out with --servers null",
            )?;
            Some(Postgres::start(bin, folder.path(), clients_max, core)?)
        } else {
            None
        };
        Ok(Self { null, postgres, core, folder })
    }

    /// How to reach the server of a case, which is bound to its core or freed
    /// from it as the case wants.
    pub(super) fn address(&self, case: &Case) -> Result<Address> {
        let (port, dir) = match case.server {
            ServerKind::Null => (self.null.port, &self.null.dir),
            ServerKind::Postgres => {
                let postgres = self.postgres.as_ref().context("no PostgreSQL was started")?;
                // Backends inherit from the postmaster.
                let core = self.core.filter(|_| case.is_bound());
                pin(postgres.pid(), core)?;
                (postgres.port, &postgres.socket_dir)
            }
        };
        let tls = case.transport == Transport::Tls;
        if tls && self.postgres.as_ref().is_none_or(|postgres| !postgres.has_tls) {
            bail!("the server has no certificate: openssl is not installed");
        }
        let host = match case.transport {
            Transport::Unix => dir.display().to_string(),
            Transport::Tcp | Transport::Tls => "127.0.0.1".to_owned(),
        };
        let mode = if tls { "require" } else { "disable" };
        let mut environment = vec![("PGSSLMODE".to_owned(), mode.to_owned())];
        if tls {
            // Of a throw-away server that listens on loopback alone.
            environment.push(("PGPASSWORD".to_owned(), Postgres::PASSWORD.to_owned()));
        }
        let database = if case.suite == Suite::Load { "load" } else { "postgres" };
        let user = if tls { Postgres::SCRAM_USER } else { "postgres" };
        let folder = self.folder.path().join("records");
        Ok(Address { host, port, user, database, folder, environment })
    }

    /// Binds the real server to its core, or frees it.
    pub(super) fn bind_postgres(&self, is_bound: bool) -> Result<()> {
        let Some(postgres) = &self.postgres else { return Ok(()) };
        pin(postgres.pid(), self.core.filter(|_| is_bound))
    }

    /// The real server, if one was started.
    pub(super) fn postgres(&self) -> Option<&Postgres> {
        self.postgres.as_ref()
    }
}

/// The null server as a process of its own.
#[derive(Debug)]
struct Null {
    child: Child,
    port: u16,
    dir: PathBuf,
}

impl Null {
    fn start(program: &Path, dir: &Path, core: Option<usize>) -> Result<Self> {
        let mut child = Command::new(program)
            .arg("--socket-dir")
            .arg(dir)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("could not run {}", program.display()))?;
        let mut line = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out).read_line(&mut line)?;
        }
        let port = line
            .strip_prefix("listening on port ")
            .and_then(|rest| rest.split(',').next())
            .and_then(|port| port.parse().ok());
        let mut null = Self { child, port: 0, dir: dir.to_owned() };
        null.port = port.with_context(|| format!("the null server said \"{}\"", line.trim()))?;
        // Its worker is another thread than the main one, so the whole process
        // is bound thread by thread.
        for thread in std::fs::read_dir(format!("/proc/{}/task", null.child.id()))?.flatten() {
            if let Some(id) = thread.file_name().to_str().and_then(|name| name.parse().ok()) {
                pin(Pid::from_raw(id), core)?;
            }
        }
        Ok(null)
    }
}

impl Drop for Null {
    fn drop(&mut self) {
        // At the end of the session, where nobody can act on an error.
        let _ = stop(&mut self.child, Signal::SIGTERM);
    }
}
