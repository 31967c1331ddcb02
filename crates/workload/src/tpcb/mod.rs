//! The workloads on pgbench's tables: pgbench's three scripts, and what others
//! made of them.
//!
//! Tables, columns, types and rows are those of `pgbench -i` (PostgreSQL
//! manual, pgbench, "What Is the 'Transaction' Actually Performed in
//! pgbench?"), so that data made by either can be driven by both. All variants
//! share the tables: one load serves them all.

mod audits;
mod data;
mod in_server;
mod reset;
mod schema;
mod scripts;

use std::ops::Range;

use pgdyno_target::dialect::Dialect;

use crate::error::{AccessError, ProbeError};
use crate::figures::{Commits, Figures, Finding};
use crate::params::check_pieces;
use crate::session::Session;
use crate::workload::{Found, Reset, Table, TableStatement, Transaction, Workload};

/// Rows of `pgbench_tellers` for each branch.
pub const TELLERS_PER_BRANCH: u64 = 10;
/// Rows of `pgbench_accounts` for each branch.
pub const ACCOUNTS_PER_BRANCH: u64 = 100_000;
/// From this scale on `aid` is a `bigint`, as with pgbench: account numbers
/// would leave 32 bits at 21,475, and 20,000 is the round number before it.
pub const BIGINT_SCALE: u64 = 20_000;
/// From this scale on `tid` is a `bigint` as well: ten tellers for each branch
/// leave 32 bits. With pgbench the load fails there.
pub const BIGINT_TELLERS_SCALE: u64 = i32::MAX as u64 / TELLERS_PER_BRANCH + 1;

/// What is run on pgbench's tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// pgbench's `tpcb-like`: three updates, a select and an insert.
    TpcbLike,
    /// TPC-B for tables that are spread by branch: every statement names the
    /// branch, and the account's is not always the teller's.
    Sharded,
    /// `tpcb-like` as one statement.
    SingleStatement,
    /// `tpcb-like` without the updates of tellers and branches.
    NoAggregates,
    /// pgbench's `simple-update`.
    SimpleUpdate,
    /// pgbench's `select-only`.
    SelectOnly,
    /// Several of these, by weights.
    Mixed,
}

impl Variant {
    /// The workload's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::TpcbLike => "tpcb",
            Self::Sharded => "tpcb-sharded",
            Self::SingleStatement => "tpcb-single-statement",
            Self::NoAggregates => "tpcb-no-aggregates",
            Self::SimpleUpdate => "simple-update",
            Self::SelectOnly => "select-only",
            Self::Mixed => "mixed",
        }
    }

    /// One line for people.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Self::TpcbLike => {
                "pgbench's TPC-B: 3 updates, 1 select, 1 insert; stresses commits and hot branches"
            }
            Self::Sharded => {
                "TPC-B by shard key: teller, branch and account belong together, 15 % of accounts \
                 are another branch's; stresses commits over one shard and over two"
            }
            Self::SingleStatement => {
                "TPC-B as one statement of CTEs; stresses hot branches, without round trips"
            }
            Self::NoAggregates => {
                "TPC-B without updates of tellers and branches; stresses commits without hot rows"
            }
            Self::SimpleUpdate => {
                "pgbench's simple update: 1 update, 1 select, 1 insert; stresses commits without \
                 hot rows"
            }
            Self::SelectOnly => {
                "pgbench's select only: 1 select by key; stresses reads from cache or disk"
            }
            Self::Mixed => {
                "selects, simple updates, TPC-B and inserts by weights; stresses reads beside \
                 writes"
            }
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

/// Share of the transactions whose account is of the teller's branch, in
/// percent (TPC-B, clause 5.3.5: 85 %).
pub const LOCAL_DEFAULT: u32 = 85;

/// Weights of the transactions of [`Variant::Mixed`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weights {
    /// `select-only`.
    pub select: u32,
    /// `simple-update`.
    pub update: u32,
    /// `tpcb-like`.
    pub tpcb: u32,
    /// A row of the history that changes no balance.
    pub insert: u32,
}

impl Default for Weights {
    /// Mostly reads, as of a shop: a choice, not a standard's.
    fn default() -> Self {
        Self { select: 70, update: 20, tpcb: 5, insert: 5 }
    }
}

/// pgbench's tables at a scale, and what is run on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tpcb {
    variant: Variant,
    scale: u64,
    branch: Branch,
    pieces: Option<u32>,
    local: u32,
    reads: bool,
    weights: Weights,
}

impl Tpcb {
    /// One branch, ten tellers and 100,000 accounts for each unit of scale.
    /// A scale of 0 is taken as 1.
    #[must_use]
    pub fn new(variant: Variant, scale: u64) -> Self {
        Self {
            variant,
            scale: scale.max(1),
            branch: Branch::default(),
            pieces: None,
            local: LOCAL_DEFAULT,
            reads: false,
            weights: Weights::default(),
        }
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

    /// The same with so many percent of accounts of the teller's branch; for
    /// [`Variant::Sharded`].
    #[must_use]
    pub const fn with_local(self, local: u32) -> Self {
        Self { local, ..self }
    }

    /// The same with or without reads of teller and branch; for
    /// [`Variant::NoAggregates`].
    #[must_use]
    pub const fn with_reads(self, reads: bool) -> Self {
        Self { reads, ..self }
    }

    /// The same with other weights; for [`Variant::Mixed`].
    #[must_use]
    pub const fn with_weights(self, weights: Weights) -> Self {
        Self { weights, ..self }
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
        let mut params = Vec::new();
        match self.variant {
            Variant::Sharded => params.push(("local", self.local.to_string())),
            _ => params.push(("branch", self.branch.name().to_owned())),
        }
        match self.variant {
            Variant::NoAggregates => {
                params.push(("reads", if self.reads { "yes" } else { "no" }.to_owned()));
            }
            Variant::Mixed => {
                let Weights { select, update, tpcb, insert } = self.weights;
                let all =
                    [("select", select), ("update", update), ("tpcb", tpcb), ("insert", insert)];
                params.extend(all.map(|(name, weight)| (name, weight.to_string())));
            }
            _ => {}
        }
        params.extend(self.pieces.map(|pieces| ("pieces", pieces.to_string())));
        params
    }

    fn check(&self, dialect: &dyn Dialect) -> Result<(), String> {
        check_pieces(self.pieces, dialect)
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

    fn server_rows(&self, table: usize, dialect: &dyn Dialect, _seed: u64) -> Option<String> {
        in_server::select(table, dialect)
    }

    fn transactions(&self) -> Vec<Transaction> {
        scripts::transactions(self)
    }

    fn audit_query(&self, _dialect: &dyn Dialect) -> String {
        audits::query()
    }

    fn judge_base(&self, base: &Figures) -> Vec<Finding> {
        audits::judge_base(self, base)
    }

    fn judge_run(&self, base: &Figures, now: &Figures, commits: &[Commits]) -> Vec<Finding> {
        audits::judge_run(self.variant, base, now, audits::writing(self.variant, commits))
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
