//! SQL commands: their pieces, parameters and what kind of statements they are.

use std::ops::Range;

use crate::error::ScriptError;
use crate::lex::{self, Kind};
use crate::names::{Names, Slot, is_name_byte, is_name_start};
use crate::vars::Vars;

/// Most variables of one statement in the extended protocol: pgbench's limit
/// of 256 words in a command, less one.
pub const PARAMS_MAX: usize = 255;

/// An SQL command of a script: one statement, or several joined by `\;`.
#[derive(Debug, Clone)]
pub struct Sql {
    /// The text with `\;` and `\:` resolved and variables as written.
    pub text: Box<[u8]>,
    /// The text cut into what is copied and what is replaced, for the simple protocol.
    pub pieces: Box<[Piece]>,
    /// The text with `$1`, `$2`, … for the variables, for the extended protocol.
    pub numbered: Box<[u8]>,
    /// The variables of `numbered` in order; a repeated name appears again.
    pub params: Box<[Slot]>,
    /// `\gset` or `\aset` behind it.
    pub store: Option<Store>,
    /// One for each statement. More than one: the extended protocol would refuse it.
    pub kinds: Box<[SqlKind]>,
    /// Rows that a comment `-- pgdyno: rows N` just before it declares.
    pub rows_declared: Option<u64>,
}

/// A piece of an SQL text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Copied: a range of [`Sql::text`].
    Literal(Range<usize>),
    /// A variable.
    Var {
        /// Where its value is.
        slot: Slot,
        /// `:name` in [`Sql::text`], which stays if the variable is not defined.
        original: Range<usize>,
    },
}

/// Where results go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    /// Which results count.
    pub mode: StoreMode,
    /// Put before the column's name.
    pub prefix: Box<[u8]>,
}

/// `\gset` or `\aset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreMode {
    /// `\gset`: the last result, which must have one row.
    Gset,
    /// `\aset`: the last row of every result that has rows.
    Aset,
}

/// What a statement is, by its first keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SqlKind {
    /// SELECT, VALUES, TABLE, or WITH around one of them.
    Select,
    /// INSERT, or WITH around it.
    Insert,
    /// UPDATE, or WITH around it.
    Update,
    /// DELETE, or WITH around it.
    Delete,
    /// MERGE, or WITH around it.
    Merge,
    /// A SELECT with INSERT, UPDATE, DELETE or MERGE inside its WITH.
    WithWrites,
    /// BEGIN, START TRANSACTION.
    Begin,
    /// COMMIT, END; also COMMIT PREPARED.
    Commit,
    /// ROLLBACK, ABORT; not ROLLBACK TO.
    Rollback,
    /// COPY.
    Copy,
    /// CALL or DO, which may write and commit unseen.
    Call,
    /// Nothing but comments.
    Empty,
    /// Anything else.
    Other,
}

impl SqlKind {
    /// Whether its text says that it writes rows of tables.
    #[must_use]
    pub fn writes(self) -> bool {
        matches!(self, Self::Insert | Self::Update | Self::Delete | Self::Merge | Self::WithWrites)
    }
}

impl Sql {
    /// Appends the text for the simple protocol. Variables that are not
    /// defined stay as written. Allocates only where `out` must grow.
    pub fn write_simple(&self, vars: &Vars, out: &mut Vec<u8>) {
        for piece in &self.pieces {
            match piece {
                Piece::Literal(range) => out.extend_from_slice(&self.text[range.clone()]),
                Piece::Var { slot, original } => {
                    if !vars.write_text(*slot, out) {
                        out.extend_from_slice(&self.text[original.clone()]);
                    }
                }
            }
        }
    }

    /// Whether it is several statements, which the extended protocol refuses.
    #[must_use]
    pub fn is_combined(&self) -> bool {
        self.kinds.len() > 1
    }

    /// Whether a statement of it ends a transaction block by committing.
    #[must_use]
    pub fn commits(&self) -> bool {
        self.kinds.contains(&SqlKind::Commit)
    }

    /// The text as text, for reports.
    #[must_use]
    pub fn text_lossy(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.text)
    }

    /// Whether the extended protocol can carry its variables.
    ///
    /// # Errors
    /// More than [`PARAMS_MAX`].
    pub fn check_params(&self) -> Result<(), ScriptError> {
        if self.params.len() > PARAMS_MAX {
            return Err(ScriptError::TooManyArguments { sql: self.text_lossy().into_owned() });
        }
        Ok(())
    }
}

/// Cuts a text at its variables and numbers them.
///
/// Quotes and comments are not respected, as in pgbench: in `'a:b'` the `:b`
/// is a variable. A run of colons before anything but a letter is passed over whole.
pub(crate) fn cut(text: &[u8], names: &mut Names) -> (Vec<Piece>, Vec<u8>, Vec<Slot>) {
    let (mut pieces, mut numbered, mut params) = (Vec::new(), Vec::new(), Vec::new());
    let (mut literal, mut at) = (0, 0);
    while let Some(colon) = memchr::memchr(b':', &text[at..]).map(|offset| at + offset) {
        let name = colon + 1;
        if !text.get(name).is_some_and(|&byte| is_name_start(byte)) {
            at = end_while(text, colon, |byte| byte == b':');
            continue;
        }
        let end = end_while(text, name, is_name_byte);
        if literal < colon {
            pieces.push(Piece::Literal(literal..colon));
        }
        let slot = names.intern(&text[name..end]);
        pieces.push(Piece::Var { slot, original: colon..end });
        params.push(slot);
        numbered.extend_from_slice(&text[literal..colon]);
        numbered.extend_from_slice(format!("${}", params.len()).as_bytes());
        (literal, at) = (end, end);
    }
    if literal < text.len() {
        pieces.push(Piece::Literal(literal..text.len()));
    }
    numbered.extend_from_slice(&text[literal..]);
    (pieces, numbered, params)
}

fn end_while(text: &[u8], start: usize, keep: impl Fn(u8) -> bool) -> usize {
    text[start..].iter().position(|&byte| !keep(byte)).map_or(text.len(), |offset| start + offset)
}

impl Sql {
    pub(crate) fn new(text: Vec<u8>, rows_declared: Option<u64>, names: &mut Names) -> Self {
        let (pieces, numbered, params) = cut(&text, names);
        Self {
            kinds: kinds(&text).into(),
            text: text.into(),
            pieces: pieces.into(),
            numbered: numbered.into(),
            params: params.into(),
            store: None,
            rows_declared,
        }
    }
}

/// What the statements of a text are.
fn kinds(text: &[u8]) -> Vec<SqlKind> {
    let mut kinds = Vec::new();
    let mut statement = Statement::default();
    let mut at = 0;
    while at < text.len() {
        let (kind, end) = lex::token(text, at);
        match kind {
            Kind::Blank | Kind::Comment => {}
            Kind::Semicolon if statement.depth == 0 && !statement.in_routine() => {
                kinds.push(std::mem::take(&mut statement).kind());
            }
            _ => statement.token(kind, &text[at..end]),
        }
        at = end;
    }
    // Behind the last semicolon there is a statement only if there is something.
    if statement.seen || kinds.is_empty() {
        kinds.push(statement.kind());
    }
    kinds
}

/// The words of a statement that tell what it is.
#[derive(Default)]
struct Statement {
    seen: bool,
    depth: usize,
    /// First two words, upper case.
    first: Vec<u8>,
    second: Vec<u8>,
    /// The first word at depth 0 behind a WITH that names a statement.
    main: Option<SqlKind>,
    writes_inside: bool,
}

impl Statement {
    fn token(&mut self, kind: Kind, token: &[u8]) {
        self.seen = true;
        match kind {
            Kind::Open => self.depth += 1,
            Kind::Close => self.depth = self.depth.saturating_sub(1),
            Kind::Word => self.word(&token.to_ascii_uppercase()),
            _ => {}
        }
    }

    fn word(&mut self, word: &[u8]) {
        if self.first.is_empty() {
            self.first = word.to_vec();
        } else if self.second.is_empty() {
            self.second = word.to_vec();
        }
        if self.first == b"WITH" {
            let kind = keyword(word);
            if self.depth > 0 {
                self.writes_inside |= kind.is_some_and(SqlKind::writes);
            } else if self.main.is_none() {
                self.main = kind;
            }
        }
    }

    /// The body of a routine has semicolons of its own; what is inside does not matter.
    fn in_routine(&self) -> bool {
        false
    }

    fn kind(self) -> SqlKind {
        if !self.seen {
            return SqlKind::Empty;
        }
        match (&self.first[..], &self.second[..]) {
            (b"WITH", _) => match self.main {
                Some(SqlKind::Select) if self.writes_inside => SqlKind::WithWrites,
                Some(kind) => kind,
                None => SqlKind::Other,
            },
            (b"START", b"TRANSACTION") | (b"BEGIN", _) => SqlKind::Begin,
            (b"COMMIT" | b"END", _) => SqlKind::Commit,
            (b"ROLLBACK", b"TO") => SqlKind::Other,
            (b"ROLLBACK" | b"ABORT", _) => SqlKind::Rollback,
            (b"COPY", _) => SqlKind::Copy,
            (b"CALL" | b"DO", _) => SqlKind::Call,
            (first, _) => keyword(first).unwrap_or(SqlKind::Other),
        }
    }
}

fn keyword(word: &[u8]) -> Option<SqlKind> {
    Some(match word {
        b"SELECT" | b"VALUES" | b"TABLE" => SqlKind::Select,
        b"INSERT" => SqlKind::Insert,
        b"UPDATE" => SqlKind::Update,
        b"DELETE" => SqlKind::Delete,
        b"MERGE" => SqlKind::Merge,
        _ => return None,
    })
}
