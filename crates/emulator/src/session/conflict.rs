//! Conflicts: who gives way, who repeats, and who cannot win any more.
//!
//! A session runs in the server behind at REPEATABLE READ and takes its locks
//! there. Whoever needs a lock makes its idle holder go back to the beginning
//! of its transaction, with the snapshot kept ([`Block::Detached`]); the holder
//! repeats what it did before its next statement, or before COMMIT. So nobody
//! waits for a client, and the first COMMIT wins: the other's repetition meets
//! rows that are newer than its snapshot.
//!
//! A transaction that cannot win any more is *doomed*. Its statements still
//! get answers, each from a snapshot of its own that is rolled back at once,
//! and its COMMIT gets OC000.

use std::sync::Arc;

use pgdyno_wire::SqlState;
use pgdyno_wire::backend::ErrorFields;

use super::transaction::Work;
use super::{Fault, Session};
use crate::refusal::Refusal;
use crate::shared::Shared;
use crate::upstream::{Block, Reply, SAVEPOINT, Upstream};

/// What became of a statement in the server behind.
pub(super) enum Outcome {
    Done(Reply),
    /// Gone back to the beginning: once more.
    Again,
    /// Somebody else has committed first.
    Lost,
}

impl Session {
    /// Runs a statement in the transaction behind, which is put right first.
    pub(super) fn try_live(
        &mut self,
        up: &mut Upstream,
        work: &Work<'_>,
        copied: &mut Option<Vec<u8>>,
    ) -> Result<Outcome, Fault> {
        match self.restore(up)? {
            Outcome::Done(_) => {}
            other => return Ok(other),
        }
        if let Some(index) = &work.run.needs_index {
            let name = index.replace('\'', "''");
            let reply = up.command(&format!("SELECT sys.emulator_require_valid('{name}')"))?;
            if let Some(body) = reply.error {
                return Err(Fault::Server(body));
            }
        }
        let reply = self.converse(up, &work.messages, work.extended, copied)?;
        let duplicate = reply.sqlstate() == Some(SqlState::UNIQUE_VIOLATION);
        if duplicate && work.run.job.is_some() {
            // The job fails, and not the statement that starts it.
            go_back(up)?;
            let tag = Some(b"CREATE INDEX\0".to_vec());
            let reply = Reply { tag, build_failed: true, ..Reply::default() };
            return Ok(match self.restore(up)? {
                Outcome::Done(_) => Outcome::Done(reply),
                other => other,
            });
        }
        if duplicate && let Some(sql) = look_for_key(reply.error.as_deref().unwrap_or_default()) {
            // The server looks at newer rows than the snapshot for this. A key
            // that the snapshot does not hold is a conflict, not a mistake.
            go_back(up)?;
            if let Outcome::Done(_) = self.restore(up)?
                && up.command(&sql)?.tag.is_none_or(|tag| tag.starts_with(b"SELECT 1"))
            {
                return Err(Fault::Server(reply.error.unwrap_or_default()));
            }
            return Ok(Outcome::Lost);
        }
        self.judge(up, reply)
    }

    /// In a doomed transaction every statement stands alone, in a snapshot
    /// that knows the winner.
    pub(super) fn try_doomed(
        &mut self,
        up: &mut Upstream,
        work: &Work<'_>,
        copied: &mut Option<Vec<u8>>,
    ) -> Result<Outcome, Fault> {
        up.begin(false)?;
        let reply = self.converse(up, &work.messages, work.extended, copied)?;
        up.rollback()?;
        match reply.sqlstate().map(SqlState::class) {
            None => Ok(Outcome::Done(reply)),
            Some([b'4', b'0']) => Ok(Outcome::Again),
            // The statement itself is wrong, whatever the rows.
            Some([b'4', b'2'] | [b'2', b'2'] | [b'0', b'A']) => {
                Err(Fault::Server(reply.error.unwrap_or_default()))
            }
            // It may need rows that are not there any more.
            Some(_) => Err(Refusal::data_conflict().into()),
        }
    }

    /// Opens the transaction behind, or repeats what was done in it.
    pub(super) fn restore(&mut self, up: &mut Upstream) -> Result<Outcome, Fault> {
        let Some(transaction) = &self.transaction else { return Ok(Outcome::Lost) };
        match up.block {
            Block::None => up.begin(transaction.read_only)?,
            Block::Live => {}
            Block::Detached => {
                for request in &transaction.redo {
                    let mut reply = exchange(&self.shared, up, request)?;
                    if reply.wants_copy {
                        reply = exchange(&self.shared, up, &[])?;
                    }
                    match reply.sqlstate() {
                        None => {}
                        Some(SqlState::DEADLOCK_DETECTED) => return go_back(up),
                        // It went well at first: what others have committed
                        // since is in the way.
                        Some(_) => return Ok(Outcome::Lost),
                    }
                }
                up.block = Block::Live;
            }
        }
        Ok(Outcome::Done(Reply::default()))
    }

    fn judge(&self, up: &mut Upstream, reply: Reply) -> Result<Outcome, Fault> {
        match reply.sqlstate() {
            None => Ok(Outcome::Done(reply)),
            Some(SqlState::DEADLOCK_DETECTED) => go_back(up),
            Some(SqlState::SERIALIZATION_FAILURE) => Ok(Outcome::Lost),
            Some(_) => Err(Fault::Server(reply.error.unwrap_or_default())),
        }
    }

    /// Sends a request and collects its answer, asking the client for the
    /// data of a COPY where there are none yet.
    fn converse(
        &mut self,
        up: &mut Upstream,
        messages: &[u8],
        extended: bool,
        copied: &mut Option<Vec<u8>>,
    ) -> Result<Reply, Fault> {
        let shared = Arc::clone(&self.shared);
        let mut reply = exchange(&shared, up, messages)?;
        if reply.wants_copy {
            let data = match copied.take() {
                Some(data) => data,
                None => self.gather_copy(&reply.frames, extended)?,
            };
            reply = exchange(&shared, up, &data)?;
            *copied = Some(data);
        }
        Ok(reply)
    }

    /// Makes rows that were locked count as written; false after a conflict.
    pub(super) fn touch(&self, up: &mut Upstream) -> Result<bool, Fault> {
        let Some(transaction) = &self.transaction else { return Ok(true) };
        for request in &transaction.touches {
            up.command("SAVEPOINT dsql_touch")?;
            let reply = exchange(&self.shared, up, request)?;
            match reply.sqlstate() {
                None => {}
                Some(code) if code.is_transaction_rollback() => return Ok(false),
                // A shape that cannot be touched: its locks have held as long
                // as the transaction was open.
                Some(_) => {
                    up.command("ROLLBACK TO SAVEPOINT dsql_touch")?;
                }
            }
        }
        Ok(true)
    }
}

pub(super) fn exchange(
    shared: &Shared,
    up: &mut Upstream,
    messages: &[u8],
) -> Result<Reply, Fault> {
    Ok(up.exchange(messages, &mut |pid| shared.make_way(pid), &mut |_| Ok(()))?)
}

/// Asks for the key that a unique violation tells of: `Key (a, b)=(1, x)
/// already exists.` `None` where the text can be read in two ways.
fn look_for_key(error: &[u8]) -> Option<String> {
    let fields = ErrorFields::new(error);
    let text = |code| std::str::from_utf8(fields.get(code)?).ok();
    let (schema, table) = (text(b's')?, text(b't')?);
    let (columns, values) =
        text(b'D')?.strip_prefix("Key (")?.strip_suffix(") already exists.")?.split_once(")=(")?;
    let (columns, values): (Vec<_>, Vec<_>) =
        (columns.split(", ").collect(), values.split(", ").collect());
    // An index over expressions, or a comma in a value.
    if columns.len() != values.len() || columns.iter().any(|column| column.contains('(')) {
        return None;
    }
    let quote =
        |text: &str, mark: &str| format!("{mark}{}{mark}", text.replace(mark, &mark.repeat(2)));
    // Columns come quoted where they need it.
    let equals: Vec<String> = columns
        .iter()
        .zip(values)
        .map(|(column, value)| format!("{column} = {}", quote(value, "'")))
        .collect();
    let (schema, table) = (quote(schema, "\""), quote(table, "\""));
    Some(format!("SELECT FROM {schema}.{table} WHERE {} LIMIT 1", equals.join(" AND ")))
}

/// Back to the beginning of the transaction, without its locks.
fn go_back(up: &mut Upstream) -> Result<Outcome, Fault> {
    up.command(&format!("ROLLBACK TO SAVEPOINT {SAVEPOINT}"))?;
    up.block = Block::Detached;
    Ok(Outcome::Again)
}
