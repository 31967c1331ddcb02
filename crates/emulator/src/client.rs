//! The client's side of a session: a socket, with TLS or not, and messages.
//!
//! Blocking, with a short read timeout, so that a session notices when the
//! emulator stops or its own time is over.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::refusal::Refusal;

/// How long a read waits before the session looks around.
const TICK: Duration = Duration::from_millis(250);

/// How long a handshake or a write may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Output beyond this goes out before the answer is complete.
const OUTPUT_HIGH: usize = 1 << 20;

/// A message from the client.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) tag: u8,
    pub(crate) body: Vec<u8>,
}

enum Stream {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ServerConnection, TcpStream>>),
}

/// The client.
pub(crate) struct Client {
    stream: Stream,
    input: Vec<u8>,
    /// What is to be sent with the next flush.
    pub(crate) output: Vec<u8>,
}

impl Client {
    pub(crate) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TICK))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { stream: Stream::Plain(stream), input: Vec::new(), output: Vec::new() })
    }

    /// True where the next byte begins TLS without a request for it.
    pub(crate) fn begins_with_tls(&self) -> io::Result<bool> {
        /// The first byte of a TLS handshake record.
        const HANDSHAKE: u8 = 0x16;
        let Stream::Plain(socket) = &self.stream else { return Ok(false) };
        let mut first = [0];
        Ok(socket.peek(&mut first)? == 1 && first[0] == HANDSHAKE)
    }

    /// Does the TLS handshake; gives the name that the client asked for.
    pub(crate) fn start_tls(
        self,
        config: &Arc<ServerConfig>,
    ) -> io::Result<(Self, Option<String>)> {
        let Stream::Plain(mut socket) = self.stream else {
            return Err(ErrorKind::InvalidInput.into());
        };
        socket.set_read_timeout(Some(PATIENCE))?;
        let mut tls = ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
        while tls.is_handshaking() {
            tls.complete_io(&mut socket)?;
        }
        socket.set_read_timeout(Some(TICK))?;
        let name = tls.server_name().map(str::to_owned);
        let stream = Stream::Tls(Box::new(StreamOwned::new(tls, socket)));
        Ok((Self { stream, input: Vec::new(), output: self.output }, name))
    }

    fn io(&mut self) -> &mut dyn ReadWrite {
        match &mut self.stream {
            Stream::Plain(stream) => stream,
            Stream::Tls(stream) => stream.as_mut(),
        }
    }

    /// Receives what there is; false where nothing came within a moment.
    fn receive(&mut self) -> io::Result<bool> {
        let mut chunk = [0; 16 * 1024];
        match self.io().read(&mut chunk) {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(len) => {
                self.input.extend_from_slice(&chunk[..len]);
                Ok(true)
            }
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                ) =>
            {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// The first message, which has no tag; `None` where it has not come yet.
    pub(crate) fn startup(&mut self, len_max: usize) -> io::Result<Option<Vec<u8>>> {
        if let Some(header) = self.input.first_chunk::<4>() {
            let len = u32::from_be_bytes(*header) as usize;
            if !(8..=len_max).contains(&len) {
                return Err(ErrorKind::InvalidData.into());
            }
            if self.input.len() >= len {
                let body = self.input[4..len].to_vec();
                self.input.drain(..len);
                return Ok(Some(body));
            }
        }
        self.receive()?;
        Ok(None)
    }

    /// True where the next message has come whole, or what came cannot be one.
    pub(crate) fn has_message(&self) -> bool {
        let header = self.input.first_chunk::<5>();
        header.is_some_and(|[_, a, b, c, d]| {
            self.input.len() > u32::from_be_bytes([*a, *b, *c, *d]) as usize
        })
    }

    /// A message that has come whole; `None` after a moment without one.
    pub(crate) fn message(&mut self, len_max: usize) -> io::Result<Option<Message>> {
        if let Some([tag, a, b, c, d]) = self.input.first_chunk::<5>().copied() {
            let len = u32::from_be_bytes([a, b, c, d]) as usize;
            if !(4..=len_max).contains(&len) {
                return Err(ErrorKind::InvalidData.into());
            }
            if self.input.len() > len {
                let body = self.input[5..=len].to_vec();
                self.input.drain(..=len);
                return Ok(Some(Message { tag, body }));
            }
        }
        self.receive()?;
        Ok(None)
    }

    /// Sends one byte at once: the answer to a request for encryption.
    pub(crate) fn send_byte(&mut self, byte: u8) -> io::Result<()> {
        self.output.push(byte);
        self.flush()
    }

    /// Sends all output.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        let output = std::mem::take(&mut self.output);
        self.io().write_all(&output)?;
        self.io().flush()
    }

    /// Sends the output where much has gathered.
    pub(crate) fn flush_much(&mut self) -> io::Result<()> {
        if self.output.len() >= OUTPUT_HIGH { self.flush() } else { Ok(()) }
    }

    /// Appends a message of the server.
    pub(crate) fn put(&mut self, tag: u8, body: &[u8]) {
        put(&mut self.output, tag, body);
    }

    /// Appends an ErrorResponse.
    pub(crate) fn put_error(&mut self, severity: &str, refusal: &Refusal) {
        self.put(b'E', &error_body(severity, refusal));
    }
}

trait ReadWrite: Read + Write {}
impl<T: Read + Write> ReadWrite for T {}

/// Appends one message: tag, length, body.
pub(crate) fn put(out: &mut Vec<u8>, tag: u8, body: &[u8]) {
    out.push(tag);
    // Bodies are pieces of messages that were received, far below 4 GiB.
    out.extend_from_slice(&((body.len() + 4) as u32).to_be_bytes());
    out.extend_from_slice(body);
}

/// The fields of an ErrorResponse.
fn error_body(severity: &str, refusal: &Refusal) -> Vec<u8> {
    let mut body = Vec::new();
    let fields = [
        (b'S', Some(severity)),
        (b'V', Some(severity)),
        (b'C', Some(refusal.sqlstate)),
        (b'M', Some(refusal.message.as_str())),
        (b'D', refusal.detail.as_deref()),
        (b'H', refusal.hint.as_deref()),
    ];
    for (code, text) in fields {
        let Some(text) = text else { continue };
        body.push(code);
        body.extend(text.bytes().filter(|byte| *byte != 0));
        body.push(0);
    }
    body.push(0);
    body
}
