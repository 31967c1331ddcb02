//! The questions that pgdyno asks about a kind of database.
//!
//! Every method has PostgreSQL's answer as its default, so a database's file
//! says only what differs. A new database is one file and one line in
//! [`dialects`]. Nothing outside this crate asks which database it talks to.

use std::fmt;

pub use crate::answers::{
    ConnectionLimits, Difference, Evidence, ForeignKeys, Isolation, KeyPlacement, LoadBatch,
    LoadMethod, ResetMethod, RetryClass, SizeBasis, SizeRelation, TableOptions, TransactionLimits,
};
use crate::ddl::{self, IndexSpec, TableSpec};
use crate::detect::{Probe, ProbeError};
use crate::dialects::{ALL, Postgres};
use crate::discovery::Discovery;
use crate::params::{Given, Largest, PARTITION_PARAMS, Partitions, TableParam, TableParamError};
use crate::statistics::{self, Statistics};
use pgdyno_token::Service;

/// Share of a transaction's size limit that a statement's text may fill:
/// databases count more than the text, such as headers and keys of each row.
const LIMIT_SHARE: u64 = 4;

/// A kind of database. The defaults are PostgreSQL's.
pub trait Dialect: fmt::Debug + Send + Sync {
    /// The name for options and records: lower case, words joined by `-`.
    fn name(&self) -> &'static str;

    /// The name for people.
    fn title(&self) -> &'static str;

    /// Further names that `--dialect` and `pgdyno.toml` accept.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// Looks at a live server: `Some` where it is of this kind. One round
    /// trip at most, none where a parameter status tells.
    ///
    /// # Errors
    /// The connection is lost. An SQL error is an answer ("not this kind").
    fn recognise(&self, probe: &mut dyn Probe) -> Result<Option<Evidence>, ProbeError>;

    /// True where a host's name alone says that it is of this kind, before
    /// anything is sent to it.
    fn owns_host(&self, _host: &str) -> bool {
        false
    }

    /// Whose tokens it takes as passwords, where it is a service of AWS.
    fn token_service(&self) -> Option<Service> {
        None
    }

    /// True where a password is always a token, so that one is made where no
    /// password was given.
    fn takes_only_tokens(&self) -> bool {
        false
    }

    /// What pgdyno does otherwise than for PostgreSQL.
    fn differences(&self) -> &'static [Difference] {
        &[]
    }

    /// What `CREATE TABLE` accepts.
    fn table_options(&self) -> TableOptions {
        TableOptions { fillfactor: true, unlogged: true, tablespace: true, partitions: true }
    }

    /// Where primary keys go.
    fn key_placement(&self) -> KeyPlacement {
        KeyPlacement::AfterLoad
    }

    /// Where foreign keys go.
    fn foreign_keys(&self) -> ForeignKeys {
        ForeignKeys::Anywhere
    }

    /// True where functions and procedures can be written in PL/pgSQL, with
    /// loops, arrays and ROLLBACK in a procedure.
    fn has_plpgsql(&self) -> bool {
        true
    }

    /// True where every table needs a primary key, append-only ones as well.
    fn needs_key_on_every_table(&self) -> bool {
        false
    }

    /// What the pieces of a table are called whose number can be chosen, such
    /// as "tablets"; `None` where there is no such choice.
    fn pieces(&self) -> Option<&'static str> {
        None
    }

    /// Makes a table. To be run in order, each in a transaction of its own,
    /// over one session.
    fn create_table(&self, spec: &TableSpec<'_>) -> Vec<String> {
        match self.partitions().filter(|partitions| partitions.concerns(spec)) {
            Some(partitions) => partitions.create(self, spec),
            None => vec![ddl::create_table(self, spec, &spec.key.join(", "), "")],
        }
    }

    /// What may be chosen of its tables with `--param`, besides the workload's
    /// own parameters.
    fn table_params(&self) -> &'static [TableParam] {
        &[]
    }

    /// The same kind of database with tables as chosen; `None` where nothing
    /// was. `largest` is the workload's largest table.
    ///
    /// # Errors
    /// A parameter or value that this kind does not have.
    fn with_table_params(
        &self,
        params: &[(String, String)],
        _largest: Option<Largest>,
    ) -> Result<Option<&'static dyn Dialect>, TableParamError> {
        Given::new(self, params).map(|_| None)
    }

    /// A row for each parameter of tables, with its name and value, as a
    /// workload's largest table was made with; `None` where the database does
    /// not tell, or has no such parameters. For who makes the table anew.
    fn table_params_query(&self, largest: &str) -> Option<String> {
        let has_partitions = self.table_params() == PARTITION_PARAMS;
        has_partitions.then(|| Partitions::found_query(largest))
    }

    /// What was chosen of its tables, for the record.
    fn table_params_in_effect(&self) -> Vec<(&'static str, String)> {
        self.partitions().map(Partitions::in_effect).unwrap_or_default()
    }

    /// The partitions that were chosen.
    fn partitions(&self) -> Option<&Partitions> {
        None
    }

    /// Adds the key to a filled table; `None` where it is there already.
    fn add_key(&self, spec: &TableSpec<'_>) -> Option<String> {
        if spec.key.is_empty() || self.key_placement() == KeyPlacement::InCreateTable {
            return None;
        }
        Some(format!("ALTER TABLE {} ADD PRIMARY KEY ({})", spec.name, spec.key.join(", ")))
    }

    /// Makes an index. Where its answer is a row with a column `job_id`, the
    /// index is not done before [`Dialect::wait_for_job`] was run.
    fn create_index(&self, index: &IndexSpec<'_>) -> String {
        ddl::create_index(index, "")
    }

    /// The statement that waits for a job of the server's.
    fn wait_for_job(&self, _job_id: &str) -> Option<String> {
        None
    }

    /// One row of a job's state (`completed`, `failed`, or another word while it
    /// goes on) and details; no row once it is forgotten.
    fn job_status_query(&self, _job_id: &str) -> Option<String> {
        None
    }

    /// The jobs of the server's that go on, one `job_id` a row: to be waited for
    /// by a load that goes on where another was broken off.
    fn unfinished_jobs_query(&self) -> Option<&'static str> {
        None
    }

    /// A row for each index of these tables that is there and not valid, with
    /// its bare name as in the catalog; `None` where none can be left so, because an
    /// index is made with its statement or not at all.
    fn invalid_indexes_query(&self, tables: &[&str]) -> Option<String> {
        (!self.ddl_in_transactions()).then(|| ddl::invalid_indexes(tables))
    }

    /// The statement that keeps a session from compiling its queries, before
    /// large ones that must end, and the one that takes it back: parallel workers
    /// with optimised code were seen to run for ever on PostgreSQL 15.20, where the
    /// same query takes 3 s without. `None` where nothing is compiled, or where
    /// that cannot be said.
    fn no_jit_statements(&self) -> Option<(&'static str, &'static str)> {
        Some(("SET jit = off", "RESET jit"))
    }

    /// A row for each index of these tables: its bare name as in the catalog, and
    /// whether it is valid; `None` where there is no such catalog, or where it
    /// does not speak of the tables that hold the rows.
    fn indexes_query(&self, tables: &[&str]) -> Option<String> {
        Some(ddl::indexes(tables))
    }

    /// A row for each of these tables that is there: its name, and the rows that
    /// the planner's statistics tell of, with its partitions; below 0 or 0 where
    /// there are no statistics. `None` as with [`Dialect::indexes_query`].
    fn row_estimates_query(&self, tables: &[&str]) -> Option<String> {
        Some(ddl::row_estimates(tables))
    }

    /// True where a DDL statement can share a transaction with an INSERT, and
    /// both are done or neither.
    fn ddl_in_transactions(&self) -> bool {
        self.transaction_limits().ddl_statements.is_none()
    }

    /// `a / b` of whole numbers, without a remainder.
    fn integer_division(&self, a: &str, b: &str) -> String {
        format!("{a} / {b}")
    }

    /// Drops tables, whether or not they are there.
    fn drop_tables(&self, tables: &[&str]) -> Vec<String> {
        vec![format!("DROP TABLE IF EXISTS {}", tables.join(", "))]
    }

    /// What one statement of a load should hold at most; each is a transaction
    /// of its own where there is any limit.
    fn load_batch(&self) -> LoadBatch {
        let limits = self.transaction_limits();
        LoadBatch { rows: limits.rows, bytes: limits.bytes.map(|bytes| bytes / LIMIT_SHARE) }
    }

    /// Rows that one statement may count; `None` where any number may be.
    fn count_rows_max(&self) -> Option<u64> {
        None
    }

    /// How rows get in.
    fn load_method(&self) -> LoadMethod {
        LoadMethod::Copy
    }

    /// `COPY … WITH (FREEZE)`: allowed where the table was created or
    /// truncated in the same transaction, and has no partitions. pgbench asks for it from server 14
    /// on, and so do we.
    fn can_copy_freeze(&self, version_num: Option<u32>) -> bool {
        self.partitions().is_none() && version_num.is_some_and(|num| num >= 140_000)
    }

    /// How tables are emptied.
    fn reset_method(&self) -> ResetMethod {
        ResetMethod::Truncate
    }

    /// The statement that empties the tables; `None` where it is refused.
    fn truncate_statement(&self, tables: &[&str]) -> Option<String> {
        Some(format!("TRUNCATE TABLE {}", tables.join(", ")))
    }

    /// The statement that reclaims space in a table before a run; `None`
    /// where the database has or needs none.
    fn vacuum_statement(&self, table: &str) -> Option<String> {
        Some(format!("VACUUM {table}"))
    }

    /// The statement that refreshes the planner's statistics after loading;
    /// outside a transaction block.
    fn statistics_statement(&self, table: &str) -> Option<String> {
        Some(format!("VACUUM (ANALYZE) {table}"))
    }

    /// The statement that writes dirty buffers out, so that a measured
    /// interval does not pay for the loading before it.
    fn checkpoint_statement(&self) -> Option<&'static str> {
        Some("CHECKPOINT")
    }

    /// What one transaction may hold.
    fn transaction_limits(&self) -> TransactionLimits {
        TransactionLimits::default()
    }

    /// What is said of new and long connections.
    fn connection_limits(&self) -> ConnectionLimits {
        ConnectionLimits::default()
    }

    /// How the target tells of its endpoints; `None` where it has one, or
    /// does not tell.
    fn discovery(&self) -> Option<Discovery> {
        None
    }

    /// The isolation levels that can be asked for, the default first.
    fn isolation_levels(&self) -> &'static [Isolation] {
        &[Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable]
    }

    /// The start-up parameter that sets the isolation level of all
    /// transactions, with its value; `None` where nothing needs to be said,
    /// because there is no other level.
    ///
    /// # Errors
    /// The reason why this level cannot be had, for people.
    fn isolation_setting(
        &self,
        level: Isolation,
    ) -> Result<Option<(&'static str, String)>, String> {
        let levels = self.isolation_levels();
        if !levels.contains(&level) {
            let known: Vec<String> = levels.iter().map(ToString::to_string).collect();
            return Err(format!(
                "{} does not offer isolation level {level}; it offers: {}",
                self.title(),
                known.join(", ")
            ));
        }
        Ok(Some(("default_transaction_isolation", level.to_string())))
    }

    /// One row, one text: the isolation level that is really in effect, which
    /// is not always the one that was asked for.
    fn effective_isolation_query(&self) -> Option<&'static str> {
        Some("SHOW transaction_isolation")
    }

    /// Refuses a session setting that the server is known to refuse, before
    /// connecting: some end the connection over it.
    ///
    /// # Errors
    /// The reason, for people.
    fn check_setting(&self, _name: &str) -> Result<(), String> {
        Ok(())
    }

    /// What an error means for its transaction. pgbench's rule: 40001 and
    /// 40P01 may be tried again, nothing else. `message` is for databases
    /// whose SQLSTATE does not tell.
    fn classify(&self, sqlstate: &str, _message: &str) -> RetryClass {
        match sqlstate {
            "40001" => RetryClass::Serialization,
            "40P01" => RetryClass::Deadlock,
            // "Statement completion unknown" and "transaction resolution
            // unknown", by the SQL standard's meaning.
            "40003" | "08007" => RetryClass::OutcomeUnknown,
            _ => RetryClass::NotRetryable,
        }
    }

    /// The database's own code for a kind of conflict, where it has one beside
    /// the SQLSTATE.
    fn conflict_mark(&self, _class: RetryClass) -> Option<&'static str> {
        None
    }

    /// What it counts of itself, to be read before and after a run.
    fn statistics(&self, version_num: Option<u32>) -> Statistics {
        statistics::postgres::statistics(version_num, self.database_size_query())
    }

    /// One row, one number: the database's size in bytes.
    fn database_size_query(&self) -> Option<&'static str> {
        Some("SELECT pg_database_size(current_database())")
    }

    /// One row, one number: a table's size in bytes with its indexes and
    /// partitions; `$1` is the table's name as text.
    fn table_size_query(&self) -> Option<&'static str> {
        // A table with partitions is empty; they are what takes space.
        Some(
            "SELECT pg_total_relation_size($1::text::regclass) + coalesce((\
             SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree($1::text::regclass) \
             WHERE relid <> $1::text::regclass), 0)::bigint",
        )
    }

    /// How large freshly loaded tables are, relative to the same on
    /// PostgreSQL: one copy of them, with their indexes.
    fn size_relation(&self) -> SizeRelation {
        SizeRelation { factor: 1.0, basis: SizeBasis::Measured }
    }
}

/// All dialects, in the order in which they are asked on a live server.
/// PostgreSQL stands last: it is what remains.
#[must_use]
pub fn dialects() -> &'static [&'static dyn Dialect] {
    &ALL
}

/// The dialect that a host's name gives away, before connecting.
#[must_use]
pub fn dialect_by_host(host: &str) -> Option<&'static dyn Dialect> {
    dialects().iter().find(|dialect| dialect.owns_host(host)).copied()
}

/// The default.
#[must_use]
pub fn postgres() -> &'static dyn Dialect {
    const PLAIN: &Postgres = &Postgres::PLAIN;
    PLAIN
}

/// A dialect by its name or one of its aliases, upper or lower case.
///
/// # Errors
/// The names that exist.
pub fn dialect_by_name(name: &str) -> Result<&'static dyn Dialect, UnknownDialect> {
    let wanted = name.to_ascii_lowercase();
    dialects()
        .iter()
        .find(|d| d.name() == wanted || d.aliases().contains(&wanted.as_str()))
        .copied()
        .ok_or_else(|| UnknownDialect {
            name: name.to_owned(),
            known: dialects().iter().map(|d| d.name()).collect(),
        })
}

/// There is no such dialect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no dialect \"{name}\"; there are: {}", known.join(", "))]
pub struct UnknownDialect {
    /// The name that was asked for.
    pub name: String,
    /// The names that exist.
    pub known: Vec<&'static str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// pgbench's rule of retries holds: 40001 and 40P01 and nothing else.
    #[test]
    fn retries_what_pgbench_retries() {
        let dialect = postgres();
        assert_eq!(dialect.classify("40001", ""), RetryClass::Serialization);
        assert_eq!(dialect.classify("40P01", ""), RetryClass::Deadlock);
        for other in ["23505", "57014", "25P02", "08006", "XX000", "40003", "08007", ""] {
            assert!(!dialect.classify(other, "deadlock detected").is_retryable(), "{other}");
        }
        assert_eq!(dialect.classify("40003", ""), RetryClass::OutcomeUnknown);
    }

    /// Dialects are found by name and alias in any case, and an unknown name
    /// says what exists.
    #[test]
    fn names_and_aliases() {
        for name in ["postgres", "PostgreSQL", "pg"] {
            assert_eq!(dialect_by_name(name).map(Dialect::name), Ok("postgres"), "{name}");
        }
        let error = dialect_by_name("oracle").map(Dialect::name).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("there is no dialect \"oracle\"; there are: "), "{text}");
        assert!(text.contains("aurora-dsql") && text.ends_with("postgres"), "{text}");
    }

    /// No name or alias means two dialects, and PostgreSQL is asked last.
    #[test]
    fn registry_is_unambiguous() {
        let mut names: Vec<&str> =
            dialects().iter().flat_map(|d| [&[d.name()], d.aliases()].concat()).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert_eq!(dialects().last().map(|d| d.name()), Some("postgres"));
    }

    /// FREEZE is asked for where pgbench asks for it.
    #[test]
    fn freeze_from_server_14() {
        assert!(!postgres().can_copy_freeze(Some(130_022)));
        assert!(postgres().can_copy_freeze(Some(140_000)));
        assert!(!postgres().can_copy_freeze(None));
    }
}
