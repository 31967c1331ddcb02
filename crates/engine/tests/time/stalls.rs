//! A server that falls silent for half a second: who notices?

use std::time::Duration;

use pgdyno_benches::null::{Config, NullServer};
use pgdyno_engine::plan::RunPlan;
use pgdyno_record::Latencies;

use crate::common::{
    Line, alone, ended, in_one_round, plan, pollers, run, run_with_log, server, steady,
};

const CLIENTS: u32 = 8;
const RATE_TPS: f64 = 400.0;
const STALL: Duration = Duration::from_millis(500);

/// One stall, from the first to one and a half seconds after connecting, and
/// the run is over before the next.
const TIME: Duration = Duration::from_millis(1900);

/// Longer than this is the stall's work, not the machine's noise.
const HELD_US: u64 = 60_000;

/// Accidents of a noisy machine that are as long as [`HELD_US`].
const ACCIDENTS_MAX: u64 = 4;

fn stalling() -> NullServer {
    NullServer::start(&Config {
        delay: Duration::from_millis(1),
        stall_every: Duration::from_secs(1),
        stall: STALL,
        ..Config::default()
    })
    .unwrap()
}

fn at_a_rate(server: &NullServer) -> RunPlan {
    RunPlan { rate: steady(RATE_TPS), ..plan(server, CLIENTS, TIME) }
}

fn held(latencies: &Latencies) -> u64 {
    latencies.count_above(HELD_US)
}

/// Scheduled starts of a whole run.
fn offered(tps: f64, time: Duration) -> f64 {
    tps * time.as_secs_f64()
}

/// At a fixed rate the response time tells of the stall once for each
/// transaction that it held up, those that could not even begin included; the
/// service time tells of it once for each client.
#[test]
fn every_transaction_held_up_is_seen() {
    let _alone = alone();
    in_one_round(|| {
        let server = stalling();
        let (outcome, lines) = run_with_log(at_a_rate(&server));
        let total = outcome.tally.total();
        let (response, service) = (held(&total.response), held(&total.service));
        eprintln!("held up: {response} by response time, {service} by service time");
        let expected = RATE_TPS * (STALL.as_secs_f64() - HELD_US as f64 / 1e6);
        assert!(response as f64 >= 0.9 * expected, "{response} of {expected}");
        assert!(response as f64 <= 1.3 * expected, "{response} of {expected}");
        assert!((u64::from(CLIENTS) / 2..=u64::from(CLIENTS) + ACCIDENTS_MAX).contains(&service));
        assert!(total.response.max_us() >= 450_000 && total.service.max_us() >= 450_000);
        // Later ones were held up for less: as many between 100 and 200 ms as
        // between 300 and 400 ms.
        let per_band = RATE_TPS / 10.0;
        for band_us in [100_000, 200_000, 300_000, 400_000] {
            let is_in = |line: &&Line| (band_us..band_us + 100_000).contains(&line.latency_us);
            let found = lines.iter().filter(is_in).count() as f64;
            assert!(
                (0.6 * per_band..=1.6 * per_band).contains(&found),
                "{found} from {band_us} us"
            );
        }
        // The log and the histograms are of the same transactions.
        let by_log = |us: fn(&Line) -> u64| lines.iter().filter(|l| us(l) > HELD_US).count() as u64;
        assert!(by_log(|l| l.latency_us).abs_diff(response) <= 1);
        assert!(by_log(|l| l.latency_us - l.lag_us).abs_diff(service) <= 1);
    });
}

/// For comparison: in a closed loop nobody starts while all wait, so the same
/// stall is seen once for each client, in both times.
#[test]
fn a_closed_loop_sees_it_once_for_each_client() {
    let _alone = alone();
    in_one_round(|| {
        for poller in pollers() {
            let server = stalling();
            let outcome = run(RunPlan { poller, ..plan(&server, CLIENTS, TIME) });
            let total = outcome.tally.total();
            assert_eq!(total.response, total.service);
            let held = held(&total.response);
            assert!(
                (u64::from(CLIENTS)..=u64::from(CLIENTS) + ACCIDENTS_MAX).contains(&held),
                "{held}, {poller:?}"
            );
        }
    });
}

/// With a latency limit the stall's queue is skipped and counted: every
/// scheduled start is committed or skipped, none is lost.
#[test]
fn a_skipped_queue_is_counted() {
    let _alone = alone();
    in_one_round(|| {
        let server = stalling();
        let limit = Duration::from_millis(100);
        let outcome = run(RunPlan { latency_limit: Some(limit), ..at_a_rate(&server) });
        let (committed, skipped) = ended(&outcome);
        eprintln!("{committed} committed, {skipped} skipped, {} queued", outcome.queued);
        let expected = RATE_TPS * (STALL - limit).as_secs_f64() - f64::from(CLIENTS);
        assert!((0.85 * expected..=1.25 * expected).contains(&(skipped as f64)), "{skipped}");
        let all = (committed + skipped + outcome.queued) as f64;
        assert!((all - offered(RATE_TPS, TIME)).abs() <= 2.0, "{all}");
        // Those in flight when the stall began are late, and hardly any other.
        assert!(outcome.tally.total().late >= u64::from(CLIENTS) / 2);
    });
}

/// A server that cannot keep up leaves a queue when the time is over; that is
/// counted as well.
#[test]
fn a_queue_left_over_is_counted() {
    let _alone = alone();
    in_one_round(|| {
        for workers in [1, 2] {
            let server = server(Duration::from_millis(10));
            let (tps, time) = (1000.0, Duration::from_secs(1));
            let mut plan = RunPlan { rate: steady(tps), ..plan(&server, 2, time) };
            plan.workers = std::num::NonZeroU32::new(workers).unwrap();
            let outcome = run(plan);
            let (committed, skipped) = ended(&outcome);
            eprintln!("{workers}: {committed} committed, {} queued", outcome.queued);
            // Two clients with 10 ms each make 200 per second at the most.
            assert!(committed <= 204 && skipped == 0, "{committed}");
            assert!(outcome.queued >= 790);
            assert!(((committed + outcome.queued) as f64 - offered(tps, time)).abs() <= 2.0);
            // Their start was due up to most of a second before.
            assert!(outcome.tally.total().response.max_us() > 500_000);
        }
    });
}
