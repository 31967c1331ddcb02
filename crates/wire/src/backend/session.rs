//! The small messages about a session: its state, parameters, key, COPY.

use super::{ProtocolError, Reader};

/// ReadyForQuery: where the session stands between commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TransactionStatus {
    /// Outside a transaction block.
    Idle,
    /// In a transaction block.
    InTransaction,
    /// In a block that failed; only ROLLBACK is accepted.
    Failed,
}

impl TransactionStatus {
    /// Reads the body of a ReadyForQuery message.
    ///
    /// # Errors
    /// [`ProtocolError::Malformed`].
    #[inline]
    pub fn parse(body: &[u8]) -> Result<Self, ProtocolError> {
        match body {
            b"I" => Ok(Self::Idle),
            b"T" => Ok(Self::InTransaction),
            b"E" => Ok(Self::Failed),
            _ => Err(ProtocolError::Malformed("ReadyForQuery")),
        }
    }
}

/// ParameterStatus: a setting that the server reports of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParameterStatus<'a> {
    /// The setting's name.
    pub name: &'a [u8],
    /// Its value now.
    pub value: &'a [u8],
}

impl<'a> ParameterStatus<'a> {
    /// Reads the body of a ParameterStatus message.
    ///
    /// # Errors
    /// [`ProtocolError::Malformed`].
    pub fn parse(body: &'a [u8]) -> Result<Self, ProtocolError> {
        let mut reader = Reader(body);
        reader
            .cstr()
            .zip(reader.cstr())
            .map(|(name, value)| Self { name, value })
            .ok_or(ProtocolError::Malformed("ParameterStatus"))
    }
}

/// BackendKeyData: what a cancel request must show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackendKeyData<'a> {
    /// The process id of the server's side of the session.
    pub pid: i32,
    /// The key; 4 bytes in protocol 3.0.
    pub key: &'a [u8],
}

impl<'a> BackendKeyData<'a> {
    /// Reads the body of a BackendKeyData message.
    ///
    /// # Errors
    /// [`ProtocolError::Malformed`].
    pub fn parse(body: &'a [u8]) -> Result<Self, ProtocolError> {
        let mut reader = Reader(body);
        let pid = reader.i32().ok_or(ProtocolError::Malformed("BackendKeyData"))?;
        Ok(Self { pid, key: reader.0 })
    }
}

/// NotificationResponse: what NOTIFY sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notification<'a> {
    /// The sender's process id.
    pub pid: i32,
    /// The channel.
    pub channel: &'a [u8],
    /// The payload; may be empty.
    pub payload: &'a [u8],
}

impl<'a> Notification<'a> {
    /// Reads the body of a NotificationResponse message.
    ///
    /// # Errors
    /// [`ProtocolError::Malformed`].
    pub fn parse(body: &'a [u8]) -> Result<Self, ProtocolError> {
        let mut reader = Reader(body);
        let mut read = || {
            let pid = reader.i32()?;
            Some(Self { pid, channel: reader.cstr()?, payload: reader.cstr()? })
        };
        read().ok_or(ProtocolError::Malformed("NotificationResponse"))
    }
}

/// CopyInResponse and its two siblings: COPY has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyResponse {
    /// Binary rather than text.
    pub binary: bool,
    /// How many columns a row has.
    pub columns: u16,
}

impl CopyResponse {
    /// Reads the body of a CopyInResponse or CopyOutResponse message.
    ///
    /// # Errors
    /// [`ProtocolError::Malformed`].
    pub fn parse(body: &[u8]) -> Result<Self, ProtocolError> {
        let mut reader = Reader(body);
        reader
            .u8()
            .zip(reader.u16())
            .map(|(format, columns)| Self { binary: format == 1, columns })
            .ok_or(ProtocolError::Malformed("CopyInResponse"))
    }
}

/// NegotiateProtocolVersion: the server speaks less than was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NegotiateProtocolVersion {
    /// The newest version that the server speaks, as in the start-up message.
    pub version: u32,
    /// How many protocol options it did not know.
    pub unknown_options: u32,
}

impl NegotiateProtocolVersion {
    /// Reads the body of a NegotiateProtocolVersion message.
    ///
    /// # Errors
    /// [`ProtocolError::Malformed`].
    pub fn parse(body: &[u8]) -> Result<Self, ProtocolError> {
        let mut reader = Reader(body);
        reader
            .i32()
            .zip(reader.i32())
            .map(|(version, unknown)| Self {
                version: version.cast_unsigned(),
                unknown_options: unknown.cast_unsigned(),
            })
            .ok_or(ProtocolError::Malformed("NegotiateProtocolVersion"))
    }
}
