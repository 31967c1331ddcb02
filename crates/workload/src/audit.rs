//! Audits at work: reads a workload's figures and hands them to its rules.
//!
//! The rules are the workload's ([`Workload::judge_run`]); the arithmetic is
//! in [`crate::figures`]. Here is only the reading: one statement and so one
//! snapshot, figures exact, nothing rounded.

use pgdyno_target::dialect::{Dialect, Isolation};

use crate::condition::Condition;
use crate::error::AccessError;
use crate::figures::{Commits, Figures, Finding, Verdict};
use crate::session::{Row, Session};
use crate::told::Told;
use crate::workload::Workload;

/// Reads the figures of a workload: before a run its base, after the drain
/// what has become of it.
///
/// # Errors
/// The tables could not be read.
pub fn read(
    session: &mut dyn Session,
    workload: &dyn Workload,
    dialect: &dyn Dialect,
) -> Result<Figures, AccessError> {
    let sql = workload.audit_query(dialect);
    uncompiled(session, dialect, |session| {
        read_figures(session, "reading the audit's figures", &sql)
    })
}

/// Reads the figures anew and judges the run since `base` was read.
///
/// To be called when all clients have ended: on a sharded target a sum that is
/// read under load can be torn.
///
/// # Errors
/// The tables could not be read.
pub fn after_run(
    session: &mut dyn Session,
    workload: &dyn Workload,
    dialect: &dyn Dialect,
    base: &Figures,
    commits: &[Commits],
) -> Result<Vec<Finding>, AccessError> {
    after_run_told(session, workload, dialect, base, commits, None)
}

/// The same, and judges what the clients know of the run beside it.
///
/// # Errors
/// The tables could not be read.
pub fn after_run_told(
    session: &mut dyn Session,
    workload: &dyn Workload,
    dialect: &dyn Dialect,
    base: &Figures,
    commits: &[Commits],
    told: Option<&Told>,
) -> Result<Vec<Finding>, AccessError> {
    let now = read(session, workload, dialect)?;
    let level = level_in_effect(session, dialect);
    let mut findings = workload.judge_run_at(level, base, &now, commits);
    findings
        .extend(told.into_iter().flat_map(|told| workload.judge_told(base, &now, commits, told)));
    Ok(findings)
}

/// The isolation level of a session's transactions, as the server tells it;
/// `None` where it does not. The session must have been made as the clients'
/// are, or it tells of itself only.
pub fn level_in_effect(session: &mut dyn Session, dialect: &dyn Dialect) -> Option<Isolation> {
    let (_, rows) = session.query(dialect.effective_isolation_query()?).ok()?;
    let told = rows.first()?.first()?.as_deref()?.to_ascii_lowercase();
    [Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable]
        .into_iter()
        .find(|level| level.to_string() == told)
}

/// Asks by `ask` what reads large tables whole, without having the server compile
/// it (see [`Dialect::no_jit_statements`]). That it cannot be kept from it changes
/// no answer. Taken back afterwards: behind a pooler the session is not ours alone.
pub fn uncompiled<T>(
    session: &mut dyn Session,
    dialect: &dyn Dialect,
    ask: impl FnOnce(&mut dyn Session) -> T,
) -> T {
    let Some((off, back)) = dialect.no_jit_statements() else { return ask(session) };
    let is_off = session.execute(off).is_ok();
    let answer = ask(session);
    if is_off {
        // A session that is lost needs it no more.
        let _ = session.execute(back);
    }
    answer
}

/// How many violations a condition has; none where it holds.
///
/// # Errors
/// The statement failed, or its answer is not one row of one whole number.
pub fn violations(session: &mut dyn Session, condition: &Condition) -> Result<i128, AccessError> {
    const WHAT: &str = "asking for violations of a condition";
    let found = read_figures(session, WHAT, &condition.sql)?;
    let mut values = found.iter().map(|(_, value)| value);
    match (values.next(), values.next()) {
        (Some(violations), None) => Ok(violations),
        _ => Err(AccessError::Answer {
            what: WHAT,
            sql: condition.sql.clone(),
            answer: format!("{} columns instead of one", found.iter().count()),
        }),
    }
}

/// Asks the conditions of a workload: those of each run, or of a full audit
/// all. Gives back the violations of each, in order.
///
/// # Errors
/// The tables could not be read.
pub fn read_conditions(
    session: &mut dyn Session,
    workload: &dyn Workload,
    dialect: &dyn Dialect,
    full: bool,
) -> Result<Vec<(Condition, i128)>, AccessError> {
    let asked = workload.conditions_asked(dialect, full).into_iter();
    uncompiled(session, dialect, |session| {
        asked
            .map(|condition| {
                let violations = violations(session, &condition)?;
                Ok((condition, violations))
            })
            .collect()
    })
}

/// Judges the conditions by their violations now and, where they were asked
/// before a run as well, then: what was broken before is not the run's doing.
#[must_use]
pub fn judge_conditions(now: &[(Condition, i128)], before: &[(Condition, i128)]) -> Vec<Finding> {
    let judge = |(condition, found): &(Condition, i128)| {
        let Condition { name, title, .. } = condition;
        let earlier = before.iter().find(|(other, _)| other.name == *name);
        let expected = earlier.map_or(0, |(_, violations)| *violations);
        let (verdict, text) = if *found == 0 {
            (Verdict::Pass, format!("{title}: holds"))
        } else if *found == expected {
            (Verdict::Note, format!("{title}: {found} violations, as many as before the run"))
        } else if *found < expected {
            (Verdict::Note, format!("{title}: {found} violations, {expected} before the run"))
        } else if expected == 0 {
            (Verdict::Fail, format!("{title}: {found} violations"))
        } else {
            (Verdict::Fail, format!("{title}: {found} violations, {expected} before the run"))
        };
        let figures = vec![("violations".to_owned(), *found)];
        Finding::new(name, verdict, text, figures).comparing(expected, *found, 0)
    };
    now.iter().map(judge).collect()
}

/// Runs a query of one row and takes each column as a figure of its name.
///
/// # Errors
/// The query failed, or its answer is not one row of whole numbers.
pub fn read_figures(
    session: &mut dyn Session,
    what: &'static str,
    sql: &str,
) -> Result<Figures, AccessError> {
    let (columns, rows) = session.query(sql).map_err(|source| AccessError::Statement {
        what,
        sql: sql.to_owned(),
        source,
    })?;
    figures_of(columns, &rows).map_err(|answer| AccessError::Answer {
        what,
        sql: sql.to_owned(),
        answer,
    })
}

/// Takes each column of a result as a figure of its name.
///
/// # Errors
/// What is wrong with it: not one row, or not whole numbers.
pub fn figures_of(columns: Vec<String>, rows: &[Row]) -> Result<Figures, String> {
    let [row] = rows else { return Err(format!("{} rows instead of one", rows.len())) };
    let mut figures = Vec::with_capacity(columns.len());
    for (column, value) in columns.into_iter().zip(row) {
        let Some(number) = value.as_deref().and_then(|text| text.parse::<i128>().ok()) else {
            let shown = value.as_deref().unwrap_or("null");
            return Err(format!("{column} is {shown}, not a whole number"));
        };
        figures.push((column, number));
    }
    Ok(Figures::new(figures))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::condition::Asked;
    use crate::session::SqlError;

    struct Answer(Vec<String>, Vec<Row>);

    impl Session for Answer {
        fn query(&mut self, _: &str) -> Result<(Vec<String>, Vec<Row>), SqlError> {
            Ok((self.0.clone(), self.1.clone()))
        }

        fn execute(&mut self, _: &str) -> Result<u64, SqlError> {
            Ok(0)
        }
    }

    fn ask(columns: &[&str], rows: &[&[Option<&str>]]) -> Result<Figures, AccessError> {
        let columns = columns.iter().map(|&name| name.to_owned()).collect();
        let rows = rows.iter().map(|row| row.iter().map(|v| v.map(str::to_owned)).collect());
        read_figures(&mut Answer(columns, rows.collect()), "testing", "select")
    }

    fn condition(name: &'static str, sql: &str) -> Condition {
        Condition { name, title: "a rule", asked: Asked::EachRun, sql: sql.to_owned() }
    }

    /// A condition's answer is one number; anything else is told, not taken for 0.
    #[test]
    fn violations_are_one_number() {
        let ask = |columns: &[&str], value: &str| {
            let columns: Vec<String> = columns.iter().map(|name| (*name).to_owned()).collect();
            let row = columns.iter().map(|_| Some(value.to_owned())).collect();
            violations(&mut Answer(columns, vec![row]), &condition("c", "select"))
        };
        assert_eq!(ask(&["n"], "7").unwrap(), 7);
        assert!(ask(&["n", "m"], "7").unwrap_err().to_string().contains("2 columns"));
        assert!(ask(&["n"], "many").unwrap_err().to_string().contains("n is many"));
    }

    /// New violations fail; those of before are noted, also where a run has
    /// mended some; a condition that was not
    /// asked before must hold.
    #[test]
    fn only_new_violations_fail() {
        let of = |before: Option<i128>, now: i128| {
            let before: Vec<_> = before.map(|n| (condition("c", ""), n)).into_iter().collect();
            judge_conditions(&[(condition("c", ""), now)], &before).remove(0).verdict
        };
        assert_eq!((of(None, 0), of(Some(0), 0), of(Some(3), 0)), {
            (Verdict::Pass, Verdict::Pass, Verdict::Pass)
        });
        assert_eq!((of(None, 1), of(Some(0), 1), of(Some(1), 2)), {
            (Verdict::Fail, Verdict::Fail, Verdict::Fail)
        });
        assert_eq!((of(Some(2), 2), of(Some(2), 1)), (Verdict::Note, Verdict::Note));
    }

    /// Figures larger than 64 bits are read exactly.
    #[test]
    fn figures_are_exact() {
        let figures = ask(&["big", "n"], &[&[Some("-170141183460469231731"), Some("3")]]).unwrap();
        assert_eq!(figures.get("big"), -170_141_183_460_469_231_731);
        assert_eq!(figures.iter().collect::<Vec<_>>()[1], ("n", 3));
    }

    /// An answer of the wrong shape is an error that shows it, not a zero.
    #[test]
    fn nonsense_is_told() {
        let no_row = ask(&["n"], &[]).unwrap_err().to_string();
        assert!(no_row.contains("0 rows"), "{no_row}");
        for (value, shown) in [(None, "n is null"), (Some("1.5"), "n is 1.5")] {
            let error = ask(&["n"], &[&[value]]).unwrap_err().to_string();
            assert!(error.contains(shown), "{error}");
        }
    }
}
