//! Queries and changes of rows: clauses that DSQL lacks, and what has to be
//! rewritten for the server behind.

use super::lex::{Kind as Lexeme, Token};
use super::{Kind, Run, Statement};
use crate::refusal::{Refusal, UNDEFINED};

/// Types that do not exist in DSQL even while a query runs.
const GEOMETRIC: [&str; 7] = ["box", "circle", "line", "lseg", "path", "point", "polygon"];

/// Functions that take a text search configuration first; DSQL has none but
/// `simple`.
const TEXT_SEARCH: [&str; 5] =
    ["phraseto_tsquery", "plainto_tsquery", "to_tsquery", "to_tsvector", "websearch_to_tsquery"];

/// A query or a change of rows.
pub(super) fn query(s: &Statement<'_>, kind: Kind) -> Result<Run, Refusal> {
    refuse_clauses(s)?;
    let mut run = Run::new(written(s, kind), &rewritten(s));
    if run.kind == Kind::Read && locks(s)? {
        run.kind = Kind::Lock;
        run.touch = touch(s);
    }
    Ok(run)
}

/// `EXPLAIN ANALYZE` runs what it explains.
pub(super) fn explain(s: &Statement<'_>) -> Result<Run, Refusal> {
    refuse_clauses(s)?;
    let changes = ["insert", "update", "delete", "merge"].iter().any(|word| s.contains(word));
    let runs = s.contains("analyze") || s.contains("analyse");
    Ok(Run::new(if changes && runs { Kind::Write } else { Kind::Read }, &rewritten(s)))
}

/// `COPY` from and to the client only.
pub(super) fn copy(s: &Statement<'_>) -> Result<Run, Refusal> {
    if s.contains("freeze") {
        return Err(Refusal::unsupported("COPY FREEZE not supported"));
    }
    let streams = s.contains("stdin") || s.contains("stdout");
    if !streams || s.contains("program") {
        return Err(Refusal::unsupported("COPY from or to a file or program not supported"));
    }
    let kind = if s.contains("stdin") { Kind::Write } else { Kind::Read };
    Ok(Run::new(kind, s.text()))
}

/// A `WITH` may change rows anywhere in it.
fn written(s: &Statement<'_>, kind: Kind) -> Kind {
    let changes = |words: &[Token]| match words {
        [before, word] => {
            (before.is_sign("(") || before.is_sign(")"))
                && ["insert", "update", "delete"].iter().any(|verb| word.is(verb))
        }
        _ => false,
    };
    if s.word(0) == "with" && s.tokens.windows(2).any(changes) { Kind::Write } else { kind }
}

fn refuse_clauses(s: &Statement<'_>) -> Result<(), Refusal> {
    for (index, token) in s.tokens.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| s.tokens.get(before));
        let after = s.tokens.get(index + 1);
        let called = after.is_some_and(|token| token.is_sign("("));
        let cast = before.is_some_and(|token| token.is_sign(":"));
        if token.is("tablesample") {
            return Err(Refusal::unsupported("TABLESAMPLE clause not supported"));
        }
        if token.kind != Lexeme::Word {
            continue;
        }
        if TEXT_SEARCH.contains(&token.text.as_str()) && called {
            refuse_configuration(s.tokens.get(index + 2), s.tokens.get(index + 3))?;
        }
        let named = before.is_some_and(|token| token.is_sign("."));
        if GEOMETRIC.contains(&token.text.as_str()) && (called && !named || cast) {
            // A table or a CTE may be called so: `INSERT INTO point (…)`.
            let relation = before.is_some_and(|token| {
                ["into", "with", "table", "join", "from"].iter().any(|word| token.is(word))
            });
            if !relation {
                return Err(Refusal::unsupported(format!("datatype {} not supported", token.text)));
            }
        }
    }
    Ok(())
}

fn refuse_configuration(first: Option<&Token>, second: Option<&Token>) -> Result<(), Refusal> {
    match (first, second) {
        (Some(name), Some(comma))
            if name.kind == Lexeme::Text && comma.is_sign(",") && name.text != "simple" =>
        {
            let message = format!("text search configuration \"{}\" does not exist", name.text);
            Err(Refusal::new(UNDEFINED, message))
        }
        _ => Ok(()),
    }
}

/// True with a locking clause that DSQL has.
fn locks(s: &Statement<'_>) -> Result<bool, Refusal> {
    let mut found = false;
    for index in 0..s.tokens.len() {
        if s.has(index, &["for", "share"]) || s.has(index, &["for", "no", "key", "update"]) {
            return Err(Refusal::unsupported(
                "locking clauses other than FOR UPDATE/FOR KEY SHARE are not supported",
            ));
        }
        found |= s.has(index, &["for", "update"]) || s.has(index, &["for", "key", "share"]);
    }
    Ok(found)
}

/// Functions that tell what the server is are answered in DSQL's name.
fn rewritten(s: &Statement<'_>) -> String {
    let mut changes = Vec::new();
    for (index, token) in s.tokens.iter().enumerate() {
        let called = s.tokens.get(index + 1).is_some_and(|token| token.is_sign("("));
        let named = index > 0 && s.tokens[index - 1].is_sign(".");
        if !called || named {
            continue;
        }
        match token.text.as_str() {
            "version" if token.kind == Lexeme::Word => {
                changes.push((token.at.clone(), "sys.version"));
            }
            "current_setting" if token.kind == Lexeme::Word => {
                changes.push((token.at.clone(), "sys.current_setting"));
            }
            _ => {}
        }
    }
    s.replaced(&changes)
}

/// For `SELECT … FROM one_table … FOR UPDATE`: a statement that makes the
/// locked rows count as written. `None` for other shapes, whose locks then
/// hold against writers only while the transaction is open.
fn touch(s: &Statement<'_>) -> Option<String> {
    let depth_zero = top_level(s.tokens);
    let from = depth_zero.iter().copied().find(|index| s.tokens[*index].is("from"))?;
    let lock = depth_zero.iter().copied().rfind(|index| s.has(*index, &["for", "update"]))?;
    let name_end = name_end(s, from + 1);
    let mut alias = None;
    let mut next = name_end;
    if s.word(next) == "as" {
        next += 1;
    }
    let clause_words = ["where", "for", "order", "limit", "offset", "group", "having", "window"];
    if s.tokens.get(next)?.is_name() && !clause_words.contains(&s.word(next)) {
        alias = Some(&s.sql[s.tokens[next].at.clone()]);
        next += 1;
    }
    if next > lock || !["where", "for", "order", "limit", "offset"].contains(&s.word(next)) {
        return None;
    }
    let table = &s.sql[s.tokens[from + 1].at.start..s.tokens[name_end - 1].at.end];
    let rest = &s.sql[s.tokens[next].at.start..s.tokens[lock].at.start];
    let alias = alias.unwrap_or(table);
    let literal = table.replace('\'', "''");
    Some(format!(
        "SELECT sys.emulator_touch('{literal}'::regclass, \
         ARRAY(SELECT {alias}.ctid FROM {} {rest} FOR UPDATE))",
        &s.sql[s.tokens[from + 1].at.start..s.tokens[next - 1].at.end],
    ))
}

/// The place after a name that may have a schema.
fn name_end(s: &Statement<'_>, mut at: usize) -> usize {
    at += 1;
    while s.tokens.get(at).is_some_and(|token| token.is_sign(".")) {
        at += 2;
    }
    at.min(s.tokens.len())
}

fn top_level(tokens: &[Token]) -> Vec<usize> {
    let mut depth = 0_i32;
    let mut found = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        if token.is_sign("(") {
            depth += 1;
        } else if token.is_sign(")") {
            depth -= 1;
        } else if depth == 0 {
            found.push(index);
        }
    }
    found
}
