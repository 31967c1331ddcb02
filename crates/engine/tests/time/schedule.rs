//! What the schedule of a rate looks like, from the transactions' log.

use std::num::NonZeroU32;
use std::time::Duration;

use pgdyno_engine::plan::{Rate, RunPlan};

use crate::common::{Line, alone, ended, plan, run_with_log, server};

/// Distances between scheduled starts, µs, in order.
fn distances(lines: &[Line]) -> Vec<f64> {
    lines.windows(2).map(|pair| (pair[1].start_us() - pair[0].start_us()) as f64).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Starts at random are a Poisson process of the rate: distances are
/// exponential in mean, in spread and in shape, and do not depend on the one
/// before. The seed is fixed, so that the schedule is the same each time.
#[test]
fn poisson_process() {
    let _alone = alone();
    let server = server(Duration::ZERO);
    let tps = 2000.0;
    let (outcome, lines) = run_with_log(RunPlan {
        rate: Some(Rate { tps, steady: false, slack: Duration::ZERO }),
        ..plan(&server, 32, Duration::from_secs(2))
    });
    let (committed, skipped) = ended(&outcome);
    assert_eq!((committed, skipped), (lines.len() as u64, 0));
    let all = (committed + outcome.queued) as f64;
    assert!((all - 4000.0).abs() < 4.0 * 4000_f64.sqrt(), "{all}");
    let distances = distances(&lines);
    let (count, expected) = (distances.len() as f64, 1e6 / tps);
    let mean = mean(&distances);
    assert!((mean / expected - 1.0).abs() < 4.0 / count.sqrt(), "mean {mean}");
    let variance = distances.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / count;
    // The variance of an exponential sample's variance is 8 mean^4 / n.
    assert!((variance / mean.powi(2) - 1.0).abs() < 4.0 * (8.0 / count).sqrt(), "{variance}");
    let chi_square = chi_square(&distances, expected);
    // 9 degrees of freedom; one in a thousand samples is above.
    assert!(chi_square < 27.9, "{chi_square}");
    let products = distances.windows(2).map(|p| (p[0] - mean) * (p[1] - mean));
    let correlation = products.sum::<f64>() / count / variance;
    assert!(correlation.abs() < 4.0 / count.sqrt(), "{correlation}");
    eprintln!("mean {mean:.1} of {expected}, chi-square {chi_square:.1}, r {correlation:.3}");
}

/// Against ten equally likely classes of an exponential distribution.
fn chi_square(distances: &[f64], mean: f64) -> f64 {
    let mut classes = [0_f64; 10];
    for distance in distances {
        let share = 1.0 - (-distance / mean).exp();
        classes[((share * 10.0) as usize).min(9)] += 1.0;
    }
    let expected = distances.len() as f64 / 10.0;
    classes.iter().map(|found| (found - expected).powi(2) / expected).sum()
}

/// Steady starts have equal distances, over all workers together.
#[test]
fn steady_starts() {
    let _alone = alone();
    for workers in [1, 2, 3] {
        let server = server(Duration::ZERO);
        let tps = 750.0;
        let mut plan = RunPlan {
            rate: Some(Rate { tps, steady: true, slack: Duration::ZERO }),
            ..plan(&server, 12, Duration::from_secs(1))
        };
        plan.workers = NonZeroU32::new(workers).unwrap();
        let (outcome, lines) = run_with_log(plan);
        let all = lines.len() as u64 + outcome.queued;
        assert!(all.abs_diff(750) <= 1, "{all} with {workers} workers");
        // A worker that the machine held up at the end leaves starts queued,
        // between those that another worker made.
        let mut missing = 0;
        for distance in distances(&lines) {
            let steps = (distance * tps / 1e6).round().max(1.0);
            let off = (distance - steps * 1e6 / tps).abs();
            assert!(off <= 3.0, "{distance} us with {workers} workers");
            missing += steps as u64 - 1;
        }
        assert!(missing <= outcome.queued, "{missing} of {} queued", outcome.queued);
    }
}

/// With a slack starts wait for each other, and what they wait is in the
/// response times and in the lag, not in the service times. A worker that is
/// held up only adds to both.
#[test]
fn slack_is_part_of_the_response() {
    let _alone = alone();
    let server = server(Duration::ZERO);
    let slack = Duration::from_millis(50);
    // Clients for 200 ms of starts: each start is taken long before it is due.
    let plan = RunPlan {
        rate: Some(Rate { tps: 1000.0, steady: true, slack }),
        ..plan(&server, 200, Duration::from_secs(1))
    };
    let (outcome, lines) = run_with_log(plan);
    let all = lines.len() as u64 + outcome.queued;
    assert!(all.abs_diff(1000) <= 1, "{all}");
    for line in &lines {
        assert!(line.latency_us >= line.lag_us, "{line:?}");
    }
    // Half of it on average.
    let mean_lag_us = lines.iter().map(|line| line.lag_us).sum::<u64>() / lines.len() as u64;
    assert!(mean_lag_us >= 15_000, "{mean_lag_us}");
    let script = &outcome.tally.scripts[0];
    let (response, service) = (script.response.mean_us(), script.service.mean_us());
    // Each of the three is cut to whole µs.
    assert!((response - service - mean_lag_us as f64).abs() < 3.0, "{response} {service}");
}
