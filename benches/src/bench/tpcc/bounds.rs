//! What pgdyno is to keep against its peers. A peer's figure is the one of
//! this session or none.

use std::fmt::Write;

use super::contender::Contender;
use super::figures::{All, Series, ratio, show, shown};
use crate::bench::statistics::Spread;

/// pgbench's select-only transaction, prepared, 16 clients over TCP on a real
/// server, us of CPU, on the machine where [`Bound::recorded_us`] was measured.
const RECORDED_PGBENCH_US: f64 = 5.6;

/// A ratio of figures that has a limit.
struct Bound {
    who: Contender,
    peer: Contender,
    title: &'static str,
    figure: Figure,
    limit: Limit,
    /// The peer's CPU for a transaction on another machine.
    recorded_us: Option<f64>,
}

enum Figure {
    CpuPerTransaction,
    LoadRowsPerSecond,
}

enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

const BOUNDS: [Bound; 4] = [
    Bound {
        who: Contender::PgdynoSql,
        peer: Contender::GoTpc,
        title: "CPU for a transaction, us",
        figure: Figure::CpuPerTransaction,
        limit: Limit::AtMost(1.0 / 3.0),
        recorded_us: Some(280.0),
    },
    Bound {
        who: Contender::PgdynoSql,
        peer: Contender::Benchbase,
        title: "CPU for a transaction, us",
        figure: Figure::CpuPerTransaction,
        limit: Limit::AtMost(1.0 / 6.0),
        recorded_us: Some(581.0),
    },
    Bound {
        who: Contender::PgdynoProcs,
        peer: Contender::Hammerdb,
        title: "CPU for a call, us",
        figure: Figure::CpuPerTransaction,
        limit: Limit::AtMost(0.25),
        recorded_us: Some(80.0),
    },
    Bound {
        who: Contender::PgdynoSql,
        peer: Contender::GoTpc,
        title: "load, rows/s",
        figure: Figure::LoadRowsPerSecond,
        limit: Limit::AtLeast(2.0),
        recorded_us: None,
    },
];

/// The table of bounds, and the one against recorded figures.
pub(super) fn render(all: &All) -> String {
    let mut text = String::from(
        "### Bounds against the peers\n\n| what | pgdyno | peer | peer's figure | ratio | allowed | \
         |\n| --- | ---: | --- | ---: | ---: | ---: | --- |\n",
    );
    for bound in &BOUNDS {
        let own = bound.of(all, bound.who);
        let peer = bound.of(all, bound.peer);
        let ratio = own.zip(peer).and_then(|(own, peer)| ratio(own, peer));
        let allowed = match bound.limit {
            Limit::AtMost(limit) => format!("at most {limit:.2}"),
            Limit::AtLeast(limit) => format!("at least {limit:.2}"),
        };
        let _ = writeln!(
            text,
            "| {}, {} | {} | {} | {} | {} | {allowed} | {} |",
            bound.who.title(),
            bound.title,
            own.map_or(String::new(), |own| show(own, 1)),
            bound.peer.title(),
            peer.map_or("not installed".to_owned(), |peer| show(peer, 1)),
            ratio.map_or(String::new(), |ratio| shown(ratio, 2)),
            ratio.map_or("", |ratio| bound.limit.verdict(ratio))
        );
    }
    text.push('\n');
    text + &recorded(all)
}

/// With the yardstick, figures of another machine say something here.
fn recorded(all: &All) -> String {
    let Some(yardstick) = all.get(&Contender::Pgbench).map(|of| &of.cpu_us_per_transaction) else {
        return String::new();
    };
    let mut text = format!(
        "The same against figures of another machine, where a select-only transaction of pgbench \
         took\n{RECORDED_PGBENCH_US} us. Each machine's figures are divided by its own; a guide \
         where a peer is not installed, no measurement.\n\n| what | pgdyno here, in select-only \
         transactions | peer there, us | peer there, in select-only transactions | ratio | allowed \
         | |\n| --- | ---: | --- | ---: | ---: | ---: | --- |\n"
    );
    for bound in &BOUNDS {
        let Some(recorded_us) = bound.recorded_us else { continue };
        let Some(own) = bound.of(all, bound.who).and_then(|own| ratio(own, yardstick)) else {
            continue;
        };
        let peer = recorded_us / RECORDED_PGBENCH_US;
        let Spread { median, min, max } = own;
        let ratio = Spread { median: median / peer, min: min / peer, max: max / peer };
        let Limit::AtMost(limit) = bound.limit else { continue };
        let _ = writeln!(
            text,
            "| {}, {} | {} | {} {recorded_us} | {peer:.1} | {} | at most {limit:.2} | {} |",
            bound.who.title(),
            bound.title,
            shown(own, 1),
            bound.peer.title(),
            shown(ratio, 2),
            bound.limit.verdict(ratio)
        );
    }
    text.push('\n');
    text
}

impl Bound {
    fn of<'a>(&self, all: &'a All, contender: Contender) -> Option<&'a Series> {
        let of = all.get(&contender)?;
        let series = match self.figure {
            Figure::CpuPerTransaction => &of.cpu_us_per_transaction,
            Figure::LoadRowsPerSecond => &of.load_rows_per_s,
        };
        Some(series).filter(|series| !series.is_empty())
    }
}

impl Limit {
    /// By the median, as all that is shown first.
    fn verdict(&self, ratio: Spread) -> &'static str {
        let is_kept = match self {
            Self::AtMost(limit) => ratio.median <= *limit,
            Self::AtLeast(limit) => ratio.median >= *limit,
        };
        if is_kept { "kept" } else { "not kept" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::tpcc::figures::Figures;

    fn all(figures: &[(Contender, f64, f64)]) -> All {
        let of = |cpu: f64, rows: f64| Figures {
            cpu_us_per_transaction: Series::from([(0, cpu)]),
            load_rows_per_s: Series::from([(0, rows)]),
            ..Figures::default()
        };
        figures.iter().map(|(who, cpu, rows)| (*who, of(*cpu, *rows))).collect()
    }

    /// A bound is kept or not by the measured peer; one that is not there has
    /// no figure and no verdict.
    #[test]
    fn bounds_are_judged_by_what_was_measured() {
        let here = all(&[(Contender::PgdynoSql, 90.0, 300.0), (Contender::GoTpc, 280.0, 151.0)]);
        let text = render(&here);
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| pgdyno")).collect();
        assert!(rows[0].contains("| 0.32 (0.32..0.32) | at most 0.33 | kept |"), "{text}");
        assert!(rows[1].contains("| BenchBase | not installed |  | at most 0.17 |  |"), "{text}");
        assert!(rows[3].contains("| at least 2.00 | not kept |"), "{text}");
        assert!(!text.contains("another machine"), "{text}");
    }

    /// Recorded figures stand apart and are scaled by the yardstick.
    #[test]
    fn recorded_figures_are_scaled() {
        let here = all(&[(Contender::PgdynoSql, 200.0, 1.0), (Contender::Pgbench, 11.2, 1.0)]);
        let text = render(&here);
        // 200 / 11.2 = 17.9 there; go-tpc 280 / 5.6 = 50.0.
        assert!(text.contains("| 17.9 (17.9..17.9) | go-tpc 280 | 50.0 | 0.36 "), "{text}");
        assert!(text.contains("| not kept |"), "{text}");
    }
}
