//! Runs a command of a person's through the shell: its output bounded, its
//! time bounded, and nothing left of it where it is given up.

use std::io::{IsTerminal as _, Read};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// What a command may print: a session token has a few kilobytes.
const STDOUT_MAX: usize = 64 * 1024;

/// What is kept of its complaints.
const STDERR_MAX: usize = 4 * 1024;

/// How often the end of the command and the stop flag are looked at, ms.
const LOOK_MS: u16 = 10;

/// What a command left.
pub(crate) struct Output {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    status: ExitStatus,
}

impl Output {
    /// Its output, where it ended well.
    ///
    /// # Errors
    /// How it ended, and what it said on standard error.
    pub(crate) fn checked(self) -> Result<Vec<u8>, String> {
        let complaint = self.complaint();
        self.checked_in_silence().map_err(|how| format!("{how}{complaint}"))
    }

    /// As [`Output::checked`], without what it said, which may hold a secret
    /// in another form than the output does.
    ///
    /// # Errors
    /// How it ended.
    pub(crate) fn checked_in_silence(self) -> Result<Vec<u8>, String> {
        if self.status.success() {
            return Ok(self.stdout);
        }
        let how = match (self.status.code(), self.status.signal()) {
            (Some(code), _) => format!("ended with exit status {code}"),
            (None, Some(signal)) => format!("was ended by signal {signal}"),
            (None, None) => "did not end well".to_owned(),
        };
        Err(how)
    }

    /// What it said on standard error, without what it printed as a secret:
    /// `set -x` shows both.
    pub(crate) fn complaint(&self) -> String {
        let said = String::from_utf8_lossy(&self.stderr);
        let mut said = said.trim().to_owned();
        for line in String::from_utf8_lossy(&self.stdout).lines().map(str::trim) {
            if !line.is_empty() {
                said = said.replace(line, "***");
            }
        }
        if said.is_empty() { " and said nothing".to_owned() } else { format!(" and said: {said}") }
    }
}

/// Runs `sh -c COMMAND` with nothing on its standard input.
///
/// # Errors
/// It could not be started, printed too much, or did not end within `time_max`
/// or before `stop` was set; for people.
pub(crate) fn run(command: &str, time_max: Duration, stop: &AtomicBool) -> Result<Output, String> {
    // At a terminal the command may ask for something there, which only the
    // terminal's own group may do; Ctrl-C reaches it as well then. Elsewhere a
    // group of its own lets it be ended with all that it started.
    let own_group = !std::io::stdin().is_terminal();
    let mut builder = Command::new("/bin/sh");
    builder.arg("-c").arg(command);
    builder.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if own_group {
        builder.process_group(0);
    }
    let mut child = builder.spawn().map_err(|error| format!("could not be started: {error}"))?;
    let deadline = Instant::now().checked_add(time_max);
    let gathered = gather(&mut child, deadline, stop);
    if gathered.is_err() {
        end(&mut child, own_group);
    }
    let (stdout, stderr) = gathered.map_err(|given_up| match given_up {
        GivenUp::Time => format!("did not end within {} s", time_max.as_secs_f64()),
        GivenUp::Stop => "was given up".to_owned(),
        GivenUp::TooMuch => format!("printed more than {} KiB", STDOUT_MAX / 1024),
        GivenUp::Io(error) => format!("could not be read: {error}"),
    })?;
    let status = child.wait().map_err(|error| format!("could not be waited for: {error}"))?;
    Ok(Output { stdout, stderr, status })
}

enum GivenUp {
    Time,
    Stop,
    TooMuch,
    Io(std::io::Error),
}

/// Reads both streams until the command has ended. What it started and left
/// behind may keep the streams open; that is not waited for.
fn gather(
    child: &mut Child,
    deadline: Option<Instant>,
    stop: &AtomicBool,
) -> Result<(Vec<u8>, Vec<u8>), GivenUp> {
    let mut out = Stream { pipe: child.stdout.take(), kept: Vec::new() };
    let mut err = Stream { pipe: child.stderr.take(), kept: Vec::new() };
    loop {
        let has_ended = child.try_wait().map_err(GivenUp::Io)?.is_some();
        // Ended: what is in the pipes still, and no waiting.
        let wait = if has_ended { 0 } else { LOOK_MS };
        let any = out.take_some(wait)? | err.take_some(0)?;
        if out.kept.len() > STDOUT_MAX {
            return Err(GivenUp::TooMuch);
        }
        err.kept.truncate(STDERR_MAX);
        if has_ended && !any {
            return Ok((out.kept, err.kept));
        }
        if out.pipe.is_none() && !has_ended {
            std::thread::sleep(Duration::from_millis(LOOK_MS.into()));
        }
        if stop.load(Ordering::Relaxed) {
            return Err(GivenUp::Stop);
        }
        if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            return Err(GivenUp::Time);
        }
    }
}

/// One stream of the command; no pipe once it is at its end.
struct Stream<R> {
    pipe: Option<R>,
    kept: Vec<u8>,
}

impl<R: Read + AsFd> Stream<R> {
    /// Reads what is there, waiting for it a little; true if there was any.
    fn take_some(&mut self, wait_ms: u16) -> Result<bool, GivenUp> {
        let Some(pipe) = &mut self.pipe else { return Ok(false) };
        let mut fds = [PollFd::new(pipe.as_fd(), PollFlags::POLLIN)];
        match poll(&mut fds, PollTimeout::from(wait_ms)) {
            Ok(0) | Err(nix::errno::Errno::EINTR) => return Ok(false),
            Ok(_) => {}
            Err(errno) => return Err(GivenUp::Io(errno.into())),
        }
        let mut piece = [0; 4096];
        // It is ready, so that one read does not block.
        match pipe.read(&mut piece) {
            Ok(0) => self.pipe = None,
            Ok(len) => {
                self.kept.extend_from_slice(&piece[..len]);
                return Ok(true);
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(GivenUp::Io(error)),
        }
        Ok(false)
    }
}

/// Ends the command, and what it started where that is a group of its own.
fn end(child: &mut Child, own_group: bool) {
    // Each fails only where there is nothing left to end.
    if own_group && let Ok(pid) = i32::try_from(child.id()) {
        let _ = killpg(Pid::from_raw(pid), Signal::SIGKILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Far longer than any of these commands takes.
    const LONG: Duration = Duration::from_secs(120);

    fn output(command: &str, time_max: Duration) -> Result<Vec<u8>, String> {
        run(command, time_max, &AtomicBool::new(false)).and_then(Output::checked)
    }

    /// What a command prints comes whole, and what it leaves running does not
    /// hold it up.
    #[test]
    fn output_is_whole() {
        let big = output("i=0; while [ $i -lt 2000 ]; do echo 0123456789; i=$((i+1)); done", LONG);
        assert_eq!(big.map(|text| text.len()), Ok(22_000));
        let left = output("sleep 600 & echo $!", LONG).unwrap();
        let pid = String::from_utf8(left).unwrap().trim().parse().unwrap();
        assert!(is_alive(pid), "it was waited for");
        nix::sys::signal::kill(Pid::from_raw(pid), Signal::SIGKILL).unwrap();
    }

    /// A command that fails says so in its own words, without what it printed.
    #[test]
    fn failures_are_told() {
        let told = output("echo hunter2; echo no vault for hunter2 >&2; exit 3", LONG);
        assert_eq!(told, Err("ended with exit status 3 and said: no vault for ***".to_owned()));
        assert_eq!(
            output("kill -9 $$", LONG).unwrap_err(),
            "was ended by signal 9 and said nothing"
        );
        assert!(output("exec yes", LONG).unwrap_err().starts_with("printed more than"));
    }

    /// A command that hangs is ended with all that it started.
    #[test]
    fn a_hanging_command_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        let command = format!("sleep 600 & echo $! > {}; wait", file.display());
        let error = output(&command, Duration::from_millis(500)).unwrap_err();
        assert_eq!(error, "did not end within 0.5 s");
        let stop = AtomicBool::new(true);
        assert_eq!(run("sleep 600", LONG, &stop).map(|_| ()).unwrap_err(), "was given up");
        // A slow machine may not have got as far as writing it.
        let Ok(pid) = std::fs::read_to_string(file) else { return };
        let Ok(pid) = pid.trim().parse() else { return };
        if std::io::stdin().is_terminal() {
            let _ = nix::sys::signal::kill(Pid::from_raw(pid), Signal::SIGKILL);
            return;
        }
        let begin = Instant::now();
        while is_alive(pid) {
            assert!(begin.elapsed() < LONG, "process {pid} is left");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// A dead process whose parent has not asked for it yet is not alive.
    fn is_alive(pid: i32) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = stat.rsplit(") ").next().and_then(|rest| rest.chars().next());
        state.is_some_and(|state| state != 'Z' && state != 'X')
    }
}
