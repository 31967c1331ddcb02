//! A blocking session, for everything that is not the load itself.
//!
//! Schema, loading and audits go through this: it waits with poll(2), keeps
//! what the server reports, and can be interrupted by a flag. It favours
//! convenience over speed; the engine uses codec and channel directly.

mod batch;
mod cancel;
mod copy;
mod io;
mod result;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

pub use batch::Batch;
pub use cancel::CancelHandle;
pub use copy::CopyIn;
pub use result::QueryResult;

use crate::backend::{CommandTag, ServerError, TransactionStatus};
use crate::channel::Channel;
use crate::connect::{ConnectContext, Connected, Endpoint};
use crate::error::{Error, Kind};
use crate::frontend;
use io::Stop;

/// How many notices are kept for [`Connection::take_notices`]. A server that
/// talks without end must not fill memory; the oldest go first.
const NOTICES_MAX: usize = 1000;

/// What happens to notices.
type NoticeHandler = Box<dyn FnMut(&ServerError) + Send>;

/// A blocking session. Dropping it says goodbye to the server.
pub struct Connection {
    channel: Channel,
    ctx: Arc<ConnectContext>,
    endpoint_index: usize,
    backend_pid: i32,
    secret_key: Vec<u8>,
    parameters: BTreeMap<String, String>,
    server_version_num: u32,
    status: TransactionStatus,
    /// Received bytes; those before `scanned` are done with.
    received: Vec<u8>,
    scanned: usize,
    to_send: Vec<u8>,
    notices: Vec<ServerError>,
    notice_handler: Option<NoticeHandler>,
    interrupt: Option<Arc<AtomicBool>>,
    timeout: Option<Duration>,
    /// Why the present operation is being given up.
    stop: Option<Stop>,
    operation: io::Operation,
    broken: bool,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection")
            .field("endpoint", self.endpoint())
            .field("backend_pid", &self.backend_pid)
            .field("status", &self.status)
            .field("broken", &self.broken)
            .finish_non_exhaustive()
    }
}

impl Connection {
    /// Connects, and waits until that is done.
    ///
    /// # Errors
    /// No host gave a session; see [`Error`].
    pub fn connect(ctx: &Arc<ConnectContext>) -> Result<Self, Error> {
        Self::connect_interruptible(ctx, None)
    }

    /// As [`Connection::connect`]; gives up soon after the flag is set. The
    /// session goes on watching the flag: see [`Connection::set_interrupt`].
    ///
    /// # Errors
    /// As [`Connection::connect`]; [`Error::is_interrupted`].
    pub fn connect_interruptible(
        ctx: &Arc<ConnectContext>,
        interrupt: Option<Arc<AtomicBool>>,
    ) -> Result<Self, Error> {
        let connected = io::connect(ctx, interrupt.as_deref())?;
        let mut connection = Self::from_connected(Arc::clone(ctx), connected);
        connection.interrupt = interrupt;
        Ok(connection)
    }

    /// Takes over a session that was made without blocking.
    #[must_use]
    pub fn from_connected(ctx: Arc<ConnectContext>, connected: Connected) -> Self {
        Self {
            channel: connected.channel,
            ctx,
            endpoint_index: connected.endpoint_index,
            backend_pid: connected.backend_pid,
            secret_key: connected.secret_key,
            parameters: connected.parameters,
            server_version_num: connected.server_version_num,
            status: TransactionStatus::Idle,
            received: connected.read_ahead,
            scanned: 0,
            to_send: Vec::new(),
            notices: connected.notices,
            notice_handler: None,
            interrupt: None,
            timeout: None,
            stop: None,
            operation: io::Operation::default(),
            broken: false,
        }
    }

    /// Runs one or more statements in the simple protocol; one result for each.
    ///
    /// # Errors
    /// The server's error for the first statement that failed (those before it
    /// are undone unless they committed), or a lost connection.
    pub fn simple_query(&mut self, sql: &str) -> Result<Vec<QueryResult>, Error> {
        self.begin()?;
        frontend::query(&mut self.to_send, sql.as_bytes())?;
        self.collect(Some(sql))
    }

    /// Runs one or more statements and gives the last one's tag; `None` where
    /// there was no statement in `sql`.
    ///
    /// # Errors
    /// As [`Connection::simple_query`].
    pub fn execute(&mut self, sql: &str) -> Result<Option<CommandTag>, Error> {
        Ok(self.simple_query(sql)?.pop().and_then(|result| result.tag))
    }

    /// The first column of the only row; `None` for NULL.
    ///
    /// # Errors
    /// As [`Connection::simple_query`]; another number of rows than one.
    pub fn query_one_text(&mut self, sql: &str) -> Result<Option<String>, Error> {
        let result = self.simple_query(sql)?.pop().unwrap_or_default();
        result.into_only_value().ok_or_else(|| {
            Error::new(Kind::Unexpected(format!("exactly one row was expected of: {sql}")))
        })
    }

    /// The first column of the only row, which must be a whole number.
    ///
    /// # Errors
    /// As [`Connection::query_one_text`]; NULL, or no whole number.
    pub fn query_one_i64(&mut self, sql: &str) -> Result<i64, Error> {
        let text = self.query_one_text(sql)?;
        text.as_deref().and_then(|text| text.parse().ok()).ok_or_else(|| {
            let shown = text.as_deref().unwrap_or("NULL");
            Error::new(Kind::Unexpected(format!(
                "a whole number was expected, and \"{shown}\" came, of: {sql}"
            )))
        })
    }

    /// Runs one statement with text parameters in the extended protocol.
    ///
    /// # Errors
    /// As [`Connection::simple_query`].
    pub fn query_params(
        &mut self,
        sql: &str,
        params: &[Option<&str>],
    ) -> Result<QueryResult, Error> {
        let mut batch = Batch::new();
        batch.query(sql, params)?;
        self.run_one(&batch, Some(sql))
    }

    /// Prepares a statement under a name.
    ///
    /// # Errors
    /// As [`Connection::simple_query`].
    pub fn prepare(&mut self, name: &str, sql: &str) -> Result<(), Error> {
        self.begin()?;
        frontend::parse(&mut self.to_send, name.as_bytes(), sql.as_bytes(), &[])?;
        frontend::sync(&mut self.to_send);
        self.collect(Some(sql)).map(drop)
    }

    /// Runs a prepared statement with text parameters.
    ///
    /// # Errors
    /// As [`Connection::simple_query`].
    pub fn execute_prepared(
        &mut self,
        name: &str,
        params: &[Option<&str>],
    ) -> Result<QueryResult, Error> {
        let mut batch = Batch::new();
        batch.prepared(name, params)?;
        self.run_one(&batch, None)
    }

    /// Sends a batch at once and collects all results. Without a transaction
    /// block the batch is one transaction: the server ends it at the end.
    ///
    /// # Errors
    /// The server's error for the first statement that failed; the rest was
    /// skipped, and outside a block everything is undone.
    pub fn run_batch(&mut self, batch: &Batch) -> Result<Vec<QueryResult>, Error> {
        self.run(batch, None)
    }

    fn run(&mut self, batch: &Batch, sql: Option<&str>) -> Result<Vec<QueryResult>, Error> {
        self.begin()?;
        self.to_send.extend_from_slice(batch.messages());
        frontend::sync(&mut self.to_send);
        self.collect(sql)
    }

    fn run_one(&mut self, batch: &Batch, sql: Option<&str>) -> Result<QueryResult, Error> {
        Ok(self.run(batch, sql)?.pop().unwrap_or_default())
    }

    /// Begins `COPY … FROM STDIN`.
    ///
    /// # Errors
    /// The server's error, or a statement that is no such COPY.
    pub fn copy_in(&mut self, sql: &str) -> Result<CopyIn<'_>, Error> {
        CopyIn::begin(self, sql)
    }

    /// A handle that can cancel what this session is doing, from any thread.
    #[must_use]
    pub fn cancel_handle(&self) -> CancelHandle {
        CancelHandle::new(
            Arc::clone(&self.ctx),
            self.endpoint_index,
            self.channel.is_tls(),
            self.backend_pid,
            self.secret_key.clone(),
        )
    }

    /// Watches a flag. While it is set, running operations are cancelled on
    /// the server and end with [`Error::is_interrupted`], and no new ones
    /// begin; `None` to stop watching, for the tidying up afterwards.
    pub fn set_interrupt(&mut self, interrupt: Option<Arc<AtomicBool>>) {
        self.interrupt = interrupt;
    }

    /// Limits how long each operation may take; it is then cancelled on the
    /// server and ends with [`Error::is_timeout`]. `None`, the default, waits.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) {
        self.timeout = timeout;
    }

    /// Hands notices to a function instead of keeping them.
    pub fn set_notice_handler(&mut self, handler: impl FnMut(&ServerError) + Send + 'static) {
        self.notice_handler = Some(Box::new(handler));
    }

    /// The notices since the last call, oldest first; at most the latest 1000.
    pub fn take_notices(&mut self) -> Vec<ServerError> {
        std::mem::take(&mut self.notices)
    }

    /// A setting that the server reports of itself (`TimeZone`, …).
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.get(name).map(String::as_str)
    }

    /// The server's version as it says it (`15.12 (Debian …)`).
    #[must_use]
    pub fn server_version(&self) -> &str {
        self.parameter("server_version").unwrap_or_default()
    }

    /// The server's version as a number: 150012 for 15.12; 0 if it is none.
    #[must_use]
    pub const fn server_version_num(&self) -> u32 {
        self.server_version_num
    }

    /// Where the session stood after the last operation.
    #[must_use]
    pub const fn transaction_status(&self) -> TransactionStatus {
        self.status
    }

    /// True once the session is of no further use.
    #[must_use]
    pub const fn is_broken(&self) -> bool {
        self.broken
    }

    /// The server's process id for this session.
    #[must_use]
    pub const fn backend_pid(&self) -> i32 {
        self.backend_pid
    }

    /// The socket, for its TLS state.
    #[must_use]
    pub const fn channel(&self) -> &Channel {
        &self.channel
    }

    /// The TLS session, where there is one: its version and cipher.
    #[must_use]
    pub fn tls(&self) -> Option<&rustls::ClientConnection> {
        self.channel.tls()
    }

    /// The options that it was made from.
    #[must_use]
    pub fn options(&self) -> &crate::options::Options {
        self.ctx.options()
    }

    /// Where it is connected to.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.ctx.endpoints()[self.endpoint_index]
    }

    /// What it was made from; further connections to the same place come from it.
    #[must_use]
    pub const fn context(&self) -> &Arc<ConnectContext> {
        &self.ctx
    }

    /// Ends the session. (Dropping does the same.)
    pub fn close(self) {
        drop(self);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.broken || !self.to_send.is_empty() {
            return;
        }
        let mut goodbye = Vec::new();
        frontend::terminate(&mut goodbye);
        // Best effort: the server notices a closed socket as well.
        let _ = self.channel.send(&goodbye);
        self.channel.shutdown();
    }
}
