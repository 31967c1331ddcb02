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

    /// Every statement that touches a table of a warehouse names the
    /// warehouse, so that it can be sent to its shard alone.
    #[test]
    fn every_statement_names_its_warehouse() {
        for script in scripts(Params::default()) {
            for command in &script.commands {
                let sql = command.kind.sql().map(|sql| sql.text_lossy()).unwrap_or_default();
                let small = ["BEGIN", "COMMIT", "ROLLBACK"].contains(&sql.trim_end_matches(';'));
                let of_items = sql.contains("FROM item ");
                let keyed = [":w_id", ":c_w_id", ":supply"].iter().any(|key| sql.contains(key));
                assert!(small || of_items || keyed, "{sql}");
            }
        }
    }
}
