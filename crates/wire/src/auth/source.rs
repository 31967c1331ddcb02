//! Passwords that are made anew: asked for at a connect, renewed before they
//! are too old.
//!
//! How a password is made is a [`PasswordMaker`]'s business: it may run a
//! command or sign a token, and may take its time. A [`PasswordSource`] keeps
//! what was made and has one thread that makes the next: one at a time,
//! however many connections ask, and never on the thread of the one that asks.
//! A password that is in use is renewed ahead of its end, so that a connect in
//! the middle of a run finds one.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::secret::Secret;

/// How soon a connection that waits for a password should look again. A
/// command takes tens of milliseconds at least, a local signature none.
pub(crate) const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// For how long a failure answers further questions, so that a thousand
/// clients do not run a failing command a thousand times.
const FAILURE_KEPT: Duration = Duration::from_secs(1);

/// When renewing ahead failed, the next try: the old password is still good.
const RENEW_AGAIN: Duration = Duration::from_secs(5);

/// Of a lifetime, the part after which a password in use is renewed.
const RENEW_AT_PERCENT: u32 = 75;

/// How long the end of a source waits for its thread. A maker looks at its
/// stop flag more often; one that hangs in a system call is left behind.
const END_MAX: Duration = Duration::from_millis(500);

/// Whom a password is for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Login {
    /// The host's name as given.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The user of the database.
    pub user: String,
}

/// A password, fresh.
#[derive(Debug, Clone)]
pub struct Made {
    /// The password.
    pub password: Secret,
    /// How long it may be used to connect; `None` is for ever.
    pub lifetime: Option<Duration>,
}

/// A way to make passwords.
pub trait PasswordMaker: fmt::Debug + Send + Sync {
    /// True where every host and user has its own; false where one serves all.
    fn differs_by_login(&self) -> bool;

    /// Makes one. May block; gives up soon after `stop` is set.
    ///
    /// # Errors
    /// Why there is none, for people; never with a secret in it.
    fn make(&self, login: &Login, stop: &AtomicBool) -> Result<Made, String>;
}

/// Where connections get their passwords from. Cheap to clone; all clones are
/// the same source.
#[derive(Clone)]
pub struct PasswordSource(Arc<Owner>);

impl fmt::Debug for PasswordSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PasswordSource").field(&self.0.shared.maker).finish()
    }
}

impl PartialEq for PasswordSource {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for PasswordSource {}

/// What a question gets.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// Here it is.
    Ready(Password),
    /// It is being made.
    Wait,
    /// There is none; why.
    Failed(String),
}

/// A password of a source.
#[derive(Debug, Clone)]
pub(crate) struct Password {
    pub(crate) secret: Secret,
    /// Tells it from the ones before and after.
    number: u64,
}

/// Ends the thread once nobody can ask any more.
struct Owner {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    maker: Arc<dyn PasswordMaker>,
    state: Mutex<State>,
    changed: Condvar,
    stop: AtomicBool,
}

#[derive(Default)]
struct State {
    slots: Vec<Slot>,
    made: u64,
}

/// The passwords of one login, or of all.
struct Slot {
    login: Login,
    current: Option<Current>,
    /// Somebody waits for one.
    wanted: bool,
    /// Somebody asked since the current one was made.
    used: bool,
    failure: Option<(String, Instant)>,
}

struct Current {
    password: Password,
    made_at: Instant,
    expires_at: Option<Instant>,
    renew_at: Option<Instant>,
}

impl Current {
    fn new(made: Made, number: u64, now: Instant) -> Self {
        let later = |lifetime: Duration| now.checked_add(lifetime);
        let part = |lifetime: Duration| lifetime * RENEW_AT_PERCENT / 100;
        Self {
            password: Password { secret: made.password, number },
            made_at: now,
            expires_at: made.lifetime.and_then(later),
            renew_at: made.lifetime.map(part).and_then(later),
        }
    }

    fn is_good(&self, now: Instant) -> bool {
        self.expires_at.is_none_or(|end| now < end)
    }
}

impl PasswordSource {
    /// A source of what `maker` makes. Nothing is made before the first
    /// connection asks.
    #[must_use]
    pub fn new(maker: Arc<dyn PasswordMaker>) -> Self {
        let shared = Arc::new(Shared {
            maker,
            state: Mutex::default(),
            changed: Condvar::new(),
            stop: AtomicBool::new(false),
        });
        Self(Arc::new(Owner { shared, thread: Mutex::new(None) }))
    }

    /// The password for a login. Never waits: see [`LOOK_AGAIN`].
    pub(crate) fn ask(&self, login: &Login) -> Answer {
        let now = Instant::now();
        let shared = &self.0.shared;
        let mut state = shared.lock();
        let slot = state.slot(login, shared.maker.differs_by_login());
        // What nobody used is not renewed: the thread may be asleep over it.
        let is_news = !std::mem::replace(&mut slot.used, true);
        if let Some(current) = slot.current.as_ref().filter(|current| current.is_good(now)) {
            let answer = Answer::Ready(current.password.clone());
            if is_news {
                shared.changed.notify_all();
            }
            return answer;
        }
        if let Some((words, at)) = &slot.failure
            && !slot.wanted
            && now.duration_since(*at) < FAILURE_KEPT
        {
            return Answer::Failed(words.clone());
        }
        slot.wanted = true;
        drop(state);
        shared.changed.notify_all();
        match self.0.start() {
            Ok(()) => Answer::Wait,
            Err(error) => Answer::Failed(format!("could not start a thread: {error}")),
        }
    }

    /// The server did not take it. True where another may do: it was made
    /// before `began`, so that its end may have come sooner than was said.
    pub(crate) fn refused(&self, login: &Login, password: &Password, began: Instant) -> bool {
        let shared = &self.0.shared;
        let mut state = shared.lock();
        let slot = state.slot(login, shared.maker.differs_by_login());
        match &slot.current {
            Some(current) if current.password.number == password.number => {
                let is_old = current.made_at < began;
                if is_old {
                    slot.current = None;
                }
                is_old
            }
            // Another has been made meanwhile, or is about to be.
            _ => true,
        }
    }
}

impl State {
    fn slot(&mut self, login: &Login, differs: bool) -> &mut Slot {
        let found = self.slots.iter().position(|slot| !differs || slot.login == *login);
        let at = found.unwrap_or_else(|| {
            let login = login.clone();
            let slot = Slot { login, current: None, wanted: false, used: false, failure: None };
            self.slots.push(slot);
            self.slots.len() - 1
        });
        &mut self.slots[at]
    }

    /// Who needs a password first: those whom somebody waits for.
    fn next(&self, now: Instant) -> Option<usize> {
        let is_due = |slot: &Slot| slot.renew_at().is_some_and(|at| at <= now);
        let wanted = self.slots.iter().position(|slot| slot.wanted);
        wanted.or_else(|| self.slots.iter().position(is_due))
    }

    fn next_at(&self) -> Option<Instant> {
        self.slots.iter().filter_map(Slot::renew_at).min()
    }
}

impl Slot {
    /// Nobody's password is made ahead of time if nobody connects any more.
    fn renew_at(&self) -> Option<Instant> {
        self.current.as_ref().filter(|_| self.used)?.renew_at
    }

    fn take(&mut self, result: Result<Made, String>, number: u64) {
        let now = Instant::now();
        self.wanted = false;
        match result {
            Ok(made) if made.password.is_empty() => {
                self.failure = Some(("could not get a password: it is empty".to_owned(), now));
            }
            Ok(made) => {
                self.failure = None;
                self.used = false;
                self.current = Some(Current::new(made, number, now));
            }
            Err(words) => {
                self.failure = Some((format!("could not get a password: {words}"), now));
                if let Some(current) = &mut self.current {
                    current.renew_at = now.checked_add(RENEW_AGAIN);
                }
            }
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Whole even if a thread died with the lock in hand.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread: makes what is wanted, then what is due, then waits.
    fn work(&self) {
        let mut state = self.lock();
        while !self.stop.load(Ordering::Relaxed) {
            let now = Instant::now();
            if let Some(at) = state.next(now) {
                let login = state.slots[at].login.clone();
                state.made += 1;
                let number = state.made;
                drop(state);
                // Or those who wait for it would wait for ever.
                let made = AssertUnwindSafe(|| self.maker.make(&login, &self.stop));
                let result = catch_unwind(made)
                    .unwrap_or_else(|_| Err("what makes passwords broke down".to_owned()));
                state = self.lock();
                // Slots are never taken away, so the place is the same.
                state.slots[at].take(result, number);
                continue;
            }
            state = match state.next_at() {
                Some(at) => {
                    let wait = at.saturating_duration_since(now);
                    self.changed.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

impl Owner {
    /// Starts the thread unless it runs.
    fn start(&self) -> std::io::Result<()> {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.as_ref().is_none_or(JoinHandle::is_finished) {
            let shared = Arc::clone(&self.shared);
            let builder = std::thread::Builder::new().name("passwords".to_owned());
            *thread = Some(builder.spawn(move || shared.work())?);
        }
        Ok(())
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        {
            // Under the lock, or the thread could miss it between its look
            // at the flag and its sleep.
            let _state = self.shared.lock();
            self.shared.stop.store(true, Ordering::Relaxed);
        }
        self.shared.changed.notify_all();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(thread) = thread else { return };
        let begin = Instant::now();
        while !thread.is_finished() && begin.elapsed() < END_MAX {
            std::thread::sleep(LOOK_AGAIN);
        }
        if thread.is_finished() {
            // A panic has been told already.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
