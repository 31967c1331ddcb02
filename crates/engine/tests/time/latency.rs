//! Known delays are what the histograms say.

use std::time::Duration;

use pgdyno_benches::null::Punctuality;
use pgdyno_engine::outcome::RunOutcome;

use crate::common::{alone, plan, run, server, take_precedence};

/// A thread of the server, the driver or the kernel can be late by accident;
/// a clock that is wrong is wrong each time.
const ROUNDS_MAX: u32 = 15;

/// A worker that waited longer than this for a processor, on average, cannot
/// tell a latency to 0.2 ms.
const CPU_WAIT_US_MAX: f64 = 40.0;

/// What a round shows, µs.
#[derive(Debug)]
struct Round {
    late_us_max: u64,
    late_us_mean: f64,
    min: u64,
    p50: u64,
    p99: u64,
    max: u64,
    mean: f64,
    cpu_wait_us_mean: f64,
}

impl Round {
    fn new(outcome: &RunOutcome, punctuality: Punctuality) -> Self {
        let total = outcome.tally.total();
        let response = &total.response;
        let wait = outcome.workers[0].cpu_wait.unwrap_or_default();
        assert_eq!(response, &total.service, "without a rate there is one time");
        assert_eq!(response.count(), punctuality.answers, "every answer is a transaction");
        Self {
            late_us_max: punctuality.late_ns_max / 1000,
            late_us_mean: punctuality.late_us_mean(),
            min: response.min_us(),
            p50: response.quantile_us(0.5),
            p99: response.quantile_us(0.99),
            max: response.max_us(),
            mean: response.mean_us(),
            cpu_wait_us_mean: wait.mean_us(),
        }
    }

    /// Nothing can be shorter than it truly was, whatever the machine does.
    fn is_never_short(&self, delay_us: u64) {
        assert!(self.min >= delay_us, "{self:?}");
        assert!(self.mean + 1.0 >= delay_us as f64 + self.late_us_mean, "{self:?}");
        assert!(self.max + 1 >= delay_us + self.late_us_max, "{self:?}");
    }

    fn is_within(&self, delay_us: u64, tolerance_us: u64) -> bool {
        let truth = delay_us + tolerance_us;
        // Half of the answers are at most twice as late as the mean.
        self.p50 as f64 <= truth as f64 + 2.0 * self.late_us_mean
            && self.p99 <= truth + self.late_us_max
            && self.max <= truth + self.late_us_max
    }
}

fn known_delay(delay: Duration) {
    let _alone = alone();
    take_precedence();
    let delay_us = delay.as_micros() as u64;
    let tolerance_us = (delay_us / 100).max(200);
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS_MAX {
        let server = server(delay);
        let outcome = run(plan(&server, 2, delay * 150));
        let round = Round::new(&outcome, server.stop().unwrap());
        eprintln!("{delay:?}: {round:?}");
        round.is_never_short(delay_us);
        if round.is_within(delay_us, tolerance_us) {
            return;
        }
        rounds.push(round);
    }
    if rounds.iter().all(|round| round.cpu_wait_us_mean > CPU_WAIT_US_MAX) {
        eprintln!("ended without a result: others keep the machine's processors busy");
        return;
    }
    panic!("no round was within {tolerance_us} us of the truth: {rounds:#?}");
}

/// A server that answers after 1 ms has a p50, p99 and max of 1 ms, to 0.2 ms
/// beyond its own lateness.
#[test]
fn one_millisecond() {
    known_delay(Duration::from_millis(1));
}

/// The same at 10 ms.
#[test]
fn ten_milliseconds() {
    known_delay(Duration::from_millis(10));
}
