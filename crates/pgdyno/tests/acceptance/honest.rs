//! An honest server is never accused: short runs of all workloads, drawn from
//! a seed, with retries, at all isolation levels, by all protocols, while
//! single backends are killed.
//!
//! The first runs go once over every workload. `PGDYNO_TEST_HONEST_RUNS` says
//! how many there are, `PGDYNO_TEST_HONEST_SEED` from which seed they are
//! drawn: a number, or `random`. The seed of a failure is told.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use pgdyno_script::Prng;
use pgdyno_workload::workloads;
use serde_json::Value;

use crate::support::Database;
use crate::support::record::count;
use crate::templates::Templates;

/// Runs, where nothing else is asked for: once over every workload, and some
/// more, in about half a minute on two cores. `make test-long` asks for 200.
const RUNS_DEFAULT: u64 = 16;

/// A fixed one, so that a test of a change tests the same runs as the last.
const SEED_DEFAULT: u64 = 20_261_121;

/// Runs side by side.
const THREADS: usize = 3;

/// Kills follow each other at this distance on average, at most.
const KILL_EVERY_MS_MAX: u64 = 60;

/// Backends at work for a client of the run; not pgdyno's own sessions, whose
/// loss is not what this is about.
const KILL: &str = "select count(pg_terminate_backend(pid)) from (select pid \
    from pg_stat_activity where datname = '{name}' and state <> 'idle' \
    and pid <> pg_backend_pid() and query !~* 'count\\(|setting|version\\(' \
    order by random() limit 1) victim";

/// What all runs together came to.
#[derive(Default)]
struct Sums {
    audited: AtomicU64,
    killed: AtomicU64,
    unknown: AtomicU64,
    retried: AtomicU64,
    accused: Mutex<Vec<String>>,
}

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

/// A number from 0 to `below` - 1.
fn draw(random: &mut Prng, below: usize) -> usize {
    random.bounded(below as u64 - 1) as usize
}

fn one_of<T: Copy>(random: &mut Prng, of: &[T]) -> T {
    of[draw(random, of.len())]
}

/// The seed of the first run; each further one has the next.
fn first_seed() -> u64 {
    match std::env::var("PGDYNO_TEST_HONEST_SEED").as_deref() {
        Ok("random") => pgdyno_script::random::strong_seed().unwrap() >> 16,
        _ => setting("PGDYNO_TEST_HONEST_SEED").unwrap_or(SEED_DEFAULT),
    }
}

/// The words of a run that one could type. The first runs have a workload
/// each, in order; those after them draw one.
fn words(number: u64, random: &mut Prng) -> Vec<String> {
    let drawn = draw(random, workloads().len());
    let turn = usize::try_from(number).unwrap();
    let workload = workloads().get(turn).unwrap_or(&workloads()[drawn]).name;
    let clients = 1 + draw(random, 8);
    let mut all = format!("-w {workload} -c {clients} --seed {}", random.bounded(999_999));
    let mut add = |words: String| {
        all.push(' ');
        all.push_str(&words);
    };
    add(format!("-j {}", 1 + draw(random, clients.min(2))));
    add(format!("-M {}", one_of(random, &["simple", "extended", "prepared"])));
    if let Some(level) = one_of(
        random,
        &[None, Some("read-committed"), Some("repeatable-read"), Some("serializable")],
    ) {
        add(format!("--isolation {level}"));
    }
    if draw(random, 2) == 0 {
        let tries = one_of(random, &[1, 3, 50]);
        add(format!("-t {} --max-tries {tries}", 20 + draw(random, 120)));
    } else {
        let tries = one_of(random, &[0, 1, 4]);
        add(format!("-T {}ms --max-tries {tries}", 400 + draw(random, 800)));
    }
    for (one_in, words) in [
        (4, "-C"),
        (3, "--retry-backoff 1ms..20ms"),
        (3, "--warmup 200ms"),
        (5, "-R 300"),
        (5, "-L 20"),
        (2, "--continue-on-error"),
        (4, "--audit full"),
    ] {
        if draw(random, one_in) == 0 {
            add(words.to_owned());
        }
    }
    // So few clients would all be left to readiness.
    if number.is_multiple_of(2) && pgdyno_ring::probe().is_ok() {
        add("--poller io-uring".to_owned());
    }
    if draw(random, 5) > 0 {
        add("--reconnect-lost".to_owned());
    }
    let params = params(workload);
    if draw(random, 2) == 0 && !params.is_empty() {
        add(format!("--param {}", one_of(random, params)));
    }
    all.split(' ').map(str::to_owned).collect()
}

/// Values of a workload's parameters that run other statements on the same
/// tables, or other rows.
fn params(workload: &str) -> &'static [&'static str] {
    match workload {
        "tpcb" | "tpcb-single-statement" | "simple-update" | "select-only" => &["branch=account"],
        "tpcb-sharded" => &["local=0", "local=100"],
        "tpcb-no-aggregates" => &["reads=yes", "branch=account"],
        "mixed" => &["tpcb=50", "branch=account"],
        "transfer" => &["lock=for-update"],
        "hotspot" => &["skew=2", "scatter=no"],
        "scan" => &["rows=7"],
        "tpcc" => &["procs=1"],
        _ => &[],
    }
}

/// Kills backends of one database until it is told to stop.
fn kill(database: &Database<'_>, stop: &AtomicBool, mut random: Prng) -> u64 {
    let sql = KILL.replace("{name}", &database.name);
    let mut killed = 0;
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(random.bounded(KILL_EVERY_MS_MAX)));
        let rows = database.server.sql("postgres", &sql);
        killed += rows[0][0].as_deref().unwrap_or("0").parse::<u64>().unwrap();
    }
    killed
}

/// Run `number`, from its own seed.
fn run(number: u64, first: u64, sums: &Sums) {
    let templates = Templates::shared();
    let seed = first.wrapping_add(number);
    let mut random = Prng::new(seed);
    let words = words(number, &mut random);
    let is_killed = draw(&mut random, 10) < 7;
    let database = templates.copy(&words[1]);
    let room = templates.room();
    let stop = AtomicBool::new(false);
    let (outcome, killed) = std::thread::scope(|scope| {
        let killer = is_killed.then(|| scope.spawn(|| kill(&database, &stop, Prng::new(seed))));
        let all: Vec<&str> = words.iter().map(String::as_str).collect();
        let outcome = database.run(&room, &all);
        stop.store(true, Ordering::Relaxed);
        (outcome, killer.map_or(0, |killer| killer.join().unwrap()))
    });
    templates.drop(database);
    sums.killed.fetch_add(killed, Ordering::Relaxed);
    let records = room.records();
    let told = |what: &str| {
        let text = format!(
            "run {number} from seed {first}, {killed} killed, pgdyno run {}: {what}",
            words.join(" ")
        );
        sums.accused.lock().unwrap().push(text);
    };
    let [record] = records.as_slice() else {
        // The session that looks at the tables was hit after all.
        if killed == 0 {
            told(&format!("no record: {}", outcome.err));
        }
        return;
    };
    let of = |outcome: &str| {
        let audits = record["audits"].as_array().unwrap().iter();
        audits.filter(|audit| audit["outcome"] == outcome).cloned().collect::<Vec<Value>>()
    };
    let failed = of("failed");
    if !failed.is_empty() {
        told(&format!("accused of {failed:?}; {}", record["totals"]["counts"]));
    }
    // Where conflicts are not tried again, or starts are given up, it may be
    // that nothing was committed; that is told, and rightly.
    let is_idle = count(record, "committed") == 0;
    if killed == 0 && outcome.code() != 0 && !is_idle {
        told(&format!("exit code {}: {}{}", outcome.code(), outcome.out, outcome.err));
    }
    sums.audited.fetch_add(u64::from(!of("passed").is_empty()), Ordering::Relaxed);
    sums.unknown.fetch_add(count(record, "unknown"), Ordering::Relaxed);
    sums.retried.fetch_add(count(record, "retried"), Ordering::Relaxed);
}

/// No audit of an honest server fails, whatever was run and whoever was killed.
#[test]
fn an_honest_server_is_never_accused() {
    let runs = setting("PGDYNO_TEST_HONEST_RUNS").unwrap_or(RUNS_DEFAULT);
    let first = first_seed();
    eprintln!("{runs} runs from seed {first}");
    let next = AtomicU64::new(0);
    let sums = Sums::default();
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= runs {
                        return;
                    }
                    run(number, first, &sums);
                }
            });
        }
    });
    let figure = |sum: &AtomicU64| sum.load(Ordering::Relaxed);
    let figures: BTreeMap<&str, u64> = [
        ("audited", figure(&sums.audited)),
        ("killed", figure(&sums.killed)),
        ("unknown", figure(&sums.unknown)),
        ("retried", figure(&sums.retried)),
    ]
    .into();
    eprintln!("{figures:?}");
    let accused = sums.accused.into_inner().unwrap();
    assert!(accused.is_empty(), "{} of {runs} runs:\n{}", accused.len(), accused.join("\n"));
    assert!(figure(&sums.audited) * 2 > runs, "hardly audited: {figures:?}");
}
