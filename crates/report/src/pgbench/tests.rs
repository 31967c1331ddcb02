//! Reports that pgbench 18.6 itself printed, made again from their numbers.
//! Run times were chosen so that the printed tps comes out; µs are whole.

use super::*;

fn base() -> PgbenchReport {
    PgbenchReport {
        scale: 1,
        partitions: Some(PgbenchPartitions { method: "range".to_owned(), count: 3 }),
        query_mode: "simple".to_owned(),
        clients: 2,
        threads: 1,
        tries_max: 1,
        limit: PgbenchLimit::Seconds(2),
        run_us: 1,
        connect_us: 0,
        reconnect: false,
        throttled: false,
        progress: false,
        latency_limit_us: None,
        failures_detailed: false,
        continue_on_error: false,
        per_statement: false,
        total: PgbenchCounts::default(),
        scripts: vec![script("<builtin: TPC-B (sort of)>", 1)],
    }
}

fn script(description: &str, weight: u64) -> PgbenchScript {
    PgbenchScript {
        description: description.to_owned(),
        weight,
        counts: PgbenchCounts::default(),
        commands: Vec::new(),
    }
}

/// The commands of the `nth` statement list of a report: their numbers, without
/// their layout.
fn commands(golden: &str, nth: usize, retries: bool) -> Vec<PgbenchCommand> {
    let list = golden.split("statement latencies in milliseconds").nth(nth + 1).unwrap();
    let lines = list.lines().skip(1).take_while(|line| line.starts_with("   "));
    let number = |field: &str| field.parse::<f64>().unwrap();
    let command = |line: &str| {
        let mut rest = line.trim_start();
        let mut field = || {
            let (field, tail) = rest.split_once(' ').unwrap();
            rest = tail.trim_start();
            number(field)
        };
        let (mean, failures) = (field(), field());
        let retries = if retries { field() } else { 0.0 };
        PgbenchCommand {
            first_line: rest.to_owned(),
            latency_mean_us: mean * 1e3,
            failures: failures as u64,
            retries: retries as u64,
        }
    };
    lines.map(command).collect()
}

fn check(made: &PgbenchReport, golden: &str) {
    let text = report(made);
    assert!(text == golden, "--- pgbench\n{golden}\n--- ours\n{text}");
}

/// `-t 20 -c 2`.
#[test]
fn plain() {
    let mut made = base();
    made.limit = PgbenchLimit::Transactions(20);
    made.run_us = 15_036;
    made.connect_us = 3_782;
    made.total.processed = 40;
    check(&made, include_str!("../../tests/golden/pgbench-plain.txt"));
}

/// `-T 2 -c 4 -j 2 -P 1 -r`.
#[test]
fn statement_latencies() {
    let golden = include_str!("../../tests/golden/pgbench-statements.txt");
    let mut made = base();
    (made.clients, made.threads) = (4, 2);
    (made.progress, made.per_statement) = (true, true);
    (made.run_us, made.connect_us) = (1_998_908, 5_332);
    made.total = PgbenchCounts {
        processed: 19_793,
        latency_mean_us: 388.0,
        latency_stddev_us: 146.0,
        ..PgbenchCounts::default()
    };
    made.scripts[0].commands = commands(golden, 0, false);
    assert_eq!(made.scripts[0].commands.len(), 11);
    check(&made, golden);
}

/// `-T 2 -c 2 -R 200 -L 5 -P 1`.
#[test]
fn rate_and_limit() {
    let mut made = base();
    (made.progress, made.throttled, made.latency_limit_us) = (true, true, Some(5_000));
    (made.run_us, made.connect_us) = (1_996_777, 3_336);
    made.total = PgbenchCounts {
        processed: 352,
        latency_mean_us: 634.0,
        latency_stddev_us: 270.0,
        lag_mean_us: 112.0,
        lag_max_us: 227,
        ..PgbenchCounts::default()
    };
    check(&made, include_str!("../../tests/golden/pgbench-rate-limit.txt"));
}

/// `-T 2 -c 2 -C -n`.
#[test]
fn reconnect() {
    let mut made = base();
    made.reconnect = true;
    (made.run_us, made.connect_us) = (2_001_666, 1_332_210);
    made.total.processed = 726;
    check(&made, include_str!("../../tests/golden/pgbench-reconnect.txt"));
}

/// `-T 2 -c 4 -f hot.sql -b simple-update@2 -M prepared --max-tries=3
/// --failures-detailed -r -P 1 -R 500 -L 20`.
#[test]
fn several_scripts_with_retries() {
    let golden = include_str!("../../tests/golden/pgbench-retries.txt");
    let mut made = base();
    (made.clients, made.tries_max) = (4, 3);
    made.query_mode = "prepared".to_owned();
    (made.progress, made.throttled, made.latency_limit_us) = (true, true, Some(20_000));
    (made.failures_detailed, made.per_statement) = (true, true);
    (made.run_us, made.connect_us) = (1_993_197, 8_917);
    let hot = PgbenchCounts {
        processed: 283,
        failed_serialization: 9,
        retried: 101,
        retries: 131,
        latency_mean_us: 3_949.0,
        latency_stddev_us: 2_282.0,
        ..PgbenchCounts::default()
    };
    made.total = PgbenchCounts {
        processed: 961,
        latency_mean_us: 1_944.0,
        latency_stddev_us: 2_164.0,
        lag_mean_us: 324.0,
        lag_max_us: 5_308,
        ..hot
    };
    made.scripts = vec![script("hot.sql", 1), script("<builtin: simple update>", 2)];
    made.scripts[0].counts = hot;
    made.scripts[1].counts = PgbenchCounts {
        processed: 678,
        latency_mean_us: 1_106.0,
        latency_stddev_us: 1_445.0,
        ..PgbenchCounts::default()
    };
    for (nth, script) in made.scripts.iter_mut().enumerate() {
        script.commands = commands(golden, nth, true);
    }
    assert_eq!(made.scripts[1].commands.len(), 9);
    check(&made, golden);
}

/// `-n -t 20 -c 4 -f hot.sql -r`: three in four fail.
#[test]
fn failures() {
    let golden = include_str!("../../tests/golden/pgbench-failures.txt");
    let mut made = base();
    made.clients = 4;
    made.partitions = None;
    made.limit = PgbenchLimit::Transactions(20);
    (made.run_us, made.connect_us, made.per_statement) = (50_166, 7_050, true);
    made.total.processed = 20;
    made.total.failed_serialization = 60;
    made.scripts = vec![script("hot.sql", 1)];
    made.scripts[0].commands = commands(golden, 0, false);
    check(&made, golden);
}

/// Where nothing was processed, failed or skipped, the report ends early.
#[test]
fn nothing_happened() {
    let text = report(&base());
    assert!(text.ends_with("number of transactions actually processed: 0\n"), "{text}");
}

/// Unlimited tries have no line of their own but are retries; failures of other
/// kinds are listed only where the option allows them.
#[test]
fn unlimited_tries_and_other_failures() {
    let mut made = base();
    (made.tries_max, made.failures_detailed, made.run_us) = (0, true, 1_000_000);
    made.total = PgbenchCounts { processed: 3, failed_other: 1, ..PgbenchCounts::default() };
    let text = report(&made);
    assert!(!text.contains("maximum number of tries"), "{text}");
    assert!(text.contains("number of transactions retried: 0 (0.000%)\n"), "{text}");
    assert!(!text.contains("other failures"), "{text}");
    made.continue_on_error = true;
    assert!(report(&made).contains("number of other failures: 1 (25.000%)\n"));
}

/// Progress lines as pgbench printed them.
#[test]
fn progress_lines() {
    let mut line = PgbenchProgress {
        time: PgbenchTime::Elapsed(1_000_016),
        interval_us: 1_000_016,
        counts: PgbenchCounts {
            processed: 9_816,
            latency_mean_us: 390.0,
            latency_stddev_us: 159.0,
            ..PgbenchCounts::default()
        },
        throttled: false,
        latency_limited: false,
        tries_max: 1,
    };
    let text = "progress: 1.0 s, 9815.8 tps, lat 0.390 ms stddev 0.159, 0 failed\n";
    assert_eq!(progress(&line), text);

    line.counts = PgbenchCounts {
        processed: 474,
        failed_serialization: 2,
        failed_deadlock: 1,
        retried: 51,
        retries: 66,
        latency_mean_us: 2_298.0,
        latency_stddev_us: 2_440.0,
        lag_mean_us: 416.0,
        ..PgbenchCounts::default()
    };
    (line.throttled, line.latency_limited, line.tries_max) = (true, true, 3);
    line.interval_us = 999_157;
    let text = "progress: 1.0 s, 474.4 tps, lat 2.298 ms stddev 2.440, 3 failed, lag 0.416 ms, \
                0 skipped, 51 retried, 66 retries\n";
    assert_eq!(progress(&line), text);

    line.time = PgbenchTime::Epoch(1_770_000_000_123_456);
    assert!(progress(&line).starts_with("progress: 1770000000.123 s, 474.4 tps"));
}
