//! The connection service file: named sets of parameters.
//!
//! PostgreSQL manual, "The Connection Service File". As in libpq there may be
//! no blanks around `=`, no quotes, and no service within a service.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::env::Env;
use super::error::{ConnInfoError, ConnInfoErrorKind};
use super::keywords::is_blank;
use super::mask;
use super::parameter::{Params, find, names_hint};

/// More than any service file written by people; a path that leads to an
/// endless device must not fill the memory.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// Adds the parameters of the service, if one is named, where none are set.
pub(crate) fn add(params: &mut Params, env: &dyn Env) -> Result<(), ConnInfoError> {
    let named = params.get("service").map(str::to_owned);
    let Some(service) = named.or_else(|| env.var("PGSERVICE")) else {
        return Ok(());
    };
    let own = match env.var("PGSERVICEFILE") {
        Some(path) => Some(PathBuf::from(path)),
        None => env.home().map(|home| home.join(".pg_service.conf")).filter(|path| path.exists()),
    };
    let shared = match env.var("PGSYSCONFDIR") {
        Some(dir) => vec![PathBuf::from(dir)],
        None => env.service_dirs(),
    };
    let shared = shared.iter().map(|dir| dir.join("pg_service.conf")).find(|path| path.exists());
    let files: Vec<PathBuf> = own.into_iter().chain(shared).collect();
    for file in &files {
        if add_from_file(params, &service, file)? {
            return Ok(());
        }
    }
    let looked: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    let looked = if looked.is_empty() { "no file".to_owned() } else { looked.join(", ") };
    Err(fault(format!("definition of service \"{service}\" not found"))
        .with_hint(format!("looked in {looked}; PGSERVICEFILE names another file")))
}

fn fault(message: String) -> ConnInfoError {
    ConnInfoError::new(ConnInfoErrorKind::Service, message)
}

fn read(path: &Path) -> Result<String, ConnInfoError> {
    let shown = path.display();
    let mut bytes = Vec::new();
    let done =
        File::open(path).and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes));
    match done {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(fault(format!("service file \"{shown}\" not found")))
        }
        Err(error) => Err(fault(format!("could not read service file \"{shown}\": {error}"))),
        Ok(_) if bytes.len() as u64 > FILE_BYTES_MAX => {
            Err(fault(format!("service file \"{shown}\" is longer than {FILE_BYTES_MAX} bytes")))
        }
        Ok(_) => String::from_utf8(bytes)
            .map_err(|_| fault(format!("service file \"{shown}\" is not UTF-8"))),
    }
}

/// True where the file has the service.
fn add_from_file(params: &mut Params, service: &str, path: &Path) -> Result<bool, ConnInfoError> {
    let text = read(path)?;
    let mut in_service = false;
    let mut after_secret = false;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_matches(is_blank);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(header) = line.strip_prefix('[') {
            if in_service {
                break;
            }
            in_service = header.strip_prefix(service).is_some_and(|rest| rest.starts_with(']'));
        } else if in_service {
            let place = format!("service file \"{}\", line {}", path.display(), index + 1);
            after_secret = add_line(params, line, after_secret, &place)?;
        }
    }
    Ok(in_service)
}

/// Adds one `name=value`; true where it was a secret.
fn add_line(
    params: &mut Params,
    line: &str,
    after_secret: bool,
    place: &str,
) -> Result<bool, ConnInfoError> {
    let syntax = |hint: String| fault(format!("syntax error in {place}")).with_hint(hint);
    if line.starts_with("ldap") {
        return Err(ConnInfoError::new(
            ConnInfoErrorKind::Unsupported,
            format!("LDAP look-up of connection parameters is not supported in {place}"),
        ));
    }
    let Some((keyword, value)) = line.split_once('=') else {
        return Err(syntax("each line is NAME=VALUE".to_owned()));
    };
    if keyword == "service" {
        return Err(fault(format!("nested service specifications not supported in {place}")));
    }
    let Some(parameter) = find(keyword) else {
        let shown = mask::name(keyword, after_secret);
        let hint = if find(keyword.trim_end_matches(is_blank)).is_some() {
            "write NAME=VALUE without blanks around the =".to_owned()
        } else {
            format!("there is no option \"{shown}\"; {}", names_hint(keyword))
        };
        return Err(syntax(hint));
    };
    params.set_if_absent(parameter, value);
    Ok(parameter.is_secret)
}
