//! Messages from client to server, appended to a buffer of the caller's.
//!
//! Nothing here does I/O or keeps state; a message is written in place and its
//! length patched afterwards, so the request path copies each byte once. Every
//! function that can fail leaves the buffer as it was when it does, so a
//! refused message never corrupts the stream. Names and layouts follow the
//! PostgreSQL manual, "Message Formats".

/// Protocol 3.0, which every server of the last twenty years speaks. Newer
/// minors add only longer cancel keys, which nothing here needs.
pub const PROTOCOL_VERSION: u32 = 3 << 16;

/// The code of an SSLRequest in place of a protocol version.
const SSL_REQUEST_CODE: u32 = (1234 << 16) | 5679;

/// The code of a CancelRequest in place of a protocol version.
const CANCEL_REQUEST_CODE: u32 = (1234 << 16) | 5678;

/// The longest message that is sent: the server refuses a gigabyte and more
/// (`PQ_LARGE_MESSAGE_LIMIT`), and by then has already lost the connection.
pub const MESSAGE_LEN_MAX: usize = 0x3fff_ffff;

/// The protocol counts parameters in 16 bits.
pub const PARAMS_MAX: usize = 0xffff;

/// Why a message cannot be sent. Nothing of it was left in the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// Strings end with a zero byte in the protocol.
    #[error("a text for the server contains a zero byte, which the protocol cannot carry")]
    Nul,
    /// See [`MESSAGE_LEN_MAX`].
    #[error("a message of {0} bytes is longer than PostgreSQL accepts (1 GiB)")]
    TooLong(usize),
    /// See [`PARAMS_MAX`].
    #[error("{0} parameters are more than the protocol can count (65535)")]
    TooManyParams(usize),
}

/// Writes one message: tag, room for the length, the body by `fill`, then the
/// length. Takes everything back if anything fails.
fn message(
    buf: &mut Vec<u8>,
    tag: Option<u8>,
    fill: impl FnOnce(&mut Vec<u8>) -> Result<(), EncodeError>,
) -> Result<(), EncodeError> {
    let start = buf.len();
    buf.extend(tag);
    let length_at = buf.len();
    buf.extend_from_slice(&[0; 4]);
    let result = fill(buf).and_then(|()| patch_length(buf, length_at));
    if result.is_err() {
        buf.truncate(start);
    }
    result
}

/// Puts the length of all from `at` to the end at `at`.
fn patch_length(buf: &mut [u8], at: usize) -> Result<(), EncodeError> {
    let len = buf.len() - at;
    if len > MESSAGE_LEN_MAX {
        return Err(EncodeError::TooLong(len));
    }
    // Within u32: the limit is below 2^30.
    buf[at..at + 4].copy_from_slice(&(len as u32).to_be_bytes());
    Ok(())
}

/// Appends `text` and its zero byte.
fn cstr(buf: &mut Vec<u8>, text: &[u8]) -> Result<(), EncodeError> {
    if memchr::memchr(0, text).is_some() {
        return Err(EncodeError::Nul);
    }
    buf.extend_from_slice(text);
    buf.push(0);
    Ok(())
}

/// A message whose whole body is fixed.
fn fixed(buf: &mut Vec<u8>, tag: u8) {
    buf.extend_from_slice(&[tag, 0, 0, 0, 4]);
}

/// StartupMessage: names and values of the session's parameters (`user` first).
///
/// # Errors
/// [`EncodeError::Nul`] where a name or value contains a zero byte.
pub fn startup<'a>(
    buf: &mut Vec<u8>,
    params: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<(), EncodeError> {
    message(buf, None, |buf| {
        buf.extend_from_slice(&PROTOCOL_VERSION.to_be_bytes());
        for (name, value) in params {
            cstr(buf, name.as_bytes())?;
            cstr(buf, value.as_bytes())?;
        }
        buf.push(0);
        Ok(())
    })
}

/// SSLRequest; the server answers with a single byte, `S` or `N`.
pub fn ssl_request(buf: &mut Vec<u8>) {
    buf.extend_from_slice(&8_u32.to_be_bytes());
    buf.extend_from_slice(&SSL_REQUEST_CODE.to_be_bytes());
}

/// CancelRequest, to be sent over a connection of its own.
///
/// # Errors
/// [`EncodeError::TooLong`] for a key that no server hands out.
pub fn cancel_request(buf: &mut Vec<u8>, pid: i32, key: &[u8]) -> Result<(), EncodeError> {
    message(buf, None, |buf| {
        buf.extend_from_slice(&CANCEL_REQUEST_CODE.to_be_bytes());
        buf.extend_from_slice(&pid.to_be_bytes());
        buf.extend_from_slice(key);
        Ok(())
    })
}

/// PasswordMessage, in clear text or as md5's answer.
///
/// # Errors
/// [`EncodeError::Nul`] where it contains a zero byte.
pub fn password(buf: &mut Vec<u8>, password: &[u8]) -> Result<(), EncodeError> {
    message(buf, Some(b'p'), |buf| cstr(buf, password))
}

/// SASLInitialResponse: the mechanism chosen and the first client message.
///
/// # Errors
/// [`EncodeError`] for a mechanism with a zero byte.
pub fn sasl_initial_response(
    buf: &mut Vec<u8>,
    mechanism: &str,
    data: &[u8],
) -> Result<(), EncodeError> {
    message(buf, Some(b'p'), |buf| {
        cstr(buf, mechanism.as_bytes())?;
        let len = u32::try_from(data.len()).map_err(|_| EncodeError::TooLong(data.len()))?;
        buf.extend_from_slice(&len.to_be_bytes());
        buf.extend_from_slice(data);
        Ok(())
    })
}

/// SASLResponse: a further client message.
///
/// # Errors
/// [`EncodeError::TooLong`].
pub fn sasl_response(buf: &mut Vec<u8>, data: &[u8]) -> Result<(), EncodeError> {
    message(buf, Some(b'p'), |buf| {
        buf.extend_from_slice(data);
        Ok(())
    })
}

/// Query: one or more statements in the simple protocol.
///
/// # Errors
/// [`EncodeError`].
pub fn query(buf: &mut Vec<u8>, sql: &[u8]) -> Result<(), EncodeError> {
    message(buf, Some(b'Q'), |buf| cstr(buf, sql))
}

/// Parse: prepares `sql` as `statement` (empty: the unnamed one). An empty
/// `param_types` lets the server infer all types.
///
/// # Errors
/// [`EncodeError`].
pub fn parse(
    buf: &mut Vec<u8>,
    statement: &[u8],
    sql: &[u8],
    param_types: &[u32],
) -> Result<(), EncodeError> {
    message(buf, Some(b'P'), |buf| {
        cstr(buf, statement)?;
        cstr(buf, sql)?;
        let count = u16::try_from(param_types.len())
            .map_err(|_| EncodeError::TooManyParams(param_types.len()))?;
        buf.extend_from_slice(&count.to_be_bytes());
        for oid in param_types {
            buf.extend_from_slice(&oid.to_be_bytes());
        }
        Ok(())
    })
}

/// Bind: text parameters (`None` is NULL) to `portal`, results as text.
///
/// # Errors
/// [`EncodeError`].
pub fn bind(
    buf: &mut Vec<u8>,
    portal: &[u8],
    statement: &[u8],
    params: &[Option<&[u8]>],
) -> Result<(), EncodeError> {
    let mut bind = BindBuilder::new(buf, portal, statement)?;
    for param in params {
        match param {
            Some(text) => bind.text(text),
            None => bind.null(),
        }
    }
    bind.finish()
}

/// A Bind message under construction: parameters are written straight into the
/// buffer and their lengths patched. Dropped before [`BindBuilder::finish`], it
/// takes the message back.
///
/// All parameters and results are text. A parameter may contain any byte; the
/// server refuses a zero byte itself, without harm to the stream.
#[derive(Debug)]
#[must_use = "the message is taken back unless finished"]
pub struct BindBuilder<'b> {
    buf: &'b mut Vec<u8>,
    start: usize,
    count_at: usize,
    count: usize,
    finished: bool,
}

impl<'b> BindBuilder<'b> {
    /// Begins a Bind of `statement` to `portal`; both may be empty (unnamed).
    ///
    /// # Errors
    /// [`EncodeError::Nul`].
    pub fn new(buf: &'b mut Vec<u8>, portal: &[u8], statement: &[u8]) -> Result<Self, EncodeError> {
        let start = buf.len();
        buf.extend_from_slice(&[b'B', 0, 0, 0, 0]);
        if let Err(error) = cstr(buf, portal).and_then(|()| cstr(buf, statement)) {
            buf.truncate(start);
            return Err(error);
        }
        // No format codes: all parameters are text.
        buf.extend_from_slice(&[0, 0]);
        let count_at = buf.len();
        buf.extend_from_slice(&[0, 0]);
        Ok(Self { buf, start, count_at, count: 0, finished: false })
    }

    /// Adds a parameter.
    #[inline]
    pub fn text(&mut self, text: &[u8]) {
        self.text_with(|buf| buf.extend_from_slice(text));
    }

    /// Adds NULL.
    #[inline]
    pub fn null(&mut self) {
        self.count += 1;
        self.buf.extend_from_slice(&(-1_i32).to_be_bytes());
    }

    /// Adds a parameter that `write` appends to the buffer. `write` must only
    /// append.
    #[inline]
    pub fn text_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.count += 1;
        let at = self.buf.len();
        self.buf.extend_from_slice(&[0; 4]);
        write(self.buf);
        let len = self.buf.len().saturating_sub(at + 4);
        // A length beyond 32 bits makes the whole message too long, which
        // `finish` refuses; the bytes written here are then taken back.
        self.buf[at..at + 4].copy_from_slice(&(len as u32).to_be_bytes());
    }

    /// How many parameters there are by now.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Ends the message.
    ///
    /// # Errors
    /// [`EncodeError::TooManyParams`], [`EncodeError::TooLong`].
    pub fn finish(mut self) -> Result<(), EncodeError> {
        let count =
            u16::try_from(self.count).map_err(|_| EncodeError::TooManyParams(self.count))?;
        self.buf[self.count_at..self.count_at + 2].copy_from_slice(&count.to_be_bytes());
        // No format codes: all result columns are text.
        self.buf.extend_from_slice(&[0, 0]);
        patch_length(self.buf, self.start + 1)?;
        self.finished = true;
        Ok(())
    }
}

impl Drop for BindBuilder<'_> {
    fn drop(&mut self) {
        if !self.finished {
            self.buf.truncate(self.start);
        }
    }
}

/// Describe of a prepared statement.
///
/// # Errors
/// [`EncodeError::Nul`].
pub fn describe_statement(buf: &mut Vec<u8>, statement: &[u8]) -> Result<(), EncodeError> {
    named(buf, b'D', b'S', statement)
}

/// Describe of a portal.
///
/// # Errors
/// [`EncodeError::Nul`].
pub fn describe_portal(buf: &mut Vec<u8>, portal: &[u8]) -> Result<(), EncodeError> {
    named(buf, b'D', b'P', portal)
}

/// Close of a prepared statement.
///
/// # Errors
/// [`EncodeError::Nul`].
pub fn close_statement(buf: &mut Vec<u8>, statement: &[u8]) -> Result<(), EncodeError> {
    named(buf, b'C', b'S', statement)
}

/// Close of a portal.
///
/// # Errors
/// [`EncodeError::Nul`].
pub fn close_portal(buf: &mut Vec<u8>, portal: &[u8]) -> Result<(), EncodeError> {
    named(buf, b'C', b'P', portal)
}

/// A message that names a statement (`S`) or portal (`P`).
fn named(buf: &mut Vec<u8>, tag: u8, what: u8, name: &[u8]) -> Result<(), EncodeError> {
    message(buf, Some(tag), |buf| {
        buf.push(what);
        cstr(buf, name)
    })
}

/// Execute; `rows_max` 0 means all.
///
/// # Errors
/// [`EncodeError::Nul`].
pub fn execute(buf: &mut Vec<u8>, portal: &[u8], rows_max: u32) -> Result<(), EncodeError> {
    message(buf, Some(b'E'), |buf| {
        cstr(buf, portal)?;
        buf.extend_from_slice(&rows_max.to_be_bytes());
        Ok(())
    })
}

/// Sync: ends an implicit transaction and asks for ReadyForQuery.
pub fn sync(buf: &mut Vec<u8>) {
    fixed(buf, b'S');
}

/// Flush: asks for what was answered so far.
pub fn flush(buf: &mut Vec<u8>) {
    fixed(buf, b'H');
}

/// Terminate: the polite end of a session.
pub fn terminate(buf: &mut Vec<u8>) {
    fixed(buf, b'X');
}

/// CopyData: a piece of COPY's stream, cut anywhere.
///
/// # Errors
/// [`EncodeError::TooLong`].
pub fn copy_data(buf: &mut Vec<u8>, data: &[u8]) -> Result<(), EncodeError> {
    message(buf, Some(b'd'), |buf| {
        buf.extend_from_slice(data);
        Ok(())
    })
}

/// CopyDone: the stream is complete.
pub fn copy_done(buf: &mut Vec<u8>) {
    fixed(buf, b'c');
}

/// CopyFail: gives the stream up, with a reason that the server's error repeats.
///
/// # Errors
/// [`EncodeError::Nul`].
pub fn copy_fail(buf: &mut Vec<u8>, reason: &[u8]) -> Result<(), EncodeError> {
    message(buf, Some(b'f'), |buf| cstr(buf, reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message that cannot be sent leaves the buffer untouched.
    #[test]
    fn refused_messages_leave_nothing() {
        let mut buf = b"before".to_vec();
        assert_eq!(query(&mut buf, b"select '\0'\0"), Err(EncodeError::Nul));
        assert_eq!(parse(&mut buf, b"", b"x\0", &[]), Err(EncodeError::Nul));
        assert_eq!(bind(&mut buf, b"p\0", b"", &[]), Err(EncodeError::Nul));
        assert_eq!(startup(&mut buf, [("user", "a\0b")]), Err(EncodeError::Nul));
        assert_eq!(copy_fail(&mut buf, b"\0"), Err(EncodeError::Nul));
        let many = vec![None; PARAMS_MAX + 1];
        assert_eq!(bind(&mut buf, b"", b"", &many), Err(EncodeError::TooManyParams(65536)));
        let mut unfinished = BindBuilder::new(&mut buf, b"", b"s").unwrap();
        unfinished.text(b"lost");
        drop(unfinished);
        assert_eq!(buf, b"before");
    }

    /// The bytes are those of the manual.
    #[test]
    fn layouts() {
        let mut buf = Vec::new();
        ssl_request(&mut buf);
        assert_eq!(buf, [0, 0, 0, 8, 4, 210, 22, 47]);
        buf.clear();
        bind(&mut buf, b"", b"s", &[Some(b"42"), None]).unwrap();
        assert_eq!(buf, b"B\0\0\0\x17\0s\0\0\0\0\x02\0\0\0\x0242\xff\xff\xff\xff\0\0");
        buf.clear();
        execute(&mut buf, b"", 0).unwrap();
        sync(&mut buf);
        assert_eq!(buf, b"E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04");
    }
}
