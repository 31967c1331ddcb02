//! What the statements did: executions, rows, and the share that touched none.

use pgdyno_record::{AuditOutcome, ResetHow, RunRecord, StatementKind, StatementRecord};

use super::Page;
use crate::format::{count, counted, duration_s, share};
use crate::style::{columns_of, cut, flow};

/// Statements shown; the rest is in the record.
const STATEMENTS_MAX: usize = 4;

/// Between two facts of one section.
const GAP: &str = "   ";

/// A reading statement is shown where more of its executions found no row.
const READS_NO_ROW_SHARE_MAX: f64 = 0.01;

pub(super) fn add(page: &mut Page<'_>, record: &RunRecord) {
    let mut shown: Vec<&StatementRecord> =
        record.statements.iter().filter(|one| is_shown(one)).collect();
    let is_counted = |one: &&StatementRecord| one.statement.rows_expected_min() > 0;
    if !shown.iter().any(is_counted) && !shown.iter().any(|one| one.statement.writes_hidden) {
        page.section("rows", &["no statement is known to write".to_owned()]);
    } else {
        let counted: Vec<_> = shown.iter().copied().filter(is_counted).collect();
        let is_read = |one: &&StatementRecord| one.statement.kind == StatementKind::Select;
        let only_reads = hidden(record).is_empty() && counted.iter().all(is_read);
        let written = if only_reads && record.totals.rows_written_per_commit == 0.0 {
            // A read may call a routine that writes; its command tag counts nothing.
            "none known to be written; inside routines it is not seen".to_owned()
        } else {
            format!("{:.2} written per transaction", record.totals.rows_written_per_commit)
        };
        let facts = [written, all_found(&counted).to_owned(), hidden(record)];
        page.section_as_is("rows", &flow(&facts, GAP, page.fact_columns()));
    }
    if shown.is_empty() {
        return;
    }
    // What went wrong first; sorting is stable, so the rest stays in order.
    shown.sort_by(|one, other| missed(other).total_cmp(&missed(one)));
    page.section_as_is("", &table(page, &shown));
}

/// Says that no statement fell short of its rows, and which statements have
/// rows to find: those that write, and reads that a script declares rows for.
fn all_found(counted: &[&StatementRecord]) -> &'static str {
    let is_read = |one: &&StatementRecord| one.statement.kind == StatementKind::Select;
    let reads = counted.iter().copied().filter(is_read).count();
    match counted.len() {
        _ if counted.iter().any(|one| one.short > 0) => "",
        0 => "",
        all if reads == all => "every declared read found its rows",
        _ if reads > 0 => "every write and declared read found its rows",
        _ => "every write found its rows",
    }
}

/// Bringing the tables back before the run, and how long it took.
pub(super) fn add_reset(page: &mut Page<'_>, record: &RunRecord) {
    let Some(reset) = &record.reset else { return };
    let time = duration_s(reset.seconds, page.style.unicode);
    let done = match reset.how {
        ResetHow::NotNeeded => format!("not needed, seen in {time}"),
        ResetHow::InPlace => format!("{} put back in {time}", counted(reset.rows, "row")),
        ResetHow::Reload => format!("{} loaded anew in {time}", counted(reset.rows, "row")),
    };
    let reason = if reset.how == ResetHow::Reload { reset.reason.clone() } else { String::new() };
    let facts = [done, page.style.clean(&reason)];
    page.section_as_is("reset", &flow(&facts, GAP, page.fact_columns()));
}

/// Writes that the command tags do not count: whether somebody else did.
fn hidden(record: &RunRecord) -> String {
    let number = record.statements.iter().filter(|one| one.statement.writes_hidden).count();
    let passed = record.audits.iter().any(|audit| audit.outcome == AuditOutcome::Passed);
    match (number, passed) {
        (0, _) => String::new(),
        (_, true) => "writes within WITH: by the audits".to_owned(),
        (_, false) => "writes within WITH: NOT COUNTED".to_owned(),
    }
}

fn is_shown(one: &StatementRecord) -> bool {
    let info = &one.statement;
    let is_read = info.kind == StatementKind::Select;
    info.rows_expected_min() > 0
        || info.writes_hidden
        || (is_read && one.no_row_share > READS_NO_ROW_SHARE_MAX)
}

/// The share of executions that did not do what they should.
fn missed(one: &StatementRecord) -> f64 {
    match one.executions {
        0 => 0.0,
        executions => one.short.max(one.no_row) as f64 / executions as f64,
    }
}

/// Columns that a statement's text must have beside its figures; where there
/// are fewer, it stands on a line of its own.
const TEXT_COLUMNS_MIN: usize = 20;

fn table(page: &Page<'_>, shown: &[&StatementRecord]) -> Vec<String> {
    let heads = ["executed", "rows", "no row"].map(str::to_owned);
    let figures =
        |one: &&StatementRecord| [count(one.executions), count(one.rows), share(one.no_row_share)];
    let rows: Vec<[String; 3]> = shown.iter().take(STATEMENTS_MAX).map(figures).collect();
    let widths: [usize; 3] = std::array::from_fn(|column| {
        let of = |row: &[String; 3]| columns_of(&row[column]);
        rows.iter().map(of).max().unwrap_or(0).max(of(&heads))
    });
    let line = |row: &[String; 3]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:>width$}"));
        cells.collect::<Vec<_>>().join("  ")
    };
    let width = page.fact_columns();
    let is_wide = widths.iter().sum::<usize>() + 6 + TEXT_COLUMNS_MIN <= width;
    let mut lines = vec![line(&heads)];
    for (one, row) in shown.iter().zip(&rows) {
        let text = page.style.clean(&one.statement.text);
        if is_wide {
            lines.push(format!("{}  {text}", line(row)));
        } else {
            lines.extend([text, line(row)]);
        }
        if let Some(expected) = one.statement.rows_expected.filter(|expected| *expected > 1)
            && one.short > 0
        {
            let short = share(one.short as f64 / one.executions.max(1) as f64);
            lines.push(format!("  fewer than {} rows in {short} of it", count(expected)));
        }
    }
    if shown.len() > STATEMENTS_MAX {
        lines.push(format!("and {} more in the record", shown.len() - STATEMENTS_MAX));
    }
    lines.iter().map(|line| cut(line, width, page.style.unicode)).collect()
}
