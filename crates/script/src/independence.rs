//! Finds statements that can hardly find a row: their WHERE joins by AND
//! variables that were drawn independently of each other.
//!
//! A look at the text alone. That two keys are drawn apart is right where every
//! pair of them has a row (a key of two columns, say); whether this is so only
//! a run can show. Whoever asks therefore tells of it only for statements that
//! touched no row.

use std::collections::{BTreeMap, BTreeSet};

use crate::expr::{Expr, Function};
use crate::lex::{self, Kind};
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
    for (part, tokens) in statements(&sql.text).into_iter().enumerate() {
        for equals in wheres(&tokens) {
            let variables = apart(&equals, sources);
            if !variables.is_empty() {
                found.push(Independent { command, part, variables });
                // One clause is enough to name the statement.
                break;
            }
        }
    }
    found
}

/// A token that means something, in lower case, and its kind.
struct Token {
    kind: Kind,
    text: String,
}

impl Token {
    fn is(&self, text: &str) -> bool {
        self.text == text
    }
}

fn statements(text: &[u8]) -> Vec<Vec<Token>> {
    let mut all = vec![Vec::new()];
    let (mut at, mut depth) = (0, 0_usize);
    while at < text.len() {
        let (kind, end) = lex::token(text, at);
        let stretch = &text[at..end];
        at = end;
        match kind {
            Kind::Blank | Kind::Comment => continue,
            Kind::Open => depth += 1,
            Kind::Close => depth = depth.saturating_sub(1),
            Kind::Semicolon if depth == 0 => {
                if all.last().is_some_and(|last| !last.is_empty()) {
                    all.push(Vec::new());
                }
                continue;
            }
            _ => {}
        }
        // The names of variables are the only letters whose case matters.
        let text = String::from_utf8_lossy(stretch);
        let text = if text.starts_with(':') { text.into_owned() } else { text.to_lowercase() };
        if let Some(last) = all.last_mut() {
            last.push(Token { kind, text });
        }
    }
    all
}

/// What ends a WHERE at its own depth.
const ENDS: [&str; 14] = [
    "group",
    "having",
    "window",
    "order",
    "limit",
    "offset",
    "fetch",
    "for",
    "returning",
    "union",
    "except",
    "intersect",
    "on",
    "when",
];

/// `column = … :variable …`, and whose column it is where that is said.
struct Equal {
    qualifier: Option<String>,
    variables: Vec<String>,
}

/// The equalities of each WHERE of a statement, joined by AND. A WHERE with OR
/// or NOT beside them has none: it may find rows in other ways.
fn wheres(tokens: &[Token]) -> Vec<Vec<Equal>> {
    let mut all = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.kind == Kind::Word && token.is("where") {
            all.extend(conjuncts(&tokens[at + 1..]));
        }
    }
    all
}

fn conjuncts(tokens: &[Token]) -> Option<Vec<Equal>> {
    let mut conjuncts: Vec<Vec<&Token>> = vec![Vec::new()];
    let (mut depth, mut is_between) = (0_usize, false);
    for token in tokens {
        let word = token.kind == Kind::Word && depth == 0;
        match token.kind {
            Kind::Open => depth += 1,
            Kind::Close if depth == 0 => break,
            Kind::Close => depth -= 1,
            _ if word && ENDS.contains(&token.text.as_str()) => break,
            _ if word && (token.is("or") || token.is("not") || token.is("case")) => return None,
            _ if word && token.is("between") => is_between = true,
            _ if word && token.is("and") && !std::mem::take(&mut is_between) => {
                conjuncts.push(Vec::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = conjuncts.last_mut() {
            last.push(token);
        }
    }
    Some(conjuncts.iter().filter_map(|one| equal(strip(one))).collect())
}

/// Without parentheses around the whole.
fn strip<'t>(mut tokens: &'t [&'t Token]) -> &'t [&'t Token] {
    while let [first, inner @ .., last] = tokens
        && first.kind == Kind::Open
        && last.kind == Kind::Close
        && !inner.iter().any(|token| matches!(token.kind, Kind::Open | Kind::Close))
    {
        tokens = inner;
    }
    tokens
}

/// An equality between a column and something made of variables.
fn equal(tokens: &[&Token]) -> Option<Equal> {
    let compares = |token: &&Token| ["=", "<", ">", "!", "~"].contains(&token.text.as_str());
    let mut signs = tokens.iter().enumerate().filter(|(_, token)| compares(token));
    let (at, sign) = signs.next()?;
    if !sign.is("=") || signs.next().is_some() {
        return None;
    }
    let (left, right) = (&tokens[..at], &tokens[at + 1..]);
    let (column, value) = if is_column(left) { (left, right) } else { (right, left) };
    // A word in the value may be another column, or a function of one.
    if !is_column(column) || value.iter().any(|token| token.kind == Kind::Word && !is_cast(token)) {
        return None;
    }
    let variables: Vec<String> =
        value.iter().filter_map(|token| token.text.strip_prefix(':')).map(str::to_owned).collect();
    let variables: Vec<String> = variables.into_iter().filter(|name| name != ":").collect();
    let qualifier = (column.len() > 1).then(|| column[0].text.clone());
    (!variables.is_empty()).then_some(Equal { qualifier, variables })
}

/// Types to which keys are cast.
fn is_cast(token: &Token) -> bool {
    ["int", "integer", "bigint", "int4", "int8"].contains(&token.text.as_str())
}

/// `name` or `table.name`.
fn is_column(tokens: &[&Token]) -> bool {
    let is_name = |token: &Token| matches!(token.kind, Kind::Word | Kind::Quoted);
    match tokens {
        [name] => is_name(name) && !name.text.starts_with('\''),
        [table, dot, name] => is_name(table) && dot.is(".") && is_name(name),
        _ => false,
    }
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
    let same_table = |one: &Equal, other: &Equal| one.qualifier == other.qualifier;
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
