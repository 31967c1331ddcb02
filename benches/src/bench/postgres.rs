//! A throw-away PostgreSQL with what the benchmarks need: trust for the bare
//! path, a user with SCRAM over TLS, room for thousands of clients.
//!
//! Durability is off: the disk is not what is measured here.

use std::fs::File;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::signal::Signal;
use nix::unistd::{Pid, User, geteuid};

use super::measure::pin;
use super::places::finish;
use super::stop::stop;

/// The scale of the tables of every suite but load.
pub(super) const SCALE: u32 = 10;

/// Connections beside the clients: pgbench's own, psql's, the superuser's.
const CONNECTIONS_SPARE: u32 = 20;

const START_MAX: Duration = Duration::from_secs(60);

/// A running server. Dropping it stops it; its folder belongs to the caller.
#[derive(Debug)]
pub(super) struct Postgres {
    child: Child,
    bin: PathBuf,
    pub(super) port: u16,
    pub(super) socket_dir: PathBuf,
    pub(super) has_tls: bool,
}

impl Postgres {
    pub(super) const SCRAM_USER: &str = "bench_scram";
    pub(super) const PASSWORD: &str = "bench";

    /// Makes a cluster in `parent`, starts it, and fills the tables.
    pub(super) fn start(
        bin: &Path,
        parent: &Path,
        clients_max: u32,
        core: Option<usize>,
    ) -> Result<Self> {
        let account = server_account()?;
        let home = parent.join("postgres");
        std::fs::create_dir(&home)?;
        give(&home, account.as_ref())?;
        let data = home.join("data");
        let command = |program: &str| as_account(&bin.join(program), account.as_ref(), &home);
        finish(
            command("initdb").args(["-U", "postgres", "-A", "trust", "-N", "-E", "UTF8"]).args([
                "--locale=C".as_ref(),
                "-D".as_ref(),
                data.as_os_str(),
            ]),
        )?;
        let has_tls = certificate(&home, account.as_ref());
        let port = std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        configure(&data, &home, port, clients_max + CONNECTIONS_SPARE, has_tls)?;
        let log = File::create(home.join("log"))?;
        let child = command("postgres")
            .arg("-D")
            .arg(&data)
            .process_group(0)
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .context("could not run postgres")?;
        let server = Self { child, bin: bin.to_owned(), port, socket_dir: home.clone(), has_tls };
        pin(server.pid(), core)?;
        server.wait_ready(&home)?;
        server.fill()?;
        Ok(server)
    }

    /// The postmaster.
    pub(super) fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id()).unwrap_or(0))
    }

    fn wait_ready(&self, home: &Path) -> Result<()> {
        let begin = Instant::now();
        while self.sql("postgres", "select 1").is_err() {
            if begin.elapsed() > START_MAX {
                let log = std::fs::read_to_string(home.join("log")).unwrap_or_default();
                bail!("the PostgreSQL server did not get ready; its log:\n{log}");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    fn fill(&self) -> Result<()> {
        self.sql("postgres", "create database load")?;
        // A superuser, so that every tool may do what it does for the owner.
        self.sql(
            "postgres",
            &format!(
                "create role {} superuser login password '{}'",
                Self::SCRAM_USER,
                Self::PASSWORD
            ),
        )?;
        let mut pgbench = self.client("pgbench", "postgres");
        finish(pgbench.args(["-i", "-q", "-s", &SCALE.to_string()])).map(drop)
    }

    /// Runs SQL by psql.
    pub(super) fn sql(&self, database: &str, sql: &str) -> Result<String> {
        finish(self.client("psql", database).args(["-X", "-q", "-A", "-t", "-c", sql]))
    }

    fn client(&self, program: &str, database: &str) -> Command {
        let mut command = Command::new(self.bin.join(program));
        command.env("PGHOST", &self.socket_dir).env("PGPORT", self.port.to_string());
        command.env("PGUSER", "postgres").env("PGDATABASE", database).stdin(Stdio::null());
        command
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // Fast shutdown. At the end nobody can act on an error.
        let _ = stop(&mut self.child, Signal::SIGINT);
    }
}

/// A server refuses to run as root; root hands it to `postgres` or `nobody`.
fn server_account() -> Result<Option<User>> {
    if !geteuid().is_root() {
        return Ok(None);
    }
    for name in ["postgres", "nobody"] {
        if let Some(user) = User::from_name(name)? {
            return Ok(Some(user));
        }
    }
    bail!("a PostgreSQL server refuses to run as root, and there is no user to run it as")
}

fn give(path: &Path, account: Option<&User>) -> Result<()> {
    if let Some(user) = account {
        chown(path, Some(user.uid.as_raw()), Some(user.gid.as_raw()))?;
    }
    Ok(())
}

fn as_account(program: &Path, account: Option<&User>, home: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(home).env("LC_ALL", "C").stdin(Stdio::null());
    if let Some(user) = account {
        command.uid(user.uid.as_raw()).gid(user.gid.as_raw());
    }
    command
}

fn configure(data: &Path, home: &Path, port: u16, connections: u32, tls: bool) -> Result<()> {
    let home = home.display();
    let mut settings = format!(
        "listen_addresses = '127.0.0.1'\nport = {port}\nunix_socket_directories = '{home}'\n\
         max_connections = {connections}\nshared_buffers = 512MB\nmax_wal_size = 8GB\n\
         fsync = off\nsynchronous_commit = off\nfull_page_writes = off\nautovacuum = off\n\
         password_encryption = 'scram-sha-256'\n"
    );
    if tls {
        settings += &format!(
            "ssl = on\nssl_cert_file = '{home}/server.crt'\nssl_key_file = '{home}/server.key'\n"
        );
    }
    // The last value of a setting counts.
    let path = data.join("postgresql.conf");
    let old = std::fs::read_to_string(&path)?;
    std::fs::write(&path, old + &settings)?;
    let hba = format!(
        "hostssl all {} 127.0.0.1/32 scram-sha-256\nlocal all all trust\n\
         host all all 127.0.0.1/32 trust\n",
        Postgres::SCRAM_USER
    );
    std::fs::write(data.join("pg_hba.conf"), hba).context("could not write pg_hba.conf")
}

/// A certificate for TLS; false where openssl is not there to make one.
fn certificate(home: &Path, account: Option<&User>) -> bool {
    let (key, crt) = (home.join("server.key"), home.join("server.crt"));
    let mut openssl = Command::new("openssl");
    openssl.args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout"]);
    openssl.arg(&key).arg("-out").arg(&crt).args(["-subj", "/CN=localhost"]);
    finish(&mut openssl).is_ok()
        && std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).is_ok()
        && give(&key, account).is_ok()
        && give(&crt, account).is_ok()
}
