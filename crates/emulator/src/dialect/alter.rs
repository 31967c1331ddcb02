//! ALTER in its forms.

use super::columns::{check_column, storage_clauses};
use super::{Job, Kind, Run, Statement};
use crate::refusal::Refusal;

/// Words after a new column's type that DSQL takes for a constraint.
const COLUMN_CONSTRAINTS: [&str; 8] =
    ["not", "default", "check", "unique", "primary", "references", "generated", "constraint"];

pub(super) fn alter(s: &Statement<'_>) -> Result<Run, Refusal> {
    let renames = s.contains("rename");
    match s.word(1) {
        "table" => table(s),
        "system" => Err(Refusal::unsupported("unsupported statement: AlterSystem")),
        "type" if renames => Err(Refusal::unsupported("unsupported object in RENAME statement")),
        "type" => Err(Refusal::unsupported("unsupported statement: AlterType")),
        "database" => Err(Refusal::unsupported("unsupported statement: AlterDatabase")),
        "extension" => Err(Refusal::unsupported("unsupported statement: AlterExtension")),
        "policy" => Err(Refusal::unsupported("unsupported statement: AlterPolicy")),
        "index" if !renames => Err(Refusal::unsupported("unsupported ALTER INDEX statement")),
        _ => Ok(Run::new(Kind::Ddl, s.text())),
    }
}

fn unsupported(form: &str) -> Refusal {
    Refusal::unsupported(format!("unsupported ALTER TABLE {form} statement"))
}

fn table(s: &Statement<'_>) -> Result<Run, Refusal> {
    let is_async = s.word(2) == "async";
    let mut at = if is_async { 3 } else { 2 };
    if s.has(at, &["if", "exists"]) {
        at += 2;
    }
    if s.word(at) == "only" {
        at += 1;
    }
    let table_at = at;
    at += 1;
    while s.tokens.get(at).is_some_and(|token| token.is_sign(".")) {
        at += 2;
    }
    let mut run = Run::new(Kind::Ddl, &s.replaced(&storage_clauses(s)));
    match s.word(at) {
        "add" => add(s, at + 1, &mut run)?,
        "validate" if is_async => {
            let name = s.tokens.get(table_at).map_or("", |token| token.text.as_str());
            run.job = Some(Job {
                job_type: "VALIDATE_CONSTRAINT",
                object_name: format!("public.{name}"),
            });
            run.sql = s.replaced(&[(s.tokens[2].at.clone(), "")]);
        }
        "validate" => return Err(unsupported("VALIDATE CONSTRAINT")),
        "alter" => alter_column(s, at + 1)?,
        "drop" if s.word(at + 1) == "constraint" => return Err(unsupported("DROP CONSTRAINT")),
        "drop" | "rename" | "owner" | "enable" | "disable" if !s.contains("row") => {}
        "set" if s.word(at + 1) == "schema" => {}
        "set" | "reset" => return Err(unsupported("SET")),
        "enable" | "disable" | "force" | "no" => return Err(unsupported("ROW LEVEL SECURITY")),
        "inherit" => return Err(unsupported("INHERIT")),
        "attach" | "detach" => return Err(unsupported("PARTITION")),
        "cluster" => return Err(unsupported("CLUSTER")),
        "replica" => return Err(unsupported("REPLICA IDENTITY")),
        _ => {}
    }
    Ok(run)
}

fn add(s: &Statement<'_>, at: usize, run: &mut Run) -> Result<(), Refusal> {
    if matches!(s.word(at), "constraint" | "primary" | "unique" | "foreign" | "check" | "exclude") {
        return add_constraint(s, at, run);
    }
    let mut name_at = if s.word(at) == "column" { at + 1 } else { at };
    if s.has(name_at, &["if", "not", "exists"]) {
        name_at += 3;
    }
    // The definition ends at a comma outside of parentheses.
    let mut depth = 0_i32;
    let len = s.tokens[name_at.min(s.tokens.len())..].iter().position(|token| {
        depth += i32::from(token.is_sign("(")) - i32::from(token.is_sign(")"));
        depth == 0 && token.is_sign(",")
    });
    let item = name_at..len.map_or(s.tokens.len(), |len| name_at + len);
    let constrained = item.clone().skip(1).any(|index| COLUMN_CONSTRAINTS.contains(&s.word(index)));
    // A type that does not exist is found before anything else; a cache that
    // is missing is not.
    if !constrained {
        return check_column(s, &item);
    }
    Err(Refusal::unsupported("ALTER TABLE ADD COLUMN with constraint not supported"))
}

fn add_constraint(s: &Statement<'_>, at: usize, run: &mut Run) -> Result<(), Refusal> {
    let form = if s.word(at) == "constraint" { at + 2 } else { at };
    let not_valid = s.has(s.tokens.len().saturating_sub(2), &["not", "valid"]);
    match s.word(form) {
        "unique" if s.has(form + 1, &["using", "index"]) => {
            run.needs_index = s.tokens.get(form + 3).map(|token| token.text.clone());
            Ok(())
        }
        "foreign" | "check" if not_valid => Ok(()),
        _ => Err(unsupported("ADD CONSTRAINT")),
    }
}

fn alter_column(s: &Statement<'_>, at: usize) -> Result<(), Refusal> {
    let action = if s.word(at) == "column" { at + 2 } else { at + 1 };
    if s.word(action) == "type" || s.has(action, &["set", "data"]) {
        return Err(unsupported("ALTER COLUMN ... SET DATA TYPE"));
    }
    if s.has(action, &["set", "not"]) {
        return Err(unsupported("ALTER COLUMN ... SET NOT NULL"));
    }
    if s.has(action, &["add", "generated"]) {
        return Err(unsupported("ALTER COLUMN ... ADD GENERATED"));
    }
    if s.has(action, &["set", "compression"]) {
        return Err(unsupported("ALTER COLUMN ... SET COMPRESSION"));
    }
    Ok(())
}
