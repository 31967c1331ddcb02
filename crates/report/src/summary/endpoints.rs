//! The endpoints of a run, where there were several: a line for each.

use pgdyno_record::{EndpointRecord, EndpointsRecord, RunRecord};

use super::Page;
use crate::format::{count, duration_s, duration_us, rate};
use crate::style::{Style, columns_of, cut, flow, wrap};

/// Endpoints shown; more are counted. The least busy ones are among them, since
/// an idle endpoint is what such a table is for.
const ENDPOINTS_MAX: usize = 8;

/// Columns of an endpoint's name at least.
const NAME_COLUMNS_MIN: usize = 12;

/// Between two columns of the table.
const GAP: &str = "  ";

pub(super) fn add(page: &mut Page<'_>, record: &RunRecord) {
    let Some(endpoints) = &record.endpoints else { return };
    let mut lines = heading(page, endpoints);
    lines.extend(table(page, &shown(endpoints)));
    if endpoints.each.len() > ENDPOINTS_MAX {
        lines.push(format!("and {} more in the record", endpoints.each.len() - ENDPOINTS_MAX));
    }
    page.section_as_is("endpoints", &lines);
}

/// What kept connections in bounds, and what became of them.
pub(super) fn limits(record: &RunRecord, style: &Style) -> Vec<String> {
    let (plan, connections) = (&record.plan, &record.connections);
    let mut facts = Vec::new();
    if let Some(per_second) = plan.connect_rate {
        let burst = plan.connect_burst.unwrap_or(1);
        facts.push(match burst {
            1 => format!("at most {}/s", rate(per_second)),
            burst => format!("at most {}/s after {}", rate(per_second), count(burst.into())),
        });
        // Over all clients; each waited for its part.
        let waited = connections.waited_us_sum / connections.setup.count.max(1);
        if waited > 0 {
            facts.push(format!("waited {} each for it", duration_us(waited as f64, style.unicode)));
        }
    }
    if let Some(age_s) = plan.session_age_s.filter(|_| connections.renewed > 0) {
        let age = duration_s(age_s, style.unicode);
        facts.push(format!("{} renewed before {age}", count(connections.renewed)));
    }
    if connections.lost > 0 {
        facts.push(format!("{} lost", count(connections.lost)));
    }
    facts
}

fn heading(page: &Page<'_>, endpoints: &EndpointsRecord) -> Vec<String> {
    let facts = [
        format!("{} dealt {}", count(endpoints.each.len() as u64), how(&endpoints.balance)),
        endpoints.discovered_by.as_ref().map(|by| format!("from {by}")).unwrap_or_default(),
        match endpoints.left_out.len() {
            0 => String::new(),
            left_out => format!("{left_out} left out"),
        },
    ];
    let facts = facts.map(|fact| page.style.clean(&fact));
    flow(&facts, "   ", page.fact_columns())
}

fn how(balance: &str) -> &str {
    match balance {
        "even" => "evenly",
        "random" => "by chance",
        "nearest" => "by distance",
        "first" => "in order",
        other => other,
    }
}

/// The busiest and the idlest, in the order of the record.
fn shown(endpoints: &EndpointsRecord) -> Vec<&EndpointRecord> {
    let mut all: Vec<(usize, &EndpointRecord)> = endpoints.each.iter().enumerate().collect();
    if all.len() > ENDPOINTS_MAX {
        all.sort_by_key(|(_, one)| one.committed);
        let half = ENDPOINTS_MAX / 2;
        let busiest = all.split_off(all.len() - half);
        all.truncate(ENDPOINTS_MAX - half);
        all.extend(busiest);
        all.sort_by_key(|(place, _)| *place);
    }
    all.into_iter().map(|(_, one)| one).collect()
}

fn table(page: &Page<'_>, endpoints: &[&EndpointRecord]) -> Vec<String> {
    let style = page.style;
    let time = |us: u64| duration_us(us as f64, style.unicode);
    let number = |of: fn(&EndpointRecord) -> u64| {
        endpoints.iter().map(|one| count(of(one))).collect::<Vec<_>>()
    };
    let trip = |one: &&EndpointRecord| one.round_trip_us.map_or_else(|| "-".to_owned(), time);
    let failed = number(|one| one.connections_failed);
    let lost = number(|one| one.connections_lost);
    let columns = [
        ("RTT", endpoints.iter().map(trip).collect()),
        ("conns", number(|one| one.connections)),
        ("failed", failed),
        ("lost", lost),
        ("TPS", endpoints.iter().map(|one| rate(one.tps)).collect()),
        ("p50", endpoints.iter().map(|one| time(one.response.p50_us)).collect()),
        ("p99", endpoints.iter().map(|one| time(one.response.p99_us)).collect()),
    ];
    let is_told = |name: &str, cells: &[String]| {
        !matches!(name, "failed" | "lost") || cells.iter().any(|cell| cell != "0")
    };
    let mut figures = vec![String::new(); endpoints.len() + 1];
    for (name, cells) in columns.iter().filter(|(name, cells)| is_told(name, cells)) {
        let all = std::iter::once(*name).chain(cells.iter().map(String::as_str));
        let width = all.clone().map(columns_of).max().unwrap_or(0);
        for (line, cell) in figures.iter_mut().zip(all) {
            line.push_str(GAP);
            line.push_str(&" ".repeat(width.saturating_sub(columns_of(cell))));
            line.push_str(cell);
        }
    }
    let figures_width = figures.iter().map(|line| columns_of(line)).max().unwrap_or(0);
    let left = page.fact_columns().saturating_sub(figures_width).max(NAME_COLUMNS_MIN);
    let names: Vec<String> = std::iter::once(String::new())
        .chain(endpoints.iter().map(|one| style.clean(&format!("{}:{}", one.host, one.port))))
        .map(|name| cut(&name, left, style.unicode))
        .collect();
    let names_width = names.iter().map(|name| columns_of(name)).max().unwrap_or(0);
    let line = |(name, figures): (&String, &String)| {
        format!("{name}{}{figures}", " ".repeat(names_width.saturating_sub(columns_of(name))))
    };
    let lines = names.iter().zip(&figures).map(line);
    // On a narrow page a line is broken rather than lost.
    lines.flat_map(|line| fitting(&line, page.fact_columns())).collect()
}

fn fitting(line: &str, width: usize) -> Vec<String> {
    if columns_of(line) <= width { vec![line.to_owned()] } else { wrap(line, width) }
}

#[cfg(test)]
mod tests {
    use pgdyno_record::{EndpointTally, RunRecord};

    use super::*;

    const EXAMPLE: &str = include_str!("../../../record/schema/run-record-1.example.json");

    fn with(count: u16, host: &str) -> RunRecord {
        let mut record: RunRecord = serde_json::from_str(EXAMPLE).unwrap();
        let each = (0..count).map(|n| {
            let mut tally = EndpointTally::new(true);
            (0..u64::from(n) * 100).for_each(|us| tally.commit(1000 + us * 7));
            tally.connections = 8;
            EndpointRecord::new(host.to_owned(), 5432 + n, Some(180), &tally, 10.0)
        });
        record.endpoints = Some(EndpointsRecord {
            balance: "even".to_owned(),
            discovered_by: Some("yb_servers()".to_owned()),
            left_out: vec!["10.0.0.9:5433: no route to host".to_owned()],
            each: each.collect(),
        });
        record
    }

    fn section(record: &RunRecord, width: usize) -> String {
        let page = crate::summary(record, &Style { width, ..Style::default() }, None);
        assert!(page.lines().all(|line| columns_of(line) <= width.max(40)), "{page}");
        let from = page.find("  endpoints").unwrap();
        let section = page[from..].lines().enumerate();
        let lines = section.take_while(|(at, line)| *at == 0 || line.starts_with("      "));
        lines.map(|(_, line)| format!("{line}\n")).collect()
    }

    /// Each endpoint has its line with what it did; one that did nothing is
    /// seen, and no column tells of failures where there were none.
    #[test]
    fn every_endpoint_has_a_line() {
        let mut record = with(3, "127.0.0.1");
        let told = section(&record, 80);
        for part in ["3 dealt evenly", "from yb_servers()", "1 left out", "127.0.0.1:5432", "20.0"]
        {
            assert!(told.contains(part), "{part}: {told}");
        }
        assert!(!told.contains("lost") && !told.contains("failed"), "{told}");
        record.endpoints.as_mut().unwrap().each[1].connections_lost = 4;
        assert!(section(&record, 80).contains("lost"));
        record.endpoints = None;
        assert!(!crate::summary(&record, &Style::default(), None).contains("endpoints"));
    }

    /// Many endpoints are cut to the idlest and the busiest, long names are
    /// cut to the page, and a narrow page breaks lines.
    #[test]
    fn many_and_long() {
        let told = section(&with(20, "h"), 80);
        for part in ["h:5432", "h:5451", "and 12 more in the record"] {
            assert!(told.contains(part), "{part}: {told}");
        }
        assert!(!told.contains("h:5441"), "{told}");
        section(&with(3, &"long-name.".repeat(12)), 80);
        section(&with(3, "10.20.30.40"), 40);
    }
}
