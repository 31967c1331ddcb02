//! Column definitions: types and identities that DSQL refuses.

use std::ops::Range;

use super::lex::{Kind as Lexeme, Token};
use super::{Statement, no_such_type};
use crate::refusal::Refusal;

/// A sequence's cache must be this, or at least [`CACHE_MIN`].
const CACHE_ONE: u64 = 1;
/// The smallest cache above one.
const CACHE_MIN: u64 = 65_536;

/// The words after a refused identity or sequence.
const DEFINE_CACHE: &str = "is not supported without an explicit cache size. \
    please define CACHE greater than or equal to 65536 or equal to 1";

/// Types that a column cannot have, though most may occur in a query.
const REFUSED: [&str; 31] = [
    "bit",
    "box",
    "cidr",
    "circle",
    "datemultirange",
    "daterange",
    "inet",
    "int4multirange",
    "int4range",
    "int8multirange",
    "int8range",
    "jsonpath",
    "line",
    "lseg",
    "macaddr",
    "macaddr8",
    "money",
    "nummultirange",
    "numrange",
    "path",
    "pg_lsn",
    "pg_snapshot",
    "point",
    "polygon",
    "tsmultirange",
    "tsquery",
    "tsrange",
    "tstzmultirange",
    "tstzrange",
    "tsvector",
    "xml",
];

/// Types of PostgreSQL that are no types but a way to make a sequence.
const SERIAL: [&str; 6] = ["bigserial", "serial", "serial2", "serial4", "serial8", "smallserial"];

/// Words that begin a table constraint in place of a column.
const CONSTRAINT: [&str; 7] =
    ["constraint", "primary", "unique", "check", "foreign", "exclude", "like"];

/// Words that may follow a column's type.
const AFTER_TYPE: [&str; 14] = [
    "not",
    "null",
    "default",
    "check",
    "unique",
    "primary",
    "references",
    "generated",
    "constraint",
    "collate",
    "storage",
    "compression",
    "deferrable",
    "initially",
];

/// The items between a pair of parentheses, as ranges of tokens.
pub(super) fn items(tokens: &[Token], open: usize) -> Vec<Range<usize>> {
    let mut depth = 0_i32;
    let mut begin = open + 1;
    let mut found = Vec::new();
    for (index, token) in tokens.iter().enumerate().skip(open) {
        if token.is_sign("(") {
            depth += 1;
        } else if token.is_sign(")") {
            depth -= 1;
        }
        if depth == 0 || (depth == 1 && token.is_sign(",")) {
            if begin < index {
                found.push(begin..index);
            }
            begin = index + 1;
        }
        if depth == 0 {
            break;
        }
    }
    found
}

/// True for a table constraint, false for a column.
pub(super) fn is_constraint(s: &Statement<'_>, item: &Range<usize>) -> bool {
    CONSTRAINT.contains(&s.word(item.start))
}

/// Checks `name type …`, the item of a column.
pub(super) fn check_column(s: &Statement<'_>, item: &Range<usize>) -> Result<(), Refusal> {
    let rest = &s.tokens[(item.start + 1).min(item.end)..item.end];
    let len = rest
        .iter()
        .position(|token| token.kind == Lexeme::Word && AFTER_TYPE.contains(&token.text.as_str()))
        .unwrap_or(rest.len());
    let (type_tokens, constraints) = rest.split_at(len);
    check_type(type_tokens)?;
    if constraints.iter().any(|token| token.is("identity")) {
        check_identity(type_tokens, constraints)?;
    }
    Ok(())
}

fn check_type(tokens: &[Token]) -> Result<(), Refusal> {
    let Some(first) = tokens.first() else { return Ok(()) };
    // A schema may stand before the name.
    let name = match tokens {
        [_, dot, name, ..] if dot.is_sign(".") => name,
        _ => first,
    };
    if SERIAL.contains(&name.text.as_str()) && name.kind == Lexeme::Word {
        return Err(no_such_type(&name.text));
    }
    let array = tokens.iter().any(|token| token.is_sign("[") || token.is("array"));
    let refused = REFUSED.contains(&name.text.as_str()) && name.kind == Lexeme::Word;
    if array || refused {
        let shown = canonical(tokens);
        let suffix = if array { "[]" } else { "" };
        return Err(Refusal::unsupported(format!("datatype {shown}{suffix} not supported")));
    }
    Ok(())
}

/// PostgreSQL's own name of a type, without its modifier.
fn canonical(tokens: &[Token]) -> String {
    let words: Vec<&str> = tokens
        .iter()
        .take_while(|token| token.is_name() && !token.is("array"))
        .map(|token| token.text.as_str())
        .collect();
    let name = match words.as_slice() {
        ["int" | "int4" | "integer"] => "integer",
        ["int2" | "smallint"] => "smallint",
        ["int8" | "bigint"] => "bigint",
        ["float8" | "float"] => "double precision",
        ["float4" | "real"] => "real",
        ["bool" | "boolean"] => "boolean",
        ["decimal" | "numeric"] => "numeric",
        ["varchar"] => "character varying",
        ["char" | "character"] => "character",
        ["timestamp"] => "timestamp without time zone",
        ["timestamptz"] => "timestamp with time zone",
        ["time"] => "time without time zone",
        ["timetz"] => "time with time zone",
        ["bit", "varying"] | ["varbit"] => "bit varying",
        words => return words.join(" "),
    };
    name.to_owned()
}

fn check_identity(type_tokens: &[Token], constraints: &[Token]) -> Result<(), Refusal> {
    let shown = canonical(type_tokens);
    if shown != "bigint" {
        return Err(Refusal::unsupported(format!(
            "datatype {shown} not supported, identity column type must be bigint"
        )));
    }
    if has_cache(constraints) {
        Ok(())
    } else {
        Err(Refusal::unsupported(format!("identity column {DEFINE_CACHE}")))
    }
}

/// `CREATE SEQUENCE` needs a cache as an identity does.
pub(super) fn check_sequence(tokens: &[Token]) -> Result<(), Refusal> {
    if has_cache(tokens) {
        Ok(())
    } else {
        Err(Refusal::unsupported(format!("CREATE SEQUENCE {DEFINE_CACHE}")))
    }
}

fn has_cache(tokens: &[Token]) -> bool {
    tokens.windows(2).any(|pair| {
        let size: Option<u64> = pair[1].text.parse().ok();
        pair[0].is("cache") && size.is_some_and(|size| size == CACHE_ONE || size >= CACHE_MIN)
    })
}

/// `STORAGE …` of a column, which servers before 16 do not know: its places.
pub(super) fn storage_clauses(s: &Statement<'_>) -> Vec<(Range<usize>, &'static str)> {
    s.tokens
        .windows(3)
        .filter(|three| three[1].is("storage") && !three[0].is("set") && three[2].is_name())
        .map(|three| (three[1].at.start..three[2].at.end, ""))
        .collect()
}
