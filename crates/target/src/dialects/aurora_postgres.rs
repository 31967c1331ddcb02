//! Amazon Aurora PostgreSQL (and what else of Amazon RDS has its functions):
//! PostgreSQL on another storage.

use pgdyno_token::Service;

use super::by_question;
use crate::detect::{Probe, ProbeError};
use crate::dialect::{Dialect, Difference, Evidence, SizeRelation};

/// Amazon Aurora PostgreSQL.
#[derive(Debug, Clone, Copy)]
pub(super) struct AuroraPostgres;

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

    fn size_relation(&self) -> SizeRelation {
        SizeRelation::SAME_STORAGE
    }
}

static DIFFERENCES: [Difference; 1] = [Difference::new(
    "no CHECKPOINT before a run",
    "storage applies the log by itself, and the master user may not ask for one",
    "Amazon Aurora User Guide, Aurora storage",
)
.unverified()];
