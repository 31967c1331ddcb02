//! What kind of statements an SQL text holds, by their keywords.
//!
//! Enough for an engine to know writes and commits; not a parser of SQL.

use crate::lex::{self, BodyTracker, Kind};

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

/// What the statements of a text are.
#[cfg(test)]
fn kinds(text: &[u8]) -> Vec<SqlKind> {
    statements(text).into_iter().map(|found| found.kind).collect()
}

/// What is seen of one statement of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) kind: SqlKind,
    /// It writes within its WITH, where its command tag does not count.
    pub(crate) hides_writes: bool,
    /// Where it is, from its first token to its semicolon.
    pub(crate) span: std::ops::Range<usize>,
}

/// The statements of a text; at least one.
pub(crate) fn statements(text: &[u8]) -> Vec<Found> {
    let mut kinds = Vec::new();
    let mut statement = Statement::default();
    let mut at = 0;
    while at < text.len() {
        let (kind, end) = lex::token(text, at);
        match kind {
            Kind::Blank | Kind::Comment => {}
            Kind::Semicolon if statement.depth == 0 && !statement.body.is_open() => {
                let ended = std::mem::take(&mut statement);
                // For nothing between two semicolons the server has no answer.
                if ended.seen {
                    kinds.push(ended.found(end));
                }
            }
            _ => statement.token(kind, text, at..end),
        }
        at = end;
    }
    // Behind the last semicolon there is a statement only if there is something.
    if statement.seen || kinds.is_empty() {
        kinds.push(statement.found(text.len()));
    }
    kinds
}

/// What tells the kind of a statement.
#[derive(Default)]
struct Statement {
    seen: bool,
    start: usize,
    depth: usize,
    body: BodyTracker,
    /// The first [`Statement::HEAD_MAX`] words, in upper case.
    head: Vec<Vec<u8>>,
    /// Whether a keyword here may begin a query: behind `(`, or not in the list of WITH's names.
    after_open: bool,
    after_list: bool,
    /// The statement around which WITH stands.
    main: Option<SqlKind>,
    writes_inside: bool,
}

impl Statement {
    /// Enough to see ROLLBACK TRANSACTION TO.
    const HEAD_MAX: usize = 3;

    fn token(&mut self, kind: Kind, text: &[u8], span: std::ops::Range<usize>) {
        if !std::mem::replace(&mut self.seen, true) {
            self.start = span.start;
        }
        let token = &text[span];
        match kind {
            Kind::Open => self.depth += 1,
            Kind::Close => self.depth = self.depth.saturating_sub(1),
            Kind::Word => self.word(token),
            _ => {}
        }
        self.after_open = kind == Kind::Open;
        self.after_list = token == b","
            || token.eq_ignore_ascii_case(b"WITH")
            || token.eq_ignore_ascii_case(b"RECURSIVE");
    }

    fn word(&mut self, token: &[u8]) {
        self.body.word(token, self.depth == 0);
        let word = token.to_ascii_uppercase();
        if self.head.first().is_some_and(|first| first == b"WITH") {
            let kind = keyword(&word);
            if self.depth > 0 {
                self.writes_inside |= self.after_open && kind.is_some_and(SqlKind::writes);
            } else if self.main.is_none() && !self.after_list {
                self.main = kind;
            }
        }
        if self.head.len() < Self::HEAD_MAX {
            self.head.push(word);
        }
    }

    fn found(self, end: usize) -> Found {
        let (hides_writes, span) = (self.writes_inside, self.start..end);
        Found { kind: self.kind(), hides_writes, span }
    }

    fn kind(self) -> SqlKind {
        if !self.seen {
            return SqlKind::Empty;
        }
        let mut words = self.head.iter().map(Vec::as_slice);
        let first = words.next().unwrap_or_default();
        let mut has = |word: &[u8]| words.any(|other| other == word);
        match first {
            b"WITH" => match self.main {
                Some(SqlKind::Select) if self.writes_inside => SqlKind::WithWrites,
                Some(kind) => kind,
                None => SqlKind::Other,
            },
            b"BEGIN" => SqlKind::Begin,
            b"START" if has(b"TRANSACTION") => SqlKind::Begin,
            b"COMMIT" | b"END" => SqlKind::Commit,
            b"ROLLBACK" => {
                if self.head.iter().any(|word| word == b"TO" || word == b"PREPARED") {
                    SqlKind::Other
                } else {
                    SqlKind::Rollback
                }
            }
            b"ABORT" => SqlKind::Rollback,
            b"COPY" => SqlKind::Copy,
            b"CALL" | b"DO" => SqlKind::Call,
            first => keyword(first).unwrap_or(SqlKind::Other),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Statements are known by their keywords, with comments, quotes and parentheses passed over.
    #[test]
    fn statement_kinds() {
        use SqlKind as K;
        for (text, expected) in [
            ("select 1;", &[K::Select][..]),
            ("/* insert */ UPDATE t SET a = 'delete'", &[K::Update]),
            ("(SELECT 1) UNION SELECT 2;", &[K::Select]),
            ("BEGIN; UPDATE t SET a = 1; END;", &[K::Begin, K::Update, K::Commit]),
            ("START TRANSACTION READ ONLY;", &[K::Begin]),
            ("COMMIT AND CHAIN", &[K::Commit]),
            ("ROLLBACK TO SAVEPOINT a", &[K::Other]),
            ("ROLLBACK TRANSACTION TO a", &[K::Other]),
            ("ABORT", &[K::Rollback]),
            ("ROLLBACK", &[K::Rollback]),
            ("ROLLBACK PREPARED 'a'", &[K::Other]),
            ("WITH a AS (SELECT 1) SELECT * FROM a", &[K::Select]),
            ("WITH a AS (DELETE FROM t RETURNING *) SELECT * FROM a", &[K::WithWrites]),
            ("WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a", &[K::Insert]),
            ("WITH RECURSIVE a(b) AS MATERIALIZED (VALUES (1)) UPDATE t SET x = 1", &[K::Update]),
            ("WITH a AS (SELECT \"delete\", 'insert' FROM t) TABLE a", &[K::Select]),
            ("WITH a AS (SELECT 1 FROM t FOR UPDATE) SELECT * FROM a", &[K::Select]),
            ("WITH a AS (SELECT 1), update AS (SELECT 2) DELETE FROM t", &[K::Delete]),
            ("MERGE INTO t USING s ON true WHEN MATCHED THEN DELETE", &[K::Merge]),
            ("COPY t FROM stdin", &[K::Copy]),
            ("CALL p()", &[K::Call]),
            ("VACUUM t", &[K::Other]),
            (";", &[K::Empty]),
            ("/* nothing */", &[K::Empty]),
            ("CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT 2; END;", &[K::Other]),
        ] {
            assert_eq!(kinds(text.as_bytes()), expected, "{text}");
        }
    }

    /// Writes within WITH are seen whatever stands around it.
    #[test]
    fn hidden_writes() {
        for (text, hidden) in [
            ("WITH a AS (DELETE FROM t RETURNING *) SELECT * FROM a", &[true][..]),
            ("WITH a AS (UPDATE t SET x = 1) INSERT INTO h VALUES (1)", &[true]),
            ("WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a", &[false]),
            ("SELECT 1; WITH a AS (INSERT INTO t VALUES (1)) UPDATE t SET x = 1", &[false, true]),
        ] {
            let found = statements(text.as_bytes()).into_iter().map(|found| found.hides_writes);
            assert_eq!(found.collect::<Vec<_>>(), hidden, "{text}");
        }
    }
}
