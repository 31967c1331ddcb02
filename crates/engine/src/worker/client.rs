//! One client: its session, its variables, and where it stands in its script.
//!
//! Data only; the transitions are in `advance`, `commands`, `replies`, `failures` and `session`
//! beside this file.

use std::os::fd::AsRawFd as _;

use pgdyno_record::sqlstate::SqlState;
use pgdyno_script::random::Prng;
use pgdyno_script::vars::Vars;
use pgdyno_target::dialect::RetryClass;
use pgdyno_wire::backend::TransactionStatus;
use pgdyno_wire::channel::Channel;
use pgdyno_wire::connect::Connecting;

use super::prepared::Prepared;
use super::procedure::Procedure;
use crate::poller::Want;

/// What a client is doing. The names follow pgbench's life of a client. Small
/// and `Copy`: it changes several times in each transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Connected, and waits for its turn to begin.
    Ramping { due_ns: u64 },
    /// Between transactions, about to choose the next.
    Choosing,
    /// A terminal thinks and keys in before the transaction that it has chosen.
    Pausing { due_ns: u64 },
    /// Waits for its scheduled start.
    Throttled { due_ns: u64 },
    /// Ready to begin the chosen transaction.
    Starting,
    /// Making a session, at first or for each transaction; how far that is,
    /// is in [`Client::attempt`].
    Connecting,
    /// Has chosen an endpoint, and waits for leave to connect.
    AwaitingTurn { due_ns: u64 },
    /// No endpoint takes connections; looks again then.
    AwaitingEndpoint { due_ns: u64 },
    /// Executing commands.
    Running,
    /// Waits for the server.
    Awaiting(Awaited),
    /// In `\sleep`.
    Sleeping { due_ns: u64 },
    /// Waits before a new try.
    BackingOff { due_ns: u64 },
    /// Will do nothing more.
    Finished,
    /// Could not go on.
    Aborted,
}

impl State {
    /// Waits for the clock, with no transaction under way.
    pub(super) fn is_between_transactions(&self) -> bool {
        matches!(
            self,
            Self::Ramping { .. }
                | Self::Choosing
                | Self::Pausing { .. }
                | Self::Throttled { .. }
                | Self::BackingOff { .. }
                | Self::AwaitingTurn { .. }
                | Self::AwaitingEndpoint { .. }
        )
    }
}

/// A session in the making, and how its socket is watched.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) machine: Connecting,
    /// The socket that is watched, by [`Connecting::generation`], and for what.
    pub(super) watched: Option<(u32, Want)>,
}

/// Whose replies a client waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Awaited {
    /// Every statement of every script is being prepared.
    Preparation,
    /// Those of the command at `pc`.
    Command,
    /// Those of ROLLBACK.
    Rollback,
}

/// An established session.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Session {
    pub(super) channel: Channel,
    /// Requests that the socket has not taken yet start here in `Client::out`.
    pub(super) sent: usize,
    /// Bytes of a message that is not complete yet.
    pub(super) partial: Vec<u8>,
    /// Bytes of an uninteresting message that are still to come.
    pub(super) skip: usize,
    /// Statements that this session has prepared, by their number.
    pub(super) prepared: Prepared,
    /// The socket is watched for writing as well.
    pub(super) watches_write: bool,
    /// Its key on the ring; 0 while readiness is waited for.
    pub(super) generation: u32,
    /// The ring's turn in which it last queued bytes.
    pub(super) queued_turn: u32,
    pub(super) status: TransactionStatus,
}

impl Session {
    pub(super) fn fd(&self) -> i32 {
        self.channel.as_raw_fd()
    }

    /// It receives and sends by the ring.
    pub(super) const fn is_on_ring(&self) -> bool {
        self.generation != 0
    }
}

/// What is expected back, and what has come. In the order of [`Client`]: what
/// each transaction touches comes first.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct Replies {
    /// ReadyForQuery messages still to come.
    pub(super) syncs: u32,
    /// Of these, how many belong to the preparing of statements before the
    /// command itself.
    pub(super) preparing: u32,
    /// Results of the current command so far; pgbench calls them queries.
    pub(super) results: u32,
    /// The last command tag was ROLLBACK.
    pub(super) rolled_back: bool,
    /// Rows in the current result.
    pub(super) rows: u64,
    /// Rows in the last result that is complete.
    pub(super) last_rows: u64,
    /// Something that ends the client was found while reading.
    pub(super) fatal: Option<Box<Fatal>>,
    /// The body of the first ErrorResponse of the current command.
    pub(super) error: Vec<u8>,
    /// Bodies of RowDescription and of the last DataRow, for `\gset`.
    pub(super) columns: Vec<u8>,
    /// Commands whose results are still to come, in order (pipeline), as
    /// indices into the script.
    pub(super) queue: std::collections::VecDeque<u32>,
    pub(super) row: Vec<u8>,
    /// The body of a notice in which the server says why it will hang up.
    pub(super) farewell: Vec<u8>,
}

/// The error of a try, and what the dialect says of it. Kept over ROLLBACK:
/// with some databases only the message, which is gone by then, tells.
#[derive(Debug, Clone, Copy)]
pub(super) struct Failure {
    pub(super) sqlstate: SqlState,
    pub(super) class: RetryClass,
    /// The statement that failed, by its slot.
    pub(super) slot: usize,
    /// A commit was with the server: COMMIT, or a write outside a block.
    pub(super) at_commit: bool,
}

/// Why a client must end, found while reading replies.
#[derive(Debug)]
pub(super) enum Fatal {
    /// `expected one row, got N`.
    NotOneRow { rows: u64, query: u32 },
    /// A bad column name for `\gset`.
    Store { error: String, name: String, query: u32 },
    /// COPY began, which a script cannot feed.
    Copy,
    /// Not PostgreSQL's protocol.
    Protocol { text: String },
}

impl Replies {
    /// Forgets the results of the last command; keeps the memory.
    pub(super) fn begin(&mut self) {
        self.results = 0;
        self.rows = 0;
        self.error.clear();
        self.last_rows = 0;
        self.rolled_back = false;
        self.columns.clear();
        self.fatal = None;
    }

    /// Forgets everything of a session that is gone; keeps the memory.
    pub(super) fn forget(&mut self) {
        self.begin();
        self.syncs = 0;
        self.preparing = 0;
        self.queue.clear();
        self.farewell.clear();
    }
}

/// One client of a worker.
///
/// What each transaction touches comes first and together, and is fetched
/// while the client before is served ([`Client::HOT_BYTES`]). With a thousand
/// clients every line of memory is a miss: the same fields in the order that
/// the compiler chose lay in nearly twice as many.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Client {
    pub(super) state: State,
    /// Index among the worker's clients; the poller's token.
    pub(super) index: u32,
    /// Where its connection and transactions are counted by endpoint.
    pub(super) slot: u32,
    /// Where transactions are procedures: the terminal that runs them.
    pub(super) procedure: Option<Box<Procedure>>,
    /// Requests on their way out; between requests the buffer is the worker's.
    pub(super) out: Vec<u8>,
    pub(super) session: Option<Session>,

    pub(super) replies: Replies,

    pub(super) vars: Vars,
    pub(super) random: Prng,
    /// `random` as it was at the first try.
    pub(super) random_at_start: Prng,
    /// For choosing scripts, where each client does that for itself.
    pub(super) own_random: Prng,
    /// Index of the chosen script.
    pub(super) script: usize,
    /// Index of the command, from 0.
    pub(super) pc: usize,
    pub(super) scheduled_ns: u64,
    pub(super) begin_ns: u64,
    pub(super) try_begin_ns: u64,
    pub(super) command_begin_ns: u64,
    /// Transactions begun and ended, however they ended.
    pub(super) transactions: u64,
    /// Rows that writes of this try touched, by their command tags.
    pub(super) rows_written: u64,
    pub(super) tries: u32,
    pub(super) in_pipeline: bool,
    /// It waited for something since its transaction began; if not, others
    /// must have their turn before its next.
    pub(super) waited: bool,
    /// A write of this try touched fewer rows than it should.
    pub(super) without_effect: bool,
    /// A commit, or a write outside a block, is with the server right now.
    pub(super) commit_in_flight: bool,
    /// The error that this transaction last failed with.
    pub(super) failure: Option<Failure>,
    /// Its session ends with the transaction under way.
    pub(super) close_after: bool,

    /// From 0, over all workers. The first of what few transactions touch.
    pub(super) id: u32,
    /// Which of the plan's endpoints.
    pub(super) endpoint: u32,
    /// Its endpoint is not its own, which took no connection.
    pub(super) away: bool,
    /// A timer is set for the end of the run.
    pub(super) end_is_timed: bool,
    /// Connected at least once: it counts for the start of the run.
    pub(super) was_ready: bool,
    /// When its session is too old.
    pub(super) renew_at_ns: u64,
    /// When its session is looked at, see `renew`; `u64::MAX` is never.
    pub(super) look_at_ns: u64,
    /// The first attempt to connect that failed since it had a session.
    pub(super) without_session_since_ns: Option<u64>,
    pub(super) connect_begin_ns: u64,
    /// Only while the state is [`State::Connecting`].
    pub(super) attempt: Option<Box<Attempt>>,
    /// For the jitter of backing off: how often that happens depends on
    /// timing, and must not change what is chosen.
    pub(super) jitter: Prng,
}

impl Client {
    /// What nearly every transaction touches: all before `id`.
    pub(super) const HOT_BYTES: usize = std::mem::offset_of!(Self, id);

    /// True while it waits for replies.
    pub(super) fn is_awaiting(&self) -> bool {
        matches!(self.state, State::Awaiting(_))
    }

    /// True once the client does nothing more.
    pub(super) fn has_ended(&self) -> bool {
        matches!(self.state, State::Finished | State::Aborted)
    }

    /// True when the command under way has all its replies.
    pub(super) fn is_answered(&self) -> bool {
        matches!(self.state, State::Awaiting(_))
            && self.replies.syncs == 0
            && self.replies.queue.is_empty()
    }

    /// The transaction status of the session; idle where there is none.
    pub(super) fn status(&self) -> TransactionStatus {
        self.session.as_ref().map_or(TransactionStatus::Idle, |s| s.status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A client is small, and what a transaction touches is a part of it.
    #[test]
    fn is_small() {
        const { assert!(size_of::<Client>() <= 704) };
        const { assert!(Client::HOT_BYTES <= 576) };
    }
}
