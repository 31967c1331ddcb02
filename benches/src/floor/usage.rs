//! Time and CPU at a moment.

use std::io;
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};

/// What the process had used at a moment.
#[derive(Debug)]
pub(super) struct Usage {
    at: Instant,
    user_us: u64,
    sys_us: u64,
    pub(super) rss_max_kib: u64,
}

/// What was used between two moments.
#[derive(Debug)]
pub(super) struct Spent {
    pub(super) wall_us: u64,
    pub(super) user_us: u64,
    pub(super) sys_us: u64,
}

impl Usage {
    pub(super) fn now() -> io::Result<Self> {
        let usage = getrusage(UsageWho::RUSAGE_SELF)?;
        let us = |time: TimeVal| u64::try_from(time.num_microseconds()).unwrap_or(0);
        Ok(Self {
            at: Instant::now(),
            user_us: us(usage.user_time()),
            sys_us: us(usage.system_time()),
            rss_max_kib: u64::try_from(usage.max_rss()).unwrap_or(0),
        })
    }

    pub(super) fn since(&self, earlier: &Self) -> Spent {
        let wall = self.at.duration_since(earlier.at).as_micros();
        Spent {
            wall_us: u64::try_from(wall).unwrap_or(u64::MAX),
            user_us: self.user_us.saturating_sub(earlier.user_us),
            sys_us: self.sys_us.saturating_sub(earlier.sys_us),
        }
    }
}
