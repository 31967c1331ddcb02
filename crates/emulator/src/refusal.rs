//! What the emulator answers in place of the server: an error with its fields.
//!
//! Texts and SQLSTATEs are those of Aurora DSQL as recorded or documented in
//! 2026; a text that nobody has recorded is marked so where it is made.

/// `feature_not_supported`: how DSQL refuses a statement.
pub(crate) const UNSUPPORTED: &str = "0A000";
/// `program_limit_exceeded`: DSQL's limits of a transaction.
pub(crate) const LIMIT: &str = "54000";
/// `serialization_failure`: DSQL's conflicts.
pub(crate) const CONFLICT: &str = "40001";
/// `undefined_object`.
pub(crate) const UNDEFINED: &str = "42704";
/// `in_failed_sql_transaction`.
pub(crate) const FAILED: &str = "25P02";

/// An error to be sent to the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) sqlstate: &'static str,
    pub(crate) message: String,
    pub(crate) detail: Option<String>,
    pub(crate) hint: Option<String>,
}

impl Refusal {
    pub(crate) fn new(sqlstate: &'static str, message: impl Into<String>) -> Self {
        Self { sqlstate, message: message.into(), detail: None, hint: None }
    }

    /// A statement or clause that DSQL does not have.
    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self::new(UNSUPPORTED, message)
    }

    pub(crate) fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// A row that another transaction changed and committed first.
    pub(crate) fn data_conflict() -> Self {
        Self::new(CONFLICT, "change conflicts with another transaction (OC000)")
    }

    /// The catalog is newer than the session's copy of it.
    pub(crate) fn schema_conflict() -> Self {
        Self::new(CONFLICT, "schema has been updated by another transaction (OC001)")
    }

    /// Anything but the end of a failed transaction.
    pub(crate) fn failed_transaction() -> Self {
        Self::new(
            FAILED,
            "current transaction is aborted, commands ignored until end of transaction block",
        )
    }

    /// DDL and DML in one transaction, in either order.
    pub(crate) fn mixed() -> Self {
        Self::unsupported("ddl and dml are not supported in the same transaction")
    }

    /// A second DDL statement in a transaction.
    pub(crate) fn second_ddl() -> Self {
        Self::unsupported("multiple ddl statements not supported in a transaction")
    }
}
