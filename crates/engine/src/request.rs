//! Requests: every SQL command of a run, encoded as far as it can be beforehand.
//!
//! What is the same for each execution is bytes that are copied; only the
//! parameters are written anew. Each SQL command has a number, from which its
//! prepared name comes (`P_0`, `P_1`, … over all scripts, as in pgbench), and
//! each command has a slot (or one for each statement joined by `\;`) under
//! which it is counted.

use pgdyno_script::SqlKind;
use pgdyno_script::script::CommandKind;
use pgdyno_script::sql::Sql;
use pgdyno_script::vars::Vars;
use pgdyno_wire::frontend::{self, EncodeError};

use crate::outcome::StatementSlot;
use crate::plan::{Program, Protocol};

/// Rows that a write must touch unless the script declares another number: an
/// `UPDATE 0` did nothing.
const ROWS_EXPECTED_OF_WRITES: u64 = 1;

/// What is known of one statement, by its slot.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SlotInfo {
    /// Fewer rows than this mean that the statement did not do its work.
    pub(crate) rows_expected: u64,
    /// It writes rows, or declares how many it must touch, so that doing too
    /// little makes the transaction idle.
    pub(crate) writes: bool,
    /// The rows in its tag are written rows.
    pub(crate) tag_writes: bool,
}

/// One SQL command, ready to be sent.
#[derive(Debug, Clone)]
pub(crate) struct Statement {
    /// `P_n`.
    pub(crate) name: Box<[u8]>,
    /// Parse of the named statement, without Sync.
    parse_named: Box<[u8]>,
    /// Parse of the unnamed statement.
    parse_unnamed: Box<[u8]>,
    /// Bind up to the number of parameters, to the named and to the unnamed statement.
    bind_named: Box<[u8]>,
    bind_unnamed: Box<[u8]>,
    /// What follows the parameters: result formats, Describe where rows are
    /// stored, Execute, Sync.
    after_params: Box<[u8]>,
    /// Of which the end of Bind are so many bytes.
    bind_tail_len: usize,
    /// It may commit when it is executed in (or outside) a transaction block.
    pub(crate) commits_in_block: bool,
    pub(crate) commits_alone: bool,
}

/// All SQL of a run, by script and command.
#[derive(Debug)]
pub(crate) struct Requests {
    pub(crate) statements: Vec<Statement>,
    /// For each script, for each command: the number of its statement.
    numbers: Vec<Vec<Option<u32>>>,
    /// For each script, for each command: its first slot, and one past the end.
    first_slots: Vec<Vec<u32>>,
    pub(crate) slots: Vec<StatementSlot>,
    pub(crate) slot_infos: Vec<SlotInfo>,
}

/// A Sync at the end of a request.
const SYNC_LEN: usize = 5;

impl Requests {
    /// Encodes all SQL of a program.
    ///
    /// # Errors
    /// A statement that the protocol cannot carry.
    pub(crate) fn new(program: &Program) -> Result<Self, EncodeError> {
        let mut all = Self {
            statements: Vec::new(),
            numbers: Vec::new(),
            first_slots: Vec::new(),
            slots: Vec::new(),
            slot_infos: Vec::new(),
        };
        for (script, kind) in program.types.iter().enumerate() {
            all.add_script(script, &kind.script.commands)?;
        }
        Ok(all)
    }

    fn add_script(
        &mut self,
        script: usize,
        commands: &[pgdyno_script::script::Command],
    ) -> Result<(), EncodeError> {
        let mut numbers = Vec::with_capacity(commands.len());
        let mut first_slots = Vec::with_capacity(commands.len() + 1);
        for (command, c) in commands.iter().enumerate() {
            first_slots.push(self.slots.len() as u32);
            if let CommandKind::Sql(sql) = &c.kind {
                numbers.push(Some(self.statements.len() as u32));
                self.statements.push(Statement::new(self.statements.len(), sql)?);
                self.add_slots(script, command, sql);
            } else {
                numbers.push(None);
                self.slots.push(StatementSlot { script, command, part: 0 });
                self.slot_infos.push(SlotInfo {
                    rows_expected: 0,
                    writes: false,
                    tag_writes: false,
                });
            }
        }
        first_slots.push(self.slots.len() as u32);
        self.numbers.push(numbers);
        self.first_slots.push(first_slots);
        Ok(())
    }

    fn add_slots(&mut self, script: usize, command: usize, sql: &Sql) {
        // Text that holds only a comment is still a command that is counted.
        let kinds: &[SqlKind] = if sql.kinds.is_empty() { &[SqlKind::Empty] } else { &sql.kinds };
        for (part, kind) in kinds.iter().enumerate() {
            self.slots.push(StatementSlot { script, command, part });
            // WITH hides its writes: the tag counts the outer SELECT.
            let writes = kind.writes() && *kind != SqlKind::WithWrites;
            let declared = sql.rows_declared_of(part);
            let by_kind = if writes { ROWS_EXPECTED_OF_WRITES } else { 0 };
            let rows_expected = declared.unwrap_or(by_kind);
            self.slot_infos.push(SlotInfo {
                rows_expected,
                writes: writes || declared.is_some(),
                tag_writes: writes,
            });
        }
    }

    /// The number of the statement of a command; `None` for meta commands.
    #[inline]
    pub(crate) fn number(&self, script: usize, command: usize) -> Option<u32> {
        self.numbers[script][command]
    }

    /// The slot of result `part` (from 0) of a command. More results than
    /// statements (rules can do that) all count under the last.
    #[inline]
    pub(crate) fn slot(&self, script: usize, command: usize, part: u32) -> usize {
        let first = self.first_slots[script][command];
        let end = self.first_slots[script][command + 1];
        (first + part).min(end - 1) as usize
    }
}

impl Statement {
    fn new(number: usize, sql: &Sql) -> Result<Self, EncodeError> {
        let name = format!("P_{number}").into_bytes();
        let (mut parse_named, mut parse_unnamed) = (Vec::new(), Vec::new());
        frontend::parse(&mut parse_named, &name, &sql.numbered, &[])?;
        frontend::parse(&mut parse_unnamed, b"", &sql.numbered, &[])?;
        // No format codes: all result columns as text.
        let mut after_params = vec![0, 0];
        let bind_tail_len = after_params.len();
        if sql.store.is_some() {
            frontend::describe_portal(&mut after_params, b"")?;
        }
        frontend::execute(&mut after_params, b"", 0)?;
        frontend::sync(&mut after_params);
        let (commits_in_block, commits_alone) = commits(sql);
        Ok(Self {
            bind_named: bind_head(&name, sql.params.len())?,
            bind_unnamed: bind_head(b"", sql.params.len())?,
            name: name.into(),
            parse_named: parse_named.into(),
            parse_unnamed: parse_unnamed.into(),
            after_params: after_params.into(),
            bind_tail_len,
            commits_in_block,
            commits_alone,
        })
    }

    /// Appends what prepares the statement in a session, without Sync.
    pub(crate) fn write_parse(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.parse_named);
    }

    /// Appends the request for one execution, with a Sync if `sync`.
    ///
    /// # Errors
    /// Values that the protocol cannot carry; nothing is left in `out` then.
    #[inline]
    pub(crate) fn write_request(
        &self,
        protocol: Protocol,
        sql: &Sql,
        vars: &Vars,
        sync: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        // What follows the parameters, up to the Sync or with it.
        let tail_len = self.after_params.len() - if sync { 0 } else { SYNC_LEN };
        let tail = &self.after_params[..tail_len];
        match protocol {
            Protocol::Prepared => self.write_execution(&self.bind_named, tail, sql, vars, out),
            Protocol::Extended => {
                let start = out.len();
                out.extend_from_slice(&self.parse_unnamed);
                let written = self.write_execution(&self.bind_unnamed, tail, sql, vars, out);
                if written.is_err() {
                    out.truncate(start);
                }
                written
            }
            // A simple query is its own Sync.
            Protocol::Simple => write_simple(sql, vars, out),
        }
    }

    #[inline]
    fn write_execution(
        &self,
        head: &[u8],
        tail: &[u8],
        sql: &Sql,
        vars: &Vars,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let start = out.len();
        out.extend_from_slice(head);
        for slot in &sql.params {
            let at = out.len();
            out.extend_from_slice(&[0; 4]);
            let length =
                if vars.write_text(*slot, out) { (out.len() - at - 4) as u32 } else { u32::MAX };
            out[at..at + 4].copy_from_slice(&length.to_be_bytes());
        }
        let length = out.len() + self.bind_tail_len - start - 1;
        out.extend_from_slice(tail);
        if length > frontend::MESSAGE_LEN_MAX {
            out.truncate(start);
            return Err(EncodeError::TooLong(length));
        }
        out[start + 1..start + 5].copy_from_slice(&(length as u32).to_be_bytes());
        Ok(())
    }
}

/// A Bind message up to and with the number of parameters; its length is
/// written when the parameters are.
fn bind_head(statement: &[u8], params: usize) -> Result<Box<[u8]>, EncodeError> {
    let count = u16::try_from(params).map_err(|_| EncodeError::TooManyParams(params))?;
    let mut head = vec![b'B', 0, 0, 0, 0, 0];
    head.extend_from_slice(statement);
    head.extend_from_slice(&[0, 0, 0]);
    head.extend_from_slice(&count.to_be_bytes());
    Ok(head.into())
}

fn write_simple(sql: &Sql, vars: &Vars, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let start = out.len();
    out.extend_from_slice(&[b'Q', 0, 0, 0, 0]);
    sql.write_simple(vars, out);
    out.push(0);
    let length = out.len() - start - 1;
    let error = if memchr::memchr(0, &out[start + 5..out.len() - 1]).is_some() {
        EncodeError::Nul
    } else if length > frontend::MESSAGE_LEN_MAX {
        EncodeError::TooLong(length)
    } else {
        out[start + 1..start + 5].copy_from_slice(&(length as u32).to_be_bytes());
        return Ok(());
    };
    out.truncate(start);
    Err(error)
}

/// Whether executing it may commit something, inside a transaction block and
/// outside of one. Wrong towards "may commit" is safe: the outcome of a lost
/// connection is then unknown rather than claimed.
fn commits(sql: &Sql) -> (bool, bool) {
    let in_block = sql.kinds.iter().any(|k| matches!(k, SqlKind::Commit | SqlKind::Call));
    let harmless = |k: &SqlKind| {
        matches!(k, SqlKind::Select | SqlKind::Begin | SqlKind::Rollback | SqlKind::Empty)
    };
    // A SELECT may call a function that writes; the name does not tell. It is
    // counted as a read, since otherwise every lost read would be unknown.
    let alone = !sql.kinds.iter().all(harmless);
    (in_block, alone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgdyno_script::names::Names;
    use pgdyno_script::script::Script;

    fn program(text: &str) -> (Program, Requests) {
        let mut names = Names::new();
        let script = Script::parse("test", text.as_bytes(), &mut names).unwrap();
        let initial = Vars::new(&names);
        let types = vec![crate::plan::TransactionType { script, weight: 1 }];
        let program = Program { types, names, initial };
        let requests = Requests::new(&program).unwrap();
        (program, requests)
    }

    /// The precomputed messages are byte for byte what the codec writes: named
    /// or not, with a Sync or within a pipeline, with rows to store or without.
    #[test]
    fn same_bytes_as_the_codec() {
        let text = "\\set a 1\nSELECT :a, :missing, :b;\nSELECT :a, :missing, :b \\gset\n";
        let (program, requests) = program(text);
        let mut vars = program.initial.clone();
        vars.set_int(program.names.lookup(b"a").unwrap(), -42);
        vars.set_text(program.names.lookup(b"b").unwrap(), b"x y");
        let params: [Option<&[u8]>; 3] = [Some(b"-42"), None, Some(b"x y")];
        for (command, name, stores) in [(1, b"P_0", false), (2, b"P_1", true)] {
            let sql = program.types[0].script.commands[command].kind.sql().unwrap();
            let statement = &requests.statements[requests.number(0, command).unwrap() as usize];
            for (protocol, sync) in [
                (Protocol::Prepared, true),
                (Protocol::Prepared, false),
                (Protocol::Extended, true),
                (Protocol::Extended, false),
            ] {
                let mut got = b"kept".to_vec();
                statement.write_request(protocol, sql, &vars, sync, &mut got).unwrap();
                let mut want = b"kept".to_vec();
                let name: &[u8] = if protocol == Protocol::Prepared { name } else { b"" };
                if protocol == Protocol::Extended {
                    frontend::parse(&mut want, b"", &sql.numbered, &[]).unwrap();
                }
                frontend::bind(&mut want, b"", name, &params).unwrap();
                if stores {
                    frontend::describe_portal(&mut want, b"").unwrap();
                }
                frontend::execute(&mut want, b"", 0).unwrap();
                if sync {
                    frontend::sync(&mut want);
                }
                assert_eq!(got, want, "{protocol:?}, sync {sync}, stores {stores}");
            }
        }
    }

    /// A simple query is the text with values written in, and a zero byte in a
    /// value never reaches the stream.
    #[test]
    fn simple_query() {
        let (program, requests) = program("SELECT ':b', :c;\n");
        let mut vars = program.initial.clone();
        vars.set_text(program.names.lookup(b"b").unwrap(), b"it");
        let sql = program.types[0].script.commands[0].kind.sql().unwrap();
        let statement = &requests.statements[0];
        let mut got = Vec::new();
        statement.write_request(Protocol::Simple, sql, &vars, true, &mut got).unwrap();
        let mut want = Vec::new();
        frontend::query(&mut want, b"SELECT 'it', :c;").unwrap();
        assert_eq!(got, want);
        vars.set_text(program.names.lookup(b"b").unwrap(), b"\0");
        let result = statement.write_request(Protocol::Simple, sql, &vars, true, &mut got);
        assert_eq!(result, Err(EncodeError::Nul));
        assert_eq!(got, want);
    }

    /// Each statement of a combined command has a slot of its own, and results
    /// beyond the last statement count under the last.
    #[test]
    fn slots_of_combined_commands() {
        let (_, requests) = program("BEGIN\\; UPDATE t SET a = 1\\; END;\n\\set x 1\nSELECT 1;\n");
        assert_eq!(requests.slots.len(), 5);
        assert_eq!(requests.slot(0, 0, 1), 1);
        assert_eq!(requests.slot(0, 0, 9), 2);
        assert_eq!(requests.slot(0, 1, 0), 3);
        assert_eq!(requests.slot(0, 2, 0), 4);
        assert!(requests.slot_infos[1].writes && requests.slot_infos[1].rows_expected == 1);
        assert!(!requests.slot_infos[2].writes);
    }

    /// A read that declares its rows makes an idle transaction where they are
    /// missing, but its rows are not written ones.
    #[test]
    fn declared_reads_write_nothing() {
        let (_, requests) =
            program("-- pgdyno: rows 3\nSELECT 1;\n-- pgdyno: rows 0\nDELETE FROM t;\n");
        let infos = &requests.slot_infos;
        assert!(infos[0].writes && !infos[0].tag_writes && infos[0].rows_expected == 3);
        assert!(infos[1].writes && infos[1].tag_writes && infos[1].rows_expected == 0);
    }
}
