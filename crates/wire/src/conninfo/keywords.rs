//! Keyword strings: `host=localhost port='5432'`.

use super::error::{ConnInfoError, ConnInfoErrorKind};
use super::mask;
use super::parameter::{Params, find, names_hint};

/// libpq's complaint about a name that it does not know.
pub(crate) const UNKNOWN: &str = "invalid connection option";

/// Blanks as C's `isspace` sees them.
pub(crate) fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}

/// Reads a keyword string.
pub(crate) fn parse(text: &str) -> Result<Params, ConnInfoError> {
    let mut params = Params::default();
    let mut rest = text.trim_start_matches(is_blank);
    let mut after_secret = false;
    while !rest.is_empty() {
        let (keyword, after) = split_keyword(rest, after_secret)?;
        let (value, after) = split_value(after)?;
        let parameter = params.store(keyword, value, after_secret, UNKNOWN)?;
        after_secret = parameter.is_secret;
        rest = after.trim_start_matches(is_blank);
    }
    Ok(params)
}

/// The name, and what follows its `=` and the blanks around that.
fn split_keyword(text: &str, after_secret: bool) -> Result<(&str, &str), ConnInfoError> {
    let end = text.find(|c| c == '=' || is_blank(c)).unwrap_or(text.len());
    let (keyword, rest) = text.split_at(end);
    if let Some(value) = rest.trim_start_matches(is_blank).strip_prefix('=') {
        return Ok((keyword, value.trim_start_matches(is_blank)));
    }
    let shown = mask::name(keyword, after_secret);
    let error = ConnInfoError::new(
        ConnInfoErrorKind::Syntax,
        format!("missing \"=\" after \"{shown}\" in connection info string"),
    );
    Err(if keyword.contains("://") {
        error.with_hint("a connection URI begins with postgresql:// or postgres://")
    } else if after_secret {
        error.with_hint("a value with blanks in it is written in single quotes")
    } else if find(keyword).is_some() {
        error.with_hint(format!("write {keyword}=VALUE"))
    } else {
        error.with_hint(names_hint(keyword))
    })
}

/// The value without its quotes and backslashes, and what follows it.
fn split_value(text: &str) -> Result<(String, &str), ConnInfoError> {
    let (quoted, body) = match text.strip_prefix('\'') {
        Some(body) => (true, body),
        None => (false, text),
    };
    let mut value = String::new();
    let mut chars = body.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' if quoted => return Ok((value, &body[at + 1..])),
            c if !quoted && is_blank(c) => return Ok((value, &body[at..])),
            // A backslash at the very end stands for nothing.
            '\\' => value.extend(chars.next().map(|(_, escaped)| escaped)),
            c => value.push(c),
        }
    }
    if quoted {
        return Err(ConnInfoError::new(
            ConnInfoErrorKind::Syntax,
            "unterminated quoted string in connection info string",
        ));
    }
    Ok((value, ""))
}
