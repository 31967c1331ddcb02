//! The figures derived from TPC-C: new orders a minute and what belongs to
//! them. Never called by the TPC's own name.

use pgdyno_record::{RunRecord, TpccRecord};

use super::Page;
use crate::format::{count, duration_us, rate};
use crate::style::{Style, flow};

/// Between two facts of one line.
const GAP: &str = "   ";

pub(super) fn add(page: &mut Page<'_>, record: &RunRecord) {
    let Some(tpcc) = &record.tpcc else { return };
    let columns = page.fact_columns();
    let mut lines = flow(&rates(tpcc), GAP, columns);
    lines.extend(flow(&work(tpcc), GAP, columns));
    page.section_as_is("TPC-C-derived", &lines);
    page.section_as_is("mix", &flow(&mix(tpcc, page.style), GAP, columns));
    if !tpcc.alarms.is_empty() {
        page.section("odd", &tpcc.alarms);
    }
}

fn rates(tpcc: &TpccRecord) -> Vec<String> {
    let mut facts = vec![format!("{} NOPM", rate(tpcc.nopm))];
    facts.extend(tpcc.nopm_database.map(|nopm| format!("{} by the tables", rate(nopm))));
    facts.push(format!("{} TPM", rate(tpcc.tpm)));
    facts.extend(tpcc.tpm_database.map(|tpm| format!("{} by the server", rate(tpm))));
    facts.extend(tpcc.efficiency_percent.map(|percent| format!("efficiency {percent:.1} %")));
    facts
}

fn work(tpcc: &TpccRecord) -> Vec<String> {
    let counter = |name: &str| tpcc.counters.get(name).copied().unwrap_or(0);
    let mut facts = vec![
        format!("profile {}", tpcc.profile),
        format!("{} rolled back on purpose", count(tpcc.rolled_back)),
        format!(
            "{} by name",
            count(counter("payments_by_name") + counter("order_statuses_by_name"))
        ),
    ];
    match counter("districts_skipped") {
        0 => {}
        skipped => facts.push(format!("{} districts had nothing to deliver", count(skipped))),
    }
    facts
}

fn mix(tpcc: &TpccRecord, style: &Style) -> Vec<String> {
    let fact = |kind: &pgdyno_record::TpccType| {
        let p90 = duration_us(kind.p90_us as f64, style.unicode);
        format!("{} {:.2} %, p90 {p90}", kind.name, kind.share_percent)
    };
    tpcc.types.iter().map(fact).collect()
}
