//! PostgreSQL itself: the defaults of [`Dialect`], and how to recognise it.

use crate::detect::{Probe, ProbeError};
use crate::dialect::{Dialect, Evidence};
use crate::params::{Largest, PARTITION_PARAMS, Partitions, TableParam, TableParamError};

/// PostgreSQL 13 and later.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Postgres {
    partitions: Option<Partitions>,
}

impl Postgres {
    /// With tables as workloads want them.
    pub(crate) const PLAIN: Self = Self { partitions: None };
}

impl Dialect for Postgres {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn title(&self) -> &'static str {
        "PostgreSQL"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["postgresql", "pg"]
    }

    fn recognise(&self, probe: &mut dyn Probe) -> Result<Option<Evidence>, ProbeError> {
        let Some(row) =
            probe.first_row("SELECT version(), current_setting('server_version_num')")?
        else {
            return Ok(None);
        };
        let [Some(version), num] = row.as_slice() else { return Ok(None) };
        // Databases that speak the protocol without being PostgreSQL put
        // their own name first, as "CockroachDB CCL v23…" does.
        if !version.starts_with("PostgreSQL ") {
            return Ok(None);
        }
        let version_num = num.as_deref().and_then(|num| num.parse().ok());
        Ok(Some(Evidence {
            version: version.clone(),
            version_num,
            how: "version() begins with PostgreSQL, and no other kind was recognised".to_owned(),
        }))
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
