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

impl Steps<'_> {
    /// Drops the indexes of the workload's tables that are not valid, once no
    /// job of the server's may still make them so. Their marks are forgotten.
    pub(super) fn drop_invalid(&mut self, links: &mut [Link]) -> Result<(), Failure> {
        let tables: Vec<&str> = self.tables.iter().map(|table| table.name).collect();
        let Some(query) = self.plan.dialect.invalid_indexes_query(&tables) else { return Ok(()) };
        let keys = self.plan.workload.key_statements(self.plan.dialect);
        let drop = |steps: &Self, link: &mut Link| {
            if steps.invalid(link, &query)?.is_empty() {
                return Ok(Vec::new());
            }
            // One that is being made is not valid either.
            steps.await_jobs(link)?;
            let names = steps.invalid(link, &query)?;
            let makes = |number: &u64, name: &str| {
                let key = usize::try_from(*number).ok().and_then(|number| keys.get(number));
                key.is_some_and(|key| names_index(&key.sql, name))
            };
            let mut forgotten = Vec::new();
            for name in &names {
                // The mark first: without it, an index that is still there is
                // found by the next load.
                for number in steps.keys_found.iter().filter(|number| makes(number, name)) {
                    steps.statement(link, &Mark::Key(*number).taken_back())?;
                    forgotten.push(*number);
                }
                steps.statement(link, &format!("DROP INDEX {name}"))?;
            }
            Ok(forgotten)
        };
        let forgotten = self.phase(Phase::Drop, links.iter_mut().take(1), drop)?.concat();
        self.keys_found.retain(|number| !forgotten.contains(number));
        Ok(())
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
