//! What pgdyno must reach: ratios with a bound, and the cases that show them.
//!
//! The list is the data: which cases `--bounds` runs follows from it, and so
//! does the table. Nothing is decided by it; a bound that is missed is a line
//! that says so, with the floor's own ratio where that says why.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::case::{Case, Protocol, ServerKind, Suite, Tool, Transport};
use super::statistics::{Spread, spread};

/// With `--bounds`: pairs of runs for each ratio, and seconds of each run.
pub(super) const REPETITIONS: u32 = 5;
pub(super) const SECONDS: u32 = 2;
/// Who is run: no peer that no bound speaks of.
pub(super) const TOOLS: [Tool; 5] =
    [Tool::Floor, Tool::Pgdyno, Tool::Pgbench, Tool::PgdynoJobs2, Tool::PgdynoSlack];

/// A figure of the two runs of a tool in a repetition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Figure {
    /// Client CPU per transaction, or per row.
    Cpu,
    /// Transactions a second.
    Tps,
    /// Client CPU of connecting.
    ConnectCpu,
    /// Time until all clients are connected.
    ConnectTime,
    /// Time of filling the tables.
    FillTime,
    /// Peak memory of the process for each client, in KiB.
    Memory,
}

/// A tool in a case.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Side {
    tool: Tool,
    case: Case,
}

/// What must hold.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bound {
    figure: Figure,
    of: Side,
    /// What it is divided by; nothing where the figure itself is bounded.
    over: Option<Side>,
    limit: f64,
    /// The limit is the least; else the most.
    at_least: bool,
}

/// Where figures come from.
pub(super) type Lookup<'a> = &'a dyn Fn(Figure, Tool, Case) -> BTreeMap<u32, f64>;

/// The bounds, in the order of the table.
fn bounds() -> Vec<Bound> {
    let mut all = Vec::new();
    request_path(&mut all);
    growth_and_memory(&mut all);
    rate(&mut all);
    real_server(&mut all);
    connecting(&mut all);
    loading(&mut all);
    all
}

const fn case(
    suite: Suite,
    server: ServerKind,
    transport: Transport,
    protocol: Protocol,
    clients: u32,
) -> Case {
    Case { suite, server, transport, protocol, clients }
}

const fn select(transport: Transport, clients: u32) -> Case {
    case(Suite::Select, ServerKind::Null, transport, Protocol::Prepared, clients)
}

/// At most `limit` times the other tool in the same case.
const fn against(figure: Figure, tool: Tool, other: Tool, case: Case, limit: f64) -> Bound {
    let (of, over) = (Side { tool, case }, Some(Side { tool: other, case }));
    Bound { figure, of, over, limit, at_least: false }
}

/// At most `limit` times pgdyno's own with fewer clients.
const fn grown(figure: Figure, many: Case, few: u32, limit: f64) -> Bound {
    let of = Side { tool: Tool::Pgdyno, case: many };
    let over = Some(Side { tool: Tool::Pgdyno, case: Case { clients: few, ..many } });
    Bound { figure, of, over, limit, at_least: false }
}

/// By transport: of the floor at every count; of pgbench by count.
type PathBounds = (Transport, f64, [(u32, f64); 4]);
const REQUEST_PATH: [PathBounds; 2] = [
    (Transport::Tcp, 1.08, [(16, 0.92), (64, 0.92), (256, 0.80), (1000, 0.80)]),
    (Transport::Unix, 1.15, [(16, 0.85), (64, 0.70), (256, 0.70), (1000, 0.55)]),
];
const CLIENTS_MOST: u32 = 4000;

fn request_path(all: &mut Vec<Bound>) {
    for (transport, of_floor, of_pgbench) in REQUEST_PATH {
        let counts = of_pgbench.iter().map(|(clients, _)| *clients).chain([CLIENTS_MOST]);
        all.extend(counts.map(|clients| {
            let case = select(transport, clients);
            against(Figure::Cpu, Tool::Pgdyno, Tool::Floor, case, of_floor)
        }));
        all.extend(of_pgbench.map(|(clients, limit)| {
            let case = select(transport, clients);
            against(Figure::Cpu, Tool::Pgdyno, Tool::Pgbench, case, limit)
        }));
    }
}

/// KiB of memory for each of 4,000 clients.
const MEMORY_KIB: f64 = 12.0;

fn growth_and_memory(all: &mut Vec<Bound>) {
    for transport in [Transport::Tcp, Transport::Unix] {
        all.push(grown(Figure::Cpu, select(transport, 1000), 64, 1.1));
    }
    for transport in [Transport::Tcp, Transport::Unix] {
        let of = Side { tool: Tool::Pgdyno, case: select(transport, CLIENTS_MOST) };
        let (figure, limit) = (Figure::Memory, MEMORY_KIB);
        all.push(Bound { figure, of, over: None, limit, at_least: false });
    }
}

fn rate(all: &mut Vec<Bound>) {
    let many = case(Suite::Rate, ServerKind::Null, Transport::Tcp, Protocol::Prepared, 1000);
    all.push(against(Figure::Cpu, Tool::Pgdyno, Tool::Pgbench, many, 0.2));
    all.push(against(Figure::Cpu, Tool::PgdynoSlack, Tool::Pgbench, many, 0.2));
    all.push(grown(Figure::Cpu, many, 64, 1.5));
}

fn real_server(all: &mut Vec<Bound>) {
    for (transport, limit) in [(Transport::Unix, 0.75), (Transport::Tcp, 0.88)] {
        for protocol in [Protocol::Simple, Protocol::Prepared] {
            let case = case(Suite::Tpcb, ServerKind::Postgres, transport, protocol, 16);
            all.push(against(Figure::Cpu, Tool::Pgdyno, Tool::Pgbench, case, limit));
        }
    }
    for transport in [Transport::Tcp, Transport::Unix] {
        let case = case(Suite::Shared, ServerKind::Postgres, transport, Protocol::Prepared, 16);
        let bound = against(Figure::Tps, Tool::Pgdyno, Tool::Pgbench, case, 1.0);
        all.push(Bound { at_least: true, ..bound });
    }
}

fn connecting(all: &mut Vec<Bound>) {
    for (transport, cpu, time) in [(Transport::Tcp, 0.25, 0.6), (Transport::Tls, 0.33, 0.6)] {
        let postgres = ServerKind::Postgres;
        let case = case(Suite::Connect, postgres, transport, Protocol::Prepared, 1000);
        all.push(against(Figure::ConnectCpu, Tool::Pgdyno, Tool::Pgbench, case, cpu));
        all.push(against(Figure::ConnectTime, Tool::Pgdyno, Tool::Pgbench, case, time));
    }
}

fn loading(all: &mut Vec<Bound>) {
    let load = case(Suite::Load, ServerKind::Postgres, Transport::Unix, Protocol::Prepared, 1);
    all.push(against(Figure::Cpu, Tool::Pgdyno, Tool::Pgbench, load, 0.25));
    all.push(against(Figure::FillTime, Tool::Pgdyno, Tool::Pgbench, load, 0.7));
    all.push(against(Figure::FillTime, Tool::PgdynoJobs2, Tool::Pgbench, load, 0.45));
}

/// The cases that show all bounds, each once.
pub(super) fn cases() -> Vec<Case> {
    let sides = bounds().into_iter().flat_map(|bound| [Some(bound.of), bound.over]);
    let mut cases: Vec<Case> = sides.flatten().map(|side| side.case).collect();
    cases.sort_unstable();
    cases.dedup();
    cases
}

/// The table of those bounds that the figures speak of; empty without any.
pub(super) fn table(figures: Lookup<'_>) -> String {
    let mut rows = String::new();
    for bound in bounds() {
        let Some(found) = bound.found(figures) else { continue };
        let _ = writeln!(rows, "{}", bound.row(found, bound.floor(figures)));
    }
    if rows.is_empty() {
        return rows;
    }
    format!(
        "## Bounds\n\nThe floor beside a bound of pgbench is what the minimal client itself reaches \
         of it.\n\n| what | case | found | bound | reached | floor |\n\
         | --- | --- | ---: | ---: | --- | ---: |\n{rows}\n"
    )
}

impl Bound {
    fn ratio(&self, figures: Lookup<'_>, of: Side, over: Option<Side>) -> Option<Spread> {
        let above = figures(self.figure, of.tool, of.case);
        let Some(over) = over else { return spread(above.into_values()) };
        let below = figures(self.figure, over.tool, over.case);
        spread(above.iter().filter_map(|(repetition, value)| Some(value / below.get(repetition)?)))
    }

    fn found(&self, figures: Lookup<'_>) -> Option<Spread> {
        self.ratio(figures, self.of, self.over)
    }

    /// The floor in pgdyno's place, where it is not what pgdyno is measured by.
    fn floor(&self, figures: Lookup<'_>) -> Option<Spread> {
        let instead = |side: Side| match side.tool {
            Tool::Pgdyno => Side { tool: Tool::Floor, ..side },
            _ => side,
        };
        if self.of.tool != Tool::Pgdyno || self.over?.tool == Tool::Floor {
            return None;
        }
        self.ratio(figures, instead(self.of), self.over.map(instead))
    }

    fn keeps(&self, figure: f64) -> bool {
        if self.at_least { figure >= self.limit } else { figure <= self.limit }
    }

    fn row(&self, found: Spread, floor: Option<Spread>) -> String {
        let reached = match floor {
            _ if self.keeps(found.median) => "yes",
            Some(floor) if !self.keeps(floor.median) => "no, nor does the floor",
            _ => "no",
        };
        let word = if self.at_least { "at least" } else { "at most" };
        let shown =
            |Spread { median, min, max }: Spread| format!("{median:.2} ({min:.2}..{max:.2})");
        format!(
            "| {} | {} | {} | {word} {:.2} | {reached} | {} |",
            self.what(),
            self.of.case.title(),
            shown(found),
            self.limit,
            floor.map(shown).unwrap_or_default()
        )
    }

    fn what(&self) -> String {
        let figure = match self.figure {
            Figure::Cpu if self.of.case.suite == Suite::Load => "CPU per row",
            Figure::Cpu => "CPU",
            Figure::Tps => "TPS",
            Figure::ConnectCpu => "CPU of connecting",
            Figure::ConnectTime => "time to connect",
            Figure::FillTime => "time of filling",
            Figure::Memory => "KiB for each client",
        };
        let tool = super::case::name(self.of.tool);
        match self.over {
            None => format!("{figure}, {tool}"),
            Some(over) if over.case != self.of.case => {
                format!("{figure}, {tool} / the same at {}", over.case.clients)
            }
            Some(over) => format!("{figure}, {tool} / {}", super::case::name(over.tool)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What one run takes beside its steady seconds: starting and connecting
    /// twice; loading as long as it does.
    const OVERHEAD_S: u32 = 1;
    const CONNECT_S: u32 = 3;
    const LOAD_S: u32 = 7;

    /// The cases cover every count of clients that a bound names, and fit into
    /// twenty minutes with at least three pairs of runs for each ratio.
    #[test]
    fn covers_all_within_time() {
        let cases = cases();
        for transport in [Transport::Tcp, Transport::Unix] {
            for clients in [16, 64, 256, 1000, 4000] {
                assert!(cases.contains(&select(transport, clients)), "{transport:?} {clients}");
            }
        }
        for suite in [Suite::Rate, Suite::Tpcb, Suite::Connect, Suite::Shared, Suite::Load] {
            assert!(cases.iter().any(|case| case.suite == suite), "{suite:?}");
        }
        const { assert!(REPETITIONS >= 3) };
        let seconds: u32 = cases
            .iter()
            .map(|case| {
                let tools = TOOLS.iter().filter(|tool| case.suits(**tool)).count() as u32;
                let run = match case.suite {
                    Suite::Connect => CONNECT_S,
                    Suite::Load => LOAD_S,
                    _ => SECONDS + OVERHEAD_S,
                };
                tools * run * REPETITIONS
            })
            .sum();
        assert!(seconds <= 20 * 60, "{seconds} s");
    }

    /// Each tool of a bound can do what its case asks for.
    #[test]
    fn bounds_are_possible() {
        for bound in bounds() {
            for side in [Some(bound.of), bound.over].into_iter().flatten() {
                assert!(side.case.suits(side.tool) && TOOLS.contains(&side.tool), "{bound:?}");
            }
        }
    }

    /// A bound that is missed says so, and whether the floor misses it as well;
    /// ratios are made within a repetition.
    #[test]
    fn rows_tell() {
        let figures = |figure: Figure, tool: Tool, case: Case| {
            let us = match (figure, tool) {
                (Figure::Cpu, Tool::Pgdyno) => 2.0,
                (Figure::Cpu, Tool::Floor) => 1.9,
                (Figure::Cpu, Tool::Pgbench) if case.clients == 16 => 2.5,
                (Figure::Cpu, Tool::Pgbench) => 2.0,
                _ => return BTreeMap::new(),
            };
            if case.suite != Suite::Select || case.transport != Transport::Tcp {
                return BTreeMap::new();
            }
            BTreeMap::from([(0, us), (1, us * 3.0)])
        };
        let text = table(&figures);
        let row = |what: &str, clients: u32| {
            let end = format!("{clients} clients");
            let found = text.lines().find(|line| line.contains(what) && line.contains(&end));
            found.unwrap_or_default().to_owned()
        };
        let good = row("pgdyno / pgbench", 16);
        assert!(good.contains("0.80 (0.80..0.80) | at most 0.92 | yes | 0.76"), "{text}");
        assert!(row("pgdyno / pgbench", 1000).contains("| no, nor does the floor |"), "{text}");
        assert!(row("pgdyno / floor", 256).contains("1.05 (1.05..1.05) | at most 1.08 | yes |  |"));
        assert!(!text.contains("unix"), "{text}");
    }
}
