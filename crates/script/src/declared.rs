//! Comments that are meant for pgdyno, and what is wrong with them.
//!
//! `-- pgdyno: rows N` on a line before a statement declares how many rows it
//! must touch at least. pgbench passes over every comment, so the compiler
//! does as well; whoever wants to obey them asks here first whether they can
//! be obeyed.

use std::fmt;
use std::ops::Range;

use crate::comment::rows;
use crate::lex::{self, Kind};
use crate::script::{CommandKind, Script};

/// A comment for pgdyno that says nothing, or in the wrong place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// File name or description of the script.
    pub script: String,
    /// From 1.
    pub line: usize,
    /// The comment.
    pub comment: String,
    /// What is wrong with it, and how it would be right.
    pub why: &'static str,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: {}", self.script, self.line, self.comment, self.why)
    }
}

const FORM: &str = "expected \"-- pgdyno: rows N\", where N is how many rows the next statement \
    must touch at least";
const INSIDE: &str = "it stands inside of a statement; it belongs on a line before it";
const BEHIND: &str =
    "it stands behind a command and would count for the next; it belongs on a line before its own";
const NOTHING: &str = "no statement follows; it belongs on the line before its statement";
const TWICE: &str = "the same statement is declared once more below";

/// Whether a line comment is meant for pgdyno, right or wrong. A sentence that
/// only mentions it is not.
fn is_meant(comment: &[u8]) -> bool {
    let text = String::from_utf8_lossy(comment).to_lowercase();
    let Some(rest) = text.trim_start_matches('-').trim().strip_prefix("pgdyno") else {
        return false;
    };
    let rest = rest.trim_start();
    rest.starts_with(':') || rest.starts_with("rows")
}

/// All mistakes in comments that are meant for pgdyno, in their order.
#[must_use]
pub fn mistakes(script: &Script) -> Vec<Mistake> {
    let source: &[u8] = &script.source;
    let mut found = Vec::new();
    let mut add = |range: &Range<usize>, why| {
        found.push(Mistake {
            script: script.name.clone(),
            line: memchr::memchr_iter(b'\n', &source[..range.start]).count() + 1,
            comment: String::from_utf8_lossy(&source[range.clone()]).trim().to_owned(),
            why,
        });
    };
    let mut gap_start = 0;
    for command in &script.commands {
        let is_sql = matches!(command.kind, CommandKind::Sql(_));
        let before = comments(source, gap_start..command.span.start);
        for (at, comment) in before.iter().enumerate() {
            let why = wrong(source, comment).or_else(|| (!is_sql).then_some(NOTHING));
            let why = why.or_else(|| (at + 1 < before.len()).then_some(TWICE));
            if let Some(why) = why {
                add(comment, why);
            }
        }
        if is_sql {
            for comment in comments(source, command.span.clone()) {
                add(&comment, INSIDE);
            }
        }
        gap_start = command.span.end.max(gap_start);
    }
    for comment in comments(source, gap_start..source.len()) {
        add(&comment, wrong(source, &comment).unwrap_or(NOTHING));
    }
    found
}

/// What is wrong with a comment between two commands by itself.
fn wrong(source: &[u8], comment: &Range<usize>) -> Option<&'static str> {
    if rows(&source[comment.clone()]).is_none() {
        return Some(FORM);
    }
    let line_start = memchr::memrchr(b'\n', &source[..comment.start]).map_or(0, |at| at + 1);
    let before = &source[line_start..comment.start];
    before.iter().any(|byte| !byte.is_ascii_whitespace()).then_some(BEHIND)
}

/// The line comments within `range` that are meant for pgdyno.
fn comments(source: &[u8], range: Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let end = range.end.min(source.len());
    let mut at = range.start;
    while at < end {
        let (kind, next) = lex::token(&source[..end], at);
        let text = &source[at..next];
        if kind == Kind::Blank && text.starts_with(b"--") && is_meant(text) {
            found.push(at..next);
        }
        at = next;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Names;

    fn of(text: &str) -> Vec<(usize, &'static str)> {
        let script = Script::parse("s", text.as_bytes(), &mut Names::new()).expect(text);
        mistakes(&script).into_iter().map(|mistake| (mistake.line, mistake.why)).collect()
    }

    /// What can be obeyed, and what only mentions the program, is no mistake.
    #[test]
    fn right_comments() {
        for text in [
            "-- pgdyno: rows 1\nUPDATE t SET a = 1;\n--pgdyno:rows 0\nSELECT 1;",
            "-- pgdyno runs this script\n-- rows 5\nSELECT 1; -- for pgdyno: see there\n",
            "\\set a 1\n\n-- pgdyno: rows 2\n\n-- why\nDELETE FROM t;",
            "SELECT '-- pgdyno: rows x';\nSELECT $$\n-- pgdyno: rows\n$$;",
        ] {
            assert_eq!(of(text), [], "{text}");
        }
    }

    /// What says nothing, or in the wrong place, is told with its line and the way out.
    #[test]
    fn mistakes_are_told() {
        for (text, expected) in [
            ("-- pgdyno: rows one\nSELECT 1;", (1, FORM)),
            ("\n-- pgdyno: row 1\nSELECT 1;", (2, FORM)),
            ("-- pgdyno: rows -1\nSELECT 1;", (1, FORM)),
            ("-- pgdyno: rows1\nSELECT 1;", (1, FORM)),
            ("-- pgdyno: rows\nSELECT 1;", (1, FORM)),
            ("-- pgdyno: rows +1\nSELECT 1;", (1, FORM)),
            ("-- pgdyno: rows 1 or 2\nSELECT 1;", (1, FORM)),
            ("-- pgdyno: rows 99999999999999999999\nSELECT 1;", (1, FORM)),
            ("-- PgDyno: rows 1\nSELECT 1;", (1, FORM)),
            ("-- pgdyno rows 1\nSELECT 1;", (1, FORM)),
            ("-- pgdyno: rows 1\n\\set a 1\nSELECT 1;", (1, NOTHING)),
            ("SELECT 1;\n-- pgdyno: rows 1\n", (2, NOTHING)),
            ("SELECT 1; -- pgdyno: rows 1\nSELECT 2;", (1, BEHIND)),
            ("SELECT 1\n-- pgdyno: rows 1\n;", (2, INSIDE)),
            ("-- pgdyno: rows 1\n-- pgdyno: rows 2\nSELECT 1;", (1, TWICE)),
        ] {
            assert_eq!(of(text), [expected], "{text}");
        }
        let script =
            Script::parse("f.sql", b"-- pgdyno: rows x\nSELECT 1;", &mut Names::new()).expect("ok");
        let text = mistakes(&script)[0].to_string();
        assert!(text.starts_with("f.sql:1: -- pgdyno: rows x: expected"), "{text}");
    }
}
