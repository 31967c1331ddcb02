//! What the nine tables of TPC-C are made of (clause 1.3): columns, keys,
//! indexes and references, as values. The statements are in [`super::schema`].
//!
//! Types hold what a run without think times makes of them, which is more than
//! the standard asks for: amounts that grow have 16 digits instead of 12, and
//! counters 32 bits. All identifiers are `int`, so that a client's parameter
//! has one type wherever it stands.

use pgdyno_target::ddl::{IndexSpec, Spread};

/// Position of `item` among the tables.
pub(super) const ITEM: usize = 0;
/// Position of `warehouse`.
pub(super) const WAREHOUSE: usize = 1;
/// Position of `district`.
pub(super) const DISTRICT: usize = 2;
/// Position of `stock`.
pub(super) const STOCK: usize = 3;
/// Position of `customer`.
pub(super) const CUSTOMER: usize = 4;
/// Position of `history`.
pub(super) const HISTORY: usize = 5;
/// Position of `orders`.
pub(super) const ORDER: usize = 6;
/// Position of `new_order`.
pub(super) const NEW_ORDER: usize = 7;
/// Position of `order_line`.
pub(super) const ORDER_LINE: usize = 8;
/// Position of `tpcc_parameters`.
pub(super) const PARAMETERS: usize = 9;

/// Rows of `tpcc_parameters`.
pub(super) const PARAMETER_ROWS: u64 = 6;

pub(super) type Columns = &'static [(&'static str, &'static str)];

const ITEM_COLUMNS: Columns = &[
    ("i_id", "int NOT NULL"),
    ("i_im_id", "int NOT NULL"),
    ("i_name", "varchar(24) NOT NULL"),
    ("i_price", "numeric(5,2) NOT NULL"),
    ("i_data", "varchar(50) NOT NULL"),
];

const WAREHOUSE_COLUMNS: Columns = &[
    ("w_id", "int NOT NULL"),
    ("w_name", "varchar(10) NOT NULL"),
    ("w_street_1", "varchar(20) NOT NULL"),
    ("w_street_2", "varchar(20) NOT NULL"),
    ("w_city", "varchar(20) NOT NULL"),
    ("w_state", "char(2) NOT NULL"),
    ("w_zip", "char(9) NOT NULL"),
    ("w_tax", "numeric(4,4) NOT NULL"),
    ("w_ytd", "numeric(16,2) NOT NULL"),
];

const DISTRICT_COLUMNS: Columns = &[
    ("d_id", "int NOT NULL"),
    ("d_w_id", "int NOT NULL"),
    ("d_name", "varchar(10) NOT NULL"),
    ("d_street_1", "varchar(20) NOT NULL"),
    ("d_street_2", "varchar(20) NOT NULL"),
    ("d_city", "varchar(20) NOT NULL"),
    ("d_state", "char(2) NOT NULL"),
    ("d_zip", "char(9) NOT NULL"),
    ("d_tax", "numeric(4,4) NOT NULL"),
    ("d_ytd", "numeric(16,2) NOT NULL"),
    ("d_next_o_id", "int NOT NULL"),
];

const STOCK_COLUMNS: Columns = &[
    ("s_i_id", "int NOT NULL"),
    ("s_w_id", "int NOT NULL"),
    ("s_quantity", "int NOT NULL"),
    ("s_dist_01", "char(24) NOT NULL"),
    ("s_dist_02", "char(24) NOT NULL"),
    ("s_dist_03", "char(24) NOT NULL"),
    ("s_dist_04", "char(24) NOT NULL"),
    ("s_dist_05", "char(24) NOT NULL"),
    ("s_dist_06", "char(24) NOT NULL"),
    ("s_dist_07", "char(24) NOT NULL"),
    ("s_dist_08", "char(24) NOT NULL"),
    ("s_dist_09", "char(24) NOT NULL"),
    ("s_dist_10", "char(24) NOT NULL"),
    ("s_ytd", "int NOT NULL"),
    ("s_order_cnt", "int NOT NULL"),
    ("s_remote_cnt", "int NOT NULL"),
    ("s_data", "varchar(50) NOT NULL"),
];

const CUSTOMER_COLUMNS: Columns = &[
    ("c_id", "int NOT NULL"),
    ("c_d_id", "int NOT NULL"),
    ("c_w_id", "int NOT NULL"),
    ("c_first", "varchar(16) NOT NULL"),
    ("c_middle", "char(2) NOT NULL"),
    ("c_last", "varchar(16) NOT NULL"),
    ("c_street_1", "varchar(20) NOT NULL"),
    ("c_street_2", "varchar(20) NOT NULL"),
    ("c_city", "varchar(20) NOT NULL"),
    ("c_state", "char(2) NOT NULL"),
    ("c_zip", "char(9) NOT NULL"),
    ("c_phone", "char(16) NOT NULL"),
    ("c_since", "timestamptz NOT NULL"),
    ("c_credit", "char(2) NOT NULL"),
    ("c_credit_lim", "numeric(12,2) NOT NULL"),
    ("c_discount", "numeric(4,4) NOT NULL"),
    ("c_balance", "numeric(16,2) NOT NULL"),
    ("c_ytd_payment", "numeric(16,2) NOT NULL"),
    ("c_payment_cnt", "int NOT NULL"),
    ("c_delivery_cnt", "int NOT NULL"),
    ("c_data", "varchar(500) NOT NULL"),
];

const HISTORY_COLUMNS: Columns = &[
    ("h_c_id", "int NOT NULL"),
    ("h_c_d_id", "int NOT NULL"),
    ("h_c_w_id", "int NOT NULL"),
    ("h_d_id", "int NOT NULL"),
    ("h_w_id", "int NOT NULL"),
    ("h_date", "timestamptz NOT NULL"),
    ("h_amount", "numeric(6,2) NOT NULL"),
    ("h_data", "varchar(24) NOT NULL"),
];

const ORDER_COLUMNS: Columns = &[
    ("o_id", "int NOT NULL"),
    ("o_d_id", "int NOT NULL"),
    ("o_w_id", "int NOT NULL"),
    ("o_c_id", "int NOT NULL"),
    ("o_entry_d", "timestamptz NOT NULL"),
    ("o_carrier_id", "int"),
    ("o_ol_cnt", "int NOT NULL"),
    ("o_all_local", "int NOT NULL"),
];

const NEW_ORDER_COLUMNS: Columns =
    &[("no_o_id", "int NOT NULL"), ("no_d_id", "int NOT NULL"), ("no_w_id", "int NOT NULL")];

const ORDER_LINE_COLUMNS: Columns = &[
    ("ol_o_id", "int NOT NULL"),
    ("ol_d_id", "int NOT NULL"),
    ("ol_w_id", "int NOT NULL"),
    ("ol_number", "int NOT NULL"),
    ("ol_i_id", "int NOT NULL"),
    ("ol_supply_w_id", "int NOT NULL"),
    ("ol_delivery_d", "timestamptz"),
    ("ol_quantity", "int NOT NULL"),
    ("ol_amount", "numeric(6,2) NOT NULL"),
    ("ol_dist_info", "char(24) NOT NULL"),
];

const PARAMETER_COLUMNS: Columns =
    &[("name", "varchar(32) NOT NULL"), ("value", "varchar(64) NOT NULL")];

/// What a table is made of.
pub(super) struct Shape {
    pub(super) name: &'static str,
    pub(super) names: &'static [&'static str],
    pub(super) columns: Columns,
    pub(super) key: &'static [&'static str],
    pub(super) spread: Spread<'static>,
    pub(super) fillfactor: Option<u8>,
    pub(super) row_bytes_max: u32,
}

/// The names alone. A wrong `N` does not compile.
const fn names<const N: usize>(columns: Columns) -> [&'static str; N] {
    assert!(columns.len() == N);
    let mut all = [""; N];
    let mut at = 0;
    while at < N {
        all[at] = columns[at].0;
        at += 1;
    }
    all
}

/// All that belongs to a warehouse stays with it.
const fn with_warehouse(by: &'static str) -> Spread<'static> {
    Spread::By { by, beside: Some("warehouse") }
}

/// The rows of warehouses and districts are few and changed by nearly every
/// transaction: with room on the page their new versions stay on it, and out
/// of the index.
const FILL_HOT: Option<u8> = Some(10);
/// Rows that are changed now and then: room for one or two versions a page.
const FILL_CHANGED: Option<u8> = Some(90);

/// The shapes in the order of the positions above.
pub(super) static SHAPES: [Shape; 10] = [
    Shape {
        name: "item",
        names: &names::<5>(ITEM_COLUMNS),
        columns: ITEM_COLUMNS,
        key: &["i_id"],
        spread: Spread::Everywhere,
        fillfactor: None,
        row_bytes_max: 100,
    },
    Shape {
        name: "warehouse",
        names: &names::<9>(WAREHOUSE_COLUMNS),
        columns: WAREHOUSE_COLUMNS,
        key: &["w_id"],
        spread: Spread::By { by: "w_id", beside: None },
        fillfactor: FILL_HOT,
        row_bytes_max: 128,
    },
    Shape {
        name: "district",
        names: &names::<11>(DISTRICT_COLUMNS),
        columns: DISTRICT_COLUMNS,
        key: &["d_w_id", "d_id"],
        spread: with_warehouse("d_w_id"),
        fillfactor: FILL_HOT,
        row_bytes_max: 136,
    },
    Shape {
        name: "stock",
        names: &names::<17>(STOCK_COLUMNS),
        columns: STOCK_COLUMNS,
        key: &["s_w_id", "s_i_id"],
        spread: with_warehouse("s_w_id"),
        fillfactor: FILL_CHANGED,
        row_bytes_max: 336,
    },
    Shape {
        name: "customer",
        names: &names::<21>(CUSTOMER_COLUMNS),
        columns: CUSTOMER_COLUMNS,
        key: &["c_w_id", "c_d_id", "c_id"],
        spread: with_warehouse("c_w_id"),
        fillfactor: FILL_CHANGED,
        row_bytes_max: 720,
    },
    Shape {
        name: "history",
        names: &names::<8>(HISTORY_COLUMNS),
        columns: HISTORY_COLUMNS,
        key: &[],
        spread: with_warehouse("h_w_id"),
        fillfactor: None,
        row_bytes_max: 96,
    },
    Shape {
        name: "orders",
        names: &names::<8>(ORDER_COLUMNS),
        columns: ORDER_COLUMNS,
        key: &["o_w_id", "o_d_id", "o_id"],
        spread: with_warehouse("o_w_id"),
        fillfactor: None,
        row_bytes_max: 64,
    },
    Shape {
        name: "new_order",
        names: &names::<3>(NEW_ORDER_COLUMNS),
        columns: NEW_ORDER_COLUMNS,
        key: &["no_w_id", "no_d_id", "no_o_id"],
        spread: with_warehouse("no_w_id"),
        fillfactor: None,
        row_bytes_max: 20,
    },
    Shape {
        name: "order_line",
        names: &names::<10>(ORDER_LINE_COLUMNS),
        columns: ORDER_LINE_COLUMNS,
        key: &["ol_w_id", "ol_d_id", "ol_o_id", "ol_number"],
        spread: with_warehouse("ol_w_id"),
        fillfactor: None,
        row_bytes_max: 100,
    },
    Shape {
        name: "tpcc_parameters",
        names: &names::<2>(PARAMETER_COLUMNS),
        columns: PARAMETER_COLUMNS,
        key: &["name"],
        spread: Spread::Anywhere,
        fillfactor: None,
        row_bytes_max: 40,
    },
];

/// Names of all tables, children before their parents.
pub(super) const NAMES: [&str; 10] = [
    "order_line",
    "new_order",
    "orders",
    "history",
    "customer",
    "stock",
    "district",
    "warehouse",
    "item",
    "tpcc_parameters",
];

/// The two indexes that the transactions need besides the keys.
pub(super) const INDEXES: [IndexSpec<'static>; 2] = [
    // Customers by last name, in the order of first names.
    IndexSpec {
        name: "customer_by_name",
        table: "customer",
        columns: &["c_w_id", "c_d_id", "c_last", "c_first", "c_id"],
        unique: true,
    },
    // The latest order of a customer.
    IndexSpec {
        name: "orders_by_customer",
        table: "orders",
        columns: &["o_w_id", "o_d_id", "o_c_id", "o_id"],
        unique: true,
    },
];

/// The ten foreign keys (clause 1.3): name, table, columns, what they refer to.
pub(super) const FOREIGN_KEYS: [(&str, &str, &str, &str); 10] = [
    ("order_line_order", "order_line", "ol_w_id, ol_d_id, ol_o_id", "orders"),
    ("order_line_stock", "order_line", "ol_supply_w_id, ol_i_id", "stock (s_w_id, s_i_id)"),
    ("stock_item", "stock", "s_i_id", "item"),
    ("stock_warehouse", "stock", "s_w_id", "warehouse"),
    ("new_order_order", "new_order", "no_w_id, no_d_id, no_o_id", "orders"),
    ("orders_customer", "orders", "o_w_id, o_d_id, o_c_id", "customer"),
    ("history_customer", "history", "h_c_w_id, h_c_d_id, h_c_id", "customer"),
    ("history_district", "history", "h_w_id, h_d_id", "district"),
    ("customer_district", "customer", "c_w_id, c_d_id", "district"),
    ("district_warehouse", "district", "d_w_id", "warehouse"),
];

/// Those that cross warehouses: a database that keeps a reference within a
/// shard cannot have them.
pub(super) const CROSSING: [&str; 2] = ["order_line_stock", "history_customer"];
