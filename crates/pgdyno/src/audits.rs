//! The audits around a run: what the tables hold before it and after it.
//!
//! The rules are the workload's; here is when they are read, and what is said.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use pgdyno_engine::outcome::RunOutcome;
use pgdyno_record::tally::ScriptTally;
use pgdyno_record::{ResetHow, ResetRecord};
use pgdyno_report::format;
use pgdyno_workload::{
    AccessError, Commits, Condition, Figures, Finding, Reset, Session, Told, Verdict, Workload,
    audit,
};

use crate::cli::{AuditWhat, ResetWhen, RunArgs};
use crate::failure::Failure;
use crate::opened::Opened;
use crate::terminal::Terminal;
use crate::{assemble, filling, table_params};

/// Said before tables are read whole, which takes its time on large ones.
const READING: &str = "Reading the tables for the audits …";

/// The name of what is found where the tables could not be read after a run.
const AFTER_RUN: &str = "the tables after the run";

/// What was done before a run.
pub(crate) struct Before {
    /// What the audits start from; none where there are none.
    pub(crate) base: Option<Base>,
    /// Bringing the tables back, where that was asked for.
    pub(crate) reset: Option<ResetRecord>,
}

/// What the audits start from.
pub(crate) struct Base {
    figures: Figures,
    conditions: Vec<(Condition, i128)>,
    /// All conditions are asked, also those that take their time.
    is_full: bool,
    /// What was wrong before the run.
    findings: Vec<Finding>,
}

/// Brings the tables back where that was asked for, and reads what the audits
/// start from.
pub(crate) fn before_run(
    args: &RunArgs,
    opened: &Opened,
    workload: Option<&dyn Workload>,
    terminal: &Terminal,
    stop: &Arc<AtomicBool>,
) -> Result<Before, Failure> {
    let Some(workload) = workload else { return Ok(Before { base: None, reset: None }) };
    let begin = Instant::now();
    let is_audited = args.audit() != AuditWhat::Off;
    let mut reset = None;
    if args.reset == ResetWhen::Always {
        reset = Some(put_back(workload, opened, terminal, stop, begin)?);
    }
    if !is_audited && args.reset != ResetWhen::Auto {
        return Ok(Before { base: None, reset });
    }
    terminal.say(READING);
    let mut base = read(args, opened, workload, stop)?;
    if args.reset == ResetWhen::Auto {
        reset = Some(if base.findings.is_empty() {
            unneeded(begin)
        } else {
            let done = put_back(workload, opened, terminal, stop, begin)?;
            base = read(args, opened, workload, stop)?;
            done
        });
    }
    for finding in &base.findings {
        terminal.warn(&format!("{}: {}", finding.name, finding.text));
        if let Some(hint) = &finding.hint {
            terminal.say(&format!("hint: {hint}"));
        }
    }
    Ok(Before { base: is_audited.then_some(base), reset })
}

fn unneeded(begin: Instant) -> ResetRecord {
    let reason = "the tables were clean".to_owned();
    ResetRecord {
        how: ResetHow::NotNeeded,
        rows: 0,
        seconds: begin.elapsed().as_secs_f64(),
        reason,
    }
}

fn read(
    args: &RunArgs,
    opened: &Opened,
    workload: &dyn Workload,
    stop: &Arc<AtomicBool>,
) -> Result<Base, Failure> {
    let is_full = args.audit() == AuditWhat::Full;
    let AtRest { figures, conditions, mut findings } =
        at_rest(&mut opened.connect(stop)?, opened, workload, is_full)
            .map_err(Failure::not_completed)?;
    findings.retain(|finding| finding.verdict != Verdict::Pass);
    for finding in &mut findings {
        // No run has been yet that could have failed.
        finding.verdict = Verdict::Note;
    }
    Ok(Base { figures, conditions, is_full, findings })
}

/// What tables hold that nobody is using, and what is to be said of them.
pub(crate) struct AtRest {
    figures: Figures,
    conditions: Vec<(Condition, i128)>,
    pub(crate) findings: Vec<Finding>,
}

/// Reads tables that nobody is using.
pub(crate) fn at_rest(
    session: &mut dyn Session,
    opened: &Opened,
    workload: &dyn Workload,
    is_full: bool,
) -> Result<AtRest, AccessError> {
    let figures = audit::read(session, workload, opened.dialect)?;
    let conditions = audit::read_conditions(session, workload, opened.dialect, is_full)?;
    let mut findings = workload.judge_base(&figures);
    findings.extend(audit::judge_conditions(&conditions, &[]));
    Ok(AtRest { figures, conditions, findings })
}

fn put_back(
    workload: &dyn Workload,
    opened: &Opened,
    terminal: &Terminal,
    stop: &Arc<AtomicBool>,
    begin: Instant,
) -> Result<ResetRecord, Failure> {
    terminal.say("Bringing the tables back to their initial state …");
    let mut session = opened.connect(stop)?;
    // Asked before anything is dropped; rows of most workloads know no seed.
    let seed = workload.seed_loaded(&mut session).unwrap_or(0);
    let done = workload.reset(&mut session, opened.dialect).map_err(Failure::not_completed)?;
    let (how, rows, reason) = match done {
        Reset::Done { rows } => {
            let took = format::duration_s(begin.elapsed().as_secs_f64(), terminal.err.unicode);
            terminal.say(&format!("  {} put back in {took}", format::counted(rows, "row")));
            (ResetHow::InPlace, rows, String::new())
        }
        Reset::Reload { reason } => {
            terminal.say(&format!("  loading anew: {reason}"));
            let given = &opened.table_params;
            let params = table_params::to_keep(given, opened.dialect, workload, &mut session)?;
            drop(session);
            if given.is_empty() && !params.is_empty() {
                terminal.say(&format!("  made as they were: {}", table_params::words(&params)));
            }
            let jobs = NonZeroU32::new(assemble::cores().min(4)).unwrap_or(NonZeroU32::MIN);
            let report = filling::fill_anew(opened, &params, workload, jobs, seed, terminal, stop)?;
            (ResetHow::Reload, report.rows(), reason)
        }
    };
    Ok(ResetRecord { how, rows, seconds: begin.elapsed().as_secs_f64(), reason })
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
    clients: u32,
    terminal: &Terminal,
) -> Vec<Finding> {
    terminal.say(READING);
    // A flag of its own: a run that was interrupted is audited all the same.
    let never = Arc::new(AtomicBool::new(false));
    let judged = opened.connect_again(terminal, &never).map_err(|e| e.to_string()).and_then(
        |mut session| {
            judge(&mut session, opened, workload, &base, outcome, clients)
                .map_err(|error| error.to_string())
        },
    );
    let Base { mut findings, .. } = base;
    match judged {
        Ok(more) => {
            // What was said before the run is said again where it still is so.
            findings.retain(|before| more.iter().all(|after| after.name != before.name));
            findings.extend(more);
        }
        Err(why) => findings.push(not_read(&why)),
    }
    findings
}

fn not_read(why: &str) -> Finding {
    let text = format!("could not be read: {}", why.lines().next().unwrap_or_default());
    Finding::new(AFTER_RUN, Verdict::Note, text, Vec::new())
}

fn judge(
    session: &mut dyn Session,
    opened: &Opened,
    workload: &dyn Workload,
    base: &Base,
    outcome: &RunOutcome,
    clients: u32,
) -> Result<Vec<Finding>, AccessError> {
    let acknowledged = &outcome.acknowledged;
    let commits: Vec<Commits> = acknowledged
        .committed
        .iter()
        .zip(&acknowledged.unknown)
        .enumerate()
        .map(|(script, (committed, unknown))| Commits {
            committed: *committed,
            unknown: *unknown,
            without_effect: without_effect(outcome, script),
        })
        .collect();
    let told = told(outcome, clients);
    let mut findings = audit::after_run_told(
        session,
        workload,
        opened.dialect,
        &base.figures,
        &commits,
        Some(&told),
    )?;
    // What the figures say stays said where the conditions cannot be asked.
    match audit::read_conditions(session, workload, opened.dialect, base.is_full) {
        Ok(now) => findings.extend(audit::judge_conditions(&now, &base.conditions)),
        Err(error) => findings.push(not_read(&error.to_string())),
    }
    Ok(findings)
}

/// What the clients know of all that the run did.
fn told(outcome: &RunOutcome, clients: u32) -> Told {
    let mut all = outcome.warmup.clone();
    all.merge(&outcome.tally);
    all.merge(&outcome.drain);
    // A skipped transaction has taken no card from its client's deck.
    let run = |script: &ScriptTally| script.finished() - script.skipped;
    let finished = all.scripts.iter().map(run).collect();
    Told { clients, finished, counters: all.counters }
}

/// Commits without effect over all that the run did, as [`Commits`] counts.
fn without_effect(outcome: &RunOutcome, script: usize) -> u64 {
    let tallies = [&outcome.warmup, &outcome.tally, &outcome.drain];
    let scripts = tallies.into_iter().filter_map(|tally| tally.scripts.get(script));
    scripts.map(|script| script.committed_without_effect).sum()
}
