//! Tests of passwords that are made anew.

use std::sync::atomic::AtomicU32;

use super::*;

/// How long a test waits for what must come; far more than it takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Counts its passwords; the number of the run is the password.
#[derive(Debug)]
struct Counting {
    runs: AtomicU32,
    together: AtomicU32,
    lifetime: Option<Duration>,
    differs: bool,
    fails: AtomicBool,
}

fn counting(lifetime: Option<Duration>) -> Counting {
    let zero = AtomicU32::default;
    Counting {
        runs: zero(),
        together: zero(),
        lifetime,
        differs: false,
        fails: AtomicBool::default(),
    }
}

impl PasswordMaker for Counting {
    fn differs_by_login(&self) -> bool {
        self.differs
    }

    fn make(&self, login: &Login, _: &AtomicBool) -> Result<Made, String> {
        assert_eq!(self.together.fetch_add(1, Ordering::SeqCst), 0, "two at a time");
        std::thread::sleep(Duration::from_millis(5));
        let run = self.runs.fetch_add(1, Ordering::SeqCst) + 1;
        self.together.fetch_sub(1, Ordering::SeqCst);
        if self.fails.load(Ordering::SeqCst) {
            return Err("no luck".to_owned());
        }
        let password = Secret::new(format!("{run} {}", login.host));
        Ok(Made { password, lifetime: self.lifetime })
    }
}

fn login(host: &str) -> Login {
    Login { host: host.to_owned(), port: 5432, user: "u".to_owned() }
}

/// Asks until there is an answer, as a connection does.
fn answer(source: &PasswordSource, host: &str) -> Result<Password, String> {
    let begin = Instant::now();
    loop {
        match source.ask(&login(host)) {
            Answer::Ready(password) => return Ok(password),
            Answer::Failed(words) => return Err(words),
            Answer::Wait => assert!(begin.elapsed() < PATIENCE, "no answer"),
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}

/// Many ask at once; one password is made, and all get it.
#[test]
fn one_run_serves_all() {
    let maker = Arc::new(counting(None));
    let source = PasswordSource::new(Arc::clone(&maker) as Arc<dyn PasswordMaker>);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let password = answer(&source, "h").unwrap();
                assert_eq!(password.secret.reveal(), "1 h");
            });
        }
    });
    assert_eq!(maker.runs.load(Ordering::SeqCst), 1);
}

/// A maker that breaks down is a failure for those who wait, and is asked
/// again later.
#[test]
fn a_breakdown_is_a_failure() {
    #[derive(Debug)]
    struct Breaking(AtomicBool);

    impl PasswordMaker for Breaking {
        fn differs_by_login(&self) -> bool {
            false
        }

        fn make(&self, _: &Login, _: &AtomicBool) -> Result<Made, String> {
            assert!(self.0.swap(true, Ordering::SeqCst), "broken on purpose");
            Ok(Made { password: Secret::new("later"), lifetime: None })
        }
    }

    let source = PasswordSource::new(Arc::new(Breaking(AtomicBool::new(false))));
    assert!(answer(&source, "h").unwrap_err().contains("broke down"));
    let begin = Instant::now();
    while answer(&source, "h").is_err() {
        assert!(begin.elapsed() < PATIENCE, "never asked again");
        std::thread::sleep(LOOK_AGAIN);
    }
    assert_eq!(answer(&source, "h").unwrap().secret.reveal(), "later");
}

/// Where passwords differ by login, each login gets its own, once.
#[test]
fn each_login_has_its_own() {
    let maker = Arc::new(Counting { differs: true, ..counting(None) });
    let source = PasswordSource::new(Arc::clone(&maker) as Arc<dyn PasswordMaker>);
    for _ in 0..2 {
        assert_eq!(answer(&source, "a").unwrap().secret.reveal(), "1 a");
        assert_eq!(answer(&source, "b").unwrap().secret.reveal(), "2 b");
    }
}

/// A password that is in use is renewed without anybody waiting for it, and
/// the old one is not handed out after its end.
#[test]
fn renewed_while_in_use() {
    let maker = Arc::new(counting(Some(Duration::from_millis(200))));
    let source = PasswordSource::new(Arc::clone(&maker) as Arc<dyn PasswordMaker>);
    let first = answer(&source, "h").unwrap();
    // Once more: only what was asked for since it was made is renewed.
    let _again = answer(&source, "h").unwrap();
    let begin = Instant::now();
    while maker.runs.load(Ordering::SeqCst) < 2 {
        assert!(begin.elapsed() < PATIENCE, "never renewed");
        std::thread::sleep(LOOK_AGAIN);
    }
    // The run is counted a moment before its password is there.
    while answer(&source, "h").unwrap().secret == first.secret {
        assert!(begin.elapsed() < PATIENCE, "the old one for ever");
        std::thread::sleep(LOOK_AGAIN);
    }
}

/// A failure is told to those who ask, and the next one after a while gets a
/// new try.
#[test]
fn a_failure_is_told_and_not_kept() {
    let maker = Arc::new(Counting { fails: AtomicBool::new(true), ..counting(None) });
    let source = PasswordSource::new(Arc::clone(&maker) as Arc<dyn PasswordMaker>);
    let words = answer(&source, "h").unwrap_err();
    assert_eq!(words, "could not get a password: no luck");
    maker.fails.store(false, Ordering::SeqCst);
    let begin = Instant::now();
    while answer(&source, "h").is_err() {
        assert!(begin.elapsed() < PATIENCE, "no new try");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(maker.runs.load(Ordering::SeqCst) >= 2);
}

/// A password that the server refuses is made anew if it was an old one, and
/// not if it was made for this very connection.
#[test]
fn an_old_password_is_refused_once() {
    let source = PasswordSource::new(Arc::new(counting(None)));
    let before = Instant::now();
    let first = answer(&source, "h").unwrap();
    assert!(!source.refused(&login("h"), &first, before));
    assert_eq!(answer(&source, "h").unwrap().secret, first.secret);
    assert!(source.refused(&login("h"), &first, Instant::now()));
    assert_ne!(answer(&source, "h").unwrap().secret, first.secret);
    // Somebody else was refused with it a moment later: there is a newer one.
    assert!(source.refused(&login("h"), &first, before));
}

/// A source shows what makes its passwords and none of them.
#[test]
fn debug_hides_passwords() {
    let source = PasswordSource::new(Arc::new(counting(None)));
    let password = answer(&source, "secret-host").unwrap();
    assert!(!format!("{source:?} {password:?}").contains("secret-host"));
}
