//! Why a command ended without doing what was asked, and its exit code.

use std::fmt;

/// What kind of failure it is: the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The words on the command line, or a file, are wrong.
    Usage,
    /// The run was not completed, or an audit failed.
    NotCompleted,
}

/// A failure with its text, which is for people: what, where, the server's
/// words, and the way out on a line that begins with `hint:`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) kind: Kind,
    text: String,
    /// Told already; nothing more is to be printed.
    pub(crate) told: bool,
}

impl Failure {
    /// Something that the person can put right on the command line.
    pub(crate) fn usage(text: impl fmt::Display) -> Self {
        Self { kind: Kind::Usage, text: text.to_string(), told: false }
    }

    /// Something that went wrong while working.
    pub(crate) fn not_completed(text: impl fmt::Display) -> Self {
        Self { kind: Kind::NotCompleted, text: text.to_string(), told: false }
    }

    /// As [`Failure::not_completed`], but a report has said it all.
    pub(crate) fn reported() -> Self {
        Self { kind: Kind::NotCompleted, text: String::new(), told: true }
    }

    /// The exit code: 1 for usage and input, 2 for all else.
    pub(crate) fn exit_code(&self) -> u8 {
        match self.kind {
            Kind::Usage => 1,
            Kind::NotCompleted => 2,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A failed connection, with what the server said of itself.
pub(crate) fn connecting(error: &pgdyno_wire::Error) -> Failure {
    let mut text = error.to_string();
    if let Some(sqlstate) = error.sqlstate() {
        text.push_str(&format!("\nSQLSTATE: {sqlstate}"));
        if let Some(hint) = hint_for(sqlstate.as_str()) {
            text.push_str(&format!("\nhint: {hint}"));
        }
    }
    if error.is_config() { Failure::usage(text) } else { Failure::not_completed(text) }
}

/// The way out of what servers say most often.
pub(crate) fn hint_for(sqlstate: &str) -> Option<&'static str> {
    Some(match sqlstate {
        "28P01" => "set PGPASSWORD, use a password file, or name a user with -U or in the URI",
        "28000" => "the server's pg_hba.conf does not admit this user, host and encryption",
        "3D000" => "name another database in the target, or create this one first",
        "53300" => "use fewer clients (-c), or raise the server's max_connections",
        "57P03" => "the server is starting or stopping; try again in a moment",
        _ => return None,
    })
}
