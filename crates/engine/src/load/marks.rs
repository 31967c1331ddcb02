//! What a load has done so far, kept in a small table in the target.
//!
//! Each chunk of rows leaves a mark in the transaction that loads it, so that
//! the rows and the knowledge of them are there together or not at all,
//! whatever dies. The mark is written first and is unique: where a transaction
//! of a loader that is dead is still about to commit, the next loader waits for
//! it, and then finds the chunk loaded. Counting rows by ranges of keys instead
//! would need no table, but does not see such a transaction, and tables whose
//! key is not a counter cannot be asked for a range.
//!
//! Over the life of a load: the table is made with the plan in it, the
//! workload's tables are made, a mark says so, then come chunks and keys, and
//! after the check at the end the table is dropped. Here are the statements
//! and what they mean; [`super::steps`] sends them.

use std::ops::Range;

use pgdyno_target::ddl::{Spread, TableSpec};
use pgdyno_target::dialect::Dialect;
use pgdyno_workload::{Table, Workload};

/// The table of marks.
pub(super) const TABLE: &str = "pgdyno_load";

/// Marks read at a time: a load of 10 TB has some millions.
const PAGE_ROWS: usize = 100_000;

/// What a mark says is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// All tables are there.
    Tables,
    /// A chunk of rows, by its number.
    Chunk(u64),
    /// A statement for a key or an index, by its place in the list.
    Key(u64),
}

const PLAN: &str = "plan";
const TABLES: &str = "tables";
const CHUNK: &str = "chunk";
const KEY: &str = "key";

impl Mark {
    /// Writes the mark; refused as a duplicate (23505) where it is there.
    pub(super) fn statement(self) -> String {
        let (part, number) = self.place();
        format!("INSERT INTO {TABLE} (part, number) VALUES ('{part}', {number})")
    }

    /// Takes the mark away: what it says is not so any more.
    pub(super) fn taken_back(self) -> String {
        let (part, number) = self.place();
        format!("DELETE FROM {TABLE} WHERE part = '{part}' AND number = {number}")
    }

    const fn place(self) -> (&'static str, u64) {
        match self {
            Self::Tables => (TABLES, 0),
            Self::Chunk(number) => (CHUNK, number),
            Self::Key(number) => (KEY, number),
        }
    }
}

/// Makes the empty table. Its key begins with the number, so that databases
/// that spread rows by key spread the marks, and no two loaders meet.
pub(super) fn create(dialect: &dyn Dialect) -> Vec<String> {
    let spec = TableSpec {
        name: TABLE,
        columns: &[
            ("part", "varchar(8) NOT NULL"),
            ("number", "bigint NOT NULL"),
            ("words", "text"),
        ],
        key: &["number", "part"],
        spread: Spread::By { by: "number", beside: None },
        fillfactor: None,
        pieces: None,
    };
    dialect.create_table(&spec).into_iter().chain(dialect.add_key(&spec)).collect()
}

pub(super) fn drop(dialect: &dyn Dialect) -> Vec<String> {
    dialect.drop_tables(&[TABLE])
}

/// Writes the plan into the empty table.
pub(super) fn plan_statement(identity: &Identity) -> String {
    let words = identity.words().replace('\'', "''");
    format!("INSERT INTO {TABLE} (part, number, words) VALUES ('{PLAN}', 0, '{words}')")
}

/// Takes away what lets a load go on, so that one that begins anew over an
/// interrupted one is never taken for that one.
pub(super) fn forget() -> String {
    format!("DELETE FROM {TABLE} WHERE part IN ('{PLAN}', '{TABLES}')")
}

/// One row, one number: whether the table of marks is there.
pub(super) fn exists() -> String {
    format!(
        "SELECT count(*) FROM information_schema.tables WHERE table_name = '{TABLE}' AND \
         table_schema = current_schema()"
    )
}

/// All marks but those of chunks.
pub(super) fn look() -> String {
    format!("SELECT part, number, words FROM {TABLE} WHERE part <> '{CHUNK}'")
}

/// The next page of marks of chunks from a number on, in their order.
pub(super) fn page(from: u64) -> String {
    format!(
        "SELECT number FROM {TABLE} WHERE part = '{CHUNK}' AND number >= {from} ORDER BY number \
         LIMIT {PAGE_ROWS}"
    )
}

/// The value of a fact that is not told.
pub(super) const NO_FACT: &str = "none";

const CUT_OF: &str = "cut of ";

/// The name of the fact how a table is cut into chunks.
pub(super) fn cut_of(table: &str) -> String {
    format!("{CUT_OF}{table}")
}

/// The plan among the rows of [`look`].
pub(super) fn plan_in(rows: &[Vec<Option<String>>]) -> Option<Identity> {
    let is_plan = |row: &&Vec<Option<String>>| {
        row.first().and_then(Option::as_deref).is_some_and(|part| part == PLAN)
    };
    rows.iter().find(is_plan).and_then(|row| row.get(2)?.as_deref()).map(Identity::parse)
}

/// What must be the same for a load to go on: the data, and how it is cut
/// into chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity(Vec<(String, String)>);

impl Identity {
    pub(super) fn new(
        workload: &dyn Workload,
        dialect: &dyn Dialect,
        seed: u64,
        method: &str,
        rows_per_chunk: impl Fn(&Table) -> u64,
    ) -> Self {
        let mut facts: Vec<(String, String)> = Vec::new();
        let mut add = |name: &str, value: String| facts.push((name.to_owned(), value));
        add("workload", workload.name().to_owned());
        add("scale", workload.scale().to_string());
        for (name, value) in workload.params() {
            add(&format!("param {name}"), value);
        }
        // Of the dialect: they decide about keys and pieces.
        for (name, value) in dialect.table_params_in_effect() {
            add(&format!("param {name}"), value);
        }
        add("seed", seed.to_string());
        add("dialect", dialect.name().to_owned());
        add("load method", method.to_owned());
        add("version of pgdyno", env!("CARGO_PKG_VERSION").to_owned());
        for table in workload.tables().iter().filter(|table| table.rows > 0) {
            let each = rows_per_chunk(table);
            add(&cut_of(table.name), format!("{} by {each}", table.rows));
        }
        Self(facts)
    }

    /// One fact a line, `name=value`.
    fn words(&self) -> String {
        let lines: Vec<String> = self.0.iter().map(|(name, v)| format!("{name}={v}")).collect();
        lines.join("\n")
    }

    fn parse(words: &str) -> Self {
        let fact = |line: &str| {
            let (name, value) = line.split_once('=').unwrap_or((line, ""));
            (name.to_owned(), value.to_owned())
        };
        Self(words.lines().map(fact).collect())
    }

    pub(super) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map_or(NO_FACT, |(_, value)| value)
    }

    /// What differs from an `old` one, for people; empty where nothing does.
    /// How tables are cut is told only where nothing else is the reason.
    fn differences(&self, old: &Self) -> Vec<String> {
        let mut names: Vec<&str> = self.0.iter().map(|(name, _)| name.as_str()).collect();
        names
            .extend(old.0.iter().map(|(name, _)| name.as_str()).filter(|n| self.get(n) == NO_FACT));
        names.retain(|name| self.get(name) != old.get(name));
        let (cuts, others): (Vec<&str>, Vec<&str>) =
            names.into_iter().partition(|name| name.starts_with(CUT_OF));
        let told = if others.is_empty() { cuts } else { others };
        told.iter()
            .map(|name| format!("{name} {} (now {})", old.get(name), self.get(name)))
            .collect()
    }
}

/// What the table of marks says of an earlier load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Before {
    /// There is no such table.
    Nothing,
    /// A load was broken off before its tables were there, or was of a kind
    /// that leaves no plan: there is nothing to go on with.
    Scraps,
    /// A load was broken off with some of its work done, and none of its
    /// facts differ. Its chunks are yet to be read.
    Same {
        /// The statements for keys that are done.
        keys: Vec<u64>,
    },
    /// Another load was broken off: what differs.
    Other(Vec<String>),
}

impl Before {
    /// The workload of the load that was broken off, where it is another one.
    pub(super) fn other_workload(&self) -> Option<&str> {
        let Self::Other(differences) = self else { return None };
        let told = differences.iter().find_map(|words| words.strip_prefix("workload "))?;
        told.split_once(" (now").map(|(name, _)| name)
    }

    /// Judges the rows of [`look`].
    pub(super) fn judge(rows: &[Vec<Option<String>>], identity: &Identity) -> Self {
        let of = |wanted: &'static str| {
            rows.iter().filter(move |row| {
                row.first().and_then(Option::as_deref).is_some_and(|part| part == wanted)
            })
        };
        let Some(plan) = plan_in(rows) else { return Self::Scraps };
        let differences = identity.differences(&plan);
        if !differences.is_empty() {
            return Self::Other(differences);
        }
        if of(TABLES).next().is_none() {
            return Self::Scraps;
        }
        let number = |row: &Vec<Option<String>>| row.get(1)?.as_deref()?.parse().ok();
        Self::Same { keys: of(KEY).filter_map(number).collect() }
    }
}

/// The chunks that are in, as ranges: chunks are taken in order, so that a
/// load of millions has few gaps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Done(Vec<Range<u64>>);

impl Done {
    /// Adds the numbers of a page, which rise. Gives where the next page
    /// begins, `None` after the last.
    pub(super) fn add_page(&mut self, rows: &[Vec<Option<String>>]) -> Option<u64> {
        let numbers = rows.iter().filter_map(|row| row.first()?.as_deref()?.parse::<u64>().ok());
        for number in numbers {
            match self.0.last_mut() {
                Some(last) if last.end == number => last.end += 1,
                _ => self.0.push(number..number + 1),
            }
        }
        let next = self.0.last().map(|last| last.end);
        next.filter(|_| rows.len() >= PAGE_ROWS)
    }

    pub(super) fn contains(&self, number: u64) -> bool {
        let after = self.0.partition_point(|range| range.start <= number);
        after.checked_sub(1).is_some_and(|at| self.0[at].contains(&number))
    }

    /// All numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = u64> {
        self.0.iter().cloned().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgdyno_workload::{Choice, make};
    use proptest::prelude::*;

    fn identity(scale: u64, seed: u64, method: &str, cut: u64) -> Identity {
        let workload = make(&Choice { name: "tpcb", scale, params: &[] }).unwrap();
        Identity::new(&*workload, pgdyno_target::postgres(), seed, method, |_| cut)
    }

    fn row(part: &str, number: u64, words: Option<&str>) -> Vec<Option<String>> {
        vec![Some(part.into()), Some(number.to_string()), words.map(str::to_owned)]
    }

    /// A plan that was written and read is the same; each fact that differs is
    /// named with both values, and other cuts only where they are all.
    #[test]
    fn differences_are_named() {
        let old = identity(2, 7, "copy", 100);
        let read = Identity::parse(&old.words());
        assert_eq!(read, old);
        assert!(old.differences(&read).is_empty());
        let told = |new: Identity| new.differences(&old).join(", ");
        assert_eq!(told(identity(3, 7, "copy", 100)), "scale 2 (now 3)");
        assert_eq!(
            told(identity(2, 8, "insert", 50)),
            "seed 7 (now 8), load method copy (now insert)"
        );
        let cut = told(identity(2, 7, "copy", 50));
        assert!(cut.starts_with("cut of pgbench_branches 2 by 100 (now 2 by 50), "), "{cut}");
    }

    /// Only a load whose tables were all made goes on, and only its own.
    #[test]
    fn only_its_own_tables_are_gone_on_with() {
        let identity = identity(1, 0, "copy", 10);
        let words = identity.words();
        let plan = row("plan", 0, Some(&words));
        let judge = |rows: &[Vec<Option<String>>]| Before::judge(rows, &identity);
        assert_eq!(judge(&[]), Before::Scraps);
        assert_eq!(judge(std::slice::from_ref(&plan)), Before::Scraps);
        assert_eq!(judge(&[row("tables", 0, None)]), Before::Scraps);
        let all = [plan, row("key", 2, None), row("tables", 0, None)];
        assert_eq!(judge(&all), Before::Same { keys: vec![2] });
        let other = [row("plan", 0, Some("workload=x")), row("tables", 0, None)];
        assert_eq!(judge(&other).other_workload(), Some("x"));
        let scale = [row("plan", 0, Some(&words.replace("scale=1", "scale=2")))];
        assert!(matches!(judge(&scale), Before::Other(_)));
        assert_eq!(judge(&scale).other_workload(), None);
    }

    proptest! {
        /// Whatever the gaps, exactly the marked chunks are known as done.
        #[test]
        fn gaps_are_kept(marked in prop::collection::btree_set(0u64..200, 0..150)) {
            let rows: Vec<Vec<Option<String>>> =
                marked.iter().map(|number| vec![Some(number.to_string())]).collect();
            let mut done = Done::default();
            prop_assert_eq!(done.add_page(&rows), None);
            for number in 0..210 {
                prop_assert_eq!(done.contains(number), marked.contains(&number));
            }
            prop_assert!(done.iter().eq(marked.iter().copied()));
        }
    }

    /// A full page is followed by the next, which joins the range before it.
    #[test]
    fn pages_are_joined() {
        let page: Vec<Vec<Option<String>>> =
            (0..PAGE_ROWS).map(|number| vec![Some(number.to_string())]).collect();
        let mut done = Done::default();
        assert_eq!(done.add_page(&page), Some(PAGE_ROWS as u64));
        assert_eq!(done.add_page(&[vec![Some(PAGE_ROWS.to_string())]]), None);
        assert_eq!(done.0, std::slice::from_ref(&(0..PAGE_ROWS as u64 + 1)));
    }
}
