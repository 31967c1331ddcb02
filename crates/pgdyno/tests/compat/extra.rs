//! What pgbench does not have, or what cannot be compared with it: our own
//! options, and interrupts.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::server::Server;

fn command(server: &Server, program: &Path, args: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .arg("pgbench")
        .args(args)
        .current_dir(folder)
        .env("PGDATABASE", "compat")
        .envs(server.env().iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn texts(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// Percentiles come below the report, and the JSON holds the report's numbers.
pub(crate) fn percentiles_and_json(server: &Server, program: &Path) {
    let folder = tempfile::tempdir().expect("a folder");
    let args = [
        "-n",
        "-S",
        "-t",
        "20",
        "--latency-percentiles=50,99.9",
        "--json=out.json",
        "--poller=epoll",
    ];
    let output = command(server, program, &args, folder.path()).output().expect("it runs");
    let (code, stdout, stderr) = texts(&output);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let below = stdout.split_once("tps = ").expect("a report").1;
    for start in ["latency percentile 50 = ", "latency percentile 99.9 = "] {
        assert_eq!(below.matches(start).count(), 1, "{stdout}");
    }
    let text = std::fs::read_to_string(folder.path().join("out.json")).expect("a file");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&json["total"]["processed"], &json["poller"]), (&20.into(), &"epoll".into()));
    assert_eq!(json["scripts"][0]["description"], "<builtin: select only>");
    assert_eq!(json["latency_percentiles"][1]["percent"], 99.9);
}

/// With `--continue-on-error` an error of SQL is a failed transaction and no end.
pub(crate) fn continue_on_error(server: &Server, program: &Path) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.sql"), "SELECT 1 / (:client_id);\n").expect("a file");
    let args =
        ["-n", "-t", "3", "-c", "2", "-f", "a.sql", "--continue-on-error", "--failures-detailed"];
    let output = command(server, program, &args, folder.path()).output().expect("it runs");
    let (code, stdout, stderr) = texts(&output);
    assert_eq!(code, Some(0), "{stderr}");
    for line in ["actually processed: 3/6", "failed transactions: 3 (50.000%)"] {
        assert!(stdout.contains(line), "{stdout}");
    }
}

/// An interrupt ends a run in order: the report is there, and the status says
/// that it is not the whole.
pub(crate) fn interrupted_run(server: &Server, program: &Path) {
    let folder = tempfile::tempdir().expect("a folder");
    let child = command(server, program, &["-n", "-S", "-T", "60"], folder.path())
        .spawn()
        .expect("it starts");
    std::thread::sleep(Duration::from_secs(1));
    interrupt(child.id());
    let (code, stdout, stderr) = texts(&child.wait_with_output().expect("it ends"));
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stdout.contains("number of transactions actually processed: "), "{stdout}");
    assert!(stderr.contains("error: Run was interrupted"), "{stderr}");
}

/// An interrupt cancels the running statement of an initialization, with the words
/// that pgbench has for it.
pub(crate) fn interrupted_initialization(server: &Server, program: &Path) {
    let folder = tempfile::tempdir().expect("a folder");
    // More rows than any machine generates in the time that the test waits.
    let args = ["-i", "-I", "dtG", "-s", "5000", "compat_empty"];
    let child = command(server, program, &args, folder.path()).spawn().expect("it starts");
    std::thread::sleep(Duration::from_secs(1));
    interrupt(child.id());
    let (code, _, stderr) = texts(&child.wait_with_output().expect("it ends"));
    assert_eq!(code, Some(1), "{stderr}");
    assert!(
        stderr.contains(
            "Cancel request sent\npgbench: error: query failed: ERROR:  canceling statement due \
             to user request\npgbench: detail: Query was: insert into pgbench_"
        ),
        "{stderr}"
    );
}

/// A thousand clients on one thread start, run and end in order: every transaction
/// is processed and logged by its own client, and none is left on the server.
pub(crate) fn a_thousand_clients(server: &Server, program: &Path) {
    const CLIENTS: usize = 1000;
    server.real_init(&["-i", "-q", "postgres"]);
    let folder = tempfile::tempdir().expect("a folder");
    let args = ["-n", "-S", "-c", "1000", "-j", "1", "-t", "2", "-l", "postgres"];
    let output = command(server, program, &args, folder.path()).output().expect("it runs");
    let (code, stdout, stderr) = texts(&output);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    for line in ["number of clients: 1000\n", "actually processed: 2000/2000\n"] {
        assert!(stdout.contains(line), "{stdout}");
    }
    let logs: Vec<_> = std::fs::read_dir(folder.path())
        .expect("the folder")
        .map(|entry| std::fs::read_to_string(entry.expect("an entry").path()).expect("a log"))
        .collect();
    assert_eq!(logs.len(), 1, "one thread writes one log");
    let mut transactions = vec![Vec::new(); CLIENTS];
    for line in logs[0].lines() {
        let mut fields = line.split(' ').map(str::parse::<usize>);
        let (Some(Ok(client)), Some(Ok(number))) = (fields.next(), fields.next()) else {
            panic!("a line of the log: {line:?}");
        };
        transactions[client].push(number);
    }
    assert!(transactions.iter().all(|numbers| *numbers == [1, 2]));
    let left = "select count(*) from pg_stat_activity where application_name = 'pgbench'";
    for _ in 0..100 {
        if server.sql("postgres", left) == "0\n" {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("{} sessions are left", server.sql("postgres", left));
}

fn interrupt(pid: u32) {
    let pid = Pid::from_raw(i32::try_from(pid).expect("a pid"));
    kill(pid, Signal::SIGINT).expect("it still runs");
}
