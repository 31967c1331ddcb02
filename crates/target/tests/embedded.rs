//! The throw-away server for real: started, asked, killed, swept.
//!
//! Each test runs for every server that it finds: PostgreSQL 15 and 18, named
//! by `PGDYNO_TEST_PG15_BIN` and `PGDYNO_TEST_PG18_BIN`, else whatever
//! [`EmbeddedServer::start`] finds by itself.

#![allow(clippy::unwrap_used, reason = "a failing helper is a failing test")]

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use pgdyno_target::{EmbeddedConfig, EmbeddedError, EmbeddedServer};
use pgdyno_wire::options::Options;

/// Long enough for a loaded machine; nothing here waits for it when all is well.
const PATIENCE: Duration = Duration::from_secs(60);

fn installations() -> Vec<Option<PathBuf>> {
    let named: Vec<_> = ["PGDYNO_TEST_PG15_BIN", "PGDYNO_TEST_PG18_BIN"]
        .iter()
        .filter_map(env::var_os)
        .filter(|value| !value.is_empty())
        .map(|value| Some(PathBuf::from(value)))
        .collect();
    if named.is_empty() { vec![None] } else { named }
}

/// Small buffers: several servers run at once.
fn config(bin_dir: Option<PathBuf>) -> EmbeddedConfig {
    EmbeddedConfig {
        bin_dir,
        settings: vec![("shared_buffers".into(), "32MB".into())],
        ..EmbeddedConfig::default()
    }
}

fn each_server(test: impl Fn(EmbeddedServer)) {
    for bin_dir in installations() {
        test(EmbeddedServer::start(&config(bin_dir)).unwrap());
    }
}

/// What `psql` of the same installation answers, or its words of refusal.
fn psql(
    server: &EmbeddedServer,
    options: &Options,
    password: &str,
    sql: &str,
) -> Result<String, String> {
    let bin_dir = &server.installation().bin_dir;
    let host = &options.hosts[0];
    let output = Command::new(bin_dir.join("psql"))
        .args(["-X", "-A", "-t", "-w", "-h", &host.name, "-p", &host.port.to_string()])
        .args(["-U", &options.user, "-d", &options.dbname, "-c", sql])
        .env("PGPASSWORD", password)
        .env("LD_LIBRARY_PATH", bin_dir.join("../lib"))
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).trim().to_owned();
    if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
}

fn password(options: &Options) -> String {
    options.hosts[0].password.as_ref().unwrap().reveal().to_owned()
}

fn folder_of(server: &EmbeddedServer) -> PathBuf {
    server.data_dir().parent().unwrap().to_owned()
}

fn is_alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Both ways in ask for the SCRAM password: right opens, wrong is refused.
#[test]
fn scram_is_asked_for_on_both_ways() {
    each_server(|server| {
        for options in [server.options_unix(), server.options_tcp()] {
            let right = password(&options);
            assert_eq!(psql(&server, &options, &right, "SELECT 41 + 1"), Ok("42".to_owned()));
            let refused = psql(&server, &options, "wrong", "SELECT 1").unwrap_err();
            assert!(refused.contains("password authentication failed"), "{refused}");
            let stored = psql(
                &server,
                &options,
                &right,
                "SELECT rolpassword FROM pg_authid WHERE rolname = 'postgres'",
            );
            assert!(stored.unwrap().starts_with("SCRAM-SHA-256$"));
        }
        server.stop().unwrap();
    });
}

/// Durability is on by default, and off only with `no_fsync`.
#[test]
fn durability_follows_the_switch() {
    let sql = "SELECT string_agg(setting, ' ' ORDER BY name) FROM pg_settings WHERE name IN \
               ('fsync', 'synchronous_commit', 'full_page_writes', 'max_connections')";
    for (no_fsync, expected) in [(false, "on on 37 on"), (true, "off off 37 off")] {
        let config = EmbeddedConfig { no_fsync, max_connections: 37, ..config(None) };
        let server = EmbeddedServer::start(&config).unwrap();
        let options = server.options_unix();
        assert_eq!(psql(&server, &options, &password(&options), sql).as_deref(), Ok(expected));
    }
}

/// After `stop` neither process, folder nor port is left, and the password
/// never lay in a file for longer than the making of the data folder.
#[test]
fn stop_leaves_nothing() {
    each_server(|server| {
        let (folder, pid, port) =
            (folder_of(&server), server.pid(), server.options_tcp().hosts[0].port);
        assert!(is_alive(pid) && folder.join("owner.lock").exists());
        assert!(!folder.join("pw").exists() && !folder.join("initdb.pid").exists());
        assert_eq!(server.options_unix().hosts[0].name, folder.join("s").display().to_string());
        server.stop().unwrap();
        assert!(!is_alive(pid) && !folder.exists());
        assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
    });
}

/// Dropping the server stops and removes it as well.
#[test]
fn drop_leaves_nothing() {
    let server = EmbeddedServer::start(&config(None)).unwrap();
    let (folder, pid) = (folder_of(&server), server.pid());
    drop(server);
    assert!(!is_alive(pid) && !folder.exists());
}

/// The server never runs as root, and its data belong to whom it runs as.
#[test]
fn root_hands_the_server_over() {
    let server = EmbeddedServer::start(&config(None)).unwrap();
    let runs_as = fs::metadata(format!("/proc/{}", server.pid())).unwrap().uid();
    assert_ne!(runs_as, 0);
    assert_eq!(fs::metadata(server.data_dir()).unwrap().uid(), runs_as);
}

/// The terminal's Ctrl-C does not reach the server: it has a group of its own.
#[test]
fn server_has_its_own_process_group() {
    let server = EmbeddedServer::start(&config(None)).unwrap();
    let group = |pid: u32| -> u32 {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let (_, rest) = stat.rsplit_once(") ").unwrap();
        rest.split(' ').nth(2).unwrap().parse().unwrap()
    };
    assert_eq!(group(server.pid()), server.pid());
    assert_ne!(group(server.pid()), group(std::process::id()));
}

/// A setting that the server refuses ends in an error with the server's words,
/// and leaves no folder.
#[test]
fn failed_start_shows_the_log_and_cleans_up() {
    let temp = short_temp();
    let mut config = config(None);
    config.parent_dir = Some(temp.path().to_owned());
    config.settings.push(("work_mem".into(), "lots".into()));
    let error = EmbeddedServer::start(&config).unwrap_err();
    assert!(matches!(error, EmbeddedError::Failed { program: "postgres", .. }), "{error}");
    assert!(error.to_string().contains("invalid value for parameter \"work_mem\""), "{error}");
    assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 0);
}

/// A start that takes too long, or is called off, ends and leaves nothing.
#[test]
fn start_can_be_called_off() {
    let temp = short_temp();
    let parent_dir = Some(temp.path().to_owned());
    let hurried = EmbeddedConfig { start_timeout: Duration::ZERO, parent_dir, ..config(None) };
    let error = EmbeddedServer::start(&hurried).unwrap_err();
    assert!(matches!(error, EmbeddedError::Timeout { program: "initdb", .. }), "{error}");
    let cancel = Some(Arc::new(AtomicBool::new(true)));
    let cancelled = EmbeddedConfig { cancel, start_timeout: PATIENCE, ..hurried };
    let error = EmbeddedServer::start(&cancelled).unwrap_err();
    assert!(matches!(error, EmbeddedError::Interrupted), "{error}");
    assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 0);
}

/// A server that dies by itself is noticed, and its log can be read.
#[test]
fn death_of_the_server_is_seen() {
    let mut server = EmbeddedServer::start(&config(None)).unwrap();
    assert!(server.is_running());
    assert!(
        Command::new("kill").arg("-QUIT").arg(server.pid().to_string()).status().unwrap().success()
    );
    let start = Instant::now();
    while server.is_running() {
        assert!(start.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(server.log_tail().contains("immediate shutdown request"), "{}", server.log_tail());
}

/// A folder that any user can pass through, as the server's user must.
fn short_temp() -> tempfile::TempDir {
    use std::os::unix::fs::PermissionsExt;
    let all = fs::Permissions::from_mode(0o755);
    tempfile::Builder::new().prefix("t").permissions(all).tempdir_in("/tmp").unwrap()
}

const CHILD: &str = "PGDYNO_TEST_OWNER_OF";

/// In the child process: owns a server, says so, and waits to be killed.
fn own_a_server_until_killed(parent_dir: &Path) {
    let config = EmbeddedConfig { parent_dir: Some(parent_dir.to_owned()), ..config(None) };
    let server = EmbeddedServer::start(&config).unwrap();
    let mut out = std::io::stdout();
    writeln!(out, "\nserver {} {}", server.pid(), folder_of(&server).display()).unwrap();
    out.flush().unwrap();
    std::thread::sleep(PATIENCE * 5);
    panic!("nobody killed this process");
}

/// Starts this test again as a process that owns a server.
fn spawn_owner(test: &str, parent_dir: &Path) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(CHILD, parent_dir)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits until the owner says which server it has: pid and folder.
fn its_server(owner: &mut Child) -> (u32, PathBuf) {
    let lines = BufReader::new(owner.stdout.take().unwrap()).lines();
    for line in lines.map_while(Result::ok) {
        if let Some((pid, folder)) = line.strip_prefix("server ").and_then(|l| l.split_once(' ')) {
            return (pid.parse().unwrap(), PathBuf::from(folder));
        }
    }
    panic!("the owner ended without a server");
}

/// Kills a process and, with `guard_too`, the guard over its server.
fn kill_owner(owner: &mut Child, folder: &Path, guard_too: bool) {
    if guard_too {
        kill_9(guard_of(folder).unwrap());
    }
    owner.kill().unwrap();
    owner.wait().unwrap();
}

fn kill_9(pid: u32) {
    assert!(Command::new("kill").arg("-9").arg(pid.to_string()).status().unwrap().success());
}

/// The shell whose arguments are the guard's name and the folder.
fn guard_of(folder: &Path) -> Option<u32> {
    let wanted = format!("pgdyno-guard\0{}\0", folder.display());
    fs::read_dir("/proc").unwrap().flatten().find_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        let arguments = fs::read(entry.path().join("cmdline")).ok()?;
        String::from_utf8_lossy(&arguments).ends_with(&wanted).then_some(pid)
    })
}

/// `kill -9` of the owner: server and folder are gone soon, by the guard alone.
#[test]
fn killed_owner_leaves_nothing() {
    if let Some(parent_dir) = env::var_os(CHILD) {
        return own_a_server_until_killed(Path::new(&parent_dir));
    }
    let temp = short_temp();
    let mut owner = spawn_owner("killed_owner_leaves_nothing", temp.path());
    let (pid, folder) = its_server(&mut owner);
    assert!(is_alive(pid) && folder.exists());
    kill_owner(&mut owner, &folder, false);
    wait_until("the end of the server", || !is_alive(pid));
    wait_until("the end of the folder", || !folder.exists());
}

/// `kill -9` of owner and guard: the next start stops the stale server and
/// removes its folder, and leaves a living one's alone.
#[test]
fn next_start_sweeps_what_a_kill_left() {
    if let Some(parent_dir) = env::var_os(CHILD) {
        return own_a_server_until_killed(Path::new(&parent_dir));
    }
    let temp = short_temp();
    let here = EmbeddedConfig { parent_dir: Some(temp.path().to_owned()), ..config(None) };
    let living = EmbeddedServer::start(&here).unwrap();
    let mut owner = spawn_owner("next_start_sweeps_what_a_kill_left", temp.path());
    let (pid, folder) = its_server(&mut owner);
    kill_owner(&mut owner, &folder, true);
    std::thread::sleep(Duration::from_millis(300));
    assert!(is_alive(pid) && folder.exists(), "without its guard it should have stayed");
    let next = EmbeddedServer::start(&here).unwrap();
    assert!(!is_alive(pid) && !folder.exists());
    assert!(is_alive(living.pid()) && living.data_dir().exists());
    next.stop().unwrap();
    living.stop().unwrap();
}

/// `kill -9` in the middle of the making leaves nothing for longer than until
/// the next start either.
#[test]
fn killed_while_starting() {
    if let Some(parent_dir) = env::var_os(CHILD) {
        return own_a_server_until_killed(Path::new(&parent_dir));
    }
    let temp = short_temp();
    let mut owner = spawn_owner("killed_while_starting", temp.path());
    let seen = || fs::read_dir(temp.path()).unwrap().flatten().next().map(|entry| entry.path());
    wait_until("initdb", || seen().is_some_and(|folder| folder.join("initdb.pid").exists()));
    let folder = seen().unwrap();
    owner.kill().unwrap();
    owner.wait().unwrap();
    wait_until("the end of the folder", || !folder.exists());
}
