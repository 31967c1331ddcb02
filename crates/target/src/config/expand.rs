//! `${NAME}` and `${NAME:-default}` in values; `$$` is a dollar sign.

/// Fills in the variables of a text. An empty variable counts as unset for
/// `:-`, as in a shell.
///
/// # Errors
/// A sentence: the variable that is not set, or what cannot be read.
pub(super) fn expand(
    text: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        if let Some(after) = after.strip_prefix('$') {
            out.push('$');
            rest = after;
        } else if let Some(inner) = after.strip_prefix('{') {
            let (inner, after) = inner.split_once('}').ok_or("\"${\" without a closing \"}\"")?;
            out.push_str(&value_of(inner, variable)?);
            rest = after;
        } else {
            // A dollar sign on its own is common in passwords.
            out.push('$');
            rest = after;
        }
    }
    out.push_str(rest);
    Ok(out)
}

fn value_of(inner: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let (name, default) = match inner.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inner, None),
    };
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
    if !is_name {
        return Err(
            "a variable is written ${NAME} or ${NAME:-default}, and NAME consists of letters, \
             digits and underscores; a dollar sign before a brace is written $$"
                .to_owned(),
        );
    }
    match (variable(name), default) {
        (Some(value), None) => Ok(value),
        (Some(value), Some(_)) if !value.is_empty() => Ok(value),
        (_, Some(default)) => Ok(default.to_owned()),
        (None, None) => Err(format!(
            "the environment variable {name} is not set; set it, or write ${{{name}:-default}}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_a(text: &str) -> Result<String, String> {
        expand(text, &|name| match name {
            "A" => Some("1".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        })
    }

    /// Each form of the small language means what its description says.
    #[test]
    fn forms() {
        for (text, expected) in [
            ("plain", "plain"),
            ("x${A}y${A}", "x1y1"),
            ("${B:-two}", "two"),
            ("${A:-two}", "1"),
            ("${EMPTY:-two}", "two"),
            ("[${EMPTY}]", "[]"),
            ("${B:-}", ""),
            ("pa$word$", "pa$word$"),
            ("$${A}", "${A}"),
        ] {
            assert_eq!(with_a(text).as_deref(), Ok(expected), "{text}");
        }
    }

    /// A variable that is not set is named, and nothing else is shown.
    #[test]
    fn unset_is_named() {
        assert!(with_a("secret${B}").unwrap_err().contains("variable B is not set"));
        assert!(!with_a("secret${B}").unwrap_err().contains("secret"));
        assert!(with_a("${A").is_err());
        assert!(with_a("${}").is_err());
        assert!(with_a("${1A}").is_err());
    }
}
