//! Google AlloyDB: PostgreSQL with another storage, a column store and tiers
//! of caches.

use super::{by_question, on_or_off};
use crate::detect::{Probe, ProbeError};
use crate::dialect::{Dialect, Difference, Evidence, SizeRelation};
use crate::params::{Largest, PARTITION_PARAMS, Partitions, TableParam, TableParamError};

/// Google AlloyDB.
#[derive(Debug, Clone, Copy)]
pub(super) struct AlloyDb {
    partitions: Option<Partitions>,
}

impl AlloyDb {
    /// With tables as workloads want them.
    pub(super) const PLAIN: Self = Self { partitions: None };
}

impl Dialect for AlloyDb {
    fn name(&self) -> &'static str {
        "alloydb"
    }

    fn title(&self) -> &'static str {
        "Google AlloyDB"
    }

    fn recognise(&self, probe: &mut dyn Probe) -> Result<Option<Evidence>, ProbeError> {
        let question = "SELECT coalesce(current_setting('alloydb.iam_authentication', true), \
                        current_setting('google_columnar_engine.enabled', true)), version()";
        by_question(probe, question, on_or_off, "it has settings of AlloyDB")
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
    "the log is applied by the storage; caches stay warm over runs, and only a restart of the \
     instance clears them",
    "AlloyDB OLTP benchmarking guide",
)
.unverified()];
