//! The CPU time of the calling thread.

/// CPU time used so far, µs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ThreadUsage {
    pub(super) user_us: u64,
    pub(super) system_us: u64,
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
        Self { user_us: us(usage.user_time()), system_us: us(usage.system_time()) }
    }

    /// What was used since `earlier`.
    pub(super) fn since(self, earlier: Self) -> Self {
        Self {
            user_us: self.user_us.saturating_sub(earlier.user_us),
            system_us: self.system_us.saturating_sub(earlier.system_us),
        }
    }
}
