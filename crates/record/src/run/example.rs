//! One whole record for tests: a plausible TPC-B-like run of ten seconds.
//!
//! The same record lies beside the schema as `schema/run-record-1.example.json`
//! for people who read records, and for the tests of the crates above.

use std::collections::BTreeMap;

use crate::driver::{CpuWait, DriverRecord, WorkerHealth};
use crate::latency::Latencies;
use crate::run::*;
use crate::sqlstate::SqlState;
use crate::tally::{ConnectTally, Tally, TransactionTimes};
use crate::timeline::{Second, Timeline};
use crate::verdict::judge;

const SECONDS: u64 = 10;
const COMMITS_PER_SECOND: u64 = 1_200;

/// The record.
pub(crate) fn record() -> RunRecord {
    let statements = statements();
    let workload = workload();
    let (tally, timeline) = measured(&statements);
    let sections = Sections::new(&tally, &workload.scripts, &statements, SECONDS as f64, 0.041);
    let worker = WorkerHealth {
        clients: 8,
        cpu_user_us: 230_000,
        cpu_system_us: 410_000,
        wall_us: SECONDS * 1_000_000,
        transactions: sections.totals.counts.committed,
        loop_delay: loop_delay(),
        cpu_wait: Some(CpuWait { us: 96_400, times: 12_050 }),
    };
    let timeline = timeline.finish();
    // The tables know of the warm-up as well.
    let commits = timeline.points.iter().map(|point| point.commits).sum();
    let mut record = RunRecord {
        schema_version: SCHEMA_VERSION,
        pgdyno_version: "0.1.0".to_owned(),
        run_id: "k3x9".to_owned(),
        started_at: jiff::Timestamp::constant(1_770_000_000, 0),
        command_line: ["pgdyno", "demo"].map(str::to_owned).to_vec(),
        seed: 20_260_201,
        target: target(),
        workload,
        plan: plan(),
        ended: Ended { how: EndKind::Completed, clients_aborted: 0, reasons: Vec::new() },
        load: Some(load()),
        reset: None,
        driver: DriverRecord::new(&[worker], 9_437_184, sections.totals.response.p50_us),
        totals: sections.totals,
        schedule: None,
        transactions: sections.transactions,
        statements: sections.statements,
        connections: sections.connections,
        endpoints: None,
        timeline,
        audits: audits(commits),
        target_statistics: None,
        tpcc: None,
        machine: MachineRecord {
            cpu_model: "AMD EPYC 7R13".to_owned(),
            cores: 2,
            kernel: "Linux 6.8.0".to_owned(),
            memory_bytes: 8_589_934_592,
        },
        verdicts: Vec::new(),
    };
    record.verdicts = judge(&record);
    record
}

/// Latencies that look like a database's: a body around 6 ms with a tail.
fn latency_us(n: u64) -> u64 {
    let scrambled = n.wrapping_mul(6_364_136_223_846_793_005).rotate_left(29) % 10_000;
    let tail = if scrambled > 9_900 { (scrambled - 9_900) * 380 } else { 0 };
    4_100 + scrambled / 3 + tail
}

fn measured(statements: &[StatementInfo]) -> (Tally, Timeline) {
    let mut tally = Tally::new(1, statements.len(), false);
    let mut timeline = Timeline::new(1);
    for index in -2..SECONDS as i64 {
        let mut second = Second::new(index);
        let commits = COMMITS_PER_SECOND + (index.unsigned_abs() * 137) % 300;
        for n in 0..commits {
            let us = latency_us(index.unsigned_abs() * 10_000 + n);
            let times = TransactionTimes { response_us: us, service_us: us, lag_us: 0 };
            let tries = if n % 400 == 7 { 2 } else { 1 };
            second.commit(times, tries);
            if index >= 0 {
                tally.scripts[0].commit(times, tries, false, true);
                tally.scripts[0].rows_written += 4;
                if tries > 1 {
                    tally.scripts[0].retry(SqlState::SERIALIZATION_FAILURE, us / 2);
                }
                for (slot, info) in tally.statements.iter_mut().zip(statements) {
                    let rows = u64::from(info.writes || info.kind == StatementKind::Select);
                    slot.execute(us / statements.len() as u64, rows, info.rows_expected_min());
                }
            }
        }
        timeline.add(0, second);
    }
    tally.connections = ConnectTally::default();
    for client in 0..8 {
        tally.connections.setup.record(24_000 + client * 2_100);
    }
    (tally, timeline)
}

fn loop_delay() -> Latencies {
    let mut delays = Latencies::new();
    for n in 0..2_000 {
        delays.record(2 + n % 37 + if n % 250 == 0 { 90 } else { 0 });
    }
    delays
}

fn workload() -> WorkloadRecord {
    WorkloadRecord {
        name: "tpcb".to_owned(),
        scale: Some(10),
        params: BTreeMap::new(),
        scripts: vec![ScriptInfo {
            name: "tpcb-like".to_owned(),
            weight: 1,
            text: "\\set aid random(1, 100000 * :scale)\nBEGIN;\nEND;\n".to_owned(),
        }],
    }
}

fn statements() -> Vec<StatementInfo> {
    let info = |command, kind, text: &str| StatementInfo {
        script: 0,
        command,
        text: text.to_owned(),
        kind,
        writes: matches!(kind, StatementKind::Update | StatementKind::Insert),
        rows_expected: None,
        writes_hidden: false,
        independent: Vec::new(),
    };
    vec![
        info(4, StatementKind::Begin, "BEGIN;"),
        info(
            5,
            StatementKind::Update,
            "UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;",
        ),
        info(6, StatementKind::Select, "SELECT abalance FROM pgbench_accounts WHERE aid = :aid;"),
        info(
            7,
            StatementKind::Update,
            "UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;",
        ),
        info(
            8,
            StatementKind::Update,
            "UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;",
        ),
        info(9, StatementKind::Insert, "INSERT INTO pgbench_history VALUES (…);"),
        info(10, StatementKind::Commit, "END;"),
    ]
}

fn target() -> TargetRecord {
    TargetRecord {
        name: Some("embedded".to_owned()),
        kind: "postgres".to_owned(),
        dialect: "postgres".to_owned(),
        detected_by: "version() begins with PostgreSQL".to_owned(),
        server_version: "PostgreSQL 15.8".to_owned(),
        server_version_num: 150_008,
        database: "pgdyno".to_owned(),
        user: "pgdyno".to_owned(),
        endpoints: vec![Endpoint { host: "127.0.0.1".to_owned(), port: 54_321 }],
        tls: None,
        settings: BTreeMap::from([("fsync".to_owned(), "on".to_owned())]),
    }
}

fn plan() -> PlanRecord {
    PlanRecord {
        clients: 8,
        workers: 1,
        limit: Limit::Duration { seconds: SECONDS as f64 },
        warmup_s: 2.0,
        ramp_s: 0.0,
        rate_tps: None,
        latency_limit_us: None,
        protocol: "prepared".to_owned(),
        tries_max: Some(10),
        backoff: None,
        session_settings: BTreeMap::new(),
        isolation: None,
        reconnect: false,
        poller: "epoll".to_owned(),
        connect_rate: None,
        connect_burst: None,
        session_age_s: None,
    }
}

fn load() -> LoadRecord {
    let table = |name: &str, rows, seconds| LoadedTable { name: name.to_owned(), rows, seconds };
    LoadRecord {
        method: "copy".to_owned(),
        jobs: 2,
        seconds: 1.62,
        rows: 1_000_110,
        rows_per_s: 1_075_387.1,
        tables: vec![
            table("pgbench_branches", 10, 0.001),
            table("pgbench_tellers", 100, 0.001),
            table("pgbench_accounts", 1_000_000, 0.93),
        ],
        retries_by_sqlstate: BTreeMap::new(),
        table_params: BTreeMap::new(),
    }
}

fn audits(commits: u64) -> Vec<Audit> {
    let passed = |name: &str, figure| Audit {
        name: name.to_owned(),
        outcome: AuditOutcome::Passed,
        expected: Some(figure),
        found: Some(figure),
        tolerance: 0,
        detail: String::new(),
    };
    vec![
        passed("sum(abalance) = sum(delta)", -18_223),
        passed("sum(tbalance) = sum(delta)", -18_223),
        passed("sum(bbalance) = sum(delta)", -18_223),
        passed("history rows = committed transactions", commits as i64),
    ]
}

mod tests {
    use super::*;
    use crate::TargetStatistics;
    use crate::{StatementPlan, StatisticsFigure, StatisticsGroup, StatisticsKind, StatisticsRow};

    const SCHEMA: &str = include_str!("../../schema/run-record-1.json");
    const EXAMPLE: &str = include_str!("../../schema/run-record-1.example.json");

    /// Parts that came after the first records: they may be missing.
    const OPTIONAL: [&str; 3] = ["reset", "target_statistics", "tpcc"];

    fn tpcc() -> crate::TpccRecord {
        crate::TpccRecord {
            label: "derived from TPC-C; no result in the sense of the TPC".to_owned(),
            profile: "faithful".to_owned(),
            warehouses: 2,
            nopm: 1_200.0,
            nopm_database: Some(1_201.5),
            tpm: 2_770.0,
            tpm_database: Some(2_785.0),
            efficiency_percent: Some(99.5),
            efficiency_of_clients_percent: Some(49.75),
            rolled_back: 12,
            types: vec![crate::TpccType {
                name: "new order".to_owned(),
                completed: 1_200,
                share_percent: 43.5,
                share_percent_min: 0.0,
                p90_us: 3_000,
                p90_us_max: 5_000_000,
            }],
            counters: [("order_lines".to_owned(), 12_000)].into(),
            alarms: vec!["one sentence".to_owned()],
        }
    }

    fn validator() -> jsonschema::Validator {
        let schema = serde_json::from_str(SCHEMA).unwrap();
        jsonschema::draft202012::meta::validate(&schema).unwrap();
        jsonschema::draft202012::new(&schema).unwrap()
    }

    fn complaints(value: &serde_json::Value) -> Vec<String> {
        let complaint = |e: jsonschema::ValidationError<'_>| format!("{}: {e}", e.instance_path());
        validator().iter_errors(value).map(complaint).collect()
    }

    /// Records with every optional part filled, and with every one left out.
    fn extremes() -> [RunRecord; 2] {
        let mut full = record();
        full.target.tls = Some(TlsRecord {
            version: "TLSv1.3".to_owned(),
            cipher: "TLS13_AES_256_GCM_SHA384".to_owned(),
            verified: true,
        });
        full.plan.rate_tps = Some(1_500.0);
        full.plan.ramp_s = 1.5;
        full.schedule = Some(ScheduleRecord {
            offered_tps: 1_500.0,
            achieved_tps: full.totals.tps,
            steady: true,
            timer_slack_us: 1_000,
            queued: 17,
        });
        full.plan.latency_limit_us = Some(50_000);
        full.plan.limit = Limit::Transactions { per_client: 10 };
        full.plan.isolation = Some("serializable".to_owned());
        full.plan.backoff =
            Some(BackoffPlan { first_us: 1_000, factor: 2.0, max_us: 100_000, jitter: 0.5 });
        full.ended.how = EndKind::Aborted;
        full.ended.clients_aborted = 2;
        full.ended.reasons.push("127.0.0.1:5432: FATAL 57P01: terminating".to_owned());
        full.statements[1].latency = Some(full.totals.response.clone());
        full.statements[1].short = full.statements[1].executions / 2;
        full.statements[1].statement.rows_expected = Some(1);
        full.statements[1].statement.writes_hidden = true;
        full.statements[1].statement.independent = vec!["aid".to_owned(), "bid".to_owned()];
        full.reset = Some(ResetRecord {
            how: ResetHow::Reload,
            rows: 1_000_110,
            seconds: 2.5,
            reason: "200,000 of 1,000,000 accounts were changed".to_owned(),
        });
        full.plan.session_settings.insert("work_mem".to_owned(), "64MB".to_owned());
        full.target_statistics = Some(statistics());
        full.tpcc = Some(tpcc());
        full.audits[0].outcome = AuditOutcome::Failed;
        full.audits[1].outcome = AuditOutcome::Skipped;
        full.audits[1].expected = None;
        full.totals.counts.failed = 9;
        full.totals.counts.failed_by_sqlstate.insert(SqlState::DEADLOCK_DETECTED, 9);
        full.totals.counts.unknown = 2;
        full.timeline.points[3].failed_by_class.insert(SqlState::DEADLOCK_DETECTED.class(), 9);
        full.driver.saturation.saturated = true;
        full.verdicts = judge(&full);

        let mut bare = record();
        bare.target.name = None;
        bare.workload.scale = None;
        bare.load = None;
        bare.driver.workers[0].cpu_wait_us = None;
        bare.driver.workers[0].cpu_wait_mean_us = None;
        bare.plan.tries_max = None;
        bare.audits.clear();
        bare.ended.how = EndKind::Interrupted;
        bare.timeline.points.clear();
        bare.verdicts = judge(&bare);
        [full, bare]
    }

    fn statistics() -> TargetStatistics {
        let figure =
            StatisticsFigure { before: Some(1.0), after: Some(3.0), difference: Some(2.0) };
        let texts = |name: &str| BTreeMap::from([(name.to_owned(), "UPDATE t".to_owned())]);
        let row = StatisticsRow {
            labels: texts("query"),
            figures: BTreeMap::from([("calls".to_owned(), figure)]),
        };
        let group = StatisticsGroup {
            name: "pg_stat_statements".to_owned(),
            kind: StatisticsKind::Counters,
            verified: true,
            rows: vec![row],
            rows_left_out: 1,
        };
        let plan = StatementPlan {
            script: "tpcb-like".to_owned(),
            statement: "UPDATE t".to_owned(),
            figures: BTreeMap::from([("Total DPU".to_owned(), 0.5)]),
        };
        let notes = vec!["pg_stat_io: permission denied".to_owned()];
        TargetStatistics { seconds: 12.0, groups: vec![group], plans: vec![plan], notes }
    }

    /// Every record that can be written fits the published schema.
    #[test]
    fn fits_the_schema() {
        for record in extremes().into_iter().chain([record()]) {
            let value = serde_json::to_value(&record).unwrap();
            assert_eq!(complaints(&value), Vec::<String>::new());
            assert_eq!(serde_json::from_value::<RunRecord>(value).unwrap(), record);
        }
    }

    /// The schema asks for every field and knows no other: neither a forgotten
    /// field nor one added in the program alone goes unseen.
    #[test]
    fn the_schema_is_closed() {
        let mut walked = 0;
        for record in extremes() {
            let whole = serde_json::to_value(&record).unwrap();
            for pointer in objects_of(&whole) {
                let mut more = whole.clone();
                let object = more.pointer_mut(&pointer).and_then(|v| v.as_object_mut()).unwrap();
                object.insert("not a field".to_owned(), serde_json::Value::Null);
                assert!(!complaints(&more).is_empty(), "{pointer} took another field");
                walked += 1;
            }
            let keys = whole.as_object().unwrap().keys();
            for key in keys.filter(|key| !OPTIONAL.contains(&key.as_str())) {
                let mut less = whole.clone();
                less.as_object_mut().unwrap().remove(key);
                assert!(!complaints(&less).is_empty(), "{key} is not required");
            }
        }
        assert!(walked > 40, "only {walked} objects were walked");
    }

    /// The example beside the schema is the record that these tests use.
    /// `PGDYNO_BLESS=1` writes it anew after a wanted change.
    #[test]
    fn the_example_is_current() {
        let text = format!("{}\n", serde_json::to_string_pretty(&record()).unwrap());
        if std::env::var_os("PGDYNO_BLESS").is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/schema/run-record-1.example.json");
            std::fs::write(path, &text).unwrap();
            return;
        }
        assert_eq!(EXAMPLE, text, "run the tests with PGDYNO_BLESS=1 if the change is wanted");
    }

    /// Pointers to one object of each shape (the first of each array).
    fn objects_of(value: &serde_json::Value) -> Vec<String> {
        let mut found = Vec::new();
        let mut waiting = vec![(String::new(), value)];
        while let Some((pointer, value)) = waiting.pop() {
            if let Some(object) = value.as_object() {
                found.push(pointer.clone());
                let children = object.iter().map(|(key, v)| (format!("{pointer}/{key}"), v));
                waiting.extend(children);
            } else if let Some(first) = value.as_array().and_then(|array| array.first()) {
                waiting.push((format!("{pointer}/0"), first));
            }
        }
        found
    }
}
