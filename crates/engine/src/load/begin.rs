//! From where a load begins: what an earlier one has left, and the tables that
//! are made where that is nothing.

use std::sync::atomic::Ordering;

use super::chunks::Chunks;
use super::error::{Failure, LoadError};
use super::link::Link;
use super::marks::{self, Before, Done, Mark};
use super::plan;
use super::progress::{Begun, Phase};
use super::steps::Steps;

/// A mark, or something else, is there already.
const UNIQUE_VIOLATION: &str = "23505";

impl Steps<'_> {
    /// Does `work` and writes its mark, both or neither. `None` where the mark
    /// is there already, so that nothing was to be done. `what` is the work in
    /// words, for the errors of what surrounds it.
    pub(super) fn marked<T>(
        &self,
        link: &mut Link,
        mark: Mark,
        what: &dyn Fn() -> String,
        mut work: impl FnMut(&mut Link) -> Result<T, Failure>,
    ) -> Result<Option<T>, Failure> {
        let sql = mark.statement();
        self.patiently(|| {
            // The mark first: it waits for whoever writes the same one.
            let marking = || format!("the mark of {} in {}", what(), marks::TABLE);
            let noted = link.together(&["BEGIN", &sql], marking);
            let done = match noted {
                Err(failure) if failure.is(UNIQUE_VIOLATION) => {
                    link.roll_back();
                    return Ok(None);
                }
                Err(failure) => Err(failure),
                Ok(_) => work(link),
            };
            let ended = done.and_then(|done| {
                link.execute("COMMIT", || format!("COMMIT of {}", what()))?;
                Ok(Some(done))
            });
            if ended.is_err() {
                link.roll_back();
            }
            ended
        })
    }

    /// What an earlier load has left, its chunks included where they count.
    pub(super) fn look_back(&mut self, links: &mut [Link]) -> Result<Before, Failure> {
        let identity = plan::identity(&self.how(), &self.way);
        let resume = self.plan.resume;
        let look = |steps: &Self, link: &mut Link| steps.read_marks(link, &identity, resume);
        let mut found = self.phase(Phase::Drop, links.iter_mut().take(1), look)?;
        let (before, chunks) = found.pop().unwrap_or((Before::Nothing, Done::default()));
        self.chunks_found = chunks;
        Ok(before)
    }

    fn read_marks(
        &self,
        link: &mut Link,
        identity: &marks::Identity,
        resume: bool,
    ) -> Result<(Before, Done), Failure> {
        const UNDEFINED_TABLE: &str = "42P01";
        let what = || format!("reading {}", marks::TABLE);
        let rows = match self.patiently(|| link.rows(&marks::look(), what)) {
            Err(failure) if failure.is(UNDEFINED_TABLE) => {
                return Ok((Before::Nothing, Done::default()));
            }
            rows => rows?,
        };
        let before = Before::judge(&rows, identity);
        let mut done = Done::default();
        let mut from = (resume && matches!(before, Before::Same { .. })).then_some(0);
        while let Some(number) = from {
            let page = self.patiently(|| link.rows(&marks::page(number), what))?;
            from = done.add_page(&page);
        }
        Ok((before, done))
    }

    /// Brings the target to where rows can be loaded.
    pub(super) fn begin(&mut self, links: &mut [Link], before: &Before) -> Result<Begun, Failure> {
        if self.plan.resume {
            match before {
                Before::Same { keys } => return Ok(self.go_on(keys)),
                Before::Other(differences) => {
                    return Err(LoadError::OtherLoad { differences: differences.join(", ") }.into());
                }
                // Tables that look complete may be those of another load, which
                // this one was to replace when it was broken off: with another
                // seed they would have the same counts.
                Before::Nothing | Before::Scraps => {}
            }
        }
        if let Some(other) = before.other_workload() {
            self.observer.other_given_up(other);
        }
        self.chunks_found = Done::default();
        self.make_tables(links, *before == Before::Nothing)?;
        Ok(Begun::Anew)
    }

    /// Takes what is there as done.
    fn go_on(&mut self, keys: &[u64]) -> Begun {
        self.keys_found = keys.to_vec();
        let chunks = Chunks::new(&self.tables, self.way.cut);
        for chunk in self.chunks_found.iter().filter_map(|number| chunks.get(number)) {
            let rows = chunk.rows.end - chunk.rows.start;
            self.state[chunk.table].rows_found += rows;
            self.state[chunk.table].rows_done.fetch_add(rows, Ordering::Relaxed);
        }
        Begun::Continued { rows: self.state.iter().map(|state| state.rows_found).sum() }
    }

    /// Drops and creates, in an order in which a crash at any point leaves
    /// either nothing to go on with or the whole of it.
    fn make_tables(&mut self, links: &mut [Link], no_marks: bool) -> Result<(), Failure> {
        let (workload, dialect) = (self.plan.workload, self.plan.dialect);
        let plan_statement = marks::plan_statement(&plan::identity(&self.how(), &self.way));
        let new_marks = || {
            let create = marks::create(dialect).into_iter();
            create.chain([plan_statement.clone()]).collect::<Vec<_>>()
        };
        let drop = workload.drop_statements(dialect);
        let mut before = if no_marks { Vec::new() } else { vec![marks::forget()] };
        let mut after = Vec::new();
        if !self.marks() {
            after = marks::drop(dialect);
        } else if no_marks {
            before.extend(new_marks());
        } else {
            after = marks::drop(dialect);
            after.extend(new_marks());
        }
        let all: Vec<String> = before.into_iter().chain(drop).chain(after).collect();
        self.one_by_one(Phase::Drop, links, &all)?;
        let mut create = plan::create(workload, dialect, self.way.frozen);
        if self.marks() {
            create.push(Mark::Tables.statement());
        }
        self.one_by_one(Phase::Create, links, &create)
    }
}
