//! What a statement is answered with.
//!
//! Statements are known by their first keyword, and a few by a word inside
//! them: those that pgbench asks before a run and whose answers it looks at.

/// What a statement is, as far as the null server cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// One row of one int4 column.
    Int,
    /// `select count(*) …`: one row of one int8 column with the scale.
    Count,
    /// `select version()` and the like: one row of one text column.
    Version,
    /// pgbench's look-up of the partitioning of pgbench_accounts.
    Partitions,
    /// BEGIN, START TRANSACTION.
    Begin,
    /// COMMIT, END.
    Commit,
    /// ROLLBACK, ABORT.
    Rollback,
    /// No row; the command tag is all.
    Tag(&'static str),
    /// A statement of nothing.
    Empty,
    /// COPY and others that a server without data cannot do.
    Refused,
}

/// A column of a row: name, type, and its value as text.
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) type_oid: u32,
    pub(super) type_size: i16,
    pub(super) value: Option<String>,
}

const INT4_OID: u32 = 23;
const INT8_OID: u32 = 20;
const TEXT_OID: u32 = 25;
const CHAR_OID: u32 = 18;

/// The version that the server claims.
pub(super) const SERVER_VERSION: &str = "15.0";

/// Words whose statements get no row, with their command tags.
const TAGS: [(&str, &str); 16] = [
    ("update", "UPDATE 1"),
    ("insert", "INSERT 0 1"),
    ("delete", "DELETE 1"),
    ("set", "SET"),
    ("reset", "RESET"),
    ("vacuum", "VACUUM"),
    ("analyze", "ANALYZE"),
    ("truncate", "TRUNCATE TABLE"),
    ("create", "CREATE TABLE"),
    ("drop", "DROP TABLE"),
    ("alter", "ALTER TABLE"),
    ("checkpoint", "CHECKPOINT"),
    ("deallocate", "DEALLOCATE"),
    ("discard", "DISCARD ALL"),
    ("savepoint", "SAVEPOINT"),
    ("release", "RELEASE"),
];

impl Answer {
    /// Knows a statement by its words.
    pub(super) fn to_statement(sql: &[u8]) -> Self {
        let sql = sql.trim_ascii_start();
        let length = sql.iter().position(|byte| !byte.is_ascii_alphabetic());
        let word = &sql[..length.unwrap_or(sql.len())];
        let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
        if is("select") {
            Self::to_select(sql)
        } else if word.is_empty() && sql.is_empty() {
            Self::Empty
        } else if is("begin") || is("start") {
            Self::Begin
        } else if is("end") || is("commit") {
            Self::Commit
        } else if is("rollback") || is("abort") {
            Self::Rollback
        } else if is("show") {
            Self::Version
        } else if is("with") || is("values") || is("call") {
            Self::Int
        } else {
            let known = TAGS.iter().find(|(name, _)| is(name));
            known.map_or(Self::Refused, |(_, tag)| Self::Tag(tag))
        }
    }

    fn to_select(sql: &[u8]) -> Self {
        // The select that is measured has no parenthesis; it is not searched
        // through and copied each time.
        if !sql.contains(&b'(') {
            return Self::Int;
        }
        let sql = sql.to_ascii_lowercase();
        let has = |word: &str| sql.windows(word.len()).any(|part| part == word.as_bytes());
        if has("partstrat") {
            Self::Partitions
        } else if has("count(*)") {
            Self::Count
        } else if has("version(") {
            Self::Version
        } else {
            Self::Int
        }
    }

    /// The columns and the row; `None` where the statement returns no rows.
    pub(super) fn columns(self, scale: u32) -> Option<Vec<Column>> {
        let column = |name, type_oid, type_size, value: &str| Column {
            name,
            type_oid,
            type_size,
            value: Some(value.to_owned()),
        };
        match self {
            Self::Int => Some(vec![column("value", INT4_OID, 4, "1")]),
            Self::Count => Some(vec![column("count", INT8_OID, 8, &scale.to_string())]),
            Self::Version => {
                let text = format!("PostgreSQL {SERVER_VERSION} (null server)");
                Some(vec![column("version", TEXT_OID, -1, &text)])
            }
            // The table is the first in the search path, is not partitioned,
            // and has no partitions.
            Self::Partitions => Some(vec![
                column("n", INT8_OID, 8, "1"),
                Column { value: None, ..column("partstrat", CHAR_OID, 1, "") },
                column("count", INT8_OID, 8, "0"),
            ]),
            _ => None,
        }
    }

    /// The command tag.
    pub(super) fn tag(self) -> &'static str {
        match self {
            Self::Int | Self::Count | Self::Version | Self::Partitions => "SELECT 1",
            Self::Begin => "BEGIN",
            Self::Commit => "COMMIT",
            Self::Rollback => "ROLLBACK",
            Self::Tag(tag) => tag,
            Self::Empty | Self::Refused => "",
        }
    }
}

/// The statements of a simple query, cut at semicolons outside of quotes.
/// Comments and dollar quotes are not looked for: no client of this server
/// sends them.
pub(super) fn statements(sql: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut quote = None;
    sql.split(move |byte| {
        match (quote, byte) {
            (None, b'\'' | b'"') => quote = Some(*byte),
            (Some(open), byte) if open == *byte => quote = None,
            _ => {}
        }
        quote.is_none() && *byte == b';'
    })
    .filter(|part| !part.trim_ascii().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The statements of pgbench's scripts and start-up are known.
    #[test]
    fn knows_pgbench() {
        let answer = |sql: &str| Answer::to_statement(sql.as_bytes());
        assert_eq!(answer("SELECT abalance FROM pgbench_accounts WHERE aid = 1"), Answer::Int);
        assert_eq!(answer("select count(*) from pgbench_branches"), Answer::Count);
        assert_eq!(
            answer("select o.n, p.partstrat, pg_catalog.count(i.inhparent)"),
            Answer::Partitions
        );
        assert_eq!(answer(" BEGIN"), Answer::Begin);
        assert_eq!(answer("END;"), Answer::Commit);
        assert_eq!(answer("UPDATE x SET y = 1").tag(), "UPDATE 1");
        assert_eq!(answer("insert into x values (1)").tag(), "INSERT 0 1");
        assert_eq!(answer("truncate pgbench_history").tag(), "TRUNCATE TABLE");
        assert_eq!(answer("copy x from stdin"), Answer::Refused);
        assert_eq!(answer("  "), Answer::Empty);
    }

    /// Semicolons cut statements, but not inside quotes.
    #[test]
    fn cuts_statements() {
        let cut = |sql: &'static str| statements(sql.as_bytes()).collect::<Vec<_>>();
        assert_eq!(cut("select 1;"), [b"select 1"]);
        assert_eq!(cut("a; b ;").len(), 2);
        assert_eq!(cut("select ';', \";\"").len(), 1);
        assert!(cut(" ; ").is_empty());
    }
}
