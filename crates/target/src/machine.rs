//! Facts about the machine that runs pgdyno, for the record.
//!
//! Only what bears on a measurement: no host name, user, address or path.

use std::fs;
use std::path::Path;
use std::process::Command;

use nix::sys::utsname::{UtsName, uname};

/// The machine under the driver. `None` where the system does not say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// The processor's name.
    pub cpu_model: Option<String>,
    /// Processors that this process may use.
    pub cpus: usize,
    /// Physical memory in bytes, or the container's limit where that is less.
    pub memory_bytes: Option<u64>,
    /// The operating system's kernel and its release.
    pub kernel: String,
    /// The processor's architecture, such as `x86_64`.
    pub arch: String,
    /// The frequency governor of the first processor, such as `performance`.
    pub cpu_governor: Option<String>,
}

impl Machine {
    /// Looks at this machine. Never fails: what cannot be found is absent.
    #[must_use]
    pub fn here() -> Self {
        let uname = uname().ok();
        let text = |part: Option<&std::ffi::OsStr>, otherwise: &str| {
            part.map_or_else(|| otherwise.to_owned(), |part| part.to_string_lossy().into_owned())
        };
        let system = text(uname.as_ref().map(UtsName::sysname), std::env::consts::OS);
        let release = text(uname.as_ref().map(UtsName::release), "");
        Self {
            cpu_model: cpu_model(),
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
            memory_bytes: memory_bytes(),
            kernel: format!("{system} {release}").trim_end().to_owned(),
            arch: text(uname.as_ref().map(UtsName::machine), std::env::consts::ARCH),
            cpu_governor: first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        }
    }
}

/// Memory that this process can count on, in bytes.
pub(crate) fn memory_bytes() -> Option<u64> {
    let physical = fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| meminfo_total_bytes(&text))
        .or_else(|| sysctl("hw.memsize")?.parse().ok());
    // Version 2 of control groups, then version 1, whose "no limit" is a
    // number near 2^63 and falls out by the minimum.
    let limit = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
        .iter()
        .find_map(|file| first_line(file)?.parse::<u64>().ok());
    match (physical, limit) {
        (Some(physical), Some(limit)) => Some(physical.min(limit)),
        (physical, limit) => physical.or(limit),
    }
}

fn meminfo_total_bytes(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

fn cpu_model() -> Option<String> {
    let from_proc = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| cpuinfo_model(&text));
    from_proc.or_else(|| sysctl("machdep.cpu.brand_string"))
}

fn cpuinfo_model(text: &str) -> Option<String> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| matches!(key.trim(), "model name" | "Model" | "cpu model"))
        .map(|(_, value)| value.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|model| !model.is_empty())
}

fn first_line(file: impl AsRef<Path>) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    text.lines().next().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty())
}

/// macOS and the BSDs have no /proc.
fn sysctl(name: &str) -> Option<String> {
    if cfg!(target_os = "linux") {
        return None;
    }
    let output = Command::new("sysctl").args(["-n", name]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The figures of /proc are read in their own units.
    #[test]
    fn reads_proc() {
        let meminfo = "MemTotal:       24683688 kB\nMemFree:        1 kB\n";
        assert_eq!(meminfo_total_bytes(meminfo), Some(24_683_688 * 1024));
        assert_eq!(meminfo_total_bytes("MemFree: 1 kB"), None);
        let cpuinfo = "processor\t: 0\nmodel name\t: Some  CPU @ 2 GHz\n";
        assert_eq!(cpuinfo_model(cpuinfo).as_deref(), Some("Some CPU @ 2 GHz"));
    }

    /// A real machine has at least a processor, a kernel and memory.
    #[test]
    fn this_machine_is_plausible() {
        let here = Machine::here();
        assert!(here.cpus >= 1);
        assert!(here.kernel.contains(' '), "{}", here.kernel);
        assert!(here.memory_bytes.is_none_or(|bytes| bytes > 64 << 20));
    }
}
