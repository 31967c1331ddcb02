//! CREATE and DROP.

use super::columns::{check_column, check_sequence, is_constraint, items, storage_clauses};
use super::{Job, Kind, Run, Statement};
use crate::refusal::Refusal;

pub(super) fn create(s: &Statement<'_>) -> Result<Run, Refusal> {
    let at = if s.has(1, &["or", "replace"]) { 3 } else { 1 };
    match s.word(at) {
        "table" => table(s, at),
        "temporary" | "temp" | "local" | "global" => {
            let what = if s.contains("view") { "VIEW" } else { "TABLE" };
            Err(Refusal::unsupported(format!(
                "TEMPORARY or TEMP table not supported for CREATE {what}"
            )))
        }
        "unlogged" => Err(Refusal::unsupported("UNLOGGED table not supported for CREATE TABLE")),
        "unique" | "index" => index(s),
        "sequence" => {
            check_sequence(s.tokens)?;
            Ok(Run::new(Kind::Ddl, s.text()))
        }
        "type" => Err(Refusal::unsupported("CREATE TYPE not supported")),
        "trigger" | "constraint" => Err(Refusal::unsupported("CREATE TRIGGER not supported")),
        "function" => function(s),
        "procedure" => Err(Refusal::unsupported("PROCEDURE is not supported")),
        word => match node_name(word, s.word(at + 1)) {
            Some(name) => Err(Refusal::unsupported(format!("unsupported statement: {name}"))),
            None => Ok(Run::new(Kind::Ddl, s.text())),
        },
    }
}

/// Recorded: CreateExtension, Createdb, CreateTableAs, CreateTableSpace,
/// CreateForeignTable; the others follow PostgreSQL's names of parse nodes.
fn node_name(word: &str, next: &str) -> Option<&'static str> {
    Some(match (word, next) {
        ("extension", _) => "CreateExtension",
        ("database", _) => "Createdb",
        ("tablespace", _) => "CreateTableSpace",
        ("foreign", "table") => "CreateForeignTable",
        ("foreign", _) => "CreateFdw",
        ("materialized", _) => "CreateTableAs",
        ("server", _) => "CreateForeignServer",
        ("user", "mapping") => "CreateUserMapping",
        ("policy", _) => "CreatePolicy",
        ("rule", _) => "Rule",
        ("publication", _) => "CreatePublication",
        ("subscription", _) => "CreateSubscription",
        ("event", _) => "CreateEventTrig",
        ("language" | "trusted" | "procedural", _) => "CreatePLang",
        ("cast", _) => "CreateCast",
        ("conversion" | "default", _) => "CreateConversion",
        ("access", _) => "CreateAm",
        ("operator", _) | ("aggregate" | "text" | "collation", _) => "Define",
        _ => return None,
    })
}

fn table(s: &Statement<'_>, at: usize) -> Result<Run, Refusal> {
    let open = s.tokens.iter().position(|token| token.is_sign("("));
    let body_as = s.tokens.iter().position(|token| token.is("as"));
    // `CREATE TABLE t AS`, with or without column names before.
    if let Some(place) = body_as
        && (open.is_none_or(|open| place < open) || s.tokens[place - 1].is_sign(")"))
        && ["select", "with", "values", "table", "execute"].contains(&s.word(place + 1))
    {
        return Err(Refusal::unsupported("unsupported statement: CreateTableAs"));
    }
    let Some(open) = open else { return Ok(Run::new(Kind::Ddl, s.text())) };
    if (at..open).any(|index| s.has(index, &["partition", "of"])) {
        return Err(clause("PARTITION OF"));
    }
    let columns = items(s.tokens, open);
    for item in &columns {
        if !is_constraint(s, item) {
            check_column(s, item)?;
        }
    }
    let end = columns.last().map_or(open, |item| item.end);
    for index in end..s.tokens.len() {
        match s.word(index) {
            // Recorded on a live cluster in 2025.
            "with" | "without" => return Err(clause("WITH")),
            "partition" => return Err(clause("PARTITION BY")),
            "inherits" => return Err(clause("INHERITS")),
            "tablespace" => return Err(clause("TABLESPACE")),
            "on" => return Err(clause("ON COMMIT")),
            "using" => return Err(clause("USING")),
            _ => {}
        }
    }
    Ok(Run::new(Kind::Ddl, &s.replaced(&storage_clauses(s))))
}

fn clause(name: &str) -> Refusal {
    Refusal::unsupported(format!("{name} clause not supported for CREATE TABLE"))
}

fn function(s: &Statement<'_>) -> Result<Run, Refusal> {
    let language = s.tokens.iter().position(|token| token.is("language"));
    match language.and_then(|at| s.tokens.get(at + 1)) {
        Some(name) if name.text != "sql" => Err(Refusal::unsupported(format!(
            "CREATE FUNCTION with language {} not supported",
            name.text
        ))),
        _ => Ok(Run::new(Kind::Ddl, s.text())),
    }
}

/// `CREATE [UNIQUE] INDEX ASYNC …` becomes a plain one with a job.
fn index(s: &Statement<'_>) -> Result<Run, Refusal> {
    let at = if s.word(1) == "unique" { 3 } else { 2 };
    if s.word(at) == "concurrently" {
        return Err(Refusal::unsupported("CONCURRENTLY not supported for CREATE INDEX"));
    }
    if s.word(at) != "async" {
        return Err(Refusal::unsupported("unsupported mode. please use CREATE INDEX ASYNC."));
    }
    let on = s.tokens.iter().position(|token| token.is("on")).unwrap_or(s.tokens.len());
    let open = s.tokens.iter().position(|token| token.is_sign("(")).unwrap_or(s.tokens.len());
    if (on..open).any(|index| s.word(index) == "using") {
        return Err(Refusal::unsupported("USING clause not supported for CREATE INDEX"));
    }
    if open < s.tokens.len() {
        for item in items(s.tokens, open) {
            let last = s.tokens.get(item.end - 1).filter(|_| item.len() > 1);
            let ordered = item.clone().any(|index| matches!(s.word(index), "asc" | "desc"));
            if ordered {
                return Err(Refusal::unsupported(
                    "specifying sort order not supported for index keys",
                ));
            }
            if last.is_some_and(|token| token.text.ends_with("_ops")) {
                return Err(Refusal::unsupported("opclass not supported for index keys"));
            }
        }
    }
    let name_at = if s.has(at + 1, &["if", "not", "exists"]) { at + 4 } else { at + 1 };
    let name = s.tokens.get(name_at).filter(|_| name_at < on).map(|token| token.text.as_str());
    let mut run = Run::new(Kind::Ddl, &s.replaced(&[(s.tokens[at].at.clone(), "")]));
    run.job = Some(Job {
        job_type: "INDEX_BUILD",
        object_name: format!("public.{}", name.unwrap_or("unnamed")),
    });
    Ok(run)
}

pub(super) fn drop(s: &Statement<'_>) -> Result<Run, Refusal> {
    match s.word(1) {
        "table" | "view" | "index" | "schema" | "sequence" | "function" | "domain" | "role"
        | "user" | "owned" | "statistics" => Ok(Run::new(Kind::Ddl, s.text())),
        "database" => Err(Refusal::unsupported("unsupported statement: Dropdb")),
        "tablespace" => Err(Refusal::unsupported("unsupported statement: DropTableSpace")),
        _ => Err(Refusal::unsupported("unsupported object in DROP statement")),
    }
}
