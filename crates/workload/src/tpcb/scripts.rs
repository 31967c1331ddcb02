//! What clients run: pgbench's own scripts, the same with the account's own
//! branch, and those that others made of them.

use std::borrow::Cow;

use super::{Branch, Tpcb, Variant};
use crate::workload::{Body, Transaction};

/// pgbench's four draws, in pgbench's order.
const DRAWN: &str = r"\set aid random(1, 100000 * :scale)
\set bid random(1, 1 * :scale)
\set tid random(1, 10 * :scale)
\set delta random(-5000, 5000)
";

/// The account's branch is computed as the loader computed it; one of the
/// branch's tellers is drawn.
const OF_ACCOUNT: &str = r"\set aid random(1, 100000 * :scale)
\set bid (:aid - 1) / 100000 + 1
\set tid (:bid - 1) * 10 + random(1, 10)
\set delta random(-5000, 5000)
";

const HISTORY: &str = "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) \
                       VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP)";

/// The statements that more than one script has, with or without the branch
/// in every condition. Naming it changes no result, because each row is on the
/// branch that is named.
struct Words {
    draws: &'static str,
    /// Behind the condition on an account or teller.
    and_branch: &'static str,
}

impl Words {
    const fn of(branch: Branch) -> Self {
        match branch {
            Branch::Drawn => Self { draws: DRAWN, and_branch: "" },
            Branch::OfAccount => Self { draws: OF_ACCOUNT, and_branch: " AND bid = :bid" },
        }
    }

    fn account(&self) -> String {
        let and = self.and_branch;
        format!("UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid{and}")
    }

    fn read_account(&self) -> String {
        format!("SELECT abalance FROM pgbench_accounts WHERE aid = :aid{}", self.and_branch)
    }

    fn teller(&self) -> String {
        let and = self.and_branch;
        format!("UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid{and}")
    }

    /// Statements in a transaction block, behind the draws.
    fn block(&self, statements: &[String]) -> String {
        format!("{}BEGIN;\n{};\nEND;\n", self.draws, statements.join(";\n"))
    }

    fn tpcb(&self) -> String {
        self.block(&[
            self.account(),
            self.read_account(),
            self.teller(),
            BRANCH.to_owned(),
            HISTORY.to_owned(),
        ])
    }

    fn simple_update(&self, reads: bool) -> String {
        let mut all = vec![self.account(), self.read_account()];
        if reads {
            all.push(format!(
                "SELECT tbalance FROM pgbench_tellers WHERE tid = :tid{}",
                self.and_branch
            ));
            all.push("SELECT bbalance FROM pgbench_branches WHERE bid = :bid".to_owned());
        }
        all.push(HISTORY.to_owned());
        self.block(&all)
    }

    /// Only what the one statement needs is drawn.
    fn select_only(&self) -> String {
        let lines = if self.and_branch.is_empty() { 1 } else { 2 };
        let draws: String = self.draws.split_inclusive('\n').take(lines).collect();
        format!("{draws}{};\n", self.read_account())
    }

    /// The command tag counts the rows of the SELECT alone; that the writes
    /// were done is seen by the audits, in the tables.
    fn single_statement(&self) -> String {
        format!(
            "{}WITH account AS ({} RETURNING abalance),\n\
             teller AS ({} RETURNING tid),\n\
             branch AS ({BRANCH} RETURNING bid),\n\
             history AS ({HISTORY} RETURNING aid)\n\
             SELECT abalance FROM account;\n",
            self.draws,
            self.account(),
            self.teller(),
        )
    }

    /// A row of the history that says of no change, so that the sums of the
    /// others still agree.
    fn insert(&self) -> String {
        let draws = self.draws.replace("random(-5000, 5000)", "0");
        format!("{draws}{HISTORY};\n")
    }
}

const BRANCH: &str = "UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid";

/// TPC-B's own rule (clause 5.3): the teller is drawn, and its branch follows;
/// the account is of that branch, or of any other. The account's row is found
/// by its own branch, the history lies with the teller's.
fn sharded(local: u32) -> String {
    let another = match local {
        100 => String::new(),
        0 => r"\if :scale > 1
"
        .to_owned(),
        _ => format!("\\if :scale > 1 and random(1, 100) > {local}\n"),
    };
    let another = if another.is_empty() {
        another
    } else {
        another
            + r"\set abid random(1, :scale - 1)
\set abid :abid + case when :abid >= :bid then 1 else 0 end
\endif
"
    };
    format!(
        r"\set tid random(1, 10 * :scale)
\set bid (:tid - 1) / 10 + 1
\set abid :bid
{another}\set aid (:abid - 1) * 100000 + random(1, 100000)
\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid AND bid = :abid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid AND bid = :abid;
UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid AND bid = :bid;
{BRANCH};
{HISTORY};
END;
"
    )
}

/// The transactions of a workload, in the order of the audits: what writes no
/// history comes first.
pub(super) fn transactions(tpcb: &Tpcb) -> Vec<Transaction> {
    let words = Words::of(tpcb.branch);
    let one = |kind| vec![builtin(tpcb.branch, &words, kind, 1)];
    let made = |name, description, text| {
        vec![Transaction { name, description, weight: 1, body: Body::Script(Cow::Owned(text)) }]
    };
    match tpcb.variant {
        Variant::TpcbLike => one(Builtin::TpcbLike),
        Variant::SimpleUpdate => one(Builtin::SimpleUpdate),
        Variant::SelectOnly => one(Builtin::SelectOnly),
        Variant::Sharded => made("tpcb-sharded", "<TPC-B by shard key>", sharded(tpcb.local)),
        Variant::SingleStatement => made(
            "tpcb-single-statement",
            "<TPC-B (sort of) as one statement>",
            words.single_statement(),
        ),
        Variant::NoAggregates => made(
            "tpcb-no-aggregates",
            "<TPC-B (sort of) without tellers' and branches' sums>",
            words.simple_update(tpcb.reads),
        ),
        Variant::Mixed => vec![
            builtin(tpcb.branch, &words, Builtin::SelectOnly, tpcb.weights.select),
            builtin(tpcb.branch, &words, Builtin::SimpleUpdate, tpcb.weights.update),
            builtin(tpcb.branch, &words, Builtin::TpcbLike, tpcb.weights.tpcb),
            Transaction {
                name: "insert",
                description: "<history row without a change>",
                weight: tpcb.weights.insert,
                body: Body::Script(Cow::Owned(words.insert())),
            },
        ],
    }
}

/// A script of pgbench's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Builtin {
    TpcbLike,
    SimpleUpdate,
    SelectOnly,
}

/// pgbench's script, or the same of the account's own branch.
fn builtin(branch: Branch, words: &Words, kind: Builtin, weight: u32) -> Transaction {
    let (name, own, text) = match kind {
        Builtin::TpcbLike => {
            ("tpcb-like", "<TPC-B (sort of), branch of the account>", words.tpcb())
        }
        Builtin::SimpleUpdate => {
            ("simple-update", "<simple update, branch of the account>", words.simple_update(false))
        }
        Builtin::SelectOnly => {
            ("select-only", "<select only, branch of the account>", words.select_only())
        }
    };
    // pgbench's own lookup takes abbreviations; here the name is whole.
    let of_pgbench = pgdyno_script::builtin::BUILTINS.iter().find(|script| script.name == name);
    match (branch, of_pgbench) {
        (Branch::Drawn, Some(script)) => Transaction {
            name,
            description: script.description,
            weight,
            body: Body::Script(Cow::Borrowed(script.text)),
        },
        _ => Transaction { name, description: own, weight, body: Body::Script(Cow::Owned(text)) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tpcb::{ACCOUNTS_PER_BRANCH, TELLERS_PER_BRANCH, Weights};
    use pgdyno_script::{Names, Script};

    const OF_PGBENCH: [Variant; 3] =
        [Variant::TpcbLike, Variant::SimpleUpdate, Variant::SelectOnly];

    fn texts(tpcb: &Tpcb) -> Vec<String> {
        let scripts = transactions(tpcb).into_iter().map(|transaction| match transaction.body {
            Body::Script(text) | Body::Procedure(text) => text.into_owned(),
        });
        scripts.collect()
    }

    fn text(variant: Variant, branch: Branch) -> String {
        texts(&Tpcb::new(variant, 1).with_branch(branch)).remove(0)
    }

    fn statements(text: &str) -> Vec<String> {
        text.lines().filter(|line| !line.starts_with('\\')).map(str::to_owned).collect()
    }

    /// Without its branch, each statement is pgbench's own.
    #[test]
    fn statements_are_those_of_pgbench() {
        for variant in OF_PGBENCH {
            let own = text(variant, Branch::OfAccount).replace(" AND bid = :bid;", ";");
            let theirs = text(variant, Branch::Drawn);
            assert_eq!(statements(&own), statements(&theirs), "{variant:?}");
        }
        assert_eq!(
            text(Variant::NoAggregates, Branch::Drawn),
            text(Variant::SimpleUpdate, Branch::Drawn)
        );
    }

    /// Every statement that reads or changes rows names the branch, and every
    /// script is one in pgbench's language.
    #[test]
    fn every_statement_names_the_branch() {
        let mut all = vec![
            Tpcb::new(Variant::NoAggregates, 1).with_reads(true),
            Tpcb::new(Variant::SingleStatement, 1),
            Tpcb::new(Variant::Mixed, 1),
        ];
        all.extend(OF_PGBENCH.map(|variant| Tpcb::new(variant, 1)));
        all.extend([0, 85, 100].map(|local| Tpcb::new(Variant::Sharded, 1).with_local(local)));
        for tpcb in all {
            for text in texts(&tpcb.with_branch(Branch::OfAccount)) {
                let mut names = Names::new();
                Script::parse("own", text.as_bytes(), &mut names).unwrap().check_params().unwrap();
                for line in text.lines().filter(|line| line.contains("pgbench_")) {
                    assert!(line.contains(":bid") || line.contains(":abid"), "{line}");
                }
            }
        }
    }

    /// The computed branches are the ones that the loader gives account and
    /// teller.
    #[test]
    fn branch_of_account_is_the_loaded_one() {
        assert_eq!((ACCOUNTS_PER_BRANCH, TELLERS_PER_BRANCH), (100_000, 10));
        for variant in OF_PGBENCH {
            assert!(text(variant, Branch::OfAccount).contains("(:aid - 1) / 100000 + 1"));
        }
        let sharded = sharded(85);
        assert!(sharded.contains("\\set bid (:tid - 1) / 10 + 1"), "{sharded}");
        assert!(sharded.contains("(:abid - 1) * 100000 + random(1, 100000)"), "{sharded}");
    }

    /// Weights are the given ones, in the order that the audits know.
    #[test]
    fn mixed_has_its_weights() {
        let weights = Weights { select: 4, update: 3, tpcb: 2, insert: 1 };
        let mix = transactions(&Tpcb::new(Variant::Mixed, 1).with_weights(weights));
        let found: Vec<_> = mix.iter().map(|one| (one.name, one.weight)).collect();
        let expected = [("select-only", 4), ("simple-update", 3), ("tpcb-like", 2), ("insert", 1)];
        assert_eq!(found, expected);
    }
}
