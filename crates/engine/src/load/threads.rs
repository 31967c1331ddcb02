//! Runs one phase of a load in threads while the caller watches.
//!
//! The watching thread wakes when a worker ends and ten times a second: it
//! reports progress, and turns an interrupt or a first failure into the stop
//! flag that all workers and their connections obey.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Instant;

use super::TICK;
use super::error::{Failure, LoadError};

/// What the watching thread needs besides the work.
pub(super) struct Watch<'a> {
    /// Set by the person.
    pub(super) interrupt: &'a AtomicBool,
    /// Obeyed by the workers.
    pub(super) stop: &'a AtomicBool,
    /// Told at the begin, at each tick, and at the end.
    pub(super) tick: &'a dyn Fn(),
}

impl Watch<'_> {
    /// Runs `work` once for each input, each in its own thread, and gives the
    /// results in the order of the inputs.
    ///
    /// # Errors
    /// The first failure that is more than being stopped.
    pub(super) fn each<I: Send, O: Send>(
        &self,
        inputs: impl IntoIterator<Item = I>,
        work: impl Fn(I) -> Result<O, Failure> + Sync,
    ) -> Result<Vec<O>, Failure> {
        (self.tick)();
        let (sender, receiver) = mpsc::channel();
        let ended = thread::scope(|scope| {
            let mut count = 0;
            for (number, input) in inputs.into_iter().enumerate() {
                let (sender, work) = (sender.clone(), &work);
                // A receiver that is gone has nothing left to learn.
                scope.spawn(move || drop(sender.send((number, work(input)))));
                count += 1;
            }
            drop(sender);
            self.collect(&receiver, count)
        });
        (self.tick)();
        ended
    }

    fn collect<O>(
        &self,
        receiver: &mpsc::Receiver<(usize, Result<O, Failure>)>,
        count: usize,
    ) -> Result<Vec<O>, Failure> {
        let mut results: Vec<Option<O>> = (0..count).map(|_| None).collect();
        let mut first: Option<LoadError> = None;
        let mut next_tick = Instant::now() + TICK;
        loop {
            let wait = next_tick.saturating_duration_since(Instant::now());
            match receiver.recv_timeout(wait) {
                Ok((number, Ok(result))) => results[number] = Some(result),
                Ok((_, Err(failure))) => {
                    self.stop.store(true, Ordering::Relaxed);
                    if let Failure::Error(error) = failure {
                        first.get_or_insert(error);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    (self.tick)();
                    next_tick = Instant::now() + TICK;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if self.interrupt.load(Ordering::Relaxed) {
                self.stop.store(true, Ordering::Relaxed);
            }
        }
        match first {
            Some(error) => Err(Failure::Error(error)),
            None => results.into_iter().collect::<Option<Vec<O>>>().ok_or(Failure::Stopped),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;
    use std::time::Duration;

    fn check_error(found: &str) -> Failure {
        let found = found.to_owned();
        Failure::Error(LoadError::Check { table: "t", found, expected: String::new() })
    }

    /// Results come back in the order of the inputs, whoever ends first.
    #[test]
    fn results_keep_their_order() {
        let (interrupt, stop) = (AtomicBool::new(false), AtomicBool::new(false));
        let watch = Watch { interrupt: &interrupt, stop: &stop, tick: &|| {} };
        let slow_first = |n: u64| {
            thread::sleep(Duration::from_millis(40 - 10 * n));
            Ok(n)
        };
        assert_eq!(watch.each(0..4, slow_first).unwrap(), [0, 1, 2, 3]);
        assert!(!stop.load(Ordering::Relaxed));
    }

    /// One failure stops the others, and it is the one that is told.
    #[test]
    fn first_failure_stops_the_others() {
        let (interrupt, stop) = (AtomicBool::new(false), AtomicBool::new(false));
        let watch = Watch { interrupt: &interrupt, stop: &stop, tick: &|| {} };
        let work = |n: u32| -> Result<(), Failure> {
            if n == 2 {
                return Err(check_error("broken"));
            }
            while !stop.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(1));
            }
            Err(Failure::Stopped)
        };
        match watch.each(0..4, work) {
            Err(Failure::Error(LoadError::Check { found, .. })) => assert_eq!(found, "broken"),
            other => panic!("{other:?}"),
        }
    }

    /// An interrupt reaches the workers, and ticks go on until they have ended.
    #[test]
    fn interrupt_reaches_the_workers() {
        let (interrupt, stop) = (AtomicBool::new(false), AtomicBool::new(false));
        let ticks = AtomicU32::new(0);
        let tick = || {
            if ticks.fetch_add(1, Ordering::Relaxed) == 2 {
                interrupt.store(true, Ordering::Relaxed);
            }
        };
        let watch = Watch { interrupt: &interrupt, stop: &stop, tick: &tick };
        let work = |()| -> Result<(), Failure> {
            while !stop.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(1));
            }
            Err(Failure::Stopped)
        };
        assert!(matches!(watch.each([(), ()], work), Err(Failure::Stopped)));
        assert!(ticks.load(Ordering::Relaxed) >= 3);
    }
}
