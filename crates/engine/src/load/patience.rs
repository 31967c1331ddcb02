//! Trying again what the server says was not done.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pgdyno_target::dialect::Dialect;

use super::error::Failure;

/// Tries of one statement. With the waits between them that is ten seconds of
/// one conflict after the other: by then it is no coincidence.
const TRIES_MAX: u32 = 12;

/// Wait before the second try; doubled for each further one.
const WAIT_FIRST: Duration = Duration::from_millis(20);

/// The longest wait between two tries.
const WAIT_MAX: Duration = Duration::from_secs(2);

/// How often a wait looks at the stop flag.
const LOOK: Duration = Duration::from_millis(20);

/// Tries again, and counts how often.
pub(super) struct Patience<'a> {
    dialect: &'a dyn Dialect,
    stop: &'a AtomicBool,
    counts: &'a Counts,
}

/// Tries that failed, by SQLSTATE.
#[derive(Debug, Default)]
pub(super) struct Counts(Mutex<BTreeMap<String, u64>>);

impl Counts {
    fn add(&self, sqlstate: &str) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry(sqlstate.to_owned()).or_default() += 1;
    }

    /// All counts, in the order of their SQLSTATEs.
    pub(super) fn all(&self) -> Vec<(String, u64)> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.iter().map(|(state, count)| (state.clone(), *count)).collect()
    }
}

impl<'a> Patience<'a> {
    pub(super) fn new(dialect: &'a dyn Dialect, stop: &'a AtomicBool, counts: &'a Counts) -> Self {
        Self { dialect, stop, counts }
    }

    /// Runs `work` until it succeeds, fails for good, or has had its tries.
    /// Only for work that is a transaction of its own: the server's word that
    /// nothing was done concerns the transaction.
    pub(super) fn with<T>(
        &self,
        mut work: impl FnMut() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut wait = WAIT_FIRST;
        for _ in 1..TRIES_MAX {
            let failure = match work() {
                Ok(done) => return Ok(done),
                Err(failure) => failure,
            };
            let Some((sqlstate, words)) = failure.refusal() else { return Err(failure) };
            if !self.dialect.classify(sqlstate, words).is_retryable() {
                return Err(failure);
            }
            self.counts.add(sqlstate);
            pause(self.stop, wait)?;
            wait = WAIT_MAX.min(wait * 2);
        }
        work()
    }
}

/// Sleeps, and wakes early where the load is to stop.
pub(super) fn pause(stop: &AtomicBool, time: Duration) -> Result<(), Failure> {
    let end = Instant::now() + time;
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err(Failure::Stopped);
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        thread::sleep(left.min(LOOK));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::LoadError;
    use pgdyno_target::postgres;

    fn refused(sqlstate: &str, connection_lost: bool) -> Failure {
        Failure::Error(LoadError::Statement {
            what: "COPY".to_owned(),
            at: "\"h\", port 1".to_owned(),
            sqlstate: Some(sqlstate.to_owned()),
            words: "no".to_owned(),
            connection_lost,
        })
    }

    fn tries(failures: u32, sqlstate: &str, lost: bool) -> (bool, u32, Vec<(String, u64)>) {
        let (stop, counts) = (AtomicBool::new(false), Counts::default());
        let mut tries = 0;
        let done = Patience::new(postgres(), &stop, &counts).with(|| {
            tries += 1;
            if tries <= failures { Err(refused(sqlstate, lost)) } else { Ok(()) }
        });
        (done.is_ok(), tries, counts.all())
    }

    /// What may be tried again is, and counted; what may not is told at once.
    #[test]
    fn only_what_may_succeed_is_tried_again() {
        assert_eq!(tries(3, "40001", false), (true, 4, vec![("40001".to_owned(), 3)]));
        assert_eq!(tries(1, "23505", false), (false, 1, vec![]));
        assert_eq!(tries(1, "40003", false), (false, 1, vec![]));
        // The connection is gone: whether anything was done is not known.
        assert_eq!(tries(1, "40001", true), (false, 1, vec![]));
    }

    /// A stop ends the waiting, whatever the number of tries left.
    #[test]
    fn stop_ends_the_waiting() {
        let (stop, counts) = (AtomicBool::new(true), Counts::default());
        let done: Result<(), Failure> =
            Patience::new(postgres(), &stop, &counts).with(|| Err(refused("40001", false)));
        assert!(matches!(done, Err(Failure::Stopped)));
    }
}
