//! The audits around a run: what the tables hold before it and after it.
//!
//! The rules are the workload's; here is when they are read, and what is said.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use pgdyno_engine::outcome::RunOutcome;
use pgdyno_report::format;
use pgdyno_workload::{Commits, Figures, Finding, Reset, Verdict, Workload, audit};

use crate::cli::{ResetWhen, RunArgs};
use crate::failure::Failure;
use crate::opened::Opened;
use crate::terminal::Terminal;
use crate::{assemble, filling};

/// Said before tables are read whole, which takes its time on large ones.
const READING: &str = "Reading the tables for the audits …";

/// The name of what is found where the tables could not be read after a run.
const AFTER_RUN: &str = "the tables after the run";

/// What the audits start from.
pub(crate) struct Base {
    figures: Figures,
    /// What was wrong before the run.
    findings: Vec<Finding>,
}

/// Brings the tables back where that was asked for, and reads what the audits
/// start from.
pub(crate) fn read_base(
    args: &RunArgs,
    opened: &Opened,
    workload: Option<&dyn Workload>,
    terminal: &Terminal,
    stop: &Arc<AtomicBool>,
) -> Result<Option<Base>, Failure> {
    let Some(workload) = workload else { return Ok(None) };
    if args.reset == ResetWhen::Always {
        reset(workload, opened, terminal, stop)?;
    }
    if args.no_audit {
        return Ok(None);
    }
    terminal.say(READING);
    let mut base = figures(workload, opened, stop)?;
    let mut findings = workload.judge_base(&base);
    let is_clean = |findings: &[Finding]| findings.iter().all(|f| f.verdict == Verdict::Pass);
    if args.reset == ResetWhen::Auto && !is_clean(&findings) {
        reset(workload, opened, terminal, stop)?;
        base = figures(workload, opened, stop)?;
        findings = workload.judge_base(&base);
    }
    for finding in findings.iter().filter(|finding| finding.verdict != Verdict::Pass) {
        terminal.warn(&format!("{}: {}", finding.name, finding.text));
        if let Some(hint) = &finding.hint {
            terminal.say(&format!("hint: {hint}"));
        }
    }
    findings.retain(|finding| finding.verdict != Verdict::Pass);
    Ok(Some(Base { figures: base, findings }))
}

fn figures(
    workload: &dyn Workload,
    opened: &Opened,
    stop: &Arc<AtomicBool>,
) -> Result<Figures, Failure> {
    audit::read(&mut opened.connect(stop)?, workload, opened.dialect)
        .map_err(Failure::not_completed)
}

fn reset(
    workload: &dyn Workload,
    opened: &Opened,
    terminal: &Terminal,
    stop: &Arc<AtomicBool>,
) -> Result<(), Failure> {
    terminal.say("Bringing the tables back to their initial state …");
    let begin = std::time::Instant::now();
    let done = workload
        .reset(&mut opened.connect(stop)?, opened.dialect)
        .map_err(Failure::not_completed)?;
    match done {
        Reset::Done { rows } => {
            let took = format::duration_s(begin.elapsed().as_secs_f64(), terminal.err.unicode);
            terminal.say(&format!("  {} put back in {took}", format::counted(rows, "row")));
        }
        Reset::Reload { reason } => {
            terminal.say(&format!("  loading anew: {reason}"));
            let jobs = NonZeroU32::new(assemble::cores().min(4)).unwrap_or(NonZeroU32::MIN);
            filling::fill(opened, workload, jobs, 0, terminal, stop)?;
        }
    }
    Ok(())
}

/// The findings of a run whose tables are not read yet: what its record says
/// if the reading is cut short.
pub(crate) fn not_finished(base: &Base) -> Vec<Finding> {
    let text = "the reading of the tables was not finished".to_owned();
    let mut findings = base.findings.clone();
    findings.push(Finding::new(AFTER_RUN, Verdict::Note, text, Vec::new()));
    findings
}

/// Reads the tables again and judges. That they cannot be read is a finding.
pub(crate) fn after_run(
    opened: &Opened,
    workload: &dyn Workload,
    base: Base,
    outcome: &RunOutcome,
    terminal: &Terminal,
) -> Vec<Finding> {
    terminal.say(READING);
    let Base { figures: base, mut findings } = base;
    let acknowledged = &outcome.acknowledged;
    let commits: Vec<Commits> = acknowledged
        .committed
        .iter()
        .zip(&acknowledged.unknown)
        .map(|(committed, unknown)| Commits { committed: *committed, unknown: *unknown })
        .collect();
    // A flag of its own: a run that was interrupted is audited all the same.
    let never = Arc::new(AtomicBool::new(false));
    let judged = opened.connect_again(terminal, &never).map_err(|e| e.to_string()).and_then(
        |mut session| {
            audit::after_run(&mut session, workload, opened.dialect, &base, &commits)
                .map_err(|error| error.to_string())
        },
    );
    match judged {
        Ok(more) => findings.extend(more),
        Err(why) => findings.push(Finding::new(
            AFTER_RUN,
            Verdict::Note,
            format!("could not be read: {}", why.lines().next().unwrap_or_default()),
            Vec::new(),
        )),
    }
    findings
}
