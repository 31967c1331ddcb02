//! What the server sends: scanned in place, decoded only where it matters.
//!
//! One read per wake-up into the worker's buffer. A socket that gave less than
//! was asked for is empty, and the edge-triggered poller reports what comes
//! later, so no second read is needed to find that out.

use std::io::ErrorKind;

use pgdyno_script::script::CommandKind;
use pgdyno_script::sql::{Sql, StoreMode};
use pgdyno_wire::backend::{
    self, CommandTag, DataRow, ErrorFields, ProtocolError, RowDescription, TransactionStatus, tag,
};

use super::client::{Awaited, Client, Fatal, Replies, State};
use super::core::Core;
use super::{Cx, commands, failures, procedure};

/// An incomplete message that needed more memory than this gives it back.
const PARTIAL_KEEP_MAX: usize = 16 * 1024;

/// In the queue of commands: a point of synchronization within a pipeline. No
/// script has so many commands.
pub(super) const SYNC_POINT: u32 = u32::MAX;

/// What reading came to.
#[derive(Debug)]
pub(super) enum Read {
    /// All that was there is read.
    Drained,
    /// The connection is gone; the system's words, if it had any.
    Lost(Option<std::io::Error>),
}

/// Reads and scans all that the socket has, to its end if `closed`.
pub(super) fn read(
    core: &mut Core,
    cx: Cx<'_>,
    client: &mut Client,
    buffer: &mut Vec<u8>,
    closed: bool,
) -> Read {
    loop {
        let Some(session) = &mut client.session else { return Read::Drained };
        let kept = session.partial.len();
        if kept > 0 {
            if buffer.len() <= kept {
                buffer.resize(kept * 2, 0);
            }
            buffer[..kept].copy_from_slice(&session.partial);
        }
        let room = buffer.len() - kept;
        let received = match session.channel.recv(&mut buffer[kept..]) {
            Ok(0) => return Read::Lost(None),
            Ok(received) => received,
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            Err(e) if e.kind() == ErrorKind::WouldBlock => return Read::Drained,
            Err(e) => return Read::Lost(Some(e)),
        };
        let is_tls = session.channel.is_tls();
        session.partial.clear();
        core.tick();
        let wanted = scan(core, cx, client, &buffer[..kept + received]);
        if wanted > buffer.len() {
            buffer.resize(wanted, 0);
        }
        // TLS may hold more than the socket shows, and the end of the stream
        // behind the last bytes is not reported a second time.
        if received < room && !is_tls && !closed {
            return Read::Drained;
        }
    }
}

/// Scans bytes that came by the ring.
#[inline]
pub(super) fn received(core: &mut Core, cx: Cx<'_>, client: &mut Client, bytes: &[u8]) {
    let Some(session) = &mut client.session else { return };
    core.tick();
    if session.partial.is_empty() {
        scan(core, cx, client, bytes);
    } else {
        received_more(core, cx, client, bytes);
    }
}

/// The rest of a message, or a part of the rest.
#[inline(never)]
fn received_more(core: &mut Core, cx: Cx<'_>, client: &mut Client, bytes: &[u8]) {
    let Some(session) = &mut client.session else { return };
    let length = backend::frame_len(&session.partial);
    session.partial.extend_from_slice(bytes);
    if length.is_some_and(|length| session.partial.len() < length) {
        return;
    }
    let mut joined = std::mem::take(&mut session.partial);
    scan(core, cx, client, &joined);
    if let Some(session) = &mut client.session
        && session.partial.capacity() == 0
        && joined.capacity() <= PARTIAL_KEEP_MAX
    {
        joined.clear();
        session.partial = joined;
    }
}

/// Handles all whole messages in `bytes` and keeps the rest. Gives back how
/// long the buffer must be for the message that is incomplete.
fn scan(core: &mut Core, cx: Cx<'_>, client: &mut Client, bytes: &[u8]) -> usize {
    let mut rest = bytes;
    if let Some(session) = &mut client.session
        && session.skip > 0
    {
        let skipped = session.skip.min(rest.len());
        session.skip -= skipped;
        rest = &rest[skipped..];
    }
    loop {
        match backend::next_frame(rest) {
            Ok(Some(frame)) => {
                rest = &rest[frame.total_len()..];
                if let Err(error) = handle(core, cx, client, frame.tag, frame.body) {
                    return not_the_protocol(client, &error);
                }
            }
            Ok(None) if rest.is_empty() => return 0,
            Ok(None) => return keep(cx, client, rest),
            Err(error) => return not_the_protocol(client, &error),
        }
    }
}

/// What came is not PostgreSQL's protocol; nothing more can be read.
#[cold]
fn not_the_protocol(client: &mut Client, error: &ProtocolError) -> usize {
    client.replies.fatal = Some(Box::new(Fatal::Protocol { text: error.to_string() }));
    0
}

/// Keeps an incomplete message for the next read. A row that nobody wants is
/// counted and passed over instead.
fn keep(cx: Cx<'_>, client: &mut Client, rest: &[u8]) -> usize {
    let Some(length) = backend::frame_len(rest) else {
        if let Some(session) = &mut client.session {
            session.partial.extend_from_slice(rest);
        }
        return 0;
    };
    let wants_rows = cx.reads_rows && (client.procedure.is_some() || storing(cx, client).is_some());
    let Some(session) = &mut client.session else { return 0 };
    if rest.first() == Some(&tag::DATA_ROW) && !wants_rows {
        client.replies.rows += 1;
        session.skip = length - rest.len();
        return 0;
    }
    if session.partial.capacity() > PARTIAL_KEEP_MAX && length < PARTIAL_KEEP_MAX {
        session.partial = Vec::new();
    }
    session.partial.extend_from_slice(rest);
    length
}

#[inline]
fn handle(
    core: &mut Core,
    cx: Cx<'_>,
    client: &mut Client,
    kind: u8,
    body: &[u8],
) -> Result<(), ProtocolError> {
    match kind {
        tag::DATA_ROW => {
            client.replies.rows += 1;
            if cx.reads_rows {
                row_came(client, storing(cx, client).is_some(), body)?;
            }
        }
        tag::COMMAND_COMPLETE => {
            client.replies.rolled_back = CommandTag::is_rollback(body);
            result_ended(core, cx, client, CommandTag::rows(body).unwrap_or(0))?;
        }
        tag::READY_FOR_QUERY => {
            let prepared = client.replies.preparing > 0;
            ready(client, TransactionStatus::parse(body)?)?;
            if cx.plan.debug {
                commands::debug_ready(core, cx, client, prepared);
            }
        }
        tag::EMPTY_QUERY_RESPONSE => result_ended(core, cx, client, 0)?,
        tag::ROW_DESCRIPTION if storing(cx, client).is_some() => {
            client.replies.columns.clear();
            client.replies.columns.extend_from_slice(body);
        }
        tag::ERROR_RESPONSE => error_came(core, cx, client, body),
        tag::NOTICE_RESPONSE => notice_came(core, client, body),
        tag::COPY_IN_RESPONSE | tag::COPY_OUT_RESPONSE | tag::COPY_BOTH_RESPONSE => {
            client.replies.fatal = Some(Box::new(Fatal::Copy));
        }
        _ => {}
    }
    Ok(())
}

/// A row that somebody looks at.
fn row_came(client: &mut Client, stores: bool, body: &[u8]) -> Result<(), ProtocolError> {
    if stores {
        client.replies.row.clear();
        client.replies.row.extend_from_slice(body);
    }
    if client.procedure.is_some() && matches!(client.state, State::Awaiting(Awaited::Command)) {
        procedure::row(client, DataRow::parse(body)?);
    }
    Ok(())
}

#[inline]
fn ready(client: &mut Client, status: TransactionStatus) -> Result<(), ProtocolError> {
    let Some(session) = &mut client.session else { return Err(unasked(tag::READY_FOR_QUERY)) };
    session.status = status;
    let replies = &mut client.replies;
    if replies.syncs == 0 {
        return Err(unasked(tag::READY_FOR_QUERY));
    }
    replies.syncs -= 1;
    if replies.preparing > 0 {
        replies.preparing -= 1;
    } else if !replies.queue.is_empty() {
        point_reached(replies);
    }
    Ok(())
}

/// A point of synchronization within a pipeline. After an error the server
/// passes over what is left up to here.
#[inline(never)]
fn point_reached(replies: &mut Replies) {
    if let Some(end) = replies.queue.iter().position(|command| *command == SYNC_POINT) {
        replies.queue.drain(..=end);
    }
}

#[cold]
fn unasked(tag: u8) -> ProtocolError {
    ProtocolError::Unexpected { tag, doing: "no command was under way" }
}

#[cold]
fn error_came(core: &Core, cx: Cx<'_>, client: &mut Client, body: &[u8]) {
    // Behind the last ReadyForQuery: it is no command's error, least of all
    // that of the commit just acknowledged. libpq takes it for a notice, too.
    if client.replies.syncs == 0 && client.replies.queue.is_empty() {
        client.replies.farewell.clear();
        client.replies.farewell.extend_from_slice(body);
        core.observer.notice(&ErrorFields::new(body).to_server_error().to_string());
        return;
    }
    let preparing = client.replies.preparing > 0;
    if preparing && !cx.plan.prepare_early {
        // As pgbench: told, and then the execution fails for want of it.
        let error = ErrorFields::new(body).to_server_error();
        core.error(&failures::with_query(cx, client, error).to_string());
        return;
    }
    if preparing {
        if client.procedure.is_some() {
            procedure::forget_prepared(cx, client);
        } else {
            forget_prepared(cx, client);
        }
        // The script may yet make the table that is missing. At its first use
        // the statement is prepared again, and then its error counts.
        if matches!(client.state, State::Awaiting(Awaited::Preparation)) {
            return;
        }
    }
    if client.replies.error.is_empty() {
        client.replies.error.extend_from_slice(body);
    }
}

/// The statement whose Parse has just failed is not prepared.
fn forget_prepared(cx: Cx<'_>, client: &mut Client) {
    let number = if matches!(client.state, State::Awaiting(Awaited::Preparation)) {
        // They were sent in order, all of them.
        cx.requests.statements.len().checked_sub(client.replies.preparing as usize)
    } else {
        cx.requests.number(client.script, client.pc).map(|number| number as usize)
    };
    if let (Some(session), Some(number)) = (&mut client.session, number) {
        session.prepared.remove(number);
    }
}

/// In an emergency a server says why it hangs up by a warning instead of an
/// error: SQLSTATE 57P01 or 57P02 with an immediate shutdown or a crash.
#[cold]
fn notice_came(core: &Core, client: &mut Client, body: &[u8]) {
    const OPERATOR_INTERVENTION: &str = "57P";
    let notice = ErrorFields::new(body).to_server_error();
    if notice.sqlstate.as_str().starts_with(OPERATOR_INTERVENTION) {
        client.replies.farewell.clear();
        client.replies.farewell.extend_from_slice(body);
    }
    core.observer.notice(&notice.to_string());
}

/// The command whose results are coming in.
#[inline]
fn current(client: &Client) -> usize {
    match client.replies.queue.front() {
        Some(command) => *command as usize,
        None => client.pc,
    }
}

fn sql_of<'p>(cx: Cx<'p>, client: &Client) -> Option<&'p Sql> {
    let commands = &cx.plan.program.types[client.script].script.commands;
    match &commands.get(current(client))?.kind {
        CommandKind::Sql(sql) => Some(sql),
        _ => None,
    }
}

/// `\gset` or `\aset` of the command whose results are coming in.
#[inline]
fn storing(cx: Cx<'_>, client: &Client) -> Option<StoreMode> {
    if !cx.stores || !matches!(client.state, State::Awaiting(Awaited::Command)) {
        return None;
    }
    sql_of(cx, client)?.store.as_ref().map(|store| store.mode)
}

/// One result is complete: counts it, and stores it for `\aset`.
fn result_ended(
    core: &mut Core,
    cx: Cx<'_>,
    client: &mut Client,
    rows: u64,
) -> Result<(), ProtocolError> {
    if client.replies.preparing > 0 || matches!(client.state, State::Awaiting(Awaited::Rollback)) {
        return Ok(());
    }
    let in_pipeline = !client.replies.queue.is_empty();
    if client.replies.syncs == 0 && !in_pipeline {
        return Err(unasked(tag::COMMAND_COMPLETE));
    }
    let (command, part) =
        if in_pipeline { (current(client), 0) } else { (client.pc, client.replies.results) };
    let slot = cx.requests.slot(client.script, command, part);
    let info = cx.requests.slot_infos[slot];
    let statement = &mut core.figures.tally().statements[slot];
    statement.executions += 1;
    statement.rows += rows;
    statement.no_row += u64::from(rows == 0);
    if info.tag_writes {
        client.rows_written += rows;
    }
    if rows < info.rows_expected {
        statement.short += 1;
        client.without_effect |= info.writes;
    }
    if cx.stores
        && client.replies.rows > 0
        && storing(cx, client) == Some(StoreMode::Aset)
        && let Err(fatal) = store(core, cx, client)
    {
        client.replies.fatal.get_or_insert_with(|| Box::new(fatal));
    }
    if in_pipeline {
        if client.procedure.is_some() {
            procedure::time(core, cx, client, slot);
        }
        client.replies.queue.pop_front();
    }
    client.replies.last_rows = client.replies.rows;
    client.replies.rows = 0;
    client.replies.results += 1;
    Ok(())
}

/// `\gset`, when all results are there: the last must have one row.
pub(super) fn store_last(core: &mut Core, cx: Cx<'_>, client: &mut Client) -> Option<Fatal> {
    if storing(cx, client) != Some(StoreMode::Gset) {
        return None;
    }
    let (rows, results) = (client.replies.last_rows, client.replies.results);
    if rows != 1 {
        return Some(Fatal::NotOneRow { rows, query: results.saturating_sub(1) });
    }
    client.replies.results = results.saturating_sub(1);
    let stored = store(core, cx, client);
    client.replies.results = results;
    stored.err()
}

/// What messages call it.
pub(super) fn store_name(mode: StoreMode) -> &'static str {
    match mode {
        StoreMode::Gset => "gset",
        StoreMode::Aset => "aset",
    }
}

/// Stores the columns of the row that came last.
fn store(core: &mut Core, cx: Cx<'_>, client: &mut Client) -> Result<(), Fatal> {
    let Some(target) = sql_of(cx, client).and_then(|sql| sql.store.as_ref()) else {
        return Ok(());
    };
    let query = client.replies.results;
    let broken = |error: ProtocolError| Fatal::Protocol { text: error.to_string() };
    let columns = RowDescription::parse(&client.replies.columns).map_err(broken)?;
    let row = DataRow::parse(&client.replies.row).map_err(broken)?;
    for (column, value) in columns.columns().zip(row.values()) {
        let (column, value) = (column.map_err(broken)?, value.map_err(broken)?);
        core.name.clear();
        core.name.extend_from_slice(&target.prefix);
        core.name.extend_from_slice(column.name);
        client
            .vars
            .store_column(&cx.plan.program.names, store_name(target.mode), &core.name, value)
            .map_err(|error| Fatal::Store {
                error: error.to_string(),
                name: String::from_utf8_lossy(&core.name).into_owned(),
                query,
            })?;
    }
    Ok(())
}
