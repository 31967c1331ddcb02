//! Reading the views, and the differences of two readings.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use pgdyno_record::{
    StatisticsFigure, StatisticsGroup, StatisticsKind, StatisticsRow, TargetStatistics,
};
use pgdyno_wire::Connection;
use pgdyno_wire::client::QueryResult;

use super::{SECONDS, StatisticsQuery, waits};

/// How long one question may take. Views are read in milliseconds; on a server
/// that is overrun it is better to do without.
const QUESTION_MAX: Duration = Duration::from_secs(30);

/// How long sessions that are about to end are waited for.
const SESSIONS_MAX: Duration = Duration::from_secs(3);

/// How often they are counted.
const SESSIONS_LOOK: Duration = Duration::from_millis(20);

/// Events so long before the first reading are taken for events of the run: the
/// server looks at its clock some time after the question was sent.
const EVENTS_MARGIN: Duration = Duration::from_secs(1);

/// Characters of a label that are kept; the texts of statements can be long.
const LABEL_CHARS_MAX: usize = 200;

type Row = (BTreeMap<String, String>, BTreeMap<String, f64>);

/// All questions, answered once.
#[derive(Debug)]
pub struct Reading {
    at: Instant,
    /// In the order of the questions.
    answers: Vec<Result<Vec<Row>, String>>,
}

impl Reading {
    /// True where the server counts waits itself, by the extension
    /// `pg_wait_sampling`, and the count could be read.
    #[must_use]
    pub fn counts_waits(&self, queries: &[StatisticsQuery]) -> bool {
        let mut answers = queries.iter().zip(&self.answers);
        answers.any(|(query, answer)| waits::is_of_extension(query.name) && answer.is_ok())
    }
}

/// Asks all questions for the first time. One that fails does not keep the
/// others from being asked.
pub fn read(connection: &mut Connection, queries: &[StatisticsQuery]) -> Reading {
    ask(connection, queries, None)
}

/// Asks them again after a run.
pub fn read_again(
    connection: &mut Connection,
    queries: &[StatisticsQuery],
    first: &Reading,
) -> Reading {
    ask(connection, queries, Some(first.at.elapsed()))
}

fn ask(
    connection: &mut Connection,
    queries: &[StatisticsQuery],
    since: Option<Duration>,
) -> Reading {
    connection.set_timeout(Some(QUESTION_MAX));
    let extensions = if queries.iter().any(|query| query.extension.is_some()) {
        extensions(connection)
    } else {
        Ok(Vec::new())
    };
    let answers = queries
        .iter()
        .map(|query| {
            if let Some(name) = query.extension
                && !extensions.clone()?.iter().any(|there| there == name)
            {
                return Err(format!("the extension {name} is not there"));
            }
            let Some(sql) = question(query, since) else { return Ok(Vec::new()) };
            let results = connection.simple_query(&sql).map_err(|error| first_line(&error))?;
            Ok(results.last().map(|result| rows(query, result)).unwrap_or_default())
        })
        .collect();
    connection.set_timeout(None);
    Reading { at: Instant::now(), answers }
}

/// What is sent; nothing where it is not to be asked before the run.
fn question<'a>(query: &'a StatisticsQuery, since: Option<Duration>) -> Option<Cow<'a, str>> {
    if !query.sql.contains(SECONDS) {
        return Some(Cow::Borrowed(&query.sql));
    }
    let seconds = format!("{:.3}", (since? + EVENTS_MARGIN).as_secs_f64());
    Some(Cow::Owned(query.sql.replace(SECONDS, &seconds)))
}

fn extensions(connection: &mut Connection) -> Result<Vec<String>, String> {
    let results = connection
        .simple_query("SELECT extname FROM pg_catalog.pg_extension")
        .map_err(|error| first_line(&error))?;
    let rows = results.into_iter().flat_map(|result| result.rows);
    Ok(rows.filter_map(|mut row| row.pop()?).collect())
}

/// Waits a moment for the sessions of a run to be gone, so that their last
/// figures are in. A server that cannot say is not waited for.
pub fn wait_for_sessions(connection: &mut Connection, sql: &str) {
    connection.set_timeout(Some(QUESTION_MAX));
    let begin = Instant::now();
    while begin.elapsed() < SESSIONS_MAX {
        match connection.query_one_i64(sql) {
            Ok(0) | Err(_) => break,
            Ok(_) => std::thread::sleep(SESSIONS_LOOK),
        }
    }
    connection.set_timeout(None);
}

pub(super) fn first_line(error: &dyn std::fmt::Display) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

fn rows(query: &StatisticsQuery, result: &QueryResult) -> Vec<Row> {
    let read = |row: &Vec<Option<String>>| {
        let (mut labels, mut figures) = Row::default();
        for (column, value) in result.columns.iter().zip(row) {
            let Some(value) = value else { continue };
            let name = column.as_str();
            if query.ignored.contains(&name) {
                continue;
            }
            let number = value.parse::<f64>().ok().filter(|number| number.is_finite());
            let is_label = query.labels.contains(&name);
            match number {
                Some(number) if !is_label => drop(figures.insert(column.clone(), number)),
                _ if is_label || query.labels.is_empty() => {
                    drop(labels.insert(column.clone(), shortened(value)));
                }
                _ => {}
            }
        }
        (labels, figures)
    };
    result.rows.iter().map(read).collect()
}

fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LABEL_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// What changed between two readings of the same questions.
#[must_use]
pub fn compare(queries: &[StatisticsQuery], before: &Reading, after: &Reading) -> TargetStatistics {
    let mut all = TargetStatistics {
        seconds: after.at.saturating_duration_since(before.at).as_secs_f64(),
        ..TargetStatistics::default()
    };
    for (query, answers) in queries.iter().zip(before.answers.iter().zip(&after.answers)) {
        match answers {
            (Ok(before), Ok(after)) => all.groups.push(group(query, before, after)),
            (Err(words), _) | (_, Err(words)) => {
                all.notes.push(format!("{}: {words}", query.name));
            }
        }
    }
    all.groups.retain(|group| !group.rows.is_empty());
    all
}

fn group(query: &StatisticsQuery, before: &[Row], after: &[Row]) -> StatisticsGroup {
    let earlier: BTreeMap<_, _> =
        before.iter().map(|(labels, figures)| (labels, figures)).collect();
    let mut rows: Vec<StatisticsRow> = after
        .iter()
        .map(|(labels, figures)| StatisticsRow {
            labels: labels.clone(),
            figures: differences(query.kind, earlier.get(labels).copied(), figures),
        })
        .filter(|row| !row.figures.is_empty())
        .collect();
    if !query.rank.is_empty() {
        // Stable: rows of the same rank stay in the server's order.
        rows.sort_by(|one, other| weight(query, other).total_cmp(&weight(query, one)));
    }
    let rows_left_out = rows.len().saturating_sub(query.rows_max) as u64;
    rows.truncate(query.rows_max);
    let (kind, verified) = (query.kind, query.verified);
    StatisticsGroup { name: query.name.to_owned(), kind, verified, rows, rows_left_out }
}

fn weight(query: &StatisticsQuery, row: &StatisticsRow) -> f64 {
    let figures = query.rank.iter().filter_map(|name| row.figures.get(*name)?.difference);
    figures.sum()
}

/// Of counters only those that changed.
fn differences(
    kind: StatisticsKind,
    before: Option<&BTreeMap<String, f64>>,
    after: &BTreeMap<String, f64>,
) -> BTreeMap<String, StatisticsFigure> {
    let figure = |(name, after): (&String, &f64)| {
        let earlier = before.and_then(|before| before.get(name)).copied();
        let grown = match (kind, earlier) {
            // A row that was not there has counted from nothing.
            (StatisticsKind::Counters, earlier) => {
                Some(after - earlier.unwrap_or(0.0)).filter(|grown| *grown >= 0.0)
            }
            (StatisticsKind::Values, earlier) => earlier.map(|earlier| after - earlier),
        };
        let is_still = kind == StatisticsKind::Counters && grown == Some(0.0);
        let figure = StatisticsFigure { before: earlier, after: Some(*after), difference: grown };
        (!is_still).then(|| (name.clone(), figure))
    };
    after.iter().filter_map(figure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(columns: &[&str], rows: &[&[&str]]) -> QueryResult {
        QueryResult {
            columns: columns.iter().map(ToString::to_string).collect(),
            rows: rows
                .iter()
                .map(|row| row.iter().map(|v| Some(v.to_string())).collect())
                .collect(),
            tag: None,
        }
    }

    fn reading(query: &StatisticsQuery, rows: &[&[&str]]) -> Reading {
        let result = result(&["name", "oid", "calls", "ms"], rows);
        Reading { at: Instant::now(), answers: vec![Ok(super::rows(query, &result))] }
    }

    fn query() -> StatisticsQuery {
        StatisticsQuery::counters("v", "").without(&["oid"]).top(2, &["ms"])
    }

    /// Differences are taken row by row, the largest first; what stood still
    /// is left out, and what was reset has no difference.
    #[test]
    fn counters_by_difference() {
        let query = query();
        let before = reading(
            &query,
            &[&["still", "1", "5", "5"], &["a", "2", "10", "1"], &["reset", "3", "9", "9"]],
        );
        let after = reading(
            &query,
            &[
                &["still", "1", "5", "5"],
                &["a", "2", "30", "1.5"],
                &["reset", "3", "2", "9"],
                &["new", "4", "1", "7"],
            ],
        );
        let all = compare(&[query], &before, &after);
        let group = all.group("v").unwrap();
        let names: Vec<&str> = group.rows.iter().map(|row| row.labels["name"].as_str()).collect();
        assert_eq!((names.as_slice(), group.rows_left_out), (["new", "a"].as_slice(), 1));
        let grown = |row: usize, name: &str| group.rows[row].figures[name].difference;
        assert_eq!(
            (grown(0, "calls"), grown(1, "calls"), grown(1, "ms")),
            (Some(1.0), Some(20.0), Some(0.5))
        );
        assert!(!group.rows[0].figures.contains_key("oid"));
        assert_eq!(all.grown("v", "calls"), Some(21.0));
        assert_eq!(all.grown("v", "other"), None);
    }

    /// A counter that went back was reset, and says nothing of the run.
    #[test]
    fn a_reset_has_no_difference() {
        let before = BTreeMap::from([("calls".to_owned(), 9.0)]);
        let after = BTreeMap::from([("calls".to_owned(), 2.0)]);
        let figures = differences(StatisticsKind::Counters, Some(&before), &after);
        let expected = StatisticsFigure { before: Some(9.0), after: Some(2.0), difference: None };
        assert_eq!(figures["calls"], expected);
    }

    /// Values are kept whether or not they changed, and may shrink.
    #[test]
    fn values_may_shrink() {
        let query = StatisticsQuery::values("size", "");
        let [before, after] = ["10", "4"].map(|bytes| Reading {
            at: Instant::now(),
            answers: vec![Ok(super::rows(&query, &result(&["bytes"], &[&[bytes]])))],
        });
        let all = compare(std::slice::from_ref(&query), &before, &after);
        assert_eq!(all.grown("size", "bytes"), Some(-6.0));
    }

    /// A buffer of events is asked for those of the time since the first
    /// reading, and not before it: what it holds then is of no run.
    #[test]
    fn events_since_the_first_reading() {
        let events = StatisticsQuery::counters("v", "SELECT 1 WHERE age < {seconds}");
        assert_eq!(question(&events, None), None);
        let asked = question(&events, Some(Duration::from_millis(2500)));
        assert_eq!(asked.as_deref(), Some("SELECT 1 WHERE age < 3.500"));
        assert_eq!(question(&query(), None).as_deref(), Some(""));
    }

    /// A question that failed once is a note, the others are answered.
    #[test]
    fn failures_are_notes() {
        let query = query();
        let before = Reading { at: Instant::now(), answers: vec![Err("no such view".to_owned())] };
        let after = reading(&query, &[&["a", "1", "2", "3"]]);
        let all = compare(&[query], &before, &after);
        assert_eq!((all.notes, all.groups.len()), (vec!["v: no such view".to_owned()], 0));
    }

    /// Long texts of statements are cut at a letter, on one line.
    #[test]
    fn labels_are_short() {
        let text = format!("SELECT\n  {}", "ü".repeat(300));
        let short = shortened(&text);
        assert!(short.starts_with("SELECT ü") && short.ends_with("ü…"), "{short}");
        assert_eq!(short.chars().count(), LABEL_CHARS_MAX + 1);
    }
}
