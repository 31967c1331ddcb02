//! What clients run: a workload's transactions, or scripts from files.

use std::io::Read as _;

use pgdyno_engine::outcome::StatementSlot;
use pgdyno_engine::plan::{Program, TransactionType};
use pgdyno_record::{ScriptInfo, StatementInfo, StatementKind};
use pgdyno_script::choice::{parse_define, split_weight};
use pgdyno_script::declared;
use pgdyno_script::independence::independent_draws;
use pgdyno_script::names::SCALE;
use pgdyno_script::{Names, Script, SqlKind, Vars};
use pgdyno_workload::{Body, Workload};

use crate::failure::Failure;

/// The largest script that is read; larger ones are surely a mistake.
const SCRIPT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// What a script's name begins with where it is one of pgbench's own.
const BUILTIN: &str = "builtin:";

/// A script's text before it is compiled.
struct Source {
    name: String,
    text: Vec<u8>,
    weight: u32,
}

/// Compiles a workload's transactions.
pub(crate) fn of_workload(workload: &dyn Workload) -> Result<Program, Failure> {
    let sources = workload
        .transactions()
        .iter()
        .map(|transaction| match &transaction.body {
            Body::Script(text) | Body::Procedure(text) => Ok(Source {
                name: transaction.description.to_owned(),
                text: text.as_bytes().to_vec(),
                weight: transaction.weight,
            }),
            _ => Err(Failure::usage(format!(
                "transaction \"{}\" of workload \"{}\" cannot be run yet",
                transaction.name,
                workload.name()
            ))),
        })
        .collect::<Result<Vec<_>, _>>()?;
    compile(sources, &[], Some(workload.scale()))
}

/// Reads and compiles `--script FILE[@WEIGHT]`; `builtin:NAME` is one of
/// pgbench's own, `-` standard input. `:scale` is not set, unless by a define.
pub(crate) fn of_files(files: &[String], defines: &[String]) -> Result<Program, Failure> {
    let sources = files.iter().map(|file| read(file)).collect::<Result<Vec<_>, _>>()?;
    let program = compile(sources, defines, None)?;
    let mistakes: Vec<String> = program
        .types
        .iter()
        .flat_map(|kind| declared::mistakes(&kind.script))
        .map(|mistake| mistake.to_string())
        .collect();
    // What was meant to be checked and is not would pass for checked.
    if mistakes.is_empty() { Ok(program) } else { Err(Failure::usage(mistakes.join("\n"))) }
}

/// Whether one of pgbench's own is among `--script FILE[@WEIGHT]`.
pub(crate) fn has_builtin(files: &[String]) -> bool {
    files.iter().any(|file| file.starts_with(BUILTIN))
}

/// Sets `:scale`, unless a define has set it.
pub(crate) fn set_scale(program: &mut Program, scale: u64) {
    if let Some(slot) = program.names.lookup(SCALE.as_bytes())
        && !program.initial.is_set(slot)
    {
        program.initial.set_int(slot, scale.cast_signed());
    }
}

fn read(argument: &str) -> Result<Source, Failure> {
    let (name, weight) = split_weight(argument).map_err(Failure::usage)?;
    if let Some(builtin) = name.strip_prefix(BUILTIN) {
        let builtin = pgdyno_script::builtin::find(builtin).map_err(Failure::usage)?;
        let text = builtin.text.as_bytes().to_vec();
        return Ok(Source { name: builtin.description.to_owned(), text, weight });
    }
    let failed = |error: std::io::Error| {
        Failure::usage(format!("could not read script \"{name}\": {error}"))
    };
    let mut text = Vec::new();
    if name == "-" {
        std::io::stdin()
            .lock()
            .take(SCRIPT_BYTES_MAX + 1)
            .read_to_end(&mut text)
            .map_err(failed)?;
    } else {
        let file = std::fs::File::open(name).map_err(failed)?;
        file.take(SCRIPT_BYTES_MAX + 1).read_to_end(&mut text).map_err(failed)?;
    }
    if text.len() as u64 > SCRIPT_BYTES_MAX {
        return Err(Failure::usage(format!("script \"{name}\" is larger than 64 MiB")));
    }
    Ok(Source { name: name.to_owned(), text, weight })
}

fn compile(
    sources: Vec<Source>,
    defines: &[String],
    scale: Option<u64>,
) -> Result<Program, Failure> {
    let mut names = Names::new();
    let mut types = Vec::with_capacity(sources.len());
    for source in sources {
        let script =
            Script::parse(&source.name, &source.text, &mut names).map_err(Failure::usage)?;
        script.check_params().map_err(Failure::usage)?;
        types.push(TransactionType { script, weight: source.weight });
    }
    let mut pairs = Vec::with_capacity(defines.len());
    for define in defines {
        pairs.push(parse_define(define).map_err(Failure::usage)?);
    }
    let slots: Vec<_> = pairs.iter().map(|(name, _)| names.intern(name.as_bytes())).collect();
    let mut initial = Vars::new(&names);
    for (slot, (_, value)) in slots.iter().zip(&pairs) {
        initial.set_text(*slot, value.as_bytes());
    }
    let mut program = Program { types, names, initial };
    if let Some(scale) = scale {
        set_scale(&mut program, scale);
    }
    Ok(program)
}

/// The scripts for the record.
pub(crate) fn script_infos(program: &Program) -> Vec<ScriptInfo> {
    let info = |kind: &TransactionType| ScriptInfo {
        name: kind.script.name.clone(),
        weight: u64::from(kind.weight),
        text: String::from_utf8_lossy(&kind.script.source).into_owned(),
    };
    program.types.iter().map(info).collect()
}

/// The statements for the record, by their slots in the tallies.
pub(crate) fn statement_infos(program: &Program, slots: &[StatementSlot]) -> Vec<StatementInfo> {
    let independent: Vec<_> =
        program.types.iter().map(|kind| independent_draws(&kind.script, &program.names)).collect();
    let info = |slot: &StatementSlot| {
        let command = program.types.get(slot.script)?.script.commands.get(slot.command)?;
        let sql = command.kind.sql();
        let kind = sql.and_then(|sql| sql.kinds.get(slot.part).copied());
        let found = independent.get(slot.script).into_iter().flatten();
        let mut found = found.filter(|one| (one.command, one.part) == (slot.command, slot.part));
        Some(StatementInfo {
            script: slot.script as u32,
            command: slot.command as u32,
            text: match sql {
                Some(sql) if sql.is_combined() => sql.label_of(slot.part),
                _ => command.label.clone(),
            },
            kind: kind.map_or(StatementKind::Meta, statement_kind),
            // A CTE's writes are not in the command tag.
            writes: kind.is_some_and(|k| k.writes() && k != SqlKind::WithWrites),
            rows_expected: sql.and_then(|sql| sql.rows_declared_of(slot.part)),
            writes_hidden: sql
                .is_some_and(|sql| sql.hides_writes.get(slot.part).copied().unwrap_or(false)),
            independent: found.next().map(|one| one.variables.clone()).unwrap_or_default(),
        })
    };
    slots.iter().filter_map(info).collect()
}

fn statement_kind(kind: SqlKind) -> StatementKind {
    match kind {
        SqlKind::Select | SqlKind::WithWrites => StatementKind::Select,
        SqlKind::Insert => StatementKind::Insert,
        SqlKind::Update => StatementKind::Update,
        SqlKind::Delete => StatementKind::Delete,
        SqlKind::Merge => StatementKind::Merge,
        SqlKind::Begin => StatementKind::Begin,
        SqlKind::Commit => StatementKind::Commit,
        SqlKind::Rollback => StatementKind::Rollback,
        SqlKind::Copy | SqlKind::Call | SqlKind::Empty | SqlKind::Other => StatementKind::Other,
    }
}
