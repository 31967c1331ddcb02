//! A folder of its own in which the binary is run, and what it said there.
//!
//! Every call is checked for what must never happen, whatever a test is
//! about: a panic, or a secret in what was printed or kept.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;

use super::record;

/// A call that takes longer hangs. Generous: the machine may be busy.
const CALL_MAX: Duration = Duration::from_secs(120);

/// How often files and processes are looked at.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Variables that the binary may inherit; a test sets all others itself.
const INHERITED: [&str; 2] = ["PATH", "PGDYNO_PG_BIN"];

/// The binary under test.
pub(crate) const PGDYNO: &str = env!("CARGO_BIN_EXE_pgdyno");

/// A working folder for calls. Removed when dropped.
pub(crate) struct Room {
    folder: TempDir,
    secrets: Vec<String>,
}

impl Room {
    /// An empty folder that the server's user can reach.
    pub(crate) fn new() -> Self {
        // Short, because a server's socket may come to lie in it.
        let folder = tempfile::Builder::new().prefix("pgd-t").tempdir_in("/tmp").unwrap();
        open_to_all(folder.path());
        let tmp = folder.path().join("tmp");
        std::fs::create_dir(&tmp).unwrap();
        std::fs::set_permissions(&tmp, std::fs::Permissions::from_mode(0o1777)).unwrap();
        Self { folder, secrets: Vec::new() }
    }

    /// A folder in which `secret` must not turn up.
    pub(crate) fn with_secret(secret: &str) -> Self {
        let mut room = Self::new();
        room.secrets.push(secret.to_owned());
        room
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The binary's folder for temporary files.
    pub(crate) fn tmp(&self) -> PathBuf {
        self.path().join("tmp")
    }

    /// Writes a file into the folder.
    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).unwrap();
    }

    /// The binary with a bare environment, in this folder.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = Command::new(PGDYNO);
        command.args(args).current_dir(self.path()).stdin(Stdio::null()).env_clear();
        for name in INHERITED {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        command.env("LC_ALL", "C.UTF-8").env("HOME", self.path()).env("TMPDIR", self.tmp());
        command
    }

    /// Runs the binary to its end.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> Outcome {
        self.start(self.command(args)).finish()
    }

    /// Runs the binary to its end, with variables.
    pub(crate) fn run_with<S: AsRef<OsStr>>(&self, env: &[(&str, &str)], args: &[S]) -> Outcome {
        let mut command = self.command(args);
        command.envs(env.iter().copied());
        self.start(command).finish()
    }

    /// Starts a command whose outputs go to files.
    pub(crate) fn start(&self, mut command: Command) -> Running<'_> {
        let begin = Instant::now();
        let output = |name: &str| {
            let path = self.path().join(format!("{name}.txt"));
            let file = File::create(&path).unwrap();
            (path, file)
        };
        let ((out, out_file), (err, err_file)) = (output("stdout"), output("stderr"));
        let child = command.stdout(out_file).stderr(err_file).spawn().unwrap();
        Running { room: self, child, out, err, begin }
    }

    /// The records that runs have left here, oldest first, each checked
    /// against the schema.
    pub(crate) fn records(&self) -> Vec<Value> {
        let mut files = Vec::new();
        collect(&self.path().join("pgdyno-runs"), &mut files);
        files.retain(|path| path.file_name().is_some_and(|name| name == "run.json"));
        files.sort();
        files.iter().map(|path| record::parse(&std::fs::read_to_string(path).unwrap())).collect()
    }

    /// The one record that is here.
    pub(crate) fn record(&self) -> Value {
        let mut records = self.records();
        assert_eq!(records.len(), 1, "records in {}", self.path().display());
        records.remove(0)
    }

    /// No file in the folder holds a secret, except those that a test wrote.
    fn check_secrets(&self, outcome: &Outcome) {
        let mut kept = Vec::new();
        collect(&self.path().join("pgdyno-runs"), &mut kept);
        for secret in &self.secrets {
            let said = [&outcome.out, &outcome.err].iter().any(|text| text.contains(secret));
            assert!(!said, "a secret was printed: {outcome:?}");
            for path in &kept {
                let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
                assert!(!text.contains(secret), "a secret is in {}", path.display());
            }
        }
    }
}

/// Lets every user of the machine look into a folder.
pub(crate) fn open_to_all(folder: &Path) {
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn collect(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { collect(&path, into) } else { into.push(path) }
    }
}

/// A call under way.
pub(crate) struct Running<'r> {
    room: &'r Room,
    child: Child,
    out: PathBuf,
    err: PathBuf,
    begin: Instant,
}

impl Running<'_> {
    /// What it has written to standard error so far.
    pub(crate) fn err(&self) -> String {
        read(&self.err)
    }

    pub(crate) fn signal(&self, signal: Signal) {
        // It may have ended already; its outcome will tell.
        let _ = kill(Pid::from_raw(i32::try_from(self.child.id()).unwrap()), signal);
    }

    /// Waits until standard error has `count` lines that hold `text`.
    pub(crate) fn wait_for(&mut self, text: &str, count: usize) {
        while self.err().lines().filter(|line| line.contains(text)).count() < count {
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none(), "ended before it said {text:?}: {}", self.err());
            assert!(self.begin.elapsed() < CALL_MAX, "never said {text:?}: {}", self.err());
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// True when it has ended within `time`.
    pub(crate) fn ends_within(&mut self, time: Duration) -> bool {
        let begin = Instant::now();
        while begin.elapsed() < time {
            if self.child.try_wait().unwrap().is_some() {
                return true;
            }
            std::thread::sleep(LOOK_EVERY);
        }
        false
    }

    /// Waits for its end and takes what it said.
    pub(crate) fn finish(mut self) -> Outcome {
        while !self.ends_within(Duration::from_secs(1)) {
            if self.begin.elapsed() > CALL_MAX {
                let _ = self.child.kill();
                panic!("no end after {CALL_MAX:?}: {}", self.err());
            }
        }
        let status = self.child.wait().unwrap();
        let outcome = Outcome { status, out: read(&self.out), err: read(&self.err) };
        for text in [&outcome.out, &outcome.err] {
            assert!(!text.contains("panicked") && !text.contains("RUST_BACKTRACE"), "{outcome:?}");
        }
        self.room.check_secrets(&outcome);
        outcome
    }
}

fn read(path: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned()
}

/// How a call ended, and what it said.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) status: ExitStatus,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Outcome {
    /// The exit code; a signal is none.
    pub(crate) fn code(&self) -> i32 {
        self.status
            .code()
            .unwrap_or_else(|| panic!("ended by signal {:?}: {self:?}", self.status.signal()))
    }

    /// Checks the exit code.
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code(), code, "{self:?}");
        self
    }

    /// Checks that standard error holds each of `texts`.
    pub(crate) fn says(self, texts: &[&str]) -> Self {
        for text in texts {
            assert!(self.err.contains(text), "not said: {text:?} in {self:?}");
        }
        self
    }

    /// Checks that the summary holds each of `texts`, whatever its line breaks.
    pub(crate) fn shows(self, texts: &[&str]) -> Self {
        let summary = self.out.split_whitespace().collect::<Vec<_>>().join(" ");
        for text in texts {
            assert!(summary.contains(text), "not shown: {text:?} in {}", self.out);
        }
        self
    }

    /// Checks that there is one error, and gives back its text.
    pub(crate) fn one_error(&self) -> String {
        let errors: Vec<&str> =
            self.err.lines().filter(|line| line.starts_with("pgdyno: error:")).collect();
        assert_eq!(errors.len(), 1, "{self:?}");
        self.err[self.err.find(errors[0]).unwrap()..].to_owned()
    }
}
