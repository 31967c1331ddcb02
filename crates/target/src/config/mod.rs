//! `pgdyno.toml`: named targets.
//!
//! ```toml
//! [targets.prod]
//! dsn = "postgresql://bench@db.example:5432/bench?sslmode=verify-full"
//! password = "${PROD_PASSWORD}"     # ${NAME:-default} where it may be unset
//!
//! [targets.routers]
//! endpoints = ["router1:5432", "router2:5432"]
//! user = "bench"
//! dbname = "bench"
//! dialect = "postgres"
//!
//! [targets.vault]
//! dsn = "postgresql://bench@db.example/bench?sslmode=verify-full"
//! password_command = "vault read -field=password database/creds/bench"
//! password_lifetime = "15min"
//!
//! [targets.rds]
//! dsn = "postgresql://bench@x.y.eu-west-1.rds.amazonaws.com/bench"
//! auth = "aws-iam"                  # aws_region, aws_profile where needed
//! ```
//!
//! Beside these keys of pgdyno's own, every connection parameter of libpq is
//! a key, and wins over the `dsn`. Whatever is not known is an error
//! with file, line and column: a mistyped key must not pass in silence.

mod expand;
mod parse;

use std::fmt;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use pgdyno_wire::conninfo::{Env, MapEnv, resolve as resolve_conninfo};
use pgdyno_wire::options::Options;
use pgdyno_wire::secret::Secret;

use crate::dialect::Dialect;
use crate::login::{self, Login};
use crate::resolve::Target;

/// The file's name, in the working folder and below the configuration home.
pub const FILE_NAME: &str = "pgdyno.toml";
/// Stands for a variable's value where only the rest of the text matters. A
/// number, so that it passes as a port as well.
const ANY_VALUE: &str = "65001";

/// How passwords are made.
const LOGIN_KEYS: [&str; 5] =
    ["auth", "password_command", "password_lifetime", "aws_region", "aws_profile"];

/// Something in the configuration that a person should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// A password stands in plain text in a file that others may read.
    ReadablePassword {
        /// The file.
        file: PathBuf,
        /// The target's name.
        target: String,
        /// The file's permission bits.
        mode: u32,
    },
    /// What the connection options' own sources say, such as a password file
    /// with too many permissions.
    Connection(String),
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReadablePassword { file, target, mode } => write!(
                f,
                "{}: the password of target \"{target}\" stands in plain text in a file that \
                 others may read (mode {mode:04o}); say chmod 600, or put \"${{VARIABLE}}\" in \
                 its place",
                file.display()
            ),
            Self::Connection(text) => f.write_str(text),
        }
    }
}

/// What is wrong with a configuration file, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{}: {reason}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The system's words.
        reason: String,
    },
    /// A place in the file is wrong.
    #[error("{}:{line}:{column}: {message}", file.display())]
    At {
        /// The file.
        file: PathBuf,
        /// From 1.
        line: usize,
        /// In characters, from 1.
        column: usize,
        /// What is wrong, and what would be right. Never a secret.
        message: String,
    },
}

/// A value and where it stands: a byte offset in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Located {
    text: String,
    offset: usize,
}

/// One `[targets.NAME]`, its variables not yet filled in.
#[derive(Clone)]
struct Entry {
    name: String,
    offset: usize,
    dsn: Option<Located>,
    dialect: Option<&'static dyn Dialect>,
    endpoints: Vec<Located>,
    parameters: Vec<(&'static str, Located)>,
    /// [`LOGIN_KEYS`].
    login: Vec<(&'static str, Located)>,
}

/// A configuration file, read and checked.
#[derive(Clone)]
pub struct Config {
    file: PathBuf,
    text: String,
    mode: u32,
    entries: Vec<Entry>,
}

impl fmt::Debug for Config {
    /// Without the text: it may hold passwords.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.names().collect();
        f.debug_struct("Config").field("file", &self.file).field("targets", &names).finish()
    }
}

impl Config {
    /// Reads a file; `None` where there is none.
    ///
    /// # Errors
    /// The file cannot be read, or is wrong.
    pub fn read(file: &Path) -> Result<Option<Self>, ConfigError> {
        let unreadable = |error: std::io::Error| ConfigError::Unreadable {
            file: file.to_owned(),
            reason: error.to_string(),
        };
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(error)),
        };
        let mode = fs::metadata(file).map_err(unreadable)?.permissions().mode() & 0o7777;
        Self::from_text(file, text, mode).map(Some)
    }

    fn from_text(file: &Path, text: String, mode: u32) -> Result<Self, ConfigError> {
        let entries =
            parse::entries(&text).map_err(|(offset, message)| at(file, &text, offset, message))?;
        Ok(Self { file: file.to_owned(), text, mode, entries })
    }

    /// The file it was read from.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The names of its targets, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.name.as_str())
    }

    /// The target of this name, its variables filled in from `env`; `None`
    /// where the file has none of that name.
    ///
    /// # Errors
    /// A variable is not set, or the options are wrong; with the place.
    pub fn target(
        &self,
        name: &str,
        env: &dyn Env,
    ) -> Result<Option<(Target, Vec<Warning>)>, ConfigError> {
        let Some(entry) = self.entries.iter().find(|entry| entry.name == name) else {
            return Ok(None);
        };
        let mut warnings = Vec::new();
        if self.mode & 0o044 != 0 && has_plain_password(entry) {
            warnings.push(Warning::ReadablePassword {
                file: self.file.clone(),
                target: name.to_owned(),
                mode: self.mode,
            });
        }
        let options = self.options(entry, env, &mut warnings)?;
        let login = self.login(entry, env)?;
        let target = Target { name: name.to_owned(), options, dialect: entry.dialect, login };
        Ok(Some((target, warnings)))
    }

    fn options(
        &self,
        entry: &Entry,
        env: &dyn Env,
        warnings: &mut Vec<Warning>,
    ) -> Result<Vec<Options>, ConfigError> {
        let dsn = entry.dsn.as_ref().map(|dsn| self.expand(dsn, env)).transpose()?;
        let mut common = Vec::new();
        for (keyword, value) in &entry.parameters {
            common.push((*keyword, self.expand(value, env)?));
        }
        let mut all = Vec::new();
        let mut one = |own: &[(&'static str, String)], offset: usize| {
            // A later mention wins over an earlier one.
            let together = [common.as_slice(), own].concat();
            let resolved = resolve_conninfo(dsn.as_deref(), &together, env)
                .map_err(|error| self.at(offset, with_hint(error.message(), error.hint())))?;
            warnings.extend(resolved.warnings.into_iter().map(Warning::Connection));
            all.push(resolved.options);
            Ok::<(), ConfigError>(())
        };
        for endpoint in &entry.endpoints {
            let text = self.expand(endpoint, env)?;
            one(&host_and_port(&text), endpoint.offset)?;
        }
        if entry.endpoints.is_empty() {
            one(&[], entry.dsn.as_ref().map_or(entry.offset, |dsn| dsn.offset))?;
        }
        Ok(all)
    }

    fn login(&self, entry: &Entry, env: &dyn Env) -> Result<Login, ConfigError> {
        let mut login = Login::default();
        for (key, value) in &entry.login {
            let at = |message: String| self.at(value.offset, message);
            if *key == "password_command" {
                // The shell fills in its own variables.
                login.password_command = Some(Secret::new(value.text.clone()));
                continue;
            }
            let text = self.expand(value, env)?;
            match *key {
                "auth" => login.aws_iam = Some(auth(&text).map_err(at)?),
                "password_lifetime" => {
                    login.password_lifetime = Some(login::lifetime(&text).map_err(at)?);
                }
                "aws_region" => login.aws_region = Some(text),
                _ => login.aws_profile = Some(text),
            }
        }
        Ok(login)
    }

    fn expand(&self, value: &Located, env: &dyn Env) -> Result<String, ConfigError> {
        expand::expand(&value.text, &|name| env.var(name))
            .map_err(|message| self.at(value.offset, message))
    }

    fn at(&self, offset: usize, message: String) -> ConfigError {
        at(&self.file, &self.text, offset, message)
    }
}

/// Whether passwords are tokens.
fn auth(text: &str) -> Result<bool, String> {
    match text {
        "aws-iam" => Ok(true),
        "password" => Ok(false),
        _ => Err(format!("auth is \"password\" or \"aws-iam\", not \"{text}\"")),
    }
}

/// A message and, on a line of its own, the way out.
pub(crate) fn with_hint(message: &str, hint: Option<&str>) -> String {
    hint.map_or_else(|| message.to_owned(), |hint| format!("{message}\nhint: {hint}"))
}

/// `host`, `host:port`, `[address]:port`, or a socket folder.
fn host_and_port(text: &str) -> Vec<(&'static str, String)> {
    let bracketed = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let (host, port) = match bracketed {
        Some((host, rest)) => (host, rest.strip_prefix(':')),
        // Two colons without brackets are an IPv6 address on its own.
        None => match text.split_once(':') {
            Some((host, port)) if !port.contains(':') => (host, Some(port)),
            _ => (text, None),
        },
    };
    let host = ("host", host.to_owned());
    port.map_or_else(|| vec![host.clone()], |port| vec![host.clone(), ("port", port.to_owned())])
}

/// True where a password stands in the file itself and not in a variable.
fn has_plain_password(entry: &Entry) -> bool {
    let is_plain = |text: &str| {
        expand::expand(text, &|_| Some(ANY_VALUE.to_owned()))
            .is_ok_and(|text| !text.is_empty() && !text.contains(ANY_VALUE))
    };
    let secret_key = |keyword: &str| matches!(keyword, "password" | "sslpassword");
    let in_keys =
        entry.parameters.iter().any(|(key, value)| secret_key(key) && is_plain(&value.text));
    let in_dsn = entry.dsn.as_ref().is_some_and(|dsn| {
        let text = expand::expand(&dsn.text, &|_| Some(ANY_VALUE.to_owned())).unwrap_or_default();
        resolve_conninfo(Some(&text), &[], &MapEnv::default()).is_ok_and(|resolved| {
            resolved
                .options
                .hosts
                .iter()
                .filter_map(|host| host.password.as_ref())
                .any(|password| !password.is_empty() && !password.reveal().contains(ANY_VALUE))
        })
    });
    in_keys || in_dsn
}

fn at(file: &Path, text: &str, offset: usize, message: String) -> ConfigError {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    ConfigError::At {
        file: file.to_owned(),
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
        message,
    }
}

#[cfg(test)]
mod tests;
