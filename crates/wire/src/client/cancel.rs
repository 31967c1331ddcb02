//! Cancelling what a session is doing, from outside.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::io::wait_for;
use crate::connect::{Attempt, ConnectContext, Drive, Purpose};
use crate::error::{Error, Kind};
use crate::frontend;

/// How long a cancel request may take. It is made when somebody is waiting for
/// things to end, so it must not hang on a server that is gone.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(5);

/// Cancels the running statement of one session. `Send`, and independent of
/// the session's life.
#[derive(Clone)]
pub struct CancelHandle {
    ctx: Arc<ConnectContext>,
    endpoint_index: usize,
    encrypt: bool,
    backend_pid: i32,
    secret_key: Vec<u8>,
}

impl std::fmt::Debug for CancelHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The key would let anybody cancel.
        f.debug_struct("CancelHandle")
            .field("backend_pid", &self.backend_pid)
            .finish_non_exhaustive()
    }
}

impl CancelHandle {
    /// For a session known by its parts, such as one of the engine's.
    /// `encrypt` is [`Channel::is_tls`](crate::channel::Channel::is_tls).
    #[must_use]
    pub const fn new(
        ctx: Arc<ConnectContext>,
        endpoint_index: usize,
        encrypt: bool,
        backend_pid: i32,
        secret_key: Vec<u8>,
    ) -> Self {
        Self { ctx, endpoint_index, encrypt, backend_pid, secret_key }
    }

    /// Sends a cancel request over a connection of its own, encrypted if the
    /// session is, and waits until the server has taken it. Whether there was
    /// anything to cancel shows on the session: it gets a `57014`, or not.
    ///
    /// # Errors
    /// The connection for the request failed, or took longer than 5 seconds.
    pub fn cancel(&self) -> Result<(), Error> {
        let mut request = Vec::new();
        frontend::cancel_request(&mut request, self.backend_pid, &self.secret_key)?;
        let deadline = Instant::now() + CANCEL_TIMEOUT;
        let endpoint = &self.ctx.endpoints()[self.endpoint_index];
        let purpose = Purpose::Cancel(request);
        let mut attempt = Attempt::open(&self.ctx, endpoint, self.encrypt, purpose)
            .map_err(|failure| failure.error)?;
        loop {
            let drive = attempt.drive(&self.ctx, endpoint).map_err(|failure| failure.error)?;
            if drive == Drive::Done {
                return Ok(());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Error::new(Kind::Timeout));
            }
            wait_for(&attempt.channel, drive == Drive::WantRead, drive == Drive::WantWrite, left)?;
        }
    }
}
