//! Messages from server to client, read in place.
//!
//! [`next_frame`] finds the next whole message in a flat buffer and costs a
//! length check; what a message means is decoded only when asked, by the views
//! in this module, which borrow from the buffer. Nothing here panics or reads
//! past what it was given, whatever the bytes are. Layouts follow the
//! PostgreSQL manual, "Message Formats".

mod command_tag;
mod error_fields;
mod rows;
mod session;

pub use command_tag::{CommandKind, CommandTag};
pub use error_fields::{ErrorFields, ServerError};
pub use rows::{Column, Columns, DataRow, RowDescription, Values};
pub use session::{
    BackendKeyData, CopyResponse, NegotiateProtocolVersion, Notification, ParameterStatus,
    TransactionStatus,
};

/// The tags of messages from the server, by their names in the manual.
#[allow(missing_docs, reason = "the names are the manual's and say it all")]
pub mod tag {
    pub const AUTHENTICATION: u8 = b'R';
    pub const BACKEND_KEY_DATA: u8 = b'K';
    pub const BIND_COMPLETE: u8 = b'2';
    pub const CLOSE_COMPLETE: u8 = b'3';
    pub const COMMAND_COMPLETE: u8 = b'C';
    pub const COPY_BOTH_RESPONSE: u8 = b'W';
    pub const COPY_DATA: u8 = b'd';
    pub const COPY_DONE: u8 = b'c';
    pub const COPY_IN_RESPONSE: u8 = b'G';
    pub const COPY_OUT_RESPONSE: u8 = b'H';
    pub const DATA_ROW: u8 = b'D';
    pub const EMPTY_QUERY_RESPONSE: u8 = b'I';
    pub const ERROR_RESPONSE: u8 = b'E';
    pub const NEGOTIATE_PROTOCOL_VERSION: u8 = b'v';
    pub const NO_DATA: u8 = b'n';
    pub const NOTICE_RESPONSE: u8 = b'N';
    pub const NOTIFICATION_RESPONSE: u8 = b'A';
    pub const PARAMETER_DESCRIPTION: u8 = b't';
    pub const PARAMETER_STATUS: u8 = b'S';
    pub const PARSE_COMPLETE: u8 = b'1';
    pub const PORTAL_SUSPENDED: u8 = b's';
    pub const READY_FOR_QUERY: u8 = b'Z';
    pub const ROW_DESCRIPTION: u8 = b'T';
}

/// The longest message that is believed: a server cannot build a longer one
/// (`MaxAllocSize`), so a greater length means that the stream is out of step.
pub const FRAME_LEN_MAX: usize = 0x3fff_ffff;

/// The longest message that is believed before the server is known to be one.
/// Authentication requests are short and errors bounded; libpq draws the same
/// line (`MAX_ERRLEN`), so that a chatty stranger cannot make it fill memory.
pub const HANDSHAKE_FRAME_LEN_MAX: usize = 30_000;

/// The tag and the length before each body.
pub const HEADER_LEN: usize = 5;

/// What the server sent is not the PostgreSQL protocol.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// A length that no message can have.
    #[error(
        "the server sent a message of type {} with the impossible length {len}; \
         it may not be a PostgreSQL server, or the stream is out of step",
        show_tag(*tag)
    )]
    Length {
        /// The message's tag.
        tag: u8,
        /// The length as sent, itself included.
        len: u32,
    },
    /// A message that ends before its own contents do.
    #[error("the server sent a malformed {0} message")]
    Malformed(&'static str),
    /// A message that has no place where it came.
    #[error("the server sent an unexpected message of type {} while {doing}", show_tag(*tag))]
    Unexpected {
        /// The message's tag.
        tag: u8,
        /// What the client was waiting for.
        doing: &'static str,
    },
}

/// A tag as people can read it.
fn show_tag(tag: u8) -> String {
    if tag.is_ascii_graphic() { format!("\"{}\"", tag as char) } else { format!("0x{tag:02x}") }
}

/// One whole message inside a read buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// One of the constants in [`tag`]; others are possible.
    pub tag: u8,
    /// What follows the length.
    pub body: &'a [u8],
}

impl Frame<'_> {
    /// How many bytes of the buffer the message takes, header included.
    #[inline]
    #[must_use]
    pub const fn total_len(&self) -> usize {
        self.body.len() + HEADER_LEN
    }
}

/// Finds the message at the beginning of `buf`; `None` where it is not there
/// to its end. Skip [`Frame::total_len`] bytes to get at the following one.
///
/// # Errors
/// [`ProtocolError::Length`] for a length below 4 or above [`FRAME_LEN_MAX`].
#[inline]
pub fn next_frame(buf: &[u8]) -> Result<Option<Frame<'_>>, ProtocolError> {
    next_frame_within(buf, FRAME_LEN_MAX)
}

/// As [`next_frame`], with a limit of the caller's for the message's length.
///
/// # Errors
/// [`ProtocolError::Length`].
#[inline]
pub fn next_frame_within(buf: &[u8], len_max: usize) -> Result<Option<Frame<'_>>, ProtocolError> {
    let Some((header, rest)) = buf.split_first_chunk::<HEADER_LEN>() else {
        return Ok(None);
    };
    let [tag, a, b, c, d] = *header;
    let len = u32::from_be_bytes([a, b, c, d]);
    let body_len = (len as usize).wrapping_sub(4);
    if body_len > len_max.saturating_sub(4) {
        return Err(ProtocolError::Length { tag, len });
    }
    Ok(rest.get(..body_len).map(|body| Frame { tag, body }))
}

/// How many bytes the message at the beginning of `buf` takes in all, once its
/// header is there: for a buffer that must grow to hold it.
#[must_use]
pub fn frame_len(buf: &[u8]) -> Option<usize> {
    let [_, a, b, c, d] = *buf.first_chunk::<HEADER_LEN>()?;
    (u32::from_be_bytes([a, b, c, d]) as usize).checked_add(1)
}

/// Reads fields from a message's body, front to back. `None` means that the
/// body ended too early.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn u8(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u16::from_be_bytes(*bytes))
    }

    pub(crate) fn i32(&mut self) -> Option<i32> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(i32::from_be_bytes(*bytes))
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(bytes)
    }

    pub(crate) fn cstr(&mut self) -> Option<&'a [u8]> {
        let end = memchr::memchr(0, self.0)?;
        let text = &self.0[..end];
        self.0 = &self.0[end + 1..];
        Some(text)
    }
}
