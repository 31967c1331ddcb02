//! Loaded rows whose values look drawn.

use crate::registry::{Choice, make};
use crate::testing::Cells;

/// The values of some columns are even over their ranges, for rows `rows` of
/// the first table that has loaded rows.
fn assert_even(workload: &str, scale: u64, columns: &[(usize, i64, i64)]) {
    const ROWS: u64 = 60_000;
    let made = make(&Choice { name: workload, scale, params: &[] }).unwrap();
    let mut text = Vec::new();
    made.write_rows(0, 0..ROWS, 20_261_121, &mut text);
    let text = String::from_utf8(text).unwrap();
    for (column, first, last) in columns {
        let mut cells = Cells::new(*first..=*last);
        for line in text.lines() {
            cells.add(line.split('\t').nth(*column).unwrap().parse().unwrap());
        }
        cells.assert_even(&format!("column {column} of {workload}"));
    }
}

/// Tellers, branches and changes of the rows that `insert` starts with.
#[test]
fn rows_of_insert_are_even() {
    let delta = (3, -500_000_000, 500_000_000);
    assert_even("insert", 1, &[(0, 1, 100_000), (1, 1, 100_000), delta]);
}

/// Values of the rows that `scan` reads.
#[test]
fn rows_of_scan_are_even() {
    assert_even("scan", 1, &[(2, 1, 1_000_000)]);
}
