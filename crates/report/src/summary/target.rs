//! What the target counted of itself, where it is worth a line: the rest is in
//! the record.

use std::collections::BTreeMap;

use pgdyno_record::{RunRecord, TargetStatistics};

use super::Page;
use crate::format::{bytes, count, counted, share};
use crate::style::flow;

/// Between two facts of one line.
const GAP: &str = "   ";

/// A share of blocks found in memory above which nothing is said.
const HITS_MIN: f64 = 0.99;

/// A share of updates without new index entries above which nothing is said.
const HOT_MIN: f64 = 0.9;

/// Updates below which their share says nothing.
const UPDATES_MIN: f64 = 100.0;

/// Growth of the database, in bytes and as a share of it, below which nothing
/// is said.
const GROWTH_MIN: f64 = 16.0 * 1024.0 * 1024.0;
const GROWTH_SHARE_MIN: f64 = 0.02;

pub(super) fn add(page: &mut Page<'_>, record: &RunRecord) {
    let Some(statistics) = &record.target_statistics else { return };
    let mut all = facts(statistics);
    all.extend(costs(statistics));
    // Last, so that the word of what is included is not read as theirs.
    let of_the_warmup = |fact: &String| fact.starts_with(WAITS_IN_WARMUP);
    let (waits, mut facts): (Vec<_>, Vec<_>) = all.into_iter().partition(of_the_warmup);
    if record.plan.warmup_s > 0.0 && !facts.is_empty() {
        facts.push("warm-up included".to_owned());
    }
    facts.extend(waits);
    if !facts.is_empty() {
        page.section_as_is("target", &flow(&facts, GAP, page.fact_columns()));
    }
}

fn facts(all: &TargetStatistics) -> Vec<String> {
    let found = [
        wal(all),
        reads(all),
        forced_checkpoints(all),
        temporary_files(all),
        some(all, "pg_stat_database", "deadlocks").map(|number| counted(number, "deadlock")),
        updates(all),
        waits(all),
        growth(all),
        single_shard(all),
        some(all, "transaction_contention_events", "events").map(|events| contention(all, events)),
    ];
    found.into_iter().flatten().collect()
}

/// What CockroachDB's transactions waited for each other.
fn contention(all: &TargetStatistics, events: u64) -> String {
    let waited = all.grown("transaction_contention_events", "wait_s").filter(|wait| *wait > 0.0);
    let waited = waited.map_or_else(String::new, |wait| format!(", {wait:.1} s of waiting"));
    format!("{}{waited}", counted(events, "contention event"))
}

/// A counter that grew.
fn some(all: &TargetStatistics, group: &str, figure: &str) -> Option<u64> {
    all.grown(group, figure).filter(|grown| *grown >= 1.0).map(|grown| grown as u64)
}

fn wal(all: &TargetStatistics) -> Option<String> {
    let written = some(all, "pg_stat_wal", "wal_bytes")?;
    let commits = some(all, "pg_stat_database", "xact_commit");
    let each = commits.and_then(|commits| written.checked_div(commits));
    let each = each.map_or_else(String::new, |each| format!(", {} per commit", bytes(each)));
    Some(format!("{} of WAL{each}", bytes(written)))
}

fn reads(all: &TargetStatistics) -> Option<String> {
    let read = all.grown("pg_stat_database", "blks_read")?;
    let hit = all.grown("pg_stat_database", "blks_hit").unwrap_or(0.0);
    let hits = hit / (hit + read);
    (hits < HITS_MIN).then(|| format!("{} of blocks in shared buffers", share(hits)))
}

/// Before version 17 with the background writer's figures, since then on its own.
fn forced_checkpoints(all: &TargetStatistics) -> Option<String> {
    let forced = some(all, "pg_stat_bgwriter", "checkpoints_req")
        .or_else(|| some(all, "pg_stat_checkpointer", "num_requested"))?;
    Some(format!("{} not by the clock", counted(forced, "checkpoint")))
}

fn temporary_files(all: &TargetStatistics) -> Option<String> {
    let files = some(all, "pg_stat_database", "temp_files")?;
    let size = some(all, "pg_stat_database", "temp_bytes").unwrap_or(0);
    Some(format!("{}, {}", counted(files, "temporary file"), bytes(size)))
}

fn updates(all: &TargetStatistics) -> Option<String> {
    let updates = all.grown("pg_stat_user_tables", "n_tup_upd")?;
    let hot = all.grown("pg_stat_user_tables", "n_tup_hot_upd").unwrap_or(0.0);
    let is_worth_it = updates >= UPDATES_MIN && hot / updates < HOT_MIN;
    is_worth_it.then(|| format!("{} of updates HOT", share(hot / updates)))
}

/// Waits that are told, and what they must make up of all to be.
const WAITS_SHOWN: usize = 2;
const WAITS_MIN: f64 = 0.1;

/// Figures of waits: times, or the number of looks that saw one.
const TIME: &str = "wait_us";
const SAMPLES: &str = "samples";

/// What was looked at before the measured interval began.
const OF_WARMUP: &str = "wait_events_in_warmup";
const WAITS_IN_WARMUP: &str = "waits in the warm-up";

/// Where waits are counted, and by which figure.
const WAITS: [(&str, &str); 5] = [
    ("limitless_stat_system_waits", TIME),
    ("aurora_stat_system_waits", TIME),
    ("pg_wait_sampling_profile", SAMPLES),
    ("yb_active_session_history", SAMPLES),
    (OF_WARMUP, SAMPLES),
];

/// What sessions waited for most. The client's next words are no wait of the
/// server's, and a processor is none at all; both are in the whole where it is
/// made of samples of sessions at work. Times are those of idle sessions as
/// well, which would leave everything else without a share.
fn waits(all: &TargetStatistics) -> Option<String> {
    let (group, figure) =
        WAITS.iter().find_map(|(name, figure)| all.group(name).map(|group| (group, *figure)))?;
    // With the sum, whether it is a wait that is told.
    let mut sums: BTreeMap<String, (f64, bool)> = BTreeMap::new();
    for row in &group.rows {
        let Some(number) = row.figures.get(figure) else { continue };
        let label = |names: &[&str]| names.iter().find_map(|name| row.labels.get(*name));
        let kind = label(&["event_type", "type_name", "wait_event_class"]);
        let event = label(&["event", "event_name", "wait_event"]);
        let is_kind = |words: &str| kind.is_some_and(|kind| kind == words);
        if is_kind("Activity") || figure == TIME && is_kind("Client") {
            continue;
        }
        let is_cpu = label(&["event_type", "type_name", "wait_event_type"])
            .is_some_and(|kind| kind.eq_ignore_ascii_case("CPU"));
        let words: Vec<&str> = [kind, event].into_iter().flatten().map(String::as_str).collect();
        let sum = sums.entry(words.join(":")).or_insert((0.0, true));
        sum.0 += number.difference.or(number.after).unwrap_or(0.0);
        sum.1 &= !is_cpu && !is_kind("Client");
    }
    let whole: f64 = sums.values().map(|(sum, _)| sum).sum();
    let mut ranked: Vec<(&String, f64)> = sums
        .iter()
        .filter(|(_, (_, is_wait))| *is_wait)
        .map(|(words, (sum, _))| (words, sum / whole))
        .filter(|(_, part)| *part >= WAITS_MIN)
        .collect();
    ranked.sort_by(|one, other| other.1.total_cmp(&one.1));
    let shown = ranked.iter().take(WAITS_SHOWN);
    let shown: Vec<String> =
        shown.map(|(words, part)| format!("{words} {}", share(*part))).collect();
    let head = if group.name == OF_WARMUP { WAITS_IN_WARMUP } else { "waits" };
    let node = group.rows.iter().find_map(|row| row.labels.get("node"));
    let node = node.map_or_else(String::new, |node| format!(" on {node}"));
    (!shown.is_empty()).then(|| format!("{head}{node}: {}", shown.join(", ")))
}

fn growth(all: &TargetStatistics) -> Option<String> {
    let figure = all.group("database_size")?.rows.first()?.figures.get("bytes")?;
    let (before, after) = (figure.before?, figure.after?);
    let grown = after - before;
    (grown >= GROWTH_MIN && grown >= before * GROWTH_SHARE_MIN)
        .then(|| format!("{} larger, now {}", bytes(grown as u64), bytes(after as u64)))
}

/// Of the calls, those that one shard served alone.
fn single_shard(all: &TargetStatistics) -> Option<String> {
    let limitless = |figure| all.grown("limitless_stat_statements", figure);
    let citus = |figure| all.grown("citus_stat_counters", figure).unwrap_or(0.0);
    let (single, whole) = match limitless("calls") {
        Some(calls) => (limitless("sso_calls").unwrap_or(0.0), calls),
        None => {
            let single = citus("query_execution_single_shard");
            (single, single + citus("query_execution_multi_shard"))
        }
    };
    (whole >= 1.0).then(|| format!("{} of queries on one shard", share(single / whole)))
}

/// For each transaction type what its statements cost, as the server says.
fn costs(all: &TargetStatistics) -> Vec<String> {
    let mut scripts: BTreeMap<&str, BTreeMap<&str, f64>> = BTreeMap::new();
    for plan in &all.plans {
        let sums = scripts.entry(plan.script.as_str()).or_default();
        for (name, figure) in &plan.figures {
            *sums.entry(name.as_str()).or_default() += figure;
        }
    }
    let shown = |script: &str, sums: &BTreeMap<&str, f64>| {
        let sum = |name: &str| sums.get(name).copied();
        let statements = all.plans.iter().filter(|plan| plan.script == script).count() as u64;
        if let Some(dpu) = sum("total_dpu") {
            return Some(format!("{script}: {dpu:.5} DPU (estimate)"));
        }
        if let (Some(reads), Some(writes)) =
            (sum("storage_read_requests"), sum("storage_write_requests"))
        {
            let (reads, writes) = (count(reads as u64), count(writes as u64));
            return Some(format!("{script}: {reads} reads, {writes} writes of storage"));
        }
        if let Some(tasks) = sum("tasks") {
            let tasks = counted(tasks as u64, "task");
            return Some(format!("{script}: {tasks} for {}", counted(statements, "statement")));
        }
        let single = sum("single_shard")?;
        Some(format!(
            "{script}: {} of {} on one shard",
            count(single as u64),
            counted(statements, "statement")
        ))
    };
    scripts.iter().filter_map(|(script, sums)| shown(script, sums)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgdyno_record::{
        StatementPlan, StatisticsFigure, StatisticsGroup, StatisticsKind, StatisticsRow,
    };

    fn group(name: &str, figures: &[(&str, f64, f64)]) -> StatisticsGroup {
        let figure = |(name, before, after): &(&str, f64, f64)| {
            let difference = Some(after - before);
            let figure =
                StatisticsFigure { before: Some(*before), after: Some(*after), difference };
            ((*name).to_owned(), figure)
        };
        let figures = figures.iter().map(figure).collect();
        StatisticsGroup {
            name: name.to_owned(),
            kind: StatisticsKind::Counters,
            verified: true,
            rows: vec![StatisticsRow { labels: BTreeMap::new(), figures }],
            rows_left_out: 0,
        }
    }

    fn with(groups: Vec<StatisticsGroup>) -> TargetStatistics {
        TargetStatistics { groups, ..TargetStatistics::default() }
    }

    /// A run without trouble has one line, of its WAL; nothing without figures.
    #[test]
    fn quiet_runs_say_little() {
        assert_eq!(facts(&with(Vec::new())), Vec::<String>::new());
        let quiet = with(vec![
            group(
                "pg_stat_database",
                &[("xact_commit", 0.0, 100.0), ("blks_read", 0.0, 1.0), ("blks_hit", 0.0, 999.0)],
            ),
            group("pg_stat_wal", &[("wal_bytes", 0.0, 51_200.0)]),
            group("database_size", &[("bytes", 1e9, 1.01e9)]),
        ]);
        assert_eq!(facts(&quiet), ["50.0 KiB of WAL, 512 B per commit"]);
    }

    /// What is worth a look is named with its figure.
    #[test]
    fn trouble_is_named() {
        let loud = with(vec![
            group(
                "pg_stat_database",
                &[
                    ("blks_read", 0.0, 50.0),
                    ("blks_hit", 0.0, 50.0),
                    ("temp_files", 1.0, 3.0),
                    ("temp_bytes", 0.0, 2048.0),
                    ("deadlocks", 4.0, 5.0),
                ],
            ),
            group("pg_stat_checkpointer", &[("num_requested", 0.0, 2.0)]),
            group(
                "pg_stat_user_tables",
                &[("n_tup_upd", 0.0, 1000.0), ("n_tup_hot_upd", 0.0, 400.0)],
            ),
            group("database_size", &[("bytes", 104_857_600.0, 157_286_400.0)]),
        ]);
        assert_eq!(
            facts(&loud),
            [
                "50 % of blocks in shared buffers",
                "2 checkpoints not by the clock",
                "2 temporary files, 2.00 KiB",
                "1 deadlock",
                "40 % of updates HOT",
                "50.0 MiB larger, now 150 MiB",
            ]
        );
    }

    /// A group of waits whose rows are labelled so, with a figure.
    fn group_of_waits(
        name: &str,
        labels: &[&str],
        figure: &str,
        rows: &[(&[&str], f64)],
    ) -> StatisticsGroup {
        let row = |(texts, after): &(&[&str], f64)| StatisticsRow {
            labels: labels
                .iter()
                .zip(*texts)
                .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
                .collect(),
            figures: BTreeMap::from([(
                figure.to_owned(),
                StatisticsFigure { before: None, after: Some(*after), difference: None },
            )]),
        };
        StatisticsGroup { rows: rows.iter().map(row).collect(), ..group(name, &[]) }
    }

    /// Waits are named with their share, the client's and the processor's not,
    /// and those of the warm-up are told as such.
    #[test]
    fn waits_are_named() {
        let rows: [(&[&str], f64); 5] = [
            (&["Client", "ClientRead"], 25.0),
            (&["IO", "WALSync"], 20.0),
            (&["Lock", "tuple"], 30.0),
            (&["CPU", "none"], 20.0),
            (&["LWLock", "WALWrite"], 5.0),
        ];
        let group = |name, rows| group_of_waits(name, &["event_type", "event"], "samples", rows);
        for (name, head) in [
            ("wait_events_in_warmup", "waits in the warm-up"),
            ("pg_wait_sampling_profile", "waits"),
        ] {
            let told = facts(&with(vec![group(name, &rows)]));
            assert_eq!(told, [format!("{head}: Lock:tuple 30 %, IO:WALSync 20 %")]);
            assert_eq!(facts(&with(vec![group(name, &rows[..1])])), Vec::<String>::new());
        }
    }

    /// Times hold those of idle processes and sessions, which are left out of
    /// the whole; samples of YugabyteDB say by their type what a processor is;
    /// and where one node of several was asked, it is named.
    #[test]
    fn waits_of_vendors_are_named() {
        let rows: [(&[&str], f64); 4] = [
            (&["Activity", "WalWriterMain", "h:1"], 900.0),
            (&["Client", "ClientRead", "h:1"], 700.0),
            (&["Lock", "tuple", "h:1"], 60.0),
            (&["IO", "XactSync", "h:1"], 40.0),
        ];
        let labels = ["type_name", "event_name", "node"];
        let aurora = group_of_waits("aurora_stat_system_waits", &labels, "wait_us", &rows);
        assert_eq!(facts(&with(vec![aurora])), ["waits on h:1: Lock:tuple 60 %, IO:XactSync 40 %"]);
        let rows: [(&[&str], f64); 3] = [
            (&["TServerWait", "Cpu", "OnCpu_Active"], 50.0),
            (&["YSQLQuery", "CPU", "QueryProcessing"], 20.0),
            (&["TabletWait", "WaitOnCondition", "ConflictResolution_WaitOnConflictingTxns"], 30.0),
        ];
        let labels = ["wait_event_class", "wait_event_type", "wait_event"];
        let yugabyte = group_of_waits("yb_active_session_history", &labels, "samples", &rows);
        assert_eq!(
            facts(&with(vec![yugabyte])),
            ["waits: TabletWait:ConflictResolution_WaitOnConflictingTxns 30 %"]
        );
    }

    /// Contention is told with the time that it took.
    #[test]
    fn contention_has_its_time() {
        let figures = [("events", 0.0, 3.0), ("wait_s", 0.0, 2.25)];
        let contended = with(vec![group("transaction_contention_events", &figures)]);
        assert_eq!(facts(&contended), ["3 contention events, 2.2 s of waiting"]);
        let contended = with(vec![group("transaction_contention_events", &figures[..1])]);
        assert_eq!(facts(&contended), ["3 contention events"]);
    }

    /// Distributed databases say how far a query reached, and what it cost.
    #[test]
    fn shards_and_costs() {
        let calls = [("calls", 0.0, 200.0), ("sso_calls", 0.0, 50.0)];
        let limitless = with(vec![group("limitless_stat_statements", &calls)]);
        assert_eq!(facts(&limitless), ["25 % of queries on one shard"]);
        let plan = |script: &str, name: &str, figure| StatementPlan {
            script: script.to_owned(),
            statement: "s".to_owned(),
            figures: BTreeMap::from([(name.to_owned(), figure)]),
        };
        let plans = vec![
            plan("a", "total_dpu", 0.25),
            plan("a", "total_dpu", 0.5),
            plan("b", "tasks", 33.0),
        ];
        let costly = TargetStatistics { plans, ..TargetStatistics::default() };
        assert_eq!(costs(&costly), ["a: 0.75000 DPU (estimate)", "b: 33 tasks for 1 statement"]);
    }
}
