//! Takes secrets out of texts before they are kept.
//!
//! For command lines, which hold connection URIs and keyword strings as typed.
//! It is a net below the types that hold secrets inside the program, not a
//! replacement: it knows the places where a password can be typed (the user
//! part of a URI, a parameter of a URI, a keyword, an option) and nothing else.

use std::borrow::Cow;
use std::sync::Mutex;

/// What stands in place of a secret.
pub const MASK: &str = "***";

/// A key that ends in one of these has a secret as its value. The endings
/// cover `password`, `sslpassword`, `PGPASSWORD`, `--auth-token`.
const SECRET_ENDINGS: [&str; 4] = ["password", "passwd", "secret", "token"];

/// A setting whose name holds one of these words may be a secret: settings of
/// one's own are named freely, and their values hold anything.
const SECRET_WORDS: [&str; 10] =
    ["password", "passwd", "pwd", "secret", "token", "credential", "key", "auth", "bearer", "jwt"];

/// An option whose value is a setting.
const SETTING_OPTION: &str = "--set";

/// An option whose whole value is kept back: people write secrets into
/// commands, in ways that nobody can foresee.
const COMMAND_OPTION: &str = "--password-command";

/// Values of secret settings of this process. A server quotes a value that it
/// refuses, in words of its own language.
static HELD_BACK: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// A value shorter than that is masked only in quotes: it may be a word or a
/// number that stands for itself.
const MASKED_ANYWHERE_LEN_MIN: usize = 8;

/// From now on a setting's value is masked by [`redact`] and [`without_held_back`]
/// where its name says that it may be a secret.
pub fn hold_back(name: &str, value: &str) {
    if is_secret_setting(name)
        && !value.is_empty()
        && let Ok(mut held) = HELD_BACK.lock()
    {
        held.push(value.to_owned());
    }
}

/// A text without the values of secret settings: for whatever is shown.
#[must_use]
pub fn without_held_back(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    let Ok(held) = HELD_BACK.lock() else { return text };
    for value in held.iter() {
        if value.len() >= MASKED_ANYWHERE_LEN_MIN && text.contains(value) {
            text = Cow::Owned(text.replace(value, MASK));
        }
        for quote in ['"', '\'', '`'] {
            let quoted = format!("{quote}{value}{quote}");
            if text.contains(&quoted) {
                text = Cow::Owned(text.replace(&quoted, &format!("{quote}{MASK}{quote}")));
            }
        }
    }
    text
}

fn is_secret_setting(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    SECRET_WORDS.iter().any(|word| lower.contains(word))
}

/// The arguments of a command line without secrets.
#[must_use]
pub fn redact_args<S: AsRef<str>>(args: &[S]) -> Vec<String> {
    let mut kept = Vec::with_capacity(args.len());
    let mut value_is_secret = false;
    for arg in args {
        let arg = arg.as_ref();
        if value_is_secret && !arg.starts_with('-') {
            kept.push(MASK.to_owned());
            value_is_secret = false;
            continue;
        }
        if let Some(setting) = setting_of(kept.last().map(String::as_str), arg) {
            kept.push(arg.replace(setting, &redact_setting(setting)));
            continue;
        }
        value_is_secret = arg.starts_with("--") && is_secret_key(arg) || arg == COMMAND_OPTION;
        match arg.split_once('=') {
            Some((COMMAND_OPTION, _)) => kept.push(format!("{COMMAND_OPTION}={MASK}")),
            _ => kept.push(redact(arg)),
        }
    }
    kept
}

/// The setting in an argument, where it holds one.
fn setting_of<'a>(before: Option<&str>, arg: &'a str) -> Option<&'a str> {
    let joined = arg.strip_prefix(SETTING_OPTION).and_then(|rest| rest.strip_prefix('='));
    joined.or_else(|| (before == Some(SETTING_OPTION)).then_some(arg))
}

/// `name=value` of a session's setting, its value kept back where the name says
/// that it may be a secret.
#[must_use]
pub fn redact_setting(setting: &str) -> String {
    let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
    let value = if is_secret_setting(name) { MASK.to_owned() } else { redact(value) };
    format!("{name}={value}")
}

/// One text without the secrets of connection URIs and `key=value` pairs, and
/// without those of settings.
#[must_use]
pub fn redact(text: &str) -> String {
    mask_values(&mask_userinfo(&without_held_back(text)))
}

fn is_secret_key(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    SECRET_ENDINGS.iter().any(|ending| key.ends_with(ending))
}

/// Masks the password in `scheme://user:password@host`, wherever one begins.
fn mask_userinfo(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(scheme_end) = rest.find("://") {
        let (head, tail) = rest.split_at(scheme_end + 3);
        masked.push_str(head);
        let uri_end = tail.find(char::is_whitespace).unwrap_or(tail.len());
        let (uri, after) = tail.split_at(uri_end);
        match password_span(uri) {
            Some((start, end)) => {
                masked.push_str(&uri[..start]);
                masked.push_str(MASK);
                masked.push_str(&uri[end..]);
            }
            None => masked.push_str(uri),
        }
        rest = after;
    }
    masked.push_str(rest);
    masked
}

/// Where the password lies in what follows `://`.
fn password_span(uri: &str) -> Option<(usize, usize)> {
    // libpq ends the user part at the first `@` before a `/`. A password with
    // an unencoded `@` or `/` is a mistake, but a secret all the same: so the
    // last `@` counts, and one behind a `/` as well, unless a port and a path
    // explain the text.
    let authority = &uri[..uri.find('/').unwrap_or(uri.len())];
    let colon = authority.find(':')?;
    if let Some(at) = authority.rfind('@') {
        return (colon < at).then_some((colon + 1, at));
    }
    let port = &authority[colon + 1..];
    let is_port = port.split(',').all(|part| {
        part.rsplit(':').next().unwrap_or_default().bytes().all(|byte| byte.is_ascii_digit())
    });
    let before_parameters = &uri[..uri.find('?').unwrap_or(uri.len())];
    match before_parameters.rfind('@') {
        Some(at) if !is_port && colon < at => Some((colon + 1, at)),
        _ => None,
    }
}

/// Masks the values of secret keys in `key=value` pairs, with or without
/// blanks around the sign and with libpq's quotes.
fn mask_values(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(sign) = rest.find('=') {
        let (head, tail) = rest.split_at(sign + 1);
        masked.push_str(head);
        rest = tail;
        let key_text = head[..sign].trim_end();
        let key_start = key_text
            .rfind(|c: char| c.is_whitespace() || "?&'\",;".contains(c))
            .map_or(0, |at| at + 1);
        if is_secret_key(key_text.get(key_start..).unwrap_or(key_text)) {
            let blanks = rest.len() - rest.trim_start().len();
            masked.push_str(&rest[..blanks]);
            rest = &rest[blanks..];
            masked.push_str(MASK);
            rest = &rest[value_len(rest)..];
        }
    }
    masked.push_str(rest);
    masked
}

/// Length in bytes of the value at the start of a text.
fn value_len(text: &str) -> usize {
    let quoted = text.starts_with('\'');
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(usize::from(quoted)) {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if quoted && c == '\'' {
            return at + 1;
        } else if !quoted && (c.is_whitespace() || c == '&') {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A setting that may hold a secret is kept back as a whole, blanks and all,
    /// wherever it stands; others are told.
    #[test]
    fn settings() {
        for (setting, kept) in [
            ("work_mem=64MB", "work_mem=64MB"),
            ("search_path=a, b", "search_path=a, b"),
            ("my.own=", "my.own="),
            ("app.jwt_secret=a b=c", "app.jwt_secret=***"),
            ("App.ApiKey='x y'", "App.ApiKey=***"),
            ("my.tokens=1", "my.tokens=***"),
            ("my.auth=x", "my.auth=***"),
            ("app.Bearer=x", "app.Bearer=***"),
            ("db_pwd=x", "db_pwd=***"),
            ("app.jwt=x", "app.jwt=***"),
            ("my.url=postgresql://u:hush@h/d", "my.url=postgresql://u:***@h/d"),
        ] {
            assert_eq!(redact_setting(setting), kept);
            assert_eq!(redact_args(&["--set", setting]), ["--set", kept]);
            assert_eq!(redact_args(&[format!("--set={setting}")]), [format!("--set={kept}")]);
        }
    }

    /// A server's words lose the value of a secret setting, a short one only in
    /// quotes, and no other value.
    #[test]
    fn refused_values() {
        hold_back("my.api_key", "hu4h");
        hold_back("my.jwt", "eyJhbGciOi hush");
        hold_back("my.color", "vermilion");
        hold_back("my.key", "");
        let words = "invalid value for parameter \"my.api_key\": \"hu4h\", \u{ab}eyJhbGciOi hush\u{bb}, \
                     not \"vermilion\" nor hu4h";
        let told = words.replace("\"hu4h\"", "\"***\"").replace("eyJhbGciOi hush", "***");
        assert_eq!(without_held_back(words), told);
        assert_eq!(redact(words), told);
    }

    /// Secrets go, everything else stays, in every place where one can stand.
    #[test]
    fn masks_only_secrets() {
        for (typed, kept) in [
            ("postgres://bob:hush@db:5432/x", "postgres://bob:***@db:5432/x"),
            ("postgresql://bob@db/x?password=hush&a=b", "postgresql://bob@db/x?password=***&a=b"),
            ("postgres://bob:hu@sh@db/x", "postgres://bob:***@db/x"),
            ("postgres://bob:hu/sh@db/x", "postgres://bob:***@db/x"),
            ("postgres://bob:h?sh@db/x", "postgres://bob:***@db/x"),
            ("postgres://db:5432/x@y", "postgres://db:5432/x@y"),
            ("postgres://a:1,b:2/x?user=a@b", "postgres://a:1,b:2/x?user=a@b"),
            ("host=db password=hush dbname=x", "host=db password=*** dbname=x"),
            ("host=db password = 'hu \\'sh' dbname=x", "host=db password = *** dbname=x"),
            ("sslpassword=hush", "sslpassword=***"),
            ("PGPASSWORD=hush", "PGPASSWORD=***"),
            ("--scale=10", "--scale=10"),
            ("--password-command=vault read x", "--password-command=vault read x"),
            ("passfile=/home/x/.pgpass", "passfile=/home/x/.pgpass"),
        ] {
            assert_eq!(redact(typed), kept);
        }
    }

    /// An option's value is a secret even as an argument of its own.
    #[test]
    fn masks_the_next_argument() {
        let args = ["run", "--password", "hush", "--token", "-c", "4", "--auth-token=hush"];
        let kept = ["run", "--password", "***", "--token", "-c", "4", "--auth-token=***"];
        assert_eq!(redact_args(&args), kept);
        let command = ["--password-command", "echo hush", "--password-command=echo a=b hush"];
        let kept = ["--password-command", "***", "--password-command=***"];
        assert_eq!(redact_args(&command), kept);
    }

    proptest! {
        /// No text makes it panic, and a password in a URI never survives.
        #[test]
        fn never_keeps_a_password(text in ".*", secret in "[a-z]{8,12}Z") {
            let _ = redact(&text);
            let uri = redact(&format!("{text} postgres://user:{secret}@host/db"));
            prop_assert!(!uri.contains(&secret), "{uri}");
        }
    }
}
