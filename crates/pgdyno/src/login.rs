//! The options about passwords and session settings, for every subcommand
//! that connects.

use std::time::Duration;

use clap::Args;
use pgdyno_target::login::{Login, lifetime};
use pgdyno_wire::secret::Secret;

/// How one logs in, and what the sessions begin with.
#[derive(Debug, Default, Args)]
pub(crate) struct LoginArgs {
    /// Run by the shell whenever a new password is needed; the first line it prints is it
    #[arg(long, value_name = "COMMAND", value_parser = secret)]
    password_command: Option<Secret>,
    /// How long such a password serves, e.g. 90s, 15min, 1h [default: 15min]
    #[arg(long, value_name = "TIME", value_parser = lifetime)]
    password_lifetime: Option<Duration>,
    /// Passwords are IAM tokens of AWS, made here; for Aurora DSQL that needs no saying
    #[arg(long, conflicts_with = "password_command")]
    aws_iam: bool,
    /// Region of these tokens [default: from the host's name, or AWS_REGION]
    #[arg(long, value_name = "REGION")]
    aws_region: Option<String>,
    /// Profile of ~/.aws whose credentials sign [default: the environment's]
    #[arg(long, value_name = "NAME")]
    aws_profile: Option<String>,
    /// A setting that every session begins with; again for more
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting)]
    pub(crate) settings: Vec<(String, String)>,
}

impl LoginArgs {
    /// What was asked for about passwords.
    pub(crate) fn login(&self) -> Login {
        Login {
            password_command: self.password_command.clone(),
            password_lifetime: self.password_lifetime,
            aws_iam: self.aws_iam.then_some(true),
            aws_region: self.aws_region.clone(),
            aws_profile: self.aws_profile.clone(),
        }
    }
}

fn secret(text: &str) -> Result<Secret, String> {
    if text.trim().is_empty() { Err("expected a command".to_owned()) } else { Ok(text.into()) }
}

/// Words of the start-up message that are no settings (PostgreSQL manual,
/// "Message Formats", StartupMessage).
const NOT_SETTINGS: [&str; 4] = ["user", "database", "options", "replication"];

/// Names that begin with this are options of the protocol.
const PROTOCOL_OPTION: &str = "_pq_.";

/// A name as PostgreSQL's settings have it: words of letters, digits, `_` and
/// `$`, joined by dots.
fn setting(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    let is_word = |word: &str| {
        word.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && word.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$')
    };
    if !name.split('.').all(is_word) {
        return Err(format!("\"{name}\" is no name of a setting; expected NAME=VALUE"));
    }
    let lower = name.to_ascii_lowercase();
    if NOT_SETTINGS.contains(&lower.as_str()) || lower.starts_with(PROTOCOL_OPTION) {
        return Err(format!("\"{name}\" is no setting but a part of the connection"));
    }
    if value.contains('\0') {
        return Err("a value has no zero byte".to_owned());
    }
    Ok((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A setting is a name and a value, which may be empty or hold anything.
    #[test]
    fn settings() {
        let pair = |name: &str, value: &str| Ok((name.to_owned(), value.to_owned()));
        assert_eq!(setting("work_mem=64MB"), pair("work_mem", "64MB"));
        assert_eq!(setting("my.own=a=b"), pair("my.own", "a=b"));
        assert_eq!(setting("search_path="), pair("search_path", ""));
        for bad in ["work_mem", "=1", "a b=1", "a..b=1", "1a=1", "User=x", "_pq_.x=1"] {
            assert!(setting(bad).is_err(), "{bad}");
        }
    }
}
