//! The protocol of one session: bytes in, bytes out. No socket, no clock.
//!
//! Sources: PostgreSQL manual, "Message Flow" and "Message Formats".

use super::answer::{Answer, Column, SERVER_VERSION, statements};

/// The longest message that is taken: sysbench's and pgbench's are far below,
/// and a stranger's nonsense should not become a buffer.
const MESSAGE_BYTES_MAX: usize = 1 << 24;

const PROTOCOL_3_MAJOR: u32 = 3;
const SSL_REQUEST: u32 = 80_877_103;
const GSSENC_REQUEST: u32 = 80_877_104;
const CANCEL_REQUEST: u32 = 80_877_102;

/// The answer to `Execute` of one int4 in text format, as by far the most
/// answers are: DataRow, CommandComplete.
const INT_ROW_TEXT: &[u8] = b"D\0\0\0\x0b\0\x01\0\0\0\x011C\0\0\0\x0dSELECT 1\0";
/// The same in binary format.
const INT_ROW_BINARY: &[u8] = b"D\0\0\0\x0e\0\x01\0\0\0\x04\0\0\0\x01C\0\0\0\x0dSELECT 1\0";

/// How far a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Startup,
    Ready,
}

/// What to do with the connection after some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Go on.
    Go,
    /// Send what there is, and close.
    Close,
}

#[derive(Debug)]
struct Portal {
    name: Box<[u8]>,
    answer: Answer,
    binary: bool,
}

/// One session.
#[derive(Debug)]
pub(super) struct Session {
    phase: Phase,
    /// `I`, `T` or `E`, as in ReadyForQuery.
    status: u8,
    /// After an error in extended mode nothing counts until Sync.
    skipping: bool,
    scale: u32,
    statements: Vec<(Box<[u8]>, Answer)>,
    /// The unnamed portal is always the first.
    portals: Vec<Portal>,
    /// The beginning of a message whose end has not come.
    partial: Vec<u8>,
}

impl Session {
    pub(super) fn new(scale: u32) -> Self {
        let unnamed = Portal { name: Box::default(), answer: Answer::Empty, binary: false };
        Self {
            phase: Phase::Startup,
            status: b'I',
            skipping: false,
            scale,
            statements: Vec::new(),
            portals: vec![unnamed],
            partial: Vec::new(),
        }
    }

    /// True once the session has been authenticated.
    pub(super) fn is_ready(&self) -> bool {
        self.phase == Phase::Ready
    }

    /// Takes bytes as they come and appends the answers to `out`.
    pub(super) fn feed(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Next {
        if self.partial.is_empty() {
            return self.take(bytes, out);
        }
        let mut whole = std::mem::take(&mut self.partial);
        whole.extend_from_slice(bytes);
        self.take(&whole, out)
    }

    fn take(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) -> Next {
        loop {
            // A start-up packet has no type byte before its length.
            let head = usize::from(self.phase == Phase::Ready);
            let Some(length) = bytes.get(head..).and_then(|rest| rest.first_chunk::<4>()) else {
                break;
            };
            let length = u32::from_be_bytes(*length) as usize;
            if !(4..=MESSAGE_BYTES_MAX).contains(&length) {
                return Next::Close;
            }
            let Some((message, rest)) = bytes.split_at_checked(head + length) else { break };
            bytes = rest;
            let body = &message[head + 4..];
            let next = if head == 0 {
                self.startup(body, out)
            } else {
                self.message(message[0], body, out)
            };
            if next == Some(Next::Close) || next.is_none() {
                return Next::Close;
            }
        }
        self.partial.extend_from_slice(bytes);
        Next::Go
    }

    /// `None` where the packet makes no sense.
    fn startup(&mut self, body: &[u8], out: &mut Vec<u8>) -> Option<Next> {
        let code = u32::from_be_bytes(*body.first_chunk::<4>()?);
        match code {
            SSL_REQUEST | GSSENC_REQUEST => {
                out.push(b'N');
                return Some(Next::Go);
            }
            CANCEL_REQUEST => return Some(Next::Close),
            _ if code >> 16 != PROTOCOL_3_MAJOR => return Some(Next::Close),
            _ => {}
        }
        self.phase = Phase::Ready;
        message(out, b'R', |out| out.extend_from_slice(&[0; 4]));
        for (name, value) in [
            ("server_version", SERVER_VERSION),
            ("server_encoding", "UTF8"),
            ("client_encoding", "UTF8"),
            ("DateStyle", "ISO, MDY"),
            ("IntervalStyle", "postgres"),
            ("TimeZone", "UTC"),
            ("integer_datetimes", "on"),
            ("standard_conforming_strings", "on"),
            ("in_hot_standby", "off"),
            ("default_transaction_read_only", "off"),
            ("is_superuser", "on"),
            ("session_authorization", "postgres"),
            ("application_name", ""),
        ] {
            message(out, b'S', |out| {
                text(out, name);
                text(out, value);
            });
        }
        message(out, b'K', |out| out.extend_from_slice(&[0, 0, 0, 1, 0, 0, 0, 1]));
        self.ready(out);
        Some(Next::Go)
    }

    /// `None` where the message makes no sense.
    fn message(&mut self, kind: u8, body: &[u8], out: &mut Vec<u8>) -> Option<Next> {
        match kind {
            b'S' => {
                self.skipping = false;
                self.ready(out);
            }
            b'X' => return Some(Next::Close),
            _ if self.skipping => {}
            b'B' => self.bind(body, out)?,
            b'E' => {
                let portal = self.portal(split_text(body)?.0)?;
                let (answer, binary) = (portal.answer, portal.binary);
                self.execute(answer, binary, out);
            }
            b'D' => self.describe(body, out)?,
            b'P' => self.parse(body, out)?,
            b'Q' => self.query(split_text(body)?.0, out),
            b'C' => self.close(body, out)?,
            b'H' => {}
            _ => self.fail(out, "0A000", "the null server does not know this message"),
        }
        Some(Next::Go)
    }

    fn query(&mut self, sql: &[u8], out: &mut Vec<u8>) {
        let mut any = false;
        for sql in statements(sql) {
            any = true;
            let answer = Answer::to_statement(sql);
            if let Some(columns) = answer.columns(self.scale) {
                row_description(out, &columns, false);
            }
            self.execute(answer, false, out);
            if self.skipping {
                break;
            }
        }
        if !any {
            message(out, b'I', |_| {});
        }
        // A simple query ends its own error.
        self.skipping = false;
        self.ready(out);
    }

    fn parse(&mut self, body: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let (name, rest) = split_text(body)?;
        let answer = Answer::to_statement(split_text(rest)?.0);
        match self.statements.iter_mut().find(|(known, _)| **known == *name) {
            Some((_, old)) => *old = answer,
            None => self.statements.push((name.into(), answer)),
        }
        out.extend_from_slice(b"1\0\0\0\x04");
        Some(())
    }

    fn bind(&mut self, body: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let (portal, rest) = split_text(body)?;
        let (statement, rest) = split_text(rest)?;
        let Some(&(_, answer)) = self.statements.iter().find(|(name, _)| **name == *statement)
        else {
            self.fail(out, "26000", "prepared statement does not exist");
            return Some(());
        };
        let binary = wants_binary(rest)?;
        match self.portals.iter_mut().find(|known| *known.name == *portal) {
            Some(known) => (known.answer, known.binary) = (answer, binary),
            None => self.portals.push(Portal { name: portal.into(), answer, binary }),
        }
        out.extend_from_slice(b"2\0\0\0\x04");
        Some(())
    }

    fn describe(&mut self, body: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let (kind, rest) = body.split_first()?;
        let name = split_text(rest)?.0;
        let (answer, binary) = if *kind == b'S' {
            // No parameter is declared: clients of this server do not ask.
            let Some(found) = self.statements.iter().find(|(known, _)| **known == *name) else {
                self.fail(out, "26000", "prepared statement does not exist");
                return Some(());
            };
            out.extend_from_slice(b"t\0\0\0\x06\0\0");
            (found.1, false)
        } else {
            let portal = self.portal(name)?;
            (portal.answer, portal.binary)
        };
        match answer.columns(self.scale) {
            Some(columns) => row_description(out, &columns, binary),
            None => out.extend_from_slice(b"n\0\0\0\x04"),
        }
        Some(())
    }

    fn close(&mut self, body: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let (kind, rest) = body.split_first()?;
        let name = split_text(rest)?.0;
        if *kind == b'S' {
            self.statements.retain(|(known, _)| **known != *name);
        } else {
            self.portals.retain(|known| known.name.is_empty() || *known.name != *name);
        }
        out.extend_from_slice(b"3\0\0\0\x04");
        Some(())
    }

    fn portal(&self, name: &[u8]) -> Option<&Portal> {
        self.portals.iter().find(|known| *known.name == *name)
    }

    fn execute(&mut self, answer: Answer, binary: bool, out: &mut Vec<u8>) {
        match answer {
            Answer::Int => {
                out.extend_from_slice(if binary { INT_ROW_BINARY } else { INT_ROW_TEXT });
                return;
            }
            Answer::Empty => return message(out, b'I', |_| {}),
            Answer::Refused => return self.fail(out, "0A000", "the null server cannot do this"),
            Answer::Begin => self.status = b'T',
            Answer::Commit | Answer::Rollback => self.status = b'I',
            Answer::Count | Answer::Version | Answer::Partitions | Answer::Tag(_) => {}
        }
        if let Some(columns) = answer.columns(self.scale) {
            data_row(out, &columns, binary);
        }
        message(out, b'C', |out| text(out, answer.tag()));
    }

    fn fail(&mut self, out: &mut Vec<u8>, sqlstate: &str, words: &str) {
        self.skipping = true;
        if self.status == b'T' {
            self.status = b'E';
        }
        message(out, b'E', |out| {
            for (field, value) in
                [(b'S', "ERROR"), (b'V', "ERROR"), (b'C', sqlstate), (b'M', words)]
            {
                out.push(field);
                text(out, value);
            }
            out.push(0);
        });
    }

    fn ready(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[b'Z', 0, 0, 0, 5, self.status]);
    }
}

/// Whether a Bind's result formats ask for binary. The slice begins at the
/// parameter formats; `None` where it is cut short.
fn wants_binary(rest: &[u8]) -> Option<bool> {
    let (formats, rest) = split_count(rest)?;
    let rest = rest.get(2 * formats..)?;
    let (parameters, mut rest) = split_count(rest)?;
    for _ in 0..parameters {
        let (length, after) = rest.split_first_chunk::<4>()?;
        // A negative length is NULL and has no bytes.
        let length = usize::try_from(i32::from_be_bytes(*length)).unwrap_or(0);
        rest = after.get(length..)?;
    }
    let (formats, rest) = split_count(rest)?;
    Some(formats > 0 && rest.get(1) == Some(&1))
}

fn split_count(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (count, rest) = bytes.split_first_chunk::<2>()?;
    Some((usize::from(u16::from_be_bytes(*count)), rest))
}

fn split_text(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == 0)?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

fn text(out: &mut Vec<u8>, value: &str) {
    out.extend_from_slice(value.as_bytes());
    out.push(0);
}

fn message(out: &mut Vec<u8>, kind: u8, body: impl FnOnce(&mut Vec<u8>)) {
    out.push(kind);
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    body(out);
    // Every body written here is far below 4 GiB.
    let length = (out.len() - start) as u32;
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
}

fn row_description(out: &mut Vec<u8>, columns: &[Column], binary: bool) {
    message(out, b'T', |out| {
        out.extend_from_slice(&(columns.len() as u16).to_be_bytes());
        for column in columns {
            text(out, column.name);
            out.extend_from_slice(&[0; 6]);
            out.extend_from_slice(&column.type_oid.to_be_bytes());
            out.extend_from_slice(&column.type_size.to_be_bytes());
            out.extend_from_slice(&(-1_i32).to_be_bytes());
            out.extend_from_slice(&u16::from(binary).to_be_bytes());
        }
    });
}

fn data_row(out: &mut Vec<u8>, columns: &[Column], binary: bool) {
    message(out, b'D', |out| {
        out.extend_from_slice(&(columns.len() as u16).to_be_bytes());
        for column in columns {
            let Some(value) = &column.value else {
                out.extend_from_slice(&(-1_i32).to_be_bytes());
                continue;
            };
            let number = value.parse::<i64>().ok().filter(|_| binary && column.type_size == 8);
            let long = number.map(i64::to_be_bytes);
            let bytes = long.as_ref().map_or(value.as_bytes(), |long| long.as_slice());
            out.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
            out.extend_from_slice(bytes);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    const STARTUP: &[u8] = b"\0\0\0\x10\0\x03\0\0user\0a\0\0";

    fn packet(kind: u8, body: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        message(&mut out, kind, |out| out.extend_from_slice(body));
        out
    }

    fn kinds(mut bytes: &[u8]) -> String {
        let mut kinds = String::new();
        while let [kind, a, b, c, d, ..] = *bytes {
            kinds.push(char::from(kind));
            bytes = &bytes[1 + u32::from_be_bytes([a, b, c, d]) as usize..];
        }
        kinds
    }

    fn ready_session() -> Session {
        let mut session = Session::new(1);
        assert_eq!(session.feed(STARTUP, &mut Vec::new()), Next::Go);
        assert!(session.is_ready());
        session
    }

    /// The constants say what the general writers would say.
    #[test]
    fn constants_agree() {
        let columns = Answer::Int.columns(1).unwrap();
        let mut out = Vec::new();
        data_row(&mut out, &columns, false);
        message(&mut out, b'C', |out| text(out, "SELECT 1"));
        assert_eq!(out, INT_ROW_TEXT);
    }

    /// A prepared select is answered message by message, however it is cut.
    #[test]
    fn extended_in_pieces() {
        let mut bytes = packet(b'P', b"s\0select 1\0\0\0");
        bytes.extend(packet(b'B', b"\0s\0\0\0\0\x01\0\0\0\x017\0\0"));
        bytes.extend(packet(b'D', b"P\0"));
        bytes.extend(packet(b'E', b"\0\0\0\0\0"));
        bytes.extend(packet(b'S', b""));
        for cut in 1..bytes.len() {
            let mut session = ready_session();
            let mut out = Vec::new();
            for piece in bytes.chunks(cut) {
                assert_eq!(session.feed(piece, &mut out), Next::Go);
            }
            assert_eq!(kinds(&out), "12TDCZ", "in pieces of {cut}");
        }
    }

    /// The transaction status follows BEGIN and END, also in one query.
    #[test]
    fn transaction_status() {
        let mut session = ready_session();
        let mut out = Vec::new();
        session.feed(&packet(b'Q', b"begin; update x set y = 1\0"), &mut out);
        assert_eq!(kinds(&out), "CCZ");
        assert_eq!(out.last(), Some(&b'T'));
        session.feed(&packet(b'Q', b"end\0"), &mut out);
        assert_eq!(out.last(), Some(&b'I'));
    }

    /// After an error nothing is answered until Sync.
    #[test]
    fn error_skips_to_sync() {
        let mut session = ready_session();
        let mut bytes = packet(b'B', b"\0nowhere\0\0\0\0\0\0\0");
        bytes.extend(packet(b'E', b"\0\0\0\0\0"));
        bytes.extend(packet(b'S', b""));
        let mut out = Vec::new();
        session.feed(&bytes, &mut out);
        assert_eq!(kinds(&out), "EZ");
    }

    /// Nonsense closes the connection and does not panic.
    #[test]
    fn nonsense_closes() {
        for bytes in [&b"\0\0\0\x03abcd"[..], b"\xff\xff\xff\xffabcd", b"\0\0\0\x08\0\x02\0\0"] {
            assert_eq!(Session::new(1).feed(bytes, &mut Vec::new()), Next::Close);
        }
        for body in [&b"\0"[..], b""] {
            let closed = ready_session().feed(&packet(b'B', body), &mut Vec::new());
            assert_eq!(closed, Next::Close);
        }
    }
}
