//! Whether the server's catalog knows of freshly loaded tables what it should:
//! their indexes, and statistics for its planner.
//!
//! An index that is missing is a load that failed. A server that does not
//! answer is not: it is told, as are statistics that are off, which spoil plans
//! and no rows.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pgdyno_report::format;
use pgdyno_wire::Connection;
use pgdyno_workload::{Session, Workload};

use crate::failure::Failure;
use crate::opened::Opened;
use crate::terminal::Terminal;

/// Of its rows a table's statistics may be off by this share. VACUUM counts
/// them, and ANALYZE of a sample is within a few per cent.
const ROWS_OFF_MAX: f64 = 0.1;

/// What was found, in words; nothing where nothing can be asked.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    said: Vec<String>,
    doubts: Vec<String>,
}

/// Asks for the indexes and statistics of freshly loaded tables.
///
/// # Errors
/// An index is not there, or not valid.
pub(crate) fn compare(
    opened: &Opened,
    workload: &dyn Workload,
    terminal: &Terminal,
    stop: &Arc<AtomicBool>,
) -> Result<(), Failure> {
    let tables: Vec<&str> = workload.tables().iter().map(|table| table.name).collect();
    let indexes = opened.dialect.indexes_query(&tables);
    let estimates = opened.dialect.row_estimates_query(&tables);
    if indexes.is_none() && estimates.is_none() {
        return Ok(());
    }
    let mut session = match opened.connect(stop) {
        Ok(session) => session,
        Err(failure) if stop.load(Ordering::Relaxed) => return Err(failure),
        Err(failure) => {
            terminal.warn(&unasked(&failure.to_string()));
            return Ok(());
        }
    };
    let mut found = Found::default();
    let names = workload.index_names();
    let wrong = ask(&mut session, indexes.as_deref(), &mut found)
        .and_then(|rows| judge_indexes(&names, &rows, &mut found));
    let rows = ask(&mut session, estimates.as_deref(), &mut found);
    if let Some(rows) = rows {
        let loaded: Vec<(&str, u64)> =
            workload.tables().iter().map(|table| (table.name, table.rows)).collect();
        judge_statistics(&loaded, &rows, &mut found);
    }
    if !found.said.is_empty() {
        terminal.say(&format!("  {}", found.said.join("; ")));
    }
    for doubt in &found.doubts {
        terminal.warn(doubt);
    }
    wrong.map_or(Ok(()), |wrong| Err(Failure::not_completed(wrong)))
}

/// Pairs of texts; `None` where there is nothing to ask, or no answer.
fn ask(
    session: &mut Connection,
    query: Option<&str>,
    found: &mut Found,
) -> Option<Vec<(String, String)>> {
    match session.query(query?) {
        Ok((_, rows)) => Some(
            rows.into_iter()
                .filter_map(|row| {
                    let mut values = row.into_iter().flatten();
                    Some((values.next()?, values.next()?))
                })
                .collect(),
        ),
        Err(error) => {
            let doubt = unasked(&error.to_string());
            if !found.doubts.contains(&doubt) {
                found.doubts.push(doubt);
            }
            None
        }
    }
}

fn unasked(error: &str) -> String {
    let words = error.lines().next().unwrap_or_default();
    format!("whether indexes and statistics are there could not be asked: {words}")
}

/// What is wrong with the indexes, in words.
fn judge_indexes(names: &[&str], rows: &[(String, String)], found: &mut Found) -> Option<String> {
    let missing = names.iter().filter(|name| rows.iter().all(|(there, _)| there != *name));
    let missing = missing.map(|name| format!("index {name} is not there"));
    let invalid = rows.iter().filter(|(_, valid)| valid == "f");
    let wrong: Vec<String> =
        missing.chain(invalid.map(|(name, _)| format!("index {name} is not valid"))).collect();
    if wrong.is_empty() {
        let plural = if rows.len() == 1 { "" } else { "es" };
        if !rows.is_empty() {
            found.said.push(format!("{} index{plural} there and valid", rows.len()));
        }
        return None;
    }
    Some(format!(
        "the load is not complete: {}\nhint: load anew; the server's log may say why",
        wrong.join(", ")
    ))
}

fn judge_statistics(loaded: &[(&str, u64)], rows: &[(String, String)], found: &mut Found) {
    let mut known = 0_u64;
    let mut doubts = Vec::new();
    for &(table, loaded) in loaded.iter().filter(|(_, loaded)| *loaded > 0) {
        let told = rows.iter().find(|(name, _)| name == table);
        match told.and_then(|(_, rows)| rows.parse::<i64>().ok()) {
            Some(rows) if rows > 0 => {
                known += 1;
                if (rows as f64 - loaded as f64).abs() > ROWS_OFF_MAX * loaded as f64 {
                    doubts.push(format!(
                        "{table} by its statistics has {} rows, of {}",
                        format::count(rows.unsigned_abs()),
                        format::count(loaded),
                    ));
                }
            }
            _ => doubts.push(format!("{table} has no statistics")),
        }
    }
    if doubts.is_empty() {
        found.said.push(format!("statistics of {}", format::counted(known, "table")));
    } else {
        found
            .doubts
            .push(format!("{}: plans may be bad until ANALYZE finds more", doubts.join(", ")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|&(a, b)| (a.to_owned(), b.to_owned())).collect()
    }

    /// A missing index and one that is not valid fail the load, by their names.
    #[test]
    fn indexes_are_judged() {
        let mut found = Found::default();
        let rows = pairs(&[("a_pkey", "t"), ("by_name", "t")]);
        assert_eq!(judge_indexes(&["by_name"], &rows, &mut found), None);
        assert_eq!(found.said, ["2 indexes there and valid"]);
        let mut found = Found::default();
        let rows = pairs(&[("a_pkey", "f")]);
        let wrong = judge_indexes(&["by_name"], &rows, &mut found).unwrap();
        assert!(wrong.contains("index by_name is not there, index a_pkey is not valid"), "{wrong}");
        assert_eq!(found, Found::default());
    }

    /// Statistics that are missing or off by more than a tenth are doubts; of
    /// an empty table nothing is asked.
    #[test]
    fn statistics_are_judged() {
        let loaded = [("a", 1000), ("b", 10), ("c", 0)];
        let judged = |rows: &[(&str, &str)]| {
            let mut found = Found::default();
            judge_statistics(&loaded, &pairs(rows), &mut found);
            (found.said.join("; "), found.doubts.join("; "))
        };
        let fine = judged(&[("a", "1100"), ("b", "10"), ("c", "-1")]);
        assert_eq!(fine, ("statistics of 2 tables".to_owned(), String::new()));
        for (a, said) in [
            ("1101", "a by its statistics has 1,101 rows, of 1,000: plans"),
            ("899", "a by its statistics has 899 rows"),
            ("-1", "a has no statistics: plans"),
            ("0", "a has no statistics"),
        ] {
            let (nothing, doubts) = judged(&[("a", a), ("b", "10")]);
            assert!(nothing.is_empty() && doubts.starts_with(said), "{doubts}");
        }
        let (_, both) = judged(&[("a", "1")]);
        assert!(both.contains("of 1,000, b has no statistics: plans may be bad"), "{both}");
    }
}
