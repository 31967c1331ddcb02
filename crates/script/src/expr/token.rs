//! The words of an expression, up to the end of its line.
//!
//! A backslash before a newline continues the line, also inside nothing but
//! blanks; a word does not go on across it.

use crate::names::{is_name_byte, is_name_start};
use crate::number;

/// One word. Operators of one character are themselves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Token<'a> {
    Op(u8),
    NotEqual,
    LessEqual,
    GreaterEqual,
    ShiftLeft,
    ShiftRight,
    And,
    Or,
    Not,
    Case,
    When,
    Then,
    Else,
    End,
    Is,
    IsNull,
    NotNull,
    Null,
    Bool(bool),
    Int(i64),
    /// 9223372036854775808, good only behind a unary minus.
    IntMaxPlusOne,
    Double(f64),
    Var(&'a [u8]),
    Name(&'a [u8]),
    /// End of the line or of the script.
    Finish,
}

/// A word that is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BadToken {
    pub(super) message: &'static str,
    pub(super) text: String,
}

/// Reads words from a script's source.
#[derive(Debug, Clone)]
pub(super) struct Lexer<'a> {
    source: &'a [u8],
    /// Just behind the last word.
    pub(super) at: usize,
    /// The line has been read to its end.
    pub(super) finished: bool,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(source: &'a [u8], at: usize) -> Self {
        Self { source, at, finished: false }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.source.get(self.at + ahead).copied()
    }

    fn take_while(&mut self, keep: impl Fn(u8) -> bool) {
        while self.peek(0).is_some_and(&keep) {
            self.at += 1;
        }
    }

    fn skip_blanks(&mut self) {
        while let Some(byte) = self.peek(0) {
            match (byte, self.peek(1), self.peek(2)) {
                (b' ' | b'\t' | b'\r' | 0x0c | 0x0b, _, _) => self.at += 1,
                (b'\\', Some(b'\n'), _) => self.at += 2,
                (b'\\', Some(b'\r'), Some(b'\n')) => self.at += 3,
                _ => break,
            }
        }
    }

    pub(super) fn next(&mut self) -> Result<Token<'a>, BadToken> {
        if self.finished {
            return Ok(Token::Finish);
        }
        self.skip_blanks();
        let start = self.at;
        let Some(first) = self.peek(0) else {
            self.finished = true;
            return Ok(Token::Finish);
        };
        if first.is_ascii_digit() || (first == b'.' && self.peek(1).is_some_and(is_digit)) {
            return self.number();
        }
        if is_name_start(first) {
            self.take_while(is_name_byte);
            return Ok(word(&self.source[start..self.at]));
        }
        if first == b':' && self.peek(1).is_some_and(is_name_byte) {
            self.at += 1;
            self.take_while(is_name_byte);
            return Ok(Token::Var(&self.source[start + 1..self.at]));
        }
        self.at += 1;
        let (token, length) = match (first, self.peek(0)) {
            (b'\n', _) => {
                self.finished = true;
                (Token::Finish, 1)
            }
            (b'<', Some(b'>')) | (b'!', Some(b'=')) => (Token::NotEqual, 2),
            (b'<', Some(b'=')) => (Token::LessEqual, 2),
            (b'>', Some(b'=')) => (Token::GreaterEqual, 2),
            (b'<', Some(b'<')) => (Token::ShiftLeft, 2),
            (b'>', Some(b'>')) => (Token::ShiftRight, 2),
            (
                b'+' | b'-' | b'*' | b'/' | b'%' | b'=' | b'<' | b'>' | b'|' | b'&' | b'#' | b'~'
                | b'(' | b')' | b',',
                _,
            ) => (Token::Op(first), 1),
            _ => {
                let text = String::from_utf8_lossy(&self.source[start..self.at]).into_owned();
                return Err(BadToken { message: "unexpected character", text });
            }
        };
        self.at += length - 1;
        Ok(token)
    }

    fn number(&mut self) -> Result<Token<'a>, BadToken> {
        let start = self.at;
        self.take_while(is_digit_byte);
        let whole = self.at;
        if self.peek(0) == Some(b'.') {
            self.at += 1;
            self.take_while(is_digit_byte);
        }
        if matches!(self.peek(0), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.peek(1), Some(b'+' | b'-')));
            if self.peek(1 + sign).is_some_and(is_digit) {
                self.at += 1 + sign;
                self.take_while(is_digit_byte);
            }
        }
        let text = &self.source[start..self.at];
        let bad =
            |message| Err(BadToken { message, text: String::from_utf8_lossy(text).into_owned() });
        if self.at > whole {
            return match number::strtod(text) {
                Some(read) if !read.out_of_range => Ok(Token::Double(read.value)),
                _ => bad("double constant overflow"),
            };
        }
        if text == b"9223372036854775808" {
            return Ok(Token::IntMaxPlusOne);
        }
        match number::digits_to_int(text) {
            Some(int) => Ok(Token::Int(int)),
            None => bad("bigint constant overflow"),
        }
    }
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_digit()
}

fn is_digit_byte(byte: u8) -> bool {
    byte.is_ascii_digit()
}

/// A keyword in any case, or the name of a function.
fn word(text: &[u8]) -> Token<'_> {
    const KEYWORDS: [(&str, Token<'static>); 14] = [
        ("and", Token::And),
        ("or", Token::Or),
        ("not", Token::Not),
        ("case", Token::Case),
        ("when", Token::When),
        ("then", Token::Then),
        ("else", Token::Else),
        ("end", Token::End),
        ("is", Token::Is),
        ("isnull", Token::IsNull),
        ("notnull", Token::NotNull),
        ("null", Token::Null),
        ("true", Token::Bool(true)),
        ("false", Token::Bool(false)),
    ];
    KEYWORDS
        .iter()
        .find(|(keyword, _)| text.eq_ignore_ascii_case(keyword.as_bytes()))
        .map_or(Token::Name(text), |&(_, token)| token)
}
