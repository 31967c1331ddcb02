//! How far times and rates of a command line may go.
//!
//! The engine counts ns in 64 bits, 584 years. Within these bounds no sum of a
//! moment, a limit and the waits of all clients leaves them.

use std::time::Duration;

/// The longest time that means anything: ten years.
pub(crate) const TIME_MAX: Duration = Duration::from_secs(10 * 366 * 24 * 3600);

/// The longest that the clients together wait for one start each, on average.
/// A random wait is at most about 40 times the mean, hence no more than a year.
const STARTS_MAX_S: f64 = 366.0 * 24.0 * 3600.0;

/// A rate, in transactions per second, raised where it is so small that its
/// starts lie beyond all reckoning. No run lives to see the difference.
pub(crate) fn rate(tps: f64, clients: u32) -> f64 {
    tps.max(f64::from(clients) / STARTS_MAX_S)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All starts that clients can wait for, at the longest wait of each, and a
    /// latency limit fit into 64 bits of ns; a rate that people use is left alone.
    #[test]
    fn everything_fits() {
        for clients in [1, 1000, u32::MAX] {
            let all_ns = f64::from(clients) / rate(1e-300, clients) * 40.0 * 1e9;
            assert!(all_ns + 2.0 * TIME_MAX.as_nanos() as f64 <= u64::MAX as f64, "{clients}");
        }
        assert_eq!(rate(0.01, 1000).to_bits(), 0.01_f64.to_bits());
    }
}
