//! What clients run: pgbench's own scripts, or the same with the account's own
//! branch.

use std::borrow::Cow;

use super::{Branch, Variant};
use crate::workload::{Body, Transaction};

/// The account's branch is computed as the loader computed it; one of the
/// branch's tellers is drawn. Every statement names the branch, which changes
/// no result, because each row is on the branch that is named.
const TPCB_OF_ACCOUNT: &str = r"\set aid random(1, 100000 * :scale)
\set bid (:aid - 1) / 100000 + 1
\set tid (:bid - 1) * 10 + random(1, 10)
\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid AND bid = :bid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid AND bid = :bid;
UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid AND bid = :bid;
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
";

const SIMPLE_UPDATE_OF_ACCOUNT: &str = r"\set aid random(1, 100000 * :scale)
\set bid (:aid - 1) / 100000 + 1
\set tid (:bid - 1) * 10 + random(1, 10)
\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid AND bid = :bid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid AND bid = :bid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
";

const SELECT_ONLY_OF_ACCOUNT: &str = r"\set aid random(1, 100000 * :scale)
\set bid (:aid - 1) / 100000 + 1
SELECT abalance FROM pgbench_accounts WHERE aid = :aid AND bid = :bid;
";

/// The one transaction of a variant.
pub(super) fn transactions(variant: Variant, branch: Branch) -> Vec<Transaction> {
    let made = |name, description, text: &'static str| {
        vec![Transaction { name, description, weight: 1, body: Body::Script(Cow::Borrowed(text)) }]
    };
    let (name, own, description) = match variant {
        Variant::TpcbLike => {
            ("tpcb-like", TPCB_OF_ACCOUNT, "<TPC-B (sort of), branch of the account>")
        }
        Variant::SimpleUpdate => {
            ("simple-update", SIMPLE_UPDATE_OF_ACCOUNT, "<simple update, branch of the account>")
        }
        Variant::SelectOnly => {
            ("select-only", SELECT_ONLY_OF_ACCOUNT, "<select only, branch of the account>")
        }
    };
    match branch {
        Branch::OfAccount => made(name, description, own),
        // pgbench's own lookup takes abbreviations; here the name is whole.
        Branch::Drawn => pgdyno_script::builtin::BUILTINS
            .iter()
            .filter(|script| script.name == name)
            .flat_map(|script| made(script.name, script.description, script.text))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgdyno_script::{Names, Script};

    const VARIANTS: [Variant; 3] = [Variant::TpcbLike, Variant::SimpleUpdate, Variant::SelectOnly];

    fn text(variant: Variant, branch: Branch) -> Cow<'static, str> {
        let [one] = transactions(variant, branch).try_into().unwrap();
        let Body::Script(text) = one.body;
        text
    }

    /// Without its branch, each statement is pgbench's own.
    #[test]
    fn statements_are_those_of_pgbench() {
        let statements = |text: &str| -> Vec<String> {
            text.lines().filter(|line| !line.starts_with('\\')).map(str::to_owned).collect()
        };
        for variant in VARIANTS {
            let own = text(variant, Branch::OfAccount).replace(" AND bid = :bid;", ";");
            assert_eq!(statements(&own), statements(&text(variant, Branch::Drawn)), "{variant:?}");
        }
    }

    /// Every statement that reads or changes rows names the branch, and the
    /// script is one in pgbench's language.
    #[test]
    fn every_statement_names_the_branch() {
        for variant in VARIANTS {
            let text = text(variant, Branch::OfAccount);
            Script::parse("own", text.as_bytes(), &mut Names::new()).unwrap();
            for line in text.lines().filter(|line| line.contains("pgbench_")) {
                assert!(line.contains(":bid"), "{line}");
            }
        }
    }

    /// The computed branch is the one that the loader gives the account.
    #[test]
    fn branch_of_account_is_the_loaded_one() {
        use crate::tpcb::{ACCOUNTS_PER_BRANCH, TELLERS_PER_BRANCH};
        assert_eq!((ACCOUNTS_PER_BRANCH, TELLERS_PER_BRANCH), (100_000, 10));
        for variant in VARIANTS {
            assert!(text(variant, Branch::OfAccount).contains("(:aid - 1) / 100000 + 1"));
        }
    }
}
