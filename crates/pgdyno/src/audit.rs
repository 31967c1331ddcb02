//! `pgdyno audit`: looks whether a workload's tables, at rest, are what they
//! must be.
//!
//! No run is judged here, so only what holds of the tables at any time is
//! asked: the invariants of a clean base, and all conditions.

use pgdyno_record::{Audit, AuditOutcome};
use pgdyno_workload::{Choice, Finding, Workload, make};
use serde::Serialize;

use crate::cli::AuditArgs;
use crate::failure::Failure;
use crate::opened::{Opened, Wishes};
use crate::terminal::Terminal;
use crate::{audits, signals, table_params, tpcc};

/// What is printed; the names are those of the JSON.
#[derive(Debug, Serialize)]
struct Told {
    workload: &'static str,
    /// What sets it apart from others of its name, in words; else nothing.
    label: &'static str,
    scale: u64,
    target: String,
    /// Everything is as it must be.
    holds: bool,
    audits: Vec<Audit>,
}

/// Connects, asks, and prints.
pub(crate) fn audit(args: &AuditArgs, terminal: &Terminal) -> Result<(), Failure> {
    let choose = |scale| {
        let name = args.workload.workload.as_str();
        let params = table_params::of_workload(&args.workload);
        make(&Choice { name, scale, params: &params }).map_err(Failure::usage)
    };
    let asked = choose(args.scale.unwrap_or(1))?;
    let stop = signals::stop_flag().map_err(Failure::not_completed)?;
    let opened = Opened::open(&args.target, Wishes::default(), terminal, &stop)?;
    if opened.is_embedded {
        return Err(Failure::usage(
            "a throw-away server has no tables to audit\n\
             hint: name a target, or run with --audit full",
        ));
    }
    let mut session = opened.connect(&stop)?;
    let word = crate::run::in_shell(&pgdyno_record::redact::redact(&opened.word));
    let workload = match args.scale {
        // Asked for: tables of another scale are a finding, not a reason to go.
        Some(_) => asked,
        None => {
            let mut look = |workload: &dyn Workload| {
                workload.probe(&mut session, &word).map_err(Failure::not_completed)
            };
            let workload = choose(look(asked.as_ref())?.scale)?;
            // Some rules follow from what the tables tell of their load.
            look(workload.as_ref())?;
            workload
        }
    };
    workload.check(opened.dialect).map_err(Failure::usage)?;
    terminal.say("Reading the tables …");
    let found = audits::at_rest(&mut session, &opened, workload.as_ref(), true)
        .map_err(Failure::not_completed)?;
    let label = tpcc::running_label(&args.workload);
    let told = tell(workload.as_ref(), label, &opened, &found.findings);
    let text = if args.json {
        let json = serde_json::to_string_pretty(&told)
            .map_err(|e| Failure::not_completed(format!("could not write the JSON: {e}")))?;
        format!("{json}\n")
    } else {
        shown(&told)
    };
    terminal.result(&text);
    if told.holds { Ok(()) } else { Err(Failure::reported()) }
}

fn tell(
    workload: &dyn Workload,
    label: &'static str,
    opened: &Opened,
    findings: &[Finding],
) -> Told {
    let mut audits: Vec<Audit> = findings.iter().map(Audit::from).collect();
    for (audit, finding) in audits.iter_mut().zip(findings) {
        // The hints are about a run that is to follow.
        audit.detail.clone_from(&finding.text);
        // A base that is not clean is only worth a note before a run, which is
        // judged by its changes. Here it is the question itself.
        if audit.outcome == AuditOutcome::Skipped {
            audit.outcome = AuditOutcome::Failed;
        }
    }
    Told {
        workload: workload.name(),
        label: label.trim(),
        scale: workload.scale(),
        target: opened.detected_title(),
        holds: audits.iter().all(|audit| audit.outcome == AuditOutcome::Passed),
        audits,
    }
}

fn shown(told: &Told) -> String {
    let label = if told.label.is_empty() { String::new() } else { format!(" {}", told.label) };
    let mut out = format!("{}{label} at scale {} on {}\n", told.workload, told.scale, told.target);
    for audit in &told.audits {
        let word = if audit.outcome == AuditOutcome::Passed { "ok    " } else { "FAILED" };
        out.push_str(&format!("  {word}  {}: {}\n", audit.name, audit.detail));
    }
    let failed = told.audits.iter().filter(|one| one.outcome != AuditOutcome::Passed).count();
    out.push_str(&match failed {
        0 => format!("  all {} hold\n", told.audits.len()),
        failed => format!("  {failed} of {} do not hold\n", told.audits.len()),
    });
    out
}
