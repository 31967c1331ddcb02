//! TPC-C as a workload: each question is answered in a file of its own.

use std::ops::Range;
use std::sync::Arc;

use pgdyno_target::dialect::{Dialect, ForeignKeys};

use super::terminal::TpccTerminals;
use super::transactions;
use super::{
    DESCRIPTION, Profile, Tpcc, audits, conditions, invariants, population, probe, reset, sanity,
    schema, shapes, told,
};
use crate::condition::{Asked, Condition};
use crate::error::{AccessError, ProbeError};
use crate::figures::{Commits, Figures, Finding};
use crate::params::check_pieces;
use crate::procedure::Terminals;
use crate::session::Session;
use crate::told::Told;
use crate::workload::{Found, Reset, Table, TableStatement, Transaction, Workload};

impl Workload for Tpcc {
    fn name(&self) -> &'static str {
        "tpcc"
    }

    fn description(&self) -> &'static str {
        match self.params.profile {
            Profile::Faithful => DESCRIPTION,
            Profile::Hammerdb => {
                "the lighter work of HammerDB's TPROC-C, derived from TPC-C: not comparable with \
                 profile=faithful"
            }
        }
    }

    fn scale(&self) -> u64 {
        self.scale
    }

    fn params(&self) -> Vec<(&'static str, String)> {
        self.params.told()
    }

    fn check(&self, dialect: &dyn Dialect) -> Result<(), String> {
        check_pieces(self.params.pieces, dialect)?;
        let title = dialect.title();
        if self.params.procs && !dialect.has_plpgsql() {
            return Err(format!("--param procs=1: {title} runs no functions in PL/pgSQL"));
        }
        if self.params.partitions.is_some() && !dialect.table_options().partitions {
            return Err(format!("--param partitions: {title} has no PARTITION BY"));
        }
        if self.params.partitions.is_some() && self.params.pieces.is_some() {
            return Err("--param partitions and --param pieces: only one of them".to_owned());
        }
        let late =
            matches!(dialect.foreign_keys(), ForeignKeys::Anywhere | ForeignKeys::WithinShard);
        if self.params.foreign_keys && !late {
            return Err(format!(
                "--param foreign-keys=1: {title} takes none after the load, and with them in place \
                 tables cannot be loaded side by side"
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

    fn index_names(&self) -> Vec<&'static str> {
        shapes::INDEXES.iter().map(|index| index.name).collect()
    }

    fn settle_statements(&self, dialect: &dyn Dialect) -> Vec<TableStatement> {
        schema::settle_statements(self, dialect)
    }

    fn can_copy_freeze(&self) -> bool {
        // "cannot perform COPY FREEZE on a partitioned table".
        self.params.partitions.is_none()
    }

    fn write_rows(&self, table: usize, rows: Range<u64>, seed: u64, out: &mut Vec<u8>) {
        population::write_rows(self, table, rows, seed, out);
    }

    fn fresh_conditions(&self, _dialect: &dyn Dialect) -> Vec<Condition> {
        sanity::conditions(self)
    }

    fn transactions(&self) -> Vec<Transaction> {
        transactions::transactions(&self.params)
    }

    fn terminals(
        &self,
        session: &mut dyn Session,
    ) -> Result<Option<Arc<dyn Terminals>>, AccessError> {
        let c_last = probe::loaded(self, session)?.constants.c_last;
        Ok(Some(Arc::new(TpccTerminals::new(self.params, self.scale, c_last))))
    }

    fn audit_query(&self, _dialect: &dyn Dialect) -> String {
        audits::query()
    }

    fn judge_base(&self, base: &Figures) -> Vec<Finding> {
        audits::judge_base(self.scale, base)
    }

    fn judge_run(&self, base: &Figures, now: &Figures, commits: &[Commits]) -> Vec<Finding> {
        audits::judge_run(base, now, commits)
    }

    fn judge_told(
        &self,
        base: &Figures,
        now: &Figures,
        commits: &[Commits],
        told: &Told,
    ) -> Vec<Finding> {
        told::judge(self.params.profile, base, now, commits, told)
    }

    fn conditions(&self, dialect: &dyn Dialect) -> Vec<Condition> {
        self.conditions_asked(dialect, true)
    }

    fn conditions_asked(&self, _dialect: &dyn Dialect, full: bool) -> Vec<Condition> {
        let mut all = conditions::conditions(self.params.profile);
        all.retain(|condition| full || condition.asked == Asked::EachRun);
        // What it must come to takes a draw for each stock row: seconds at
        // thousands of warehouses, which a run that does not ask shall not pay.
        if full && self.params.profile == Profile::Faithful {
            // Needs the seed, which is known once the tables were looked at.
            all.extend(self.loaded().map(|loaded| invariants::stock_since_load(&loaded)));
        }
        all
    }

    fn probe(&self, session: &mut dyn Session, target: &str) -> Result<Found, ProbeError> {
        probe::probe(self, session, target)
    }

    fn seed_loaded(&self, session: &mut dyn Session) -> Option<u64> {
        probe::loaded(self, session).ok().map(|loaded| loaded.seed)
    }

    fn reset(
        &self,
        session: &mut dyn Session,
        dialect: &dyn Dialect,
    ) -> Result<Reset, AccessError> {
        reset::reset(self, session, dialect)
    }
}
