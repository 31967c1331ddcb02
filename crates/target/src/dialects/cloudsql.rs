//! Google Cloud SQL for PostgreSQL: PostgreSQL with a superuser that is none.

use super::{by_question, on_or_off};
use crate::detect::{Probe, ProbeError};
use crate::dialect::{Dialect, Difference, Evidence, SizeRelation};

/// Google Cloud SQL for PostgreSQL.
#[derive(Debug, Clone, Copy)]
pub(super) struct CloudSql;

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
}

static DIFFERENCES: [Difference; 1] = [Difference::new(
    "no CHECKPOINT before a run",
    "it needs a superuser or pg_checkpoint, and which of them users have is not documented",
    "Cloud SQL for PostgreSQL documentation, users",
)
.unverified()];
