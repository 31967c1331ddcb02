//! How a server that was started is stopped.

use std::process::Child;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// How long a server may take to stop before it is killed.
const STOP_MAX: Duration = Duration::from_secs(20);

/// Asks a process to stop, and kills it if it does not.
pub(super) fn stop(child: &mut Child, signal: Signal) -> Result<()> {
    let pid = Pid::from_raw(i32::try_from(child.id())?);
    kill(pid, signal).context("could not signal a server")?;
    let begin = Instant::now();
    while begin.elapsed() < STOP_MAX {
        if child.try_wait()?.is_some() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill()?;
    child.wait()?;
    Ok(())
}
