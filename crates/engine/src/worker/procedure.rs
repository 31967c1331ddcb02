//! Transactions that are procedures: a terminal pushes commands, and each
//! batch goes out in one write with one Sync.
//!
//! Statements, counts, errors, retries and outcomes are those of scripts. In
//! the simple protocol a batch is one Query of several statements, which the
//! server, like a pipeline, skips from the first error on.

use std::collections::VecDeque;

use pgdyno_record::latency::Latencies;
use pgdyno_script::SqlKind;
use pgdyno_script::vars::Vars;
use pgdyno_wire::backend::{DataRow, ErrorFields, TransactionStatus};
use pgdyno_wire::frontend::{self, EncodeError};
use pgdyno_workload::{Batch, Sink, Step, Terminal, TransactionEnd};

use super::advance::{self, End};
use super::client::{Awaited, Client, Fatal, State};
use super::core::Core;
use super::{Cx, Flow, failures, session};
use crate::plan::Protocol;

/// The terminal of a client, and where its transaction stands.
#[derive(Debug)]
pub(super) struct Procedure {
    terminal: Box<dyn Terminal>,
    /// The next step is the first of a try.
    fresh: bool,
    /// For texts that are quoted.
    scratch: Vec<u8>,
}

impl Procedure {
    pub(super) fn new(terminal: Box<dyn Terminal>) -> Self {
        Self { terminal, fresh: true, scratch: Vec::new() }
    }
}

/// Lets the terminal choose the next transaction.
pub(super) fn choose(core: &mut Core, cx: Cx<'_>, client: &mut Client) -> Flow {
    if core.is_over() {
        return advance::finish(core, client);
    }
    let Some(procedure) = &mut client.procedure else { return Flow::Wait };
    let turn = procedure.terminal.next();
    client.script = turn.transaction.min(cx.plan.program.types.len() - 1);
    core.debug(|| {
        let name = &cx.plan.program.types[client.script].script.name;
        format!("client {} executing procedure \"{name}\"", client.id)
    });
    if turn.wait.is_zero() {
        return advance::chosen(core, client);
    }
    // A run that is over by then does not wait for it.
    let due_ns = core.now_ns.saturating_add(turn.wait.as_nanos() as u64).min(core.end_ns);
    core.timers.add(due_ns, client.index);
    client.state = State::Pausing { due_ns };
    Flow::Again
}

/// A try begins, the first or a later one.
#[inline]
pub(super) fn begin_try(client: &mut Client) {
    if let Some(procedure) = &mut client.procedure {
        procedure.fresh = true;
    }
}

/// Steps the terminal, and sends what it pushed.
pub(super) fn run(core: &mut Core, cx: Cx<'_>, client: &mut Client) -> Flow {
    let Some(mut procedure) = client.procedure.take() else { return Flow::Wait };
    session::lend_buffer(core, client);
    if std::mem::take(&mut procedure.fresh) {
        procedure.terminal.begin();
        if cx.plan.protocol == Protocol::Prepared {
            prepare(core, cx, client);
        }
    }
    client.replies.begin();
    client.replies.queue.clear();
    client.command_begin_ns = core.now_ns;
    let (step, written) = step(cx, client, &mut procedure);
    client.procedure = Some(procedure);
    client.pc = client.replies.queue.front().map_or(0, |command| *command as usize);
    if client.out.is_empty() {
        session::take_buffer(core, &mut client.out);
    }
    match step {
        Step::Send => match written {
            Ok(()) => send(core, cx, client),
            Err(error) => failures::command_because(
                core,
                cx,
                client,
                "SQL command send failed",
                &error.to_string(),
            ),
        },
        Step::Committed => advance::end_transaction(core, cx, client, End::Done),
        Step::RolledBack => advance::end_transaction(core, cx, client, End::RolledBack),
    }
}

fn step(
    cx: Cx<'_>,
    client: &mut Client,
    procedure: &mut Procedure,
) -> (Step, Result<(), EncodeError>) {
    let mut writer = Writer {
        cx,
        script: client.script,
        start: client.out.len(),
        out: &mut client.out,
        queue: &mut client.replies.queue,
        in_block: client.session.as_ref().is_some_and(|s| s.status != TransactionStatus::Idle),
        may_commit: false,
        result: Ok(()),
    };
    let literals = cx.plan.protocol == Protocol::Simple;
    let mut batch = Batch::new(&mut client.vars, &mut writer, literals, &mut procedure.scratch);
    let step = procedure.terminal.step(&mut batch);
    let may_commit = writer.may_commit;
    let result = writer.finish();
    client.commit_in_flight |= step == Step::Send && may_commit;
    (step, result)
}

fn send(core: &mut Core, cx: Cx<'_>, client: &mut Client) -> Flow {
    if client.replies.queue.is_empty() {
        return failures::command(core, cx, client, "the procedure has sent nothing");
    }
    if cx.plan.debug {
        for command in &client.replies.queue {
            core.debug(|| format!("client {} sending command {command}", client.id));
        }
        core.debug(|| format!("client {} receiving", client.id));
    }
    client.replies.syncs += 1;
    client.in_pipeline = true;
    client.waited = true;
    client.state = State::Awaiting(Awaited::Command);
    session::flush(core, client);
    Flow::Wait
}

/// Encodes the commands of a batch.
struct Writer<'w> {
    cx: Cx<'w>,
    script: usize,
    /// Where the batch begins in `out`.
    start: usize,
    out: &'w mut Vec<u8>,
    queue: &'w mut VecDeque<u32>,
    in_block: bool,
    may_commit: bool,
    result: Result<(), EncodeError>,
}

impl Sink for Writer<'_> {
    fn push(&mut self, command: usize, vars: &Vars) {
        let commands = &self.cx.plan.program.types[self.script].script.commands;
        let Some(sql) = commands.get(command).and_then(|command| command.kind.sql()) else {
            return;
        };
        let Some(number) = self.cx.requests.number(self.script, command) else { return };
        let statement = &self.cx.requests.statements[number as usize];
        self.in_block |= sql.kinds.contains(&SqlKind::Begin);
        self.may_commit |=
            if self.in_block { statement.commits_in_block } else { statement.commits_alone };
        self.queue.push_back(command as u32);
        if self.result.is_err() {
            return;
        }
        let protocol = self.cx.plan.protocol;
        if protocol == Protocol::Simple {
            if self.out.len() == self.start {
                self.out.extend_from_slice(&[b'Q', 0, 0, 0, 0]);
            }
            sql.write_simple(vars, self.out);
            if self.out.last() != Some(&b';') {
                self.out.push(b';');
            }
        } else {
            self.result = statement.write_request(protocol, sql, vars, false, self.out);
        }
    }

    fn commits(&mut self) {
        self.may_commit = true;
    }
}

impl Writer<'_> {
    /// Ends the batch, if there is one. Nothing of it is left where it cannot
    /// be sent.
    fn finish(mut self) -> Result<(), EncodeError> {
        if self.queue.is_empty() {
            return Ok(());
        }
        if self.result.is_ok() {
            self.result = self.end();
        }
        if self.result.is_err() {
            self.out.truncate(self.start);
        }
        self.result
    }

    fn end(&mut self) -> Result<(), EncodeError> {
        if self.cx.plan.protocol != Protocol::Simple {
            frontend::sync(self.out);
            return Ok(());
        }
        let text = self.start + 5;
        if memchr::memchr(0, &self.out[text..]).is_some() {
            return Err(EncodeError::Nul);
        }
        self.out.push(0);
        let length = self.out.len() - self.start - 1;
        if length > frontend::MESSAGE_LEN_MAX {
            return Err(EncodeError::TooLong(length));
        }
        self.out[self.start + 1..text].copy_from_slice(&(length as u32).to_be_bytes());
        Ok(())
    }
}

/// Parses what the chosen procedure may push and the session does not have, in
/// front of its first batch and with one Sync. Each name is closed before: an
/// earlier attempt may have got so far as to make it.
fn prepare(core: &Core, cx: Cx<'_>, client: &mut Client) {
    let Some(session) = &mut client.session else { return };
    let commands = cx.plan.program.types[client.script].script.commands.len();
    let mut any = false;
    for command in 0..commands {
        let Some(number) = cx.requests.number(client.script, command) else { continue };
        if !session.prepared.insert(number as usize) {
            continue;
        }
        any = true;
        let statement = &cx.requests.statements[number as usize];
        core.debug(|| {
            format!("client {} preparing {}", client.id, String::from_utf8_lossy(&statement.name))
        });
        // A name of ours always fits.
        let _ = frontend::close_statement(&mut client.out, &statement.name);
        statement.write_parse(&mut client.out);
    }
    if any {
        frontend::sync(&mut client.out);
        client.replies.syncs += 1;
        client.replies.preparing += 1;
    }
}

/// One of the statements could not be prepared; which ones were does not
/// matter, since all are closed and parsed again.
pub(super) fn forget_prepared(cx: Cx<'_>, client: &mut Client) {
    let Some(session) = &mut client.session else { return };
    if matches!(client.state, State::Awaiting(Awaited::Preparation)) {
        session.prepared.clear();
        return;
    }
    let commands = cx.plan.program.types[client.script].script.commands.len();
    for number in (0..commands).filter_map(|command| cx.requests.number(client.script, command)) {
        session.prepared.remove(number as usize);
    }
}

/// A row of the batch under way.
pub(super) fn row(client: &mut Client, row: DataRow<'_>) {
    let Some(procedure) = &mut client.procedure else { return };
    let Some(command) = client.replies.queue.front() else { return };
    let place = client.replies.results as usize;
    if let Err(error) = procedure.terminal.row(place, *command as usize, row) {
        let fatal = Box::new(Fatal::Protocol { text: error.to_string() });
        client.replies.fatal.get_or_insert(fatal);
    }
}

/// A result of the batch is complete. Its statement is timed from the sending
/// of the batch, since the statements before it were on the same way.
pub(super) fn time(core: &mut Core, cx: Cx<'_>, client: &Client, slot: usize) {
    if !cx.plan.statement_latency {
        return;
    }
    let us = core.now_ns.saturating_sub(client.command_begin_ns) / 1000;
    let statement = &mut core.figures.tally().statements[slot];
    statement.time_us_sum += us;
    if let Some(latency) = &mut statement.latency {
        Latencies::record(latency, us);
    }
}

/// All replies of a batch are there, and none is an error.
pub(super) fn answered(client: &mut Client) -> Flow {
    client.in_pipeline = false;
    client.state = State::Running;
    Flow::Again
}

/// The batch under way was refused: notes at which command, and asks the
/// terminal whether that is how the transaction is meant to end.
pub(super) fn refused(core: &mut Core, cx: Cx<'_>, client: &mut Client) -> Option<Flow> {
    let procedure = client.procedure.as_mut()?;
    if let Some(command) = client.replies.queue.front() {
        client.pc = *command as usize;
    }
    let error = ErrorFields::new(&client.replies.error).to_server_error();
    let rolled_back = client.session.as_ref().is_some_and(|s| s.status == TransactionStatus::Idle);
    if !rolled_back || !procedure.terminal.refused(error.sqlstate.as_str()) {
        return None;
    }
    client.replies.error.clear();
    client.replies.queue.clear();
    client.in_pipeline = false;
    Some(advance::end_transaction(core, cx, client, End::RolledBack))
}

/// Tells the terminal how its transaction ended.
#[inline]
pub(super) fn ended(core: &mut Core, client: &mut Client, end: End) {
    let Some(procedure) = &mut client.procedure else { return };
    let end = match end {
        End::Done => TransactionEnd::Committed,
        End::RolledBack => TransactionEnd::RolledBack,
        End::Failed(_) => TransactionEnd::Failed,
        End::Unknown => TransactionEnd::Unknown,
        // It was never begun.
        End::Skipped => return,
    };
    procedure.terminal.ended(end, &mut core.figures.tally().counters);
}
