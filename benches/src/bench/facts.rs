//! The machine, and the versions of everything that was measured.

use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};

use super::places::Places;

/// What a reader needs in order to judge, or to repeat, the figures.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Facts {
    /// When the session began, with the zone.
    pub(super) began: String,
    /// The command line of the session.
    pub(super) command: Vec<String>,
    /// The commit of the sources; `-dirty` where they differ from it.
    pub(super) commit: String,
    pub(super) cpu_model: String,
    pub(super) cpu_count: usize,
    /// The frequency governor; empty where the machine does not tell.
    pub(super) cpu_governor: String,
    pub(super) memory_kib: u64,
    pub(super) kernel: String,
    /// Name and version line of each program.
    pub(super) versions: Vec<(String, String)>,
    /// The cores that client and server were bound to.
    pub(super) cores: Option<(usize, usize)>,
    /// What pgdyno can run on, or why not on `io_uring`.
    #[serde(default)]
    pub(super) pollers: String,
    /// The one-minute load before the first run; others were busy where it is
    /// not near zero.
    pub(super) load_before: f64,
}

/// Collects the facts.
pub(super) fn collect(places: &Places, cores: Option<(usize, usize)>) -> Facts {
    let cpuinfo = text("/proc/cpuinfo");
    let meminfo = text("/proc/meminfo");
    Facts {
        began: jiff::Zoned::now().strftime("%Y-%m-%d %H:%M:%S %z").to_string(),
        command: std::env::args().collect(),
        commit: said(Command::new("git").args(["describe", "--always", "--dirty", "--abbrev=12"])),
        cpu_model: value(&cpuinfo, "model name"),
        cpu_count: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        cpu_governor: text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
            .trim()
            .to_owned(),
        memory_kib: value(&meminfo, "MemTotal").trim_end_matches(" kB").parse().unwrap_or(0),
        kernel: format!("Linux {}", text("/proc/sys/kernel/osrelease").trim()),
        versions: versions(places),
        cores,
        pollers: pgdyno_ring::probe()
            .map_or_else(|error| format!("epoll; {error}"), |()| "epoll, io_uring".to_owned()),
        load_before: text("/proc/loadavg")
            .split(' ')
            .next()
            .and_then(|load| load.parse().ok())
            .unwrap_or(0.0),
    }
}

fn versions(places: &Places) -> Vec<(String, String)> {
    let mut versions = Vec::new();
    let mut ask = |name: &str, program: Option<&Path>| {
        let Some(program) = program else { return };
        let mut version = said(Command::new(program).arg("--version"));
        version.push_str(&format!(" ({})", program.display()));
        versions.push((name.to_owned(), version));
    };
    let postgres = places.postgres_bin.as_ref().map(|dir| dir.join("postgres"));
    ask("server", postgres.as_deref());
    ask("pgdyno", places.pgdyno.as_deref());
    ask("pgbench", places.pgbench.as_deref());
    ask("sysbench", places.sysbench.as_deref());
    ask("floor", Some(&places.floor));
    ask("nullserver", Some(&places.nullserver));
    versions
}

/// The first line that a command says; empty where it says nothing.
fn said(command: &mut Command) -> String {
    let output = command.output().map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&output).lines().next().unwrap_or_default().to_owned()
}

fn text(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// The value of the first line `name : value`.
fn value(text: &str, name: &str) -> String {
    let line = text.lines().find(|line| line.starts_with(name));
    let value = line.and_then(|line| line.split_once(':'));
    value.map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values are found by their names, and a missing one is empty.
    #[test]
    fn values() {
        assert_eq!(value("a\t: 1\nmodel name\t: X Y\n", "model name"), "X Y");
        assert_eq!(value("a: 1", "b"), "");
    }
}
