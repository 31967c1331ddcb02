//! The extended protocol: Parse, Bind, Describe, Execute, Close, Sync.
//!
//! Statements get names of the emulator's own in the server behind, so that a
//! transaction can be repeated after the client has closed or replaced them.
//! A Bind goes there together with its Execute: portals would not outlive a
//! repetition.

use std::sync::Arc;

use pgdyno_wire::frontend;

use super::simple::{job_columns, job_row};
use super::transaction::Work;
use super::{Fault, Session};
use crate::client::put;
use crate::dialect::{self, Kind, Plan, Run, lex};
use crate::refusal::Refusal;
use crate::shared::lock;

/// `protocol_violation`.
const VIOLATION: &str = "08P01";
/// `invalid_sql_statement_name`.
const NO_STATEMENT: &str = "26000";
/// `invalid_cursor_name`.
const NO_PORTAL: &str = "34000";
/// `syntax_error`.
const SYNTAX: &str = "42601";

/// A statement that the client has prepared.
#[derive(Debug)]
pub(super) struct Prepared {
    /// `None` for an empty text.
    plan: Option<Plan>,
    /// Its name in the server behind, where it is there.
    name: String,
    /// What follows the text in Parse: the types of parameters.
    types: Vec<u8>,
}

/// A statement with its parameters.
#[derive(Debug, Clone)]
pub(super) struct Portal {
    statement: Arc<Prepared>,
    /// What follows the names in Bind: formats and values.
    values: Vec<u8>,
    /// Its name in the server behind, once rows are fetched in pieces.
    open: Option<String>,
}

fn malformed() -> Fault {
    Refusal::new(VIOLATION, "invalid message format").into()
}

/// A text up to its zero byte, and what follows.
fn cstr(body: &[u8]) -> Result<(&[u8], &[u8]), Fault> {
    let end = body.iter().position(|byte| *byte == 0).ok_or_else(malformed)?;
    Ok((&body[..end], &body[end + 1..]))
}

fn bind_message(portal: &str, statement: &str, values: &[u8]) -> Vec<u8> {
    let mut message = Vec::new();
    let body = [portal.as_bytes(), &[0], statement.as_bytes(), &[0], values].concat();
    put(&mut message, b'B', &body);
    message
}

fn parse_message(name: &str, sql: &str, types: &[u8]) -> Vec<u8> {
    let mut message = Vec::new();
    put(&mut message, b'P', &[name.as_bytes(), &[0], sql.as_bytes(), &[0], types].concat());
    message
}

impl Session {
    pub(super) fn extended(&mut self, tag: u8, body: &[u8]) -> Result<(), Fault> {
        if tag == b'S' {
            if !std::mem::take(&mut self.skipping) {
                self.finish_implicit()?;
            }
            if self.transaction.is_none() {
                self.portals.clear();
            }
            return self.ready();
        }
        if tag == b'H' {
            self.completed_at = None;
            return Ok(self.client.flush()?);
        }
        if self.skipping {
            return Ok(());
        }
        let done = match tag {
            b'P' => self.parse(body),
            b'B' => self.bind(body),
            b'D' => self.describe(body),
            b'E' => self.run_portal(body),
            b'C' => self.close(body),
            _ => Err(malformed()),
        };
        match done {
            Ok(()) => Ok(()),
            Err(fault) => {
                self.skipping = true;
                self.fail(fault)
            }
        }
    }

    fn is_failed(&self) -> bool {
        self.transaction.as_ref().is_some_and(|transaction| transaction.failed)
    }

    /// In a failed transaction only its end can be prepared and run.
    fn check_failed(&self, plan: Option<&Plan>) -> Result<(), Fault> {
        if self.is_failed() && !matches!(plan, None | Some(Plan::Commit | Plan::Rollback)) {
            return Err(Refusal::failed_transaction().into());
        }
        Ok(())
    }

    /// Sends messages of the extended protocol behind; the answer's frames.
    fn ask(&self, mut messages: Vec<u8>) -> Result<Vec<u8>, Fault> {
        frontend::sync(&mut messages);
        let shared = Arc::clone(&self.shared);
        let mut upstream = lock(&self.upstream);
        let reply =
            upstream.exchange(&messages, &mut |pid| shared.make_way(pid), &mut |_| Ok(()))?;
        match reply.error {
            Some(body) => Err(Fault::Server(body)),
            None => Ok(reply.frames),
        }
    }

    fn parse(&mut self, body: &[u8]) -> Result<(), Fault> {
        let (name, rest) = cstr(body)?;
        let (sql, types) = cstr(rest)?;
        let text = String::from_utf8_lossy(sql).into_owned();
        let mut statements = lex::statements(&text);
        if statements.len() > 1 {
            let words = "cannot insert multiple commands into a prepared statement";
            return Err(Refusal::new(SYNTAX, words).into());
        }
        let plan = statements.pop().map(|(_, tokens)| dialect::plan(&text, &tokens));
        self.check_failed(plan.as_ref())?;
        if let Some(Plan::Refused(refusal)) = &plan {
            return Err(refusal.clone().into());
        }
        self.names += 1;
        let behind = format!("s{}", self.names);
        if let Some(Plan::Run(run)) = &plan {
            self.ask(parse_message(&behind, &run.sql, types))?;
        }
        self.forget(name);
        let prepared = Prepared { plan, name: behind, types: types.to_vec() };
        self.statements.insert(name.to_vec(), Arc::new(prepared));
        self.client.put(b'1', &[]);
        Ok(())
    }

    /// Closes a statement here and behind.
    fn forget(&mut self, name: &[u8]) {
        let Some(old) = self.statements.remove(name) else { return };
        if matches!(old.plan, Some(Plan::Run(_))) {
            let mut messages = Vec::new();
            if frontend::close_statement(&mut messages, old.name.as_bytes()).is_ok() {
                // In a failed transaction it may stay; names do not repeat.
                let _ = self.ask(messages);
            }
        }
    }

    fn bind(&mut self, body: &[u8]) -> Result<(), Fault> {
        let (portal, rest) = cstr(body)?;
        let (name, values) = cstr(rest)?;
        let statement = self.statement(name)?;
        self.check_failed(statement.plan.as_ref())?;
        let made = Portal { statement, values: values.to_vec(), open: None };
        self.portals.insert(portal.to_vec(), made);
        self.client.put(b'2', &[]);
        Ok(())
    }

    fn statement(&self, name: &[u8]) -> Result<Arc<Prepared>, Fault> {
        self.statements.get(name).map(Arc::clone).ok_or_else(|| {
            let name = String::from_utf8_lossy(name);
            let words = format!("prepared statement \"{name}\" does not exist");
            Refusal::new(NO_STATEMENT, words).into()
        })
    }

    fn portal(&self, name: &[u8]) -> Result<Portal, Fault> {
        self.portals.get(name).cloned().ok_or_else(|| {
            let name = String::from_utf8_lossy(name);
            Refusal::new(NO_PORTAL, format!("portal \"{name}\" does not exist")).into()
        })
    }

    fn describe(&mut self, body: &[u8]) -> Result<(), Fault> {
        let (what, rest) = body.split_first().ok_or_else(malformed)?;
        let (name, _) = cstr(rest)?;
        let of_statement = *what == b'S';
        let (statement, values) = if of_statement {
            (self.statement(name)?, Vec::new())
        } else {
            let portal = self.portal(name)?;
            (portal.statement, portal.values)
        };
        self.check_failed(statement.plan.as_ref())?;
        let run = match &statement.plan {
            Some(Plan::Run(run)) => run,
            _ => {
                if of_statement {
                    self.client.put(b't', &[0, 0]);
                }
                self.client.put(b'n', &[]);
                return Ok(());
            }
        };
        let mut messages = Vec::new();
        if of_statement {
            frontend::describe_statement(&mut messages, statement.name.as_bytes())
                .map_err(pgdyno_wire::Error::from)?;
        } else {
            messages = bind_message("", &statement.name, &values);
            frontend::describe_portal(&mut messages, b"").map_err(pgdyno_wire::Error::from)?;
        }
        if run.job.is_some() {
            if of_statement {
                self.client.put(b't', &[0, 0]);
            }
            self.client.put(b'T', &job_columns());
            return Ok(());
        }
        let frames = self.ask(messages)?;
        self.client.output.extend_from_slice(&frames);
        Ok(())
    }

    fn run_portal(&mut self, body: &[u8]) -> Result<(), Fault> {
        let (name, rest) = cstr(body)?;
        let rows_max = u32::from_be_bytes(*rest.first_chunk::<4>().ok_or_else(malformed)?);
        let portal = self.portal(name)?;
        self.check_failed(portal.statement.plan.as_ref())?;
        self.completed_at = None;
        match &portal.statement.plan {
            None => {
                self.client.put(b'I', &[]);
                Ok(())
            }
            Some(Plan::Run(run)) => self.run_bound(name, &portal, run, rows_max),
            Some(Plan::Refused(refusal)) => Err(refusal.clone().into()),
            Some(control) => {
                let tag = self.control(control)?;
                self.complete(tag);
                Ok(())
            }
        }
    }

    fn run_bound(
        &mut self,
        name: &[u8],
        portal: &Portal,
        run: &Run,
        rows_max: u32,
    ) -> Result<(), Fault> {
        // In pieces only where nothing must be counted.
        let in_pieces = rows_max > 0 && run.kind == Kind::Read;
        let rows_max = if in_pieces { rows_max } else { 0 };
        let statement = &portal.statement;
        let mut behind = portal.open.clone();
        let mut messages = Vec::new();
        if behind.is_none() {
            let fresh = if in_pieces { self.fresh_portal() } else { String::new() };
            messages = bind_message(&fresh, &statement.name, &portal.values);
            behind = in_pieces.then_some(fresh);
        }
        let encode = |buf: &mut Vec<u8>, portal: &str, rows: u32| {
            frontend::execute(buf, portal.as_bytes(), rows).map_err(pgdyno_wire::Error::from)?;
            frontend::sync(buf);
            Ok::<(), Fault>(())
        };
        encode(&mut messages, behind.as_deref().unwrap_or_default(), rows_max)?;
        let again = |sql: &str| -> Result<Vec<u8>, Fault> {
            let mut redo = parse_message("", sql, &statement.types);
            redo.extend(bind_message("", "", &portal.values));
            encode(&mut redo, "", 0)?;
            Ok(redo)
        };
        let work = Work {
            run,
            redo: again(&run.sql)?,
            touch: run.touch.as_deref().map(again).transpose()?,
            bytes: portal.values.len() as u64,
            messages,
            extended: true,
            keep_open: in_pieces,
        };
        let mut answer = self.execute(&work, true)?;
        if let Some(job_id) = answer.job_id {
            put(&mut answer.reply.frames, b'D', &job_row(&job_id));
        }
        if let Some(entry) = self.portals.get_mut(name) {
            entry.open = behind;
        }
        self.relay(&answer.reply, run.tag);
        Ok(())
    }

    fn fresh_portal(&mut self) -> String {
        self.names += 1;
        format!("p{}", self.names)
    }

    fn close(&mut self, body: &[u8]) -> Result<(), Fault> {
        let (what, rest) = body.split_first().ok_or_else(malformed)?;
        let (name, _) = cstr(rest)?;
        if *what == b'S' {
            self.forget(name);
        } else {
            self.portals.remove(name);
        }
        self.client.put(b'3', &[]);
        Ok(())
    }
}
