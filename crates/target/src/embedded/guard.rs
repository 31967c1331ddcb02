//! Cleans up at once where pgdyno is killed without a chance to do so.
//!
//! A shell waits on a pipe whose other end pgdyno holds. When pgdyno dies, by
//! `kill -9` too, the system closes the pipe, and the shell stops the server
//! and removes its folder. `PR_SET_PDEATHSIG` would be the other way, but the
//! kernel drops it where root changes user, it needs unsafe code, and it would
//! leave the folder. Where the shell is killed as well, the next start cleans.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Lines from pgdyno: `pid N` names the process to stop, `done` ends the
/// guard. The end of input without `done` means that pgdyno is dead.
const SCRIPT: &str = r#"
trap '' INT TERM HUP
pid=
while read -r word value; do
    case $word in
        pid) pid=$value ;;
        done) exit 0 ;;
    esac
done
if [ -n "$pid" ]; then
    kill -QUIT "$pid" 2>/dev/null
    tries=0
    while [ "$tries" -lt 100 ] && kill -0 "$pid" 2>/dev/null; do
        sleep 0.1
        tries=$((tries + 1))
    done
    kill -KILL "$pid" 2>/dev/null
fi
tries=0
while [ "$tries" -lt 20 ] && [ -e "$1" ]; do
    rm -rf -- "$1" 2>/dev/null || sleep 0.1
    tries=$((tries + 1))
done
"#;

/// The waiting shell; `None` inside where it could not be started.
#[derive(Debug)]
pub(crate) struct Guard(Option<Child>);

impl Guard {
    /// Starts a guard over `folder`.
    pub(crate) fn start(folder: &Path) -> Self {
        let shell = Command::new("/bin/sh")
            .args(["-c", SCRIPT, "pgdyno-guard"])
            .arg(folder)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn();
        Self(shell.ok())
    }

    /// Names the process to stop; replaces the one named before.
    pub(crate) fn watch(&mut self, pid: Option<u32>) {
        self.tell(&pid.map_or_else(|| "pid\n".to_owned(), |pid| format!("pid {pid}\n")));
    }

    fn tell(&mut self, line: &str) {
        // A guard that is gone cannot be told, and the next start does its work.
        if let Some(pipe) = self.0.as_mut().and_then(|shell| shell.stdin.as_mut()) {
            let _ = pipe.write_all(line.as_bytes());
        }
    }

    /// Sends the guard home: everything is cleaned up already.
    pub(crate) fn dismiss(&mut self) {
        self.tell("done\n");
        if let Some(mut shell) = self.0.take() {
            drop(shell.stdin.take());
            let _ = shell.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    /// The end of the pipe without a word means: stop it and clean up.
    #[test]
    fn acts_when_the_pipe_breaks() {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().join("folder");
        std::fs::create_dir(&folder).unwrap();
        let mut process = Command::new("sleep").arg("600").spawn().unwrap();
        let mut guard = Guard::start(&folder);
        guard.watch(Some(process.id()));
        drop(guard.0.as_mut().unwrap().stdin.take());
        // Collected by its parent at once, as init would.
        assert!(!process.wait().unwrap().success());
        let start = Instant::now();
        while folder.exists() {
            assert!(start.elapsed() < Duration::from_secs(30), "folder is still there");
            std::thread::sleep(Duration::from_millis(20));
        }
        guard.dismiss();
    }

    /// Sent home, it leaves everything as it is.
    #[test]
    fn leaves_things_alone_when_dismissed() {
        let temp = tempfile::tempdir().unwrap();
        let mut guard = Guard::start(temp.path());
        guard.dismiss();
        assert!(temp.path().exists());
    }
}
