//! One transaction of each type as a client would send it, for statements that
//! are explained after a run. Only what can be known without a server: what
//! depends on an earlier result, or on a command of the shell, is left out.

use pgdyno_engine::plan::{Program, TransactionType};
use pgdyno_script::expr::{Env, Expr};
use pgdyno_script::names::{CLIENT_ID, DEFAULT_SEED, RANDOM_SEED};
use pgdyno_script::random::Prng;
use pgdyno_script::script::CommandKind;
use pgdyno_script::sql::Sql;
use pgdyno_script::{SqlKind, Value, Vars};
use pgdyno_target::statistics::Sample;

/// Commands that one sample executes at most; scripts have no loops, but a
/// jump is followed as it stands.
const COMMANDS_MAX: usize = 10_000;

/// The samples of all types that are ever chosen.
pub(crate) fn of_program(program: &Program, seed: u64) -> Vec<Sample> {
    let chosen = program.types.iter().filter(|kind| kind.weight > 0);
    chosen
        .map(|kind| of_type(program, kind, seed))
        .filter(|sample| !sample.statements.is_empty())
        .collect()
}

fn of_type(program: &Program, kind: &TransactionType, seed: u64) -> Sample {
    let mut walk = Walk { program, vars: vars(program, seed), random: Prng::new(seed) };
    let mut statements = Vec::new();
    let mut at = 0;
    for _ in 0..COMMANDS_MAX {
        let Some(command) = kind.script.commands.get(at) else { break };
        at = match &command.kind {
            CommandKind::Sql(sql) => {
                statements.extend(walk.text(sql).map(|text| (text, command.label.clone())));
                at + 1
            }
            CommandKind::Set { target, expr } => {
                if let (Ok(slot), Some(value)) = (target.slot("set"), walk.value(expr)) {
                    walk.vars.set(slot, value);
                }
                at + 1
            }
            CommandKind::If { cond, otherwise } => {
                if walk.is_true(cond) {
                    at + 1
                } else {
                    walk.branch(kind, *otherwise)
                }
            }
            CommandKind::Elif { end, .. } | CommandKind::Else { end } => end + 1,
            _ => at + 1,
        };
    }
    Sample { script: kind.script.name.clone(), statements }
}

/// What every client knows without being told.
fn vars(program: &Program, seed: u64) -> Vars {
    let mut vars = program.initial.clone();
    for (name, value) in [(CLIENT_ID, 0), (RANDOM_SEED, seed.cast_signed()), (DEFAULT_SEED, 0)] {
        if let Some(slot) = program.names.lookup(name.as_bytes())
            && !vars.is_set(slot)
        {
            vars.set_int(slot, value);
        }
    }
    vars
}

struct Walk<'a> {
    program: &'a Program,
    vars: Vars,
    random: Prng,
}

impl Walk<'_> {
    fn value(&mut self, expr: &Expr) -> Option<Value> {
        let mut env = Env {
            vars: &mut self.vars,
            prng: &mut self.random,
            names: &self.program.names,
            script: 0,
            command: 0,
            debug: &mut |_| {},
        };
        expr.eval(&mut env).ok()
    }

    fn is_true(&mut self, condition: &Expr) -> bool {
        self.value(condition).is_some_and(Value::is_true)
    }

    /// The first branch from `at` on that is taken.
    fn branch(&mut self, kind: &TransactionType, mut at: usize) -> usize {
        while let Some(command) = kind.script.commands.get(at) {
            match &command.kind {
                CommandKind::Elif { cond, otherwise, .. } if !self.is_true(cond) => at = *otherwise,
                _ => break,
            }
        }
        at + 1
    }

    /// The text of a statement that can be explained and whose variables are
    /// all known.
    fn text(&self, sql: &Sql) -> Option<String> {
        let [kind] = &*sql.kinds else { return None };
        let can_be_explained = matches!(
            kind,
            SqlKind::Select
                | SqlKind::WithWrites
                | SqlKind::Insert
                | SqlKind::Update
                | SqlKind::Delete
                | SqlKind::Merge
        );
        if !can_be_explained || !sql.params.iter().all(|slot| self.vars.is_set(*slot)) {
            return None;
        }
        let mut text = Vec::new();
        sql.write_simple(&self.vars, &mut text);
        let text = String::from_utf8(text).ok()?;
        Some(text.trim_end_matches(|c: char| c == ';' || c.is_whitespace()).to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program;

    fn samples(text: &str) -> Vec<(String, String)> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("s.sql");
        std::fs::write(&file, text).unwrap();
        let files = [file.display().to_string()];
        let program = program::of_files(&files, &["d=7".to_owned()]).unwrap_or_else(|_| panic!());
        of_program(&program, 1).into_iter().flat_map(|sample| sample.statements).collect()
    }

    /// Variables are filled in, branches are followed, and what cannot be
    /// explained or known is left out.
    #[test]
    fn one_transaction() {
        let text = "\\set a 5 + :d\nBEGIN;\nUPDATE t SET x = :a;\n\\if :a > 100\nSELECT 1;\n\
                    \\elif :a = 12\nSELECT 2;\n\\else\nSELECT 3;\n\\endif\n\
                    SELECT x FROM t \\gset\nSELECT :x;\nCOMMIT;\n";
        let texts: Vec<String> = samples(text).into_iter().map(|(text, _)| text).collect();
        assert_eq!(texts, ["UPDATE t SET x = 12", "SELECT 2", "SELECT x FROM t"]);
    }
}
