//! Keeps secrets out of messages about connection strings.
//!
//! libpq quotes what it could not read, password included. Here the same
//! messages are built, with the parts that may hold a secret replaced. In doubt
//! more is hidden than need be.

/// Stands where a secret was.
pub(crate) const MASK: &str = "***";

/// A name, or a word that stood where a name should be.
///
/// After a secret it may be a piece of that secret and is hidden, unless it
/// is nearly the name of a parameter. A URI with a misspelt scheme ends up here
/// as one long word, and shows its scheme only.
pub(crate) fn name(word: &str, after_secret: bool) -> String {
    if after_secret && !word.is_empty() && super::parameter::closest(word).is_none() {
        return MASK.to_owned();
    }
    match word.split_once("://") {
        Some((scheme, rest)) if !rest.is_empty() => format!("{scheme}://…"),
        _ => word.to_owned(),
    }
}

/// A value, hidden where its parameter is secret.
pub(crate) fn value(text: &str, is_secret: bool) -> &str {
    if is_secret { MASK } else { text }
}

/// A whole URI: the password and the query are hidden.
///
/// Everything from the first colon to the last `@` counts as password, since a
/// password with a bare `@`, `/` or `?` in it is a usual reason for the error.
pub(crate) fn uri(text: &str) -> String {
    let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
    let Some(at) = rest.rfind('@') else {
        return format!("{scheme}://{}", without_query(rest));
    };
    let (info, tail) = rest.split_at(at);
    let user = info.split(['?', ':']).next().unwrap_or_default();
    let user = if user.len() < info.len() { format!("{user}:{MASK}") } else { info.to_owned() };
    // With a `?` before the `@`, even the text after the `@` may be a secret.
    let tail = if info.contains('?') { "@…".to_owned() } else { without_query(tail) };
    format!("{scheme}://{user}{tail}")
}

fn without_query(text: &str) -> String {
    match text.split_once('?') {
        Some((front, query)) if !query.is_empty() => format!("{front}?…"),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No placement of a password inside a URI lets it through.
    #[test]
    fn uris_lose_their_password() {
        for (given, shown) in [
            ("postgres://[::1", "postgres://[::1"),
            ("postgres://u:secret@[::1", "postgres://u:***@[::1"),
            ("postgres://u:sec@ret@[::1", "postgres://u:***@[::1"),
            ("postgres://u:sec/ret@[::1", "postgres://u:***@[::1"),
            ("postgres://[?password=secret", "postgres://[?…"),
            ("postgres://[?password=sec@ret", "postgres://[:***@…"),
            ("postgres://[::1?password=sec@ret", "postgres://[:***@…"),
        ] {
            assert_eq!(uri(given), shown);
        }
    }
}
