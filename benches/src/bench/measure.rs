//! Runs one command and measures what its process used.
//!
//! The kernel keeps the greatest resident set of children only as a maximum
//! over all of them. So each command gets a parent of its own: this program
//! again, under `measure`, which has one child and writes what it used. The
//! figure cannot be lower than that parent's own resident set, some 2.5 MiB,
//! because the child begins as its copy; for every tool alike.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{Signal, kill};
use nix::sys::time::{TimeVal, TimeValLike};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

/// What a command used.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Used {
    pub(super) wall_us: u64,
    pub(super) cpu_user_us: u64,
    pub(super) cpu_sys_us: u64,
    pub(super) rss_max_kib: u64,
    /// False where it ended with another code than 0 or was killed.
    pub(super) success: bool,
}

/// What a command said and used.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) used: Used,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// Runs a command under a wrapper, on one core if one is named.
pub(super) fn measured(
    command: &[String],
    environment: &[(String, String)],
    core: Option<usize>,
    limit: Duration,
) -> Result<Measured> {
    let out = tempfile::NamedTempFile::new().context("could not make a temporary file")?;
    let own = std::env::current_exe().context("could not find this program's own file")?;
    let mut wrapper = Command::new(own);
    wrapper.arg("measure").arg("--out").arg(out.path());
    wrapper.arg("--limit-ms").arg(limit.as_millis().to_string());
    if let Some(core) = core {
        wrapper.arg("--core").arg(core.to_string());
    }
    wrapper.arg("--").args(command).envs(environment.iter().cloned()).stdin(Stdio::null());
    let output = wrapper.output().context("could not run the measuring wrapper")?;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let text = std::fs::read_to_string(out.path())?;
    let used = serde_json::from_str(&text)
        .with_context(|| format!("{} could not be measured: {}", command[0], stderr.trim()))?;
    Ok(Measured { used, stdout: String::from_utf8_lossy(&output.stdout).into_owned(), stderr })
}

/// The wrapper: runs its only child and writes what it used.
pub(super) fn wrap(
    command: &[String],
    out: &Path,
    core: Option<usize>,
    limit: Duration,
) -> Result<()> {
    if let Some(core) = core {
        pin(Pid::from_raw(0), Some(core))?;
    }
    let Some((program, arguments)) = command.split_first() else { bail!("no command was named") };
    let begin = Instant::now();
    let child = Command::new(program)
        .args(arguments)
        .spawn()
        .with_context(|| format!("could not run {program}"))?;
    let success = wait_limited(child, limit)?;
    let wall = begin.elapsed();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let us = |time: TimeVal| u64::try_from(time.num_microseconds()).unwrap_or(0);
    let used = Used {
        wall_us: u64::try_from(wall.as_micros()).unwrap_or(u64::MAX),
        cpu_user_us: us(usage.user_time()),
        cpu_sys_us: us(usage.system_time()),
        rss_max_kib: u64::try_from(usage.max_rss()).unwrap_or(0),
        success,
    };
    std::fs::write(out, serde_json::to_string(&used)?).context("could not write the measurement")
}

/// Waits, and kills at the limit. Waiting is blocking, not by looking every
/// few milliseconds: the wall time is a result.
fn wait_limited(mut child: Child, limit: Duration) -> Result<bool> {
    let pid = Pid::from_raw(i32::try_from(child.id())?);
    let (done, watched) = channel::<()>();
    let watcher = std::thread::spawn(move || {
        if watched.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            // Gone in between at worst.
            let _ = kill(pid, Signal::SIGKILL);
        }
    });
    let status = child.wait().context("could not wait for the command")?;
    drop(done);
    let _ = watcher.join();
    Ok(status.success())
}

/// Binds a process, and what it starts from now on, to one core or to all.
pub(super) fn pin(pid: Pid, core: Option<usize>) -> Result<()> {
    let mut set = CpuSet::new();
    match core {
        Some(core) => set.set(core)?,
        None => {
            for core in 0..CpuSet::count() {
                set.set(core)?;
            }
        }
    }
    sched_setaffinity(pid, &set).context("could not bind a process to a core")
}
