//! A failed attempt, and where to go on after it.

use std::io;

use crate::auth::AuthError;
use crate::backend::ProtocolError;
use crate::error::{Error, Kind};
use crate::tls;

/// Where to go on after a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// The next address.
    Endpoint,
    /// The next host; other addresses of this one would say the same.
    Host,
    /// Nowhere: the server has decided.
    Stop,
}

/// A failed attempt.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) error: Error,
    pub(crate) next: Next,
    /// The same address may be tried with the other encryption, if the mode
    /// allows it.
    pub(crate) other_encryption: bool,
}

impl Failure {
    /// The address did not work out.
    pub(crate) fn endpoint(error: Error) -> Self {
        Self { error, next: Next::Endpoint, other_encryption: false }
    }

    pub(super) fn host(error: Error) -> Self {
        Self { error, next: Next::Host, other_encryption: false }
    }

    pub(super) fn stop(error: impl Into<Error>) -> Self {
        Self { error: error.into(), next: Next::Stop, other_encryption: false }
    }

    pub(super) fn stop_kind(kind: Kind) -> Self {
        Self::stop(Error::new(kind))
    }

    /// The connection broke; the address may be at fault.
    pub(super) fn lost(error: io::Error) -> Self {
        match tls::explain(&error) {
            Some(words) => Self::stop_kind(Kind::Tls(words)),
            None => Self::endpoint(Error::lost(error)),
        }
    }

    /// Authentication failed on this side.
    pub(super) fn auth(error: AuthError) -> Self {
        Self::stop(match error {
            AuthError::Refused(words) => Error::new(Kind::Auth(words)),
            AuthError::Protocol(error) => error.into(),
            AuthError::Encode(error) => error.into(),
        })
    }

    pub(super) const fn or_other_encryption(mut self) -> Self {
        self.other_encryption = true;
        self
    }
}

impl From<ProtocolError> for Failure {
    fn from(error: ProtocolError) -> Self {
        Self::stop(error)
    }
}
