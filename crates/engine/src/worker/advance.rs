//! From one transaction to the next: choosing, scheduling, starting, ending.
//!
//! The order of steps, and of the random draws in them, is pgbench's
//! (PostgreSQL manual, pgbench, "What Is the “Transaction” Actually Performed
//! in pgbench?" and the options `-R`, `-L`, `--max-tries`).

use pgdyno_record::sqlstate::SqlState;
use pgdyno_record::tally::TransactionTimes;
use pgdyno_wire::backend::TransactionStatus;

use super::client::{Awaited, Client, State};
use super::core::{Core, FromWorker};
use super::log::{LogEnd, LogEntry};
use super::measure::Phase;
use super::{Cx, Flow, commands, failures, procedure, renew, replies, session};
use crate::plan::ChoiceStream;

/// How a transaction ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Its script ran to the end.
    Done,
    /// A procedure rolled back on purpose.
    RolledBack,
    /// It failed, and is not tried again.
    Failed(SqlState),
    /// Its start was already too late.
    Skipped,
    /// The connection was lost while a commit was on its way.
    Unknown,
}

/// Moves a client on until it has to wait.
///
/// The states that each transaction goes through are asked for in their order,
/// so that two rounds are a transaction: one ends it, the other begins the
/// next. With a call for each step, and room on the stack for what the rare
/// states need, a transaction took some 180 instructions more.
pub(super) fn advance(core: &mut Core, cx: Cx<'_>, client: &mut Client) {
    loop {
        if let State::Awaiting(awaited) = client.state
            && awaiting(core, cx, client, awaited) == Flow::Wait
        {
            return;
        }
        if client.state == State::Choosing && choose(core, cx, client) == Flow::Wait {
            return;
        }
        if let State::Throttled { due_ns } = client.state
            && throttled(core, client, due_ns) == Flow::Wait
        {
            return;
        }
        if client.state == State::Starting && start(core, cx, client) == Flow::Wait {
            return;
        }
        if client.state == State::Running {
            if commands::run(core, cx, client) == Flow::Wait {
                return;
            }
        } else if rarer(core, cx, client) == Flow::Wait {
            return;
        }
    }
}

/// A step from a state that not every transaction goes through.
#[inline(never)]
fn rarer(core: &mut Core, cx: Cx<'_>, client: &mut Client) -> Flow {
    match client.state {
        State::Ramping { due_ns } => ramping(core, client, due_ns),
        State::Pausing { due_ns } => pausing(core, client, due_ns),
        State::AwaitingTurn { .. } | State::AwaitingEndpoint { .. } => {
            renew::awaited(core, cx, client)
        }
        State::Connecting if renew::is_too_late(core, cx) => {
            client.attempt = None;
            finish(core, client)
        }
        State::Connecting => match session::drive(core, cx, client) {
            Ok(flow) => flow,
            Err(error) => failures::connection_failed(core, cx, client, &error),
        },
        State::Sleeping { due_ns } | State::BackingOff { due_ns } => {
            if core.now_ns < due_ns {
                return Flow::Wait;
            }
            wake(core, cx, client)
        }
        State::Finished | State::Aborted => Flow::Wait,
        // Those that `advance` asks for before: a round goes through them in
        // this order, so they are not left over for here.
        State::Awaiting(_)
        | State::Choosing
        | State::Throttled { .. }
        | State::Starting
        | State::Running => Flow::Again,
    }
}

fn wake(core: &mut Core, cx: Cx<'_>, client: &mut Client) -> Flow {
    let slept = matches!(client.state, State::Sleeping { .. });
    if !slept && core.is_over() {
        return finish(core, client);
    }
    client.state = State::Running;
    if slept {
        commands::finished(core, cx, client);
    } else {
        client.try_begin_ns = core.now_ns;
    }
    Flow::Again
}

/// What follows when all replies are there.
fn awaiting(core: &mut Core, cx: Cx<'_>, client: &mut Client, awaited: Awaited) -> Flow {
    if let Some(fatal) = client.replies.fatal.take() {
        return failures::fatal(core, cx, client, &fatal);
    }
    if client.replies.syncs > 0 {
        return Flow::Wait;
    }
    let committing = std::mem::take(&mut client.commit_in_flight);
    match awaited {
        Awaited::Preparation => {
            session::is_ready(core, client);
            // Before the run begins, all wait for the last one.
            if core.begun { Flow::Again } else { Flow::Wait }
        }
        Awaited::Rollback => failures::rolled_back(core, cx, client),
        Awaited::Command if !client.replies.error.is_empty() => {
            if let Some(flow) = procedure::refused(core, cx, client) {
                return flow;
            }
            failures::sql(core, cx, client, committing)
        }
        Awaited::Command if client.procedure.is_some() => procedure::answered(client),
        Awaited::Command => {
            if let Some(fatal) = replies::store_last(core, cx, client) {
                client.commit_in_flight = committing;
                return failures::fatal(core, cx, client, &fatal);
            }
            // ROLLBACK, or END of a block that had failed: nothing was done.
            // ROLLBACK TO leaves the block open.
            client.without_effect |=
                client.replies.rolled_back && client.status() == TransactionStatus::Idle;
            client.in_pipeline = false;
            client.state = State::Running;
            commands::finished(core, cx, client);
            Flow::Again
        }
    }
}

/// Before a client's first transaction.
fn ramping(core: &Core, client: &mut Client, due_ns: u64) -> Flow {
    if core.now_ns < due_ns && !core.is_over() {
        return Flow::Wait;
    }
    client.state = State::Choosing;
    Flow::Again
}

fn choose(core: &mut Core, cx: Cx<'_>, client: &mut Client) -> Flow {
    if !core.begun {
        return Flow::Wait;
    }
    if client.procedure.is_some() {
        return procedure::choose(core, cx, client);
    }
    let random = match cx.plan.choice {
        ChoiceStream::PerWorker => &mut core.choice_random,
        ChoiceStream::PerClient => &mut client.own_random,
    };
    client.script = cx.choice.choose(random);
    core.debug(|| {
        let name = &cx.plan.program.types[client.script].script.name;
        format!("client {} executing script \"{name}\"", client.id)
    });
    if core.is_over() {
        return finish(core, client);
    }
    chosen(core, client)
}

/// A procedure's terminal thinks and keys in.
fn pausing(core: &mut Core, client: &mut Client, due_ns: u64) -> Flow {
    if core.is_over() {
        return finish(core, client);
    }
    if core.now_ns < due_ns {
        client.waited = true;
        return Flow::Wait;
    }
    chosen(core, client)
}

/// The next transaction is known; it starts at once, or when its time comes.
#[inline]
pub(super) fn chosen(core: &mut Core, client: &mut Client) -> Flow {
    if core.schedule.exists() {
        return schedule(core, client);
    }
    client.state = State::Starting;
    client.scheduled_ns = core.now_ns;
    Flow::Again
}

/// Takes the worker's next scheduled start, passing over those that are too
/// late already.
fn schedule(core: &mut Core, client: &mut Client) -> Flow {
    core.tick();
    loop {
        client.scheduled_ns = core.schedule.take();
        let Some(limit_ns) = core.latency_limit_ns else { break };
        if client.scheduled_ns.saturating_add(limit_ns) >= core.now_ns {
            break;
        }
        count(core, client, End::Skipped);
        if client.transactions >= core.transactions_max || core.is_over() {
            return finish(core, client);
        }
    }
    if client.scheduled_ns > core.end_ns {
        return finish(core, client);
    }
    let mut due_ns = client.scheduled_ns;
    if core.now_ns < due_ns {
        due_ns = core.schedule.wake_ns(due_ns, core.end_ns);
        core.timers.add(due_ns, client.index);
    }
    client.state = State::Throttled { due_ns };
    Flow::Again
}

fn throttled(core: &mut Core, client: &mut Client, due_ns: u64) -> Flow {
    if core.is_over() {
        core.schedule.give_back(client.scheduled_ns);
        return finish(core, client);
    }
    if core.now_ns < due_ns {
        client.waited = true;
        return Flow::Wait;
    }
    client.state = State::Starting;
    Flow::Again
}

fn start(core: &mut Core, cx: Cx<'_>, client: &mut Client) -> Flow {
    if client.session.is_none() {
        renew::begin(core, cx, client);
        return Flow::Again;
    }
    if !core.schedule.exists() {
        client.scheduled_ns = core.now_ns;
    }
    client.begin_ns = core.now_ns;
    client.try_begin_ns = core.now_ns;
    client.tries = 1;
    client.pc = 0;
    client.in_pipeline = false;
    client.without_effect = false;
    client.rows_written = 0;
    client.failure = None;
    client.random_at_start = client.random;
    procedure::begin_try(client);
    client.state = State::Running;
    Flow::Again
}

/// The script has run to its end.
#[inline]
pub(super) fn end_of_script(core: &mut Core, cx: Cx<'_>, client: &mut Client) -> Flow {
    if client.in_pipeline {
        return pipeline_is_open(core, cx, client);
    }
    end_transaction(core, cx, client, End::Done)
}

#[cold]
fn pipeline_is_open(core: &mut Core, cx: Cx<'_>, client: &mut Client) -> Flow {
    let text = format!("client {} aborted: end of script reached with pipeline open", client.id);
    failures::abort(core, cx, client, None, &text)
}

/// Counts the transaction and goes on to the next, if there is one.
#[inline]
pub(super) fn end_transaction(core: &mut Core, cx: Cx<'_>, client: &mut Client, end: End) -> Flow {
    count(core, client, end);
    if client.status() != TransactionStatus::Idle {
        return end_is_open(core, cx, client);
    }
    if client.close_after {
        session::close(core, client);
        let before_ns = core.now_ns;
        let closing_us = (core.tick() - before_ns) / 1000;
        core.figures.tally().connections.close_us_sum += closing_us;
    }
    if client.transactions >= core.transactions_max || core.is_over() {
        return finish(core, client);
    }
    client.state = State::Choosing;
    if client.waited {
        client.waited = false;
        return Flow::Again;
    }
    // A script without SQL never waits; the others must have their turn.
    core.again.push_back(client.index);
    core.tick();
    Flow::Wait
}

#[cold]
fn end_is_open(core: &mut Core, cx: Cx<'_>, client: &mut Client) -> Flow {
    let text = format!(
        "client {} aborted: end of script reached without completing the last transaction",
        client.id
    );
    failures::abort(core, cx, client, None, &text)
}

/// Puts the transaction into all figures.
pub(super) fn count(core: &mut Core, client: &mut Client, end: End) {
    if core.now_ns >= core.figures.next_turn_ns() {
        core.turn_clock();
    }
    let late_ns = core.latency_limit_ns.unwrap_or(u64::MAX);
    let response_ns = core.now_ns.saturating_sub(client.scheduled_ns);
    let (late, effect) = (response_ns > late_ns, !client.without_effect);
    let scheduled = core.schedule.exists();
    let response_us = response_ns / 1000;
    let times = if scheduled {
        TransactionTimes {
            response_us,
            service_us: core.now_ns.saturating_sub(client.begin_ns) / 1000,
            lag_us: client.begin_ns.saturating_sub(client.scheduled_ns) / 1000,
        }
    } else {
        // It was due when it began.
        TransactionTimes { response_us, service_us: response_us, lag_us: 0 }
    };
    let tally = core.figures.tally();
    if let Some(endpoint) = tally.endpoints.get_mut(client.slot as usize) {
        match end {
            End::Done => endpoint.commit(times.response_us),
            End::Failed(_) => endpoint.transactions_failed += 1,
            End::Unknown => endpoint.unknown += 1,
            End::RolledBack | End::Skipped => {}
        }
    }
    let script = &mut tally.scripts[client.script];
    if end == End::Done {
        script.rows_written += client.rows_written;
    }
    match end {
        End::Done if scheduled => script.commit(times, client.tries, late, effect),
        End::Done => script.commit_unscheduled(times.response_us, client.tries, late, effect),
        End::RolledBack => script.roll_back(times, client.tries, scheduled),
        End::Failed(sqlstate) => script.fail(sqlstate, client.tries),
        End::Skipped => script.skip(),
        End::Unknown => script.unknown(client.tries),
    }
    procedure::ended(core, client, end);
    if core.figures.phase != Phase::Drain {
        let second = core.figures.second();
        match end {
            End::Done => second.commit(times, client.tries),
            End::RolledBack => {}
            End::Failed(sqlstate) => second.fail(sqlstate, client.tries),
            End::Skipped => second.skip(),
            End::Unknown => second.unknown(client.tries),
        }
    }
    // A limited number of transactions is meant for the measured interval.
    if core.figures.phase != Phase::Warmup {
        client.transactions += 1;
    }
    if core.log.is_some() {
        write_log(core, client, end, times);
    }
}

#[inline(never)]
fn write_log(core: &mut Core, client: &Client, end: End, times: TransactionTimes) {
    let Some(log) = &mut core.log else { return };
    let end = match end {
        End::Done | End::RolledBack => LogEnd::Done,
        End::Skipped => LogEnd::Skipped,
        End::Failed(sqlstate) => LogEnd::Failed(sqlstate.failure_class()),
        // pgbench does not count what it lost.
        End::Unknown => return,
    };
    let entry = LogEntry {
        client: client.id,
        number: client.transactions,
        end,
        latency_us: times.response_us,
        lag_us: times.lag_us,
        tries: if end == LogEnd::Skipped { 1 } else { client.tries },
        script: client.script,
        unix_us: core.clock.unix_us(core.now_ns),
    };
    if let Err(error) = log.write(&entry, &mut core.sample_random) {
        core.log = None;
        core.error(&format!("could not write to the transaction log: {error}"));
        core.control.stop();
        core.gave_up = true;
    }
}

/// The client has done all it was to do.
pub(super) fn finish(core: &mut Core, client: &mut Client) -> Flow {
    session::close(core, client);
    client.state = State::Finished;
    core.live -= 1;
    Flow::Wait
}

/// Tells how far connecting has come.
pub(super) fn tell_connected(core: &Core) {
    core.tell(FromWorker::Connected { worker: core.index, clients: core.ready });
}
