//! Loading a workload's tables, with a bar or with plain lines.

use std::num::NonZeroU32;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use pgdyno_engine::load::{
    self, Begun, LoadError, LoadObserver, LoadPlan, LoadReport, Phase, Progress,
};
use pgdyno_report::format;
use pgdyno_target::dialect::{Dialect, LoadMethod};
use pgdyno_workload::Workload;

use crate::failure::Failure;
use crate::opened::Opened;
use crate::table_params;
use crate::terminal::Terminal;

/// Without a terminal to draw on: one line so often, so that nobody wonders.
const LINE_EVERY: Duration = Duration::from_secs(2);

/// Loads `workload` into an open target.
pub(crate) fn fill(
    opened: &Opened,
    workload: &dyn Workload,
    jobs: NonZeroU32,
    seed: u64,
    terminal: &Terminal,
    stop: &AtomicBool,
) -> Result<LoadReport, Failure> {
    fill_anew(opened, &opened.table_params, workload, jobs, seed, terminal, stop)
}

/// As [`fill`], with other parameters of tables than those that were given.
pub(crate) fn fill_anew(
    opened: &Opened,
    params: &[(String, String)],
    workload: &dyn Workload,
    jobs: NonZeroU32,
    seed: u64,
    terminal: &Terminal,
    stop: &AtomicBool,
) -> Result<LoadReport, Failure> {
    let wanted = Wanted { jobs, seed, method: None, resume: false, can_resume: false };
    let dialect = table_params::applied(opened.dialect, workload, params)?;
    fill_as(opened, dialect, workload, wanted, terminal, stop)
}

/// How tables are to be filled.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) jobs: NonZeroU32,
    pub(crate) seed: u64,
    /// `None` leaves it to the dialect.
    pub(crate) method: Option<LoadMethod>,
    /// Go on with a load that was broken off.
    pub(crate) resume: bool,
    /// True where a person can go on with what this load leaves: the target is
    /// still there, and the command takes `--resume`.
    pub(crate) can_resume: bool,
}

/// As [`fill`], in the way that was asked for.
pub(crate) fn fill_by(
    opened: &Opened,
    workload: &dyn Workload,
    wanted: Wanted,
    terminal: &Terminal,
    stop: &AtomicBool,
) -> Result<LoadReport, Failure> {
    let dialect = table_params::applied(opened.dialect, workload, &opened.table_params)?;
    fill_as(opened, dialect, workload, wanted, terminal, stop)
}

fn fill_as(
    opened: &Opened,
    dialect: &'static dyn Dialect,
    workload: &dyn Workload,
    wanted: Wanted,
    terminal: &Terminal,
    stop: &AtomicBool,
) -> Result<LoadReport, Failure> {
    workload.check(dialect).map_err(Failure::usage)?;
    let rows: u64 = workload.tables().iter().map(|table| table.rows).sum();
    terminal.say(&format!(
        "Loading {} at scale {}: {} rows over {} …",
        workload.name(),
        format::count(workload.scale()),
        format::count(rows),
        format::counted(u64::from(wanted.jobs.get()), "connection"),
    ));
    let endpoints = opened.endpoints.as_slice();
    let Wanted { jobs, seed, method, resume, .. } = wanted;
    let plan = LoadPlan { workload, dialect, endpoints, jobs, seed, method, resume };
    let shown = Shown::new(terminal, rows, resume);
    let result = load::load(&plan, &shown, stop);
    shown.end();
    let report = result.map_err(|error| failed(&error, wanted, stop))?;
    terminal.say(&format!(
        "  {} rows in {}, {} rows/s; everything with keys and vacuum {}",
        format::count(report.rows() - report.rows_found()),
        format::duration_s(report.phase(Phase::Rows).as_secs_f64(), terminal.err.unicode),
        format::rate(report.rows_per_s()),
        format::duration_s(report.elapsed().as_secs_f64(), terminal.err.unicode),
    ));
    if !report.retries.is_empty() {
        let retries: Vec<String> = report
            .retries
            .iter()
            .map(|(sqlstate, count)| format!("{} with {sqlstate}", format::count(*count)))
            .collect();
        terminal.say(&format!("  statements refused and tried again: {}", retries.join(", ")));
    }
    Ok(report)
}

fn failed(error: &LoadError, wanted: Wanted, stop: &AtomicBool) -> Failure {
    // With one connection all may have been one transaction; then --resume
    // finds nothing, says so, and begins anew.
    let go_on = if wanted.can_resume && (wanted.jobs.get() > 1 || wanted.resume) {
        ", or go on with the same command and --resume"
    } else {
        ""
    };
    if stop.load(Ordering::Relaxed) {
        return Failure::not_completed(format!(
            "interrupted while loading; the tables are not complete\n\
             hint: load them anew before a run{go_on}",
        ));
    }
    match error {
        LoadError::OtherLoad { .. } | LoadError::NoServerRows { .. } => Failure::usage(error),
        LoadError::Statement { connection_lost: true, .. } if !go_on.is_empty() => {
            Failure::not_completed(format!("{error}\nhint: load anew{go_on}"))
        }
        _ => Failure::not_completed(error),
    }
}

/// The load's progress, where people look.
struct Shown<'a> {
    terminal: &'a Terminal,
    bar: ProgressBar,
    /// True where the person asked to go on, and wants to know what became of it.
    asked: bool,
    state: Mutex<State>,
}

struct State {
    phase: Option<Phase>,
    last_line: Instant,
}

impl<'a> Shown<'a> {
    fn new(terminal: &'a Terminal, rows: u64, asked: bool) -> Self {
        let state = Mutex::new(State { phase: None, last_line: Instant::now() });
        Self { terminal, bar: terminal.bar(rows), asked, state }
    }

    fn end(&self) {
        self.bar.finish_and_clear();
    }

    fn line(&self, progress: &Progress) {
        let unicode = self.terminal.err.unicode;
        let elapsed = progress.phase_elapsed.as_secs_f64();
        let (done, total) = (progress.rows_done(), progress.rows_total());
        let loaded = done.saturating_sub(progress.rows_found());
        let text = if progress.phase == Phase::Rows && loaded > 0 {
            let rate = loaded as f64 / elapsed.max(1e-9);
            let left_s = total.saturating_sub(done) as f64 / rate;
            format!(
                "  {}: {} of {} rows ({}), {} rows/s, {} left",
                progress.phase.doing(),
                format::count(done),
                format::count(total),
                format::share(done as f64 / total.max(1) as f64),
                format::rate(rate),
                format::duration_s(left_s, unicode),
            )
        } else {
            format!("  {} ({})", progress.phase.doing(), format::duration_s(elapsed, unicode))
        };
        self.terminal.say(&text);
    }
}

impl LoadObserver for Shown<'_> {
    fn progress(&self, progress: &Progress) {
        self.bar.set_message(progress.phase.doing());
        self.bar.set_position(progress.rows_done());
        self.bar.tick();
        let Ok(mut state) = self.state.lock() else { return };
        if state.phase != Some(progress.phase) {
            state.phase = Some(progress.phase);
            if progress.phase == Phase::Rows {
                // Rows that were found are no speed.
                self.bar.reset_elapsed();
                self.bar.reset_eta();
            }
        }
        if !self.terminal.err_is_terminal && state.last_line.elapsed() >= LINE_EVERY {
            state.last_line = Instant::now();
            self.line(progress);
        }
    }

    fn warning(&self, text: &str) {
        self.bar.suspend(|| self.terminal.warn(text));
    }

    fn other_given_up(&self, workload: &str) {
        let text = format!(
            "the load of workload {workload} that was broken off here cannot be gone on with any \
             more; those of its tables that are not made anew now stay incomplete"
        );
        self.bar.suspend(|| self.terminal.warn(&text));
    }

    fn begun(&self, begun: Begun) {
        if !self.asked {
            return;
        }
        let text = match begun {
            Begun::Anew => "  nothing to go on with: loading from the beginning".to_owned(),
            Begun::Continued { rows } => {
                format!("  going on: {} rows were loaded before", format::count(rows))
            }
        };
        self.bar.suspend(|| self.terminal.say(&text));
    }
}
