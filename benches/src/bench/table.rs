//! A table in Markdown, of medians and paired ratios.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::case::{Case, Suite, Tool, name};
use super::statistics::{Spread, spread};

/// A value of a metric for each repetition of each tool of each case.
pub(super) type Values = BTreeMap<Case, BTreeMap<Tool, BTreeMap<u32, f64>>>;

/// What is computed of each pair of runs, and how it is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Metric {
    pub(super) title: &'static str,
    pub(super) unit: &'static str,
    pub(super) digits: usize,
}

/// The ratios shown: the first over the second.
const RATIOS: [(Tool, Tool); 7] = [
    (Tool::Pgdyno, Tool::Floor),
    (Tool::Pgdyno, Tool::PgdynoEpoll),
    (Tool::Pgdyno, Tool::Pgbench),
    (Tool::Floor, Tool::Pgbench),
    (Tool::Sysbench, Tool::Pgbench),
    (Tool::PgdynoJobs2, Tool::Pgbench),
    (Tool::PgdynoSlack, Tool::Pgbench),
];

/// The table; empty where there is no value.
pub(super) fn render(metric: Metric, values: &Values) -> String {
    let mut tools: Vec<Tool> = values.values().flat_map(|case| case.keys().copied()).collect();
    tools.sort_unstable();
    tools.dedup();
    if tools.is_empty() {
        return String::new();
    }
    let ratios: Vec<(Tool, Tool)> = RATIOS
        .into_iter()
        .filter(|(over, under)| tools.contains(over) && tools.contains(under))
        .collect();
    let mut text = format!("### {}, {}\n\n| case |", metric.title, metric.unit);
    for tool in &tools {
        let _ = write!(text, " {} |", name(*tool));
    }
    for (over, under) in &ratios {
        let _ = write!(text, " {} / {} |", name(*over), name(*under));
    }
    text.push_str("\n| --- |");
    text.push_str(&" ---: |".repeat(tools.len() + ratios.len()));
    text.push('\n');
    for (case, figures) in values {
        let _ = write!(text, "| {} |", row_name(case));
        for tool in &tools {
            let all = figures.get(tool).and_then(|all| spread(all.values().copied()));
            let _ =
                write!(text, " {} |", all.map_or(String::new(), |all| show(all, metric.digits)));
        }
        for (over, under) in &ratios {
            let ratio = paired(figures, *over, *under);
            let _ = write!(text, " {} |", ratio.map_or(String::new(), |ratio| show(ratio, 2)));
        }
        text.push('\n');
    }
    text.push('\n');
    text
}

/// The ratio of two tools, each repetition with itself.
pub(super) fn paired(
    figures: &BTreeMap<Tool, BTreeMap<u32, f64>>,
    over: Tool,
    under: Tool,
) -> Option<Spread> {
    let (over, under) = (figures.get(&over)?, figures.get(&under)?);
    spread(over.iter().filter_map(|(repetition, value)| Some(value / under.get(repetition)?)))
}

fn show(spread: Spread, digits: usize) -> String {
    let Spread { median, min, max } = spread;
    format!("{median:.digits$} ({min:.digits$}..{max:.digits$})")
}

fn row_name(case: &Case) -> String {
    let mut text = format!("{} {}", name(case.server), name(case.transport));
    if case.suite != Suite::Load {
        let _ = write!(text, " {} {}", name(case.protocol), case.clients);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ratios pair repetitions; one that is missing on a side does not count.
    #[test]
    fn ratios_are_paired() {
        let figures = BTreeMap::from([
            (Tool::Pgdyno, BTreeMap::from([(0, 2.0), (1, 3.0), (2, 100.0)])),
            (Tool::Pgbench, BTreeMap::from([(0, 4.0), (1, 3.0)])),
        ]);
        let ratio = paired(&figures, Tool::Pgdyno, Tool::Pgbench);
        assert_eq!(ratio, Some(Spread { median: 0.75, min: 0.5, max: 1.0 }));
        assert_eq!(paired(&figures, Tool::Pgdyno, Tool::Floor), None);
    }
}
