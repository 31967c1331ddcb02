//! What the raw results say: the tables of summary.md.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::bounds::{self, Figure};
use super::case::{Case, Phase, Suite, Tool, name};
use super::raw::{Line, Run};
use super::table::{Metric, Values, render};
use super::tpcc::{self, TpccRun};

/// The two runs of one tool in one repetition of one case.
#[derive(Debug, Default)]
struct Pair<'a> {
    connect: Option<&'a Run>,
    steady: Option<&'a Run>,
}

type Pairs<'a> = BTreeMap<(Case, Tool, u32), Pair<'a>>;

/// The summary in Markdown.
pub(super) fn summarise(lines: &[Line]) -> String {
    let runs: Vec<&Run> = lines
        .iter()
        .filter_map(|line| match line {
            Line::Run(run) => Some(run.as_ref()),
            Line::Facts(_) | Line::Tpcc(_) => None,
        })
        .collect();
    let orders: Vec<&TpccRun> = lines
        .iter()
        .filter_map(|line| match line {
            Line::Tpcc(run) => Some(run.as_ref()),
            Line::Facts(_) | Line::Run(_) => None,
        })
        .collect();
    let mut pairs = Pairs::new();
    for run in runs.iter().filter(|run| run.error.is_none()) {
        let pair = pairs.entry((run.case, run.tool, run.repetition)).or_default();
        match run.phase {
            Phase::Connect => pair.connect = Some(run),
            Phase::Steady => pair.steady = Some(run),
        }
    }
    let mut text = String::from(
        "# Summary\n\nMedians over the repetitions, with the least and the greatest. A ratio is \
         made of two runs of the same\nrepetition; its median is not the ratio of the medians. \
         CPU is user and system time of the client's process.\n\n",
    );
    for (suite, title) in SUITES {
        let section = section(suite, &pairs);
        if !section.is_empty() {
            let _ = write!(text, "## {title}\n\n{section}");
        }
    }
    let bounds = bounds::table(&|figure, tool, case| {
        let of_tool = pairs.iter().filter(|((at, who, _), _)| *at == case && *who == tool);
        let figures = of_tool.filter_map(|((_, _, repetition), pair)| {
            Some((*repetition, figure_of(figure, case, pair)?))
        });
        figures.collect()
    });
    text + &tpcc::summarise(&orders) + &bounds + &failures(&runs)
}

/// What a bound speaks of.
fn figure_of(figure: Figure, case: Case, pair: &Pair<'_>) -> Option<f64> {
    match figure {
        Figure::Cpu => cpu_us(pair),
        Figure::Tps => tps(pair),
        Figure::ConnectCpu => connect_cpu_ms(pair),
        Figure::ConnectTime => connect_ms(pair),
        Figure::FillTime => fill_s(pair),
        Figure::Memory => Some(rss_mib(pair)? * 1024.0 / f64::from(case.clients)),
    }
}

const SUITES: [(Suite, &str); 6] = [
    (Suite::Select, "Select-only, as fast as it goes"),
    (Suite::Rate, "Select-only at 5,000 transactions a second"),
    (Suite::Tpcb, "TPC-B-like"),
    (Suite::Connect, "Connecting"),
    (Suite::Shared, "Select-only, client and server on the same cores"),
    (Suite::Load, "Filling the tables at scale 50"),
];

const CPU: Metric = Metric { title: "Client CPU per transaction", unit: "us", digits: 2 };
const TPS: Metric = Metric { title: "Transactions a second", unit: "1/s", digits: 0 };
const RSS: Metric = Metric { title: "Peak memory of the client", unit: "MiB", digits: 1 };
const CONNECT_CPU: Metric =
    Metric { title: "Connecting, one transaction each: client CPU", unit: "ms", digits: 1 };
const CONNECT_WALL: Metric =
    Metric { title: "Connecting: time until all are ready", unit: "ms", digits: 1 };
const LOAD_CPU: Metric = Metric { title: "Client CPU per row", unit: "us", digits: 4 };
/// Without making tables, keys and vacuum: `init` does more of these than the
/// steps that pgbench is asked for.
const LOAD_WALL: Metric = Metric { title: "Time of filling", unit: "s", digits: 2 };

fn section(suite: Suite, pairs: &Pairs<'_>) -> String {
    let table = |metric: Metric, figure: &dyn Fn(&Pair<'_>) -> Option<f64>| {
        render(metric, &values(suite, pairs, figure))
    };
    match suite {
        Suite::Load => {
            table(LOAD_CPU, &cpu_us) + &table(LOAD_WALL, &fill_s) + &table(RSS, &rss_mib)
        }
        Suite::Connect => {
            table(CONNECT_CPU, &connect_cpu_ms)
                + &table(CONNECT_WALL, &connect_ms)
                + &table(RSS, &rss_mib)
        }
        _ => {
            let cpu = values(suite, pairs, &cpu_us);
            let mut text = render(CPU, &cpu) + &table(TPS, &tps) + &table(RSS, &rss_mib);
            if suite == Suite::Select {
                text += &table(CONNECT_CPU, &connect_cpu_ms);
                text += &table(CONNECT_WALL, &connect_ms);
                text += &growth(&cpu);
                text += &memory_per_client(&values(suite, pairs, &rss_mib));
            }
            text
        }
    }
}

fn values(suite: Suite, pairs: &Pairs<'_>, figure: &dyn Fn(&Pair<'_>) -> Option<f64>) -> Values {
    let mut values = Values::new();
    for ((case, tool, repetition), pair) in pairs {
        if case.suite != suite {
            continue;
        }
        if let Some(value) = figure(pair) {
            let tools = values.entry(*case).or_default();
            tools.entry(*tool).or_default().insert(*repetition, value);
        }
    }
    values
}

/// Of the steady state: what the short run used is taken off.
fn cpu_us(pair: &Pair<'_>) -> Option<f64> {
    let steady = pair.steady?;
    let (cpu, transactions) =
        pair.connect.map_or((0, 0), |connect| (connect.cpu_us(), connect.transactions));
    let count = steady.transactions.checked_sub(transactions).filter(|count| *count > 0)?;
    Some((steady.cpu_us() as f64 - cpu as f64) / count as f64)
}

fn tps(pair: &Pair<'_>) -> Option<f64> {
    pair.steady?.tps
}

fn fill_s(pair: &Pair<'_>) -> Option<f64> {
    pair.steady?.generate_s
}

fn rss_mib(pair: &Pair<'_>) -> Option<f64> {
    let rss = pair.steady.iter().chain(&pair.connect).map(|run| run.rss_max_kib).max()?;
    Some(rss as f64 / 1024.0)
}

fn connect_cpu_ms(pair: &Pair<'_>) -> Option<f64> {
    Some(pair.connect?.cpu_us() as f64 / 1e3)
}

fn connect_ms(pair: &Pair<'_>) -> Option<f64> {
    pair.connect?.connect_ms
}

/// A line for each tool and way: the figure at the most clients of those
/// measured over the figure at the fewest from 64 on.
fn growth(cpu: &Values) -> String {
    let mut text = String::new();
    for (few, many) in [(64, 1000), (64, 4000)] {
        text += &compare_counts(cpu, few, many, &|few, many| format!("{:.2}", many / few));
    }
    heading("Growth of client CPU per transaction with the clients", "ratio", &text)
}

fn memory_per_client(rss: &Values) -> String {
    let mut text = String::new();
    for (few, many) in [(1, 1000), (1, 4000)] {
        text += &compare_counts(rss, few, many, &|few_mib, many_mib| {
            let kib = (many_mib - few_mib) * 1024.0 / f64::from(many - few);
            format!("{kib:.1}")
        });
    }
    heading("Memory per client", "KiB", &text)
}

fn heading(title: &str, unit: &str, rows: &str) -> String {
    if rows.is_empty() {
        return String::new();
    }
    format!(
        "### {title}\n\n| case | from | to | tool | {unit} |\n| --- | ---: | ---: | --- | ---: |\n{rows}\n"
    )
}

/// A row for each tool that was measured at both counts, of medians.
fn compare_counts(
    values: &Values,
    few: u32,
    many: u32,
    show: &dyn Fn(f64, f64) -> String,
) -> String {
    let mut text = String::new();
    for (case, tools) in values.iter().filter(|(case, _)| case.clients == few) {
        let Some(others) = values.get(&Case { clients: many, ..*case }) else { continue };
        for (tool, figures) in tools {
            let median = |all: &BTreeMap<u32, f64>| {
                super::statistics::spread(all.values().copied()).map(|all| all.median)
            };
            let (Some(at_few), Some(at_many)) =
                (median(figures), others.get(tool).and_then(median))
            else {
                continue;
            };
            let _ = writeln!(
                text,
                "| {} {} {} | {few} | {many} | {} | {} |",
                name(case.server),
                name(case.transport),
                name(case.protocol),
                name(*tool),
                show(at_few, at_many)
            );
        }
    }
    text
}

fn failures(runs: &[&Run]) -> String {
    let failed: Vec<&&Run> = runs.iter().filter(|run| run.error.is_some()).collect();
    if failed.is_empty() {
        return String::new();
    }
    let mut text = String::from("## Runs that failed\n\nThey count nowhere above.\n\n");
    for run in failed {
        let error = run.error.as_deref().unwrap_or_default().replace('\n', " ");
        let _ = writeln!(text, "- {}, {}: {error}", run.case.title(), name(run.tool));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::case::{Protocol, ServerKind, Transport};

    fn run(tool: Tool, phase: Phase, transactions: u64, cpu_us: u64) -> Line {
        Line::Run(Box::new(Run {
            case: Case {
                suite: Suite::Select,
                server: ServerKind::Null,
                transport: Transport::Tcp,
                protocol: Protocol::Prepared,
                clients: 16,
            },
            repetition: 0,
            tool,
            phase,
            command: Vec::new(),
            error: None,
            transactions,
            tps: None,
            connect_ms: None,
            generate_s: None,
            wall_us: 0,
            cpu_user_us: cpu_us,
            cpu_sys_us: 0,
            rss_max_kib: 1024,
        }))
    }

    /// The cost of connecting is taken off before the division.
    #[test]
    fn steady_state_is_a_difference() {
        let lines = [
            run(Tool::Floor, Phase::Connect, 16, 1000),
            run(Tool::Floor, Phase::Steady, 1016, 3000),
            run(Tool::Pgbench, Phase::Connect, 16, 5000),
            run(Tool::Pgbench, Phase::Steady, 1016, 9000),
        ];
        let text = summarise(&lines);
        assert!(text.contains("| 2.00 (2.00..2.00) | 4.00 (4.00..4.00) | 0.50"), "{text}");
    }

    /// A failed run counts in no figure and is named.
    #[test]
    fn failures_are_named() {
        let Line::Run(mut failed) = run(Tool::Pgdyno, Phase::Steady, 5, 5) else { return };
        failed.error = Some("no such\noption".to_owned());
        let text = summarise(&[Line::Run(failed)]);
        assert!(!text.contains("## Select"), "{text}");
        assert!(text.contains("pgdyno: no such option"), "{text}");
    }
}
