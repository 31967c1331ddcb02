//! The first lines: the figure, its verdict in words, and what was run.

use pgdyno_record::{
    AuditOutcome, Limit, RunRecord, Severity, StatementKind, Verdict, VerdictRecord,
};

use super::Page;
use crate::format::{counted, duration_s, rate, share};
use crate::style::{Style, Tone, columns_of, flow, wrap};

/// Verdict names in the headline; the others are in the warnings below it.
const NAMES_MAX: usize = 3;

/// Share of commits without effect below which the two figures are told as one.
const WITHOUT_EFFECT_SHARE_MAX: f64 = 0.01;

pub(super) fn add(page: &mut Page<'_>, record: &RunRecord) {
    let style = page.style;
    let figure = figure(record);
    let (tone, verdict) = verdict(record, style);
    let gap = "   ";
    let one_line = 2 + columns_of(&figure) + columns_of(gap) + columns_of(&verdict);
    if one_line <= style.columns() {
        let (figure, verdict) = (style.paint(Tone::Strong, &figure), style.paint(tone, &verdict));
        page.line(&format!("  {figure}{gap}{verdict}"));
    } else {
        for (text, tone) in [(&figure, Tone::Strong), (&verdict, tone)] {
            for line in wrap(text, style.columns() - 2) {
                page.line(&format!("  {}", style.paint(tone, &line)));
            }
        }
    }
    for line in flow(&what_ran(record, style), style.dot(), style.columns() - 2) {
        page.line(&format!("  {}", style.paint(Tone::Quiet, &line)));
    }
}

/// The figure: committed transactions. Where some did not do their work, also
/// the share that did, and goodput. A rare statement that found no row is
/// warned of beside the figure, so the figure says it too.
fn figure(record: &RunRecord) -> String {
    let totals = &record.totals;
    let counts = &totals.counts;
    let without_effect = match counts.committed {
        0 => 0.0,
        committed => counts.committed_without_effect as f64 / committed as f64,
    };
    let is_idle = |one: &VerdictRecord| matches!(one.verdict, Verdict::WritesFoundNoRow { .. });
    if without_effect <= WITHOUT_EFFECT_SHARE_MAX && !record.verdicts.iter().any(is_idle) {
        return format!("{} transactions/s", rate(totals.tps));
    }
    format!(
        "{} transactions/s, of which {} did their work: goodput {}/s",
        rate(totals.tps),
        share(1.0 - without_effect),
        rate(totals.goodput_tps)
    )
}

/// What can be said of the figure, in a few words. The worst kind of verdict
/// speaks alone; where nothing is wrong, the three parts of the evidence do.
fn verdict(record: &RunRecord, style: &Style) -> (Tone, String) {
    let worst = record.verdicts.iter().map(|verdict| verdict.severity).max();
    let named = |severity| names(record, severity);
    match worst {
        Some(Severity::Fatal) => {
            (Tone::Bad, format!("not to be used: {}", named(Severity::Fatal).join(style.dot())))
        }
        Some(Severity::Warning) => {
            let names = named(Severity::Warning).join(style.dot());
            (Tone::Warning, format!("with care: {names}"))
        }
        None | Some(Severity::Good | Severity::Note) => {
            let mut words = named(Severity::Good);
            words.extend(named(Severity::Note));
            if record.audits.iter().any(|audit| audit.outcome == AuditOutcome::Passed) {
                words.push("audited");
            }
            if !record.driver.workers.is_empty() {
                words.push("driver not the bottleneck");
            }
            (Tone::Good, words.join(style.dot()))
        }
    }
}

fn names(record: &RunRecord, severity: Severity) -> Vec<&'static str> {
    let mut names = Vec::new();
    for verdict in record.verdicts.iter().filter(|verdict| verdict.severity == severity) {
        let name = match &verdict.verdict {
            // A script may declare the rows of a read as well.
            idle if is_of_read(record, idle) => "reads fell short of their rows",
            other => name(other),
        };
        if !names.contains(&name) && names.len() < NAMES_MAX {
            names.push(name);
        }
    }
    names
}

fn is_of_read(record: &RunRecord, verdict: &Verdict) -> bool {
    let Verdict::WritesFoundNoRow { script, command, statement, .. } = verdict else {
        return false;
    };
    let mut all = record.statements.iter().map(|one| &one.statement);
    all.any(|one| {
        one.kind == StatementKind::Select
            && (one.script, one.command) == (*script, *command)
            && one.text == *statement
    })
}

fn name(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Steady { .. } => "steady",
        Verdict::Unsteady { .. } => "unsteady",
        Verdict::TooShort { .. } => "too short to call steady",
        Verdict::NotWarmedUp { .. } => "still warming up",
        Verdict::DriverSaturated { .. } => "the driver was the bottleneck",
        Verdict::WritesFoundNoRow { .. } => "writes found no row",
        Verdict::AuditFailed { .. } => "an audit failed",
        Verdict::NotAudited { .. } => "not audited",
        Verdict::Failures { .. } => "transactions failed",
        Verdict::Conflicts { .. } => "conflicts",
        Verdict::EndpointTrouble { .. } => "trouble with endpoints",
        Verdict::RetriesDominate { .. } => "mostly retries",
        Verdict::UnknownOutcomes { .. } => "some outcomes unknown",
        Verdict::RateNotReached { .. } => "rate not reached",
        Verdict::Interrupted => "interrupted",
        Verdict::Aborted { .. } => "the run was aborted",
        Verdict::ClientsAborted { .. } => "clients were lost",
        Verdict::NothingCommitted => "nothing was committed",
    }
}

/// Workload, target, load: enough to know which run this is.
fn what_ran(record: &RunRecord, style: &Style) -> Vec<String> {
    let (workload, target, plan) = (&record.workload, &record.target, &record.plan);
    let mut facts = vec![match workload.scale {
        Some(scale) => format!("{} scale {scale}", workload.name),
        None => workload.name.clone(),
    }];
    let other_work = record.tpcc.as_ref().filter(|tpcc| tpcc.profile != "faithful");
    facts.extend(other_work.map(|tpcc| format!("profile {}", tpcc.profile)));
    facts.push(short_version(&target.server_version).to_owned());
    facts.extend(target.name.clone());
    facts.extend(target.tls.as_ref().map(|tls| tls.version.clone()));
    facts.push(format!(
        "{} on {}",
        counted(plan.clients.into(), "client"),
        counted(plan.workers.into(), "worker")
    ));
    facts.push(match plan.limit {
        Limit::Duration { .. } => duration_s(record.totals.seconds, style.unicode),
        Limit::Transactions { per_client } => format!(
            "{} per client in {}",
            counted(per_client, "transaction"),
            duration_s(record.totals.seconds, style.unicode)
        ),
    });
    if plan.ramp_s > 0.0 {
        facts.push(format!("begun over {}", duration_s(plan.ramp_s, style.unicode)));
    }
    facts.push(plan.protocol.clone());
    facts.extend(plan.isolation.clone());
    facts.iter().map(|fact| style.clean(fact)).collect()
}

/// `PostgreSQL 15.8 (Debian …) on x86_64 …` without what follows the number.
fn short_version(version: &str) -> &str {
    let end = [" (", " on ", ","].iter().filter_map(|mark| version.find(mark)).min();
    version[..end.unwrap_or(version.len())].trim_end()
}
