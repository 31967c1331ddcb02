//! Known delays are what the histograms say.
//!
//! The truth has three sources. The delay itself: nothing can be shorter. The
//! server, which counts how late each answer left: no later answer may be
//! missed. And a witness, a bare blocking socket beside the run, for what the
//! kernel needs to wake two threads for one request; that depends on the
//! machine and is no fault of the driver's.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pgdyno_benches::null::Punctuality;
use pgdyno_engine::outcome::RunOutcome;
use pgdyno_engine::plan::{PollerChoice, RunPlan};
use pgdyno_record::Latencies;

use crate::common::{alone, plan, pollers, run, server, take_precedence};

/// A thread of the server, the driver or the kernel can be late by accident;
/// a clock that is wrong is wrong each time.
const ROUNDS_MAX: u32 = 12;

/// A worker that waited longer than this for a processor, on average, cannot
/// tell a latency to 0.2 ms.
const CPU_WAIT_US_MAX: f64 = 40.0;

/// Sends one select after the other and measures each by itself, until told to
/// stop.
fn witness(address: SocketAddr, stop: &AtomicBool) -> Latencies {
    let mut socket = TcpStream::connect(address).unwrap();
    socket.set_nodelay(true).unwrap();
    let startup = b"\0\x03\0\0user\0u\0database\0d\0\0";
    let mut message = (startup.len() as u32 + 4).to_be_bytes().to_vec();
    message.extend_from_slice(startup);
    socket.write_all(&message).unwrap();
    read_to_ready(&mut socket);
    let mut latencies = Latencies::new();
    while !stop.load(Ordering::Relaxed) {
        let begin = Instant::now();
        socket.write_all(b"Q\0\0\0\x0eselect 1;\0").unwrap();
        read_to_ready(&mut socket);
        latencies.record(begin.elapsed().as_micros() as u64);
    }
    latencies
}

/// Reads to the end of an answer: ReadyForQuery, `Z`, its length, a status.
fn read_to_ready(socket: &mut TcpStream) {
    let mut answer = Vec::new();
    let mut buffer = [0; 1024];
    while answer.len() < 6 || answer[answer.len() - 6..][..5] != *b"Z\0\0\0\x05" {
        let received = socket.read(&mut buffer).unwrap();
        assert!(received > 0, "the server hung up");
        answer.extend_from_slice(&buffer[..received]);
    }
}

/// What a round shows, µs.
#[derive(Debug)]
struct Round {
    min: u64,
    p50: u64,
    p99: u64,
    max: u64,
    witness_p50: u64,
    witness_p99: u64,
    witness_max: u64,
    late_us_max: u64,
    cpu_wait_us_mean: f64,
}

impl Round {
    fn new(delay: Duration, poller: PollerChoice) -> Self {
        let server = server(delay);
        let stop = Arc::new(AtomicBool::new(false));
        let thread = {
            let (address, stop) = (server.tcp().unwrap(), Arc::clone(&stop));
            std::thread::spawn(move || witness(address, &stop))
        };
        let outcome = run(RunPlan { poller, ..plan(&server, 2, delay * 100) });
        stop.store(true, Ordering::Relaxed);
        let witness = thread.join().unwrap();
        Self::of(&outcome, &witness, server.stop().unwrap())
    }

    fn of(outcome: &RunOutcome, witness: &Latencies, punctuality: Punctuality) -> Self {
        let total = outcome.tally.total();
        let response = &total.response;
        assert_eq!(response, &total.service, "without a rate there is one time");
        let seen = response.count() + witness.count();
        assert_eq!(seen, punctuality.answers, "every answer is a transaction");
        Self {
            min: response.min_us(),
            p50: response.quantile_us(0.5),
            p99: response.quantile_us(0.99),
            max: response.max_us(),
            witness_p50: witness.quantile_us(0.5),
            witness_p99: witness.quantile_us(0.99),
            witness_max: witness.max_us(),
            late_us_max: punctuality.late_ns_max / 1000,
            cpu_wait_us_mean: outcome.workers[0].cpu_wait.unwrap_or_default().mean_us(),
        }
    }

    /// Nothing can be shorter than it truly was, whatever the machine does.
    fn is_never_short(&self, delay_us: u64) {
        assert!(self.min >= delay_us, "{self:?}");
        let longest = self.max.max(self.witness_max);
        assert!(longest + 1 >= delay_us + self.late_us_max, "{self:?}");
    }

    fn is_within(&self, delay_us: u64, tolerance_us: u64) -> bool {
        let latest = delay_us + self.late_us_max;
        self.p50.abs_diff(self.witness_p50) <= tolerance_us
            && self.p99 <= self.witness_p99.max(latest) + tolerance_us
            && self.max <= self.witness_max.max(latest) + tolerance_us
    }
}

fn known_delay(delay: Duration) {
    let _alone = alone();
    for poller in pollers() {
        known_delay_on(delay, poller);
    }
}

fn known_delay_on(delay: Duration, poller: PollerChoice) {
    take_precedence();
    let delay_us = delay.as_micros() as u64;
    let tolerance_us = (delay_us / 100).max(200);
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS_MAX {
        let round = Round::new(delay, poller);
        eprintln!("{delay:?}, {poller:?}: {round:?}");
        round.is_never_short(delay_us);
        // A server that was late itself makes a bound wider than it should be:
        // such a round counts only where there is no better one.
        let is_quiet = round.late_us_max <= 2 * tolerance_us;
        if is_quiet && round.is_within(delay_us, tolerance_us) {
            return;
        }
        rounds.push(round);
    }
    if rounds.iter().any(|round| round.is_within(delay_us, tolerance_us)) {
        eprintln!("the server was late in every round; the bounds were as wide as that");
        return;
    }
    if rounds.iter().all(|round| round.cpu_wait_us_mean > CPU_WAIT_US_MAX) {
        eprintln!("ended without a result: others keep the machine's processors busy");
        return;
    }
    panic!("no round was within {tolerance_us} us of the truth: {rounds:#?}");
}

/// A server that answers after 1 ms has a p50, p99 and max of 1 ms, to 0.2 ms
/// beyond what it and the kernel added.
#[test]
fn one_millisecond() {
    known_delay(Duration::from_millis(1));
}

/// The same at 10 ms.
#[test]
fn ten_milliseconds() {
    known_delay(Duration::from_millis(10));
}
