//! What pgdyno must reach: ratios with a bound, and the cases that show them.
//!
//! The list is the data: which cases `--bounds` runs follows from it, and so
//! does the table. Nothing is decided by it; a bound that is missed is a line
//! that says so, with the floor's own ratio where that says why.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::case::{Case, Suite, Tool};
use super::statistics::{Spread, spread};

mod list;

use list::bounds;

/// With `--bounds`: pairs of runs for each ratio, and seconds of each run.
pub(super) const REPETITIONS: u32 = 5;
pub(super) const SECONDS: u32 = 2;
/// Who is run: no peer that no bound speaks of.
pub(super) const TOOLS: [Tool; 6] = [
    Tool::Floor,
    Tool::Pgdyno,
    Tool::PgdynoEpoll,
    Tool::Pgbench,
    Tool::PgdynoJobs2,
    Tool::PgdynoSlack,
];

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

/// What a figure must keep.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Limit {
    AtMost(f64),
    AtLeast(f64),
    /// No bound: it is shown beside one that needs it.
    Told,
}

/// What must hold.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bound {
    figure: Figure,
    of: Side,
    /// What it is divided by; nothing where the figure itself is bounded.
    over: Option<Side>,
    limit: Limit,
}

/// Where figures come from.
pub(super) type Lookup<'a> = &'a dyn Fn(Figure, Tool, Case) -> BTreeMap<u32, f64>;

/// The cases that show all bounds, each once.
pub(super) fn cases() -> Vec<Case> {
    let sides = bounds().into_iter().flat_map(|bound| [Some(bound.of), bound.over]);
    let mut cases: Vec<Case> = sides.flatten().map(|side| side.case).collect();
    cases.sort_unstable();
    cases.dedup();
    cases
}

/// Whether a tool runs in a case, with `--bounds`. Where pollers are compared
/// nobody else does, for want of time.
pub(super) fn asks(case: &Case, tool: Tool) -> bool {
    let compares = |bound: &Bound| {
        bound.of.case == *case && bound.over.is_some_and(|over| over.tool == Tool::PgdynoEpoll)
    };
    case.suits(tool)
        && if bounds().iter().any(compares) {
            matches!(tool, Tool::Pgdyno | Tool::PgdynoEpoll)
        } else {
            tool != Tool::PgdynoEpoll
        }
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
        let measured_by = self.over?.tool;
        if self.of.tool != Tool::Pgdyno || !matches!(measured_by, Tool::Pgdyno | Tool::Pgbench) {
            return None;
        }
        self.ratio(figures, instead(self.of), self.over.map(instead))
    }

    fn keeps(&self, figure: f64) -> bool {
        match self.limit {
            Limit::AtMost(most) => figure <= most,
            Limit::AtLeast(least) => figure >= least,
            Limit::Told => true,
        }
    }

    fn row(&self, found: Spread, floor: Option<Spread>) -> String {
        let reached = match floor {
            _ if self.limit == Limit::Told => "",
            _ if self.keeps(found.median) => "yes",
            Some(floor) if !self.keeps(floor.median) => "no, nor does the floor",
            _ => "no",
        };
        let limit = match self.limit {
            Limit::AtMost(most) => format!("at most {most:.2}"),
            Limit::AtLeast(least) => format!("at least {least:.2}"),
            Limit::Told => "told only".to_owned(),
        };
        let shown =
            |Spread { median, min, max }: Spread| format!("{median:.2} ({min:.2}..{max:.2})");
        format!(
            "| {} | {} | {} | {limit} | {reached} | {} |",
            self.what(),
            self.of.case.title(),
            shown(found),
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
            Some(over) if over.tool == Tool::PgdynoEpoll => {
                format!("{figure}, poller auto / epoll: {tool} / {}", super::case::name(over.tool))
            }
            Some(over) => format!("{figure}, {tool} / {}", super::case::name(over.tool)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::list::select;
    use super::*;
    use crate::bench::case::Transport;

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
                let tools = TOOLS.iter().filter(|tool| asks(case, **tool)).count() as u32;
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

    /// Each tool of a bound can do what its case asks for, and runs in it.
    #[test]
    fn bounds_are_possible() {
        for bound in bounds() {
            for side in [Some(bound.of), bound.over].into_iter().flatten() {
                assert!(asks(&side.case, side.tool) && TOOLS.contains(&side.tool), "{bound:?}");
            }
        }
    }

    /// The pollers are bounded where driver and server share the cores; the same
    /// on cores of their own is told without a word about a bound.
    #[test]
    fn pollers_are_told() {
        let figures = |figure: Figure, tool: Tool, case: Case| {
            let us = match (figure, tool, case.clients) {
                (Figure::Cpu, Tool::Pgdyno, 64) => 9.0,
                (Figure::Cpu, Tool::PgdynoEpoll, 64) => 9.2,
                _ => return BTreeMap::new(),
            };
            BTreeMap::from([(0, us)])
        };
        let text = table(&figures);
        let what = "| CPU, poller auto / epoll: pgdyno / pgdyno-epoll |";
        for way in ["tcp", "unix"] {
            for (suite, end) in
                [("shared", "at most 0.95 | no |  |"), ("select", "told only |  |  |")]
            {
                let row = format!(
                    "{what} {suite} postgres {way} prepared 64 clients | 0.98 (0.98..0.98) | {end}"
                );
                assert!(text.lines().any(|line| line == row), "{row} in\n{text}");
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
