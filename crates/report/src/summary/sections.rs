//! The evidence: latency, connections, transactions, rows, audits, driver.

use std::collections::BTreeMap;

use pgdyno_record::{Audit, AuditOutcome, Counts, LatencyRecord, RunRecord, SqlState};

use super::Page;
use crate::format::{bytes, count, counted, duration_s, duration_us, rate, share};
use crate::style::{Style, columns_of, cut, flow, wrap};

/// Transaction types, statements, audits and codes shown in full; more are
/// counted.
const ITEMS_MAX: usize = 4;

/// Share of the clients' time in failed tries below which it is not worth a word.
const LOST_SHARE_MIN: f64 = 0.01;

/// Between two facts of one section.
const GAP: &str = "   ";

pub(super) fn add(page: &mut Page<'_>, record: &RunRecord) {
    super::tpcc::add(page, record);
    latency(page, record);
    rate_kept(page, record);
    connections(page, record);
    super::endpoints::add(page, record);
    transactions(page, record);
    types(page, record);
    super::effects::add(page, record);
    audits(page, &record.audits);
    super::target::add(page, record);
    driver(page, record);
    load(page, record);
    super::effects::add_reset(page, record);
}

/// One time for each transaction; two where a schedule was given, since those
/// that had to wait for their start tell of it only in the first.
fn latency(page: &mut Page<'_>, record: &RunRecord) {
    let (response, service) = (&record.totals.response, &record.totals.service);
    if response.count == 0 {
        page.section("latency", &["no transaction was committed".to_owned()]);
        return;
    }
    if record.schedule.is_none() {
        latency_section(page, "latency", response, "");
        return;
    }
    latency_section(page, "response", response, "from the scheduled start");
    latency_section(page, "service", service, "from the actual start");
}

fn latency_section(page: &mut Page<'_>, label: &str, latency: &LatencyRecord, from: &str) {
    let style = page.style;
    let figures: Vec<(&str, String)> = quantiles(latency, style);
    let columns = figures.iter().map(|(_, value)| columns_of(value)).max().unwrap_or(0).max(7) + 2;
    let mut lines = if columns * figures.len() <= page.fact_columns() + 2 {
        let row = |texts: Vec<&str>| {
            let row: String = texts.iter().map(|text| format!("{text:>columns$}")).collect();
            row[2..].to_owned()
        };
        vec![
            row(figures.iter().map(|(name, _)| *name).collect()),
            row(figures.iter().map(|(_, value)| value.as_str()).collect()),
        ]
    } else {
        let facts: Vec<String> =
            figures.iter().map(|(name, value)| format!("{name} {value}")).collect();
        flow(&facts, GAP, page.fact_columns())
    };
    let spread = [
        format!("mean {}", duration_us(latency.mean_us, style.unicode)),
        format!("stddev {}", duration_us(latency.stddev_us, style.unicode)),
        over_range(latency),
        from.to_owned(),
    ];
    lines.extend(flow(&spread, GAP, page.fact_columns()));
    page.section_as_is(label, &lines);
}

fn quantiles(latency: &LatencyRecord, style: &Style) -> Vec<(&'static str, String)> {
    let shown = |us: u64| duration_us(us as f64, style.unicode);
    vec![
        ("p50", shown(latency.p50_us)),
        ("p90", shown(latency.p90_us)),
        ("p95", shown(latency.p95_us)),
        ("p99", shown(latency.p99_us)),
        ("p99.9", shown(latency.p999_us)),
        ("max", shown(latency.max_us)),
    ]
}

fn over_range(latency: &LatencyRecord) -> String {
    match latency.over_range {
        0 => String::new(),
        over => format!("{} above one hour", count(over)),
    }
}

/// Under a rate: what was offered and achieved, how late the schedule was, and
/// what was left of it at the end.
fn rate_kept(page: &mut Page<'_>, record: &RunRecord) {
    let Some(schedule) = &record.schedule else { return };
    let counts = &record.totals.counts;
    let shown = |us: f64| duration_us(us, page.style.unicode);
    let mut facts = vec![
        format!("{}/s offered", rate(schedule.offered_tps)),
        format!("{}/s achieved", rate(schedule.achieved_tps)),
        if schedule.steady { "at equal distances" } else { "at random" }.to_owned(),
        format!("lag mean {}, max {}", shown(counts.lag_mean_us), shown(counts.lag_max_us as f64)),
        format!("{} queued at the end", count(schedule.queued)),
    ];
    if schedule.timer_slack_us > 0 {
        let slack = shown(schedule.timer_slack_us as f64);
        facts.insert(3, format!("together every {slack} (--timer-slack)"));
    }
    page.section_as_is("schedule", &flow(&facts, GAP, page.fact_columns()));
}

fn connections(page: &mut Page<'_>, record: &RunRecord) {
    let connections = &record.connections;
    let setup = &connections.setup;
    let shown = |us: u64| duration_us(us as f64, page.style.unicode);
    let mut facts = Vec::new();
    if !record.plan.reconnect {
        facts.push(format!(
            "{} until all were ready",
            duration_s(connections.initial_s, page.style.unicode)
        ));
    }
    facts.push(format!(
        "{}: p50 {}, max {}",
        counted(setup.count, "connection"),
        shown(setup.p50_us),
        shown(setup.max_us)
    ));
    if connections.failed > 0 {
        facts.push(format!("{} failed", count(connections.failed)));
    }
    facts.extend(super::endpoints::limits(record, page.style));
    page.section_as_is("connecting", &flow(&facts, GAP, page.fact_columns()));
}

fn transactions(page: &mut Page<'_>, record: &RunRecord) {
    let counts = &record.totals.counts;
    let mut facts = vec![
        format!("{} committed", count(counts.committed)),
        retried(counts),
        failed(counts),
        format!("{} unknown", count(counts.unknown)),
        lost_time(record, page.style),
    ];
    if let Some(limit_us) = record.plan.latency_limit_us {
        let limit = duration_us(limit_us as f64, page.style.unicode);
        facts.push(format!("{} above {limit}", count(counts.late)));
        if record.plan.rate_tps.is_some() {
            facts.push(format!("{} skipped", count(counts.skipped)));
        }
    }
    page.section_as_is("transactions", &flow(&facts, GAP, page.fact_columns()));
}

/// The part of the clients' time that went into tries which did not commit.
fn lost_time(record: &RunRecord, style: &Style) -> String {
    let lost_s = record.totals.counts.lost_us_sum as f64 / 1e6;
    let all_s = record.totals.seconds * f64::from(record.plan.clients);
    if all_s <= 0.0 || lost_s / all_s < LOST_SHARE_MIN {
        return String::new();
    }
    let lost = duration_s(lost_s, style.unicode);
    format!("{lost} in failed tries ({} of the clients' time)", share(lost_s / all_s))
}

fn retried(counts: &Counts) -> String {
    let retried = format!("{} retried", count(counts.retried));
    if counts.retried == counts.retries {
        return retried;
    }
    format!("{retried} ({} more tries)", count(counts.retries))
}

fn failed(counts: &Counts) -> String {
    if counts.failed == 0 {
        return "0 failed".to_owned();
    }
    format!("{} failed ({})", count(counts.failed), by_sqlstate(&counts.failed_by_sqlstate))
}

/// The most frequent codes first.
fn by_sqlstate(codes: &BTreeMap<SqlState, u64>) -> String {
    let mut codes: Vec<_> = codes.iter().collect();
    codes.sort_by_key(|(_, number)| std::cmp::Reverse(**number));
    let mut shown: Vec<String> = codes
        .iter()
        .take(ITEMS_MAX)
        .map(|(code, number)| format!("{code}: {}", count(**number)))
        .collect();
    if codes.len() > ITEMS_MAX {
        shown.push(format!("{} other codes", codes.len() - ITEMS_MAX));
    }
    shown.join(", ")
}

/// Each transaction type, where there are several.
fn types(page: &mut Page<'_>, record: &RunRecord) {
    if record.transactions.len() < 2 {
        return;
    }
    let style = page.style;
    let shown = |us: u64| duration_us(us as f64, style.unicode);
    let mut lines = Vec::new();
    for kind in record.transactions.iter().take(ITEMS_MAX) {
        let facts = [
            cut(&style.clean(&kind.name), page.fact_columns(), style.unicode),
            format!("{}/s", rate(kind.tps)),
            format!("p50 {}", shown(kind.response.p50_us)),
            format!("p99 {}", shown(kind.response.p99_us)),
            if kind.counts.failed > 0 { failed(&kind.counts) } else { String::new() },
        ];
        lines.extend(flow(&facts, GAP, page.fact_columns()));
    }
    if record.transactions.len() > ITEMS_MAX {
        lines.push(format!("and {} more in the record", record.transactions.len() - ITEMS_MAX));
    }
    page.section_as_is("of these", &lines);
}

fn audits(page: &mut Page<'_>, audits: &[Audit]) {
    if audits.is_empty() {
        page.section("audits", &["none".to_owned()]);
        return;
    }
    let number = |outcome| audits.iter().filter(|audit| audit.outcome == outcome).count() as u64;
    let (passed, failed, skipped) =
        (number(AuditOutcome::Passed), number(AuditOutcome::Failed), number(AuditOutcome::Skipped));
    let mut facts = vec![format!("{passed} of {} passed", count(audits.len() as u64))];
    if failed > 0 {
        facts.push(format!("{} FAILED", count(failed)));
    }
    if skipped > 0 {
        facts.push(format!("{} skipped", count(skipped)));
    }
    let mut lines = flow(&facts, GAP, page.fact_columns());
    let remarkable = audits.iter().filter(|audit| audit.outcome != AuditOutcome::Passed);
    for audit in remarkable.take(ITEMS_MAX) {
        lines.extend(wrap(&page.style.clean(&audit_line(audit)), page.fact_columns()));
    }
    page.section_as_is("audits", &lines);
}

fn audit_line(audit: &Audit) -> String {
    let detail = match audit.detail.as_str() {
        "" => String::new(),
        detail => format!(", {detail}"),
    };
    if audit.outcome == AuditOutcome::Skipped {
        return format!("skipped: {}{detail}", audit.name);
    }
    match (audit.expected, audit.found, audit.difference()) {
        (Some(expected), Some(found), Some(by)) => {
            let tolerance = match audit.tolerance {
                0 => String::new(),
                tolerance => format!(", tolerance {}", count(tolerance)),
            };
            format!(
                "FAILED: {}, off by {by:+} (expected {expected}, found {found}{tolerance}){detail}",
                audit.name
            )
        }
        _ => format!("FAILED: {}{detail}", audit.name),
    }
}

fn driver(page: &mut Page<'_>, record: &RunRecord) {
    let driver = &record.driver;
    let style = page.style;
    let bottleneck =
        if driver.saturation.saturated { "WAS the bottleneck" } else { "not the bottleneck" };
    let facts = [
        bottleneck.to_owned(),
        format!(
            "{} CPU per transaction",
            duration_us(tenths(driver.cpu_us_per_transaction), style.unicode)
        ),
        format!("busiest worker {}", share(driver.cpu_share_max)),
        format!("memory {}", bytes(driver.rss_max_bytes)),
    ];
    page.section_as_is("driver", &flow(&facts, GAP, page.fact_columns()));
}

/// A mean that has a fraction is shown with one, even when it is `4.0`.
fn tenths(us: f64) -> f64 {
    if us.fract() == 0.0 { us } else { (us * 100.0).round() / 100.0 }
}

fn load(page: &mut Page<'_>, record: &RunRecord) {
    let Some(load) = &record.load else { return };
    let facts = [
        format!(
            "{} in {}",
            counted(load.rows, "row"),
            duration_s(load.seconds, page.style.unicode)
        ),
        format!("{} rows/s by {}", rate(load.rows_per_s), page.style.clean(&load.method)),
    ];
    page.section_as_is("loaded", &flow(&facts, GAP, page.fact_columns()));
}
