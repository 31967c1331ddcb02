//! Connection URIs: `postgresql://user:password@host:port,host/dbname?name=value`.
//!
//! The grammar is libpq's, which is not that of RFC 3986: several hosts, parts
//! that may be empty, no fragment, and a `?` does not end the user part where an
//! `@` follows.

use super::error::{ConnInfoError, ConnInfoErrorKind};
use super::mask;
use super::parameter::{Params, find};

const UNKNOWN: &str = "invalid URI query parameter:";
const ESCAPE_HINT: &str =
    "in a user name or password write @ as %40, : as %3A, / as %2F, ? as %3F, & as %26, % as %25";

/// The length of `postgresql://` or `postgres://` where `text` begins so.
pub(crate) fn prefix_len(text: &str) -> Option<usize> {
    ["postgresql://", "postgres://"]
        .iter()
        .find(|prefix| text.starts_with(**prefix))
        .map(|prefix| prefix.len())
}

/// Reads a URI whose prefix has that length.
pub(crate) fn parse(text: &str, prefix_len: usize) -> Result<Params, ConnInfoError> {
    let mut params = Params::default();
    let rest = split_user(&text[prefix_len..], &mut params)?;
    let rest = split_hosts(text, rest, &mut params)?;
    let query = match rest.strip_prefix('/') {
        Some(path) => {
            let (dbname, query) = path.split_once('?').unwrap_or((path, ""));
            store_decoded(&mut params, "dbname", dbname)?;
            query
        }
        None => rest.strip_prefix('?').unwrap_or_default(),
    };
    parse_query(query, &mut params)?;
    Ok(params)
}

/// Takes `user:password@` off the front.
fn split_user<'a>(text: &'a str, params: &mut Params) -> Result<&'a str, ConnInfoError> {
    let Some(at) = text.find(['@', '/']).filter(|at| text[*at..].starts_with('@')) else {
        return Ok(text);
    };
    let (info, rest) = (&text[..at], &text[at + 1..]);
    let (user, password) = info.split_once(':').unwrap_or((info, ""));
    store_decoded(params, "user", user)?;
    store_decoded(params, "password", password)?;
    Ok(rest)
}

/// Takes `host:port,host:port` off the front; leaves the path and the query.
fn split_hosts<'a>(
    uri: &str,
    text: &'a str,
    params: &mut Params,
) -> Result<&'a str, ConnInfoError> {
    let (mut hosts, mut ports) = (String::new(), String::new());
    let mut rest = text;
    loop {
        let (host, after) = split_host(uri, rest)?;
        hosts.push_str(host);
        rest = after;
        if let Some(port_on) = rest.strip_prefix(':') {
            let end = port_on.find(['/', '?', ',']).unwrap_or(port_on.len());
            ports.push_str(&port_on[..end]);
            rest = &port_on[end..];
        }
        match rest.strip_prefix(',') {
            Some(next) => rest = next,
            None => break,
        }
        hosts.push(',');
        ports.push(',');
    }
    refuse_torn_password(params, &hosts, &ports, rest)?;
    // Decoded after joining, as in libpq: `%2C` separates hosts, too.
    store_decoded(params, "host", &hosts)?;
    store_decoded(params, "port", &ports)?;
    Ok(rest)
}

/// One host name or bracketed address, and what follows it.
fn split_host<'a>(uri: &str, text: &'a str) -> Result<(&'a str, &'a str), ConnInfoError> {
    let Some(inside) = text.strip_prefix('[') else {
        return Ok(text.split_at(text.find([':', '/', '?', ',']).unwrap_or(text.len())));
    };
    let syntax = |message: String| ConnInfoError::new(ConnInfoErrorKind::Syntax, message);
    let Some((address, after)) = inside.split_once(']') else {
        return Err(syntax(format!(
            "end of string reached when looking for matching \"]\" in IPv6 host address in URI: \"{}\"",
            mask::uri(uri)
        )));
    };
    if address.is_empty() {
        return Err(syntax(format!(
            "IPv6 host address may not be empty in URI: \"{}\"",
            mask::uri(uri)
        )));
    }
    match after.chars().next() {
        None | Some(':' | '/' | '?' | ',') => Ok((address, after)),
        Some(found) => Err(syntax(format!(
            "unexpected character \"{found}\" at position {} in URI (expected \":\" or \"/\"): \"{}\"",
            uri.len() - after.len() + 1,
            mask::uri(uri)
        ))),
    }
}

/// Refuses what is plainly a password with a bare `@`, `/` or `?` in it.
///
/// libpq would go on, take a piece of the password for a host or a port, fail,
/// and print it. No host or port that works is refused here: an `@` is legal at
/// the start of a socket folder only.
fn refuse_torn_password(
    params: &Params,
    hosts: &str,
    ports: &str,
    rest: &str,
) -> Result<(), ConnInfoError> {
    let bare_at = hosts.split(',').any(|host| host.chars().skip(1).any(|c| c == '@'))
        || (params.get("password").is_some() && hosts.contains('@'))
        || ports.contains('@');
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit() || byte == b'%');
    let bare_slash =
        params.get("user").is_none() && rest.contains('@') && !ports.split(',').all(is_port);
    if !bare_at && !bare_slash {
        return Ok(());
    }
    Err(ConnInfoError::new(
        ConnInfoErrorKind::Syntax,
        "the user name or password in the connection URI has a character in it that must be percent-encoded",
    )
    .with_hint(ESCAPE_HINT))
}

fn parse_query(query: &str, params: &mut Params) -> Result<(), ConnInfoError> {
    let mut after_secret = false;
    if query.is_empty() {
        return Ok(());
    }
    // A `&` at the very end is no further pair.
    let query = query.strip_suffix('&').unwrap_or(query);
    for pair in query.split('&') {
        let syntax = |what: &str, name: &str| {
            ConnInfoError::new(
                ConnInfoErrorKind::Syntax,
                format!("{what} key/value separator \"=\" in URI query parameter: \"{name}\""),
            )
            .with_hint(ESCAPE_HINT)
        };
        let Some((name, value)) = pair.split_once('=') else {
            return Err(syntax("missing", &shown_word(pair, after_secret)));
        };
        if value.contains('=') {
            return Err(syntax("extra", &shown_word(name, after_secret)));
        }
        let keyword = decode(name, after_secret)?;
        let is_secret = find(&keyword).is_some_and(|parameter| parameter.is_secret);
        let value = decode(value, is_secret)?;
        // JDBC's spelling.
        let (keyword, value) = match (keyword.as_str(), value.as_str()) {
            ("ssl", "true") => ("sslmode".to_owned(), "require".to_owned()),
            _ => (keyword, value),
        };
        after_secret = params.store(&keyword, value, after_secret, UNKNOWN)?.is_secret;
    }
    Ok(())
}

/// A word of the query for a message; with an `@` in it, it may be the rest of
/// a password with a bare `?`.
fn shown_word(word: &str, after_secret: bool) -> String {
    mask::name(word, after_secret || word.contains('@'))
}

/// Stores a part of the URI unless it is empty.
fn store_decoded(params: &mut Params, keyword: &str, text: &str) -> Result<(), ConnInfoError> {
    let Some(parameter) = find(keyword).filter(|_| !text.is_empty()) else {
        return Ok(());
    };
    params.set(parameter, decode(text, parameter.is_secret)?);
    Ok(())
}

/// Resolves `%XX`. Blanks around the text are dropped, blanks within refused.
fn decode(text: &str, is_secret: bool) -> Result<String, ConnInfoError> {
    let syntax = |message: String| {
        ConnInfoError::new(ConnInfoErrorKind::Syntax, message).with_hint(ESCAPE_HINT)
    };
    let shown = mask::value(text, is_secret);
    let trimmed = text.trim_matches(' ');
    let mut bytes = Vec::with_capacity(trimmed.len());
    let mut rest = trimmed.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == b' ' {
            return Err(syntax(format!(
                "unexpected spaces found in \"{shown}\", use percent-encoded spaces (%20) instead"
            )));
        }
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = match rest {
            [high, low, ..] => hex(*high).zip(hex(*low)),
            _ => None,
        };
        let Some((high, low)) = digits else {
            return Err(syntax(format!("invalid percent-encoded token: \"{shown}\"")));
        };
        if high == 0 && low == 0 {
            return Err(syntax(format!(
                "forbidden value %00 in percent-encoded value: \"{shown}\""
            )));
        }
        bytes.push(high << 4 | low);
        rest = &rest[2..];
    }
    String::from_utf8(bytes)
        .map_err(|_| syntax(format!("the percent-encoded text \"{shown}\" is not UTF-8")))
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

/// Percent-encodes what is not an unreserved character of RFC 3986, so that
/// the text means itself in every part of a URI.
pub(crate) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
