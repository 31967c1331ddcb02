//! A table as a workload wants it, before any database has had its say.
//!
//! A workload says which columns, which key, and which rows belong together;
//! a dialect turns that into statements. Column types are SQL's and need no
//! turning: every database known here takes `int`, `bigint`, `char(n)`,
//! `timestamp` and `uuid`.

use crate::dialect::{Dialect, KeyPlacement};

/// Which rows are to be near each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread<'a> {
    /// Nothing is wished.
    Anywhere,
    /// All rows with one value of `by` together, and together with the rows
    /// of `beside` that have this value. `beside` is made first.
    By {
        /// The column that decides: the shard key.
        by: &'a str,
        /// Another table that is spread by a column of the same type.
        beside: Option<&'a str>,
    },
    /// A copy everywhere: a small table that is read much and written seldom.
    Everywhere,
}

/// A table as a workload wants it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableSpec<'a> {
    /// Its name, as SQL takes it.
    pub name: &'a str,
    /// Columns with type and `NOT NULL`, in order.
    pub columns: &'a [(&'a str, &'a str)],
    /// The columns of the primary key; none where rows are only appended.
    pub key: &'a [&'a str],
    /// Which rows are to be near each other.
    pub spread: Spread<'a>,
    /// `fillfactor` in percent, where the database has one.
    pub fillfactor: Option<u8>,
    /// Into how many pieces the table is to be split, where the database lets
    /// one say so (see [`Dialect::pieces`]); `None` leaves it to the database.
    pub pieces: Option<u32>,
}

impl TableSpec<'_> {
    /// The column that decides where a row is.
    #[must_use]
    pub const fn shard_key(&self) -> Option<&str> {
        match self.spread {
            Spread::By { by, .. } => Some(by),
            Spread::Anywhere | Spread::Everywhere => None,
        }
    }

    /// The key with the shard key in it, as the last column unless it is one
    /// already: databases with shards can enforce uniqueness only within one,
    /// and the more selective column serves look-ups better in front.
    #[must_use]
    pub fn key_with_shard_key(&self) -> Vec<&str> {
        let mut key = self.key.to_vec();
        if let Some(by) = self.shard_key()
            && !key.is_empty()
            && !key.contains(&by)
        {
            key.push(by);
        }
        key
    }
}

/// Asks for the indexes of these tables that PostgreSQL's catalog says are not
/// valid. Joins and one function that every database has whose tables are in
/// schemas: not all of those with that catalog have all of its types, and the
/// other functions on names.
pub(crate) fn invalid_indexes(tables: &[&str]) -> String {
    format!(
        "SELECT i.relname FROM pg_catalog.pg_index x \
         JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid \
         JOIN pg_catalog.pg_class t ON t.oid = x.indrelid \
         JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace \
         WHERE NOT x.indisvalid AND n.nspname = current_schema() AND t.relname IN ({}) \
         ORDER BY i.relname",
        quoted(tables)
    )
}

/// Asks PostgreSQL's catalog for all indexes of these tables, and whether each
/// is valid.
pub(crate) fn indexes(tables: &[&str]) -> String {
    format!(
        "SELECT i.relname, CASE WHEN x.indisvalid THEN 't' ELSE 'f' END \
         FROM pg_catalog.pg_index x \
         JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid \
         JOIN pg_catalog.pg_class t ON t.oid = x.indrelid \
         JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace \
         WHERE n.nspname = current_schema() AND t.relname IN ({}) ORDER BY i.relname",
        quoted(tables)
    )
}

/// Asks PostgreSQL's catalog for the rows that it believes these tables have.
/// A table with partitions has none of its own before PostgreSQL 14: those of
/// the partitions are added up, and one without statistics is none for all.
pub(crate) fn row_estimates(tables: &[&str]) -> String {
    format!(
        "SELECT t.relname, CASE WHEN t.relkind <> 'p' THEN t.reltuples \
         ELSE coalesce((SELECT CASE WHEN min(c.reltuples) < 0 THEN -1 ELSE sum(c.reltuples) END \
         FROM pg_catalog.pg_inherits h JOIN pg_catalog.pg_class c ON c.oid = h.inhrelid \
         WHERE h.inhparent = t.oid), -1) END::bigint \
         FROM pg_catalog.pg_class t JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace \
         WHERE n.nspname = current_schema() AND t.relname IN ({}) ORDER BY t.relname",
        quoted(tables)
    )
}

/// The tables' names as texts.
fn quoted(tables: &[&str]) -> String {
    let tables: Vec<String> = tables.iter().map(|table| format!("'{table}'")).collect();
    tables.join(", ")
}

/// An index that is not a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexSpec<'a> {
    /// Its name, without a schema.
    pub name: &'a str,
    /// The table.
    pub table: &'a str,
    /// Columns in order.
    pub columns: &'a [&'a str],
    /// No two rows alike.
    pub unique: bool,
}

/// `CREATE TABLE` in PostgreSQL's words, with what the dialect leaves out.
/// `key` is the text within the parentheses of `PRIMARY KEY (…)`, `behind`
/// what follows the closing parenthesis.
#[must_use]
pub(crate) fn create_table<D: Dialect + ?Sized>(
    dialect: &D,
    spec: &TableSpec<'_>,
    key: &str,
    behind: &str,
) -> String {
    let mut parts: Vec<String> =
        spec.columns.iter().map(|(name, kind)| format!("{name} {kind}")).collect();
    if !spec.key.is_empty() {
        if dialect.key_placement() == KeyPlacement::InCreateTable {
            parts.push(format!("PRIMARY KEY ({key})"));
        }
    } else if dialect.needs_key_on_every_table() {
        // Inserts name their columns, so a generated key does not disturb them.
        parts.push("id uuid NOT NULL DEFAULT gen_random_uuid()".to_owned());
        parts.push("PRIMARY KEY (id)".to_owned());
    }
    let fill = spec
        .fillfactor
        .filter(|_| dialect.table_options().fillfactor)
        .map(|percent| format!(" WITH (fillfactor={percent})"))
        .unwrap_or_default();
    format!("CREATE TABLE {} ({}){behind}{fill}", spec.name, parts.join(", "))
}

/// `CREATE INDEX` in PostgreSQL's words; `how` stands behind `INDEX`.
#[must_use]
pub(crate) fn create_index(index: &IndexSpec<'_>, how: &str) -> String {
    let unique = if index.unique { "UNIQUE " } else { "" };
    let (name, table, columns) = (index.name, index.table, index.columns.join(", "));
    format!("CREATE {unique}INDEX{how} {name} ON {table} ({columns})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::postgres;

    const COLUMNS: &[(&str, &str)] = &[("a", "int NOT NULL"), ("b", "int")];

    fn spec<'a>(key: &'a [&'a str], spread: Spread<'a>) -> TableSpec<'a> {
        TableSpec { name: "t", columns: COLUMNS, key, spread, fillfactor: Some(90), pieces: None }
    }

    /// The shard key is in every key, once, and makes none where there is none.
    #[test]
    fn shard_key_is_in_the_key_once() {
        let by_b = Spread::By { by: "b", beside: None };
        assert_eq!(spec(&["a"], by_b).key_with_shard_key(), ["a", "b"]);
        assert_eq!(spec(&["b", "a"], by_b).key_with_shard_key(), ["b", "a"]);
        assert_eq!(spec(&["a"], Spread::Anywhere).key_with_shard_key(), ["a"]);
        assert!(spec(&[], by_b).key_with_shard_key().is_empty());
    }

    /// PostgreSQL's key comes later, its fillfactor now.
    #[test]
    fn postgres_table() {
        let made = postgres().create_table(&spec(&["a"], Spread::Everywhere));
        assert_eq!(made, ["CREATE TABLE t (a int NOT NULL, b int) WITH (fillfactor=90)"]);
        let index = IndexSpec { name: "i", table: "t", columns: &["a", "b"], unique: true };
        assert_eq!(postgres().create_index(&index), "CREATE UNIQUE INDEX i ON t (a, b)");
    }
}
