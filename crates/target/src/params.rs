//! What a person may choose of a database's tables beyond what every workload
//! says: partitions, locality, colocation, the kind of keys.
//!
//! A dialect knows its own parameters and gives itself back with them
//! ([`crate::Dialect::with_table_params`]), so that
//! no workload has to pass them on.

use crate::ddl::{self, TableSpec};
use crate::dialect::Dialect;

/// The most partitions: planning a statement costs time for each of them, and
/// a slip of the finger can take hours.
const PARTITIONS_MAX: u32 = 10_000;

/// A parameter of a dialect's tables, for `--param NAME=VALUE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableParam {
    /// Its name; no workload has a parameter of this name.
    pub name: &'static str,
    /// One line: meaning, values and default.
    pub help: &'static str,
}

/// The table of a workload with the most rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Largest {
    /// The table.
    pub table: &'static str,
    /// Its rows.
    pub rows: u64,
    /// The column of its key that counts from 1 to `rows`, where there is one.
    pub counter: Option<&'static str>,
}

/// A parameter cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableParamError {
    /// The database has no such parameter.
    #[error("--param {name}: {title} has no such parameter of tables; {}", has(known))]
    Unknown {
        /// The parameter.
        name: String,
        /// The database's name for people.
        title: &'static str,
        /// The parameters that it has.
        known: Vec<&'static str>,
    },
    /// The value is none that it takes.
    #[error("--param {name}: \"{value}\" is not {expected}")]
    Value {
        /// The parameter.
        name: String,
        /// The value asked for.
        value: String,
        /// What it takes.
        expected: &'static str,
    },
    /// It does not go with something else.
    #[error("--param {name}: {reason}")]
    Unfit {
        /// The parameter.
        name: &'static str,
        /// Why, for people.
        reason: String,
    },
}

fn has(known: &[&'static str]) -> String {
    if known.is_empty() { "it has none".into() } else { format!("it has: {}", known.join(", ")) }
}

/// The values of all parameters that were given, the later over the earlier.
pub(crate) struct Given<'a>(&'a [(String, String)]);

impl<'a> Given<'a> {
    /// Refuses what the dialect does not know.
    pub(crate) fn new<D: Dialect + ?Sized>(
        dialect: &D,
        params: &'a [(String, String)],
    ) -> Result<Self, TableParamError> {
        let known: Vec<&str> = dialect.table_params().iter().map(|param| param.name).collect();
        match params.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            None => Ok(Self(params)),
            Some((name, _)) => Err(TableParamError::Unknown {
                name: name.clone(),
                title: dialect.title(),
                known: dialect.table_params().iter().map(|param| param.name).collect(),
            }),
        }
    }

    fn get(&self, name: &str) -> Option<&'a str> {
        self.0.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// One of a few words.
    pub(crate) fn word<T: Copy>(
        &self,
        name: &'static str,
        words: &[(&str, T)],
        expected: &'static str,
    ) -> Result<Option<T>, TableParamError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let found = words.iter().find(|(word, _)| *word == value).map(|(_, meaning)| *meaning);
        found.map(Some).ok_or_else(|| refused(name, value, expected))
    }

    fn number(&self, name: &'static str, max: u32) -> Result<Option<u32>, TableParamError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let number = value.parse().ok().filter(|number| (1..=max).contains(number));
        number.map(Some).ok_or_else(|| refused(name, value, "a number from 1 to 10000"))
    }
}

fn refused(name: &str, value: &str, expected: &'static str) -> TableParamError {
    TableParamError::Value { name: name.to_owned(), value: value.to_owned(), expected }
}

/// How rows are told from which partition they are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PartitionMethod {
    Range,
    Hash,
}

/// The partitions of a workload's largest table, in PostgreSQL's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Partitions {
    number: u32,
    method: PartitionMethod,
    largest: Largest,
}

/// PostgreSQL's parameters.
pub(crate) const PARTITION_PARAMS: &[TableParam] = &[
    TableParam {
        name: "partitions",
        help: "into how many partitions the largest table is split, as pgbench's --partitions \
               [default: not at all]",
    },
    TableParam { name: "partition-method", help: "range or hash [default: range]" },
];

impl Partitions {
    /// Asks PostgreSQL's catalog for the partitions of a table as parameters. A
    /// table that is not there has none; of a kind that cannot be chosen the
    /// catalog's own word is told.
    pub(crate) fn found_query(table: &str) -> String {
        let parted = format!(
            "pg_catalog.pg_partitioned_table p JOIN pg_catalog.pg_class c ON c.oid = p.partrelid \
             AND c.relname = '{table}' AND pg_catalog.pg_table_is_visible(c.oid)"
        );
        format!(
            "SELECT 'partitions', count(*)::text FROM {parted} JOIN pg_catalog.pg_inherits i \
             ON i.inhparent = c.oid HAVING count(*) > 0 UNION ALL SELECT 'partition-method', CASE \
             WHEN EXISTS (SELECT FROM pg_catalog.pg_inherits i \
             JOIN pg_catalog.pg_partitioned_table q ON q.partrelid = i.inhrelid \
             WHERE i.inhparent = c.oid) THEN 'nested' WHEN p.partstrat = 'h' THEN 'hash' \
             WHEN p.partstrat = 'r' THEN 'range' WHEN p.partstrat = 'l' THEN 'list' \
             ELSE p.partstrat::text END FROM {parted}"
        )
    }

    /// What was asked for; `None` where nothing was.
    pub(crate) fn chosen<D: Dialect + ?Sized>(
        dialect: &D,
        params: &[(String, String)],
        largest: Option<Largest>,
    ) -> Result<Option<Self>, TableParamError> {
        const NUMBER: &str = "partitions";
        const METHOD: &str = "partition-method";
        let given = Given::new(dialect, params)?;
        let methods = [("range", PartitionMethod::Range), ("hash", PartitionMethod::Hash)];
        let method = given.word(METHOD, &methods, "range or hash")?;
        let Some(number) = given.number(NUMBER, PARTITIONS_MAX)? else {
            let unfit =
                |reason: &str| TableParamError::Unfit { name: METHOD, reason: reason.into() };
            return method.map_or(Ok(None), |_| Err(unfit("it needs --param partitions=N")));
        };
        let unfit = |reason: String| TableParamError::Unfit { name: NUMBER, reason };
        let largest = largest.ok_or_else(|| unfit("the workload has no table with rows".into()))?;
        let method = method.unwrap_or(PartitionMethod::Range);
        if method == PartitionMethod::Range && largest.counter.is_none() {
            return Err(unfit(format!(
                "no column of {} counts its rows, so it has no ranges; use --param \
                 partition-method=hash",
                largest.table
            )));
        }
        Ok(Some(Self { number, method, largest }))
    }

    /// The parameters with their values.
    pub(crate) fn in_effect(&self) -> Vec<(&'static str, String)> {
        let method = match self.method {
            PartitionMethod::Range => "range",
            PartitionMethod::Hash => "hash",
        };
        vec![("partitions", self.number.to_string()), ("partition-method", method.to_owned())]
    }

    /// True where this table is to be split.
    pub(crate) fn concerns(&self, spec: &TableSpec<'_>) -> bool {
        spec.name == self.largest.table && !spec.key.is_empty()
    }

    /// The table and its partitions, named as pgbench names them. Storage
    /// parameters are the partitions' own.
    pub(crate) fn create<D: Dialect + ?Sized>(
        &self,
        dialect: &D,
        spec: &TableSpec<'_>,
    ) -> Vec<String> {
        let name = spec.name;
        let key = spec.key.join(", ");
        let by = match (self.method, self.largest.counter) {
            (PartitionMethod::Range, Some(counter)) => format!(" PARTITION BY RANGE ({counter})"),
            _ => format!(" PARTITION BY HASH ({})", spec.key[0]),
        };
        let parent = TableSpec { fillfactor: None, ..*spec };
        let mut all = vec![ddl::create_table(dialect, &parent, &key, &by)];
        let fill = spec.fillfactor.filter(|_| dialect.table_options().fillfactor);
        let fill = fill.map(|percent| format!(" WITH (fillfactor={percent})")).unwrap_or_default();
        all.extend((0..self.number).map(|number| {
            let values = self.values(number);
            format!("CREATE TABLE {name}_{} PARTITION OF {name} {values}{fill}", number + 1)
        }));
        all
    }

    /// The rows of partition `number`, from 0. The first and the last range
    /// are open, as pgbench's are.
    fn values(&self, number: u32) -> String {
        if self.method == PartitionMethod::Hash {
            return format!("FOR VALUES WITH (modulus {}, remainder {number})", self.number);
        }
        let size = self.largest.rows.div_ceil(u64::from(self.number)).max(1);
        let bound = |number: u32| (u64::from(number) * size + 1).to_string();
        let from = if number == 0 { "minvalue".to_owned() } else { bound(number) };
        let last = number + 1 == self.number;
        let to = if last { "maxvalue".to_owned() } else { bound(number + 1) };
        format!("FOR VALUES FROM ({from}) TO ({to})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ddl::Spread;
    use crate::dialect::{dialect_by_name, postgres};

    fn params(words: &[(&str, &str)]) -> Vec<(String, String)> {
        words.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    const LARGEST: Option<Largest> = Some(Largest { table: "t", rows: 100, counter: Some("a") });

    const SPEC: TableSpec<'static> = TableSpec {
        name: "t",
        columns: &[("a", "int NOT NULL")],
        key: &["a"],
        spread: Spread::Anywhere,
        fillfactor: Some(90),
        pieces: None,
    };

    /// The bounds are pgbench's: equal parts, open at both ends.
    #[test]
    fn partitions_as_pgbench_makes_them() {
        let split = postgres()
            .with_table_params(&params(&[("partitions", "3")]), LARGEST)
            .unwrap()
            .unwrap();
        let expected = [
            "CREATE TABLE t (a int NOT NULL) PARTITION BY RANGE (a)",
            "CREATE TABLE t_1 PARTITION OF t FOR VALUES FROM (minvalue) TO (35) WITH (fillfactor=90)",
            "CREATE TABLE t_2 PARTITION OF t FOR VALUES FROM (35) TO (69) WITH (fillfactor=90)",
            "CREATE TABLE t_3 PARTITION OF t FOR VALUES FROM (69) TO (maxvalue) WITH (fillfactor=90)",
        ];
        assert_eq!(split.create_table(&SPEC), expected);
        assert_eq!(split.create_table(&TableSpec { name: "other", ..SPEC }).len(), 1);
        assert!(!split.can_copy_freeze(Some(180_000)) && split.name() == "postgres");
        let both = params(&[("partition-method", "hash"), ("partitions", "2")]);
        let hashed =
            postgres().with_table_params(&both, LARGEST).unwrap().unwrap().create_table(&SPEC);
        assert!(hashed[2].contains("FOR VALUES WITH (modulus 2, remainder 1)"), "{hashed:?}");
    }

    /// Without parameters a dialect without any stays as it is.
    #[test]
    fn nothing_chosen_changes_nothing() {
        for dialect in crate::dialects() {
            let chosen = dialect.with_table_params(&[], LARGEST).unwrap();
            let made = chosen.unwrap_or(*dialect).create_table(&SPEC);
            assert_eq!(made, dialect.create_table(&SPEC));
        }
    }

    /// What a database does not have, or cannot have together, is refused with
    /// the way out.
    #[test]
    fn what_cannot_be_had_is_refused() {
        let refused = |name: &str, words: &[(&str, &str)], largest| {
            let dialect = dialect_by_name(name).unwrap();
            dialect.with_table_params(&params(words), largest).unwrap_err().to_string()
        };
        let words = refused("aurora-dsql", &[("partitions", "2")], LARGEST);
        assert!(words.ends_with("no such parameter of tables; it has none"), "{words}");
        let words = refused("cockroachdb", &[("partitions", "2")], LARGEST);
        assert!(words.ends_with("it has: locality"), "{words}");
        let words = refused("postgres", &[("partitions", "0")], LARGEST);
        assert!(words.contains("\"0\" is not a number from 1"), "{words}");
        let words = refused("postgres", &[("partition-method", "hash")], LARGEST);
        assert!(words.contains("needs --param partitions=N"), "{words}");
        let uncounted = LARGEST.map(|largest| Largest { counter: None, ..largest });
        let words = refused("alloydb", &[("partitions", "2")], uncounted);
        assert!(words.contains("partition-method=hash"), "{words}");
        let clash = [("colocation", "on"), ("keys", "hash")];
        let words = refused("yugabytedb", &clash, LARGEST);
        assert!(words.contains("range"), "{words}");
    }

    /// Each database's own words.
    #[test]
    fn vendors_words() {
        let made = |name: &str, words: &[(&str, &str)]| {
            let dialect = dialect_by_name(name).unwrap();
            let chosen = dialect.with_table_params(&params(words), LARGEST).unwrap().unwrap();
            assert_eq!(chosen.table_params_in_effect().len(), words.len());
            chosen.create_table(&SPEC).remove(0)
        };
        for (name, words, expected) in [
            ("cockroachdb", [("locality", "regional-by-row")], " LOCALITY REGIONAL BY ROW"),
            ("cockroachdb", [("locality", "global")], " LOCALITY GLOBAL"),
            ("yugabytedb", [("colocation", "on")], "KEY (a ASC)) WITH (colocation = true)"),
            ("yugabytedb", [("colocation", "off")], "KEY (a HASH)) WITH (colocation = false)"),
            ("yugabytedb", [("keys", "range")], "PRIMARY KEY (a ASC))"),
        ] {
            let sql = made(name, &words);
            assert!(sql.ends_with(expected), "{sql}");
        }
    }
}
