//! The way from nothing to a server that accepts connections.
//!
//! Each step either succeeds or leaves nothing behind: [`Unfinished`] undoes
//! what was made when it is dropped.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::process::{Child, ExitStatus};
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::Instant;

use pgdyno_wire::options::{
    ChannelBinding, Host, Keepalives, LoadBalanceHosts, Options, Ssl, SslMode, TargetSessionAttrs,
};
use pgdyno_wire::secret::Secret;

use super::account::Account;
use super::find::{self, Installation};
use super::folder::{self, Folder};
use super::guard::Guard;
use super::{EmbeddedConfig, EmbeddedError, EmbeddedServer, log_tail, place, process, settings};
use crate::machine::memory_bytes;

/// The superuser, and by default the only user.
const USER: &str = "postgres";
/// The database that `initdb` makes.
const DATABASE: &str = "postgres";
/// Another process may take the port between our finding it free and the
/// server's binding it. More than a few such losses have another reason.
const PORT_TRIES: u32 = 5;
/// Random bytes in the password: 192 bits, as hexadecimal digits.
const PASSWORD_BYTES: usize = 24;

/// A server in the making.
struct Unfinished {
    folder: Option<Folder>,
    guard: Option<Guard>,
    child: Option<Child>,
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            process::end_now(&mut child);
        }
        if let Some(folder) = self.folder.take() {
            // What remains is swept by the next start.
            let _ = folder.remove();
        }
        if let Some(mut guard) = self.guard.take() {
            guard.dismiss();
        }
    }
}

pub(crate) fn start(config: &EmbeddedConfig) -> Result<EmbeddedServer, EmbeddedError> {
    let account = Account::for_server()?;
    let parents = place::parents(config.parent_dir.as_deref());
    folder::sweep(&parents);
    let installation = find::find(config.bin_dir.as_deref(), &account)?;
    let folder = Folder::create(&parents, &account)
        .map_err(EmbeddedError::io("make a folder for the server"))?;
    let guard = Guard::start(folder.path());
    let mut making = Unfinished { folder: Some(folder), guard: Some(guard), child: None };
    let password = new_password()?;
    making.init_data(config, &installation, &account, &password)?;
    let port = making.start_server(config, &installation, &account)?;
    making.finish(installation, port, &password)
}

impl Unfinished {
    /// The folder is there from the start to the end of the making.
    fn folder(&self) -> Result<&Folder, EmbeddedError> {
        self.folder.as_ref().ok_or(EmbeddedError::Interrupted)
    }

    fn init_data(
        &mut self,
        config: &EmbeddedConfig,
        installation: &Installation,
        account: &Account,
        password: &Secret,
    ) -> Result<(), EmbeddedError> {
        let folder = self.folder()?;
        let pwfile = folder
            .private_file("pw", password.reveal(), account)
            .map_err(EmbeddedError::io("write the password file"))?;
        let mut command = installation.command("initdb", account);
        command
            .arg("-D")
            .arg(folder.data())
            .arg("--pwfile")
            .arg(&pwfile)
            .args(["--username", USER, "--auth=scram-sha-256", "--encoding=UTF8", "--no-locale"])
            // What initdb wrote need not survive a power cut: nothing here does.
            .arg("--no-sync");
        let child = self.spawn(command, "run initdb")?;
        let pid = child.id();
        self.child = Some(child);
        self.folder()?.note_initdb(Some(pid)).map_err(EmbeddedError::io("note initdb's pid"))?;
        let status = self.wait("initdb", config, |_| false)?;
        self.folder()?.note_initdb(None).map_err(EmbeddedError::io("remove initdb's pid"))?;
        fs::remove_file(&pwfile).map_err(EmbeddedError::io("remove the password file"))?;
        match status {
            Some(status) if status.success() => self.write_settings(config),
            status => Err(self.failed("initdb", installation, status)),
        }
    }

    fn write_settings(&self, config: &EmbeddedConfig) -> Result<(), EmbeddedError> {
        let folder = self.folder()?;
        let all = settings::settings(
            config,
            memory_bytes(),
            place::disk_free_bytes(folder.path()),
            &folder.sockets().to_string_lossy(),
        );
        let append = || {
            let conf = folder.data().join("postgresql.conf");
            let mut file = OpenOptions::new().append(true).open(conf)?;
            file.write_all(settings::as_conf(&all).as_bytes())?;
            fs::write(folder.data().join("pg_hba.conf"), settings::PG_HBA)
        };
        append().map_err(EmbeddedError::io("write the server's configuration"))
    }

    /// Starts the server on a port that is free, and waits until it is ready.
    fn start_server(
        &mut self,
        config: &EmbeddedConfig,
        installation: &Installation,
        account: &Account,
    ) -> Result<u16, EmbeddedError> {
        let mut tries = 1;
        loop {
            let port = free_port().map_err(EmbeddedError::io("find a free port"))?;
            let mut command = installation.command("postgres", account);
            command.arg("-D").arg(self.folder()?.data()).args(["-p", &port.to_string()]);
            let child = self.spawn(command, "start the server")?;
            let pid = child.id();
            self.child = Some(child);
            let status = self.wait("postgres", config, |folder| is_ready(folder, pid))?;
            let Some(status) = status else { return Ok(port) };
            let lost_race = log_tail(self.folder()?).contains("could not create any TCP/IP socket");
            if !lost_race || tries == PORT_TRIES {
                return Err(self.failed("postgres", installation, Some(status)));
            }
            tries += 1;
        }
    }

    /// Spawns a command with its output in the log, and has it guarded.
    fn spawn(
        &mut self,
        mut command: std::process::Command,
        what: &str,
    ) -> Result<Child, EmbeddedError> {
        let log = self.folder()?.log();
        let open = || {
            let file: File = OpenOptions::new().create(true).append(true).open(&log)?;
            let second = file.try_clone()?;
            command.stdout(file).stderr(second).spawn()
        };
        let mut open = open;
        let child = open().map_err(EmbeddedError::io(what))?;
        if let Some(guard) = &mut self.guard {
            guard.watch(Some(child.id()));
        }
        Ok(child)
    }

    /// Waits until the child ends (`Some`) or `ready` says so (`None`).
    fn wait(
        &mut self,
        program: &'static str,
        config: &EmbeddedConfig,
        ready: impl Fn(&Folder) -> bool,
    ) -> Result<Option<ExitStatus>, EmbeddedError> {
        let started = Instant::now();
        loop {
            let ended = match &mut self.child {
                Some(child) => child.try_wait().map_err(EmbeddedError::io("wait"))?,
                None => None,
            };
            if let Some(status) = ended {
                self.child = None;
                if let Some(guard) = &mut self.guard {
                    guard.watch(None);
                }
                return Ok(Some(status));
            }
            if ready(self.folder()?) {
                return Ok(None);
            }
            if config.cancel.as_ref().is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
                return Err(EmbeddedError::Interrupted);
            }
            if started.elapsed() > config.start_timeout {
                return Err(EmbeddedError::Timeout {
                    program,
                    waited: started.elapsed(),
                    log_tail: log_tail(self.folder()?),
                });
            }
            sleep(process::POLL);
        }
    }

    fn failed(
        &self,
        program: &'static str,
        installation: &Installation,
        status: Option<ExitStatus>,
    ) -> EmbeddedError {
        EmbeddedError::Failed {
            program,
            bin_dir: installation.bin_dir.clone(),
            status: status.map_or_else(|| "no status".to_owned(), |status| status.to_string()),
            log_tail: self.folder.as_ref().map(log_tail).unwrap_or_default(),
        }
    }

    fn finish(
        mut self,
        installation: Installation,
        port: u16,
        password: &Secret,
    ) -> Result<EmbeddedServer, EmbeddedError> {
        let (Some(folder), Some(guard), Some(child)) =
            (self.folder.take(), self.guard.take(), self.child.take())
        else {
            return Err(EmbeddedError::Interrupted);
        };
        let sockets = folder.sockets().to_string_lossy().into_owned();
        Ok(EmbeddedServer {
            in_memory: place::is_in_memory(folder.path()),
            pid: child.id(),
            unix: options(sockets, None, port, password),
            tcp: options("127.0.0.1".to_owned(), Some(Ipv4Addr::LOCALHOST.into()), port, password),
            installation,
            child: Some(child),
            guard,
            folder,
        })
    }
}

/// The server says "ready" in the last line of postmaster.pid, from version
/// 10 on; that is what `pg_ctl -w` looks at as well.
fn is_ready(folder: &Folder, pid: u32) -> bool {
    const STATUS_LINE: usize = 7;
    let Ok(text) = fs::read_to_string(folder.data().join("postmaster.pid")) else { return false };
    let mut lines = text.lines();
    lines.next().and_then(|line| line.trim().parse().ok()) == Some(pid)
        && text.lines().nth(STATUS_LINE).is_some_and(|line| line.trim() == "ready")
}

fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

fn new_password() -> Result<Secret, EmbeddedError> {
    let mut bytes = [0_u8; PASSWORD_BYTES];
    getrandom::fill(&mut bytes)
        .map_err(std::io::Error::other)
        .map_err(EmbeddedError::io("make a password"))?;
    Ok(Secret::new(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()))
}

fn options(name: String, addr: Option<IpAddr>, port: u16, password: &Secret) -> Options {
    Options {
        hosts: vec![Host { name, addr, port, password: Some(password.clone()) }],
        user: USER.to_owned(),
        dbname: DATABASE.to_owned(),
        server_options: None,
        application_name: None,
        client_encoding: None,
        connect_timeout: None,
        tcp_user_timeout: None,
        keepalives: Keepalives::default(),
        ssl: Ssl { mode: SslMode::Disable, ..Ssl::default() },
        channel_binding: ChannelBinding::default(),
        require_auth: None,
        require_peer: None,
        target_session_attrs: TargetSessionAttrs::default(),
        load_balance_hosts: LoadBalanceHosts::default(),
        runtime_params: Vec::new(),
        password_source: None,
    }
}
