//! Ramp, warm-up, measured interval and drain: one after the other, without a
//! pause, and nothing counted twice or not at all.

use std::time::Duration;

use pgdyno_engine::plan::RunPlan;

use crate::common::{Line, alone, ended, in_one_round, plan, run, run_with_log, server};

/// Transactions under way when the warm-up ends are not waited for; they count
/// where they end, with their whole latency.
#[test]
fn warm_up_flows_into_the_measured_interval() {
    let _alone = alone();
    in_one_round(|| {
        let server = server(Duration::from_millis(300));
        let outcome = run(RunPlan {
            warmup: Duration::from_secs(1),
            measure_drain: false,
            ..plan(&server, 3, Duration::from_secs(1))
        });
        // Each client ends one at .3, .6, .9 | 1.2, 1.5, 1.8 | 2.1 s. With a drain
        // between, it would be two in the measured interval.
        let committed =
            [&outcome.warmup, &outcome.tally, &outcome.drain].map(|t| t.total().committed);
        assert_eq!(committed, [9, 9, 3]);
        assert!(outcome.tally.total().response.min_us() >= 300_000, "cut off at the border");
        assert_eq!(outcome.acknowledged.committed, [21]);
        assert_eq!(server.stop().unwrap().answers, 21);
        assert_eq!(outcome.measured, Duration::from_secs(1));
        let points = &outcome.timeline.points;
        let commits: Vec<(i64, u64)> = points.iter().map(|p| (p.second, p.commits)).collect();
        assert_eq!(commits, [(-1, 9), (0, 9)]);
    });
}

/// Warm-up, measured interval and drain add up to all that the server answered,
/// with several workers and thousands of transactions too.
#[test]
fn the_parts_add_up() {
    let _alone = alone();
    for measure_drain in [true, false] {
        let server = server(Duration::from_millis(2));
        let mut plan = RunPlan {
            warmup: Duration::from_millis(330),
            ramp: Duration::from_millis(150),
            measure_drain,
            ..plan(&server, 12, Duration::from_millis(770))
        };
        plan.workers = std::num::NonZeroU32::new(3).unwrap();
        let (outcome, lines) = run_with_log(plan);
        let (committed, _) = ended(&outcome);
        assert_eq!(committed, outcome.acknowledged.committed[0]);
        assert_eq!(committed, lines.len() as u64);
        assert_eq!(committed, server.stop().unwrap().answers);
        assert!(outcome.warmup.total().committed > 0 && outcome.tally.total().committed > 0);
        assert!(!measure_drain || outcome.drain.total().committed == 0);
    }
}

/// Clients begin evenly over the ramp, not one too early, and the measured
/// interval waits for the last.
#[test]
fn clients_begin_evenly() {
    let _alone = alone();
    in_one_round(|| {
        let (clients, ramp) = (10, Duration::from_secs(1));
        let server = server(Duration::from_millis(5));
        let mut plan = RunPlan {
            ramp,
            warmup: Duration::from_millis(200),
            ..plan(&server, clients, Duration::from_millis(300))
        };
        plan.workers = std::num::NonZeroU32::new(2).unwrap();
        let (outcome, lines) = run_with_log(plan);
        // From the wall clock of the record: the ramp is longer than the warm-up.
        let start = outcome.started_at.duration_since(std::time::UNIX_EPOCH).unwrap();
        let begin_us = (start - ramp).as_micros() as u64;
        for client in 0..clients {
            let first = lines.iter().find(|line| line.client == client).unwrap();
            let due_us = begin_us + u64::from(client) * 100_000;
            // The two clocks are read one after the other, and rounded.
            let early_us = due_us.saturating_sub(first.start_us());
            let late_us = first.start_us().saturating_sub(due_us);
            assert!(early_us <= 2_000, "client {client} began {early_us} us too early");
            assert!(late_us <= 80_000, "client {client} began {late_us} us too late");
        }
        let measured = |line: &&Line| line.end_us >= begin_us + ramp.as_micros() as u64;
        let by_log = lines.iter().filter(measured).count() as u64;
        assert!(by_log.abs_diff(outcome.tally.total().committed) <= u64::from(clients), "{by_log}");
        assert_eq!(outcome.tally.connections.setup.count(), u64::from(clients));
    });
}
