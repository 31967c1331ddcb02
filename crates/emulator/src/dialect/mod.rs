//! Aurora DSQL's SQL: what it runs, what it refuses, and in which words.
//!
//! A statement is known by its tokens alone; nothing here asks a server. The
//! rules are those of 2026: recorded answers where there are some, else the
//! documented rule with a text formed after the recorded ones.

mod alter;
mod clauses;
mod columns;
mod create;
pub(crate) mod lex;
mod session;

pub(crate) use session::{SERVER_VERSION, SERVER_VERSION_NUM, is_settable, not_settable};

use crate::refusal::{Refusal, UNDEFINED};
use lex::Token;

/// What is to be done with a statement.
#[derive(Debug, Clone)]
pub(crate) enum Plan {
    /// `BEGIN` in its forms.
    Begin { read_only: bool },
    /// `COMMIT` or `END`.
    Commit,
    /// `ROLLBACK` or `ABORT`.
    Rollback,
    /// To be run by the server behind.
    Run(Run),
    /// Not in DSQL.
    Refused(Refusal),
}

/// What a statement counts as in its transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Reads, and takes no lock that others could feel.
    Read,
    /// `SELECT … FOR UPDATE` and `FOR KEY SHARE`: reads that conflict.
    Lock,
    /// Changes rows.
    Write,
    /// Changes the catalog.
    Ddl,
    /// Changes the session.
    Setting,
}

/// A statement for the server behind.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) kind: Kind,
    /// The text, rewritten where the server behind needs it.
    pub(crate) sql: String,
    /// The command tag to answer with, where it is not the server's.
    pub(crate) tag: Option<&'static str>,
    /// Makes the rows that a `FOR UPDATE` has locked count as written.
    pub(crate) touch: Option<String>,
    /// An index whose build must have ended before.
    pub(crate) needs_index: Option<String>,
    /// The job that the statement starts.
    pub(crate) job: Option<Job>,
}

/// A job as `sys.jobs` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Job {
    pub(crate) job_type: &'static str,
    pub(crate) object_name: String,
}

impl Run {
    fn new(kind: Kind, sql: &str) -> Self {
        Self { kind, sql: sql.to_owned(), tag: None, touch: None, needs_index: None, job: None }
    }
}

/// A statement's text with its tokens, for the rules.
pub(crate) struct Statement<'a> {
    /// The text that the tokens' places refer to.
    pub(crate) sql: &'a str,
    pub(crate) tokens: &'a [Token],
}

impl Statement<'_> {
    /// The word at a place; empty where there is none.
    pub(crate) fn word(&self, index: usize) -> &str {
        self.tokens
            .get(index)
            .filter(|token| token.kind == lex::Kind::Word)
            .map_or("", |token| token.text.as_str())
    }

    /// True where these words stand from a place on.
    pub(crate) fn has(&self, index: usize, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(offset, word)| self.word(index + offset) == *word)
    }

    /// True where this word stands anywhere.
    pub(crate) fn contains(&self, word: &str) -> bool {
        self.tokens.iter().any(|token| token.is(word))
    }

    /// The statement's own text, without what surrounds it.
    pub(crate) fn text(&self) -> &str {
        match (self.tokens.first(), self.tokens.last()) {
            (Some(first), Some(last)) => &self.sql[first.at.start..last.at.end],
            _ => "",
        }
    }

    /// The text without these tokens, each replaced by something else.
    pub(crate) fn replaced(&self, changes: &[(std::ops::Range<usize>, &str)]) -> String {
        let start = self.tokens.first().map_or(0, |token| token.at.start);
        let mut text = self.text().to_owned();
        // From the back, so that places before stay right.
        for (place, by) in changes.iter().rev() {
            text.replace_range(place.start - start..place.end - start, by);
        }
        text
    }
}

/// Decides on one statement.
pub(crate) fn plan(sql: &str, tokens: &[Token]) -> Plan {
    let statement = Statement { sql, tokens };
    match decide(&statement) {
        Ok(plan) => plan,
        Err(refusal) => Plan::Refused(refusal),
    }
}

fn decide(s: &Statement<'_>) -> Result<Plan, Refusal> {
    let run = match s.word(0) {
        "begin" | "start" | "commit" | "end" | "rollback" | "abort" | "savepoint" | "release"
        | "prepare" => return session::transaction(s),
        "set" | "reset" => session::set(s)?,
        "show" => session::show(s)?,
        "create" => create::create(s)?,
        "alter" => alter::alter(s)?,
        "drop" => create::drop(s)?,
        "grant" | "revoke" | "comment" => Run::new(Kind::Ddl, s.text()),
        "insert" | "update" | "delete" => clauses::query(s, Kind::Write)?,
        "copy" => clauses::copy(s)?,
        "merge" => return Err(Refusal::unsupported("unsupported statement type: MERGE")),
        "select" | "with" | "values" | "table" => clauses::query(s, Kind::Read)?,
        "explain" => clauses::explain(s)?,
        "vacuum" => return Err(Refusal::unsupported("unsupported VACUUM statement")),
        word => match node_name(word, s) {
            Some(name) => {
                return Err(Refusal::unsupported(format!("unsupported statement: {name}")));
            }
            None => clauses::query(s, Kind::Read)?,
        },
    };
    Ok(Plan::Run(run))
}

/// Statements that DSQL refuses by PostgreSQL's name for their parse node.
/// Recorded: Truncate, Listen, Notify, Unlisten; the others follow the rule.
fn node_name(word: &str, s: &Statement<'_>) -> Option<&'static str> {
    Some(match word {
        "truncate" => "Truncate",
        "listen" => "Listen",
        "notify" => "Notify",
        "unlisten" => "Unlisten",
        "lock" => "Lock",
        "cluster" => "Cluster",
        "reindex" => "Reindex",
        "checkpoint" => "CheckPoint",
        "do" => "Do",
        "load" => "Load",
        "deallocate" => "Deallocate",
        "discard" => "Discard",
        "declare" => "DeclareCursor",
        "fetch" | "move" => "Fetch",
        "close" => "ClosePortal",
        "execute" => "Execute",
        "security" => "SecLabel",
        "reassign" => "ReassignOwned",
        "import" => "ImportForeignSchema",
        "refresh" if s.has(1, &["materialized"]) => "RefreshMatView",
        _ => return None,
    })
}

/// PostgreSQL's words for a type that is not there.
fn no_such_type(name: &str) -> Refusal {
    Refusal::new(UNDEFINED, format!("type \"{name}\" does not exist"))
}

#[cfg(test)]
mod tests;
