//! The messages that the floor sends, and the little that it reads.
//!
//! Source: PostgreSQL manual, "Message Formats".

use super::Protocol;

const STATEMENT: &str = "SELECT abalance FROM pgbench_accounts WHERE aid = ";

/// The end of every complete answer: ReadyForQuery without its last byte, the
/// transaction status.
const READY: [u8; 5] = [b'Z', 0, 0, 0, 5];

/// The start-up packet.
pub(super) fn startup(user: &str, database: &str) -> Vec<u8> {
    let mut body = 196_608_u32.to_be_bytes().to_vec();
    for text in ["user", user, "database", database, "application_name", "floor"] {
        body.extend_from_slice(text.as_bytes());
        body.push(0);
    }
    body.push(0);
    let mut packet = ((body.len() + 4) as u32).to_be_bytes().to_vec();
    packet.append(&mut body);
    packet
}

/// Parse and Sync; nothing where nothing is prepared.
pub(super) fn prepare(protocol: Protocol) -> Option<Vec<u8>> {
    (protocol == Protocol::Prepared).then(|| {
        let mut bytes = message(b'P', format!("s\0{STATEMENT}$1\0\0\0").as_bytes());
        bytes.extend(message(b'S', b""));
        bytes
    })
}

/// The request for one account, the same each time.
pub(super) fn request(protocol: Protocol, account: u64) -> Vec<u8> {
    let account = account.to_string();
    match protocol {
        Protocol::Simple => message(b'Q', format!("{STATEMENT}{account};\0").as_bytes()),
        Protocol::Prepared => {
            let mut body = b"\0s\0\0\0\0\x01".to_vec();
            body.extend_from_slice(&(account.len() as u32).to_be_bytes());
            body.extend_from_slice(account.as_bytes());
            body.extend_from_slice(&[0, 0]);
            let mut bytes = message(b'B', &body);
            bytes.extend(message(b'E', b"\0\0\0\0\0"));
            bytes.extend(message(b'S', b""));
            bytes
        }
    }
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![kind];
    bytes.extend_from_slice(&((body.len() + 4) as u32).to_be_bytes());
    bytes.extend_from_slice(body);
    bytes
}

/// True where the bytes end with ReadyForQuery.
pub(super) fn ends_ready(bytes: &[u8]) -> bool {
    bytes.len() > READY.len() && bytes[bytes.len() - READY.len() - 1..].starts_with(&READY)
}

/// What is wrong with an answer that ends, or should: the server's words of an
/// ErrorResponse, or a demand for a password. `None` where nothing is.
pub(super) fn complaint(mut bytes: &[u8]) -> Option<String> {
    while let Some((head, rest)) = bytes.split_first_chunk::<5>() {
        let [kind, length @ ..] = *head;
        let length = (u32::from_be_bytes(length) as usize).checked_sub(4)?;
        let (body, rest) = rest.split_at_checked(length)?;
        match kind {
            b'E' => return Some(server_words(body)),
            b'R' if body != [0; 4] => {
                return Some("the server wants a password; the floor knows only trust".to_owned());
            }
            _ => bytes = rest,
        }
    }
    None
}

fn server_words(body: &[u8]) -> String {
    let fields = body.split(|byte| *byte == 0);
    let wanted = fields.filter_map(|field| match field.split_first() {
        Some((b'S' | b'C' | b'M', value)) => Some(String::from_utf8_lossy(value)),
        _ => None,
    });
    wanted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The end of an answer is seen, and only the end.
    #[test]
    fn sees_the_end() {
        assert!(ends_ready(b"xxxZ\0\0\0\x05I"));
        assert!(ends_ready(b"Z\0\0\0\x05T"));
        assert!(!ends_ready(b"Z\0\0\0\x05"));
        assert!(!ends_ready(b"Z\0\0\0\x05Ix"));
        assert!(!ends_ready(b""));
    }

    /// An error's words are found behind other messages; a cut one is no panic.
    #[test]
    fn finds_the_words() {
        let mut bytes = message(b'S', b"a\0b\0");
        bytes.extend(message(b'E', b"SFATAL\0C53300\0Mtoo many clients\0\0"));
        assert_eq!(complaint(&bytes).as_deref(), Some("FATAL 53300 too many clients"));
        assert_eq!(complaint(&bytes[..bytes.len() - 3]), None);
        assert!(complaint(&message(b'R', b"\0\0\0\x0a")).is_some());
        assert_eq!(complaint(&message(b'R', b"\0\0\0\0")), None);
        assert_eq!(complaint(b"E\0\0\0\0"), None);
    }
}
