//! Finds statements that can hardly find a row: their WHERE joins by AND
//! variables that were drawn independently of each other.
//!
//! A look at the text alone. That two keys are drawn apart is right where every
//! pair of them has a row (a key of two columns, say); whether this is so only
//! a run can show. Whoever asks therefore tells of it only for statements that
//! touched no row.

use std::collections::{BTreeMap, BTreeSet};

use crate::equalities::{self, Equal};
use crate::expr::{Expr, Function};
use crate::names::Names;
use crate::script::{CommandKind, Script, Target};
use crate::sql::Sql;

/// A statement whose WHERE asks for independent draws at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Independent {
    /// Index of the command in its script, from 0.
    pub command: usize,
    /// Which statement of the command, where `\;` joins several; else 0.
    pub part: usize,
    /// The variables, in the order in which they are compared; two at least.
    pub variables: Vec<String>,
}

/// Where a variable's value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Source {
    /// From these `\set` commands that draw; none for a constant.
    Draws(BTreeSet<usize>),
    /// From the server or a program: nothing can be said.
    Unknown,
}

/// All such statements of a script.
#[must_use]
pub fn independent_draws(script: &Script, names: &Names) -> Vec<Independent> {
    let mut sources: BTreeMap<String, Source> = BTreeMap::new();
    let mut depth = 0_usize;
    let mut found = Vec::new();
    for (command, one) in script.commands.iter().enumerate() {
        match &one.kind {
            CommandKind::If { .. } => depth += 1,
            CommandKind::Endif => depth = depth.saturating_sub(1),
            CommandKind::Set { target: Target::Slot(slot), expr } => {
                let new = source_of(expr, command, &sources, names);
                assign(&mut sources, names.text(*slot), new, depth > 0);
            }
            CommandKind::SetShell { target: Target::Slot(slot), .. } => {
                sources.insert(names.text(*slot), Source::Unknown);
            }
            CommandKind::Sql(sql) => {
                found.extend(look(sql, command, &sources));
                if sql.store.is_some() {
                    // Which variables it sets, only the server's answer says.
                    sources.values_mut().for_each(|source| *source = Source::Unknown);
                }
            }
            _ => {}
        }
    }
    found
}

fn source_of(
    expr: &Expr,
    command: usize,
    sources: &BTreeMap<String, Source>,
    names: &Names,
) -> Source {
    let mut draws = BTreeSet::new();
    for slot in expr.variables() {
        match sources.get(&names.text(slot)) {
            Some(Source::Unknown) => return Source::Unknown,
            Some(Source::Draws(more)) => draws.extend(more),
            None => {}
        }
    }
    let draw = |function: Function| {
        matches!(
            function,
            Function::Random
                | Function::RandomExponential
                | Function::RandomGaussian
                | Function::RandomZipfian
        )
    };
    if expr.functions().any(draw) {
        draws.insert(command);
    }
    Source::Draws(draws)
}

/// In a branch that may not be taken, the old value may stay.
fn assign(
    sources: &mut BTreeMap<String, Source>,
    name: String,
    new: Source,
    may_be_passed_over: bool,
) {
    let new = match (new, sources.remove(&name)) {
        (Source::Draws(mut draws), Some(Source::Draws(old))) if may_be_passed_over => {
            draws.extend(old);
            Source::Draws(draws)
        }
        (_, Some(Source::Unknown)) if may_be_passed_over => Source::Unknown,
        (new, _) => new,
    };
    sources.insert(name, new);
}

fn look(sql: &Sql, command: usize, sources: &BTreeMap<String, Source>) -> Vec<Independent> {
    let mut found = Vec::new();
    for (part, wheres) in equalities::of_statements(&sql.text).into_iter().enumerate() {
        // One clause is enough to name the statement.
        let variables = wheres.iter().map(|equals| apart(equals, sources));
        if let Some(variables) = variables.into_iter().find(|names| !names.is_empty()) {
            found.push(Independent { command, part, variables });
        }
    }
    found
}

/// The variables of equalities that share no draw with those of another.
fn apart(equals: &[Equal], sources: &BTreeMap<String, Source>) -> Vec<String> {
    let draws = |equal: &Equal| {
        let mut all = BTreeSet::new();
        for name in &equal.variables {
            match sources.get(name) {
                Some(Source::Draws(draws)) => all.extend(draws.iter().copied()),
                Some(Source::Unknown) => return None,
                None => {}
            }
        }
        (!all.is_empty()).then_some(all)
    };
    let drawn: Vec<(&Equal, BTreeSet<usize>)> =
        equals.iter().filter_map(|equal| Some((equal, draws(equal)?))).collect();
    // Columns of two tables may well be asked for apart: that is a join.
    let same_table = |one: &Equal, other: &Equal| one.table == other.table;
    let mut names: Vec<String> = Vec::new();
    for (one, mine) in &drawn {
        let is_apart =
            drawn.iter().any(|(other, theirs)| same_table(one, other) && mine.is_disjoint(theirs));
        if is_apart {
            for name in &one.variables {
                if !names.contains(name) {
                    names.push(name.clone());
                }
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DRAWS: &str = "\\set aid random(1, 100000 * :scale)\n\\set bid random(1, 1 * :scale)\n\
        \\set tid random(1, 10 * :scale)\n\\set delta random(-5000, 5000)\n";

    fn found(text: &str) -> Vec<(usize, usize, String)> {
        let mut names = Names::new();
        let script = Script::parse("test", text.as_bytes(), &mut names).expect(text);
        let all = independent_draws(&script, &names);
        all.into_iter().map(|one| (one.command, one.part, one.variables.join(" "))).collect()
    }

    fn of(statement: &str) -> String {
        let all = found(&format!("{DRAWS}{statement}"));
        all.into_iter().map(|(_, _, names)| names).collect::<Vec<_>>().join(", ")
    }

    /// Draws that are made apart and asked for together are named, in the form
    /// in which they were published and in others that mean the same.
    #[test]
    fn independent_draws_are_named() {
        for (statement, names) in [
            ("UPDATE a SET x = x + :delta WHERE aid = :aid AND bid = :bid;", "aid bid"),
            ("select x from a where (bid=:bid) and :aid = a and x > 0 for update;", "bid aid"),
            ("DELETE FROM a WHERE a.aid = :aid::int AND a.bid = :bid RETURNING x", "aid bid"),
            ("WITH w AS (UPDATE a SET x = 1 WHERE b = :bid AND t = :tid) SELECT 1", "bid tid"),
            ("SELECT 1 FROM a WHERE x BETWEEN 1 AND :delta AND a=:aid AND t=:tid", "aid tid"),
            ("SELECT 1 FROM a WHERE \"a\" = :aid + 1 AND b = :bid ORDER BY b", "aid bid"),
            ("UPDATE a SET x = 1 WHERE (a = :aid AND b = :bid)", "aid bid"),
            ("UPDATE a SET x = 1 WHERE ((a = :aid)) AND ((b = (:bid)) AND x > 1)", "aid bid"),
            ("UPDATE a SET x = 1 WHERE (aid, bid) = (:aid, :bid)", "aid bid"),
            ("UPDATE a SET x = 1 WHERE ROW(:aid, 7, :bid) = ROW(aid, c, bid)", "aid bid"),
            ("DELETE FROM a WHERE (aid, bid) IN ((:aid, :bid))", "aid bid"),
            ("DELETE FROM s.a AS t WHERE s.a.aid IN (:aid) AND t.bid = :bid", "aid bid"),
            ("UPDATE a t SET x = f(1, 2) WHERE t.aid = :aid AND bid = :bid", "aid bid"),
            ("SELECT 1 FROM a t WHERE t.aid = :aid AND bid = :bid FOR UPDATE", "aid bid"),
            ("SELECT 1 FROM a JOIN b ON a.k = b.k WHERE a.aid = :aid AND a.bid = :bid", "aid bid"),
            ("DELETE FROM a WHERE aid = :aid AND x IS NOT NULL AND bid = :bid", "aid bid"),
            ("DELETE FROM a WHERE (x = 1 OR y = 2) AND aid = :aid AND bid = :bid", "aid bid"),
            ("SELECT 1 FROM b WHERE k IN (SELECT k FROM a WHERE a = :aid AND t = :tid)", "aid tid"),
        ] {
            assert_eq!(of(statement), names, "{statement}");
        }
    }

    /// One draw alone, a range, an alternative, a join or a constant is no reason to speak.
    #[test]
    fn what_may_find_rows_is_not_named() {
        for statement in [
            "UPDATE a SET x = x + :delta, y = :bid WHERE aid = :aid;",
            "UPDATE a SET x = 1 WHERE aid = :aid AND bid = :scale AND c = 'bid = :bid';",
            "SELECT 1 FROM a WHERE aid = :aid OR bid = :bid",
            "SELECT 1 FROM a WHERE aid > :aid AND bid = :bid",
            "SELECT 1 FROM a WHERE NOT (aid = :aid) AND bid = :bid",
            "SELECT 1 FROM a, b WHERE a.aid = :aid AND b.bid = :bid",
            "SELECT 1 FROM a, b WHERE aid = :aid AND bid = :bid",
            "SELECT 1 FROM a NATURAL JOIN b WHERE aid = :aid AND bid = :bid",
            "SELECT 1 FROM (SELECT * FROM b WHERE bid = :bid) a WHERE aid = :aid AND tid = :tid",
            "UPDATE a SET x = 1 FROM b WHERE a.aid = :aid AND bid = :bid",
            "DELETE FROM a USING b WHERE aid = :aid AND bid = :bid",
            "SELECT 1 FROM a WHERE (aid = :aid OR x = 1) AND bid = :bid",
            "SELECT 1 FROM a WHERE (aid = :aid AND bid = :bid OR aid = 1)",
            "SELECT 1 FROM a WHERE (aid, bid) <> (:aid, :bid)",
            "SELECT 1 FROM a WHERE (aid, bid) >= (:aid, :bid)",
            "SELECT 1 FROM a WHERE (aid, bid) IN ((:aid, :bid), (1, 1))",
            "SELECT 1 FROM a WHERE (aid, bid) IN (SELECT :aid, :bid)",
            "SELECT 1 FROM a WHERE aid IN (:aid, :tid) AND bid = :bid",
            "SELECT 1 FROM a WHERE aid NOT IN (:aid) AND bid = :bid",
            "SELECT 1 FROM a WHERE (aid, bid) = (:aid, (SELECT :bid))",
            "SELECT 1 FROM a WHERE (SELECT x FROM b WHERE y = 1 AND bid = :bid) AND aid = :aid",
            "SELECT 1 FROM a WHERE CASE WHEN x THEN aid = :aid AND bid = :bid END",
            "SELECT 1 FROM a WHERE (aid, bid) = (:aid, :bid, :tid)",
            "SELECT 1 FROM a WHERE f(aid, :aid) = :bid AND aid = other.aid",
            "INSERT INTO a VALUES (:aid, :bid)",
            "SELECT 1 FROM a WHERE aid = :aid; SELECT 1 FROM b WHERE bid = :bid",
        ] {
            assert_eq!(of(statement), "", "{statement}");
        }
    }

    /// A key that is made from another is not independent of it, whatever the way.
    #[test]
    fn derived_keys_are_not_independent() {
        let statement = "UPDATE a SET x = 1 WHERE aid = :aid AND bid = :bid;";
        for sets in [
            "\\set aid random(1, 9)\n\\set bid (:aid - 1) / 3 + 1\n",
            "\\set bid random(1, 9)\n\\set aid (:bid - 1) * 3 + random(1, 3)\n",
            "\\set x random(1, 9)\n\\set aid :x\n\\set bid hash(:x)\n",
            "\\set aid random(1, 9)\nSELECT 1 AS bid \\gset\n",
            "\\set aid random(1, 9)\n\\set bid random(1, 9)\n\\if :aid > 3\n\\set bid :aid\n\\endif\n",
            "\\set aid 5\n\\set bid random(1, 9)\n",
        ] {
            assert_eq!(found(&format!("{sets}{statement}")), [], "{sets}");
        }
        let again = "\\set bid random(1, 9)\n\\set aid :bid\n\\set aid random(1, 9)\n";
        assert_eq!(found(&format!("{again}{statement}")), [(3, 0, "aid bid".to_owned())]);
    }

    /// Keys of which one is made from the other are not apart in any form of
    /// the condition.
    #[test]
    fn derived_keys_are_not_independent_in_any_form() {
        let sets = "\\set aid random(1, 9)\n\\set bid (:aid - 1) / 3 + 1\n";
        for condition in [
            "(aid, bid) = (:aid, :bid)",
            "(aid = :aid AND bid = :bid)",
            "(aid, bid) IN ((:aid, :bid))",
            "a.aid = :aid AND bid = :bid",
            "(aid, 3 * bid) = (:aid, :bid) AND bid IN (:bid)",
        ] {
            let text = format!("{sets}UPDATE a SET x = 1 WHERE {condition};");
            assert_eq!(found(&text), [], "{condition}");
        }
    }

    /// Each statement of a group joined by `\;` is found by its own number.
    #[test]
    fn statements_of_groups_are_told_apart() {
        let group = "BEGIN\\; SELECT 1 FROM a WHERE aid = :aid\\; \
            UPDATE a SET x = 1 WHERE aid = :aid AND bid = :bid\\; END;";
        assert_eq!(found(&format!("{DRAWS}{group}")), [(4, 2, "aid bid".to_owned())]);
    }

    proptest! {
        /// No text is too strange to be looked at.
        #[test]
        fn any_text_is_looked_at(text in "[a-c:='()., \n;-]{0,40}") {
            let text = format!("{DRAWS}SELECT 1 WHERE a = :aid AND {text}");
            let mut names = Names::new();
            if let Ok(script) = Script::parse("test", text.as_bytes(), &mut names) {
                let all = independent_draws(&script, &names);
                prop_assert!(all.iter().all(|one| one.variables.len() > 1));
            }
        }
    }
}
