//! Sessions that end before their client does: lost, too old, or away from
//! their own endpoint.
//!
//! Only with [`ConnectPlan::reconnect_lost`](crate::connect::ConnectPlan) and a
//! session age; otherwise a lost session ends its client, as in pgbench. What
//! became of the transaction is counted by the same rules in both cases.

use pgdyno_record::sqlstate::SqlState;

use super::advance::{self, End};
use super::client::{Awaited, Client, State};
use super::core::Core;
use super::endpoints::Choice;
use super::{Cx, Flow, failures, session};
use crate::observe::Level;
use crate::plan::Limit;

/// A client of a run that is limited by transactions gives up when no endpoint
/// took it for so long; one that is limited by time goes on trying to its end.
const WITHOUT_SESSION_MAX_NS: u64 = 60_000_000_000;

/// The part of the session age after which a client may leave, and the part in
/// which all have left. The rest is for the last transaction.
const AGE_FROM: f64 = 0.75;
const AGE_TO: f64 = 0.92;

/// Clients that go back to their endpoint do so within this long.
const BACK_WITHIN_NS: u64 = 300_000_000;

/// Counted for a transaction whose connection was lost without a word:
/// connection_failure (PostgreSQL manual, Appendix A).
const CONNECTION_FAILURE: &[u8] = b"08006";

/// True where some client may have to try again to connect. A session age is
/// reason enough: who left a good session for it must not end over one attempt.
fn tries_again(cx: Cx<'_>) -> bool {
    cx.plan.connect.reconnect_lost || cx.plan.connect.session_age.is_some()
}

/// Chooses an endpoint and starts to connect to it, or waits for its turn.
pub(super) fn begin(core: &mut Core, cx: Cx<'_>, client: &mut Client) {
    core.tick();
    // Whatever it will wait for, the end of the run comes first. Once: with a
    // connection for each transaction the timers would pile up.
    if tries_again(cx) && core.begun && core.end_ns < u64::MAX && !client.end_is_timed {
        client.end_is_timed = true;
        core.timers.add(core.end_ns, client.index);
    }
    match core.endpoints.choose(client.id, &mut client.jitter, core.now_ns) {
        Choice::Use { endpoint, away_until_ns } => {
            client.endpoint = endpoint as u32;
            client.away = away_until_ns.is_some();
        }
        Choice::Wait { until_ns } => {
            // Not all at the same moment: one tries, the others see how it went.
            let due_ns = until_ns + 1 + client.jitter.bounded(BACK_WITHIN_NS / 10);
            wait(core, client, State::AwaitingEndpoint { due_ns }, due_ns);
            return;
        }
    }
    let from_ns = core.limiter.as_ref().map_or(0, |limiter| limiter.take(core.now_ns));
    if from_ns > core.now_ns {
        core.figures.tally().connections.waited_us_sum += (from_ns - core.now_ns) / 1000;
        wait(core, client, State::AwaitingTurn { due_ns: from_ns }, from_ns);
        return;
    }
    session::start_attempt(core, cx, client);
}

/// No transaction may begin any more, so a connection is of no use. Only where
/// connecting may take long because an endpoint is dead; else pgbench's way,
/// which makes every connection that was begun.
pub(super) fn is_too_late(core: &Core, cx: Cx<'_>) -> bool {
    core.begun && tries_again(cx) && core.is_over()
}

fn wait(core: &mut Core, client: &mut Client, state: State, due_ns: u64) {
    client.state = state;
    client.waited = true;
    core.timers.add(due_ns, client.index);
}

/// Goes on with a client that waits to connect.
pub(super) fn awaited(core: &mut Core, cx: Cx<'_>, client: &mut Client) -> Flow {
    if core.begun && core.is_over() {
        return advance::finish(core, client);
    }
    match client.state {
        State::AwaitingTurn { due_ns } if core.now_ns >= due_ns => {
            session::start_attempt(core, cx, client);
            Flow::Again
        }
        State::AwaitingEndpoint { due_ns } if core.now_ns >= due_ns => {
            begin(core, cx, client);
            Flow::Again
        }
        _ => Flow::Wait,
    }
}

/// A session was made: counts it, and says when it is to be looked at again.
pub(super) fn established(core: &mut Core, cx: Cx<'_>, client: &mut Client, host: usize) {
    client.slot = core.endpoints.slot(client.endpoint, host);
    client.close_after = cx.plan.reconnect;
    client.without_session_since_ns = None;
    if let Some(endpoint) = core.figures.tally().endpoints.get_mut(client.slot as usize) {
        endpoint.connections += 1;
    }
    if core.endpoints.connected(client.endpoint) && tries_again(cx) {
        let name = endpoint_name(cx, client);
        core.observer.message(Level::Info, &format!("{name} takes connections again"));
    }
    client.renew_at_ns = u64::MAX;
    if let Some(age) = cx.plan.connect.session_age {
        let age_ns = age.as_nanos() as u64;
        let (from, to) = (share(age_ns, AGE_FROM), share(age_ns, AGE_TO));
        client.renew_at_ns = core.now_ns + from + client.jitter.bounded(to - from);
    }
    look_again(core, client);
}

fn share(ns: u64, part: f64) -> u64 {
    (ns as f64 * part) as u64
}

/// Sets the timer for whatever the session is next looked at for.
fn look_again(core: &mut Core, client: &mut Client) {
    client.look_at_ns = client.renew_at_ns;
    if client.away {
        let back_ns = core.endpoints.back_at_ns(client.id, core.now_ns).unwrap_or(core.now_ns);
        let back_ns = back_ns + client.jitter.bounded(BACK_WITHIN_NS);
        client.look_at_ns = client.look_at_ns.min(back_ns);
    }
    if client.look_at_ns < u64::MAX {
        core.timers.add(client.look_at_ns, client.index);
    }
}

/// The moment has come to look at a session. It is left after the transaction
/// under way, where it is too old or the client's own endpoint may be back.
pub(super) fn look(core: &mut Core, client: &mut Client) {
    client.look_at_ns = u64::MAX;
    if client.session.is_none() {
        return;
    }
    if core.now_ns >= client.renew_at_ns {
        core.figures.tally().connections.renewed += 1;
    } else if core.endpoints.back_at_ns(client.id, core.now_ns).is_some() {
        look_again(core, client);
        return;
    }
    client.close_after = true;
    if matches!(
        client.state,
        State::Throttled { .. } | State::Pausing { .. } | State::Ramping { .. }
    ) {
        session::close(core, client);
    }
}

/// The session of a client is gone, and the client goes on with another.
/// `unknown`: a commit was on its way. `sqlstate`: the server's last words.
pub(super) fn lost(
    core: &mut Core,
    cx: Cx<'_>,
    client: &mut Client,
    unknown: bool,
    sqlstate: Option<&str>,
    text: &str,
) -> Flow {
    core.debug(|| text.to_owned());
    let tally = core.figures.tally();
    tally.connections.lost += 1;
    if let Some(endpoint) = tally.endpoints.get_mut(client.slot as usize) {
        endpoint.lost += 1;
    }
    session::close(core, client);
    client.out.clear();
    client.replies.forget();
    client.in_pipeline = false;
    let sqlstate = sqlstate.map_or(CONNECTION_FAILURE, str::as_bytes);
    match client.state {
        State::Ramping { .. }
        | State::Throttled { .. }
        | State::Pausing { .. }
        | State::Choosing
        | State::Starting => Flow::Wait,
        State::Awaiting(Awaited::Preparation) => {
            let text = text.to_owned();
            let sqlstate = Some(String::from_utf8_lossy(sqlstate).into_owned());
            let error = session::ConnectError { text, sqlstate, config: false };
            failures::connection_failed(core, cx, client, &error)
        }
        _ if unknown => advance::end_transaction(core, cx, client, End::Unknown),
        _ => {
            let slot = cx.requests.slot(client.script, client.pc, client.replies.results);
            core.figures.tally().statements[slot].failures += 1;
            let sqlstate = SqlState::from_bytes(sqlstate).unwrap_or(SqlState::INTERNAL_ERROR);
            advance::end_transaction(core, cx, client, End::Failed(sqlstate))
        }
    }
}

/// An attempt to connect failed. True where the client goes on: with another
/// endpoint at once, or later.
pub(super) fn goes_on(
    core: &mut Core,
    cx: Cx<'_>,
    client: &mut Client,
    error: &session::ConnectError,
) -> bool {
    core.tick();
    let slot = core.endpoints.slot(client.endpoint, 0);
    if let Some(endpoint) = core.figures.tally().endpoints.get_mut(slot as usize) {
        endpoint.failed += 1;
    }
    // The session that was left because of its age was good.
    let left_for_age = client.renew_at_ns <= core.now_ns;
    if !(cx.plan.connect.reconnect_lost || left_for_age) || error.config {
        return false;
    }
    let untold = core.endpoints.failed(client.endpoint, core.now_ns);
    if untold {
        let words = error.text.lines().next().unwrap_or_default();
        let name = endpoint_name(cx, client);
        let text = format!("{name} takes no connection and is avoided for now: {words}");
        core.observer.message(Level::Info, &text);
    }
    client.attempt = None;
    let since_ns = *client.without_session_since_ns.get_or_insert(core.now_ns);
    let waited_ns = core.now_ns - since_ns;
    let by_count = matches!(cx.plan.limit, Limit::Transactions(_));
    if by_count && waited_ns > WITHOUT_SESSION_MAX_NS {
        return false;
    }
    begin(core, cx, client);
    // At the start somebody waits for an answer.
    core.begun || !matches!(client.state, State::AwaitingEndpoint { .. })
}

fn endpoint_name(cx: Cx<'_>, client: &Client) -> String {
    let context = cx.plan.endpoints.get(client.endpoint as usize);
    context.map(|context| crate::endpoint_name(context.options())).unwrap_or_default()
}
