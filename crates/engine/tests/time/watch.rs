//! The driver watches itself: it says so when it did not get the processor
//! that it needed, and keeps silent otherwise.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use pgdyno_record::DriverRecord;

use crate::common::{alone, give_way, plan, run, server};

const HOGS: usize = 4;
const ROUNDS_MAX: usize = 6;

/// Others took more than this share of the worker's processor: no silence can
/// be expected of the driver then.
const TAKEN_SHARE_MAX: f64 = 0.25;

/// Threads that do nothing, as fast as they can.
struct Hogs {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Hogs {
    fn start(count: usize) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let hog = |_| {
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::black_box(());
                }
            })
        };
        Self { threads: (0..count).map(hog).collect(), stop }
    }
}

impl Drop for Hogs {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Processors that this process may use.
fn processors() -> Vec<usize> {
    let allowed = sched_getaffinity(Pid::from_raw(0)).unwrap();
    (0..CpuSet::count()).filter(|cpu| allowed.is_set(*cpu).unwrap_or(false)).collect()
}

/// This thread and those that it starts stay on `cpu`.
fn stay_on(cpu: usize) {
    let mut set = CpuSet::new();
    set.set(cpu).unwrap();
    sched_setaffinity(Pid::from_raw(0), &set).unwrap();
}

/// Busy time of a processor, in ticks, and all time (proc(5), /proc/stat).
fn busy(cpu: usize) -> Option<(f64, f64)> {
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("cpu{cpu} ")))?;
    let ticks: Vec<f64> = line.split(' ').filter_map(|word| word.parse().ok()).take(8).collect();
    let (all, idle) = (ticks.iter().sum::<f64>(), ticks.get(3)? + ticks.get(4)?);
    Some((all - idle, all))
}

/// A run of a worker on one processor, against a server on another.
/// `None` where the machine has no two processors.
fn judged(hogs: usize) -> Option<(DriverRecord, f64)> {
    let [cpu, other, ..] = processors()[..] else { return None };
    let worker = move || {
        stay_on(other);
        let server = server(Duration::from_millis(2));
        stay_on(cpu);
        let hogs = Hogs::start(hogs);
        if !hogs.threads.is_empty() {
            give_way();
        }
        let before = busy(cpu);
        let outcome = run(plan(&server, 4, Duration::from_millis(1500)));
        let after = busy(cpu);
        let number = hogs.threads.len();
        drop(hogs);
        let p50_us = outcome.tally.total().response.quantile_us(0.5);
        let driver = DriverRecord::new(&outcome.workers, 0, p50_us);
        let share = before.zip(after).map_or(0.0, |(b, a)| (a.0 - b.0) / (a.1 - b.1));
        let taken = share - driver.cpu_share_max;
        let wait = outcome.workers[0].cpu_wait.map(pgdyno_record::CpuWait::mean_us);
        eprintln!(
            "{number} hogs: median latency {p50_us} us, waits {wait:?} us, loop delay p99 {} us; \
             others took {taken:.2}; {}",
            driver.loop_delay.p99_us, driver.saturation.reason,
        );
        (driver, taken)
    };
    Some(std::thread::spawn(worker).join().unwrap())
}

/// Beside busy threads that go first on the same processor, a worker's latencies are partly
/// its own waiting, and the driver is flagged.
#[test]
fn a_hog_is_noticed() {
    let _alone = alone();
    let Some((driver, _)) = judged(HOGS) else {
        eprintln!("ended without a result: one processor only");
        return;
    };
    assert!(driver.saturation.saturated, "{}", driver.saturation.reason);
}

/// A worker that has its processor to itself is not flagged.
#[test]
fn silence_without_a_hog() {
    let _alone = alone();
    let mut said = Vec::new();
    for _ in 0..ROUNDS_MAX {
        let Some((driver, taken)) = judged(0) else { return };
        if !driver.saturation.saturated {
            return;
        }
        said.push((taken, driver.saturation.reason));
    }
    if said.iter().all(|(taken, _)| *taken > TAKEN_SHARE_MAX) {
        eprintln!("ended without a result: others keep the processor busy: {said:?}");
        return;
    }
    panic!("flagged on a quiet machine: {said:?}");
}
