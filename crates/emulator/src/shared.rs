//! What the sessions of one emulator have in common.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Instant;

use pgdyno_wire::{ConnectContext, Connection};

use crate::config::{Config, Limits};
use crate::tls::ServerTls;
use crate::upstream::Upstream;

/// Everything that sessions share.
pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) tls: Option<ServerTls>,
    /// How sessions reach the server behind.
    pub(crate) upstream: Arc<ConnectContext>,
    /// A session of the emulator's own, to ask who waits for whom.
    pub(crate) control: Mutex<Connection>,
    /// The sessions, by the process id of their server process.
    pub(crate) sessions: Mutex<HashMap<i32, Entry>>,
    /// Counts committed changes of the catalog.
    pub(crate) catalog: AtomicU64,
    pub(crate) stop: AtomicBool,
    pub(crate) bucket: Mutex<Bucket>,
}

/// A session, for the others.
pub(crate) struct Entry {
    pub(crate) upstream: Arc<Mutex<Upstream>>,
    /// What a cancel request must show.
    pub(crate) key: CancelKey,
}

/// Known to the session's client only.
pub(crate) type CancelKey = [u8; 4];

/// Locks, whatever happened to whoever held it last.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// Lets the statement of a server process go on: whichever idle sessions
    /// it waits for give up their locks. They will repeat what they did. A
    /// session that is busy is left alone: it will be idle soon, or the
    /// server's own detector ends a circle.
    pub(crate) fn make_way(&self, pid: i32) {
        let sql = format!("SELECT unnest(pg_blocking_pids({pid}))");
        // An error here means that the statement goes on waiting; it is asked
        // again soon.
        let Ok(results) = lock(&self.control).simple_query(&sql) else { return };
        let blockers = results.iter().flat_map(|result| &result.rows).flatten().flatten();
        for blocker in blockers.filter_map(|text| text.parse::<i32>().ok()) {
            let found = lock(&self.sessions).get(&blocker).map(|entry| Arc::clone(&entry.upstream));
            let Some(session) = found else { continue };
            let mut upstream = match session.try_lock() {
                Ok(upstream) => upstream,
                Err(TryLockError::Poisoned(error)) => error.into_inner(),
                Err(TryLockError::WouldBlock) => continue,
            };
            // Its own session meets the error with its next statement.
            let _ = upstream.detach();
        }
    }
}

/// Tokens for new connections.
pub(crate) struct Bucket {
    tokens: f64,
    filled: Instant,
}

impl Bucket {
    pub(crate) fn full(limits: &Limits) -> Self {
        Self { tokens: f64::from(limits.connections_burst), filled: Instant::now() }
    }

    /// True where one more connection may come.
    pub(crate) fn take(&mut self, limits: &Limits, now: Instant) -> bool {
        let Some(rate) = limits.connections_per_second else { return true };
        let grown = now.saturating_duration_since(self.filled).as_secs_f64() * f64::from(rate);
        self.filled = now;
        self.tokens = (self.tokens + grown).min(f64::from(limits.connections_burst));
        if self.tokens < 1.0 {
            return false;
        }
        self.tokens -= 1.0;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// A burst passes, then the rate holds.
    #[test]
    fn bucket() {
        let limits =
            Limits { connections_per_second: Some(10), connections_burst: 3, ..Limits::default() };
        let mut bucket = Bucket::full(&limits);
        let start = bucket.filled;
        assert_eq!((0..5).filter(|_| bucket.take(&limits, start)).count(), 3);
        let later = start + Duration::from_millis(250);
        assert_eq!((0..5).filter(|_| bucket.take(&limits, later)).count(), 2);
    }
}
