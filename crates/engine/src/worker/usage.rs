//! What the calling thread took from the processors, and waited for them.

use pgdyno_record::driver::CpuWait;

/// CPU time used, and waited for, so far, µs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ThreadUsage {
    pub(super) user_us: u64,
    pub(super) system_us: u64,
    /// `None` where the system does not say.
    pub(super) wait: Option<CpuWait>,
}

impl ThreadUsage {
    /// Of the calling thread; of the whole process where the system does not
    /// tell threads apart (macOS), which is too much with several workers.
    pub(super) fn now() -> Self {
        use nix::sys::resource::{UsageWho, getrusage};
        use nix::sys::time::TimeValLike as _;

        #[cfg(target_os = "linux")]
        let who = UsageWho::RUSAGE_THREAD;
        #[cfg(not(target_os = "linux"))]
        let who = UsageWho::RUSAGE_SELF;
        let Ok(usage) = getrusage(who) else { return Self::default() };
        let us =
            |time: nix::sys::time::TimeVal| u64::try_from(time.num_microseconds()).unwrap_or(0);
        Self { user_us: us(usage.user_time()), system_us: us(usage.system_time()), wait: waited() }
    }

    /// What was used since `earlier`.
    pub(super) fn since(self, earlier: Self) -> Self {
        let waited = |now: CpuWait, then: CpuWait| CpuWait {
            us: now.us.saturating_sub(then.us),
            times: now.times.saturating_sub(then.times),
        };
        Self {
            user_us: self.user_us.saturating_sub(earlier.user_us),
            system_us: self.system_us.saturating_sub(earlier.system_us),
            wait: self.wait.zip(earlier.wait).map(|(now, then)| waited(now, then)),
        }
    }
}

/// From the kernel's statistics of the thread's scheduling.
#[cfg(target_os = "linux")]
fn waited() -> Option<CpuWait> {
    parse_schedstat(&std::fs::read_to_string("/proc/thread-self/schedstat").ok()?)
}

#[cfg(not(target_os = "linux"))]
fn waited() -> Option<CpuWait> {
    None
}

/// Three numbers: time on a processor, time ready but without one, both in ns,
/// and how often the thread got a processor (Linux,
/// Documentation/scheduler/sched-stats.rst). A kernel without the statistics
/// has no such file, or only zeros.
#[cfg(target_os = "linux")]
fn parse_schedstat(text: &str) -> Option<CpuWait> {
    let mut numbers = text.split_ascii_whitespace().map(|number| number.parse::<u64>().ok());
    let (_, waited_ns, times) = (numbers.next()??, numbers.next()??, numbers.next()??);
    (times > 0).then_some(CpuWait { us: waited_ns / 1000, times })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// The kernel's line is read; one without statistics is no figure.
    #[test]
    fn schedstat() {
        let read = parse_schedstat("5309111 7002298 41\n");
        assert_eq!(read, Some(CpuWait { us: 7_002, times: 41 }));
        assert_eq!(parse_schedstat("0 0 0\n"), None);
        assert_eq!(parse_schedstat(""), None);
    }

    /// Only what both ends know has a difference.
    #[test]
    fn differences() {
        let at = |us, times| ThreadUsage {
            user_us: us,
            system_us: us,
            wait: Some(CpuWait { us, times }),
        };
        assert_eq!(at(9, 5).since(at(4, 3)), at(5, 2));
        assert_eq!(at(9, 5).since(ThreadUsage::default()).wait, None);
    }
}
