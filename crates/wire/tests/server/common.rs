//! A throw-away server, and options to reach it.

use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, User, chown, geteuid};
use pgdyno_wire::options::{Host, Keepalives, Options, Ssl};
use pgdyno_wire::{ConnectContext, Connection, Error};
use tempfile::TempDir;

/// How long a server may take to start on a busy machine.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// The folder of `initdb` and `postgres`.
pub(crate) fn pg_bin() -> PathBuf {
    if let Some(folder) = std::env::var_os("PGDYNO_PG_BIN") {
        return folder.into();
    }
    let mut found: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("bin"))
        .filter(|folder| folder.join("postgres").exists())
        .collect();
    found.sort();
    if let Some(newest) = found.pop() {
        return newest;
    }
    let output = Command::new("pg_config").arg("--bindir").output().expect(
        "these tests need a PostgreSQL server: install one, or set PGDYNO_PG_BIN to its programs",
    );
    String::from_utf8(output.stdout).unwrap().trim().into()
}

/// A command that runs as the server's user.
fn as_server_user(program: &Path) -> Command {
    let mut command = Command::new(program);
    if geteuid().is_root() {
        let user = server_user();
        command.uid(user.uid.as_raw()).gid(user.gid.as_raw());
    }
    command.current_dir("/").env("LC_ALL", "C");
    command
}

fn server_user() -> User {
    let named = |name| User::from_name(name).unwrap();
    named("postgres").or_else(|| named("nobody")).expect("no user to run PostgreSQL as")
}

/// Gives a file or folder to the server's user.
fn give(path: &Path) {
    if geteuid().is_root() {
        let user = server_user();
        chown(path, Some(user.uid), Some(user.gid)).unwrap();
    }
}

/// What a server is started with.
#[derive(Debug, Default)]
pub(crate) struct Setup<'a> {
    /// Lines of pg_hba.conf; by default everybody is trusted.
    pub(crate) hba: &'a str,
    /// Lines of postgresql.conf.
    pub(crate) conf: &'a str,
    /// Files in the data folder, readable by the server only.
    pub(crate) files: &'a [(&'a str, &'a str)],
    /// The programs; [`pg_bin`] by default.
    pub(crate) bin: Option<PathBuf>,
}

/// A running server. Stopped and removed when dropped.
pub(crate) struct Server {
    folder: TempDir,
    child: Child,
    pub(crate) port: u16,
}

impl Server {
    /// A server that trusts everybody.
    pub(crate) fn trusting() -> Self {
        Self::start(&Setup::default())
    }

    pub(crate) fn start(setup: &Setup<'_>) -> Self {
        let folder = tempfile::Builder::new().prefix("pgdyno-wire-").tempdir_in("/tmp").unwrap();
        give(folder.path());
        let data = folder.path().join("data");
        let bin = setup.bin.clone().unwrap_or_else(pg_bin);
        let output = as_server_user(&bin.join("initdb"))
            .args(["-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", "-D"])
            .arg(&data)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        for (name, contents) in setup.files {
            let path = data.join(name);
            write_private(&path, contents);
            give(&path);
        }
        let conf = data.join("postgresql.conf");
        let settings = format!(
            "{}\nfsync = off\nunix_socket_directories = '{}'\n{}\n",
            std::fs::read_to_string(&conf).unwrap(),
            folder.path().display(),
            setup.conf
        );
        std::fs::write(&conf, settings).unwrap();
        if !setup.hba.is_empty() {
            std::fs::write(data.join("pg_hba.conf"), setup.hba).unwrap();
        }
        let port = free_port();
        let log = std::fs::File::create(folder.path().join("log")).unwrap();
        let child = as_server_user(&bin.join("postgres"))
            .args(["-h", "127.0.0.1", "-p", &port.to_string(), "-D"])
            .arg(&data)
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut server = Self { folder, child, port };
        server.wait_until_ready(&data);
        server
    }

    /// The server writes `ready` (or `standby`) to its pid file.
    fn wait_until_ready(&mut self, data: &Path) {
        let begin = Instant::now();
        loop {
            let pid_file = std::fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
            if pid_file
                .lines()
                .nth(7)
                .is_some_and(|line| ["ready", "standby"].contains(&line.trim()))
            {
                return;
            }
            let ended = self.child.try_wait().unwrap();
            assert!(
                ended.is_none() && begin.elapsed() < START_TIMEOUT,
                "the server did not start: {}",
                self.log()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Options for TCP, by name.
    pub(crate) fn options(&self) -> Options {
        options(vec![host("localhost", self.port)])
    }

    /// Options for the Unix socket.
    pub(crate) fn unix_options(&self) -> Options {
        options(vec![host(&self.folder.path().display().to_string(), self.port)])
    }

    pub(crate) fn connect(&self) -> Connection {
        connect(&self.options()).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap());
        // SIGQUIT: at once; there is nothing to keep.
        let _ = kill(pid, Signal::SIGQUIT);
        let _ = self.child.wait();
    }
}

pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Writes a file that only its owner can read.
pub(crate) fn write_private(path: &Path, contents: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(path, contents).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
}

pub(crate) fn host(name: &str, port: u16) -> Host {
    Host { name: name.into(), addr: None, port, password: None }
}

pub(crate) fn options(hosts: Vec<Host>) -> Options {
    Options {
        hosts,
        user: "postgres".into(),
        dbname: "postgres".into(),
        server_options: None,
        application_name: Some("pgdyno-wire".into()),
        client_encoding: None,
        connect_timeout: Some(Duration::from_secs(30)),
        tcp_user_timeout: None,
        keepalives: Keepalives::default(),
        ssl: Ssl::default(),
        channel_binding: Default::default(),
        require_auth: None,
        require_peer: None,
        target_session_attrs: Default::default(),
        load_balance_hosts: Default::default(),
        runtime_params: Vec::new(),
        password_source: None,
    }
}

pub(crate) fn connect(options: &Options) -> Result<Connection, Error> {
    let context: Arc<ConnectContext> = ConnectContext::new(options)?;
    Connection::connect(&context)
}

/// The words of a connection that must fail.
pub(crate) fn refusal(options: &Options) -> String {
    match connect(options) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("connected, and should not have"),
    }
}
