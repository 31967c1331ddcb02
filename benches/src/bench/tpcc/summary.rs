//! What the runs of the suite say: the table of contenders and the table of
//! bounds.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::bounds;
use super::contender::{Contender, Stage};
use super::figures::{All, Figures, Series, ratio, show, shown};
use super::result::TpccRun;
use super::{CLIENTS, LOAD_CONNECTIONS, WAREHOUSES};

/// The runs of a contender in one repetition.
#[derive(Debug, Default)]
struct Runs<'a> {
    load: Option<&'a TpccRun>,
    short: Option<&'a TpccRun>,
    steady: Option<&'a TpccRun>,
}

/// The section of the summary; empty where the suite has not run.
pub(in crate::bench) fn summarise(runs: &[&TpccRun]) -> String {
    if runs.is_empty() {
        return String::new();
    }
    let all = figures(runs);
    let mut text = format!(
        "## TPC-C-derived\n\n{CLIENTS} clients, {WAREHOUSES} warehouses, loopback TCP, each tool \
         with tables of its own, loaded by itself over\n{LOAD_CONNECTIONS} connections in every \
         repetition. CPU is that of the tool's processes; what starting and connecting\ncosts is \
         taken off (not of HammerDB). The mixes differ: see docs/tpcc.md.\n\n"
    );
    text += &contenders(&all);
    text += &bounds::render(&all);
    for (contender, figures) in &all {
        if let Some(version) = &figures.version {
            let _ = writeln!(text, "- {}: {version}", contender.title());
        }
    }
    text += "\n";
    text + &failures(runs)
}

fn figures(runs: &[&TpccRun]) -> All {
    let mut grouped: BTreeMap<(Contender, u32), Runs<'_>> = BTreeMap::new();
    let mut all = All::new();
    for run in runs.iter().filter(|run| run.error.is_none()) {
        let group = grouped.entry((run.contender, run.repetition)).or_default();
        match run.stage {
            Stage::Load => group.load = Some(run),
            Stage::Short => group.short = Some(run),
            Stage::Steady => group.steady = Some(run),
        }
        if let Some(version) = &run.version {
            all.entry(run.contender).or_default().version = Some(version.clone());
        }
    }
    for ((contender, repetition), runs) in grouped {
        let of = all.entry(contender).or_default();
        let mut put = |series: fn(&mut Figures) -> &mut Series, value: Option<f64>| {
            if let Some(value) = value {
                series(of).insert(repetition, value);
            }
        };
        put(|of| &mut of.cpu_us_per_transaction, runs.cpu_us(|run| run.transactions));
        put(|of| &mut of.cpu_us_per_order, runs.cpu_us(|run| run.new_orders));
        put(|of| &mut of.nopm, runs.steady.and_then(|run| run.nopm));
        let rows =
            runs.load.and_then(|load| Some((load, load.rows.filter(|rows| *rows > 0)? as f64)));
        put(|of| &mut of.load_s, runs.load.map(|load| load.wall_us as f64 / 1e6));
        put(
            |of| &mut of.load_rows_per_s,
            rows.map(|(load, rows)| rows * 1e6 / load.wall_us as f64),
        );
        put(|of| &mut of.load_cpu_us_per_row, rows.map(|(load, rows)| load.cpu_us() as f64 / rows));
    }
    all
}

impl Runs<'_> {
    /// CPU of the steady run for one of what is counted; what the short run
    /// used and did is taken off.
    fn cpu_us(&self, count: fn(&TpccRun) -> Option<u64>) -> Option<f64> {
        let steady = self.steady?;
        let (cpu, done) = match self.short {
            Some(short) => (short.cpu_us(), count(short)?),
            None => (0, 0),
        };
        let done = count(steady)?.checked_sub(done).filter(|done| *done > 0)?;
        Some((steady.cpu_us() as f64 - cpu as f64) / done as f64)
    }
}

fn contenders(all: &All) -> String {
    let mut text = String::from(
        "| | CPU for a transaction, us | in select-only transactions | CPU for a new order, us | \
         NOPM | load, rows/s | load, s | load, CPU us for a row |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for contender in std::iter::once(Contender::Pgbench).chain(Contender::WITH_TABLES) {
        let _ = write!(text, "| {} |", contender.title());
        let Some(of) = all.get(&contender) else {
            text += " not installed | | | | | | |\n";
            continue;
        };
        let _ = write!(text, " {} |", show(&of.cpu_us_per_transaction, 1));
        let yardstick = all.get(&Contender::Pgbench).map(|of| &of.cpu_us_per_transaction);
        let scaled = yardstick.and_then(|under| ratio(&of.cpu_us_per_transaction, under));
        let _ = write!(text, " {} |", scaled.map_or(String::new(), |scaled| shown(scaled, 1)));
        for (series, digits) in [
            (&of.cpu_us_per_order, 1),
            (&of.nopm, 0),
            (&of.load_rows_per_s, 0),
            (&of.load_s, 1),
            (&of.load_cpu_us_per_row, 2),
        ] {
            let _ = write!(text, " {} |", show(series, digits));
        }
        text.push('\n');
    }
    text.push('\n');
    text
}

fn failures(runs: &[&TpccRun]) -> String {
    let mut text = String::new();
    for run in runs {
        if let Some(error) = &run.error {
            let error = error.replace('\n', " ");
            let _ = writeln!(text, "- {}, {:?}: {error}", run.contender.title(), run.stage);
        }
    }
    if text.is_empty() {
        return text;
    }
    format!("### Runs of this suite that failed\n\nThey count nowhere above.\n\n{text}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn run(contender: Contender, stage: Stage, count: u64, cpu_us: u64) -> TpccRun {
        TpccRun {
            contender,
            stage,
            repetition: 0,
            command: Vec::new(),
            error: None,
            version: None,
            rows: (stage == Stage::Load).then_some(count),
            transactions: Some(count),
            new_orders: Some(count / 2),
            nopm: None,
            wall_us: 1_000_000,
            cpu_user_us: cpu_us,
            cpu_sys_us: 0,
            rss_max_kib: 0,
        }
    }

    /// Starting and connecting are taken off; a load's rate is that of its
    /// whole time; who is not there has no figure.
    #[test]
    fn figures_are_differences() {
        let runs = [
            run(Contender::PgdynoSql, Stage::Load, 500, 1000),
            run(Contender::PgdynoSql, Stage::Short, 16, 1000),
            run(Contender::PgdynoSql, Stage::Steady, 116, 9000),
            run(Contender::Pgbench, Stage::Steady, 100, 1000),
        ];
        let text = summarise(&runs.iter().collect::<Vec<_>>());
        let row = text.lines().find(|line| line.starts_with("| pgdyno, SQL")).unwrap();
        assert!(row.contains("| 80.0 (80.0..80.0) | 8.0 (8.0..8.0) | 160.0 "), "{row}");
        assert!(row.contains("| 500 (500..500) |"), "{row}");
        assert!(text.contains("| go-tpc | not installed |"), "{text}");
    }

    /// A failed run has no figure and is named.
    #[test]
    fn failures_are_named() {
        let mut failed = run(Contender::GoTpc, Stage::Steady, 100, 1000);
        failed.error = Some("no\nserver".to_owned());
        let text = summarise(&[&failed]);
        assert!(text.contains("- go-tpc, Steady: no server"), "{text}");
        assert!(text.contains("| go-tpc | not installed |"), "{text}");
    }
}
