//! Authentication, sans I/O: the server's requests in, the answers out.
//!
//! Trust, clear-text password, md5, SCRAM-SHA-256 and SCRAM-SHA-256-PLUS. The
//! policies `require_auth` and `channel_binding` are applied here, with
//! libpq's words where they refuse.

mod cache;
mod policy;
mod scram;
mod source;

pub use cache::SaltedKeyCache;
pub use policy::{InvalidRequireAuth, RequireAuth};
pub(crate) use source::{Answer, LOOK_AGAIN, Password};
pub use source::{Login, Made, PasswordMaker, PasswordSource};

use md5::{Digest, Md5};

use crate::backend::{ProtocolError, Reader};
use crate::frontend::{self, EncodeError};
use crate::secret::Secret;
use policy::Method;
use scram::Scram;

/// Why authentication failed on this side. (A server that refuses says so in
/// an ErrorResponse of its own.)
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuthError {
    /// A policy, a missing password, or a server that does not prove itself.
    #[error("{0}")]
    Refused(String),
    /// Not the protocol.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// The answer cannot be sent.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

impl AuthError {
    fn refused(text: impl Into<String>) -> Self {
        Self::Refused(text.into())
    }
}

/// `channel_binding`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ChannelBinding {
    /// Never.
    Disable,
    /// Where TLS and the server offer it.
    #[default]
    Prefer,
    /// Or no connection.
    Require,
}

/// What the answers are made from. Borrowed for each request, so that nothing
/// secret is kept in the exchange.
#[derive(Debug, Clone, Copy)]
pub struct Credentials<'a> {
    /// The user's name.
    pub user: &'a str,
    /// The password, where there is one.
    pub password: Option<&'a Secret>,
    /// `require_auth`.
    pub require_auth: &'a RequireAuth,
    /// `channel_binding`.
    pub channel_binding: ChannelBinding,
    /// True where the connection is encrypted.
    pub tls: bool,
    /// The `tls-server-end-point` data of the connection; `None` without TLS
    /// or where the certificate's signature has no hash to use.
    pub end_point: Option<&'a [u8]>,
    /// Where SCRAM's slow part is kept.
    pub cache: &'a SaltedKeyCache,
}

/// How far the exchange has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Another message of the server's must come.
    Continue,
    /// The server is content.
    Authenticated,
}

/// One authentication exchange.
#[derive(Debug, Default)]
pub struct Exchange {
    scram: Option<Scram>,
    /// The client has proven what it was asked for.
    answered: bool,
}

impl Exchange {
    /// Answers the body of an Authentication message; appends the answer, if
    /// any, to `out`.
    ///
    /// # Errors
    /// [`AuthError`]; the connection is of no further use then.
    pub fn respond(
        &mut self,
        body: &[u8],
        with: &Credentials<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Progress, AuthError> {
        let mut reader = Reader(body);
        let code = reader.i32().ok_or(ProtocolError::Malformed("Authentication"))?;
        let method = Method::of_request(code);
        self.check_policies(code, method, with)?;
        match code {
            0 => return Ok(Progress::Authenticated),
            3 => {
                frontend::password(out, password(with)?.reveal().as_bytes())?;
                self.answered = true;
            }
            5 => {
                let salt =
                    reader.bytes(4).ok_or(ProtocolError::Malformed("AuthenticationMD5Password"))?;
                frontend::password(out, md5_answer(with.user, password(with)?, salt).as_bytes())?;
                self.answered = true;
            }
            10 => self.start_scram(reader, with, out)?,
            11 => {
                let answer = self.scram()?.server_first(reader.0, password(with)?, with.cache)?;
                frontend::sasl_response(out, answer.as_bytes())?;
            }
            12 => {
                self.scram()?.server_final(reader.0)?;
                self.answered = true;
            }
            _ => {
                return Err(AuthError::Refused(format!(
                    "the server asks for {}, which pgdyno does not support",
                    method.description()
                )));
            }
        }
        Ok(Progress::Continue)
    }

    /// `require_auth` and `channel_binding=require`, in libpq's order.
    fn check_policies(
        &self,
        code: i32,
        method: Method,
        with: &Credentials<'_>,
    ) -> Result<(), AuthError> {
        let refusal = match code {
            // Nothing was proven, unless SCRAM or a password was.
            0 if !self.answered && !with.require_auth.allows(Method::None) => {
                Some("server did not complete authentication")
            }
            0 | 11 | 12 => None,
            _ => (!with.require_auth.allows(method)).then(|| method.refusal()),
        };
        if let Some(reason) = refusal {
            return Err(AuthError::Refused(format!(
                "authentication method requirement \"{}\" failed: {reason}",
                with.require_auth
            )));
        }
        // A server that skips the end of SCRAM has not proven itself.
        if code == 0 && self.scram.is_some() && !self.answered {
            return Err(AuthError::refused(
                "server did not prove that it knows the password (SCRAM was cut short)",
            ));
        }
        if with.channel_binding != ChannelBinding::Require {
            return Ok(());
        }
        match code {
            10..=12 => Ok(()),
            0 if self.answered && self.scram.as_ref().is_some_and(Scram::is_bound) => Ok(()),
            0 => Err(AuthError::refused(
                "channel binding required, but server authenticated client without channel binding",
            )),
            _ => Err(AuthError::refused(
                "channel binding required but not supported by server's authentication request",
            )),
        }
    }

    fn scram(&mut self) -> Result<&mut Scram, AuthError> {
        self.scram
            .as_mut()
            .ok_or_else(|| AuthError::refused("server continued a SASL exchange that never began"))
    }

    /// Chooses the mechanism and sends the first message.
    fn start_scram(
        &mut self,
        mut offered: Reader<'_>,
        with: &Credentials<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), AuthError> {
        if self.scram.is_some() {
            return Err(AuthError::refused("duplicate SASL authentication request"));
        }
        let required = with.channel_binding == ChannelBinding::Require;
        if required && !with.tls {
            return Err(AuthError::refused("channel binding required, but SSL not in use"));
        }
        let (mut plain, mut plus) = (false, false);
        while let Some(name) = offered.cstr().filter(|name| !name.is_empty()) {
            plain |= name == scram::MECHANISM.as_bytes();
            plus |= name == scram::MECHANISM_PLUS.as_bytes();
        }
        if plus && !with.tls {
            // RFC 5802: such an offer is only made over TLS; somebody sits in between.
            return Err(AuthError::refused(
                "server offered SCRAM-SHA-256-PLUS authentication over a non-SSL connection",
            ));
        }
        let end_point = with.end_point.filter(|_| with.channel_binding != ChannelBinding::Disable);
        let scram = match end_point {
            Some(data) if plus => Scram::bound(data)?,
            _ if required => {
                return Err(AuthError::refused(
                    "channel binding is required, but server did not offer an authentication \
                     method that supports channel binding",
                ));
            }
            _ if !plain => {
                return Err(AuthError::refused(
                    "none of the server's SASL authentication mechanisms are supported",
                ));
            }
            Some(_) => Scram::unoffered()?,
            None => Scram::unbound()?,
        };
        // Without a password the exchange would only fail later.
        password(with)?;
        frontend::sasl_initial_response(out, scram.mechanism(), scram.client_first().as_bytes())?;
        self.scram = Some(scram);
        Ok(())
    }
}

/// The password, or libpq's complaint.
fn password<'a>(with: &Credentials<'a>) -> Result<&'a Secret, AuthError> {
    with.password
        .filter(|password| !password.is_empty())
        .ok_or_else(|| AuthError::refused("fe_sendauth: no password supplied"))
}

/// `md5` and the hex digest of (hex digest of password and user) and salt.
fn md5_answer(user: &str, password: &Secret, salt: &[u8]) -> String {
    let inner = Md5::new().chain_update(password.reveal()).chain_update(user).finalize();
    let outer = Md5::new().chain_update(hex(&inner)).chain_update(salt).finalize();
    format!("md5{}", hex(&outer))
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credentials<'a>(
        password: Option<&'a Secret>,
        require: &'a RequireAuth,
        cache: &'a SaltedKeyCache,
    ) -> Credentials<'a> {
        Credentials {
            user: "md5_user",
            password,
            require_auth: require,
            channel_binding: ChannelBinding::Prefer,
            tls: false,
            end_point: None,
            cache,
        }
    }

    /// md5's answer is the one that PostgreSQL computes for the same input.
    #[test]
    fn md5_vector() {
        let answer = md5_answer("md5_user", &Secret::new("password"), &[0x2a, 0x3d, 0x8f, 0xe0]);
        assert_eq!(answer, "md562af4dd09bbb41884907a838a3233294");
    }

    /// A policy refuses before anything secret is sent, with libpq's words.
    #[test]
    fn require_auth_refuses_before_sending() {
        let cache = SaltedKeyCache::default();
        let require: RequireAuth = "scram-sha-256".parse().unwrap();
        let secret = Secret::new("x");
        let with = credentials(Some(&secret), &require, &cache);
        for (request, reason) in [
            (&[0, 0, 0, 3][..], "server requested a cleartext password"),
            (&[0, 0, 0, 5, 1, 2, 3, 4], "server requested a hashed password"),
            (&[0, 0, 0, 0], "server did not complete authentication"),
        ] {
            let mut out = Vec::new();
            let error = Exchange::default().respond(request, &with, &mut out).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("authentication method requirement \"scram-sha-256\" failed: {reason}")
            );
            assert_eq!(out, b"");
        }
    }

    /// No password and no channel binding end in libpq's messages.
    #[test]
    fn refusals() {
        let cache = SaltedKeyCache::default();
        let any = RequireAuth::default();
        let mut out = Vec::new();
        let with = credentials(None, &any, &cache);
        let error = Exchange::default().respond(&[0, 0, 0, 3], &with, &mut out).unwrap_err();
        assert_eq!(error.to_string(), "fe_sendauth: no password supplied");
        let with = Credentials { channel_binding: ChannelBinding::Require, ..with };
        let error = Exchange::default().respond(&[0, 0, 0, 0], &with, &mut out).unwrap_err();
        assert_eq!(
            error.to_string(),
            "channel binding required, but server authenticated client without channel binding"
        );
        let sasl = b"\0\0\0\x0aSCRAM-SHA-256\0\0";
        let error = Exchange::default().respond(sasl, &with, &mut out).unwrap_err();
        assert_eq!(error.to_string(), "channel binding required, but SSL not in use");
    }
}
