//! The end of a load: was everything loaded, and once?

use std::sync::atomic::{AtomicUsize, Ordering};

use pgdyno_workload::{Condition, Table};

use super::error::{Failure, LoadError};
use super::link::Link;
use super::marks;
use super::plan;
use super::progress::Phase;
use super::steps::Steps;

impl Steps<'_> {
    /// Counts rows and adds up keys, and compares both with the plan; then
    /// there is nothing left to go on with.
    pub(super) fn check(&mut self, links: &mut [Link]) -> Result<(), Failure> {
        let tables = self.tables.clone();
        // The largest table first, so that it does not end alone.
        let mut order: Vec<&Table> = tables.iter().collect();
        order.sort_by_key(|table| std::cmp::Reverse(table.rows));
        let fresh = self.plan.workload.fresh_conditions(self.plan.dialect);
        let next = AtomicUsize::new(0);
        let run = |steps: &Self, link: &mut Link| {
            let jit = steps.plan.dialect.no_jit_statements();
            let set = |link: &mut Link, sql| {
                // Refused, the checks are made all the same.
                let _ = link.execute(sql, || "preparing the checks".to_owned());
            };
            if let Some((off, _)) = jit {
                set(link, off);
            }
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let condition = number.checked_sub(order.len()).map(|number| fresh.get(number));
                match (order.get(number), condition) {
                    (Some(table), _) => steps.check_table(link, table)?,
                    (None, Some(Some(condition))) => steps.check_condition(link, condition)?,
                    (None, _) => break,
                }
            }
            if let Some((_, back)) = jit {
                set(link, back);
            }
            Ok(())
        };
        self.phase(Phase::Check, links.iter_mut().take(order.len() + fresh.len()), run)?;
        if self.marks() {
            self.one_by_one(Phase::Check, links, &marks::drop(self.plan.dialect))?;
        }
        Ok(())
    }

    fn check_table(&self, link: &mut Link, table: &Table) -> Result<(), Failure> {
        let (mut rows, mut keys) = (0, 0);
        let (mut rows_expected, mut keys_expected) = (0, 0);
        for look in plan::looks(table, self.plan.dialect.count_rows_max()) {
            let what = || format!("counting the rows of {}", table.name);
            let figures = self.patiently(|| link.figures(&look.sql, what))?;
            rows += figures.get("rows");
            keys += figures.get("keys");
            rows_expected += look.rows;
            keys_expected += look.keys;
        }
        if (rows, keys) == (rows_expected, keys_expected) {
            return Ok(());
        }
        let told = |rows: i128, keys: i128| format!("{rows} rows with a sum of keys of {keys}");
        Err(LoadError::Check {
            table: table.name,
            found: told(rows, keys),
            expected: told(rows_expected, keys_expected),
        }
        .into())
    }

    /// A rule of the workload's own for freshly loaded tables.
    fn check_condition(&self, link: &mut Link, condition: &Condition) -> Result<(), Failure> {
        let what = || format!("checking \"{}\"", condition.name);
        let figures = self.patiently(|| link.figures(&condition.sql, what))?;
        match figures.iter().next() {
            Some((_, 0)) => Ok(()),
            told => {
                let (name, title) = (condition.name, condition.title);
                let violations = told.map_or(0, |(_, violations)| violations);
                Err(LoadError::Fresh { name, title, violations }.into())
            }
        }
    }
}
