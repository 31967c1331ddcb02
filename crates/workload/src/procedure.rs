//! Transactions whose statements are chosen by code instead of by a script:
//! procedures, and the terminals that run them.
//!
//! A procedure has a fixed list of SQL commands in pgbench's text form, which
//! is compiled as a script is, so that statements are prepared, counted and
//! timed alike. Each client has a [`Terminal`], a state machine that chooses
//! the next transaction, draws its inputs, and is stepped: it sets variables
//! and pushes commands, which go out as one batch; it is shown the rows that
//! come back; and it is stepped again until it says that the transaction has
//! ended. A terminal knows no socket and no clock.

use std::fmt;
use std::time::Duration;

use pgdyno_script::{Names, Slot, Vars};
use pgdyno_wire::backend::DataRow;

/// Makes the terminals of a run. One value serves all workers.
pub trait Terminals: fmt::Debug + Send + Sync {
    /// The terminal of one client. Depends on the seat alone, so that the same
    /// seed gives the same work however clients are dealt to workers.
    fn terminal(&self, seat: &Seat<'_>) -> Box<dyn Terminal>;

    /// What the counters mean that [`Terminal::ended`] adds to, in order.
    fn counters(&self) -> &'static [&'static str] {
        &[]
    }

    /// True where terminals wait between transactions ([`Turn::wait`]). Such
    /// a run has no other schedule.
    fn is_paced(&self) -> bool {
        false
    }
}

/// Where a terminal stands.
#[derive(Debug, Clone, Copy)]
pub struct Seat<'a> {
    /// The client's number, from 0, over all workers.
    pub client: u32,
    /// Clients of the run, at least 1.
    pub clients: u32,
    /// The run's seed.
    pub seed: u64,
    /// Where variables are, by their names.
    pub names: &'a Names,
}

impl Seat<'_> {
    /// The slot of a variable; `None` where no command mentions it.
    #[must_use]
    pub fn slot(&self, name: &str) -> Option<Slot> {
        self.names.lookup(name.as_bytes())
    }
}

/// The next transaction of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// Index into [`crate::Workload::transactions`].
    pub transaction: usize,
    /// How long to wait before it begins: thinking about the last answer, and
    /// keying in the inputs. Not part of any latency.
    pub wait: Duration,
}

/// What a terminal wants next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The pushed commands are to be sent; at least one was pushed.
    Send,
    /// The transaction has ended on the server, committed. Nothing was pushed.
    Committed,
    /// It has ended on the server, rolled back because its rules say so. That
    /// is no failure. Nothing was pushed.
    RolledBack,
}

/// How a transaction ended, all tries together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionEnd {
    /// As [`Step::Committed`].
    Committed,
    /// As [`Step::RolledBack`], or by an error that [`Terminal::refused`]
    /// took for that.
    RolledBack,
    /// By an error, and not tried again.
    Failed,
    /// The connection was lost while a commit was on its way.
    Unknown,
}

/// A row that is not what its command must give: the client cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unexpected answer: {0}")]
pub struct BadRow(pub &'static str);

/// The state machine of one client.
///
/// The order of calls is: `next`; for each try `begin`, then `step`, the rows
/// of its batch by `row`, `step`, and so on; at last `ended`. A try that fails
/// is abandoned wherever it is, and `begin` comes again.
pub trait Terminal: fmt::Debug + Send {
    /// Chooses the next transaction and draws all of its inputs. A new try
    /// runs the same inputs, so random numbers do not depend on the server.
    fn next(&mut self) -> Turn;

    /// A try begins, the first or a later one.
    fn begin(&mut self);

    /// Pushes the next batch, or says that the transaction has ended.
    fn step(&mut self, batch: &mut Batch<'_>) -> Step;

    /// A row of the batch under way. `place`: which of the pushed commands it
    /// belongs to, from 0; `command`: its index in the procedure's list.
    ///
    /// # Errors
    /// It does not have the columns that it must have.
    fn row(&mut self, place: usize, command: usize, row: DataRow<'_>) -> Result<(), BadRow>;

    /// The server refused the batch with `sqlstate`, and has rolled back. True
    /// where that is the end that the rules foresee for these inputs.
    fn refused(&mut self, _sqlstate: &str) -> bool {
        false
    }

    /// The transaction is over. `counters` are those of
    /// [`Terminals::counters`], of the part of the run in which it ended.
    fn ended(&mut self, end: TransactionEnd, counters: &mut [u64]);
}

/// Takes the commands that a terminal pushes.
pub trait Sink {
    /// Encodes a command with the values that the variables have now.
    fn push(&mut self, command: usize, vars: &Vars);

    /// The batch may commit even though none of its commands says so, because
    /// a function is called outside of a transaction block.
    fn commits(&mut self);
}

/// The next requests of a client, under construction.
pub struct Batch<'a> {
    vars: &'a mut Vars,
    sink: &'a mut dyn Sink,
    /// Variables are written into the text (`-M simple`), so texts need quotes.
    literals: bool,
    /// Room for a quoted text.
    scratch: &'a mut Vec<u8>,
}

impl fmt::Debug for Batch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch").field("literals", &self.literals).finish_non_exhaustive()
    }
}

impl<'a> Batch<'a> {
    /// A batch that sets `vars` and pushes into `sink`. `literals`: variables
    /// are written into the SQL text, so that texts are quoted. `scratch` is
    /// overwritten.
    pub fn new(
        vars: &'a mut Vars,
        sink: &'a mut dyn Sink,
        literals: bool,
        scratch: &'a mut Vec<u8>,
    ) -> Self {
        Self { vars, sink, literals, scratch }
    }

    /// Sets a variable to a whole number.
    #[inline]
    pub fn int(&mut self, slot: Option<Slot>, value: i64) {
        if let Some(slot) = slot {
            self.vars.set_int(slot, value);
        }
    }

    /// Sets a variable to a text, which is one value whatever is in it. The
    /// commands mention it without quotes.
    #[inline]
    pub fn text(&mut self, slot: Option<Slot>, value: &[u8]) {
        let Some(slot) = slot else { return };
        if !self.literals {
            self.vars.set_text(slot, value);
            return;
        }
        self.scratch.clear();
        self.scratch.push(b'\'');
        for &byte in value {
            if byte == b'\'' {
                self.scratch.push(byte);
            }
            self.scratch.push(byte);
        }
        self.scratch.push(b'\'');
        self.vars.set_text(slot, self.scratch);
    }

    /// Pushes a command of the procedure's list with the values of now; later
    /// changes of variables do not touch it.
    #[inline]
    pub fn push(&mut self, command: usize) {
        self.sink.push(command, self.vars);
    }

    /// See [`Sink::commits`].
    pub fn commits(&mut self) {
        self.sink.commits();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Pushed(Vec<(usize, Vec<u8>)>, Slot);

    impl Sink for Pushed {
        fn push(&mut self, command: usize, vars: &Vars) {
            self.0.push((command, vars.text(self.1).unwrap_or_default()));
        }
        fn commits(&mut self) {}
    }

    /// A text is one value in either form, and a pushed command keeps the
    /// value that it was pushed with.
    #[test]
    fn texts_are_quoted_where_they_must_be() {
        let mut names = Names::new();
        let slot = names.intern(b"a");
        for (literals, first, second) in [(true, "'it''s'", "'{1}'"), (false, "it's", "{1}")] {
            let (mut vars, mut scratch) = (Vars::new(&names), Vec::new());
            let mut sink = Pushed(Vec::new(), slot);
            let mut batch = Batch::new(&mut vars, &mut sink, literals, &mut scratch);
            batch.text(Some(slot), b"it's");
            batch.push(3);
            batch.text(Some(slot), b"{1}");
            batch.push(4);
            batch.text(None, b"nowhere");
            let expected = [(3, first.as_bytes().to_vec()), (4, second.as_bytes().to_vec())];
            assert_eq!(sink.0, expected);
        }
    }
}
