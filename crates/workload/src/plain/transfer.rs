//! `transfer`: money from one account to another, read, then written back.
//!
//! The new balances are computed by the client from what it has read, so two
//! transfers that meet in an account conflict in earnest: one has to wait and
//! see the other's result, or to be refused and tried again, or the other's
//! update is lost. Which one it is, is what databases and isolation levels
//! differ in; the audit counts lost updates exactly.

use super::data::push_numbers;
use super::reset::PutBack;
use super::rules::{AtRest, Rule};
use super::{OwnTable, Plain, by, no_row};
use crate::entry::{Choice, Entry, MakeError, Param};
use crate::params::{Chosen, PIECES};
use crate::workload::{KeySum, Workload};

/// Accounts for each unit of scale: few enough that some tens of clients meet.
const ROWS: u64 = 1000;
/// What each account starts with.
const BALANCE: u64 = 10_000;

const COUNT: &str = "rows in pgdyno_transfer_accounts";
const TOTAL: &str = "sum(balance)";
const CHANGES: &str = "sum(changes)";
const LOG: &str = "rows in pgdyno_transfer_log";

pub(super) const ENTRY: Entry = Entry::new(
    "transfer",
    "money between two accounts, read and written back; stresses conflicts, retries and \
     transactions over two shards",
    &[
        Param {
            name: "lock",
            help: "none (a conflict is the database's to see) or for-update (both rows are \
                   locked as they are read) [default: none]",
        },
        PIECES,
    ],
    make,
);

/// The lower number comes first, so that two transfers never wait for each
/// other; the amount may be negative instead.
fn script(lock: &str) -> String {
    format!(
        r"\set one random(1, 1000 * :scale)
\set two random(1, 1000 * :scale - 1)
\set two :two + case when :two >= :one then 1 else 0 end
\set a least(:one, :two)
\set b greatest(:one, :two)
\set amount random(-100, 100)
BEGIN;
-- pgdyno: rows 1
SELECT balance AS a_balance, changes AS a_changes FROM pgdyno_transfer_accounts WHERE id = :a{lock} \gset
-- pgdyno: rows 1
SELECT balance AS b_balance, changes AS b_changes FROM pgdyno_transfer_accounts WHERE id = :b{lock} \gset
\set a_balance :a_balance - :amount
\set b_balance :b_balance + :amount
\set a_changes :a_changes + 1
\set b_changes :b_changes + 1
-- pgdyno: rows 1
UPDATE pgdyno_transfer_accounts SET balance = :a_balance, changes = :a_changes WHERE id = :a;
-- pgdyno: rows 1
UPDATE pgdyno_transfer_accounts SET balance = :b_balance, changes = :b_changes WHERE id = :b;
-- pgdyno: rows 1
INSERT INTO pgdyno_transfer_log (payer, payee, amount, mtime) VALUES (:a, :b, :amount, CURRENT_TIMESTAMP);
END;
"
    )
}

fn accounts(rows: u64) -> OwnTable {
    OwnTable {
        name: "pgdyno_transfer_accounts",
        columns: &[
            ("id", "bigint NOT NULL"),
            ("balance", "bigint NOT NULL"),
            ("changes", "bigint NOT NULL"),
        ],
        loaded: &["id", "balance", "changes"],
        key: &["id"],
        spread: by("id"),
        indexes: Vec::new(),
        rows,
        // Key of 13 digits, "\t10000\t0\n".
        row_bytes_max: 22,
        key_sum: Some(KeySum::counting("id", rows)),
        write_row,
        figures: &[
            (COUNT, "count(*)"),
            (TOTAL, "coalesce(sum(balance), 0)"),
            (CHANGES, "coalesce(sum(changes), 0)"),
        ],
    }
}

/// Beside the payer's account: the row is written where one of the balances is.
fn log() -> OwnTable {
    OwnTable {
        name: "pgdyno_transfer_log",
        columns: &[
            ("payer", "bigint NOT NULL"),
            ("payee", "bigint NOT NULL"),
            ("amount", "int NOT NULL"),
            ("mtime", "timestamp NOT NULL"),
        ],
        loaded: &["payer", "payee", "amount", "mtime"],
        key: &[],
        spread: pgdyno_target::ddl::Spread::By {
            by: "payer",
            beside: Some("pgdyno_transfer_accounts"),
        },
        indexes: Vec::new(),
        rows: 0,
        row_bytes_max: 0,
        key_sum: None,
        write_row: no_row,
        figures: &[(LOG, "count(*)")],
    }
}

fn make(choice: &Choice<'_>) -> Result<Box<dyn Workload>, MakeError> {
    let chosen = Chosen::new(ENTRY.name, choice);
    let locks = chosen.word("lock", &["none", "for-update"])? == Some(1);
    let rows = ROWS * choice.scale;
    Ok(Box::new(Plain {
        entry: &ENTRY,
        scale: choice.scale,
        params: vec![("lock", if locks { "for-update" } else { "none" }.to_owned())],
        pieces: chosen.pieces()?,
        tables: vec![accounts(rows), log()],
        script: script(if locks { " FOR UPDATE" } else { "" }),
        rules: vec![
            Rule::Moved { counter: CHANGES, log: LOG, total: TOTAL, locks },
            Rule::RowPerCommit { name: "log", table: "pgdyno_transfer_log", figure: LOG },
            Rule::Still { name: "rows", what: "number of accounts", figures: vec![COUNT] },
        ],
        at_rest: vec![
            AtRest::Is(COUNT, i128::from(rows)),
            AtRest::Is(TOTAL, i128::from(rows) * i128::from(BALANCE)),
            AtRest::Twice(CHANGES, LOG),
        ],
        scale_column: "id",
        scale_unit: ROWS,
        known_indexes: &[],
        put_back: PutBack::Rows {
            changed: "changes <> 0 OR balance <> 10000",
            set: "balance = 10000, changes = 0",
        },
    }))
}

fn write_row(row: u64, _seed: u64, out: &mut Vec<u8>) {
    push_numbers(&[row + 1, BALANCE, 0], out);
    out.push(b'\n');
}
