//! The transaction: what belongs to it, its limits, and its end.
//!
//! How it gets along with others is in `conflict.rs`.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::conflict::{Outcome, exchange};
use super::copy::too_large;
use super::{Fault, Session};
use crate::catalog::new_job_id;
use crate::dialect::{Job, Kind, Run};
use crate::refusal::{LIMIT, Refusal};
use crate::shared::lock;
use crate::upstream::{Block, Reply, Upstream, query};

/// How often a statement is tried again after a circle of locks, or in a
/// doomed transaction after yet another conflict.
const TRIES_MAX: u32 = 20;

/// What a row costs besides its data in the accounted size of a transaction.
/// DSQL's own figure is not known.
const ROW_OVERHEAD_BYTES: u64 = 64;

/// What `sys.jobs` says of a unique index over duplicates (documented).
const DUPLICATES: &str = "'Found duplicate key while validating index for UCVs'";

/// What a client has open.
#[derive(Debug)]
pub(super) struct Transaction {
    /// Opened for a statement, not by the client.
    pub(super) implicit: bool,
    pub(super) failed: bool,
    pub(super) read_only: bool,
    doomed: bool,
    ddl: bool,
    wrote: bool,
    rows: u64,
    bytes: u64,
    started: Instant,
    /// What must be repeated after locks were given up: requests, each with
    /// one answer.
    pub(super) redo: Vec<Vec<u8>>,
    /// Makes locked rows count as written, at COMMIT.
    pub(super) touches: Vec<Vec<u8>>,
}

impl Transaction {
    fn new(implicit: bool, read_only: bool) -> Self {
        Self {
            implicit,
            read_only,
            failed: false,
            doomed: false,
            ddl: false,
            wrote: false,
            rows: 0,
            bytes: 0,
            started: Instant::now(),
            redo: Vec::new(),
            touches: Vec::new(),
        }
    }

    /// One DDL, and nothing beside it that writes.
    fn check_kind(&self, kind: Kind) -> Result<(), Refusal> {
        match kind {
            Kind::Ddl if self.ddl => Err(Refusal::second_ddl()),
            Kind::Ddl if self.wrote => Err(Refusal::mixed()),
            Kind::Write if self.ddl => Err(Refusal::mixed()),
            _ => Ok(()),
        }
    }

    fn check_age(&self, max: Duration) -> Result<(), Refusal> {
        let age = self.started.elapsed();
        if age <= max {
            return Ok(());
        }
        let (age, max) = (age.as_secs(), max.as_secs());
        Err(Refusal::new(LIMIT, format!("transaction age limit of {max}s exceeded"))
            .with_detail(format!("Current transaction age {age}s exceeds {max}s")))
    }
}

/// A statement, ready for the server behind.
pub(super) struct Work<'a> {
    pub(super) run: &'a Run,
    /// What is sent now.
    pub(super) messages: Vec<u8>,
    /// What is sent to repeat it, whatever became of prepared statements.
    pub(super) redo: Vec<u8>,
    pub(super) touch: Option<Vec<u8>>,
    /// For the accounted size.
    pub(super) bytes: u64,
    pub(super) extended: bool,
    /// The portal may be asked for more rows.
    pub(super) keep_open: bool,
}

/// A reply, and the job that was started.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) reply: Reply,
    pub(super) job_id: Option<String>,
}

impl Session {
    pub(super) fn begin(&mut self, read_only: bool) -> Result<(), Fault> {
        match &mut self.transaction {
            Some(transaction) if transaction.failed => Err(Refusal::failed_transaction().into()),
            // PostgreSQL only warns.
            Some(transaction) => {
                transaction.implicit = false;
                Ok(())
            }
            None => {
                self.transaction = Some(Transaction::new(false, read_only));
                Ok(())
            }
        }
    }

    pub(super) fn roll_back(&mut self) -> Result<(), Fault> {
        self.transaction = None;
        self.portals.clear();
        lock(&self.upstream).rollback()?;
        Ok(())
    }

    /// After an error: an implicit transaction is gone, another one failed.
    pub(super) fn abort_transaction(&mut self) -> Result<(), Fault> {
        let implicit = self.transaction.as_ref().is_none_or(|transaction| transaction.implicit);
        if implicit {
            return self.roll_back();
        }
        lock(&self.upstream).rollback()?;
        if let Some(transaction) = &mut self.transaction {
            transaction.failed = true;
            transaction.redo.clear();
            transaction.touches.clear();
        }
        Ok(())
    }

    /// Raises OC001 once after somebody else's DDL.
    fn check_catalog(&mut self) -> Result<(), Refusal> {
        let now = self.shared.catalog.load(Ordering::SeqCst);
        match self.catalog_seen.replace(now) {
            Some(seen) if seen != now => Err(Refusal::schema_conflict()),
            _ => Ok(()),
        }
    }

    /// Runs a statement. `alone`: nothing else belongs to its transaction, if
    /// none is open.
    pub(super) fn execute(&mut self, work: &Work<'_>, alone: bool) -> Result<Answer, Fault> {
        if let Some(transaction) = &self.transaction {
            if transaction.failed {
                return Err(Refusal::failed_transaction().into());
            }
            transaction.check_age(self.shared.config.limits.transaction_age_max)?;
        }
        self.check_catalog()?;
        let kind = work.run.kind;
        let direct = alone && !work.keep_open && matches!(kind, Kind::Read | Kind::Setting);
        let upstream = Arc::clone(&self.upstream);
        let mut upstream = lock(&upstream);
        if self.transaction.is_none() && direct {
            // Its rows need not be held back: nothing can go wrong behind them.
            let client = &mut self.client;
            let shared = &self.shared;
            let reply = upstream.exchange(
                &work.messages,
                &mut |pid| shared.make_way(pid),
                &mut |frames| {
                    client.output.append(frames);
                    client.flush_much().map_err(pgdyno_wire::Error::lost)
                },
            )?;
            return match reply.error {
                Some(body) => Err(Fault::Server(body)),
                None => Ok(Answer { reply, job_id: None }),
            };
        }
        let transaction = self.transaction.get_or_insert_with(|| Transaction::new(true, false));
        transaction.check_kind(kind)?;
        self.execute_within(&mut upstream, work)
    }

    fn execute_within(&mut self, up: &mut Upstream, work: &Work<'_>) -> Result<Answer, Fault> {
        let mut copied = None;
        let mut tries = 0;
        let reply = loop {
            tries += 1;
            if tries > TRIES_MAX {
                return Err(Refusal::data_conflict().into());
            }
            let doomed = self.transaction.as_ref().is_some_and(|t| t.doomed);
            let outcome = if doomed {
                self.try_doomed(up, work, &mut copied)?
            } else {
                self.try_live(up, work, &mut copied)?
            };
            match outcome {
                Outcome::Done(reply) => break reply,
                Outcome::Again => {}
                Outcome::Lost => {
                    up.rollback()?;
                    // A statement by itself has no COMMIT to wait for.
                    match &mut self.transaction {
                        Some(transaction) if !transaction.implicit => transaction.doomed = true,
                        _ => return Err(Refusal::data_conflict().into()),
                    }
                }
            }
        };
        let job_id = match &work.run.job {
            Some(job) => Some(self.start_job(up, job, reply.build_failed)?),
            None => None,
        };
        self.account(work, copied, &reply)?;
        Ok(Answer { reply, job_id })
    }

    /// Counts a statement that went well, and keeps it for repetition.
    fn account(
        &mut self,
        work: &Work<'_>,
        copied: Option<Vec<u8>>,
        reply: &Reply,
    ) -> Result<(), Fault> {
        let limits = &self.shared.config.limits;
        let Some(transaction) = &mut self.transaction else { return Ok(()) };
        let kind = work.run.kind;
        if kind == Kind::Read {
            return Ok(());
        }
        let rows = reply.rows_written();
        let copied_bytes = copied.as_ref().map_or(0, Vec::len) as u64;
        transaction.rows += rows;
        transaction.wrote |= kind == Kind::Write;
        transaction.ddl |= kind == Kind::Ddl;
        if kind == Kind::Write {
            transaction.bytes += work.bytes + copied_bytes + rows * ROW_OVERHEAD_BYTES;
        }
        if transaction.rows > limits.rows_max {
            return Err(Refusal::new(LIMIT, "transaction row limit exceeded").into());
        }
        if !reply.build_failed {
            let mut redo = work.redo.clone();
            redo.extend(copied.unwrap_or_default());
            transaction.redo.push(redo);
        }
        transaction.touches.extend(work.touch.clone());
        Ok(())
    }

    /// Notes a job, whose name it gives.
    fn start_job(&mut self, up: &mut Upstream, job: &Job, failed: bool) -> Result<String, Fault> {
        let id = new_job_id();
        let seconds = self.shared.config.limits.index_build.as_secs_f64();
        let details = if failed { DUPLICATES } else { "NULL" };
        let sql = format!(
            "SELECT sys.emulator_note_job('{id}', '{}', '{}', {details}, {seconds})",
            job.job_type,
            job.object_name.replace('\'', "''"),
        );
        let reply = up.command(&sql)?;
        if let Some(body) = reply.error {
            return Err(Fault::Server(body));
        }
        if let Some(transaction) = &mut self.transaction {
            // Before the statement itself, which does not matter to it.
            transaction.redo.push(query(&sql)?);
        }
        Ok(id)
    }

    /// `COMMIT`; gives the command tag.
    pub(super) fn commit(&mut self) -> Result<&'static str, Fault> {
        let upstream = Arc::clone(&self.upstream);
        let mut up = lock(&upstream);
        self.portals.clear();
        let Some(transaction) = &self.transaction else { return Ok("COMMIT") };
        if transaction.failed {
            self.transaction = None;
            return Ok("ROLLBACK");
        }
        let committed = self.try_commit(&mut up);
        let ddl = self.transaction.take().is_some_and(|transaction| transaction.ddl);
        if committed.is_err() {
            up.rollback()?;
        } else if ddl {
            let before = self.shared.catalog.fetch_add(1, Ordering::SeqCst);
            if self.catalog_seen == Some(before) {
                self.catalog_seen = Some(before + 1);
            }
        }
        committed.map(|()| "COMMIT")
    }

    fn try_commit(&mut self, up: &mut Upstream) -> Result<(), Fault> {
        let limits = self.shared.config.limits.clone();
        let Some(transaction) = &self.transaction else { return Ok(()) };
        if !transaction.implicit {
            transaction.check_age(limits.transaction_age_max)?;
        }
        let (doomed, bytes) = (transaction.doomed, transaction.bytes);
        if doomed {
            return Err(Refusal::data_conflict().into());
        }
        self.check_catalog()?;
        if bytes > limits.bytes_max {
            return Err(too_large(bytes).into());
        }
        if up.block == Block::None {
            return Ok(());
        }
        for _ in 0..TRIES_MAX {
            match self.restore(up)? {
                Outcome::Done(_) => {}
                Outcome::Again => continue,
                Outcome::Lost => break,
            }
            if !self.touch(up)? {
                break;
            }
            let reply = exchange(&self.shared, up, &query("COMMIT")?)?;
            up.block = Block::None;
            return match reply.sqlstate() {
                None => Ok(()),
                Some(code) if code.is_transaction_rollback() => {
                    Err(Refusal::data_conflict().into())
                }
                Some(_) => Err(Fault::Server(reply.error.unwrap_or_default())),
            };
        }
        Err(Refusal::data_conflict().into())
    }
}
