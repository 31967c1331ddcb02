//! The five transactions as they are listed: names, shares and commands.

use std::borrow::Cow;

use super::deck::{KINDS, Kind};
use super::{Params, delivery, new_order, order_status, payment, stock_level};
use crate::workload::{Body, Transaction};

/// All five, in the order of [`KINDS`].
#[must_use]
pub fn transactions(params: &Params) -> Vec<Transaction> {
    let made = |kind: Kind| Transaction {
        name: name(kind),
        description: name(kind),
        weight: kind.cards(),
        body: Body::Procedure(if params.procs { routine(kind) } else { commands(kind, params) }),
    };
    KINDS.into_iter().map(made).collect()
}

/// What reports call a transaction.
#[must_use]
pub const fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::NewOrder => "new order",
        Kind::Payment => "payment",
        Kind::OrderStatus => "order status",
        Kind::Delivery => "delivery",
        Kind::StockLevel => "stock level",
    }
}

fn commands(kind: Kind, params: &Params) -> Cow<'static, str> {
    match kind {
        Kind::NewOrder => new_order::commands(params.profile).into(),
        Kind::Payment => payment::commands(params.profile).into(),
        Kind::OrderStatus => order_status::commands().into(),
        Kind::Delivery => delivery::commands(params.profile).into(),
        Kind::StockLevel => stock_level::COMMANDS.into(),
    }
}

fn routine(kind: Kind) -> Cow<'static, str> {
    match kind {
        Kind::NewOrder => new_order::routine().into(),
        Kind::Payment => payment::FUNCTION.into(),
        Kind::OrderStatus => order_status::FUNCTION.into(),
        Kind::Delivery => delivery::FUNCTION.into(),
        Kind::StockLevel => stock_level::FUNCTION.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tpcc::Profile;
    use pgdyno_script::{CommandKind, Names, Script};

    fn scripts(params: Params) -> Vec<Script> {
        let mut names = Names::new();
        let parse = |transaction: Transaction| {
            let Body::Procedure(text) = transaction.body else { panic!("a procedure") };
            Script::parse(transaction.name, text.as_bytes(), &mut names).unwrap()
        };
        transactions(&params).into_iter().map(parse).collect()
    }

    /// Every procedure is a list of SQL commands of one statement each, so
    /// that a command's index is its place in the list.
    #[test]
    fn commands_are_single_statements() {
        for (procs, profile) in
            [(false, Profile::Faithful), (false, Profile::Hammerdb), (true, Profile::Faithful)]
        {
            let scripts = scripts(Params { procs, profile, ..Params::default() });
            let counts: Vec<usize> = scripts.iter().map(|script| script.commands.len()).collect();
            assert_eq!(counts, if procs { [1, 2, 2, 1, 1] } else { [12, 7, 2, 7, 1] });
            for command in scripts.iter().flat_map(|script| &script.commands) {
                let CommandKind::Sql(sql) = &command.kind else { panic!("{}", command.label) };
                assert_eq!(sql.kinds.len(), 1, "{}", command.label);
                sql.check_params().unwrap();
            }
        }
    }

    /// Tables of a warehouse with the column that tells of which.
    const KEYED: [(&str, &str); 7] = [
        ("warehouse", "w_id"),
        ("district", "d_w_id"),
        ("customer", "c_w_id"),
        ("stock", "s_w_id"),
        ("orders", "o_w_id"),
        ("new_order", "no_w_id"),
        ("order_line", "ol_w_id"),
    ];

    /// Tables of a warehouse that a statement reads or changes without a
    /// comparison of their warehouse with a parameter, or with the warehouse
    /// of another table of the statement.
    fn unkeyed(sql: &str) -> Vec<&'static str> {
        let ends = |c: char| !(c.is_alphanumeric() || "_:=".contains(c));
        let words: Vec<&str> = sql.split(ends).filter(|word| !word.is_empty()).collect();
        let is_key = |word: &str| KEYED.iter().any(|(_, key)| *key == word);
        let missing = |(table, key): &(&'static str, &str)| {
            let used = words.windows(2).filter(|pair| pair[1] == *table && pair[0] != "INTO");
            let compared = words.windows(3).filter(|three| {
                let other = three[2].starts_with(':') || (is_key(three[2]) && three[2] != *key);
                three[0] == *key && three[1] == "=" && other
            });
            (used.count() > compared.count()).then_some(*table)
        };
        KEYED.iter().filter_map(missing).collect()
    }

    /// Every use of a table of a warehouse names the warehouse, so that the
    /// statement can be sent to its shard alone.
    #[test]
    fn every_statement_names_its_warehouse() {
        for profile in [Profile::Faithful, Profile::Hammerdb] {
            for script in scripts(Params { profile, ..Params::default() }) {
                for command in &script.commands {
                    let sql = command.kind.sql().map(|sql| sql.text_lossy()).unwrap_or_default();
                    assert_eq!(unkeyed(&sql), Vec::<&str>::new(), "{sql}");
                    // Without its comparisons the same statement is found out.
                    let without = sql.replace("w_id = :", "w_id > :");
                    let is_of_none = !without.contains("w_id > :");
                    assert_eq!(unkeyed(&without).is_empty(), is_of_none, "{sql}");
                }
            }
        }
        let one_of_two = "DELETE FROM new_order USING (SELECT min(no_o_id) AS o FROM new_order) x \
                          WHERE no_w_id = :w_id AND no_o_id = o";
        assert_eq!(unkeyed(one_of_two), ["new_order"]);
        assert_eq!(unkeyed("SELECT 1 FROM stock JOIN district ON s_w_id = d_w_id"), ["district"]);
    }
}
