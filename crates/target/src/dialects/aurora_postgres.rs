//! Amazon Aurora PostgreSQL (and what else of Amazon RDS has its functions):
//! PostgreSQL on another storage.

use pgdyno_token::Service;

use super::by_question;
use crate::detect::{Probe, ProbeError};
use crate::dialect::{Dialect, Difference, Evidence, SizeRelation};
use crate::params::{Largest, PARTITION_PARAMS, Partitions, TableParam, TableParamError};
use crate::statistics::{Statistics, postgres, waits};

/// Amazon Aurora PostgreSQL.
#[derive(Debug, Clone, Copy)]
pub(super) struct AuroraPostgres {
    partitions: Option<Partitions>,
}

impl AuroraPostgres {
    /// With tables as workloads want them.
    pub(super) const PLAIN: Self = Self { partitions: None };
}

impl Dialect for AuroraPostgres {
    fn name(&self) -> &'static str {
        "aurora-postgres"
    }

    fn title(&self) -> &'static str {
        "Amazon Aurora PostgreSQL"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["aurora", "aurora-postgresql"]
    }

    fn recognise(&self, probe: &mut dyn Probe) -> Result<Option<Evidence>, ProbeError> {
        // The function's absence is null, not an error in the server's log.
        let question = "SELECT to_regproc('aurora_version')::text, version()";
        by_question(
            probe,
            question,
            |v| v.ends_with("aurora_version"),
            "there is a function of Aurora",
        )
    }

    fn token_service(&self) -> Option<Service> {
        Some(Service::Rds)
    }

    fn differences(&self) -> &'static [Difference] {
        &DIFFERENCES
    }

    fn checkpoint_statement(&self) -> Option<&'static str> {
        None
    }

    /// Those of PostgreSQL; Aurora counts waits by itself, so that nothing needs
    /// to be sampled.
    fn statistics(&self, version_num: Option<u32>) -> Statistics {
        let mut all = postgres::statistics(version_num, self.database_size_query());
        all.queries.push(waits::aurora());
        Statistics { waits_now: None, ..all }
    }

    fn size_relation(&self) -> SizeRelation {
        SizeRelation::SAME_STORAGE
    }

    fn table_params(&self) -> &'static [TableParam] {
        PARTITION_PARAMS
    }

    fn with_table_params(
        &self,
        params: &[(String, String)],
        largest: Option<Largest>,
    ) -> Result<Option<&'static dyn Dialect>, TableParamError> {
        let partitions = Partitions::chosen(self, params, largest)?;
        Ok(Some(super::for_good(Self { partitions })))
    }

    fn partitions(&self) -> Option<&Partitions> {
        self.partitions.as_ref()
    }
}

static DIFFERENCES: [Difference; 1] = [Difference::new(
    "no CHECKPOINT before a run",
    "storage applies the log by itself, and the master user may not ask for one",
    "Amazon Aurora User Guide, Aurora storage",
)
.unverified()];
