//! libpq's connection grammar: from what a person gave to [`Options`].
//!
//! The sources, the strongest first, as in the PostgreSQL manual, "Connection
//! Strings" and the sections after it:
//!
//! 1. overrides (`-h`, `-p`, `-U`, `-d` and the like),
//! 2. the connection string: a URI, or keywords and values,
//! 3. the service, from `pg_service.conf`,
//! 4. the environment (`PGHOST` and the rest),
//! 5. defaults,
//! 6. for the password alone: the password file.
//!
//! Every parameter that libpq 18 knows is known here, see [`PARAMETERS`], which
//! also says which have no effect and which are refused. Nothing is connected
//! to and no name is looked up.
//!
//! Differences from libpq, all on purpose: messages hide secrets; a port or
//! address that cannot be is refused at once and not when its turn to be tried
//! comes; `client_encoding=auto` means UTF8; LDAP look-ups in service files are
//! refused; `PGSERVICE`'s system-wide file is searched where the usual
//! packages put it.

mod build;
mod checked;
mod env;
mod error;
mod keywords;
mod mask;
mod parameter;
mod passfile;
mod place;
mod service;
mod show;
mod uri;

pub use env::{Env, MapEnv, ProcessEnv};
pub use error::{ConnInfoError, ConnInfoErrorKind};
pub use parameter::{PARAMETERS, Parameter, Support, find};
pub use show::EnvPairs;

use crate::options::Options;
use parameter::Params;

/// What [`resolve`] made of its sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// Complete and checked.
    pub options: Options,
    /// What libpq would have printed on standard error, one line each, without
    /// the line's end: a password file that was left alone, for example.
    pub warnings: Vec<String>,
}

/// True where libpq would take a database name for a whole connection string:
/// it begins like a URI, or holds a `=`.
#[must_use]
pub fn is_connection_string(text: &str) -> bool {
    uri::prefix_len(text).is_some() || text.contains('=')
}

/// Makes connection options from a connection string, overrides and the surroundings.
///
/// `dsn` is a URI or a keyword string. `overrides` are pairs of a keyword
/// and a value, the later over the earlier; those with an empty value count as
/// not given. The first `dbname` among them may itself be a connection string,
/// which then counts in its place: over what came before it, under what comes
/// after (libpq's `expand_dbname`; pgbench passes host, port and user before it).
///
/// # Errors
/// [`ConnInfoError`], in libpq's words where it has some, never with a secret.
pub fn resolve(
    dsn: Option<&str>,
    overrides: &[(&str, String)],
    env: &dyn Env,
) -> Result<Resolved, ConnInfoError> {
    let mut params = match dsn {
        Some(text) => parse(text)?,
        None => Params::default(),
    };
    let mut may_expand = true;
    for (keyword, value) in overrides {
        let is_dbname = *keyword == "dbname";
        if is_dbname && may_expand && is_connection_string(value) {
            params.overlay(&parse(value)?);
        } else if !value.is_empty() {
            params.store(keyword, value.clone(), false, keywords::UNKNOWN)?;
        }
        may_expand &= !is_dbname;
    }
    add_defaults(&mut params, env)?;
    build::options(&params, env)
}

fn parse(text: &str) -> Result<Params, ConnInfoError> {
    match uri::prefix_len(text) {
        Some(prefix_len) => uri::parse(text, prefix_len),
        None => keywords::parse(text),
    }
}

/// Fills the gaps from the service, the environment and the table of defaults.
fn add_defaults(params: &mut Params, env: &dyn Env) -> Result<(), ConnInfoError> {
    service::add(params, env)?;
    let mut sslmode_is_default = false;
    for parameter in PARAMETERS {
        if params.get(parameter.keyword).is_some() {
            continue;
        }
        if let Some(value) = parameter.env.and_then(|name| env.var(name)) {
            params.set(parameter, value);
            continue;
        }
        if parameter.keyword == "sslmode" {
            // The variable that was there before PGSSLMODE; libpq still reads it.
            if env.var("PGREQUIRESSL").is_some_and(|value| value.starts_with('1')) {
                params.set(parameter, "require");
                continue;
            }
            sslmode_is_default = true;
        }
        if let Some(default) = parameter.default {
            params.set(parameter, default);
        }
    }
    if sslmode_is_default
        && params.get("sslrootcert") == Some("system")
        && let Some(parameter) = find("sslmode")
    {
        // Any host can get a certificate from a public authority, so the
        // system's store proves nothing unless the name is checked.
        params.set(parameter, "verify-full");
    }
    Ok(())
}

#[cfg(test)]
mod tests;
