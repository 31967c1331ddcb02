//! The workload of pgbench: tables like TPC-B's, and pgbench's three scripts.
//!
//! Tables, columns, types and rows are those of `pgbench -i` (PostgreSQL
//! manual, pgbench, "What Is the 'Transaction' Actually Performed in
//! pgbench?"), so that data made by either can be driven by both.

mod audits;
mod data;
mod reset;
mod schema;
mod scripts;

use std::ops::Range;

use pgdyno_target::dialect::Dialect;

use crate::audit::{AccessError, ProbeError};
use crate::figures::{Commits, Figures, Finding};
use crate::session::Session;
use crate::workload::{Found, Reset, Table, TableStatement, Transaction, Workload};

/// Rows of `pgbench_tellers` for each branch.
pub const TELLERS_PER_BRANCH: u64 = 10;
/// Rows of `pgbench_accounts` for each branch.
pub const ACCOUNTS_PER_BRANCH: u64 = 100_000;
/// From this scale on `aid` is a `bigint`, as with pgbench: account numbers
/// would leave 32 bits at 21,475, and 20,000 is the round number before it.
pub const BIGINT_SCALE: u64 = 20_000;

/// Which of pgbench's scripts is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// `tpcb-like`: three updates, a select and an insert.
    TpcbLike,
    /// `simple-update`: without the updates of tellers and branches.
    SimpleUpdate,
    /// `select-only`.
    SelectOnly,
}

impl Variant {
    /// The workload's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::TpcbLike => "tpcb",
            Self::SimpleUpdate => "simple-update",
            Self::SelectOnly => "select-only",
        }
    }

    /// One line for people.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Self::TpcbLike => {
                "pgbench's TPC-B: 3 updates, 1 select, 1 insert; stresses commits and hot branches"
            }
            Self::SimpleUpdate => {
                "pgbench's simple update: 1 update, 1 select, 1 insert; commits without hot rows"
            }
            Self::SelectOnly => "pgbench's select only: 1 select by key; reads from cache or disk",
        }
    }
}

/// Which branch and teller a transaction uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Branch {
    /// By chance, whatever the account's own is, as pgbench does.
    #[default]
    Drawn,
    /// The account's own branch and one of its tellers, and every statement
    /// names it: on a database that spreads the tables by branch, one shard
    /// then serves the transaction.
    OfAccount,
}

impl Branch {
    /// By the parameter's value.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        [Self::Drawn, Self::OfAccount].into_iter().find(|branch| branch.name() == name)
    }

    /// The parameter's value.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Drawn => "drawn",
            Self::OfAccount => "account",
        }
    }
}

/// pgbench's tables at a scale, driven by one of its scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tpcb {
    variant: Variant,
    scale: u64,
    branch: Branch,
    pieces: Option<u32>,
}

impl Tpcb {
    /// One branch, ten tellers and 100,000 accounts for each unit of scale.
    /// A scale of 0 is taken as 1.
    #[must_use]
    pub fn new(variant: Variant, scale: u64) -> Self {
        Self { variant, scale: scale.max(1), branch: Branch::default(), pieces: None }
    }

    /// The same with another choice of branches.
    #[must_use]
    pub const fn with_branch(self, branch: Branch) -> Self {
        Self { branch, ..self }
    }

    /// The same with tables of so many pieces.
    #[must_use]
    pub const fn with_pieces(self, pieces: u32) -> Self {
        Self { pieces: Some(pieces), ..self }
    }

    /// Rows of `pgbench_tellers`.
    #[must_use]
    pub const fn tellers(&self) -> u64 {
        self.scale.saturating_mul(TELLERS_PER_BRANCH)
    }

    /// Rows of `pgbench_accounts`.
    #[must_use]
    pub const fn accounts(&self) -> u64 {
        self.scale.saturating_mul(ACCOUNTS_PER_BRANCH)
    }
}

impl Workload for Tpcb {
    fn name(&self) -> &'static str {
        self.variant.name()
    }

    fn description(&self) -> &'static str {
        self.variant.description()
    }

    fn scale(&self) -> u64 {
        self.scale
    }

    fn params(&self) -> Vec<(&'static str, String)> {
        let mut params = vec![("branch", self.branch.name().to_owned())];
        params.extend(self.pieces.map(|pieces| ("pieces", pieces.to_string())));
        params
    }

    fn check(&self, dialect: &dyn Dialect) -> Result<(), String> {
        if self.pieces.is_some() && dialect.pieces().is_none() {
            return Err(format!(
                "--param pieces: {} does not let one choose into how many pieces a table is split",
                dialect.title()
            ));
        }
        Ok(())
    }

    fn tables(&self) -> Vec<Table> {
        schema::tables(self)
    }

    fn drop_statements(&self, dialect: &dyn Dialect) -> Vec<String> {
        schema::drop_statements(dialect)
    }

    fn create_statements(&self, dialect: &dyn Dialect) -> Vec<String> {
        schema::create_statements(self, dialect)
    }

    fn key_statements(&self, dialect: &dyn Dialect) -> Vec<TableStatement> {
        schema::key_statements(self, dialect)
    }

    fn settle_statements(&self, dialect: &dyn Dialect) -> Vec<TableStatement> {
        schema::settle_statements(dialect)
    }

    fn write_rows(&self, table: usize, rows: Range<u64>, _seed: u64, out: &mut Vec<u8>) {
        data::write_rows(self, table, rows, out);
    }

    fn transactions(&self) -> Vec<Transaction> {
        scripts::transactions(self.variant, self.branch)
    }

    fn audit_query(&self, _dialect: &dyn Dialect) -> String {
        audits::query()
    }

    fn judge_base(&self, base: &Figures) -> Vec<Finding> {
        audits::judge_base(self, base)
    }

    fn judge_run(&self, base: &Figures, now: &Figures, commits: &[Commits]) -> Vec<Finding> {
        let total = commits.iter().copied().fold(Commits::default(), |sum, one| sum + one);
        audits::judge_run(self.variant, base, now, total)
    }

    fn probe(&self, session: &mut dyn Session, target: &str) -> Result<Found, ProbeError> {
        audits::probe(self, session, target)
    }

    fn reset(
        &self,
        session: &mut dyn Session,
        dialect: &dyn Dialect,
    ) -> Result<Reset, AccessError> {
        reset::reset(self, session, dialect)
    }
}
