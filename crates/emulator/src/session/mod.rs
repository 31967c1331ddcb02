//! One client's session, message by message.

mod conflict;
mod copy;
mod extended;
mod simple;
mod transaction;

use std::collections::HashMap;
use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::client::Client;
use crate::dialect::Plan;
use crate::refusal::Refusal;
use crate::shared::Shared;
use crate::upstream::{Reply, Upstream};

use extended::{Portal, Prepared};
use transaction::Transaction;

/// How often a session that holds an answer back looks whether it is to end.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Why a statement failed.
#[derive(Debug)]
enum Fault {
    /// In DSQL's words.
    Refused(Refusal),
    /// In the words of the server behind: an ErrorResponse's body.
    Server(Vec<u8>),
    /// The connection to the server behind is gone.
    Gone(pgdyno_wire::Error),
    /// The client is gone.
    Client(io::Error),
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<pgdyno_wire::Error> for Fault {
    fn from(error: pgdyno_wire::Error) -> Self {
        Self::Gone(error)
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Client(error)
    }
}

/// A session.
pub(crate) struct Session {
    client: Client,
    shared: Arc<Shared>,
    upstream: Arc<Mutex<Upstream>>,
    transaction: Option<Transaction>,
    /// The catalog as this session knows it; nothing before its first statement.
    catalog_seen: Option<u64>,
    statements: HashMap<Vec<u8>, Arc<Prepared>>,
    portals: HashMap<Vec<u8>, Portal>,
    /// Numbers the statements and portals in the server behind.
    names: u64,
    /// After an error in the extended protocol: until Sync.
    skipping: bool,
    /// Where the last CommandComplete begins in the output: a commit that
    /// fails takes its place.
    completed_at: Option<usize>,
    /// Answers are complete and not yet sent.
    answered: bool,
    started: Instant,
}

impl Session {
    pub(crate) fn new(client: Client, shared: Arc<Shared>, upstream: Arc<Mutex<Upstream>>) -> Self {
        Self {
            client,
            shared,
            upstream,
            transaction: None,
            catalog_seen: None,
            statements: HashMap::new(),
            portals: HashMap::new(),
            names: 0,
            skipping: false,
            completed_at: None,
            answered: false,
            started: Instant::now(),
        }
    }

    /// Serves until the client says goodbye, or the session is over.
    pub(crate) fn run(mut self) -> io::Result<()> {
        let message_max = self.shared.config.limits.message_bytes_max;
        loop {
            let ends = self.shared.stop.load(Ordering::Relaxed) || self.is_too_old();
            if self.answered && (ends || !self.client.has_message()) {
                self.let_go()?;
            }
            if ends {
                return Ok(());
            }
            let Some(message) = self.client.message(message_max)? else { continue };
            let done = match message.tag {
                b'Q' => self.simple(&message.body),
                b'X' if self.answered => return self.let_go(),
                b'X' => return Ok(()),
                // The rest of a COPY that failed.
                b'd' | b'c' | b'f' => Ok(()),
                tag => self.extended(tag, &message.body),
            };
            match done {
                Ok(()) => {}
                Err(Fault::Client(error)) => return Err(error),
                Err(fault) => {
                    self.report(&fault);
                    return self.client.flush();
                }
            }
        }
    }

    /// A transaction that is open may go on to its own limit.
    fn is_too_old(&self) -> bool {
        self.transaction.is_none()
            && self.started.elapsed() > self.shared.config.limits.session_age_max
    }

    /// Ends a statement that failed: the transaction is failed or gone. The
    /// fault comes back where it ends the session as well.
    fn fail(&mut self, fault: Fault) -> Result<(), Fault> {
        if matches!(fault, Fault::Gone(_) | Fault::Client(_)) {
            return Err(fault);
        }
        self.abort_transaction()?;
        self.report(&fault);
        Ok(())
    }

    fn report(&mut self, fault: &Fault) {
        match fault {
            Fault::Refused(refusal) => self.client.put_error("ERROR", refusal),
            Fault::Server(body) => self.client.put(b'E', body),
            Fault::Gone(error) => {
                let words = format!("the server behind the emulator: {error}");
                self.client.put_error("FATAL", &Refusal::new("08006", words));
            }
            Fault::Client(_) => {}
        }
    }

    /// Appends a CommandComplete, and remembers its place.
    fn complete(&mut self, tag: &str) {
        self.completed_at = Some(self.client.output.len());
        self.client.put(b'C', format!("{tag}\0").as_bytes());
    }

    /// Hands a reply's frames and tag on to the client.
    fn relay(&mut self, reply: &Reply, tag: Option<&'static str>) {
        self.client.output.extend_from_slice(&reply.frames);
        match (tag, &reply.tag) {
            (Some(tag), _) => self.complete(tag),
            (None, Some(body)) => {
                self.completed_at = Some(self.client.output.len());
                self.client.put(b'C', body);
            }
            (None, None) => {}
        }
    }

    /// Ends a transaction that was opened for a statement alone. A commit that
    /// fails takes the place of the answer.
    fn finish_implicit(&mut self) -> Result<(), Fault> {
        if !self.transaction.as_ref().is_some_and(|transaction| transaction.implicit) {
            return Ok(());
        }
        match self.commit() {
            Ok(_) => Ok(()),
            Err(fault) => {
                if let Some(place) = self.completed_at.take() {
                    self.client.output.truncate(place);
                }
                self.fail(fault)
            }
        }
    }

    /// Says that the next message may come.
    fn ready(&mut self) -> Result<(), Fault> {
        let status = match &self.transaction {
            None => b'I',
            Some(transaction) if transaction.failed => b'E',
            Some(_) => b'T',
        };
        self.client.put(b'Z', &[status]);
        self.answered = true;
        if self.shared.config.limits.round_trip.is_zero() {
            self.let_go()?;
        }
        Ok(())
    }

    /// Holds answers back for the way to a cluster and back, and sends them.
    /// Those to requests that came together are held back together, as a
    /// network delays each by the same time and not one after the other.
    fn let_go(&mut self) -> io::Result<()> {
        let begun = Instant::now();
        // The session is idle: whoever needs its locks takes them.
        while !self.shared.stop.load(Ordering::Relaxed) {
            let left = self.shared.config.limits.round_trip.saturating_sub(begun.elapsed());
            if left.is_zero() {
                break;
            }
            std::thread::sleep(left.min(LOOK_EVERY));
        }
        self.answered = false;
        self.client.flush()
    }

    /// `BEGIN`, `COMMIT`, `ROLLBACK`; gives the command tag.
    fn control(&mut self, plan: &Plan) -> Result<&'static str, Fault> {
        match plan {
            Plan::Begin { read_only } => {
                self.begin(*read_only)?;
                Ok("BEGIN")
            }
            Plan::Commit => self.commit(),
            _ => {
                self.roll_back()?;
                Ok("ROLLBACK")
            }
        }
    }

    /// A statement that DSQL refuses, once nothing is wrong with the
    /// transaction itself.
    fn refuse(&self, refusal: &Refusal) -> Fault {
        let failed = self.transaction.as_ref().is_some_and(|transaction| transaction.failed);
        Fault::Refused(if failed { Refusal::failed_transaction() } else { refusal.clone() })
    }
}
