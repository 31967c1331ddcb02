//! Golden pages, and what must hold for every page.
//!
//! `PGDYNO_BLESS=1` writes the golden files anew after a wanted change.

use std::path::{Path, PathBuf};

use pgdyno_record::{
    AuditOutcome, ResetHow, ResetRecord, RunRecord, ScheduleRecord, SqlState, StatementKind,
    StatementRecord, judge,
};
use proptest::prelude::*;

use super::summary;
use crate::style::{Style, columns_of};

const EXAMPLE: &str = include_str!("../../../record/schema/run-record-1.example.json");

/// The lines that an ordinary terminal shows.
const SCREEN_LINES: usize = 24;

fn example() -> RunRecord {
    serde_json::from_str(EXAMPLE).unwrap()
}

fn path() -> PathBuf {
    PathBuf::from("pgdyno-runs/20260202T024000Z-k3x9/run.json")
}

/// A run in which nearly everything went wrong.
fn troubled() -> RunRecord {
    let mut record = example();
    let counts = &mut record.totals.counts;
    counts.failed = 4_310;
    counts.failed_serialization = 4_300;
    counts.failed_deadlock = 10;
    counts.failed_by_sqlstate =
        [(SqlState::SERIALIZATION_FAILURE, 4_300), (SqlState::DEADLOCK_DETECTED, 10)].into();
    counts.unknown = 1;
    counts.committed_without_effect = counts.committed * 95 / 100;
    record.totals.goodput_tps = record.totals.tps * 0.05;
    for at in [1, 3] {
        record.statements[at].short = record.statements[at].executions * 95 / 100;
        record.statements[at].no_row = record.statements[at].short;
        record.statements[at].no_row_share = 0.95;
        record.statements[at].statement.independent = vec!["aid".to_owned(), "bid".to_owned()];
    }
    record.audits[3].outcome = AuditOutcome::Failed;
    record.audits[3].found = record.audits[3].expected.map(|rows| rows - 134);
    record.audits[3].tolerance = 1;
    record.plan.rate_tps = Some(2_000.0);
    record.plan.ramp_s = 2.0;
    record.plan.latency_limit_us = Some(20_000);
    record.schedule = Some(ScheduleRecord {
        offered_tps: 2_000.0,
        achieved_tps: record.totals.tps,
        steady: false,
        timer_slack_us: 1_000,
        queued: 6_630,
    });
    record.totals.counts.late = 89;
    record.totals.counts.lag_mean_us = 412.4;
    record.totals.counts.lag_max_us = 9_120;
    record.reset = Some(ResetRecord {
        how: ResetHow::Reload,
        rows: 1_000_110,
        seconds: 2.5,
        reason: "200000 of 1000000 accounts were changed".to_owned(),
    });
    record.driver.saturation.saturated = true;
    record.driver.saturation.reason =
        "a worker was busy 97 % of the time, more than 90 %".to_owned();
    record.driver.cpu_share_max = 0.97;
    record.transactions.push(record.transactions[0].clone());
    record.transactions[1].name = "select-only".to_owned();
    record.verdicts = judge(&record);
    record
}

fn golden(name: &str, found: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("PGDYNO_BLESS").is_some() {
        std::fs::write(&file, found).unwrap();
        return;
    }
    let wanted = std::fs::read_to_string(&file).unwrap();
    assert!(wanted == found, "{name} differs.\n--- wanted\n{wanted}\n--- found\n{found}");
}

fn without_colour(text: &str) -> String {
    let mut plain = String::new();
    let mut in_code = false;
    for c in text.chars() {
        match c {
            '\x1b' => in_code = true,
            'm' if in_code => in_code = false,
            c if !in_code => plain.push(c),
            _ => {}
        }
    }
    plain
}

/// The ordinary page looks like this, and fits one screen.
#[test]
fn ordinary_page() {
    let page = summary(&example(), &Style::default(), Some(&path()));
    golden("summary.txt", &page);
    assert!(page.lines().count() <= SCREEN_LINES);
}

/// A narrow, plain terminal gets the same facts.
#[test]
fn narrow_page() {
    let style = Style { width: 44, color: false, unicode: false };
    let page = summary(&example(), &style, Some(&path()));
    golden("summary-narrow.txt", &page);
    assert!(page.is_ascii());
}

/// Trouble is said in the headline, with its evidence and with advice.
#[test]
fn troubled_page() {
    let page = summary(&troubled(), &Style::default(), Some(&path()));
    golden("summary-troubled.txt", &page);
    for words in [
        "not to be used",
        "of which 5.0 % did their work",
        "40001: 4,300",
        "off by -134",
        "WAS the bottleneck",
        "begun over 2.00 s",
        "6,630 queued at the end",
        "from the scheduled start",
        "from the actual start",
        "95 % UPDATE pgbench_accounts",
        "95.0 % of executions did not touch their rows; aid and bid are drawn independently: UPDATE",
    ] {
        let flat = page.split_whitespace().collect::<Vec<_>>().join(" ");
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(&words), "{words:?} is missing:\n{page}");
    }
}

/// Which statements found their rows is said by what they are: writes, reads
/// whose rows a script declares, or both; a read that fell short is no write.
#[test]
fn reads_are_not_called_writes() {
    let mut record = example();
    let page = |record: &RunRecord| summary(record, &Style::default(), None);
    assert!(page(&record).contains("every write found its rows"));
    let select = |one: &&mut StatementRecord| one.statement.kind == StatementKind::Select;
    let read = record.statements.iter_mut().find(select).unwrap();
    read.statement.rows_expected = Some(1);
    assert!(page(&record).contains("every write and declared read found its rows"));
    record.statements.retain(|one| one.statement.kind == StatementKind::Select);
    assert!(page(&record).contains("every declared read found its rows"));
    // Not the figure 0.00: the read may call a routine.
    record.totals.rows_written_per_commit = 0.0;
    assert!(page(&record).contains("none known to be written"));
    assert!(!page(&record).contains("written per transaction"));
    let read = &mut record.statements[0];
    (read.short, read.no_row) = (read.executions, read.executions);
    record.verdicts = judge(&record);
    let page = page(&record);
    assert!(page.contains("reads fell short of their rows"), "{page}");
    assert!(!page.contains("write found") && !page.contains("writes found"), "{page}");
}

/// Colour adds codes and changes no word.
#[test]
fn colour_carries_no_meaning_alone() {
    for record in [example(), troubled()] {
        let plain = summary(&record, &Style::default(), None);
        let colour = summary(&record, &Style { color: true, ..Style::default() }, None);
        let trimmed = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
        assert_eq!(trimmed(&without_colour(&colour)), trimmed(&plain));
        assert_ne!(colour, plain);
    }
}

/// A run that did nothing still has a page that says so.
#[test]
fn empty_run() {
    let mut record = example();
    record.totals.counts.committed = 0;
    record.totals.goodput_tps = 0.0;
    record.totals.tps = 0.0;
    record.totals.response.count = 0;
    record.timeline.points.clear();
    record.verdicts = judge(&record);
    let page = summary(&record, &Style::default(), None);
    assert!(page.contains("0 transactions/s   not to be used: nothing was committed"), "{page}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// No line is wider than the terminal and no control character from a
    /// record reaches it, whatever the texts and figures in it.
    #[test]
    fn every_page_fits(
        width in 40..200_usize,
        unicode: bool,
        text in "\\PC{0,120}",
        figure in any::<u64>(),
        seconds in 0.0..1e9_f64,
    ) {
        let mut record = troubled();
        record.workload.name = format!("{text}\x1b[2J");
        record.target.server_version = text.clone();
        record.transactions[1].name = text.clone();
        record.statements[1].statement.text = format!("{text}\r\n");
        record.audits[3].name = text;
        record.totals.response.max_us = figure;
        record.totals.counts.committed = figure / 2;
        record.totals.tps = figure as f64;
        record.totals.seconds = seconds;
        record.driver.rss_max_bytes = figure;
        record.verdicts = judge(&record);
        let style = Style { width, color: false, unicode };
        let page = summary(&record, &style, None);
        for line in page.lines() {
            prop_assert!(columns_of(line) <= style.columns(), "{line:?}");
            prop_assert!(!line.chars().any(char::is_control), "{line:?}");
        }
    }
}
