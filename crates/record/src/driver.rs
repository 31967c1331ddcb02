//! The driver's own health: did the load generator keep up?
//!
//! A figure is the database's only if the driver had time to spare. Each worker
//! reports its CPU time, how long ready clients waited to be served, and how
//! long it waited itself for a processor that others had; the rules in
//! [`judge_saturation`] say when that was too much.

use serde::{Deserialize, Serialize};

use crate::latency::{Latencies, LatencyRecord};

/// A worker that used more than this share of the wall clock as CPU time had
/// nothing left: with one thread per worker, 1.0 is the ceiling, and above 0.9
/// queueing inside the worker shows in every latency.
pub const CPU_SHARE_MAX: f64 = 0.90;

/// The 99th percentile of the loop delay may be this share of the median
/// latency before the driver's waiting is a visible part of the result.
pub const LOOP_DELAY_SHARE_MAX: f64 = 0.25;

/// Loop delays up to this many µs are never held against the driver: a batch
/// of ready sockets is served one after another, and on short latencies that
/// alone is a large share.
pub const LOOP_DELAY_US_IGNORED: u64 = 500;

/// The mean wait for a processor may be this share of the median latency: every
/// client of the wake-up waited with the worker, so it is a share of the result.
/// Measured on two cores: 3 % in an ordinary run with the server on the same
/// machine, 6 to 14 % with the machine full of compilers, 31 to 82 % with four busy
/// threads on the worker's core, where CPU time (1 %) and loop delay say nothing.
pub const CPU_WAIT_SHARE_MAX: f64 = 0.25;

/// Mean waits up to this many µs are never held against the driver: a server
/// on the same machine wakes the worker while it still has the processor
/// itself, which takes up to 30 µs, half of the shortest latencies; and a
/// crowd of servers on few cores is theirs, not the driver's.
pub const CPU_WAIT_US_IGNORED: f64 = 200.0;

/// How a thread waited for a processor although it could have run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuWait {
    /// In all, µs.
    pub us: u64,
    /// How often it got a processor, after a wait or at once.
    pub times: u64,
}

impl CpuWait {
    /// Mean wait until it got a processor, µs; 0 where it never did.
    #[must_use]
    pub fn mean_us(self) -> f64 {
        if self.times == 0 { 0.0 } else { self.us as f64 / self.times as f64 }
    }
}

/// What one worker measured about itself over the measured interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkerHealth {
    /// Clients that it drove.
    pub clients: u32,
    /// CPU time of its thread in user mode, µs.
    pub cpu_user_us: u64,
    /// CPU time of its thread in the kernel, µs.
    pub cpu_system_us: u64,
    /// Length of its measured interval, µs.
    pub wall_us: u64,
    /// Transactions finished.
    pub transactions: u64,
    /// From a wake-up, or the time that a client waited for, to the client's
    /// being served.
    pub loop_delay: Latencies,
    /// Waits before the wake-up, when others had the processor; `None` where
    /// the system does not say (only Linux does).
    pub cpu_wait: Option<CpuWait>,
}

/// One worker in a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerRecord {
    /// Clients that it drove.
    pub clients: u32,
    /// CPU time in user mode, µs.
    pub cpu_user_us: u64,
    /// CPU time in the kernel, µs.
    pub cpu_system_us: u64,
    /// Length of its measured interval, µs.
    pub wall_us: u64,
    /// CPU time as a share of `wall_us`, 0..=1.
    pub cpu_share: f64,
    /// Transactions finished.
    pub transactions: u64,
    /// Median of the loop delay, µs.
    pub loop_delay_p50_us: u64,
    /// 99th percentile of the loop delay, µs.
    pub loop_delay_p99_us: u64,
    /// Largest loop delay, µs.
    pub loop_delay_max_us: u64,
    /// Time in which it could have run but had no processor, µs; none where
    /// the system does not say.
    pub cpu_wait_us: Option<u64>,
    /// The same per time that it got one, µs.
    pub cpu_wait_mean_us: Option<f64>,
}

/// Why the driver was, or was not, the bottleneck.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Saturation {
    /// Whether a rule was broken.
    pub saturated: bool,
    /// One sentence with the figures.
    pub reason: String,
}

/// The driver in a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriverRecord {
    /// CPU time of all workers per finished transaction, µs; 0 without any.
    pub cpu_us_per_transaction: f64,
    /// The largest CPU share of a worker, 0..=1.
    pub cpu_share_max: f64,
    /// Loop delay over all workers.
    pub loop_delay: LatencyRecord,
    /// Largest resident memory of the process, bytes.
    pub rss_max_bytes: u64,
    /// The judgement.
    pub saturation: Saturation,
    /// Each worker.
    pub workers: Vec<WorkerRecord>,
}

impl WorkerHealth {
    /// CPU time in user mode and in the kernel, µs.
    #[must_use]
    pub fn cpu_us(&self) -> u64 {
        self.cpu_user_us + self.cpu_system_us
    }

    /// CPU time as a share of the wall clock; 0 for an empty interval.
    #[must_use]
    pub fn cpu_share(&self) -> f64 {
        if self.wall_us == 0 { 0.0 } else { self.cpu_us() as f64 / self.wall_us as f64 }
    }

    fn to_record(&self) -> WorkerRecord {
        WorkerRecord {
            clients: self.clients,
            cpu_user_us: self.cpu_user_us,
            cpu_system_us: self.cpu_system_us,
            wall_us: self.wall_us,
            cpu_share: self.cpu_share(),
            transactions: self.transactions,
            loop_delay_p50_us: self.loop_delay.quantile_us(0.5),
            loop_delay_p99_us: self.loop_delay.quantile_us(0.99),
            loop_delay_max_us: self.loop_delay.max_us(),
            cpu_wait_us: self.cpu_wait.map(|wait| wait.us),
            cpu_wait_mean_us: self.cpu_wait.map(CpuWait::mean_us),
        }
    }
}

impl DriverRecord {
    /// Adds up the workers and judges them against the median latency (µs) of
    /// the transactions that they ran.
    #[must_use]
    pub fn new(workers: &[WorkerHealth], rss_max_bytes: u64, latency_us_p50: u64) -> Self {
        let mut loop_delay = Latencies::new();
        for worker in workers {
            loop_delay.merge(&worker.loop_delay);
        }
        let transactions: u64 = workers.iter().map(|worker| worker.transactions).sum();
        let cpu_us: u64 = workers.iter().map(WorkerHealth::cpu_us).sum();
        Self {
            cpu_us_per_transaction: if transactions == 0 {
                0.0
            } else {
                cpu_us as f64 / transactions as f64
            },
            cpu_share_max: workers.iter().map(WorkerHealth::cpu_share).fold(0.0, f64::max),
            loop_delay: loop_delay.to_record(),
            rss_max_bytes,
            saturation: judge_saturation(workers, latency_us_p50),
            workers: workers.iter().map(WorkerHealth::to_record).collect(),
        }
    }
}

/// Says whether the driver was the bottleneck. It was, when
/// 1. a worker's CPU time exceeded [`CPU_SHARE_MAX`] of its wall clock, or
/// 2. the 99th percentile of a worker's loop delay exceeded both
///    [`LOOP_DELAY_SHARE_MAX`] of the median latency and
///    [`LOOP_DELAY_US_IGNORED`], or
/// 3. a worker's mean wait for a processor exceeded both [`CPU_WAIT_SHARE_MAX`]
///    of the median latency and [`CPU_WAIT_US_IGNORED`].
#[must_use]
pub fn judge_saturation(workers: &[WorkerHealth], latency_us_p50: u64) -> Saturation {
    let busiest = workers.iter().map(WorkerHealth::cpu_share).fold(0.0, f64::max);
    let delay_us = workers.iter().map(|w| w.loop_delay.quantile_us(0.99)).max().unwrap_or(0);
    let delay_share =
        if latency_us_p50 == 0 { 0.0 } else { delay_us as f64 / latency_us_p50 as f64 };
    let percent = busiest * 100.0;
    if busiest > CPU_SHARE_MAX {
        return Saturation {
            saturated: true,
            reason: format!(
                "a worker was busy {percent:.0} % of the time, more than {:.0} %",
                CPU_SHARE_MAX * 100.0
            ),
        };
    }
    if delay_us > LOOP_DELAY_US_IGNORED && delay_share > LOOP_DELAY_SHARE_MAX {
        return Saturation {
            saturated: true,
            reason: format!(
                "ready clients waited up to {delay_us} us (p99) to be served, {:.0} % of the \
                 median latency of {latency_us_p50} us",
                delay_share * 100.0
            ),
        };
    }
    let waits = workers.iter().filter_map(|worker| worker.cpu_wait);
    let wait_us = waits.map(CpuWait::mean_us).fold(0.0, f64::max);
    let wait_share = if latency_us_p50 == 0 { 0.0 } else { wait_us / latency_us_p50 as f64 };
    if wait_us > CPU_WAIT_US_IGNORED && wait_share > CPU_WAIT_SHARE_MAX {
        return Saturation {
            saturated: true,
            reason: format!(
                "a worker waited {wait_us:.0} us (mean) for a processor that others had, {:.0} % \
                 of the median latency of {latency_us_p50} us",
                wait_share * 100.0
            ),
        };
    }
    Saturation {
        saturated: false,
        reason: format!(
            "the busiest worker used {percent:.0} % of its time, ready clients waited at \
             most {delay_us} us (p99), and a worker {wait_us:.0} us (mean) for a processor"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker(cpu_us: u64, loop_delay_us: u64) -> WorkerHealth {
        let mut loop_delay = Latencies::new();
        (0..100).for_each(|_| loop_delay.record(loop_delay_us));
        WorkerHealth {
            clients: 4,
            cpu_user_us: cpu_us / 4,
            cpu_system_us: cpu_us - cpu_us / 4,
            wall_us: 1_000_000,
            transactions: 1_000,
            loop_delay,
            cpu_wait: None,
        }
    }

    /// One busy worker is enough, however idle the others are.
    #[test]
    fn a_busy_worker_saturates() {
        let workers = [worker(100_000, 10), worker(960_000, 10)];
        let judged = judge_saturation(&workers, 5_000);
        assert!(judged.saturated && judged.reason.contains("96 %"), "{}", judged.reason);
        assert!(!judge_saturation(&[worker(880_000, 10)], 5_000).saturated);
    }

    /// Waiting inside the driver counts when it is long both by itself and
    /// beside the latency.
    #[test]
    fn loop_delay_saturates() {
        let judged = |delay_us, latency_us_p50| {
            judge_saturation(&[worker(300_000, delay_us)], latency_us_p50).saturated
        };
        assert!(judged(2_000, 4_000));
        assert!(!judged(2_000, 40_000), "a small share of the latency");
        assert!(!judged(400, 500), "a short wait");
        assert!(!judged(2_000, 0), "nothing was measured");
    }

    /// A worker that does not get a processor is idle by its CPU time and
    /// prompt by its loop delay, and still a part of every latency.
    #[test]
    fn waiting_for_a_processor_saturates() {
        let judged = |mean_us: u64, latency_us_p50| {
            let cpu_wait = Some(CpuWait { us: 1_000 * mean_us, times: 1_000 });
            let waiting = WorkerHealth { cpu_wait, ..worker(10_000, 10) };
            judge_saturation(&[worker(10_000, 10), waiting], latency_us_p50)
        };
        let starved = judged(1_835, 4_387);
        assert!(starved.saturated && starved.reason.contains("42 %"), "{}", starved.reason);
        assert!(!judged(171, 2_193).saturated, "beside compilers");
        assert!(!judged(7, 14).saturated, "woken by a server on the same core");
        assert!(!judged(300, 4_000).saturated, "a small share of the latency");
        assert!(!judged(300, 0).saturated, "nothing was measured");
        assert_eq!(CpuWait::default().mean_us(), 0.0);
    }

    /// The driver's figures add up over its workers, and no work is no division.
    #[test]
    fn figures_add_up() {
        let record = DriverRecord::new(&[worker(100_000, 10), worker(300_000, 30)], 7, 5_000);
        assert_eq!(record.cpu_us_per_transaction, 200.0);
        assert_eq!(record.cpu_share_max, 0.3);
        assert_eq!((record.loop_delay.count, record.rss_max_bytes), (200, 7));
        let idle = DriverRecord::new(&[], 0, 0);
        assert_eq!((idle.cpu_us_per_transaction, idle.saturation.saturated), (0.0, false));
    }
}
