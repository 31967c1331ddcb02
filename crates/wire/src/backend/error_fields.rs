//! ErrorResponse and NoticeResponse: what the server has to say.
//!
//! [`ErrorFields`] reads single fields in place, enough for counting outcomes;
//! [`ServerError`] owns them all and prints as libpq does by default.

use std::fmt;

use super::Reader;
use crate::sqlstate::SqlState;

/// The fields of an ErrorResponse or NoticeResponse, in place.
#[derive(Debug, Clone, Copy)]
pub struct ErrorFields<'a>(Reader<'a>);

impl<'a> ErrorFields<'a> {
    /// Views the body of the message. Cannot fail: fields that are not there
    /// are simply absent.
    #[must_use]
    pub const fn new(body: &'a [u8]) -> Self {
        Self(Reader(body))
    }

    /// The field of type `code`, as listed in the manual, "Error and Notice
    /// Message Fields".
    #[must_use]
    pub fn get(&self, code: u8) -> Option<&'a [u8]> {
        self.iter().find(|(field, _)| *field == code).map(|(_, text)| text)
    }

    /// The SQLSTATE; `XX000` where the server sent none that makes sense.
    #[must_use]
    pub fn sqlstate(&self) -> SqlState {
        self.get(b'C').and_then(SqlState::from_bytes).unwrap_or(SqlState::INTERNAL_ERROR)
    }

    /// The fields in the order sent.
    pub fn iter(&self) -> impl Iterator<Item = (u8, &'a [u8])> + use<'a> {
        let mut reader = self.0;
        std::iter::from_fn(move || {
            let code = reader.u8().filter(|code| *code != 0)?;
            Some((code, reader.cstr()?))
        })
    }

    /// Copies all that is worth keeping.
    #[must_use]
    pub fn to_server_error(&self) -> ServerError {
        let mut error = ServerError { sqlstate: self.sqlstate(), ..ServerError::default() };
        for (code, text) in self.iter() {
            let text = String::from_utf8_lossy(text).into_owned();
            match code {
                b'S' => error.severity = text,
                b'V' => error.severity_code = Some(text),
                b'M' => error.message = text,
                b'D' => error.detail = Some(text),
                b'H' => error.hint = Some(text),
                b'P' => error.position = text.parse().ok(),
                b'p' => error.internal_position = text.parse().ok(),
                b'q' => error.internal_query = Some(text),
                b'W' => error.context = Some(text),
                b's' => error.schema = Some(text),
                b't' => error.table = Some(text),
                b'c' => error.column = Some(text),
                b'n' => error.constraint = Some(text),
                _ => {}
            }
        }
        error
    }
}

/// An error or notice of the server. Prints as libpq prints it by default,
/// without a line feed at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerError {
    /// In the server's language: `ERROR`, `FATAL`, `FEHLER`, …
    pub severity: String,
    /// The same, never translated (server 9.6 on).
    pub severity_code: Option<String>,
    /// The SQLSTATE.
    pub sqlstate: SqlState,
    /// The primary message.
    pub message: String,
    /// DETAIL.
    pub detail: Option<String>,
    /// HINT.
    pub hint: Option<String>,
    /// Where in the statement, in characters from 1.
    pub position: Option<u32>,
    /// Where in `internal_query`, in characters from 1.
    pub internal_position: Option<u32>,
    /// A statement that the server itself had made.
    pub internal_query: Option<String>,
    /// CONTEXT: the call stack.
    pub context: Option<String>,
    /// The schema concerned.
    pub schema: Option<String>,
    /// The table concerned.
    pub table: Option<String>,
    /// The column concerned.
    pub column: Option<String>,
    /// The constraint concerned.
    pub constraint: Option<String>,
    /// The statement that was refused, where the client knows it; `position`
    /// points into it. Without it, LINE and caret cannot be shown.
    pub query: Option<String>,
}

impl Default for ServerError {
    fn default() -> Self {
        Self {
            severity: String::new(),
            severity_code: None,
            sqlstate: SqlState::INTERNAL_ERROR,
            message: String::new(),
            detail: None,
            hint: None,
            position: None,
            internal_position: None,
            internal_query: None,
            context: None,
            schema: None,
            table: None,
            column: None,
            constraint: None,
            query: None,
        }
    }
}

impl ServerError {
    /// Adds the statement that was sent, for LINE and caret.
    #[must_use]
    pub fn with_query(mut self, sql: &str) -> Self {
        // Without a position the text would be kept for nothing.
        if self.position.is_some() {
            self.query = Some(sql.to_owned());
        }
        self
    }

    /// FATAL and PANIC end the session; ERROR does not.
    #[must_use]
    pub fn is_fatal(&self) -> bool {
        matches!(self.severity_code.as_deref().unwrap_or(&self.severity), "FATAL" | "PANIC")
    }

    /// NOTICE, WARNING and the like. libpq shows no CONTEXT for these.
    #[must_use]
    pub fn is_notice(&self) -> bool {
        !matches!(
            self.severity_code.as_deref().unwrap_or(&self.severity),
            "ERROR" | "FATAL" | "PANIC"
        )
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.severity.is_empty() {
            write!(f, "{}:  ", self.severity)?;
        }
        f.write_str(&self.message)?;
        let marked = match (self.position, &self.query) {
            (Some(position), query) => Some((position, query)),
            (None, _) => self.internal_position.map(|position| (position, &self.internal_query)),
        };
        match marked {
            Some((position, Some(query))) => write_position(f, query, position)?,
            Some((position, None)) => write!(f, " at character {position}")?,
            None => {}
        }
        let context = self.context.as_ref().filter(|_| !self.is_notice());
        for (label, text) in [
            ("DETAIL", self.detail.as_ref()),
            ("HINT", self.hint.as_ref()),
            ("QUERY", self.internal_query.as_ref()),
            ("CONTEXT", context),
        ] {
            if let Some(text) = text {
                write!(f, "\n{label}:  {text}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for ServerError {}

/// How much of a long line is shown around the caret, as libpq does.
const EXCERPT_CHARS_MAX: usize = 60;

/// How much of it at least stays to the right of the caret.
const EXCERPT_RIGHT_CHARS_MIN: usize = 10;

/// Writes `LINE n: …` and the caret below. Columns are counted in characters;
/// libpq also knows of double-width ones, which only shifts the caret.
fn write_position(f: &mut fmt::Formatter<'_>, query: &str, position: u32) -> fmt::Result {
    let chars: Vec<char> = query.chars().collect();
    let Some(at) = (position as usize).checked_sub(1).filter(|at| *at <= chars.len()) else {
        return Ok(());
    };
    let line_number = 1 + line_ends(&chars[..at]);
    let is_end = |c: &char| matches!(c, '\n' | '\r');
    let mut begin = chars[..at].iter().rposition(is_end).map_or(0, |end| end + 1);
    let mut end = chars[at..].iter().position(is_end).map_or(chars.len(), |length| at + length);
    let (mut cut_left, mut cut_right) = (false, false);
    if end - begin > EXCERPT_CHARS_MAX {
        if begin + EXCERPT_CHARS_MAX >= at + EXCERPT_RIGHT_CHARS_MIN {
            end = begin + EXCERPT_CHARS_MAX;
            cut_right = true;
        } else {
            if at + EXCERPT_RIGHT_CHARS_MIN < end {
                end = at + EXCERPT_RIGHT_CHARS_MIN;
                cut_right = true;
            }
            if end - begin > EXCERPT_CHARS_MAX {
                begin = end - EXCERPT_CHARS_MAX;
                cut_left = true;
            }
        }
    }
    let label = format!("LINE {line_number}: {}", if cut_left { "..." } else { "" });
    let shown: String =
        chars[begin..end].iter().map(|c| if *c == '\t' { ' ' } else { *c }).collect();
    let indent = label.chars().count() + at - begin;
    let tail = if cut_right { "..." } else { "" };
    write!(f, "\n{label}{shown}{tail}\n{:indent$}^", "")
}

/// How many lines end in `chars`; a carriage return with its line feed is one.
fn line_ends(chars: &[char]) -> usize {
    let feeds_after_return = chars.windows(2).filter(|pair| *pair == ['\r', '\n']).count();
    chars.iter().filter(|c| matches!(c, '\n' | '\r')).count() - feeds_after_return
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The print is libpq's, labels, caret and order.
    #[test]
    fn prints_as_libpq() {
        let body = b"SERROR\0VERROR\0C42703\0Mcolumn \"x\" does not exist\0P12\0Hlook\0Wwhere\0\0";
        let error = ErrorFields::new(body).to_server_error();
        assert_eq!(error.sqlstate, SqlState::UNDEFINED_COLUMN);
        assert_eq!(
            error.to_string(),
            "ERROR:  column \"x\" does not exist at character 12\nHINT:  look\nCONTEXT:  where"
        );
        assert_eq!(
            error.with_query("select 1,\n\tx\nfrom t").to_string(),
            "ERROR:  column \"x\" does not exist\nLINE 2:  x\n         ^\nHINT:  look\nCONTEXT:  where"
        );
    }

    /// Long lines are cut around the caret and say so.
    #[test]
    fn cuts_long_lines() {
        let sql = format!("select {} from nowhere where {}", "a".repeat(70), "b".repeat(70));
        let error = ServerError {
            severity: "ERROR".into(),
            message: "m".into(),
            position: Some(84),
            ..ServerError::default()
        };
        let shown = error.with_query(&sql).to_string();
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines[1].starts_with("LINE 1: ...aaa") && lines[1].ends_with("..."), "{shown}");
        let caret = lines[2].len() - 1;
        assert!(lines[1][caret..].starts_with("nowhere"), "{shown}");
    }

    /// A notice keeps its context to itself, and nonsense prints without a panic.
    #[test]
    fn notices_and_nonsense() {
        let notice = ErrorFields::new(b"SNOTICE\0Mhm\0Wwhere\0\0").to_server_error();
        assert_eq!(notice.to_string(), "NOTICE:  hm");
        for body in [&b""[..], b"\0", b"S", b"SERROR", b"P99999999999\0", b"P4294967295\0"] {
            let _shown = ErrorFields::new(body).to_server_error().with_query("x").to_string();
        }
    }
}
