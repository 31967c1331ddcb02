//! From a connected socket to a session: encryption, password, settings.

use std::io::{self, ErrorKind};
use std::net::TcpStream;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use jiff::Timestamp;
use pgdyno_wire::backend::{ErrorFields, HEADER_LEN, next_frame};
use pgdyno_wire::secret::Secret;

use crate::client::{Client, PATIENCE, put};
use crate::config::Passwords;
use crate::dialect;
use crate::refusal::Refusal;
use crate::session::Session;
use crate::shared::{CancelKey, Entry, Shared, lock};
use crate::token;
use crate::upstream::{Upstream, query};

/// Whether there is room for one more session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    Free,
    TooMany,
    RateExceeded,
}

/// PostgreSQL's limit for the first message.
const STARTUP_LEN_MAX: usize = 10_000;
/// Tokens with session credentials exceed a kilobyte; this is far above.
const PASSWORD_LEN_MAX: usize = 64 * 1024;

const SSL_REQUEST: u32 = (1234 << 16) | 5679;
const GSS_REQUEST: u32 = (1234 << 16) | 5680;
const CANCEL_REQUEST: u32 = (1234 << 16) | 5678;

/// Parameters of the first message that are no settings.
const NO_SETTINGS: [&str; 4] = ["user", "database", "options", "replication"];

/// `protocol_violation`, `sqlserver_rejected_establishment_of_sqlconnection`:
/// not recorded, PostgreSQL's own for such cases.
const REJECTED: &str = "08004";

/// Serves one client to its end.
pub(crate) fn serve(stream: TcpStream, shared: &Arc<Shared>, free: Admission) -> io::Result<()> {
    // What accept gives may inherit the listener's mode on some systems.
    stream.set_nonblocking(false)?;
    let Some((mut client, parameters)) = greet(Client::new(stream)?, shared)? else {
        return Ok(());
    };
    let mut key = CancelKey::default();
    getrandom::fill(&mut key)?;
    let made = parameters.and_then(|parameters| admit(&mut client, shared, free, &parameters, key));
    let upstream = match made {
        Ok(upstream) => upstream,
        Err(refusal) => {
            client.put_error("FATAL", &refusal);
            return client.flush();
        }
    };
    let pid = upstream.pid;
    let upstream = Arc::new(Mutex::new(upstream));
    lock(&shared.sessions).insert(pid, Entry { upstream: Arc::clone(&upstream), key });
    let ended = Session::new(client, Arc::clone(shared), upstream).run();
    lock(&shared.sessions).remove(&pid);
    ended
}

type Parameters = Vec<(String, String)>;

/// Encryption and the first real message. `None` where it was no session.
fn greet(
    mut client: Client,
    shared: &Arc<Shared>,
) -> io::Result<Option<(Client, Result<Parameters, Refusal>)>> {
    let tls = shared.tls.as_ref();
    let mut sni: Option<Option<String>> = None;
    if let Some(tls) = tls
        && client.begins_with_tls()?
    {
        let (encrypted, name) = client.start_tls(&tls.config)?;
        client = encrypted;
        sni = Some(name);
    }
    loop {
        let body = first_message(&mut client, shared)?;
        let code = u32::from_be_bytes(*body.first_chunk().ok_or(ErrorKind::InvalidData)?);
        match (code, tls) {
            (SSL_REQUEST, Some(tls)) if sni.is_none() => {
                client.send_byte(b'S')?;
                let (encrypted, name) = client.start_tls(&tls.config)?;
                client = encrypted;
                sni = Some(name);
            }
            (SSL_REQUEST | GSS_REQUEST, _) => client.send_byte(b'N')?,
            (CANCEL_REQUEST, _) => {
                cancel(shared, &body[4..]);
                return Ok(None);
            }
            _ => {
                let parameters = match (tls, &sni) {
                    (Some(_), None) => {
                        Err(rejected("unable to accept connection, TLS is required"))
                    }
                    (Some(_), Some(None)) => {
                        Err(rejected("unable to accept connection, sni was not received"))
                    }
                    _ => Ok(read_parameters(&body[4..])),
                };
                return Ok(Some((client, parameters)));
            }
        }
    }
}

fn rejected(message: &str) -> Refusal {
    Refusal::new(REJECTED, message)
}

fn first_message(client: &mut Client, shared: &Shared) -> io::Result<Vec<u8>> {
    let begin = Instant::now();
    loop {
        if let Some(body) = client.startup(STARTUP_LEN_MAX)? {
            return Ok(body);
        }
        check_patience(begin, shared)?;
    }
}

fn check_patience(begin: Instant, shared: &Shared) -> io::Result<()> {
    if begin.elapsed() > PATIENCE || shared.stop.load(Ordering::Relaxed) {
        return Err(ErrorKind::TimedOut.into());
    }
    Ok(())
}

/// Names and values, each ended by a zero byte.
fn read_parameters(body: &[u8]) -> Parameters {
    let mut texts = body.split(|byte| *byte == 0).map(|text| String::from_utf8_lossy(text));
    let mut found = Vec::new();
    while let (Some(name), Some(value)) = (texts.next(), texts.next()) {
        if name.is_empty() {
            break;
        }
        found.push((name.into_owned(), value.into_owned()));
    }
    found
}

/// Everything between the first message and ReadyForQuery.
fn admit(
    client: &mut Client,
    shared: &Arc<Shared>,
    free: Admission,
    parameters: &Parameters,
    key: CancelKey,
) -> Result<Upstream, Refusal> {
    let get = |name: &str| {
        parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    };
    let user = get("user").unwrap_or_default();
    let password = ask_password(client, shared)
        .map_err(|_| rejected("unable to accept connection, no password was received"))?;
    if shared.config.passwords == Passwords::Token {
        token::check(password.reveal(), user, Timestamp::now())?;
    }
    match free {
        Admission::Free => {}
        Admission::TooMany => {
            let words = "Unable to accept connection, too many open connections.";
            return Err(Refusal::new("53300", words));
        }
        Admission::RateExceeded => {
            let words = "Unable to accept connection, rate exceeded.";
            return Err(Refusal::new("53400", words));
        }
    }
    let database = get("database").unwrap_or(user);
    if database != "postgres" {
        return Err(Refusal::new("3D000", format!("database \"{database}\" does not exist")));
    }
    let settings = settings(parameters)?;
    let mut upstream = Upstream::connect(&shared.upstream).map_err(|error| behind(&error))?;
    let changes = become_user(&mut upstream, user, &settings)?;
    welcome(client, &upstream, user, &changes, key);
    client.flush().map_err(|_| rejected("the client has gone"))?;
    Ok(upstream)
}

fn behind(error: &pgdyno_wire::Error) -> Refusal {
    Refusal::new("08006", format!("the server behind the emulator: {error}"))
}

fn ask_password(client: &mut Client, shared: &Shared) -> io::Result<Secret> {
    /// AuthenticationCleartextPassword: safe, since TLS is on.
    const CLEARTEXT: [u8; 4] = 3_u32.to_be_bytes();
    client.put(b'R', &CLEARTEXT);
    client.flush()?;
    let begin = Instant::now();
    loop {
        match client.message(PASSWORD_LEN_MAX)? {
            Some(message) if message.tag == b'p' => {
                let text = message.body.strip_suffix(&[0]).unwrap_or(&message.body);
                return Ok(Secret::new(String::from_utf8_lossy(text)));
            }
            Some(_) => return Err(ErrorKind::InvalidData.into()),
            None => check_patience(begin, shared)?,
        }
    }
}

/// The settings that the client wants, from parameters and from `options`; one
/// that DSQL does not let be set fails the connection.
fn settings(parameters: &Parameters) -> Result<Parameters, Refusal> {
    let mut found = Parameters::new();
    for (name, value) in parameters {
        if name == "options" {
            found.extend(read_options(value));
        } else if !NO_SETTINGS.contains(&name.as_str()) && !name.starts_with("_pq_.") {
            found.push((name.clone(), value.clone()));
        }
    }
    for (name, _) in &found {
        if !dialect::is_settable(name) {
            return Err(dialect::not_settable(name));
        }
    }
    Ok(found)
}

/// `-c name=value`, `-cname=value` and `--name=value`, with `\` before spaces.
fn read_options(text: &str) -> Parameters {
    let mut words = vec![String::new()];
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => words.last_mut().into_iter().for_each(|word| word.extend(letters.next())),
            letter if letter.is_whitespace() => words.push(String::new()),
            letter => words.last_mut().into_iter().for_each(|word| word.push(letter)),
        }
    }
    let assignments = words.iter().map(|word| word.trim_start_matches("--"));
    assignments
        .map(|word| word.strip_prefix("-c").unwrap_or(word))
        .filter(|word| !word.is_empty())
        .map(|word| {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            (name.replace('-', "_"), value.to_owned())
        })
        .collect()
}

/// Puts settings and user in place; gives the ParameterStatus messages.
fn become_user(
    upstream: &mut Upstream,
    user: &str,
    settings: &Parameters,
) -> Result<Vec<u8>, Refusal> {
    let literal = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let mut sql = String::new();
    for (name, value) in settings.iter().filter(|(name, _)| name != "disable_sync_create_index") {
        let (name, value) = (literal(name), literal(value));
        sql.push_str(&format!("SELECT set_config({name}, {value}, false); "));
    }
    sql.push_str(&format!("SET SESSION AUTHORIZATION {}", literal(user)));
    let messages = query(&sql).map_err(|error| behind(&error))?;
    let reply = upstream
        .exchange(&messages, &mut |_| {}, &mut |_| Ok(()))
        .map_err(|error| behind(&error))?;
    if let Some(body) = &reply.error {
        let error = ErrorFields::new(body).to_server_error();
        return Err(Refusal::new("28000", error.message));
    }
    let mut changes = Vec::new();
    let mut rest = reply.frames.as_slice();
    while let Ok(Some(frame)) = next_frame(rest) {
        if frame.tag == b'S' {
            put(&mut changes, frame.tag, frame.body);
        }
        rest = &rest[frame.body.len() + HEADER_LEN..];
    }
    Ok(changes)
}

fn welcome(client: &mut Client, upstream: &Upstream, user: &str, changes: &[u8], key: CancelKey) {
    client.put(b'R', &[0; 4]);
    for (name, value) in &upstream.parameters {
        let value = match name.as_str() {
            "server_version" => dialect::SERVER_VERSION,
            "is_superuser" => "off",
            "session_authorization" => user,
            _ => value,
        };
        client.put(b'S', format!("{name}\0{value}\0").as_bytes());
    }
    client.output.extend_from_slice(changes);
    client.put(b'K', &[upstream.pid.to_be_bytes(), key].concat());
    client.put(b'Z', b"I");
}

/// A cancel request, handed on to the server behind.
fn cancel(shared: &Shared, body: &[u8]) {
    let Some((pid, key)) = body.split_first_chunk::<4>() else { return };
    let pid = i32::from_be_bytes(*pid);
    if lock(&shared.sessions).get(&pid).is_some_and(|entry| entry.key == *key) {
        // A statement that has ended meanwhile is no error.
        let _ = lock(&shared.control).execute(&format!("SELECT pg_cancel_backend({pid})"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Settings are found in all forms of `options`.
    #[test]
    fn options() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            read_options(r"-c a=b  -cc=d\ e --statement-timeout=1"),
            [pair("a", "b"), pair("c", "d e"), pair("statement_timeout", "1")]
        );
        let refused = settings(&vec![pair("options", "-c statement_timeout=1")]).unwrap_err();
        assert_eq!(
            refused.message,
            "setting configuration parameter \"statement_timeout\" not supported"
        );
        assert!(settings(&vec![pair("user", "a"), pair("DateStyle", "ISO")]).is_ok());
    }
}
