//! Tests: every workload at the scales at which other tools change their types
//! or overflow, on every dialect, without a row loaded.

use std::collections::BTreeMap;

use pgdyno_target::dialect::dialects;

use crate::registry::{Choice, SCALE_MAX, make, workloads};
use crate::workload::{Body, Workload};

/// 19,999 and 20,000: pgbench's change to `bigint`; 21,475: accounts leave 32
/// bits; 214,748,364 and the next: tellers do.
const SCALES: [u64; 8] =
    [1, 19_999, 20_000, 21_475, 1_000_000, 214_748_364, 214_748_365, SCALE_MAX];

fn made(name: &str, scale: u64) -> Box<dyn Workload> {
    make(&Choice { name, scale, params: &[] }).unwrap()
}

/// The words of a CREATE TABLE between its parentheses, at its commas.
fn parts(inner: &str) -> Vec<&str> {
    let (mut depth, mut start, mut all) = (0, 0, Vec::new());
    for (at, letter) in inner.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' if depth == 0 => {
                all.push(&inner[start..at]);
                return all;
            }
            ')' => depth -= 1,
            ',' if depth == 0 => {
                all.push(&inner[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    panic!("{inner} has no end")
}

/// The columns of a table with their types, from the statements that make it.
fn columns(statements: &[String], table: &str) -> BTreeMap<String, String> {
    let begin = format!("CREATE TABLE {table} (");
    let inner = statements.iter().find_map(|sql| sql.strip_prefix(&begin)).unwrap();
    let typed = parts(inner).into_iter().filter_map(|part| part.trim().split_once(' '));
    typed.map(|(name, kind)| (name.to_owned(), kind.to_owned())).collect()
}

/// A whole number's type by its first word, and the largest value it takes.
fn most(kind: &str) -> Option<i64> {
    match kind.split(' ').next()? {
        "bigint" => Some(i64::MAX),
        "int" => Some(i32::MAX.into()),
        "smallint" => Some(i16::MAX.into()),
        _ => None,
    }
}

/// Whole numbers of the last loaded row of every table fit their columns, on
/// every dialect; the bytes fit their bound.
#[test]
fn last_rows_fit_their_columns() {
    let mut seen = 0;
    for entry in workloads() {
        for scale in SCALES {
            let workload = made(entry.name, scale);
            for (number, table) in workload.tables().iter().enumerate() {
                let mut row = Vec::new();
                workload.write_rows(number, table.rows.saturating_sub(1)..table.rows, 7, &mut row);
                assert!(row.len() <= table.row_bytes_max as usize, "{} at {scale}", table.name);
                let text = String::from_utf8(row).unwrap();
                let Some(line) = text.lines().last() else { continue };
                for dialect in dialects() {
                    let types = columns(&workload.create_statements(*dialect), table.name);
                    for (column, value) in table.columns.iter().zip(line.split('\t')) {
                        let Some(most) = most(&types[*column]) else { continue };
                        if value == "\\N" {
                            continue;
                        }
                        let value: i64 = value.parse().unwrap();
                        let what = format!("{}.{column} on {}", table.name, dialect.name());
                        assert!(value <= most, "{what}, scale {scale}: {value}");
                        seen += 1;
                    }
                }
            }
        }
    }
    assert!(seen > 1000, "{seen}");
}

/// What transactions insert fits as well: columns of tables that start empty
/// have the type of the key that they repeat.
#[test]
fn inserted_keys_have_the_type_of_the_key() {
    for scale in SCALES {
        for dialect in dialects() {
            let tpcb = made("tpcb", scale).create_statements(*dialect);
            let kind = |table: &str, column: &str| most(&columns(&tpcb, table)[column]).unwrap();
            for (table, column) in [
                ("pgbench_tellers", "tid"),
                ("pgbench_accounts", "aid"),
                ("pgbench_branches", "bid"),
            ] {
                assert_eq!(kind("pgbench_history", column), kind(table, column), "{column}");
            }
            let transfer = made("transfer", scale).create_statements(*dialect);
            for column in ["payer", "payee"] {
                let kind = &columns(&transfer, "pgdyno_transfer_log")[column];
                assert_eq!(most(kind), Some(i64::MAX), "{column}");
            }
        }
    }
}

/// Row counts and sums of keys are exact: none is cut at a limit below the
/// largest scale, and twice the scale has twice the rows, apart from tables of
/// one size.
#[test]
fn row_counts_follow_the_scale() {
    for entry in workloads() {
        let one = made(entry.name, 1).tables();
        for scale in SCALES {
            for (table, one) in made(entry.name, scale).tables().iter().zip(&one) {
                let grown = u128::from(one.rows) * u128::from(scale);
                let rows = u128::from(table.rows);
                let is_fixed = ["item", "tpcc_parameters"].contains(&table.name);
                let expected = if is_fixed { u128::from(one.rows) } else { grown };
                assert_eq!(rows, expected, "{} at {scale}", table.name);
            }
        }
    }
}

/// Scripts count in 64 bits: no number in them is multiplied by the scale
/// beyond that.
#[test]
fn scripts_stay_within_64_bits() {
    for entry in workloads() {
        for transaction in made(entry.name, SCALE_MAX).transactions() {
            let (Body::Script(text) | Body::Procedure(text)) = transaction.body;
            for words in text.split(" * :scale").collect::<Vec<_>>().windows(2) {
                let factor = words[0].rsplit(|c: char| !c.is_ascii_digit()).next().unwrap();
                let factor: u64 = factor.parse().unwrap();
                assert!(i64::try_from(u128::from(factor) * u128::from(SCALE_MAX)).is_ok());
            }
        }
    }
}
