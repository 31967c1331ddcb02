//! The SQL lexer: as much of it as is needed to find where a command ends.
//!
//! Rules of psql's lexer with standard_conforming_strings on; no regard to
//! encodings, bytes beyond ASCII are letters. Text is passed on as it is.

use crate::names::{is_name_byte, is_name_start};

/// What a stretch of SQL is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// White space, or a comment from `--` to the end of its line.
    Blank,
    /// `/* … */`.
    Comment,
    /// Any quoted string or name, finished or not.
    Quoted,
    Word,
    Number,
    Open,
    Close,
    Semicolon,
    Backslash,
    Other,
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c | 0x0b)
}

fn is_word_byte(byte: u8) -> bool {
    is_name_byte(byte) || byte == b'$'
}

/// The token at `at`, which must be inside of the text: its kind and its end, beyond `at`.
pub(crate) fn token(text: &[u8], at: usize) -> (Kind, usize) {
    let rest = &text[at..];
    let second = rest.get(1).copied();
    match rest[0] {
        byte if is_space(byte) => (Kind::Blank, while_at(text, at, is_space)),
        b'-' if second == Some(b'-') => (Kind::Blank, line_end(text, at)),
        b'/' if second == Some(b'*') => (Kind::Comment, comment_end(text, at + 2)),
        quote @ (b'\'' | b'"') => (Kind::Quoted, behind(text, at + 1, quote)),
        b'e' | b'E' if second == Some(b'\'') => (Kind::Quoted, escaped_end(text, at + 2)),
        b'$' => dollar(text, at),
        b'.' if second.is_some_and(|byte| byte.is_ascii_digit()) => {
            (Kind::Number, number(text, at))
        }
        byte if byte.is_ascii_digit() => (Kind::Number, number(text, at)),
        byte if is_name_start(byte) => (Kind::Word, while_at(text, at, is_word_byte)),
        // A variable ends before a `$`, where a word would go on; `::` is a cast.
        b':' if second == Some(b':') => (Kind::Other, at + 2),
        b':' => (Kind::Other, while_at(text, at + 1, is_name_byte)),
        b'(' => (Kind::Open, at + 1),
        b')' => (Kind::Close, at + 1),
        b';' => (Kind::Semicolon, at + 1),
        b'\\' => (Kind::Backslash, at + 1),
        _ => (Kind::Other, at + 1),
    }
}

fn while_at(text: &[u8], start: usize, keep: impl Fn(u8) -> bool) -> usize {
    text[start..].iter().position(|&byte| !keep(byte)).map_or(text.len(), |offset| start + offset)
}

fn line_end(text: &[u8], at: usize) -> usize {
    while_at(text, at, |byte| byte != b'\n' && byte != b'\r')
}

/// Behind the next `byte`, or the end. A doubled quote is two strings side by side, which ends the same.
fn behind(text: &[u8], start: usize, byte: u8) -> usize {
    memchr::memchr(byte, &text[start..]).map_or(text.len(), |offset| start + offset + 1)
}

fn comment_end(text: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (start, 1_usize);
    while let Some(offset) = memchr::memchr2(b'*', b'/', &text[at..]) {
        at += offset;
        match (text[at], text.get(at + 1)) {
            (b'/', Some(b'*')) => depth += 1,
            (b'*', Some(b'/')) => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// The end of a string with backslashes, together with those that continue it after a newline.
fn escaped_end(text: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(offset) = memchr::memchr2(b'\'', b'\\', &text[at..]) {
        at += offset;
        if text[at] == b'\\' {
            at = text.len().min(at + 2);
        } else if text.get(at + 1) == Some(&b'\'') {
            at += 2;
        } else if let Some(opened) = continued(text, at + 1) {
            at = opened;
        } else {
            return at + 1;
        }
    }
    text.len()
}

/// Behind the quote of a literal that continues the one before it: only blanks
/// and comments between, with at least one newline.
fn continued(text: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    loop {
        let byte = *text.get(at)?;
        if is_space(byte) {
            at += 1;
        } else if text[at..].starts_with(b"--") {
            at = line_end(text, at);
        } else {
            let newline = text[start..at].iter().any(|byte| matches!(byte, b'\n' | b'\r'));
            return (newline && byte == b'\'').then_some(at + 1);
        }
    }
}

fn dollar(text: &[u8], at: usize) -> (Kind, usize) {
    let inner = at + 1;
    match text.get(inner) {
        Some(byte) if byte.is_ascii_digit() => {
            let digits = while_at(text, inner, |byte| byte.is_ascii_digit());
            return (Kind::Number, junk_end(text, digits));
        }
        Some(&byte) if is_name_start(byte) || byte == b'$' => {}
        _ => return (Kind::Other, inner),
    }
    let tag = while_at(text, inner, is_name_byte);
    if text.get(tag) != Some(&b'$') {
        // No delimiter: only the `$` is taken, and what follows may begin a string.
        return (Kind::Other, inner);
    }
    let delimiter = &text[at..=tag];
    let found = memchr::memmem::find(&text[tag + 1..], delimiter);
    (Kind::Quoted, found.map_or(text.len(), |offset| tag + 1 + offset + delimiter.len()))
}

fn number(text: &[u8], at: usize) -> usize {
    let digit = |byte: u8| byte.is_ascii_digit();
    let mut end = while_at(text, at, digit);
    if text.get(end) == Some(&b'.') && text.get(end + 1) != Some(&b'.') {
        end = while_at(text, end + 1, digit);
    }
    if let [b'e' | b'E', b'+' | b'-', ..] = text[end..] {
        let digits = end + 2;
        end = while_at(text, digits, digit);
        if end == digits {
            // An unfinished exponent keeps its sign: `1e--` begins no comment.
            return end;
        }
    }
    junk_end(text, end)
}

/// Letters glued to a number belong to it: the `e` of `1e'…'` begins no string.
fn junk_end(text: &[u8], at: usize) -> usize {
    match text.get(at) {
        Some(&byte) if is_name_start(byte) => while_at(text, at, is_word_byte),
        _ => at,
    }
}

/// Why the lexer stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Semicolon,
    /// At a meta command; the lexer stands behind the backslash.
    Backslash,
    End,
}

/// What was collected up to a stop.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    pub(crate) text: Vec<u8>,
    /// Where the first byte of `text` is in the source.
    pub(crate) start: usize,
    /// The last comment that was dropped before it.
    pub(crate) rows_declared: Option<u64>,
}

/// Splits a script into SQL commands; meta commands are read by others, who set `at` behind them.
#[derive(Debug)]
pub(crate) struct SqlLexer<'a> {
    source: &'a [u8],
    pub(crate) at: usize,
    // Not reset by a meta command: parentheses stay open across it.
    parens: usize,
    body: BodyTracker,
}

impl<'a> SqlLexer<'a> {
    pub(crate) fn new(source: &'a [u8]) -> Self {
        Self { source, at: 0, parens: 0, body: BodyTracker::default() }
    }

    pub(crate) fn next(&mut self, collected: &mut Collected) -> Stop {
        while self.at < self.source.len() {
            let start = self.at;
            let (kind, end) = token(self.source, start);
            self.at = end;
            if kind == Kind::Backslash {
                match self.source.get(end) {
                    Some(&byte @ (b';' | b':')) => {
                        if byte == b';' {
                            self.body.words = 0;
                        }
                        push(collected, start, &[byte]);
                        self.at += 1;
                        continue;
                    }
                    _ => return Stop::Backslash,
                }
            }
            let stretch = &self.source[start..end];
            if kind == Kind::Blank && collected.text.is_empty() {
                if let Some(rows) = crate::comment::rows(stretch) {
                    collected.rows_declared = Some(rows);
                }
                continue;
            }
            push(collected, start, stretch);
            match kind {
                Kind::Open => self.parens += 1,
                Kind::Close => self.parens = self.parens.saturating_sub(1),
                Kind::Word => self.body.word(stretch, self.parens == 0),
                Kind::Semicolon if self.parens == 0 && !self.body.is_open() => {
                    self.body.words = 0;
                    return Stop::Semicolon;
                }
                _ => {}
            }
        }
        Stop::End
    }
}

fn push(collected: &mut Collected, start: usize, stretch: &[u8]) {
    if collected.text.is_empty() {
        collected.start = start;
    }
    collected.text.extend_from_slice(stretch);
}

/// Finds the bodies `BEGIN … END` of functions written in SQL, whose semicolons end nothing.
#[derive(Debug, Default)]
pub(crate) struct BodyTracker {
    /// Words of the statement so far.
    words: usize,
    /// First letters of the first words, where they are among CREATE, OR,
    /// REPLACE, FUNCTION, PROCEDURE.
    heads: [u8; 4],
    depth: usize,
}

impl BodyTracker {
    pub(crate) fn is_open(&self) -> bool {
        self.depth > 0
    }

    pub(crate) fn word(&mut self, word: &[u8], outside_parens: bool) {
        const HEADS: [&str; 5] = ["create", "or", "replace", "function", "procedure"];
        let is = |keyword: &str| word.eq_ignore_ascii_case(keyword.as_bytes());
        if self.words == 0 {
            self.heads = [0; 4];
        }
        if let Some(head) = self.heads.get_mut(self.words)
            && HEADS.iter().any(|&keyword| is(keyword))
        {
            *head = word[0].to_ascii_lowercase();
        }
        self.words += 1;
        let routine =
            matches!(self.heads, [b'c', b'f' | b'p', ..] | [b'c', b'o', b'r', b'f' | b'p']);
        if !routine || !outside_parens {
            return;
        }
        if is("begin") || (is("case") && self.depth > 0) {
            self.depth += 1;
        } else if is("end") {
            self.depth = self.depth.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The SQL commands of a text without meta commands.
    fn split(text: &str) -> Vec<String> {
        let mut lexer = SqlLexer::new(text.as_bytes());
        let mut commands = Vec::new();
        loop {
            let mut collected = Collected::default();
            let stop = lexer.next(&mut collected);
            if !collected.text.is_empty() {
                commands.push(String::from_utf8_lossy(&collected.text).into_owned());
            }
            if stop != Stop::Semicolon {
                return commands;
            }
        }
    }

    /// Semicolons inside quotes, comments, parentheses and bodies end nothing.
    #[test]
    fn ends_of_commands() {
        for whole in [
            "SELECT ';';",
            "SELECT 'it''s;';",
            "SELECT 'a\\';",
            "SELECT E'a\\';b';",
            "SELECT E'a'\n'\\';';",
            "SELECT U&'\\';",
            "SELECT \"a;\"\"b\";",
            "SELECT $$;$$;",
            "SELECT $a$;$$;$b$;$a$;",
            "SELECT (1;2);",
            "SELECT $e'\\';' ;",
            "SELECT 1e--;",
            "/* ; /* ; */ ; */ SELECT 1;",
            "SELECT 1 -- ;\n;",
            "SELECT 1e';' ;",
            "CREATE OR REPLACE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT CASE 1 WHEN 1 THEN 2 END; END;",
            "create procedure p() begin atomic select 1; end;",
            ";",
            "select 'unfinished;",
        ] {
            assert_eq!(split(whole), [whole]);
        }
        assert_eq!(split("BEGIN; END;"), ["BEGIN;", "END;"]);
        assert_eq!(split("SELECT a$$;$$;"), ["SELECT a$$;", "$$;"]);
        assert_eq!(split("SELECT :a$$;$$;"), ["SELECT :a$$;$$;"]);
        assert_eq!(split("create table function(); select 1;").len(), 2);
    }

    /// Blanks and line comments before a command are dropped; block comments and what is inside stay.
    #[test]
    fn dropped_and_kept() {
        assert_eq!(split(" -- a\n\t-- b\r\nSELECT 1 -- c\n;\n -- d\n"), ["SELECT 1 -- c\n;"]);
        assert_eq!(split("/* a */ SELECT 1;"), ["/* a */ SELECT 1;"]);
        assert_eq!(split(" \n-- nothing"), [""; 0]);
        assert_eq!(split("SELECT 1\\; SELECT 2\\:\\:int;"), ["SELECT 1; SELECT 2::int;"]);
    }

    /// A comment that declares rows reaches the command behind it, and no other.
    #[test]
    fn rows_comment() {
        for (comment, rows) in [
            ("-- pgdyno: rows 5\n", Some(5)),
            ("--pgdyno:rows 0\n", Some(0)),
            ("-- pgdyno: rows x\n", None),
            ("-- rows 5\n", None),
        ] {
            let text = format!("{comment}SELECT 1; SELECT 2;");
            let mut lexer = SqlLexer::new(text.as_bytes());
            let mut first = Collected::default();
            lexer.next(&mut first);
            assert_eq!(first.rows_declared, rows, "{comment}");
            let mut second = Collected::default();
            lexer.next(&mut second);
            assert_eq!(second.rows_declared, None);
        }
    }

    proptest! {
        /// Tokens cover any text without gaps: each ends behind its start and within the text.
        #[test]
        fn tokens_cover(text in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut at = 0;
            while at < text.len() {
                let (_, end) = token(&text, at);
                prop_assert!(end > at && end <= text.len());
                at = end;
            }
        }

        /// Nothing but dropped blanks and escaping backslashes gets lost between commands.
        #[test]
        fn nothing_lost(text in "[a-c'\"$;()/* \\n-]{0,60}") {
            let together = split(&text).concat();
            let kept = |text: &str| text.chars().filter(|letter| *letter == ';').count();
            // A semicolon can be dropped only within a comment before a command.
            prop_assert!(kept(&together) == kept(&text) || text.contains("--"));
        }
    }
}
