//! Where to connect to: hosts, addresses and ports lined up, each with its password.

use std::net::IpAddr;

use super::checked::{Checked, error, integer};
use super::env::Env;
use super::error::ConnInfoErrorKind;
use super::parameter::Params;
use super::passfile::PassFile;
use crate::options::Host;
use crate::secret::Secret;

/// The port where none is given.
const PORT_DEFAULT: u16 = 5432;

/// A place to try, as texts: the password file compares ports as they were written.
pub(crate) struct Place {
    name: String,
    addr: String,
    port: String,
}

/// Lines up `host`, `hostaddr` and `port`, which may all be lists.
pub(crate) fn places(params: &Params, env: &dyn Env) -> Checked<Vec<Place>> {
    let list = |keyword: &str| -> Vec<String> {
        params
            .filled(keyword)
            .map(|text| text.split(',').map(str::to_owned).collect())
            .unwrap_or_default()
    };
    let (names, addrs, ports) = (list("host"), list("hostaddr"), list("port"));
    let conflict = |message: String| error(ConnInfoErrorKind::Conflict, message);
    if !addrs.is_empty() && !names.is_empty() && names.len() != addrs.len() {
        return Err(conflict(format!(
            "could not match {} host names to {} hostaddr values",
            names.len(),
            addrs.len()
        )));
    }
    let count = names.len().max(addrs.len()).max(1);
    if ports.len() > 1 && ports.len() != count {
        return Err(conflict(format!(
            "could not match {} port numbers to {count} hosts",
            ports.len()
        )));
    }
    let nth = |texts: &[String], index: usize| texts.get(index).cloned().unwrap_or_default();
    Ok((0..count)
        .map(|index| {
            let (mut name, addr) = (nth(&names, index), nth(&addrs, index));
            if name.is_empty() && addr.is_empty() {
                name = env.default_socket_dir();
            }
            let port = nth(&ports, if ports.len() == 1 { 0 } else { index });
            Place { name, addr, port }
        })
        .collect())
}

/// The password for each place, and warnings about the password file.
pub(crate) fn passwords(
    params: &Params,
    env: &dyn Env,
    places: &[Place],
    dbname: &str,
    user: &str,
) -> (Vec<Option<Secret>>, Vec<String>) {
    if let Some(password) = params.filled("password") {
        return (vec![Some(Secret::new(password)); places.len()], Vec::new());
    }
    let path = params.path("passfile").or_else(|| env.home().map(|home| home.join(".pgpass")));
    let Some(path) = path else {
        return (vec![None; places.len()], Vec::new());
    };
    let (file, warning) = PassFile::read(&path);
    let socket_dir = env.default_socket_dir();
    let passwords = places.iter().map(|place| {
        let host = match place.name.as_str() {
            "" => place.addr.as_str(),
            // Sockets in the usual place are local, so the file calls them so.
            name if name == socket_dir => "localhost",
            name => name,
        };
        let port = if place.port.is_empty() { "5432" } else { place.port.as_str() };
        file.find(host, port, dbname, user)
    });
    (passwords.collect(), warning.into_iter().collect())
}

pub(crate) fn hosts(places: Vec<Place>, passwords: Vec<Option<Secret>>) -> Checked<Vec<Host>> {
    places
        .into_iter()
        .zip(passwords)
        .map(|(place, password)| {
            let addr = match place.addr.as_str() {
                "" => None,
                text => Some(address(text)?),
            };
            Ok(Host { name: place.name, addr, port: port(&place.port)?, password })
        })
        .collect()
}

fn address(text: &str) -> Checked<IpAddr> {
    text.parse().map_err(|_| {
        error(
            ConnInfoErrorKind::BadValue,
            format!("could not parse network address \"{text}\": Name or service not known"),
        )
        .with_hint("hostaddr takes a numeric address without a zone; names go into host")
    })
}

fn port(text: &str) -> Checked<u16> {
    if text.is_empty() {
        return Ok(PORT_DEFAULT);
    }
    u16::try_from(integer("port", text)?).ok().filter(|port| *port > 0).ok_or_else(|| {
        error(ConnInfoErrorKind::BadValue, format!("invalid port number: \"{text}\""))
            .with_hint("a port is between 1 and 65535")
    })
}
