//! The answers that a dialect gives, as types; the questions are in
//! [`crate::dialect`].

use std::fmt;
use std::time::Duration;

/// What may be said in `CREATE TABLE` beyond columns and constraints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableOptions {
    /// `WITH (fillfactor = …)`.
    pub fillfactor: bool,
    /// `CREATE UNLOGGED TABLE`.
    pub unlogged: bool,
    /// `TABLESPACE` and `USING INDEX TABLESPACE`.
    pub tablespace: bool,
    /// `PARTITION BY`.
    pub partitions: bool,
}

/// Where a primary key can be stated without loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyPlacement {
    /// A late key is refused, or means a rewrite of the table.
    InCreateTable,
    /// `ALTER TABLE … ADD PRIMARY KEY` after the data is the fast way.
    AfterLoad,
}

/// Where foreign keys can be stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForeignKeys {
    /// Nowhere.
    Refused,
    /// In `CREATE TABLE` only.
    InCreateTable,
    /// In `CREATE TABLE` or by `ALTER TABLE`, where the referring columns
    /// contain the shard key or the table referred to is everywhere.
    WithinShard,
    /// In `CREATE TABLE` or by `ALTER TABLE`.
    Anywhere,
}

/// How tables are brought back to empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResetMethod {
    /// `TRUNCATE`, all tables in one statement.
    Truncate,
    /// Drop the tables and make them again.
    DropAndCreate,
}

/// How rows get in fastest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadMethod {
    /// `COPY … FROM STDIN`, several connections at once.
    Copy,
    /// `INSERT … VALUES (…), (…), …` with up to this many rows a statement.
    Insert {
        /// Rows in one statement, at least 1.
        rows_per_statement: u32,
    },
    /// `INSERT … VALUES (…)`, one statement for each row, prepared and sent in
    /// batches over as many connections as wanted.
    InsertSingle {
        /// Rows, and so statements, in one transaction; at least 1.
        rows_per_transaction: u32,
    },
    /// `INSERT … SELECT`: the server makes the rows itself, where the workload
    /// can say them in SQL. The rows of other tables are sent.
    Server,
}

impl LoadMethod {
    /// A word for options and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::Insert { .. } => "insert",
            Self::InsertSingle { .. } => "insert-single",
            Self::Server => "server",
        }
    }
}

/// What one transaction may hold; `None` means that the database sets none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TransactionLimits {
    /// Rows written.
    pub rows: Option<u64>,
    /// Bytes written.
    pub bytes: Option<u64>,
    /// Time from its first statement to its end.
    pub age: Option<Duration>,
    /// DDL statements; with `Some`, DDL and DML do not mix.
    pub ddl_statements: Option<u32>,
}

/// What the database says of new and long connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConnectionLimits {
    /// New connections a second, sustained.
    pub per_second: Option<u32>,
    /// New connections at once before `per_second` counts.
    pub burst: Option<u32>,
    /// A session is closed by the server after this time.
    pub session_age: Option<Duration>,
}

/// Transaction isolation levels, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isolation {
    /// `READ COMMITTED`.
    ReadCommitted,
    /// `REPEATABLE READ`.
    RepeatableRead,
    /// `SERIALIZABLE`.
    Serializable,
}

impl Isolation {
    /// The level in SQL's words.
    #[must_use]
    pub const fn as_sql(self) -> &'static str {
        match self {
            Self::ReadCommitted => "READ COMMITTED",
            Self::RepeatableRead => "REPEATABLE READ",
            Self::Serializable => "SERIALIZABLE",
        }
    }
}

impl fmt::Display for Isolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.as_sql().to_ascii_lowercase())
    }
}

/// What an error of the server means for the transaction that got it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RetryClass {
    /// Nothing was done, and the same again will fail the same way.
    NotRetryable,
    /// Nothing was done; a concurrent transaction was in the way (40001).
    Serialization,
    /// Nothing was done; chosen as a deadlock's victim (40P01).
    Deadlock,
    /// Nothing was done; an optimistic check at COMMIT failed.
    Conflict,
    /// Nothing was done; the catalog changed under the session.
    SchemaChanged,
    /// The transaction may or may not be committed. Never retried blindly.
    OutcomeUnknown,
}

impl RetryClass {
    /// True where running the transaction again is safe and may succeed.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::Serialization | Self::Deadlock | Self::Conflict | Self::SchemaChanged)
    }
}

/// How the dialect of a live server was recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// The version as the server words it.
    pub version: String,
    /// The version as PostgreSQL's `server_version_num`, where there is one
    /// (150019 is 15.19).
    pub version_num: Option<u32>,
    /// What gave it away, for people.
    pub how: String,
}

/// Something that pgdyno does otherwise for a kind of database, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Difference {
    /// What is done.
    pub what: &'static str,
    /// Why, in the database's own terms.
    pub why: &'static str,
    /// Where that is written.
    pub source: &'static str,
    /// False where the source is in doubt, contradicts another, or speaks of
    /// another version; then it is worth a look on the server at hand.
    pub verified: bool,
}

impl Difference {
    /// A difference whose source leaves no doubt.
    pub(crate) const fn new(what: &'static str, why: &'static str, source: &'static str) -> Self {
        Self { what, why, source, verified: true }
    }

    /// The same, in doubt.
    pub(crate) const fn unverified(self) -> Self {
        Self { verified: false, ..self }
    }
}

/// What one statement of a load should hold at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LoadBatch {
    /// Rows; `None` means no limit.
    pub rows: Option<u64>,
    /// Bytes of the statement's data; `None` means no limit.
    pub bytes: Option<u64>,
}

/// Where a size comes from, and so how far it may be off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeBasis {
    /// Measured with this workload's tables on this database.
    Measured,
    /// The same storage as one that was measured.
    SameStorage,
    /// Computed from a published size of the same tables.
    Published,
    /// Taken as PostgreSQL's, because nothing better is known.
    Estimated,
}

impl SizeBasis {
    /// By which share of the expected size a found one may differ.
    #[must_use]
    pub const fn tolerance(self) -> f64 {
        match self {
            // Two majors and two scales differ by 1 %; page fill and
            // alignment of a restored catalog by a few more.
            Self::Measured => 0.1,
            Self::SameStorage => 0.15,
            Self::Published => 0.25,
            // Above, a factor of two; nothing below, as stores compress.
            Self::Estimated => 1.0,
        }
    }

    /// For people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Measured => "measured on PostgreSQL 15 and 18",
            Self::SameStorage => "measured on PostgreSQL, whose storage it has",
            Self::Published => "from a published size of pgbench's tables",
            Self::Estimated => "estimate: as PostgreSQL, one copy; not measured",
        }
    }

    /// One word, for JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::SameStorage => "same_storage",
            Self::Published => "published",
            Self::Estimated => "estimated",
        }
    }
}

/// How large tables are, relative to the same on PostgreSQL.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizeRelation {
    /// Times PostgreSQL's size.
    pub factor: f64,
    /// How that is known.
    pub basis: SizeBasis,
}

impl SizeRelation {
    /// PostgreSQL's storage, in other hands.
    pub(crate) const SAME_STORAGE: Self = Self { factor: 1.0, basis: SizeBasis::SameStorage };
    /// Nothing better is known than PostgreSQL's size.
    pub(crate) const ESTIMATED: Self = Self { factor: 1.0, basis: SizeBasis::Estimated };
}
