//! How clients get their sessions: over which endpoints, how fast, for how
//! long, and what follows when one is lost. Values and the token bucket that
//! all workers share; the acting on them is in `worker`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How clients are dealt over several endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Balance {
    /// Client `i` belongs to endpoint `i mod n`.
    #[default]
    Even,
    /// Each connection goes to an endpoint drawn by chance, from the seed.
    Random,
    /// All to the first endpoint that takes connections, in the plan's order.
    Ordered,
}

/// How fast connections may be made, over all workers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConnectRate {
    /// Sustained, a second; above zero.
    pub per_second: f64,
    /// At once, before `per_second` counts; at least 1. What is not used is
    /// saved up again at the sustained rate, up to this number.
    pub burst: u32,
}

/// How sessions are made and kept. The default is pgbench's way: as fast as
/// possible, for ever, and a client that loses its session ends.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ConnectPlan {
    /// Among the plan's endpoints, where there are several.
    pub balance: Balance,
    /// Count connections and transactions for each endpoint and host, with a
    /// histogram of latencies for each.
    pub count_endpoints: bool,
    /// How fast.
    pub rate: Option<ConnectRate>,
    /// The server ends a session of this age. Clients leave it before, each at
    /// its own moment, between two transactions.
    pub session_age: Option<Duration>,
    /// A client whose session is lost makes another and goes on; an endpoint
    /// that takes no connection is avoided for a while.
    pub reconnect_lost: bool,
}

/// A token bucket that workers share without a lock.
///
/// It keeps one number: when the bucket would be full again (the generic cell
/// rate algorithm, ITU-T I.371). Taking a token always succeeds, and gives
/// back the moment from which it counts.
#[derive(Debug)]
pub(crate) struct ConnectLimiter {
    /// Between two tokens, ns.
    interval_ns: u64,
    /// How far the full moment may lie ahead while tokens are to be had, ns.
    reach_ns: u64,
    full_at_ns: AtomicU64,
}

impl ConnectLimiter {
    pub(crate) fn new(rate: ConnectRate) -> Self {
        const SECOND_NS: f64 = 1e9;
        let interval_ns = (SECOND_NS / rate.per_second).clamp(1.0, u32::MAX as f64 * SECOND_NS);
        let interval_ns = interval_ns as u64;
        let reach_ns = interval_ns.saturating_mul(u64::from(rate.burst.max(1) - 1));
        Self { interval_ns, reach_ns, full_at_ns: AtomicU64::new(0) }
    }

    /// Takes a token at `now_ns`; the moment from which it may be used.
    pub(crate) fn take(&self, now_ns: u64) -> u64 {
        let step = |full_at_ns: u64| full_at_ns.max(now_ns).saturating_add(self.interval_ns);
        let before =
            self.full_at_ns.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |full_at_ns| {
                Some(step(full_at_ns))
            });
        let before = before.unwrap_or_default();
        before.max(now_ns).saturating_sub(self.reach_ns).max(now_ns)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// In no interval of any length are more tokens used than the burst and
        /// what the rate adds meanwhile, and a token is never usable before it
        /// was taken.
        #[test]
        fn never_faster_than_the_rate(
            per_second in 1_u32..1000,
            burst in 1_u32..50,
            pauses in prop::collection::vec(0_u64..50_000_000, 1..200),
        ) {
            let limiter = ConnectLimiter::new(ConnectRate { per_second: per_second.into(), burst });
            let mut now_ns = 0;
            let mut used: Vec<u64> = Vec::new();
            for pause_ns in pauses {
                now_ns += pause_ns;
                let at_ns = limiter.take(now_ns);
                prop_assert!(at_ns >= now_ns);
                used.push(at_ns);
            }
            used.sort_unstable();
            for (first, from_ns) in used.iter().enumerate() {
                for (last, to_ns) in used.iter().enumerate().skip(first) {
                    let earned = (to_ns - from_ns) / limiter.interval_ns;
                    prop_assert!((last - first) as u64 <= earned + u64::from(burst) - 1 + 1);
                }
            }
        }
    }

    /// The burst goes at once, then one at a time, and rest saves up a burst.
    #[test]
    fn burst_then_rate_then_burst() {
        let limiter = ConnectLimiter::new(ConnectRate { per_second: 100.0, burst: 3 });
        let taken: Vec<u64> = (0..5).map(|_| limiter.take(0) / 1_000_000).collect();
        assert_eq!(taken, [0, 0, 0, 10, 20]);
        let later = 10_000_000_000;
        let taken: Vec<u64> = (0..4).map(|_| limiter.take(later) - later).collect();
        assert_eq!(taken, [0, 0, 0, 10_000_000]);
    }
}
