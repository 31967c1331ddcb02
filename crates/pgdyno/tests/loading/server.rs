//! A PostgreSQL that can be killed and started again on the same data.

use std::fs;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, User, chown, geteuid};
use pgdyno_target::embedded::find_installation;
use pgdyno_wire::conninfo::{ProcessEnv, resolve};
use pgdyno_wire::{ConnectContext, Connection};
use tempfile::TempDir;

/// How long a server may take to start, or to recover, on a busy machine.
const START_TIMEOUT: Duration = Duration::from_secs(120);

pub(crate) struct Server {
    folder: TempDir,
    bin: PathBuf,
    child: Child,
    port: u16,
}

impl Server {
    pub(crate) fn start() -> Self {
        let bin = find_installation(None).unwrap().bin_dir;
        let folder = tempfile::Builder::new().prefix("pgdyno-resume-").tempdir_in("/tmp").unwrap();
        give(folder.path());
        let data = folder.path().join("data");
        let output = as_server_user(&bin.join("initdb"))
            .args(["-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", "-D"])
            .arg(&data)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        // Without fsync a crash of the machine would lose data; that of a
        // process does not.
        let settings = format!(
            "{}\nfsync = off\nshared_buffers = 32MB\nunix_socket_directories = '{}'\n",
            fs::read_to_string(data.join("postgresql.conf")).unwrap(),
            folder.path().display(),
        );
        fs::write(data.join("postgresql.conf"), settings).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let child = spawn(&bin, folder.path(), port);
        let mut server = Self { folder, bin, child, port };
        server.wait_until_ready();
        server
    }

    /// Kills the server with SIGKILL and starts it again.
    pub(crate) fn crash(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.wait_until_ready();
    }

    /// Starts it again as often as it takes: the sessions of a killed server
    /// live on for a moment, and while they do, another one refuses to start.
    fn wait_until_ready(&mut self) {
        let begun = Instant::now();
        while self.try_connect().is_err() {
            assert!(begun.elapsed() < START_TIMEOUT, "the server did not start: {}", self.log());
            if self.child.try_wait().unwrap().is_some() {
                self.child = spawn(&self.bin, self.folder.path(), self.port);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// What pgdyno and tests connect to.
    pub(crate) fn words(&self) -> String {
        let (folder, port) = (self.folder.path().display(), self.port);
        format!("host={folder} port={port} user=postgres dbname=postgres sslmode=disable")
    }

    pub(crate) fn try_connect(&self) -> Result<Connection, String> {
        let resolved = resolve(Some(&self.words()), &[], &ProcessEnv).unwrap();
        let context = ConnectContext::new(&resolved.options).map_err(|e| e.to_string())?;
        Connection::connect(&context).map_err(|error| error.to_string())
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // At once; there is nothing to keep.
        let _ = kill(Pid::from_raw(self.child.id().cast_signed()), Signal::SIGQUIT);
        let _ = self.child.wait();
    }
}

fn spawn(bin: &Path, folder: &Path, port: u16) -> Child {
    let log = fs::OpenOptions::new().create(true).append(true).open(folder.join("log")).unwrap();
    as_server_user(&bin.join("postgres"))
        .args(["-h", "", "-p", &port.to_string(), "-D"])
        .arg(folder.join("data"))
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .unwrap()
}

/// A command that runs as the server's user: PostgreSQL refuses to be root.
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
    named("postgres").or_else(|| named("nobody")).unwrap()
}

/// Gives a folder to the server's user.
fn give(path: &Path) {
    if geteuid().is_root() {
        let user = server_user();
        chown(path, Some(user.uid), Some(user.gid)).unwrap();
    }
}
