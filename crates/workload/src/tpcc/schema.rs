//! The tables of TPC-C, and one more for what the load was made with, as
//! statements for a dialect.

use pgdyno_target::ddl::TableSpec;
use pgdyno_target::dialect::{Dialect, ForeignKeys};

use super::shapes::{
    CROSSING, CUSTOMER, DISTRICT, FOREIGN_KEYS, HISTORY, INDEXES, ITEM, NAMES, NEW_ORDER, ORDER,
    ORDER_LINE, PARAMETER_ROWS, PARAMETERS, SHAPES, STOCK, Shape, WAREHOUSE,
};
use super::{CUSTOMERS, DISTRICTS, ITEMS, LINES, ORDERS, Profile, Tpcc, UNDELIVERED, functions};
use crate::workload::{KeySum, Table, TableStatement};

/// The tables as the loader wants them.
pub(super) fn tables(tpcc: &Tpcc) -> Vec<Table> {
    let scale = tpcc.scale;
    let districts = scale.saturating_mul(DISTRICTS);
    let whole = |rows: u64| i128::from(rows) * (i128::from(rows) + 1) / 2;
    // Expressions that number the rows from 1, made in 64 bits. Their ranges
    // cannot be looked up by key, so they are no counting ones.
    let numbered = |expression, rows| KeySum { expression, expected: whole(rows), counts: false };
    SHAPES
        .iter()
        .enumerate()
        .map(|(number, shape)| {
            let (rows, key_sum) = match number {
                ITEM => (ITEMS, Some(KeySum::counting("i_id", ITEMS))),
                WAREHOUSE => (scale, Some(KeySum::counting("w_id", scale))),
                DISTRICT => {
                    (districts, Some(numbered("(d_w_id::bigint - 1) * 10 + d_id", districts)))
                }
                STOCK => {
                    let rows = scale.saturating_mul(ITEMS);
                    (rows, Some(numbered("(s_w_id::bigint - 1) * 100000 + s_i_id", rows)))
                }
                CUSTOMER => {
                    let rows = districts.saturating_mul(CUSTOMERS);
                    let sum = "((c_w_id::bigint - 1) * 10 + c_d_id - 1) * 3000 + c_id";
                    (rows, Some(numbered(sum, rows)))
                }
                HISTORY => {
                    let rows = districts.saturating_mul(CUSTOMERS);
                    let sum = "((h_c_w_id::bigint - 1) * 10 + h_c_d_id - 1) * 3000 + h_c_id";
                    (rows, Some(numbered(sum, rows)))
                }
                ORDER => {
                    let rows = districts.saturating_mul(ORDERS);
                    let sum = "((o_w_id::bigint - 1) * 10 + o_d_id - 1) * 3000 + o_id";
                    (rows, Some(numbered(sum, rows)))
                }
                NEW_ORDER => {
                    let rows = districts.saturating_mul(UNDELIVERED);
                    let sum = "((no_w_id::bigint - 1) * 10 + no_d_id - 1) * 900 + no_o_id - 2100";
                    (rows, Some(numbered(sum, rows)))
                }
                ORDER_LINE => {
                    let expected = whole(districts) * i128::from(LINES);
                    let expression = "(ol_w_id::bigint - 1) * 10 + ol_d_id";
                    let sum = KeySum { expression, expected, counts: false };
                    (districts.saturating_mul(LINES), Some(sum))
                }
                _ => (PARAMETER_ROWS, None),
            };
            let Shape { name, names, row_bytes_max, .. } = *shape;
            Table { name, columns: names, rows, row_bytes_max, key_sum }
        })
        .collect()
}

/// Drops all tables, and the routines that an earlier load may have made. With
/// foreign keys between them a database that drops tables one by one wants
/// children first, as they are listed.
pub(super) fn drop_statements(dialect: &dyn Dialect) -> Vec<String> {
    let mut all = if dialect.has_plpgsql() { functions::drop_statements() } else { Vec::new() };
    all.extend(dialect.drop_tables(&NAMES));
    all
}

/// A shape as the dialect wants it.
fn spec<'a>(tpcc: &Tpcc, number: usize, columns: &'a [(&'a str, &'a str)]) -> TableSpec<'a> {
    let shape = &SHAPES[number];
    let key: &'a [&'a str] = match (tpcc.params.profile, number) {
        (Profile::Hammerdb, STOCK) => &["s_i_id", "s_w_id"],
        _ => shape.key,
    };
    TableSpec {
        name: shape.name,
        columns,
        key,
        spread: shape.spread,
        fillfactor: shape.fillfactor,
        pieces: tpcc.params.pieces,
    }
}

/// The order in which tables are made: what others are put beside comes first.
const CREATE_ORDER: [usize; 10] =
    [ITEM, WAREHOUSE, DISTRICT, STOCK, CUSTOMER, HISTORY, ORDER, NEW_ORDER, ORDER_LINE, PARAMETERS];

/// The empty tables.
pub(super) fn create_statements(tpcc: &Tpcc, dialect: &dyn Dialect) -> Vec<String> {
    let mut all = Vec::new();
    for number in CREATE_ORDER {
        let columns = columns(tpcc.params.profile, number);
        let made = dialect.create_table(&spec(tpcc, number, &columns));
        match tpcc.params.partitions {
            Some(count) if number == ORDER_LINE => all.extend(partitioned(made, count)),
            _ => all.extend(made),
        }
    }
    all
}

/// HammerDB's columns allow nulls where its functions write them.
fn columns(profile: Profile, number: usize) -> Vec<(&'static str, &'static str)> {
    let nullable = |column: &str| match profile {
        Profile::Faithful => false,
        Profile::Hammerdb => matches!(column, "h_c_id" | "ol_amount" | "ol_dist_info"),
    };
    SHAPES[number]
        .columns
        .iter()
        .map(|&(name, kind)| {
            let kind = if nullable(name) { kind.trim_end_matches(" NOT NULL") } else { kind };
            (name, kind)
        })
        .collect()
}

/// The statements that make `order_line`, with its partitions behind the one
/// that makes the table itself.
fn partitioned(made: Vec<String>, count: u32) -> Vec<String> {
    let mut all = Vec::new();
    for statement in made {
        if !statement.starts_with("CREATE TABLE") {
            all.push(statement);
            continue;
        }
        all.push(format!("{statement} PARTITION BY HASH (ol_w_id)"));
        all.extend((0..count).map(|number| {
            format!(
                "CREATE TABLE order_line_{number} PARTITION OF order_line \
                 FOR VALUES WITH (MODULUS {count}, REMAINDER {number})"
            )
        }));
    }
    all
}

/// Keys and indexes, those of the large tables first: with several connections
/// they then start first.
pub(super) fn key_statements(tpcc: &Tpcc, dialect: &dyn Dialect) -> Vec<TableStatement> {
    let mut all = Vec::new();
    for number in
        [ORDER_LINE, STOCK, CUSTOMER, ORDER, NEW_ORDER, ITEM, DISTRICT, WAREHOUSE, PARAMETERS]
    {
        let table = SHAPES[number].name;
        let key = dialect.add_key(&spec(tpcc, number, &[]));
        all.extend(key.map(|sql| TableStatement { table, sql }));
        all.extend(
            INDEXES
                .iter()
                .filter(|index| index.table == table)
                .map(|index| TableStatement { table, sql: dialect.create_index(index) }),
        );
    }
    if tpcc.params.procs {
        all.extend(
            functions::create_statements(tpcc.params.profile)
                .into_iter()
                .map(|sql| TableStatement { table: "warehouse", sql }),
        );
    }
    all
}

/// Statistics, and the foreign keys: those need the keys of two tables, and
/// here all keys are made.
pub(super) fn settle_statements(tpcc: &Tpcc, dialect: &dyn Dialect) -> Vec<TableStatement> {
    let foreign =
        foreign_keys(tpcc, dialect).into_iter().map(|(table, sql)| TableStatement { table, sql });
    let statistics = [
        ORDER_LINE, STOCK, CUSTOMER, ORDER, HISTORY, ITEM, NEW_ORDER, DISTRICT, WAREHOUSE,
        PARAMETERS,
    ]
    .into_iter()
    .filter_map(|number| {
        let table = SHAPES[number].name;
        dialect.statistics_statement(table).map(|sql| TableStatement { table, sql })
    });
    foreign.chain(statistics).collect()
}

/// The foreign keys that are asked for and that the dialect can keep.
fn foreign_keys(tpcc: &Tpcc, dialect: &dyn Dialect) -> Vec<(&'static str, String)> {
    if !tpcc.params.foreign_keys {
        return Vec::new();
    }
    let within_shard = dialect.foreign_keys() == ForeignKeys::WithinShard;
    FOREIGN_KEYS
        .iter()
        .filter(|(name, ..)| !(within_shard && CROSSING.contains(name)))
        .map(|(name, table, columns, parent)| {
            let sql = format!(
                "ALTER TABLE {table} ADD CONSTRAINT {name} FOREIGN KEY ({columns}) \
                 REFERENCES {parent}"
            );
            (*table, sql)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tpcc::Params;
    use crate::workload::Workload;
    use pgdyno_target::ddl::Spread;
    use pgdyno_target::{dialect_by_name, dialects, postgres};

    fn made(params: Params, dialect: &str) -> Vec<String> {
        create_statements(&Tpcc::new(2, params), dialect_by_name(dialect).unwrap())
    }

    /// Where tables are spread, all go by their warehouse, beside the table of
    /// warehouses, and the items are everywhere.
    #[test]
    fn warehouses_stay_together() {
        let citus = made(Params::default(), "citus").join("\n");
        assert!(citus.contains("create_reference_table('item')"));
        for (table, by) in [
            ("district", "d_w_id"),
            ("stock", "s_w_id"),
            ("customer", "c_w_id"),
            ("history", "h_w_id"),
            ("orders", "o_w_id"),
            ("new_order", "no_w_id"),
            ("order_line", "ol_w_id"),
        ] {
            let call = format!(
                "create_distributed_table('{table}', '{by}', colocate_with => 'warehouse')"
            );
            assert!(citus.contains(&call), "{call}");
        }
        let limitless = made(Params::default(), "aurora-limitless").join("\n");
        assert_eq!(limitless.matches("collocate_with = 'warehouse'").count(), 7);
        assert_eq!(limitless.matches("mode = 'reference'").count(), 1);
        for shape in &SHAPES {
            if let Spread::By { by, .. } = shape.spread {
                assert!(shape.key.is_empty() || shape.key.contains(&by), "{}", shape.name);
            }
        }
        for index in INDEXES {
            assert!(index.columns[0].ends_with("_w_id"));
        }
    }

    /// The history has a key of its own where a table needs one.
    #[test]
    fn history_gets_a_key_where_needed() {
        let history = |dialect| {
            let all = made(Params::default(), dialect);
            all.into_iter().find(|sql| sql.starts_with("CREATE TABLE history")).unwrap()
        };
        assert!(!history("postgres").contains("PRIMARY KEY"));
        for dialect in ["aurora-dsql", "cockroachdb"] {
            assert!(history(dialect).contains("PRIMARY KEY (id)"), "{}", history(dialect));
        }
    }

    /// The list of foreign keys is the standard's ten, less those that leave a
    /// shard where that cannot be.
    #[test]
    fn foreign_keys_are_ten_or_the_documented_part() {
        let params = Params { foreign_keys: true, ..Params::default() };
        let count = |dialect: &dyn Dialect| foreign_keys(&Tpcc::new(1, params), dialect).len();
        for (name, expected) in [("postgres", 10), ("citus", 8), ("aurora-limitless", 8)] {
            assert_eq!(count(dialect_by_name(name).unwrap()), expected, "{name}");
        }
        assert!(foreign_keys(&Tpcc::new(1, Params::default()), postgres()).is_empty());
        let dsql = dialect_by_name("aurora-dsql").unwrap();
        assert!(Tpcc::new(1, params).check(dsql).unwrap_err().contains("foreign-keys"));
    }

    /// What a dialect cannot do is refused before anything is sent.
    #[test]
    fn parameters_are_refused_where_they_cannot_be() {
        let refused = |params: Params, name: &str| {
            Tpcc::new(1, params).check(dialect_by_name(name).unwrap()).unwrap_err()
        };
        let procs = Params { procs: true, ..Params::default() };
        assert!(refused(procs, "aurora-dsql").contains("PL/pgSQL"));
        let partitions = Params { partitions: Some(4), ..Params::default() };
        assert!(refused(partitions, "aurora-dsql").contains("PARTITION BY"));
        let pieces = Params { pieces: Some(4), ..Params::default() };
        assert!(refused(pieces, "postgres").contains("pieces"));
        for dialect in dialects() {
            assert_eq!(Tpcc::new(1, Params::default()).check(*dialect), Ok(()));
        }
    }

    /// Partitions are made with their table, and only where asked for.
    #[test]
    fn partitions_come_with_the_table() {
        let params = Params { partitions: Some(3), ..Params::default() };
        let all = made(params, "postgres");
        let at = all.iter().position(|sql| sql.ends_with("PARTITION BY HASH (ol_w_id)")).unwrap();
        assert!(all[at].starts_with("CREATE TABLE order_line ("));
        assert!(all[at + 3].ends_with("(MODULUS 3, REMAINDER 2)"));
        assert!(!made(Params::default(), "postgres").join("").contains("PARTITION"));
    }

    /// No key or index has more than eight columns, which is the least that a
    /// known database allows.
    #[test]
    fn keys_are_short() {
        assert!(SHAPES.iter().all(|shape| shape.key.len() <= 8));
        assert!(INDEXES.iter().all(|index| index.columns.len() <= 8));
    }
}
