//! The one error of this crate: what failed, where, and in whose words.
//!
//! Callers ask questions ([`Error::sqlstate`], [`Error::is_connection_lost`])
//! instead of matching on a kind, so kinds can be added.

use std::fmt;
use std::io;

use crate::backend::{ProtocolError, ServerError};
use crate::frontend::EncodeError;
use crate::sqlstate::SqlState;

/// libpq's words for a connection that ended in the middle.
pub const CLOSED_UNEXPECTEDLY: &str = "server closed the connection unexpectedly\n\
    \tThis probably means the server terminated abnormally\n\
    \tbefore or while processing the request.";

/// The other side has closed, says the system. libpq tells that as the end of
/// the stream, in [`CLOSED_UNEXPECTEDLY`]'s words.
#[must_use]
pub fn is_hang_up(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), ConnectionReset | BrokenPipe | UnexpectedEof)
}

/// A failure to connect, or of a connection, or an error of the server.
///
/// Prints as libpq would print it, without a line feed at the end.
pub struct Error(Box<Inner>);

struct Inner {
    kind: Kind,
    /// What was said of earlier attempts, one line or more for each.
    earlier: Vec<String>,
    /// `connection to server at … failed: `, for failures to connect.
    prefix: String,
    host: Option<String>,
    port: Option<u16>,
}

/// What happened. Private, so that it can grow.
#[derive(Debug)]
pub(crate) enum Kind {
    /// Options that cannot work.
    Config(String),
    /// A failure without words of the server.
    Connect(String),
    /// A failure of TLS or of what it needs.
    Tls(String),
    /// Authentication failed on this side.
    Auth(String),
    /// The server's words.
    Server(Box<ServerError>),
    /// Not PostgreSQL's protocol.
    Protocol(ProtocolError),
    /// A message that cannot be sent.
    Encode(EncodeError),
    /// The connection is gone.
    Lost(Option<io::Error>),
    /// A deadline passed.
    Timeout,
    /// The caller's interrupt flag was set.
    Interrupted,
    /// A result of another shape than the caller asked for.
    Unexpected(String),
}

impl Error {
    pub(crate) fn new(kind: Kind) -> Self {
        Self(Box::new(Inner {
            kind,
            earlier: Vec::new(),
            prefix: String::new(),
            host: None,
            port: None,
        }))
    }

    pub(crate) fn config(message: impl Into<String>) -> Self {
        Self::new(Kind::Config(message.into()))
    }

    /// For an error of a [`Channel`](crate::channel::Channel): the connection
    /// is gone, in words that also say what TLS had to say.
    #[must_use]
    pub fn lost(error: io::Error) -> Self {
        Self::new(Kind::Lost(if is_hang_up(&error) { None } else { Some(error) }))
    }

    /// For a stream that ended where it should go on.
    #[must_use]
    pub fn closed() -> Self {
        Self::new(Kind::Lost(None))
    }

    /// Says which server it was.
    pub(crate) fn at(mut self, host: &str, port: u16, prefix: String) -> Self {
        self.0.host = Some(host.to_owned());
        self.0.port = Some(port);
        self.0.prefix = prefix;
        self
    }

    /// Puts what earlier attempts said before it.
    pub(crate) fn after(mut self, earlier: Vec<String>) -> Self {
        self.0.earlier = earlier;
        self
    }

    /// The server's SQLSTATE, where the server itself refused.
    #[must_use]
    pub fn sqlstate(&self) -> Option<SqlState> {
        self.server().map(|error| error.sqlstate)
    }

    /// The server's own error with all its fields.
    #[must_use]
    pub fn server(&self) -> Option<&ServerError> {
        match &self.0.kind {
            Kind::Server(error) => Some(error),
            _ => None,
        }
    }

    /// The host that was tried last, for failures to connect: name, address
    /// or socket folder.
    #[must_use]
    pub fn host(&self) -> Option<&str> {
        self.0.host.as_deref()
    }

    /// The port that was tried last, for failures to connect.
    #[must_use]
    pub fn port(&self) -> Option<u16> {
        self.0.port
    }

    /// True where the session is gone: cut, closed, ended by the server
    /// (FATAL), or out of step.
    #[must_use]
    pub fn is_connection_lost(&self) -> bool {
        match &self.0.kind {
            Kind::Lost(_) | Kind::Protocol(_) => true,
            Kind::Server(error) => error.is_fatal() || error.sqlstate.is_connection_exception(),
            _ => false,
        }
    }

    /// True where the caller's interrupt flag ended it.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        matches!(self.0.kind, Kind::Interrupted)
    }

    /// True where a deadline passed.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(self.0.kind, Kind::Timeout)
    }

    /// True where the options cannot work, whatever the server: a mistake of
    /// usage rather than a failure.
    #[must_use]
    pub fn is_config(&self) -> bool {
        matches!(self.0.kind, Kind::Config(_))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.0.earlier {
            writeln!(f, "{line}")?;
        }
        f.write_str(&self.0.prefix)?;
        match &self.0.kind {
            Kind::Config(text)
            | Kind::Connect(text)
            | Kind::Tls(text)
            | Kind::Auth(text)
            | Kind::Unexpected(text) => f.write_str(text),
            Kind::Server(error) => error.fmt(f),
            Kind::Protocol(error) => error.fmt(f),
            Kind::Encode(error) => error.fmt(f),
            Kind::Lost(None) => f.write_str(CLOSED_UNEXPECTEDLY),
            Kind::Lost(Some(error)) => {
                let words = crate::tls::explain(error).unwrap_or_else(|| os_words(error));
                write!(f, "the connection was lost: {words}")
            }
            Kind::Timeout => f.write_str("timeout expired"),
            Kind::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("prefix", &self.0.prefix)
            .field("earlier", &self.0.earlier)
            .finish()
    }
}

impl std::error::Error for Error {
    // Display shows everything below as well; a source would say it twice.
}

impl From<ProtocolError> for Error {
    fn from(error: ProtocolError) -> Self {
        Self::new(Kind::Protocol(error))
    }
}

impl From<EncodeError> for Error {
    fn from(error: EncodeError) -> Self {
        Self::new(Kind::Encode(error))
    }
}

impl From<ServerError> for Error {
    fn from(error: ServerError) -> Self {
        Self::new(Kind::Server(Box::new(error)))
    }
}

/// The system's words without Rust's `(os error n)`.
pub(crate) fn os_words(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(code) => nix::errno::Errno::from_raw(code).desc().to_owned(),
        None => error.to_string(),
    }
}
