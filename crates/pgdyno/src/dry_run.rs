//! The plan of a load as SQL that can be read, kept and compared; data is left
//! out.

use std::fmt::Write as _;

use pgdyno_engine::load::{Planned, PlannedStep};
use pgdyno_report::format;
use pgdyno_target::Dialect;
use pgdyno_workload::Workload;

/// All statements in order, with comments for what statements do not say.
pub(crate) fn text(workload: &dyn Workload, dialect: &dyn Dialect, planned: &Planned) -> String {
    let mut out = format!(
        "-- {} at scale {} on {} ({}), over {}\n",
        workload.name(),
        workload.scale(),
        dialect.title(),
        dialect.name(),
        format::counted(u64::from(planned.jobs), "connection"),
    );
    let mut phase = None;
    for step in &planned.steps {
        if phase != Some(step.phase) {
            phase = Some(step.phase);
            out.push_str(&format!("\n-- {}\n", step.phase.doing()));
        }
        write_step(step, &mut out);
    }
    out
}

fn write_step(step: &PlannedStep, out: &mut String) {
    let mut notes: Vec<String> = Vec::new();
    if step.times > 1 {
        notes.push(format!("{} times", format::count(step.times)));
    }
    if !step.note.is_empty() {
        notes.push(step.note.clone());
    }
    if step.has_data {
        notes.push("data left out".to_owned());
    }
    let notes = if notes.is_empty() { String::new() } else { format!(" -- {}", notes.join("; ")) };
    // A String takes everything.
    let _ = writeln!(out, "{};{notes}", step.sql);
}
