//! `pgdyno init --audit full`: asks freshly loaded tables for every condition
//! that `pgdyno audit` asks, over as many connections as loaded them.
//!
//! The load itself asks the cheap ones, and all of small tables; these are
//! asked once more only where the load did not.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use pgdyno_report::format;
use pgdyno_workload::{Condition, Workload, audit};

use crate::failure::Failure;
use crate::opened::Opened;
use crate::run;
use crate::terminal::Terminal;

/// Asks what the load left out.
///
/// # Errors
/// A condition does not hold, or could not be asked.
pub(crate) fn ask(
    opened: &Opened,
    workload: &dyn Workload,
    jobs: NonZeroU32,
    terminal: &Terminal,
    stop: &Arc<AtomicBool>,
) -> Result<(), Failure> {
    // Some rules follow from what the tables tell of their load.
    let word = run::in_shell(&pgdyno_record::redact::redact(&opened.word));
    workload.probe(&mut opened.connect(stop)?, &word).map_err(Failure::not_completed)?;
    let left = left_out(
        workload.conditions_asked(opened.dialect, true),
        &workload.fresh_conditions(opened.dialect),
    );
    if left.is_empty() {
        return Ok(());
    }
    terminal.say(&format!(
        "Asking {} that the load left out …",
        format::counted(left.len() as u64, "condition")
    ));
    let begin = Instant::now();
    let broken = ask_side_by_side(opened, &left, jobs, stop)?;
    if broken.is_empty() {
        let took = format::duration_s(begin.elapsed().as_secs_f64(), terminal.err.unicode);
        terminal.say(&format!("  all hold, in {took}"));
        return Ok(());
    }
    Err(Failure::not_completed(format!(
        "the tables are not as they must be after a load:\n  {}\nhint: load them anew",
        broken.join("\n  ")
    )))
}

/// The conditions that were not asked yet.
fn left_out(mut all: Vec<Condition>, asked: &[Condition]) -> Vec<Condition> {
    all.retain(|one| asked.iter().all(|other| other.name != one.name));
    all
}

/// What does not hold, in words and in the order of `conditions`.
fn ask_side_by_side(
    opened: &Opened,
    conditions: &[Condition],
    jobs: NonZeroU32,
    stop: &Arc<AtomicBool>,
) -> Result<Vec<String>, Failure> {
    let next = AtomicUsize::new(0);
    let broken = Mutex::new(Vec::new());
    let work = || -> Result<(), Failure> {
        let mut session = opened.connect(stop)?;
        audit::uncompiled(&mut session, opened.dialect, |session| {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(condition) = conditions.get(number) else { return Ok(()) };
                let found = audit::violations(session, condition);
                let violations = found.map_err(|error| {
                    // The others are not begun.
                    next.store(conditions.len(), Ordering::Relaxed);
                    if stop.load(Ordering::Relaxed) {
                        return Failure::not_completed("interrupted while asking the conditions");
                    }
                    Failure::not_completed(error)
                })?;
                if violations != 0 {
                    let Condition { name, title, .. } = condition;
                    let words = format!("{name}: {title}: {violations} violations");
                    if let Ok(mut broken) = broken.lock() {
                        broken.push((number, words));
                    }
                }
            }
        })
    };
    let threads = (jobs.get() as usize).min(conditions.len());
    let result = std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let mut result = Ok(());
        for one in all {
            let gone = || Err(Failure::not_completed("a thread that asked the conditions broke"));
            let ended = one.join().unwrap_or_else(|_| gone());
            result = result.and(ended);
        }
        result
    });
    let mut broken = broken.into_inner().unwrap_or_default();
    broken.sort_unstable();
    let broken: Vec<String> = broken.into_iter().map(|(_, words)| words).collect();
    match result {
        Ok(()) => Ok(broken),
        Err(failure) if broken.is_empty() => Err(failure),
        // Hours may have gone into what was found before.
        Err(failure) => Err(Failure::not_completed(format!(
            "{failure}\nfound before that:\n  {}\nhint: load them anew",
            broken.join("\n  ")
        ))),
    }
}

#[cfg(test)]
mod tests {
    use pgdyno_target::postgres;
    use pgdyno_workload::{Choice, make};

    use super::*;

    /// Of a few warehouses the load has asked all but the rule that needs to
    /// know the load's seed; of many, conditions 5 to 12 and the further rules
    /// are left, and none twice.
    #[test]
    fn what_the_load_asked_is_not_asked_again() {
        let names = |scale| {
            let tpcc = make(&Choice { name: "tpcc", scale, params: &[] }).unwrap();
            let left = left_out(
                tpcc.conditions_asked(postgres(), true),
                &tpcc.fresh_conditions(postgres()),
            );
            left.iter().map(|one| one.name).collect::<Vec<_>>()
        };
        assert_eq!(names(4), Vec::<&str>::new());
        let many = names(5);
        assert_eq!(many[..8], (5..=12).map(|n| format!("tpcc {n}")).collect::<Vec<_>>());
        assert!(many.contains(&"tpcc stock of lines") && !many.contains(&"tpcc 4"));
    }
}
