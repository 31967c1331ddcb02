//! The figures derived from TPC-C: new orders a minute and what belongs to
//! them. Never called by the TPC's own name.

use pgdyno_record::tpcc::{nopm_max, nopm_max_of_clients};
use pgdyno_record::{RunRecord, SqlState, TpccRecord, TpccType};

use super::Page;
use crate::format::{count, counted, duration_us, rate};
use crate::style::{Style, flow};

/// Between two facts of one line.
const GAP: &str = "   ";

pub(super) fn add(page: &mut Page<'_>, record: &RunRecord) {
    let Some(tpcc) = &record.tpcc else { return };
    let columns = page.fact_columns();
    let mut lines = flow(&rates(tpcc, record), GAP, columns);
    lines.extend(flow(&work(tpcc, record), GAP, columns));
    page.section_as_is("TPC-C-derived", &lines);
    page.section_as_is("mix", &mix(tpcc, page.style));
    if !tpcc.alarms.is_empty() {
        page.section("odd", &tpcc.alarms);
    }
}

fn rates(tpcc: &TpccRecord, record: &RunRecord) -> Vec<String> {
    let mut facts = vec![format!("{} NOPM", rate(tpcc.nopm))];
    facts.extend(tpcc.nopm_database.map(|nopm| format!("{} by the tables", rate(nopm))));
    facts.push(format!("{} TPM", rate(tpcc.tpm)));
    facts.extend(tpcc.tpm_database.map(|tpm| format!("{} by the server", rate(tpm))));
    facts.extend(tpcc.efficiency_percent.map(|percent| {
        let most = nopm_max(tpcc.warehouses);
        format!("efficiency {percent:.1} % of {most:.1} NOPM")
    }));
    facts.extend(tpcc.efficiency_of_clients_percent.map(|percent| {
        let clients = record.plan.clients;
        let most = nopm_max_of_clients(clients.into());
        format!(
            "{percent:.1} % of the {most:.1} that {} can make",
            counted(clients.into(), "client")
        )
    }));
    facts
}

/// What happened beside the work; each is counted apart, and a rollback on
/// purpose is in none of the others.
fn work(tpcc: &TpccRecord, record: &RunRecord) -> Vec<String> {
    let counter = |name: &str| tpcc.counters.get(name).copied().unwrap_or(0);
    let counts = &record.totals.counts;
    let ended_in_deadlocks =
        counts.retries_by_sqlstate.get(&SqlState::DEADLOCK_DETECTED).copied().unwrap_or(0);
    let deadlocks = ended_in_deadlocks + counts.failed_deadlock;
    let mut facts = vec![
        format!("profile {}", tpcc.profile),
        format!("{} rolled back on purpose", count(tpcc.rolled_back)),
        format!(
            "{} by name",
            count(counter("payments_by_name") + counter("order_statuses_by_name"))
        ),
        counted(deadlocks, "deadlock"),
        format!("{} tried again", count(counts.retries)),
    ];
    match counter("districts_skipped") {
        0 => {}
        skipped => facts.push(format!("{} districts had nothing to deliver", count(skipped))),
    }
    facts
}

/// A line for each type, with the limits that the standard sets: the least
/// share where one is demanded, and the 90th percentile of response times.
fn mix(tpcc: &TpccRecord, style: &Style) -> Vec<String> {
    let (least, most) = if style.unicode { ("≥", "≤") } else { (">=", "<=") };
    let is_judged = tpcc.profile == "faithful";
    let line = |kind: &TpccType| {
        let us = |us: u64| duration_us(us as f64, style.unicode);
        // HammerDB draws without a deck, and its mix is not judged.
        let min = if is_judged && kind.share_percent_min > 0.0 {
            format!("{least} {:.0}", kind.share_percent_min)
        } else {
            String::new()
        };
        let (p90, limit_s) = (us(kind.p90_us), kind.p90_us_max as f64 / 1e6);
        // The 5 s of a delivery are for taking it up, which is not done apart.
        let part = if kind.name == "delivery" { " (deferred)" } else { "" };
        format!(
            "{:<13} {:>6.2} % {min:<5}  p90 {p90:>8} {most} {limit_s} s{part}",
            kind.name, kind.share_percent
        )
    };
    tpcc.types.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::columns_of;

    const EXAMPLE: &str = include_str!("../../../record/schema/run-record-1.example.json");

    fn record() -> RunRecord {
        let kind = |name: &str, share_percent, share_percent_min, p90_us_max| TpccType {
            name: name.to_owned(),
            completed: 1_000,
            share_percent,
            share_percent_min,
            p90_us: 4_100,
            p90_us_max,
        };
        let mut record: RunRecord = serde_json::from_str(EXAMPLE).unwrap();
        record.plan.clients = 10;
        record.totals.counts.retries = 9;
        record.totals.counts.retries_by_sqlstate = [(SqlState::DEADLOCK_DETECTED, 2)].into();
        record.totals.counts.failed_deadlock = 1;
        record.tpcc = Some(TpccRecord {
            label: "derived from TPC-C".to_owned(),
            profile: "faithful".to_owned(),
            warehouses: 2,
            nopm: 24.0,
            nopm_database: Some(24.0),
            tpm: 57.0,
            tpm_database: None,
            efficiency_percent: Some(46.7),
            efficiency_of_clients_percent: Some(93.3),
            rolled_back: 10,
            types: vec![
                kind("new order", 43.48, 0.0, 5_000_000),
                kind("payment", 43.48, 43.0, 5_000_000),
                kind("delivery", 4.35, 4.0, 80_000_000),
                kind("stock level", 4.35, 4.0, 20_000_000),
            ],
            counters: [("payments_by_name".to_owned(), 600)].into(),
            alarms: Vec::new(),
        });
        record
    }

    /// Each limit stands beside its figure, what is counted apart is shown
    /// apart, and efficiency says of what it is a share.
    #[test]
    fn limits_stand_beside_their_figures() {
        for (width, unicode) in [(80, true), (80, false), (120, true)] {
            let style = Style { width, unicode, ..Style::default() };
            let mut page = Page { style: &style, lines: Vec::new() };
            add(&mut page, &record());
            let text = page.lines.concat();
            assert!(text.lines().all(|line| columns_of(line) <= width), "{text}");
            let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
            let lines: Vec<String> = text.lines().map(words).collect();
            let (least, most) = if unicode { ("≥", "≤") } else { (">=", "<=") };
            for wanted in [
                format!("mix new order 43.48 % p90 4.10 ms {most} 5 s"),
                format!("payment 43.48 % {least} 43 p90 4.10 ms {most} 5 s"),
                format!("delivery 4.35 % {least} 4 p90 4.10 ms {most} 80 s (deferred)"),
                format!("stock level 4.35 % {least} 4 p90 4.10 ms {most} 20 s"),
            ] {
                assert!(lines.contains(&wanted), "{wanted}\n{text}");
            }
            for wanted in [
                "efficiency 46.7 % of 25.7 NOPM",
                "93.3 % of the 12.9 that 10 clients can make",
                "3 deadlocks",
                "9 tried again",
            ] {
                assert!(text.contains(wanted), "{wanted}\n{text}");
            }
        }
    }
}
