//! Ending processes, our own children and those of a pgdyno that died.

use std::fs;
use std::path::Path;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// How often a condition is looked at while waiting for it. 20 ms is less
/// than anything that is waited for here takes.
pub(crate) const POLL: Duration = Duration::from_millis(20);
/// A fast shutdown ends sessions and writes a checkpoint; a loaded server
/// with slow disks may need this long. Then it is told to leave at once.
const FAST_WAIT: Duration = Duration::from_secs(15);
/// After SIGQUIT the postmaster gives its children 5 s before SIGKILL.
const QUIT_WAIT: Duration = Duration::from_secs(8);

/// Ends a server that is our child: fast, then immediate, then by force.
/// Returns when it is gone.
pub(crate) fn end_server(child: &mut Child) -> std::io::Result<()> {
    for (signal, wait) in [(Signal::SIGINT, FAST_WAIT), (Signal::SIGQUIT, QUIT_WAIT)] {
        send(child.id(), signal);
        if wait_child(child, wait)? {
            return Ok(());
        }
    }
    child.kill()?;
    child.wait().map(|_| ())
}

/// Ends a child that is still starting.
pub(crate) fn end_now(child: &mut Child) {
    // `initdb` leaves on the first, a server at once on the second only. The
    // second alone is not enough: a shell's background jobs, and so their
    // children, ignore SIGINT until they set a handler.
    send(child.id(), Signal::SIGTERM);
    send(child.id(), Signal::SIGINT);
    if !wait_child(child, QUIT_WAIT).unwrap_or(false) {
        let _ = child.kill();
        let _ = child.wait();
    }
}

fn wait_child(child: &mut Child, wait: Duration) -> std::io::Result<bool> {
    let start = Instant::now();
    while start.elapsed() < wait {
        if child.try_wait()?.is_some() {
            return Ok(true);
        }
        sleep(POLL);
    }
    Ok(false)
}

/// Ends a process that is not our child: SIGQUIT, then SIGKILL.
pub(crate) fn end_stranger(pid: u32) {
    send(pid, Signal::SIGQUIT);
    let start = Instant::now();
    while start.elapsed() < QUIT_WAIT {
        if !is_alive(pid) {
            return;
        }
        sleep(POLL);
    }
    send(pid, Signal::SIGKILL);
}

fn send(pid: u32, signal: Signal) {
    // Process 0 would mean our own group, and 1 is never a server of ours.
    if let Ok(pid) = i32::try_from(pid)
        && pid > 1
    {
        // Gone already is what was wanted; a refusal shows in the wait after it.
        let _ = kill(Pid::from_raw(pid), signal);
    }
}

/// True while a process runs; one that only waits to be collected does not.
pub(crate) fn is_alive(pid: u32) -> bool {
    let Ok(raw) = i32::try_from(pid) else { return false };
    if raw <= 1 || kill(Pid::from_raw(raw), None) == Err(Errno::ESRCH) {
        return false;
    }
    // "pid (name) S …": Z is a zombie, whose parent may never collect it.
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .ok()
        .and_then(|stat| stat.rsplit_once(") ").map(|(_, rest)| !rest.starts_with('Z')))
        .unwrap_or(true)
}

/// True where a process works on the folder: its arguments name it, or its
/// working folder is in it. A pid from a file may have gone to another.
pub(crate) fn belongs_to(pid: u32, folder: &Path) -> bool {
    if !is_alive(pid) {
        return false;
    }
    let wanted = folder.to_string_lossy();
    if Path::new("/proc/self/cmdline").exists() {
        let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let at_work = fs::read_link(format!("/proc/{pid}/cwd"));
        return String::from_utf8_lossy(&arguments).contains(wanted.as_ref())
            || at_work.is_ok_and(|cwd| cwd.starts_with(folder));
    }
    Command::new("ps")
        .args(["-o", "command=", "-p", &pid.to_string()])
        .output()
        .is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(wanted.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process is known by what it works on, and its end is seen.
    #[test]
    fn knows_its_own() {
        let temp = tempfile::tempdir().unwrap();
        let mut child = Command::new("sleep").arg("600").current_dir(temp.path()).spawn().unwrap();
        assert!(is_alive(child.id()));
        let real = fs::canonicalize(temp.path()).unwrap();
        assert!(belongs_to(child.id(), &real) || cfg!(not(target_os = "linux")));
        assert!(!belongs_to(child.id(), Path::new("/nowhere/at/all")));
        end_now(&mut child);
        assert!(!is_alive(child.id()));
    }
}
