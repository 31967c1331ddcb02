//! From TOML to entries, with the place of everything that is wrong.
//!
//! Walks the parsed document by hand: the keys of a target are libpq's
//! parameters, which a derived structure would have to repeat, and its errors
//! could not list them.

use pgdyno_wire::conninfo::{PARAMETERS, find};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Entry, LOGIN_KEYS, Located};
use crate::dialect::dialect_by_name;
use crate::resolve::EMBEDDED;

/// An offset in bytes, and what is wrong there.
type Fault = (usize, String);

/// The keys of a target that are not connection parameters.
const OWN_KEYS: [&str; 3] = ["dsn", "endpoints", "dialect"];

pub(super) fn entries(text: &str) -> Result<Vec<Entry>, Fault> {
    // The parser's own rendering quotes the line, which may hold a password.
    let document = DeTable::parse(text).map_err(|error| {
        (error.span().map_or(0, |span| span.start), error.message().replace('\n', "; "))
    })?;
    let mut all = Vec::new();
    for (key, value) in document.get_ref() {
        let offset = key.span().start;
        if key.get_ref() != "targets" {
            let message = format!("unknown key \"{}\"; there is: targets", key.get_ref());
            return Err((offset, message));
        }
        let DeValue::Table(targets) = value.get_ref() else {
            return Err((offset, "targets is a table: write [targets.NAME]".to_owned()));
        };
        for (name, value) in targets {
            all.push(entry(name.get_ref(), name.span().start, value)?);
        }
    }
    Ok(all)
}

fn entry(name: &str, offset: usize, value: &Spanned<DeValue<'_>>) -> Result<Entry, Fault> {
    let DeValue::Table(table) = value.get_ref() else {
        return Err((offset, format!("a target is a table: write [targets.{name}]")));
    };
    if name == EMBEDDED {
        let message = format!("the name \"{EMBEDDED}\" is taken: it is the throw-away server");
        return Err((offset, message));
    }
    if name.is_empty() || pgdyno_wire::conninfo::is_connection_string(name) {
        let message = "a target's name is not empty, contains no \"=\" and is no URI: it could \
                       not be told from a connection string";
        return Err((offset, message.to_owned()));
    }
    let mut entry = Entry {
        name: name.to_owned(),
        offset,
        dsn: None,
        dialect: None,
        endpoints: Vec::new(),
        parameters: Vec::new(),
        login: Vec::new(),
    };
    for (key, value) in table {
        set(&mut entry, key.get_ref(), key.span().start, value)?;
    }
    refuse_two_places(&entry)?;
    Ok(entry)
}

fn set(
    entry: &mut Entry,
    key: &str,
    key_offset: usize,
    value: &Spanned<DeValue<'_>>,
) -> Result<(), Fault> {
    match key {
        "dsn" => entry.dsn = Some(scalar(key, value)?),
        "dialect" => {
            let name = scalar(key, value)?;
            let dialect = dialect_by_name(&name.text).map_err(|e| (name.offset, e.to_string()))?;
            entry.dialect = Some(dialect);
        }
        "endpoints" => entry.endpoints = list(value)?,
        _ => match (login_key(key), find(key)) {
            (Some(key), _) => entry.login.push((key, scalar(key, value)?)),
            (None, Some(parameter)) => {
                entry.parameters.push((parameter.keyword, scalar(key, value)?));
            }
            (None, None) => return Err((key_offset, unknown_key(key))),
        },
    }
    Ok(())
}

fn login_key(key: &str) -> Option<&'static str> {
    LOGIN_KEYS.into_iter().find(|own| *own == key)
}

fn unknown_key(key: &str) -> String {
    let parameters = PARAMETERS.iter().map(|parameter| parameter.keyword);
    let own = OWN_KEYS.into_iter().chain(LOGIN_KEYS);
    let known: Vec<&str> = own.chain(parameters).collect();
    format!("unknown key \"{key}\" of a target; there are: {}", known.join(", "))
}

/// With endpoints, each is the place; a second place would be lost silently.
fn refuse_two_places(entry: &Entry) -> Result<(), Fault> {
    if entry.endpoints.is_empty() {
        return Ok(());
    }
    match entry.parameters.iter().find(|(key, _)| matches!(*key, "host" | "hostaddr")) {
        Some((key, value)) => {
            Err((value.offset, format!("a target has either endpoints or a {key}, not both")))
        }
        None => Ok(()),
    }
}

fn scalar(key: &str, value: &Spanned<DeValue<'_>>) -> Result<Located, Fault> {
    let offset = value.span().start;
    let text = match value.get_ref() {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) if number.radix() == 10 => number.as_str().to_owned(),
        // As libpq writes switches.
        DeValue::Boolean(on) => u8::from(*on).to_string(),
        other => {
            let message =
                format!("{key} is a text, a number or a boolean, not {}", other.type_str());
            return Err((offset, message));
        }
    };
    if text.contains('\0') {
        return Err((offset, format!("{key} contains a zero byte")));
    }
    Ok(Located { text, offset })
}

fn list(value: &Spanned<DeValue<'_>>) -> Result<Vec<Located>, Fault> {
    let fault = "endpoints is a list of texts, at least one: [\"host:port\", …]";
    let DeValue::Array(items) = value.get_ref() else {
        return Err((value.span().start, fault.to_owned()));
    };
    if items.is_empty() {
        return Err((value.span().start, fault.to_owned()));
    }
    items
        .iter()
        .map(|item| match item.get_ref() {
            DeValue::String(text) if !text.trim().is_empty() => {
                Ok(Located { text: text.to_string(), offset: item.span().start })
            }
            _ => Err((item.span().start, fault.to_owned())),
        })
        .collect()
}
