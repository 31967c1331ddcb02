//! What the server says that single statements cost: each is run once under
//! the database's own EXPLAIN, within a transaction that is rolled back.

use std::collections::BTreeMap;
use std::time::Duration;

use pgdyno_record::StatementPlan;
use pgdyno_wire::Connection;

use super::read::first_line;

/// How long one statement may take.
const STATEMENT_MAX: Duration = Duration::from_secs(30);

/// How a database tells the cost of a statement.
#[derive(Debug, Clone, Copy)]
pub struct PlanFigures {
    /// What is put before the statement.
    pub(crate) explain: &'static str,
    /// Words at the beginning of a line, before a colon and a number, and the
    /// name of the figure.
    pub(crate) numbers: &'static [(&'static str, &'static str)],
    /// Whole lines that are there or not, and the name of the figure: 1 or 0.
    pub(crate) marks: &'static [(&'static str, &'static str)],
}

/// A transaction as a client would have sent it once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// The transaction type.
    pub script: String,
    /// The statements that can be explained, each with a short form for people.
    pub statements: Vec<(String, String)>,
}

impl PlanFigures {
    fn parse<'a>(&self, lines: impl Iterator<Item = &'a str>) -> BTreeMap<String, f64> {
        let mut figures: BTreeMap<String, f64> =
            self.marks.iter().map(|(_, name)| ((*name).to_owned(), 0.0)).collect();
        for line in lines.map(str::trim) {
            for (words, name) in self.numbers {
                let value = line.strip_prefix(words).and_then(|rest| rest.strip_prefix(':'));
                if let Some(number) = value.and_then(leading_number) {
                    *figures.entry((*name).to_owned()).or_default() += number;
                }
            }
            for (_, name) in self.marks.iter().filter(|(words, _)| *words == line) {
                figures.insert((*name).to_owned(), 1.0);
            }
        }
        figures
    }
}

/// `1,234.5 ms` is 1234.5.
fn leading_number(text: &str) -> Option<f64> {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',');
    text[..end.unwrap_or(text.len())].replace(',', "").parse().ok()
}

/// Explains the statements of each transaction. What fails is a note, and the
/// rest of its transaction is left out.
pub fn explain(
    connection: &mut Connection,
    how: &PlanFigures,
    samples: &[Sample],
) -> (Vec<StatementPlan>, Vec<String>) {
    let (mut plans, mut notes) = (Vec::new(), Vec::new());
    connection.set_timeout(Some(STATEMENT_MAX));
    for sample in samples {
        if let Err(words) = explain_one(connection, how, sample, &mut plans) {
            notes.push(format!("the cost of \"{}\": {words}", sample.script));
        }
        // Nothing is left of it, whether or not it failed.
        let _ = connection.simple_query("ROLLBACK");
    }
    connection.set_timeout(None);
    (plans, notes)
}

fn explain_one(
    connection: &mut Connection,
    how: &PlanFigures,
    sample: &Sample,
    plans: &mut Vec<StatementPlan>,
) -> Result<(), String> {
    connection.simple_query("BEGIN").map_err(|error| first_line(&error))?;
    for (sql, label) in &sample.statements {
        let results = connection
            .simple_query(&format!("{} {sql}", how.explain))
            .map_err(|error| first_line(&error))?;
        let lines = results.iter().flat_map(|result| &result.rows);
        let figures = how.parse(lines.filter_map(|row| row.first()?.as_deref()));
        if !figures.is_empty() {
            let (script, statement) = (sample.script.clone(), label.clone());
            plans.push(StatementPlan { script, statement, figures });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::dialect_by_name;

    fn parsed(dialect: &str, text: &str) -> Vec<(String, f64)> {
        let statistics = dialect_by_name(dialect).unwrap().statistics(None);
        statistics.plans.unwrap().parse(text.lines()).into_iter().collect()
    }

    fn pairs<const N: usize>(expected: [(&str, f64); N]) -> Vec<(String, f64)> {
        expected.map(|(name, number)| (name.to_owned(), number)).to_vec()
    }

    /// DSQL's estimate is read as the manual shows it.
    #[test]
    fn dpu() {
        let text = "Update on public.accounts  (cost=1.00..2.00 rows=0 width=0)\n\
            Query Identifier: abc\nStatement DPU Estimate:\n  Compute: 0.01607 DPU\n  \
            Read: 0.04312 DPU\n  Write: 0.00000 DPU\n  Total: 0.05919 DPU";
        let expected = [
            ("compute_dpu", 0.01607),
            ("read_dpu", 0.04312),
            ("total_dpu", 0.05919),
            ("write_dpu", 0.0),
        ];
        assert_eq!(parsed("aurora-dsql", text), pairs(expected));
    }

    /// YugabyteDB's requests are those of the footer, not of the nodes.
    #[test]
    fn storage_requests() {
        let text = " Update on t (actual time=2.1..2.1 rows=0 loops=1)\n   Storage Table Write \
            Requests: 1\n Storage Read Requests: 1\n Storage Rows Scanned: 1\n Storage Write \
            Requests: 1\n Storage Flush Requests: 0\n Storage Execution Time: 1.523 ms";
        let figures = parsed("yugabytedb", text);
        assert!(figures.contains(&("storage_read_requests".to_owned(), 1.0)), "{figures:?}");
        assert!(figures.contains(&("storage_execution_ms".to_owned(), 1.523)), "{figures:?}");
        assert!(figures.contains(&("storage_flush_requests".to_owned(), 0.0)), "{figures:?}");
    }

    /// One shard or many: Limitless says so in a line, Citus by a count.
    #[test]
    fn shards() {
        let one = " Foreign Scan\n Single Shard Optimized";
        assert_eq!(parsed("aurora-limitless", one), pairs([("single_shard", 1.0)]));
        assert_eq!(parsed("aurora-limitless", " Append"), pairs([("single_shard", 0.0)]));
        let many = "Custom Scan (Citus Adaptive)\n  Task Count: 32\n  Tasks Shown: One of 32";
        assert_eq!(parsed("citus", many), pairs([("tasks", 32.0)]));
    }

    /// Numbers come with separators and units, and other words are none.
    #[test]
    fn numbers() {
        assert_eq!(leading_number(" 1,234.5 ms"), Some(1234.5));
        assert_eq!(leading_number("n1, n2"), None);
        assert_eq!(leading_number(""), None);
    }
}
