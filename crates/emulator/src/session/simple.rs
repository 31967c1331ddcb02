//! The simple protocol: a text with any number of statements.

use super::transaction::Work;
use super::{Fault, Session};
use crate::client::put;
use crate::dialect::{self, Plan, Run, lex};
use crate::upstream::query;

/// The type `text`.
const TEXT_OID: u32 = 25;

impl Session {
    pub(super) fn simple(&mut self, body: &[u8]) -> Result<(), Fault> {
        let text = String::from_utf8_lossy(body.strip_suffix(&[0]).unwrap_or(body)).into_owned();
        let statements = lex::statements(&text);
        self.skipping = false;
        self.completed_at = None;
        if statements.is_empty() {
            self.client.put(b'I', &[]);
        }
        let alone = statements.len() == 1;
        for (_, tokens) in &statements {
            self.completed_at = None;
            if let Err(fault) = self.simple_statement(&dialect::plan(&text, tokens), alone) {
                self.fail(fault)?;
                return self.ready();
            }
        }
        self.finish_implicit()?;
        self.ready()
    }

    fn simple_statement(&mut self, plan: &Plan, alone: bool) -> Result<(), Fault> {
        match plan {
            Plan::Refused(refusal) => Err(self.refuse(refusal)),
            Plan::Run(run) => self.simple_run(run, alone),
            control => {
                let tag = self.control(control)?;
                self.complete(tag);
                Ok(())
            }
        }
    }

    fn simple_run(&mut self, run: &Run, alone: bool) -> Result<(), Fault> {
        let messages = query(&run.sql)?;
        let work = Work {
            run,
            redo: messages.clone(),
            touch: run.touch.as_deref().map(query).transpose()?,
            bytes: messages.len() as u64,
            messages,
            extended: false,
            keep_open: false,
        };
        let mut reply = self.execute(&work, alone)?;
        if let Some(job_id) = reply.job_id {
            put(&mut reply.reply.frames, b'T', &job_columns());
            put(&mut reply.reply.frames, b'D', &job_row(&job_id));
        }
        self.relay(&reply.reply, run.tag);
        Ok(())
    }
}

/// The RowDescription of a statement that starts a job.
pub(super) fn job_columns() -> Vec<u8> {
    let mut body = vec![0, 1];
    body.extend_from_slice(b"job_id\0");
    // No table, no column; the type, its width, no modifier, as text.
    body.extend_from_slice(&[0; 6]);
    body.extend_from_slice(&TEXT_OID.to_be_bytes());
    body.extend_from_slice(&(-1_i16).to_be_bytes());
    body.extend_from_slice(&(-1_i32).to_be_bytes());
    body.extend_from_slice(&[0, 0]);
    body
}

/// The DataRow to it.
pub(super) fn job_row(job_id: &str) -> Vec<u8> {
    let mut body = vec![0, 1];
    // Twenty-six letters.
    body.extend_from_slice(&(job_id.len() as u32).to_be_bytes());
    body.extend_from_slice(job_id.as_bytes());
    body
}
