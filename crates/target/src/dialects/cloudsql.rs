//! Google Cloud SQL for PostgreSQL: PostgreSQL with a superuser that is none.

use super::{by_question, on_or_off};
use crate::detect::{Probe, ProbeError};
use crate::dialect::{Dialect, Difference, Evidence, SizeRelation};
use crate::params::{Largest, PARTITION_PARAMS, Partitions, TableParam, TableParamError};

/// Google Cloud SQL for PostgreSQL.
#[derive(Debug, Clone, Copy)]
pub(super) struct CloudSql {
    partitions: Option<Partitions>,
}

impl CloudSql {
    /// With tables as workloads want them.
    pub(super) const PLAIN: Self = Self { partitions: None };
}

impl Dialect for CloudSql {
    fn name(&self) -> &'static str {
        "cloudsql"
    }

    fn title(&self) -> &'static str {
        "Google Cloud SQL for PostgreSQL"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["cloud-sql"]
    }

    fn recognise(&self, probe: &mut dyn Probe) -> Result<Option<Evidence>, ProbeError> {
        let question = "SELECT current_setting('cloudsql.iam_authentication', true), version()";
        by_question(probe, question, on_or_off, "it has settings of Cloud SQL")
    }

    fn differences(&self) -> &'static [Difference] {
        &DIFFERENCES
    }

    fn checkpoint_statement(&self) -> Option<&'static str> {
        None
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
    "it needs a superuser or pg_checkpoint, and which of them users have is not documented",
    "Cloud SQL for PostgreSQL documentation, users",
)
.unverified()];
