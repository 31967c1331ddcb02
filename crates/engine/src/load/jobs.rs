//! Statements, and the jobs that some servers go on with after having
//! answered.

use std::time::Duration;

use super::error::{Failure, LoadError};
use super::link::Link;
use super::patience::pause;
use super::steps::{Steps, head};

/// How often a job is asked for where the server has no statement that waits.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// What a change of the schema is refused with where an interrupted load had
/// made it: the index, the constraint, the primary key or the function is
/// there.
const THERE_ALREADY: [&str; 4] = ["42P07", "42710", "42P16", "42723"];

impl Steps<'_> {
    /// One statement, and the wait for the job that it may leave in the server.
    pub(super) fn statement(&self, link: &mut Link, sql: &str) -> Result<(), Failure> {
        let done = self.patiently(|| link.execute(sql, || head(sql)))?;
        match done.job {
            Some(job) => self.wait_for(link, &job, sql),
            None => Ok(()),
        }
    }

    /// A statement for a key, on databases that cannot mark it in the same
    /// transaction. Where a load goes on it may have been done before.
    pub(super) fn statement_once(
        &self,
        link: &mut Link,
        sql: &str,
        is_new: bool,
    ) -> Result<(), Failure> {
        match self.statement(link, sql) {
            Err(failure) if !is_new && THERE_ALREADY.iter().any(|state| failure.is(state)) => {
                self.unfinished(link)?.iter().try_for_each(|job| self.wait_for(link, job, sql))
            }
            ended => ended,
        }
    }

    /// Jobs of the server's that go on.
    fn unfinished(&self, link: &mut Link) -> Result<Vec<String>, Failure> {
        let Some(query) = self.plan.dialect.unfinished_jobs_query() else { return Ok(Vec::new()) };
        let what = || "asking for unfinished jobs".to_owned();
        let jobs = self.patiently(|| link.rows(query, what))?;
        Ok(jobs.into_iter().filter_map(|mut row| row.pop()?).collect())
    }

    /// Waits until none is left, whatever has become of them.
    pub(super) fn await_jobs(&self, link: &mut Link) -> Result<(), Failure> {
        for job in self.unfinished(link)? {
            match self.wait_for(link, &job, "jobs of the load before") {
                // It shows in the catalog what it has left.
                Err(Failure::Error(LoadError::Statement { connection_lost: false, .. })) => {}
                ended => ended?,
            }
        }
        Ok(())
    }

    /// Waits until a job has ended: by the server's own statement for it, or
    /// by looking again and again where that fails.
    fn wait_for(&self, link: &mut Link, job: &str, sql: &str) -> Result<(), Failure> {
        let dialect = self.plan.dialect;
        let what = || format!("waiting for {}", head(sql));
        let waited = match dialect.wait_for_job(job) {
            Some(wait) => self.patiently(|| link.execute(&wait, what)).map(|_| true),
            None => Ok(false),
        };
        let Some(query) = dialect.job_status_query(job) else { return waited.map(drop) };
        let ended = match waited {
            Err(failure) if failure.refusal().is_none() => return Err(failure),
            waited => waited.is_ok_and(|ended| ended),
        };
        loop {
            let rows = self.patiently(|| link.rows(&query, what))?;
            // No row: the job is forgotten, so it has ended.
            let Some(row) = rows.first() else { return Ok(()) };
            let cell = |at: usize| row.get(at).and_then(Option::as_deref).unwrap_or_default();
            match cell(0) {
                "completed" => return Ok(()),
                "failed" | "cancelled" => {
                    let words = format!("its job {job} has {}: {}", cell(0), cell(1));
                    let (what, at) = (head(sql), link.at().to_owned());
                    let connection_lost = false;
                    return Err(Failure::Error(LoadError::Statement {
                        what,
                        at,
                        sqlstate: None,
                        words,
                        connection_lost,
                    }));
                }
                // The server's own wait is over, whatever the word.
                _ if ended => return Ok(()),
                _ => pause(&self.stop, LOOK_EVERY)?,
            }
        }
    }
}
