//! SQL text as tokens: enough to know statements by their words.
//!
//! Quotes, dollar quotes, comments and escape strings are respected, as in
//! the PostgreSQL manual, "Lexical Structure". Nothing is checked: what is
//! malformed goes on to the server, whose error is the right one.

use std::ops::Range;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A keyword or an unquoted name.
    Word,
    /// A name in double quotes.
    Quoted,
    /// A constant in single quotes or dollars.
    Text,
    /// A number.
    Number,
    /// `$1`.
    Param,
    /// One character of an operator or of punctuation.
    Sign,
}

/// A token and its place in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) at: Range<usize>,
    /// Words in lower case, contents of quotes, all else as it stands.
    pub(crate) text: String,
}

impl Token {
    /// True for this word, which must be in lower case.
    pub(crate) fn is(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text == word
    }

    /// True for this sign.
    pub(crate) fn is_sign(&self, sign: &str) -> bool {
        self.kind == Kind::Sign && self.text == sign
    }

    /// True for whatever can be a name.
    pub(crate) fn is_name(&self) -> bool {
        matches!(self.kind, Kind::Word | Kind::Quoted)
    }
}

/// All tokens of a text.
pub(crate) fn tokens(sql: &str) -> Vec<Token> {
    let bytes = sql.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let (end, kind) = match bytes[at] {
            byte if byte.is_ascii_whitespace() => (at + 1, None),
            b'-' if bytes.get(at + 1) == Some(&b'-') => (line_end(bytes, at), None),
            b'/' if bytes.get(at + 1) == Some(&b'*') => (comment_end(bytes, at), None),
            b'\'' => (quote_end(bytes, at, b'\'', false), Some(Kind::Text)),
            b'"' => (quote_end(bytes, at, b'"', false), Some(Kind::Quoted)),
            b'e' | b'E' if bytes.get(at + 1) == Some(&b'\'') => {
                (quote_end(bytes, at + 1, b'\'', true), Some(Kind::Text))
            }
            b'$' if bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => {
                (run_end(bytes, at + 1, |b| b.is_ascii_digit()), Some(Kind::Param))
            }
            b'$' => match dollar_end(sql, at) {
                Some(end) => (end, Some(Kind::Text)),
                None => (at + 1, Some(Kind::Sign)),
            },
            byte if is_name_start(byte) => (run_end(bytes, at, is_name_part), Some(Kind::Word)),
            byte if byte.is_ascii_digit() => {
                (run_end(bytes, at, |b| is_name_part(b) || b == b'.'), Some(Kind::Number))
            }
            _ => (at + 1, Some(Kind::Sign)),
        };
        if let Some(kind) = kind {
            found.push(Token { kind, at: at..end, text: shown(kind, &sql[at..end]) });
        }
        at = end;
    }
    found
}

/// The statements of a text, each with its tokens; empty ones are left out.
pub(crate) fn statements(sql: &str) -> Vec<(Range<usize>, Vec<Token>)> {
    let mut found = Vec::new();
    let mut current: Vec<Token> = Vec::new();
    // A semicolon inside parentheses is no end; the server will complain.
    let mut depth = 0_u32;
    let mut finish = |current: &mut Vec<Token>| {
        if let (Some(first), Some(last)) = (current.first(), current.last()) {
            found.push((first.at.start..last.at.end, std::mem::take(current)));
        }
    };
    for token in tokens(sql) {
        if token.is_sign("(") {
            depth += 1;
        } else if token.is_sign(")") {
            depth = depth.saturating_sub(1);
        } else if token.is_sign(";") && depth == 0 {
            finish(&mut current);
            continue;
        }
        current.push(token);
    }
    finish(&mut current);
    found
}

fn shown(kind: Kind, text: &str) -> String {
    match kind {
        Kind::Word => text.to_ascii_lowercase(),
        Kind::Quoted => text.trim_matches('"').replace("\"\"", "\""),
        Kind::Text if text.starts_with('\'') => text.trim_matches('\'').replace("''", "'"),
        _ => text.to_owned(),
    }
}

const fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

const fn is_name_part(byte: u8) -> bool {
    is_name_start(byte) || byte.is_ascii_digit() || byte == b'$'
}

fn run_end(bytes: &[u8], from: usize, belongs: impl Fn(u8) -> bool) -> usize {
    bytes[from..].iter().position(|byte| !belongs(*byte)).map_or(bytes.len(), |len| from + len)
}

fn line_end(bytes: &[u8], from: usize) -> usize {
    run_end(bytes, from, |byte| byte != b'\n')
}

/// Comments nest.
fn comment_end(bytes: &[u8], from: usize) -> usize {
    let mut depth = 0_u32;
    let mut at = from;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    bytes.len()
}

fn quote_end(bytes: &[u8], open: usize, quote: u8, escapes: bool) -> usize {
    let mut at = open + 1;
    while at < bytes.len() {
        if escapes && bytes[at] == b'\\' {
            at += 2;
        } else if bytes[at] != quote {
            at += 1;
        } else if bytes.get(at + 1) == Some(&quote) {
            at += 2;
        } else {
            return at + 1;
        }
    }
    bytes.len()
}

fn dollar_end(sql: &str, from: usize) -> Option<usize> {
    let bytes = sql.as_bytes();
    let tag_end = run_end(bytes, from + 1, |byte| is_name_part(byte) && byte != b'$');
    if bytes.get(tag_end) != Some(&b'$') {
        return None;
    }
    let tag = &sql[from..=tag_end];
    let body = tag_end + 1;
    Some(sql[body..].find(tag).map_or(sql.len(), |len| body + len + tag.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(sql: &str) -> Vec<String> {
        tokens(sql).into_iter().map(|token| token.text).collect()
    }

    /// Quotes, comments and dollars hide what is in them, ends do not.
    #[test]
    fn quoting() {
        assert_eq!(
            texts("SELECT 'a;''b' /* ; /* ; */ */ , \"C;\" -- ;\n"),
            ["select", "a;'b", ",", "C;"]
        );
        assert_eq!(texts(r"E'\';' x"), [r"E'\';'", "x"]);
        assert_eq!(texts("$a$ ; $$ $a$ $1"), ["$a$ ; $$ $a$", "$1"]);
        assert_eq!(statements("a; ;b 'x;' ; $$;$$").len(), 3);
    }

    /// Tokens are whole characters, in order, and nothing but space and
    /// comments lies between statements.
    fn check(sql: &str) {
        let mut end = 0;
        for token in tokens(sql) {
            assert!(token.at.start >= end && token.at.start < token.at.end, "{sql:?}");
            assert!(sql.get(token.at.clone()).is_some(), "{sql:?}");
            end = token.at.end;
        }
        for (_, tokens) in statements(sql) {
            // The rules must bear whatever comes.
            let _ = crate::dialect::plan(sql, &tokens);
        }
    }

    /// Whatever begins may end too early.
    #[test]
    fn odd_ends() {
        for sql in ["'", "\"", "/*", "--", "$", "$a", "$a$", "E'\\", "é'", "1.", "/*/", "*/"] {
            check(sql);
        }
    }

    proptest::proptest! {
        /// No text makes lexer or rules fail: pieces of SQL in any order.
        #[test]
        fn any_text(
            words in proptest::collection::vec(proptest::sample::select(WORDS), 0..20),
            text in ".{0,20}",
        ) {
            check(&format!("{} {text}", words.join(" ")));
            check(&words.concat());
        }
    }

    const WORDS: &[&str] = &[
        "create",
        "table",
        "alter",
        "add",
        "column",
        "index",
        "async",
        "unique",
        "on",
        "(",
        ")",
        ",",
        ".",
        ";",
        "as",
        "select",
        "from",
        "for",
        "update",
        "where",
        "t",
        "int",
        "[",
        "]",
        "'a'",
        "\"b\"",
        "$1",
        "constraint",
        "using",
        "not",
        "valid",
        "set",
        "show",
        "drop",
        "copy",
        "stdin",
        "begin",
        "identity",
        "cache",
        "1",
        "::",
        "storage",
        "if",
        "exists",
        "é",
    ];
}
