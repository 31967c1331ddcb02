//! What the WHERE clauses of a statement ask for: columns that have to equal
//! something made of variables.
//!
//! A look at the text, without a grammar of SQL: what is not understood is
//! left out, so that nobody is told of a condition that is not there.

use crate::lex::{self, Kind};

/// `column = … :variable …`.
#[derive(Debug)]
pub(crate) struct Equal {
    /// Whose column it is, as far as it is said; the same for all columns of a
    /// clause over one table.
    pub(crate) table: Option<String>,
    /// The variables of the value, in their order; one at least.
    pub(crate) variables: Vec<String>,
}

/// The equalities of each WHERE, joined by AND, for each statement of a text in
/// which `;` joins them.
pub(crate) fn of_statements(text: &[u8]) -> Vec<Vec<Vec<Equal>>> {
    statements(text).iter().map(|tokens| wheres(tokens)).collect()
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

    fn is_word(&self, words: &[&str]) -> bool {
        self.kind == Kind::Word && words.contains(&self.text.as_str())
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

fn wheres(tokens: &[Token]) -> Vec<Vec<Equal>> {
    let mut all = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if !token.is_word(&["where"]) {
            continue;
        }
        let mut equals = Vec::new();
        conjuncts(&clause(&tokens[at + 1..]), &mut equals);
        if has_one_table(&tokens[..at]) {
            equals.iter_mut().for_each(|one| one.table = None);
        } else {
            // Which of the tables has a column, only the server knows.
            equals.retain(|one| one.table.is_some());
        }
        all.push(equals);
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

fn clause(tokens: &[Token]) -> Vec<&Token> {
    let mut depth = 0_usize;
    let is_inside = |token: &&Token| {
        match token.kind {
            Kind::Open => depth += 1,
            Kind::Close if depth == 0 => return false,
            Kind::Close => depth -= 1,
            _ if depth == 0 && token.is_word(&ENDS) => return false,
            _ => {}
        }
        true
    };
    tokens.iter().take_while(is_inside).collect()
}

/// Whether the WHERE behind these tokens is over one table by its name: an
/// UPDATE without FROM, a DELETE without USING, or a SELECT from one.
fn has_one_table(before: &[Token]) -> bool {
    let (mut depth, mut from) = (0_usize, None);
    let mut has_more = false;
    for (at, token) in before.iter().enumerate().rev() {
        match token.kind {
            Kind::Close => {
                depth += 1;
                has_more |= from.is_none();
            }
            Kind::Open if depth == 0 => break,
            Kind::Open => depth -= 1,
            _ if depth > 0 => {}
            _ if token.is_word(&["set"]) => {
                // INSERT … ON CONFLICT DO UPDATE SET knows two rows as well.
                return from.is_none() && at > 0 && !before[at - 1].is_word(&["update"]);
            }
            _ if token.is_word(&["select", "delete"]) => break,
            _ if from.is_some() => {}
            _ if token.is_word(&["from"]) => from = Some(at),
            _ => has_more |= token.is(",") || token.is_word(&["join", "using"]),
        }
    }
    from.is_some() && !has_more
}

/// Adds the equalities that all have to hold. With OR or CASE beside them none
/// has to.
fn conjuncts(tokens: &[&Token], equals: &mut Vec<Equal>) {
    let mut parts: Vec<Vec<&Token>> = vec![Vec::new()];
    let (mut depth, mut is_between) = (0_usize, false);
    for token in tokens {
        match token.kind {
            Kind::Open => depth += 1,
            Kind::Close => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            _ if token.is_word(&["or", "case"]) => return,
            _ if token.is_word(&["between"]) => is_between = true,
            _ if token.is_word(&["and"]) && !std::mem::take(&mut is_between) => {
                parts.push(Vec::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = parts.last_mut() {
            last.push(token);
        }
    }
    for part in parts {
        match inside(&part) {
            // The WHERE of a query within is looked at by itself.
            Some([first, ..]) if first.is_word(&["select", "with", "values"]) => {}
            Some(inner) => conjuncts(inner, equals),
            None => equals.extend(equalities(&part)),
        }
    }
}

/// What stands in the parentheses that are around the whole.
fn inside<'t>(tokens: &'t [&'t Token]) -> Option<&'t [&'t Token]> {
    let [first, inner @ .., last] = tokens else { return None };
    if first.kind != Kind::Open || last.kind != Kind::Close {
        return None;
    }
    let mut depth = 0_usize;
    for token in inner {
        match token.kind {
            Kind::Open => depth += 1,
            Kind::Close => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    Some(inner)
}

/// Parentheses that change nothing taken away.
fn bare<'t>(mut tokens: &'t [&'t Token]) -> &'t [&'t Token] {
    while let Some(inner) = inside(tokens) {
        tokens = inner;
    }
    tokens
}

/// The items of `(a, b, …)` or `ROW(a, b, …)`, two at least.
fn row<'t>(tokens: &'t [&'t Token]) -> Option<Vec<&'t [&'t Token]>> {
    let tokens = match tokens {
        [word, rest @ ..] if word.is_word(&["row"]) => rest,
        _ => tokens,
    };
    let mut depth = 0_usize;
    let is_between = |token: &&Token| {
        match token.kind {
            Kind::Open => depth += 1,
            Kind::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && token.is(",")
    };
    let items: Vec<_> = inside(tokens)?.split(is_between).collect();
    (items.len() > 1).then_some(items)
}

/// What one condition asks for: `a = b`, `(a, b) = (c, d)`, `a IN (b)` or
/// `(a, b) IN ((c, d))`.
fn equalities(tokens: &[&Token]) -> Vec<Equal> {
    let compares = |token: &&Token| ["=", "<", ">", "!", "~"].contains(&token.text.as_str());
    let mut signs = tokens.iter().enumerate().filter(|(_, token)| compares(token));
    let place = match (signs.next(), signs.next()) {
        (Some((at, sign)), None) if sign.is("=") => Some(at),
        (None, _) => tokens.iter().position(|token| token.is_word(&["in"])),
        _ => None,
    };
    let Some(at) = place else { return Vec::new() };
    let (left, mut right) = (&tokens[..at], &tokens[at + 1..]);
    if tokens[at].is_word(&["in"]) {
        let Some(list) = inside(right) else { return Vec::new() };
        right = list;
    }
    match (row(left), row(right)) {
        (Some(left), Some(right)) if left.len() == right.len() => {
            left.into_iter().zip(right).filter_map(|(left, right)| equal(left, right)).collect()
        }
        (None, None) => equal(left, right).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// An equality between a column and something made of variables.
fn equal(left: &[&Token], right: &[&Token]) -> Option<Equal> {
    let (left, right) = (bare(left), bare(right));
    let (column, value) = if is_column(left) { (left, right) } else { (right, left) };
    // A word in the value may be another column, or a function of one; a comma
    // parts the values of a list.
    let is_foreign =
        |token: &&Token| token.is(",") || (token.kind == Kind::Word && !is_cast(token));
    if !is_column(column) || value.iter().any(is_foreign) {
        return None;
    }
    let variables: Vec<String> =
        value.iter().filter_map(|token| token.text.strip_prefix(':')).map(str::to_owned).collect();
    let variables: Vec<String> = variables.into_iter().filter(|name| name != ":").collect();
    let table = match column {
        [.., table, _, _] => Some(table.text.clone()),
        _ => None,
    };
    (!variables.is_empty()).then_some(Equal { table, variables })
}

/// Types to which keys are cast.
fn is_cast(token: &Token) -> bool {
    ["int", "integer", "bigint", "int4", "int8"].contains(&token.text.as_str())
}

/// `name`, `table.name` or `schema.table.name`.
fn is_column(tokens: &[&Token]) -> bool {
    let is_name = |token: &Token| matches!(token.kind, Kind::Word | Kind::Quoted);
    match tokens {
        [name] => is_name(name) && !name.text.starts_with('\''),
        [table, dot, name] => is_name(table) && dot.is(".") && is_name(name),
        [schema, dot, rest @ ..] if rest.len() == 3 => {
            is_name(schema) && dot.is(".") && is_column(rest)
        }
        _ => false,
    }
}
