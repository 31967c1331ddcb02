//! What happens when something fails: try again, count it, or end the client.
//!
//! The rules are pgbench's (PostgreSQL manual, pgbench, "Failures and
//! Serialization/Deadlock Retries"); which errors may be tried again is the
//! dialect's to say.

use pgdyno_record::ConflictKind;
use pgdyno_record::sqlstate::SqlState;
use pgdyno_script::error::RunError;
use pgdyno_script::sql::StoreMode;
use pgdyno_target::dialect::RetryClass;
use pgdyno_wire::backend::{ErrorFields, ServerError, TransactionStatus};
use pgdyno_wire::error::{CLOSED_UNEXPECTEDLY, is_hang_up};
use pgdyno_wire::frontend;

use super::advance::{self, End};
use super::client::{Awaited, Client, Failure, Fatal, State};
use super::core::{Core, FromWorker};
use super::session::ConnectError;
use super::{Cx, Flow, procedure, renew, replies, session};
use crate::observe::Level;
use crate::outcome::ClientError;
use crate::plan::Backoff;

/// The SQLSTATE that a failure is counted under where the server's is none.
fn counted(sqlstate: &str) -> SqlState {
    SqlState::from_bytes(sqlstate.as_bytes()).unwrap_or(SqlState::INTERNAL_ERROR)
}

fn server_error(client: &Client) -> Option<ServerError> {
    let body = &client.replies.error;
    (!body.is_empty()).then(|| ErrorFields::new(body).to_server_error())
}

/// The server's error as libpq formats it, with the place in the statement.
pub(super) fn with_query(cx: Cx<'_>, client: &Client, error: ServerError) -> ServerError {
    let commands = &cx.plan.program.types[client.script].script.commands;
    let Some(sql) = commands.get(client.pc).and_then(|command| command.kind.sql()) else {
        return error;
    };
    let mut text = Vec::new();
    if cx.plan.protocol == crate::plan::Protocol::Simple {
        sql.write_simple(&client.vars, &mut text);
    } else {
        text.extend_from_slice(&sql.numbered);
    }
    error.with_query(&String::from_utf8_lossy(&text))
}

fn command_name(cx: Cx<'_>, client: &Client) -> &'static str {
    let commands = &cx.plan.program.types[client.script].script.commands;
    commands.get(client.pc).map_or("SQL", |command| command.kind.name())
}

/// The command ended with an error of the server's.
pub(super) fn sql(core: &mut Core, cx: Cx<'_>, client: &mut Client, committing: bool) -> Flow {
    let Some(error) = server_error(client) else {
        return command(core, cx, client, "the server sent an error that cannot be read");
    };
    let sqlstate = error.sqlstate;
    // It is read; a connection lost later is not its doing.
    client.replies.error.clear();
    let mut class = cx.plan.dialect.classify(sqlstate.as_str(), &error.message);
    if class == RetryClass::OutcomeUnknown {
        // Without a commit under way there is nothing to be unsure of.
        let is_open = committing && client.status() == TransactionStatus::Idle;
        if is_open && cx.plan.unknown_goes_on {
            return advance::end_transaction(core, cx, client, End::Unknown);
        }
        class = RetryClass::NotRetryable;
    }
    let slot = cx.requests.slot(client.script, client.pc, client.replies.results);
    client.failure =
        Some(Failure { sqlstate: counted(sqlstate.as_str()), class, slot, at_commit: committing });
    if !class.is_retryable() && (!cx.plan.continue_on_error || error.is_fatal()) {
        return aborted_by_server(core, cx, client, error);
    }
    if cx.plan.verbose_errors {
        let error = with_query(cx, client, error);
        let (id, pc, script) = (client.id, client.pc, client.script);
        let text =
            format!("client {id} got an error in command {pc} (SQL) of script {script}; {error}\n");
        core.observer.message(Level::Info, &text);
    }
    client.in_pipeline = false;
    client.replies.queue.clear();
    if client.status() == TransactionStatus::Idle {
        return decide(core, cx, client, class);
    }
    client.replies.begin();
    // Room was made before; a constant text always fits.
    let _ = frontend::query(&mut client.out, b"ROLLBACK");
    client.replies.syncs = 1;
    client.state = State::Awaiting(Awaited::Rollback);
    client.waited = true;
    session::flush(core, client);
    Flow::Wait
}

fn aborted_by_server(core: &mut Core, cx: Cx<'_>, client: &mut Client, error: ServerError) -> Flow {
    let sqlstate = error.sqlstate;
    // In a pipeline each command has one result, and pgbench counts from it.
    let query = if client.in_pipeline { 0 } else { client.replies.results };
    let error = with_query(cx, client, error);
    let (id, script, pc) = (client.id, client.script, client.pc);
    let text =
        format!("client {id} script {script} aborted in command {pc} query {query}: {error}\n");
    abort(core, cx, client, Some(sqlstate.as_str().to_owned()), &text)
}

/// ROLLBACK was answered.
pub(super) fn rolled_back(core: &mut Core, cx: Cx<'_>, client: &mut Client) -> Flow {
    if let Some(error) = server_error(client) {
        let text = format!(
            "client {} aborted while rolling back the transaction after an error; {error}",
            client.id
        );
        return abort(core, cx, client, Some(error.sqlstate.as_str().to_owned()), &text);
    }
    let class = client.failure.map_or(RetryClass::NotRetryable, |failure| failure.class);
    decide(core, cx, client, class)
}

/// The kind of conflict that a class of errors tells of.
fn conflict(class: RetryClass) -> Option<ConflictKind> {
    match class {
        RetryClass::Serialization => Some(ConflictKind::Serialization),
        RetryClass::Deadlock => Some(ConflictKind::Deadlock),
        RetryClass::Conflict => Some(ConflictKind::Conflict),
        RetryClass::SchemaChanged => Some(ConflictKind::SchemaChanged),
        RetryClass::NotRetryable | RetryClass::OutcomeUnknown => None,
    }
}

/// Tries again, or gives the transaction up.
fn decide(core: &mut Core, cx: Cx<'_>, client: &mut Client, class: RetryClass) -> Flow {
    let sqlstate = client.failure.map_or(SqlState::INTERNAL_ERROR, |failure| failure.sqlstate);
    // Not counted at all: it neither committed nor had all its tries.
    if core.is_over() && class.is_retryable() {
        return advance::finish(core, client);
    }
    let tries_max = cx.plan.retry.tries_max.map_or(u32::MAX, std::num::NonZeroU32::get);
    let waited_ns = core.now_ns.saturating_sub(client.scheduled_ns);
    let too_late = core.latency_limit_ns.is_some_and(|limit| waited_ns > limit);
    let fallback = cx.requests.slot(client.script, client.pc, 0);
    let slot = client.failure.map_or(fallback, |failure| failure.slot);
    let again = class.is_retryable() && client.tries < tries_max && !too_late;
    if cx.plan.verbose_errors {
        tell_decision(core, cx, client, again);
    }
    let lost_us = core.now_ns.saturating_sub(client.try_begin_ns) / 1000;
    let tally = core.figures.tally();
    if let (Some(script), Some(kind)) = (tally.scripts.get_mut(client.script), conflict(class)) {
        script.conflicts.count(kind, client.failure.is_some_and(|failure| failure.at_commit));
    }
    let statement = &mut tally.statements[slot];
    if !again {
        statement.failures += 1;
        tally.scripts[client.script].lost_us_sum += lost_us;
        return advance::end_transaction(core, cx, client, End::Failed(sqlstate));
    }
    statement.retries += 1;
    tally.scripts[client.script].retry(sqlstate, lost_us);
    client.tries += 1;
    client.pc = 0;
    client.without_effect = false;
    client.rows_written = 0;
    client.random = client.random_at_start;
    procedure::begin_try(client);
    client.try_begin_ns = core.now_ns;
    client.state = State::Running;
    back_off(core, cx, client);
    Flow::Again
}

fn back_off(core: &mut Core, cx: Cx<'_>, client: &mut Client) {
    let Backoff::Exponential { first, max } = cx.plan.retry.backoff else { return };
    let doublings = client.tries.saturating_sub(2).min(20);
    let longest_ns =
        (first.as_nanos() as u64).saturating_mul(1 << doublings).min(max.as_nanos() as u64);
    // Half of it is random, so that those who collided do not collide again.
    let wait_ns = longest_ns / 2 + client.jitter.bounded(longest_ns / 2);
    let due_ns = core.now_ns + wait_ns;
    core.timers.add(due_ns, client.index);
    client.state = State::BackingOff { due_ns };
    client.waited = true;
}

fn tell_decision(core: &Core, cx: Cx<'_>, client: &Client, again: bool) {
    let mut text = format!("client {} ", client.id);
    text.push_str(if again {
        "repeats the transaction after the error"
    } else {
        "ends the failed transaction"
    });
    text.push_str(&format!(" (try {}", client.tries));
    if let Some(tries_max) = cx.plan.retry.tries_max {
        text.push_str(&format!("/{tries_max}"));
    }
    if let Some(limit_ns) = core.latency_limit_ns {
        let used = core.now_ns.saturating_sub(client.scheduled_ns) as f64 * 100.0 / limit_ns as f64;
        text.push_str(&format!(", {used:.3}% of the maximum time of tries was used"));
    }
    text.push_str(")\n");
    core.observer.message(Level::Info, &text);
}

/// A meta command failed.
pub(super) fn meta(core: &mut Core, cx: Cx<'_>, client: &mut Client, error: &RunError) -> Flow {
    command_because(core, cx, client, error.closing_words(), &error.to_string())
}

/// The command at `pc` cannot be executed: `aborted in command N (NAME) of
/// script S; TEXT`.
pub(super) fn command(core: &mut Core, cx: Cx<'_>, client: &mut Client, why: &str) -> Flow {
    command_because(core, cx, client, why, "")
}

/// `\gset` or `\aset` where there is no result to wait for.
pub(super) fn store_in_pipeline(
    core: &mut Core,
    cx: Cx<'_>,
    client: &mut Client,
    mode: StoreMode,
) -> Flow {
    let name = replies::store_name(mode);
    let (id, pc, script) = (client.id, client.pc, client.script);
    let text = format!(
        "client {id} aborted in command {pc} ({name}) of script {script}; \
         \\{name} is not allowed in pipeline mode"
    );
    abort(core, cx, client, None, &text)
}

/// As [`command`], with what was the matter, which pgbench tells on a line
/// before.
pub(super) fn command_because(
    core: &mut Core,
    cx: Cx<'_>,
    client: &mut Client,
    why: &str,
    because: &str,
) -> Flow {
    let name = command_name(cx, client);
    let (id, pc, script) = (client.id, client.pc, client.script);
    let text = format!("client {id} aborted in command {pc} ({name}) of script {script}; {why}");
    abort_because(core, cx, client, &text, because)
}

/// Something in the replies cannot be dealt with. A commit that was on its way
/// may have happened, whatever was wrong with the answer.
pub(super) fn fatal(core: &mut Core, cx: Cx<'_>, client: &mut Client, fatal: &Fatal) -> Flow {
    if std::mem::take(&mut client.commit_in_flight) {
        advance::count(core, client, End::Unknown);
    }
    let (id, script, pc) = (client.id, client.script, client.pc);
    let at = |query: u32| format!("client {id} script {script} command {pc} query {query}: ");
    let text = match fatal {
        Fatal::NotOneRow { rows, query } => {
            format!("{}expected one row, got {rows}", at(*query))
        }
        Fatal::Store { error, name, query } => {
            let text = format!("{}error storing into variable {name}", at(*query));
            return abort_because(core, cx, client, &text, error);
        }
        Fatal::Copy => "COPY is not supported in pgbench, aborting".to_owned(),
        Fatal::Protocol { text } => {
            format!("client {id} script {script} aborted in command {pc}: {text}")
        }
    };
    abort(core, cx, client, None, &text)
}

/// The connection is gone.
pub(super) fn lost(
    core: &mut Core,
    cx: Cx<'_>,
    client: &mut Client,
    io_error: Option<&std::io::Error>,
) -> Flow {
    core.tick();
    let said = server_error(client);
    // A server that ends the session in the middle of a commit may have
    // committed: its last words say nothing about that, or that it is so.
    let unknown =
        client.commit_in_flight && said.as_ref().is_none_or(|error| leaves_open(cx, error));
    let goes_on = cx.plan.connect.reconnect_lost && !core.control.is_abandoned();
    if unknown && !goes_on {
        advance::count(core, client, End::Unknown);
    }
    client.commit_in_flight = false;
    let farewell = (said.is_none() && !client.replies.farewell.is_empty())
        .then(|| ErrorFields::new(&client.replies.farewell).to_server_error());
    let sqlstate =
        said.as_ref().or(farewell.as_ref()).map(|error| error.sqlstate.as_str().to_owned());
    let words = said.as_ref().map_or_else(|| words_of_loss(io_error), ToString::to_string);
    let (id, script, pc) = (client.id, client.script, client.pc);
    let query = client.replies.results;
    let place = match client.state {
        State::Awaiting(Awaited::Rollback) => {
            format!("client {id} aborted while rolling back the transaction after an error; ")
        }
        State::Awaiting(Awaited::Preparation) => {
            format!("client {id} aborted while preparing its statements: ")
        }
        _ => format!("client {id} script {script} aborted in command {pc} query {query}: "),
    };
    if goes_on {
        let text = format!("{place}{words}");
        return renew::lost(core, cx, client, unknown, sqlstate.as_deref(), &text);
    }
    core.error(&format!("{place}{words}"));
    // The farewell was printed as a notice; the run's outcome holds it too.
    let told = match farewell {
        Some(farewell) => format!("{place}{farewell}\n{words}"),
        None => format!("{place}{words}"),
    };
    end_client(core, cx, client, sqlstate, &told)
}

/// The session was ended, or the server does not know what became of a commit.
fn leaves_open(cx: Cx<'_>, error: &ServerError) -> bool {
    let class = || cx.plan.dialect.classify(error.sqlstate.as_str(), &error.message);
    error.is_fatal() || class() == RetryClass::OutcomeUnknown
}

/// What libpq says of a connection that is lost.
fn words_of_loss(error: Option<&std::io::Error>) -> String {
    match error {
        Some(error) if !is_hang_up(error) => {
            format!("could not receive data from server: {}", os_words(error))
        }
        _ => CLOSED_UNEXPECTEDLY.to_owned(),
    }
}

/// The system's words without Rust's `(os error n)`, as libpq has them.
fn os_words(error: &std::io::Error) -> String {
    match error.raw_os_error() {
        Some(code) => nix::errno::Errno::from_raw(code).desc().to_owned(),
        None => error.to_string(),
    }
}

/// A session could not be made, at the start or for a transaction.
pub(super) fn connection_failed(
    core: &mut Core,
    cx: Cx<'_>,
    client: &mut Client,
    error: &session::ConnectError,
) -> Flow {
    if renew::goes_on(core, cx, client, error) {
        return Flow::Again;
    }
    // Whoever runs the plan tells why it did not begin.
    if !core.begun {
        core.start_failure.get_or_insert_with(|| (client.id, error.clone()));
        client.state = State::Aborted;
        core.live -= 1;
        return Flow::Wait;
    }
    let text = format!("client {} aborted while establishing connection", client.id);
    let told = format!("{}: {}", text, error.text);
    core.error(&error.text);
    core.error(&text);
    end_client(core, cx, client, error.sqlstate.clone(), &told)
}

/// Ends the client for good; the others go on.
pub(super) fn abort(
    core: &mut Core,
    cx: Cx<'_>,
    client: &mut Client,
    sqlstate: Option<String>,
    text: &str,
) -> Flow {
    core.error(text);
    end_client(core, cx, client, sqlstate, text)
}

/// As [`abort`] without a SQLSTATE. The outcome has one text of both.
fn abort_because(
    core: &mut Core,
    cx: Cx<'_>,
    client: &mut Client,
    text: &str,
    because: &str,
) -> Flow {
    if because.is_empty() {
        return abort(core, cx, client, None, text);
    }
    core.error(because);
    core.error(text);
    end_client(core, cx, client, None, &format!("{text}: {because}"))
}

/// Where a client is in its script: `FILE:LINE`.
fn place(cx: Cx<'_>, client: &Client) -> Option<String> {
    let script = &cx.plan.program.types.get(client.script)?.script;
    let command = script.commands.get(client.pc)?;
    Some(format!("{}:{}", script.name, command.line))
}

fn end_client(
    core: &mut Core,
    cx: Cx<'_>,
    client: &mut Client,
    sqlstate: Option<String>,
    text: &str,
) -> Flow {
    let place = match client.state {
        State::Connecting | State::Awaiting(Awaited::Preparation) => None,
        _ => place(cx, client),
    };
    session::close(core, client);
    client.state = State::Aborted;
    core.live -= 1;
    core.aborted += 1;
    if !core.begun {
        // Whoever waits for all clients to be connected must not wait for this one.
        let failure = ConnectError {
            text: text.trim_end().to_owned(),
            sqlstate: sqlstate.clone(),
            config: false,
        };
        core.start_failure.get_or_insert((client.id, failure));
    }
    let endpoint = cx.plan.endpoints[client.endpoint as usize].options();
    core.tell(FromWorker::Aborted {
        worker: core.index,
        error: ClientError {
            client: client.id,
            count: 1,
            sqlstate,
            place,
            endpoint: crate::endpoint_name(endpoint),
            text: text.trim_end().to_owned(),
        },
    });
    Flow::Wait
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::errno::Errno;

    /// A reset and a broken pipe are the server's hanging up, as to libpq; what
    /// else the system says is told in its words.
    #[test]
    fn hang_ups_are_told_alike() {
        let words = |errno: Errno| words_of_loss(Some(&std::io::Error::from(errno)));
        assert_eq!(words_of_loss(None), CLOSED_UNEXPECTEDLY);
        assert_eq!(words(Errno::ECONNRESET), CLOSED_UNEXPECTEDLY);
        assert_eq!(words(Errno::EPIPE), CLOSED_UNEXPECTEDLY);
        let timed_out = "could not receive data from server: Connection timed out";
        assert_eq!(words(Errno::ETIMEDOUT), timed_out);
    }
}
