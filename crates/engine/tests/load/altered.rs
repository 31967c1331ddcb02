//! A workload with other keys and other last statements than its own.

use std::ops::Range;

use pgdyno_target::Dialect;
use pgdyno_workload::{
    AccessError, Commits, Figures, Finding, Found, ProbeError, Reset, Session, Table,
    TableStatement, Transaction, Workload,
};

use crate::common::workload;

#[derive(Debug)]
pub(crate) struct Altered {
    pub(crate) inner: Box<dyn Workload>,
    pub(crate) keys: &'static [&'static str],
    pub(crate) settle: &'static [&'static str],
}

impl Altered {
    /// One of pgbench's workloads at scale 1, without keys.
    pub(crate) fn new(name: &str) -> Self {
        Self { inner: workload(name, 1), keys: &[], settle: &[] }
    }
}

fn statements(sqls: &[&str]) -> Vec<TableStatement> {
    let one = |sql: &&str| TableStatement { table: "pgbench_tellers", sql: (*sql).to_owned() };
    sqls.iter().map(one).collect()
}

impl Workload for Altered {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn description(&self) -> &'static str {
        self.inner.description()
    }

    fn scale(&self) -> u64 {
        self.inner.scale()
    }

    fn params(&self) -> Vec<(&'static str, String)> {
        self.inner.params()
    }

    fn tables(&self) -> Vec<Table> {
        self.inner.tables()
    }

    fn drop_statements(&self, dialect: &dyn Dialect) -> Vec<String> {
        self.inner.drop_statements(dialect)
    }

    fn create_statements(&self, dialect: &dyn Dialect) -> Vec<String> {
        self.inner.create_statements(dialect)
    }

    fn key_statements(&self, _: &dyn Dialect) -> Vec<TableStatement> {
        statements(self.keys)
    }

    fn settle_statements(&self, _: &dyn Dialect) -> Vec<TableStatement> {
        statements(self.settle)
    }

    fn write_rows(&self, table: usize, rows: Range<u64>, seed: u64, out: &mut Vec<u8>) {
        self.inner.write_rows(table, rows, seed, out);
    }

    fn transactions(&self) -> Vec<Transaction> {
        self.inner.transactions()
    }

    fn audit_query(&self, dialect: &dyn Dialect) -> String {
        self.inner.audit_query(dialect)
    }

    fn judge_base(&self, base: &Figures) -> Vec<Finding> {
        self.inner.judge_base(base)
    }

    fn judge_run(&self, base: &Figures, now: &Figures, commits: &[Commits]) -> Vec<Finding> {
        self.inner.judge_run(base, now, commits)
    }

    fn probe(&self, session: &mut dyn Session, target: &str) -> Result<Found, ProbeError> {
        self.inner.probe(session, target)
    }

    fn reset(
        &self,
        session: &mut dyn Session,
        dialect: &dyn Dialect,
    ) -> Result<Reset, AccessError> {
        self.inner.reset(session, dialect)
    }
}
