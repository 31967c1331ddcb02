//! What holds of every described workload.

use std::collections::BTreeSet;

use pgdyno_script::{Names, Script};
use pgdyno_target::dialect::{dialects, postgres};
use proptest::prelude::*;

use super::*;
use crate::registry::{Choice, SCALE_MAX, make};
use crate::session::{Row, SqlError};

/// The scales at which other tools change their types or overflow.
const SCALES: [u64; 6] = [1, 19_999, 20_000, 21_475, 1_000_000, SCALE_MAX];

fn made(name: &str, scale: u64, params: &[(&str, &str)]) -> Box<dyn Workload> {
    let params: Vec<(String, String)> =
        params.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    make(&Choice { name, scale, params: &params }).unwrap()
}

fn all(scale: u64) -> Vec<Box<dyn Workload>> {
    ENTRIES.iter().map(|entry| made(entry.name, scale, &[])).collect()
}

fn rows(workload: &dyn Workload, table: usize, range: Range<u64>, seed: u64) -> String {
    let mut out = Vec::new();
    workload.write_rows(table, range, seed, &mut out);
    String::from_utf8(out).unwrap()
}

/// At every scale the last row fits its bound and has as many columns as are
/// loaded; what lies behind it is not made.
#[test]
fn last_rows_fit_at_every_scale() {
    for scale in SCALES {
        for workload in all(scale) {
            for (number, table) in workload.tables().iter().enumerate().filter(|(_, t)| t.rows > 0)
            {
                let last = rows(workload.as_ref(), number, table.rows - 1..table.rows + 3, 7);
                let name = table.name;
                assert_eq!(last.lines().count(), 1, "{name} at {scale}: {last}");
                assert!(last.len() <= table.row_bytes_max as usize, "{name} at {scale}: {last}");
                assert_eq!(last.trim_end_matches('\n').split('\t').count(), table.columns.len());
            }
        }
    }
}

/// Keys are of 64 bits in every table, so no scale overflows one.
#[test]
fn keys_have_64_bits() {
    for workload in all(1) {
        for statement in workload.create_statements(postgres()) {
            let first = statement.split_once('(').unwrap().1.split(',').next().unwrap();
            assert!(first.ends_with("bigint NOT NULL"), "{statement}");
        }
    }
}

/// The sums that the loader checks are those of the rows that are made.
#[test]
fn key_sums_are_those_of_the_rows() {
    for workload in all(1) {
        for (number, table) in workload.tables().iter().enumerate() {
            let Some(sum) = &table.key_sum else { continue };
            let column = table.columns.iter().position(|name| *name == sum.expression).unwrap();
            let text = rows(workload.as_ref(), number, 0..table.rows, 3);
            let found: i128 = text
                .lines()
                .map(|line| line.split('\t').nth(column).unwrap().parse::<i128>().unwrap())
                .sum();
            assert_eq!((text.lines().count() as u64, found), (table.rows, sum.expected));
        }
    }
}

proptest! {
    /// Any split of a range gives the same bytes as the whole range.
    #[test]
    fn splits_give_the_same_bytes(
        which in 0usize..5, scale in 1u64..2_000_000, start in any::<u64>(), seed in any::<u64>(),
        pieces in prop::collection::vec(1u64..100, 1..6),
    ) {
        let workload = made(ENTRIES[which].name, scale, &[]);
        let start = start % workload.tables()[0].rows;
        let end = start + pieces.iter().sum::<u64>();
        let mut split = String::new();
        let mut at = start;
        for piece in pieces {
            split += &rows(workload.as_ref(), 0, at..at + piece, seed);
            at += piece;
        }
        prop_assert_eq!(split, rows(workload.as_ref(), 0, start..end, seed));
    }
}

/// The query names every figure that rules and bases ask for, once.
#[test]
fn query_and_rules_use_the_same_names() {
    for workload in all(2) {
        let query = workload.audit_query(postgres());
        let mut named = BTreeSet::new();
        for part in query.split(" AS \"").skip(1) {
            assert!(named.insert(part.split('"').next().unwrap().to_owned()), "{query}");
        }
        let zero = Figures::default();
        let asked = workload.judge_run(&zero, &zero, &[]);
        let compared: Vec<String> = asked
            .iter()
            .flat_map(|finding| finding.figures.iter().map(|(name, _)| name.clone()))
            // What is counted by the run, or named anew, is in no query.
            .filter(|name| {
                !["transactions", "commits of", "new rows"].iter().any(|w| name.starts_with(w))
            })
            .collect();
        for name in &compared {
            assert!(named.contains(name), "{}: {name}", workload.name());
        }
        // Every figure is at rest what a base of zeros is not.
        let base = &workload.judge_base(&zero)[0];
        assert!(base.text.contains("rows in"), "{}", base.text);
    }
}

/// Each script is one in pgbench's language, at every value of a parameter.
#[test]
fn scripts_are_scripts() {
    let cases: [(&str, &[(&str, &str)]); 10] = [
        ("update", &[("index", "2")]),
        ("insert", &[("indexes", "0")]),
        ("transfer", &[]),
        ("transfer", &[("lock", "for-update")]),
        ("hotspot", &[("skew", "2")]),
        ("hotspot", &[("scatter", "no"), ("skew", "1.001")]),
        ("scan", &[]),
        ("scan", &[("rows", "1")]),
        ("scan", &[("rows", "1000")]),
        ("insert", &[("indexes", "5")]),
    ];
    for (name, params) in cases {
        let workload = made(name, 1, params);
        for transaction in workload.transactions() {
            let Body::Script(text) = transaction.body else { panic!("{name} is no script") };
            let mut names = Names::new();
            let script = Script::parse(name, text.as_bytes(), &mut names).unwrap();
            script.check_params().unwrap();
        }
    }
}

/// Every dialect makes every table and every index that was asked for.
#[test]
fn every_dialect_makes_all() {
    for dialect in dialects() {
        for (name, params, indexes) in
            [("update", [("index", "2")], 2), ("insert", [("indexes", "3")], 3)]
        {
            let workload = made(name, 1, &params);
            let keys = workload.key_statements(*dialect);
            let made = keys.iter().filter(|one| one.sql.starts_with("CREATE INDEX")).count();
            assert_eq!(made, indexes, "{name} on {}", dialect.name());
        }
        for workload in all(1) {
            let create = workload.create_statements(*dialect).join("\n");
            for table in workload.tables() {
                assert!(create.contains(&format!("CREATE TABLE {} ", table.name)), "{create}");
            }
            workload.check(*dialect).unwrap();
        }
    }
}

/// Tables in which one row was changed; keeps what is executed.
struct OneChanged {
    rows: u64,
    executed: Vec<String>,
}

impl Session for OneChanged {
    fn query(&mut self, _: &str) -> Result<(Vec<String>, Vec<Row>), SqlError> {
        let row = vec![Some(self.rows.to_string()), Some("1".to_owned())];
        Ok((vec!["rows".to_owned(), "changed".to_owned()], vec![row]))
    }

    fn execute(&mut self, sql: &str) -> Result<u64, SqlError> {
        self.executed.push(sql.to_owned());
        Ok(1)
    }
}

/// Whatever column a reset sets is one by which it sees that a row was changed.
#[test]
fn resets_see_every_column_that_they_set() {
    let mut seen = 0;
    for workload in all(1) {
        let rows = workload.tables()[0].rows;
        let mut session = OneChanged { rows, executed: Vec::new() };
        workload.reset(&mut session, postgres()).unwrap();
        let Some(update) = session.executed.iter().find(|sql| sql.starts_with("UPDATE")) else {
            continue;
        };
        let (set, changed) = update.split_once(" SET ").unwrap().1.split_once(" WHERE ").unwrap();
        for column in set.split(", ").map(|assigned| assigned.split(' ').next().unwrap()) {
            let compared = format!("{column} <>");
            assert!(changed.split(" OR ").any(|one| one.starts_with(&compared)), "{update}");
            seen += 1;
        }
    }
    // update, transfer and hotspot.
    assert_eq!(seen, 6);
}

/// Values out of range are refused with the range.
#[test]
fn parameters_are_checked() {
    for (name, param, value) in [
        ("update", "index", "3"),
        ("insert", "indexes", "6"),
        ("transfer", "lock", "yes"),
        ("hotspot", "skew", "1"),
        ("hotspot", "skew", "nan"),
        ("scan", "rows", "1001"),
        ("scan", "pieces", "0"),
    ] {
        let params = [(param.to_owned(), value.to_owned())];
        let error = make(&Choice { name, scale: 1, params: &params }).unwrap_err().to_string();
        assert!(error.contains(param) && error.contains("expected"), "{error}");
    }
}
