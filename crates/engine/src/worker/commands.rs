//! The commands of a script: meta commands at once, SQL until its reply.

use pgdyno_script::error::RunError;
use pgdyno_script::expr::{Env, Expr};
use pgdyno_script::script::{Command, CommandKind, Shell};
use pgdyno_script::sql::Sql;
use pgdyno_script::value::Value;
use pgdyno_wire::backend::TransactionStatus;
use pgdyno_wire::frontend::{self, EncodeError};

use super::client::{Awaited, Client, State};
use super::core::Core;
use super::{Cx, Flow, advance, failures, procedure, replies, ring, session};
use crate::plan::Protocol;

/// Requests of a pipeline are handed to the socket when they are longer than
/// this, as libpq does, and else only at its end.
const PIPELINE_FLUSH_BYTES: usize = 64 * 1024;

/// Where a command leaves its client.
enum Next {
    /// At the following command.
    Follows,
    /// At another command.
    Goto(usize),
    /// Waiting.
    Waits,
    /// Somewhere else already.
    Left(Flow),
}

/// Executes commands until one waits or the script ends.
pub(super) fn run(core: &mut Core, cx: Cx<'_>, client: &mut Client) -> Flow {
    if client.procedure.is_some() {
        return procedure::run(core, cx, client);
    }
    let commands = &cx.plan.program.types[client.script].script.commands;
    while let Some(command) = commands.get(client.pc) {
        client.command_begin_ns = core.now_ns;
        match execute(core, cx, client, command) {
            Next::Follows => finished(core, cx, client),
            Next::Goto(target) => {
                finished(core, cx, client);
                client.pc = target;
            }
            Next::Waits => {
                client.waited = true;
                return Flow::Wait;
            }
            Next::Left(flow) => return flow,
        }
    }
    advance::end_of_script(core, cx, client)
}

/// The command at `pc` is done: times it where that was asked for, and goes on.
#[inline]
pub(super) fn finished(core: &mut Core, cx: Cx<'_>, client: &mut Client) {
    if cx.plan.statement_latency {
        time(core, cx, client);
    }
    client.pc += 1;
}

#[inline(never)]
fn time(core: &mut Core, cx: Cx<'_>, client: &Client) {
    let is_sql = cx.requests.number(client.script, client.pc).is_some();
    // The clock was read when the last reply came in.
    let now_ns = if is_sql { core.now_ns } else { core.tick() };
    let us = now_ns.saturating_sub(client.command_begin_ns) / 1000;
    let slot = cx.requests.slot(client.script, client.pc, 0);
    let statement = &mut core.figures.tally().statements[slot];
    if !is_sql {
        statement.executions += 1;
    }
    statement.time_us_sum += us;
    if let Some(latency) = &mut statement.latency {
        latency.record(us);
    }
}

fn execute(core: &mut Core, cx: Cx<'_>, client: &mut Client, command: &Command) -> Next {
    match &command.kind {
        CommandKind::Sql(sql) => send(core, cx, client, sql),
        CommandKind::Endif => Next::Follows,
        kind => {
            core.debug(|| format!("client {} executing \\{}", client.id, command.words.join(" ")));
            match meta(core, cx, client, kind) {
                Ok(next) => next,
                Err(error) => Next::Left(failures::meta(core, cx, client, &error)),
            }
        }
    }
}

fn meta(
    core: &mut Core,
    cx: Cx<'_>,
    client: &mut Client,
    kind: &CommandKind,
) -> Result<Next, RunError> {
    Ok(match kind {
        CommandKind::Set { target, expr } => {
            let value = evaluate(core, cx, client, expr)?;
            client.vars.set(target.slot("set")?, value);
            Next::Follows
        }
        CommandKind::If { cond, otherwise } => {
            let truth = evaluate(core, cx, client, cond)?.is_true();
            branch(core, cx, client, truth, *otherwise)?
        }
        // Reached from the branch above: the rest is passed over.
        CommandKind::Elif { end, .. } | CommandKind::Else { end } => Next::Goto(end + 1),
        CommandKind::Sleep(sleep) => {
            let us = sleep.duration_us(&client.vars)?;
            let due_ns = core.tick() + u64::try_from(us).unwrap_or(0) * 1000;
            core.timers.add(due_ns, client.index);
            client.state = State::Sleeping { due_ns };
            Next::Waits
        }
        CommandKind::Shell(shell) => {
            ring::hand_over(core);
            run_shell(shell, client)?;
            core.tick();
            Next::Follows
        }
        CommandKind::SetShell { target, shell } => {
            ring::hand_over(core);
            let number = shell.result(&read_shell(shell, client)?)?;
            client.vars.set_int(target.slot("setshell")?, i64::from(number));
            core.tick();
            Next::Follows
        }
        CommandKind::StartPipeline => start_pipeline(core, cx, client),
        CommandKind::SyncPipeline => sync_pipeline(core, cx, client),
        CommandKind::EndPipeline => end_pipeline(core, cx, client),
        CommandKind::Sql(_) | CommandKind::Endif => Next::Follows,
    })
}

/// Goes into the branch if `truth`, else on to the next `\elif`, `\else` or
/// `\endif`, until one is taken.
fn branch(
    core: &mut Core,
    cx: Cx<'_>,
    client: &mut Client,
    truth: bool,
    otherwise: usize,
) -> Result<Next, RunError> {
    if truth {
        return Ok(Next::Follows);
    }
    let commands = &cx.plan.program.types[client.script].script.commands;
    let mut at = otherwise;
    loop {
        match commands.get(at).map(|command| &command.kind) {
            Some(CommandKind::Elif { cond, otherwise, .. }) => {
                client.pc = at;
                core.debug(|| format!("client {} executing \\elif", client.id));
                if evaluate(core, cx, client, cond)?.is_true() {
                    return Ok(Next::Goto(at + 1));
                }
                at = *otherwise;
            }
            // `\else` behind a jump is taken, and behind `\endif` all go on.
            _ => return Ok(Next::Goto(at + 1)),
        }
    }
}

fn evaluate(
    core: &mut Core,
    cx: Cx<'_>,
    client: &mut Client,
    expr: &Expr,
) -> Result<Value, RunError> {
    let observer = &core.observer;
    let mut env = Env {
        vars: &mut client.vars,
        prng: &mut client.random,
        names: &cx.plan.program.names,
        script: client.script,
        command: client.pc,
        debug: &mut |line| observer.script_debug(line),
    };
    expr.eval(&mut env)
}

/// `\shell`: its output is the program's.
fn run_shell(shell: &Shell, client: &Client) -> Result<(), RunError> {
    let line = shell.line(&client.vars)?;
    let status = shell_command(&line).status();
    if status.is_ok_and(|status| status.success()) {
        Ok(())
    } else {
        Err(RunError::ShellLaunch { command: shell.command() })
    }
}

/// `\setshell`: what it writes to its standard output.
fn read_shell(shell: &Shell, client: &Client) -> Result<Vec<u8>, RunError> {
    let line = shell.line(&client.vars)?;
    shell_command(&line)
        .stderr(std::process::Stdio::inherit())
        .stdin(std::process::Stdio::inherit())
        .output()
        .map(|output| output.stdout)
        .map_err(|_| RunError::ShellLaunch { command: shell.command() })
}

fn shell_command(line: &[u8]) -> std::process::Command {
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::process::CommandExt as _;
    let mut command = std::process::Command::new("/bin/sh");
    // Under the name that C's system() gives it, and that its messages bear.
    command.arg0("sh").arg("-c").arg(std::ffi::OsStr::from_bytes(line));
    command
}

fn send(core: &mut Core, cx: Cx<'_>, client: &mut Client, sql: &Sql) -> Next {
    let Some(number) = cx.requests.number(client.script, client.pc) else { return Next::Follows };
    if let (true, Some(store)) = (client.in_pipeline, &sql.store) {
        return Next::Left(failures::store_in_pipeline(core, cx, client, store.mode));
    }
    if !client.in_pipeline {
        client.replies.begin();
    }
    session::lend_buffer(core, client);
    if cx.plan.protocol == Protocol::Prepared {
        prepare(core, cx, client, number);
    }
    let statement = &cx.requests.statements[number as usize];
    let sync = !client.in_pipeline;
    if cx.plan.debug && !tells_later(client) {
        debug_sending(core, cx, client, sql, number);
    }
    let written =
        statement.write_request(cx.plan.protocol, sql, &client.vars, sync, &mut client.out);
    if let Err(error) = written {
        return Next::Left(unsendable(core, cx, client, error));
    }
    client.commit_in_flight |= match client.status() {
        TransactionStatus::Idle => statement.commits_alone,
        _ => statement.commits_in_block,
    };
    if client.in_pipeline {
        client.commit_in_flight |= statement.commits_in_block;
        client.replies.queue.push_back(client.pc as u32);
        if client.out.len() > PIPELINE_FLUSH_BYTES {
            session::flush(core, client);
        }
        return Next::Follows;
    }
    client.replies.syncs += 1;
    wait_for_replies(core, client)
}

#[cold]
fn unsendable(core: &mut Core, cx: Cx<'_>, client: &mut Client, error: EncodeError) -> Flow {
    let (text, because) = ("SQL command send failed", error.to_string());
    failures::command_because(core, cx, client, text, &because)
}

fn wait_for_replies(core: &mut Core, client: &mut Client) -> Next {
    if !tells_later(client) {
        core.debug(|| format!("client {} receiving", client.id));
    }
    client.state = State::Awaiting(Awaited::Command);
    session::flush(core, client);
    Next::Waits
}

/// Puts the Parse of a statement before its first use in a session. It goes
/// out together with the execution: one round trip less than waiting for it.
#[inline]
fn prepare(core: &Core, cx: Cx<'_>, client: &mut Client, number: u32) {
    let Some(session) = &mut client.session else { return };
    if session.prepared.insert(number as usize) {
        write_parse(core, cx, client, number);
    }
}

#[cold]
fn write_parse(core: &Core, cx: Cx<'_>, client: &mut Client, number: u32) {
    let statement = &cx.requests.statements[number as usize];
    core.debug(|| {
        format!("client {} preparing {}", client.id, String::from_utf8_lossy(&statement.name))
    });
    statement.write_parse(&mut client.out);
    frontend::sync(&mut client.out);
    client.replies.syncs += 1;
    client.replies.preparing += 1;
}

#[cold]
fn debug_sending(core: &Core, cx: Cx<'_>, client: &Client, sql: &Sql, number: u32) {
    let text = match cx.plan.protocol {
        Protocol::Simple => {
            let mut text = Vec::new();
            sql.write_simple(&client.vars, &mut text);
            text
        }
        Protocol::Extended => sql.numbered.to_vec(),
        Protocol::Prepared => cx.requests.statements[number as usize].name.to_vec(),
    };
    core.debug(|| format!("client {} sending {}", client.id, String::from_utf8_lossy(&text)));
}

/// Whether the execution goes out together with the Parse before it. pgbench
/// waits between the two, so it tells of the execution after an error of Parse.
fn tells_later(client: &Client) -> bool {
    client.replies.preparing > 0 && !client.in_pipeline
}

/// What `--debug` says when a `ReadyForQuery` has come. It was that of a Parse
/// if `prepared`, else of an execution or of a point of synchronization.
#[cold]
pub(super) fn debug_ready(core: &Core, cx: Cx<'_>, client: &Client, prepared: bool) {
    if !matches!(client.state, State::Awaiting(Awaited::Command)) || client.replies.preparing > 0 {
        return;
    }
    let receiving = || format!("client {} receiving", client.id);
    if prepared && !client.in_pipeline {
        let commands = &cx.plan.program.types[client.script].script.commands;
        let kind = commands.get(client.pc).map(|command| &command.kind);
        let number = cx.requests.number(client.script, client.pc);
        if let (Some(CommandKind::Sql(sql)), Some(number)) = (kind, number) {
            debug_sending(core, cx, client, sql, number);
            core.debug(receiving);
        }
    } else if !prepared && client.in_pipeline && client.replies.error.is_empty() {
        let left = client.replies.syncs;
        core.debug(|| format!("client {} pipeline ending, ongoing syncs: {}", client.id, left + 1));
        if left > 0 {
            core.debug(receiving);
        }
    }
}

fn start_pipeline(core: &mut Core, cx: Cx<'_>, client: &mut Client) -> Next {
    if cx.plan.protocol == Protocol::Simple {
        let text = "cannot use pipeline mode with the simple query protocol";
        return Next::Left(failures::command(core, cx, client, text));
    }
    if client.in_pipeline {
        return Next::Left(failures::command(core, cx, client, "already in pipeline mode"));
    }
    client.replies.begin();
    client.replies.queue.clear();
    if cx.plan.protocol == Protocol::Prepared {
        let commands = &cx.plan.program.types[client.script].script.commands;
        for (index, command) in commands.iter().enumerate().skip(client.pc + 1) {
            match (&command.kind, cx.requests.number(client.script, index)) {
                (CommandKind::EndPipeline, _) => break,
                (_, Some(number)) => prepare(core, cx, client, number),
                _ => {}
            }
        }
    }
    client.in_pipeline = true;
    Next::Follows
}

fn sync_pipeline(core: &mut Core, cx: Cx<'_>, client: &mut Client) -> Next {
    if !client.in_pipeline {
        return Next::Left(failures::command(core, cx, client, "not in pipeline mode"));
    }
    frontend::sync(&mut client.out);
    client.replies.syncs += 1;
    client.replies.queue.push_back(replies::SYNC_POINT);
    Next::Follows
}

fn end_pipeline(core: &mut Core, cx: Cx<'_>, client: &mut Client) -> Next {
    if !client.in_pipeline {
        return Next::Left(failures::command(core, cx, client, "not in pipeline mode"));
    }
    frontend::sync(&mut client.out);
    client.replies.syncs += 1;
    wait_for_replies(core, client)
}
