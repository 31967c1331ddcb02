//! One attempt: one address, one encryption, from the socket to a session.

use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, RawFd};

use super::context::ConnectContext;
use super::endpoint::Endpoint;
use super::failure::Failure;
use super::session::{Question, Session, Verdict, judge, verdict};
use crate::auth::{Exchange, Password, Progress};
use crate::backend::{
    DataRow, ErrorFields, FRAME_LEN_MAX, Frame, HANDSHAKE_FRAME_LEN_MAX, NegotiateProtocolVersion,
    ProtocolError, next_frame_within, tag,
};
use crate::channel::Channel;
use crate::error::{Error, Kind};
use crate::frontend;
use crate::options::{SslMode, SslNegotiation, TargetSessionAttrs};
use crate::sqlstate::SqlState;
use crate::tls;

/// The first read buffer; a start-up's replies take about 500 bytes.
const READ_LEN: usize = 4096;

/// What a connection in the making waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drive {
    /// Its socket must become readable.
    WantRead,
    /// Its socket must become writable.
    WantWrite,
    /// There is a session: call [`finish`](super::Connecting::finish).
    Done,
}

/// What the connection is for.
pub(crate) enum Purpose {
    Session(TargetSessionAttrs),
    /// A message to send instead of a start-up; the server closes after it.
    Cancel(Vec<u8>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// The system connects.
    Connect,
    /// The server answers whether it has TLS.
    SslReply,
    /// TLS shakes hands.
    Tls,
    /// Start-up, authentication, parameters, until ReadyForQuery.
    Session,
    /// The server answers what kind it is.
    Check(Question, Option<bool>),
    /// The server closes after a cancel request.
    Cancelled,
    Done,
}

/// One attempt.
pub(crate) struct Attempt {
    pub(crate) channel: Channel,
    pub(super) session: Session,
    step: Step,
    /// What follows when the first words have been sent.
    after_connect: Step,
    encrypt: bool,
    purpose: Purpose,
    exchange: Exchange,
    authenticated: bool,
    end_point: Option<Vec<u8>>,
    /// One that was made for it, where they are made anew.
    pub(super) password: Option<Password>,
    /// Received and not yet looked at.
    pub(super) received: Vec<u8>,
    to_send: Vec<u8>,
    /// Something was sent, and nothing read since: there is no answer yet.
    said: bool,
    /// The last read filled its room: there may be more to read.
    more: bool,
}

impl std::fmt::Debug for Attempt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Not the buffers: a password may be on its way in them.
        f.debug_struct("Attempt").field("step", &self.step).finish_non_exhaustive()
    }
}

impl Attempt {
    /// Opens the socket and begins to connect.
    pub(crate) fn open(
        ctx: &ConnectContext,
        endpoint: &Endpoint,
        encrypt: bool,
        purpose: Purpose,
    ) -> Result<Self, Failure> {
        let socket = endpoint.open(ctx.options()).map_err(Failure::endpoint)?;
        Ok(Self {
            channel: Channel::plain(socket),
            session: Session::default(),
            step: Step::Connect,
            after_connect: Step::Session,
            encrypt,
            purpose,
            exchange: Exchange::default(),
            authenticated: false,
            end_point: None,
            password: None,
            received: Vec::new(),
            to_send: Vec::new(),
            said: false,
            more: false,
        })
    }

    pub(crate) fn fd(&self) -> RawFd {
        self.channel.as_raw_fd()
    }

    /// True where it is, or was to be, encrypted; false once the server said
    /// that it has no TLS and plain was as good.
    pub(super) const fn is_encrypted(&self) -> bool {
        self.encrypt
    }

    /// Goes as far as possible without waiting.
    pub(crate) fn drive(
        &mut self,
        ctx: &ConnectContext,
        endpoint: &Endpoint,
    ) -> Result<Drive, Failure> {
        loop {
            let wait = match self.step {
                Step::Connect => self.connected(ctx, endpoint)?,
                Step::SslReply => self.ssl_reply(ctx, endpoint)?,
                Step::Tls => self.tls(ctx)?,
                Step::Session | Step::Check(..) | Step::Cancelled => self.talk(ctx, endpoint)?,
                Step::Done => return Ok(Drive::Done),
            };
            if let Some(wait) = wait {
                return Ok(wait);
            }
        }
    }

    /// Says the first words. Whether the socket is connected shows by that:
    /// asking beforehand would be two system calls more for each connection.
    fn connected(
        &mut self,
        ctx: &ConnectContext,
        endpoint: &Endpoint,
    ) -> Result<Option<Drive>, Failure> {
        if self.to_send.is_empty() {
            if !self.encrypt {
                self.start_session(ctx);
            } else if ctx.options().ssl.negotiation == SslNegotiation::Direct {
                return self.connected_for_tls(ctx, endpoint);
            } else {
                frontend::ssl_request(&mut self.to_send);
                self.after_connect = Step::SslReply;
            }
        }
        match self.channel.send(&self.to_send) {
            Ok(sent) => drop(self.to_send.drain(..sent)),
            // Still connecting; other systems than Linux say so in as many words.
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::NotConnected) =>
            {
                return Ok(Some(Drive::WantWrite));
            }
            Err(error) => return Err(self.not_connected(endpoint, error)),
        }
        self.said = true;
        self.step = self.after_connect;
        Ok(None)
    }

    /// The first words could not be sent: for want of a connection, or because
    /// it was lost already.
    fn not_connected(&self, endpoint: &Endpoint, error: io::Error) -> Failure {
        let socket = self.channel.socket();
        // Where both are there, the socket's own error has the reason.
        let pending = socket.take_error().ok().flatten();
        if pending.is_none() && socket.peer_addr().is_ok() {
            return Failure::lost(error);
        }
        Failure::endpoint(endpoint.refused(&pending.unwrap_or(error)))
    }

    /// TLS says the first words itself: is the socket connected?
    fn connected_for_tls(
        &mut self,
        ctx: &ConnectContext,
        endpoint: &Endpoint,
    ) -> Result<Option<Drive>, Failure> {
        let socket = self.channel.socket();
        let error = socket.take_error().unwrap_or_else(Some);
        if let Some(error) = error {
            return Err(Failure::endpoint(endpoint.refused(&error)));
        }
        if let Err(error) = socket.peer_addr() {
            return if error.kind() == ErrorKind::NotConnected {
                Ok(Some(Drive::WantWrite))
            } else {
                Err(Failure::endpoint(endpoint.refused(&error)))
            };
        }
        self.start_tls(ctx, endpoint)?;
        Ok(None)
    }

    fn start_session(&mut self, ctx: &ConnectContext) {
        let next = match &self.purpose {
            Purpose::Session(_) => {
                self.to_send.extend_from_slice(ctx.startup());
                Step::Session
            }
            Purpose::Cancel(request) => {
                self.to_send.extend_from_slice(request);
                Step::Cancelled
            }
        };
        match self.step {
            Step::Connect => self.after_connect = next,
            _ => self.step = next,
        }
    }

    fn start_tls(&mut self, ctx: &ConnectContext, endpoint: &Endpoint) -> Result<(), Failure> {
        let Some(tls) = ctx.tls() else {
            return Err(Failure::stop_kind(Kind::Tls("TLS is not set up".into())));
        };
        let name = &ctx.options().hosts[endpoint.host_index].name;
        let session = tls
            .client(name, endpoint.ip())
            .map_err(|error| Failure::stop(error).or_other_encryption())?;
        self.channel.start_tls(session);
        self.step = Step::Tls;
        Ok(())
    }

    /// One byte: `S`, `N`, or an error of a server that knows no TLS at all.
    fn ssl_reply(
        &mut self,
        ctx: &ConnectContext,
        endpoint: &Endpoint,
    ) -> Result<Option<Drive>, Failure> {
        if let Some(wait) = self.send_all()?.or_else(|| self.wait_for_answer()) {
            return Ok(Some(wait));
        }
        let mut reply = [0; 1];
        let read = match self.channel.recv(&mut reply) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                return Ok(Some(Drive::WantRead));
            }
            other => other.map_err(|error| Failure::lost(error).or_other_encryption())?,
        };
        match reply[0] {
            _ if read == 0 => Err(Failure::endpoint(Error::closed()).or_other_encryption()),
            b'S' => {
                // Only this byte was read, so nothing that came in clear text
                // can pass for something that came encrypted.
                self.start_tls(ctx, endpoint)?;
                Ok(None)
            }
            b'N' if ctx.options().ssl.mode == SslMode::Prefer => {
                self.encrypt = false;
                self.start_session(ctx);
                Ok(None)
            }
            b'N' => Err(Failure::stop_kind(Kind::Tls(
                "server does not support SSL, but SSL was required".into(),
            ))),
            b'E' => Err(Failure::stop_kind(Kind::Tls(
                "server sent an error response during SSL exchange".into(),
            ))
            .or_other_encryption()),
            other => Err(Failure::stop_kind(Kind::Tls(format!(
                "received invalid response to SSL negotiation: {}",
                char::from(other).escape_default()
            )))),
        }
    }

    fn tls(&mut self, ctx: &ConnectContext) -> Result<Option<Drive>, Failure> {
        match self.channel.handshake() {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                let writes = self.channel.wants_write();
                return Ok(Some(if writes { Drive::WantWrite } else { Drive::WantRead }));
            }
            Err(error) => {
                let kind = tls::explain(&error).map(Kind::Tls).unwrap_or_else(|| {
                    Kind::Tls(format!(
                        "SSL error: the server closed the connection during the handshake ({})",
                        crate::error::os_words(&error)
                    ))
                });
                return Err(Failure::stop_kind(kind).or_other_encryption());
            }
        }
        let session = self.channel.tls();
        let direct = ctx.options().ssl.negotiation == SslNegotiation::Direct;
        if direct && session.is_none_or(|tls| tls.alpn_protocol().is_none()) {
            return Err(Failure::stop_kind(Kind::Tls(
                "direct SSL connection was established without ALPN protocol negotiation \
                 extension"
                    .into(),
            )));
        }
        self.end_point = session
            .and_then(|tls| tls.peer_certificates())
            .and_then(|chain| tls::server_end_point(chain.first()?));
        self.start_session(ctx);
        Ok(None)
    }

    /// Sends what is to be sent, receives, and takes messages one by one.
    fn talk(
        &mut self,
        ctx: &ConnectContext,
        endpoint: &Endpoint,
    ) -> Result<Option<Drive>, Failure> {
        loop {
            if let Some(wait) = self.send_all()? {
                return Ok(Some(wait));
            }
            while let Some(len) = self.take_message(ctx, endpoint)? {
                self.received.drain(..len);
                if self.step == Step::Done {
                    return Ok(None);
                }
            }
            if !self.to_send.is_empty() {
                continue;
            }
            if let Some(wait) = self.wait_for_answer() {
                return Ok(Some(wait));
            }
            let old_len = self.received.len();
            self.received.resize(old_len + READ_LEN, 0);
            let result = self.channel.recv(&mut self.received[old_len..]);
            self.received.truncate(old_len + *result.as_ref().unwrap_or(&0));
            self.more = result.as_ref().is_ok_and(|read| *read == READ_LEN);
            match result {
                Ok(0) if self.step == Step::Cancelled => self.step = Step::Done,
                Ok(0) => return Err(Failure::endpoint(Error::closed())),
                Ok(_) => continue,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return Ok(Some(Drive::WantRead));
                }
                // A server may close a cancel connection without ceremony.
                Err(_) if self.step == Step::Cancelled => self.step = Step::Done,
                Err(error) => return Err(Failure::lost(error)),
            }
            return Ok(None);
        }
    }

    /// Waits instead of reading where something was sent this moment: the answer
    /// takes longer than the system call that would find nothing. TLS may have
    /// read it already.
    fn wait_for_answer(&mut self) -> Option<Drive> {
        let said = std::mem::take(&mut self.said);
        (said && !self.channel.is_tls()).then_some(Drive::WantRead)
    }

    /// Hands all to the socket; says what to wait for if that did not work.
    fn send_all(&mut self) -> Result<Option<Drive>, Failure> {
        self.said |= !self.to_send.is_empty() && !self.more;
        while !self.to_send.is_empty() {
            match self.channel.send(&self.to_send) {
                Ok(sent) => drop(self.to_send.drain(..sent)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return Ok(Some(Drive::WantWrite));
                }
                Err(error) => return Err(Failure::lost(error)),
            }
        }
        match self.channel.flush() {
            Ok(()) => Ok(None),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(Some(Drive::WantWrite)),
            Err(error) => Err(Failure::lost(error)),
        }
    }

    /// Acts on the first message received; its length, or `None` where it is
    /// not there yet.
    fn take_message(
        &mut self,
        ctx: &ConnectContext,
        endpoint: &Endpoint,
    ) -> Result<Option<usize>, Failure> {
        let len_max = if self.authenticated { FRAME_LEN_MAX } else { HANDSHAKE_FRAME_LEN_MAX };
        let Some(frame) = next_frame_within(&self.received, len_max)? else { return Ok(None) };
        let len = frame.total_len();
        match (self.step, frame.tag) {
            (_, tag::NOTICE_RESPONSE) => {
                self.session.notices.push(ErrorFields::new(frame.body).to_server_error());
            }
            (_, tag::ERROR_RESPONSE) => return Err(self.refused(&frame)),
            (_, tag::PARAMETER_STATUS) if self.authenticated => {
                self.session.set_parameter(frame.body)?;
            }
            (Step::Session, tag::AUTHENTICATION) => {
                let end_point = self.end_point.as_deref();
                let with = ctx.credentials(
                    endpoint,
                    self.password.as_ref(),
                    self.channel.is_tls(),
                    end_point,
                );
                let progress = self
                    .exchange
                    .respond(frame.body, &with, &mut self.to_send)
                    .map_err(Failure::auth)?;
                self.authenticated |= progress == Progress::Authenticated;
            }
            (Step::Session, tag::BACKEND_KEY_DATA) if self.authenticated => {
                self.session.set_key(frame.body)?;
            }
            (Step::Session, tag::NEGOTIATE_PROTOCOL_VERSION) => check_version(&frame)?,
            (Step::Session, tag::READY_FOR_QUERY) if self.authenticated => {
                let wanted = self.wanted();
                self.settle(judge(wanted, &self.session))?;
            }
            (Step::Check(question, _), tag::DATA_ROW) => {
                let answer = DataRow::parse(frame.body)?.values().next().transpose()?.flatten();
                self.step = Step::Check(question, answer.map(Question::is_yes));
            }
            (Step::Check(..), tag::ROW_DESCRIPTION | tag::COMMAND_COMPLETE) => {}
            (Step::Check(_, answer), tag::READY_FOR_QUERY) => {
                let Some(answer) = answer else {
                    // The next host may know what it is.
                    let words = "the server did not say whether it is read-only or in recovery";
                    return Err(Failure::host(Error::new(Kind::Connect(words.into()))));
                };
                self.settle(verdict(self.wanted(), answer))?;
            }
            (_, tag) => {
                return Err(ProtocolError::Unexpected { tag, doing: "connecting" }.into());
            }
        }
        Ok(Some(len))
    }

    const fn wanted(&self) -> TargetSessionAttrs {
        match self.purpose {
            Purpose::Session(wanted) => wanted,
            Purpose::Cancel(_) => TargetSessionAttrs::Any,
        }
    }

    fn settle(&mut self, verdict: Verdict) -> Result<(), Failure> {
        match verdict {
            Verdict::Accept => self.step = Step::Done,
            Verdict::Ask(question) => {
                frontend::query(&mut self.to_send, question.sql().as_bytes())
                    .map_err(Failure::stop)?;
                self.step = Step::Check(question, None);
            }
            Verdict::Reject(reason) => {
                // Politeness only; the socket is about to be closed anyway.
                let mut goodbye = Vec::new();
                frontend::terminate(&mut goodbye);
                let _ = self.channel.send(&goodbye);
                return Err(Failure::host(Error::new(Kind::Connect(reason.into()))));
            }
        }
        Ok(())
    }

    /// The server's refusal. As in libpq: a server that is just starting up or
    /// shutting down gives way to the next host, any other decision stands.
    fn refused(&self, frame: &Frame<'_>) -> Failure {
        let error = ErrorFields::new(frame.body).to_server_error();
        let elsewhere =
            error.sqlstate == SqlState::CANNOT_CONNECT_NOW || matches!(self.step, Step::Check(..));
        let failure = if elsewhere { Failure::host(error.into()) } else { Failure::stop(error) };
        if self.authenticated { failure } else { failure.or_other_encryption() }
    }
}

/// Nothing newer than 3.0 was asked for, so there is nothing to give up.
fn check_version(frame: &Frame<'_>) -> Result<(), Failure> {
    let offer = NegotiateProtocolVersion::parse(frame.body)?;
    if offer.version >> 16 == 3 && offer.unknown_options == 0 {
        return Ok(());
    }
    Err(Failure::stop_kind(Kind::Connect(format!(
        "the server speaks protocol version {}.{} only",
        offer.version >> 16,
        offer.version & 0xffff
    ))))
}
