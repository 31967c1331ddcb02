//! Indexes that a load which was broken off has left half made.
//!
//! Some databases make an index behind the statement that asks for it. Where
//! that fails, the index stays in the catalog: it costs writes, may refuse
//! rows, serves no query, and the statement that would make it anew finds its
//! name taken. A load that goes on drops such indexes and makes them again.

use super::error::Failure;
use super::link::Link;
use super::marks::Mark;
use super::progress::Phase;
use super::steps::Steps;

/// What a database refuses a question with that it does not know: a feature, a
/// function, a column, a table (PostgreSQL manual, Appendix A).
const NOT_KNOWN: [&str; 4] = ["0A000", "42883", "42703", "42P01"];

/// What a look for such indexes has come to.
#[derive(Default)]
struct Looked {
    /// Numbers of the keys whose marks were taken back.
    forgotten: Vec<u64>,
    /// What is to be told.
    warning: Option<String>,
}

impl Steps<'_> {
    /// Drops the indexes of the workload's tables that are not valid, once no
    /// job of the server's may still make them so. Their marks are forgotten.
    /// Where the database does not know the question, the load goes on without.
    pub(super) fn drop_invalid(&mut self, links: &mut [Link]) -> Result<(), Failure> {
        let tables: Vec<&str> = self.tables.iter().map(|table| table.name).collect();
        let Some(query) = self.plan.dialect.invalid_indexes_query(&tables) else { return Ok(()) };
        let repair = |steps: &Self, link: &mut Link| steps.repair(link, &query);
        for looked in self.phase(Phase::Repair, links.iter_mut().take(1), repair)? {
            self.keys_found.retain(|number| !looked.forgotten.contains(number));
            if let Some(warning) = looked.warning {
                self.observer.warning(&warning);
            }
        }
        Ok(())
    }

    fn repair(&self, link: &mut Link, query: &str) -> Result<Looked, Failure> {
        let found = match self.invalid(link, query) {
            Err(failure) if NOT_KNOWN.iter().any(|state| failure.is(state)) => {
                let (state, words) = failure.refusal().unwrap_or_default();
                let warning = format!(
                    "indexes that the load before may have left invalid are not looked for: the \
                     server refused {query}: {words} (SQLSTATE {state})"
                );
                return Ok(Looked { warning: Some(warning), ..Looked::default() });
            }
            found => found?,
        };
        let mut looked = Looked::default();
        if found.is_empty() {
            return Ok(looked);
        }
        // One that is being made is not valid either.
        self.await_jobs(link)?;
        let keys = self.plan.workload.key_statements(self.plan.dialect);
        let makes = |number: u64, name: &str| {
            let key = usize::try_from(number).ok().and_then(|number| keys.get(number));
            key.is_some_and(|key| names_index(&key.sql, name))
        };
        for name in &self.invalid(link, query)? {
            // The mark first: without it, an index that is still there is
            // found by the next load.
            for number in self.keys_found.iter().filter(|number| makes(**number, name)) {
                self.statement(link, &Mark::Key(*number).taken_back())?;
                looked.forgotten.push(*number);
            }
            self.statement(link, &format!("DROP INDEX \"{}\"", name.replace('"', "\"\"")))?;
        }
        Ok(looked)
    }

    fn invalid(&self, link: &mut Link, query: &str) -> Result<Vec<String>, Failure> {
        let what = || "asking for indexes that are not valid".to_owned();
        let rows = self.patiently(|| link.rows(query, what))?;
        Ok(rows.into_iter().filter_map(|row| row.into_iter().next()?).collect())
    }
}

/// True where the statement has the index's name as a word.
fn names_index(sql: &str, name: &str) -> bool {
    sql.split(|c: char| c.is_whitespace() || "();,".contains(c)).any(|word| word == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name is a whole word of the statement that makes the index.
    #[test]
    fn names_are_words() {
        let sql = "CREATE UNIQUE INDEX ASYNC orders_c ON orders (c_id, o_id)";
        assert!(names_index(sql, "orders_c") && names_index(sql, "o_id"));
        assert!(!names_index(sql, "orders_") && !names_index(sql, "c"));
    }
}
