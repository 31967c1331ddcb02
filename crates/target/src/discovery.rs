//! The endpoints of a target, learnt from the target itself.
//!
//! A dialect says what to ask ([`Discovery`]); the answer is read here. Whether
//! an address can be reached from this machine is for the caller to try: many
//! clusters name themselves by addresses of their own network.

use std::net::IpAddr;

use pgdyno_wire::Connection;
use pgdyno_wire::options::Host;

/// How a kind of database tells of its endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Discovery {
    /// Rows of one to three columns: host (or `host:port`); port, may be null;
    /// another address of the same endpoint, may be null or empty.
    pub query: &'static str,
    /// Where the answer comes from, for people.
    pub by: &'static str,
    /// The endpoint that was given is not among those that are told and serves
    /// as well as they do.
    pub keeps_given: bool,
}

/// An endpoint that the target told of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// Its host and port, with the password of the given one.
    pub host: Host,
    /// Another address for it, where the first cannot be reached.
    pub other: Option<Host>,
}

/// What became of the question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// Endpoints to be tried, each once.
    pub told: Vec<Told>,
    /// Endpoints that cannot be meant for this machine, each with the reason.
    pub left_out: Vec<String>,
}

/// Asks a live server. `given` is the endpoint that the session goes to.
///
/// # Errors
/// The server's words: the question is refused, or the connection is lost.
pub fn discover(
    connection: &mut Connection,
    discovery: &Discovery,
    given: &Host,
) -> Result<Answer, String> {
    let results = connection.simple_query(discovery.query).map_err(|error| error.to_string())?;
    Ok(read(results.into_iter().flat_map(|result| result.rows), given))
}

/// Reads the rows of the answer.
fn read(rows: impl IntoIterator<Item = Vec<Option<String>>>, given: &Host) -> Answer {
    let mut answer = Answer::default();
    for row in rows {
        let column = |at: usize| {
            row.get(at).and_then(Option::as_deref).map(str::trim).filter(|text| !text.is_empty())
        };
        let Some(first) = column(0) else { continue };
        let (name, own_port) = split_port(first);
        let port = column(1).and_then(|port| port.parse().ok()).or(own_port).unwrap_or(given.port);
        let host = host(name, port, given);
        if is_loopback(name) && !is_on_this_machine(given) {
            let reason = "it is an address within the server's own machine";
            answer.left_out.push(format!("{name}:{port}: {reason}"));
            continue;
        }
        if answer.told.iter().any(|told| told.host == host) {
            continue;
        }
        let other = column(2).filter(|other| *other != name).map(|other| {
            let (name, own_port) = split_port(other);
            self::host(name, own_port.unwrap_or(port), given)
        });
        answer.told.push(Told { host, other });
    }
    answer
}

fn host(name: &str, port: u16, given: &Host) -> Host {
    Host { name: name.to_owned(), addr: None, port, password: given.password.clone() }
}

/// `host:port`, `[address]:port`; an address with several colons has no port.
fn split_port(text: &str) -> (&str, Option<u16>) {
    if let Some((host, rest)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return (host, rest.strip_prefix(':').and_then(|port| port.parse().ok()));
    }
    match text.split_once(':') {
        Some((host, port)) if !port.contains(':') => (host, port.parse().ok()),
        _ => (text, None),
    }
}

fn is_loopback(name: &str) -> bool {
    name == "localhost" || name.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// True where the given endpoint is this machine by its name alone.
fn is_on_this_machine(given: &Host) -> bool {
    given.is_unix()
        || given.addr.map_or_else(|| is_loopback(&given.name), |address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgdyno_wire::secret::Secret;

    fn given(name: &str) -> Host {
        let password = Some(Secret::new("s3cret"));
        Host { name: name.to_owned(), addr: None, port: 5433, password }
    }

    fn row(columns: &[Option<&str>]) -> Vec<Option<String>> {
        columns.iter().map(|column| column.map(str::to_owned)).collect()
    }

    fn places(answer: &Answer) -> Vec<String> {
        answer.told.iter().map(|told| format!("{}:{}", told.host.name, told.host.port)).collect()
    }

    /// Ports come from their column, from the address, or from the given
    /// endpoint; each endpoint counts once and keeps the password.
    #[test]
    fn rows_are_read() {
        let rows = [
            row(&[Some("10.0.0.1"), Some("5444"), Some("8.8.8.8")]),
            row(&[Some("node2:26257")]),
            row(&[Some("[fe80::2]:26258"), None]),
            row(&[Some("fe80::3"), None, Some("")]),
            row(&[Some("router"), None]),
            row(&[Some("router"), Some("5433")]),
            row(&[None, Some("1")]),
            row(&[]),
        ];
        let answer = read(rows, &given("db.example"));
        let expected =
            ["10.0.0.1:5444", "node2:26257", "fe80::2:26258", "fe80::3:5433", "router:5433"];
        assert_eq!(places(&answer), expected);
        assert_eq!(answer.told[0].other.as_ref().unwrap().name, "8.8.8.8");
        assert_eq!(answer.told[0].other.as_ref().unwrap().port, 5444);
        assert!(answer.told[3].other.is_none());
        assert!(answer.told.iter().all(|told| told.host.password.is_some()));
    }

    /// An address that only the server itself can reach is left out, unless
    /// the server is on this machine.
    #[test]
    fn loopback_of_others_is_left_out() {
        let rows = || [row(&[Some("localhost"), Some("1")]), row(&[Some("127.0.0.2"), Some("2")])];
        let far = read(rows(), &given("db.example"));
        assert!(far.told.is_empty());
        assert_eq!(far.left_out.len(), 2, "{:?}", far.left_out);
        for near in ["localhost", "127.0.0.1", "::1", "/run/postgresql"] {
            assert_eq!(places(&read(rows(), &given(near))), ["localhost:1", "127.0.0.2:2"]);
        }
    }
}
