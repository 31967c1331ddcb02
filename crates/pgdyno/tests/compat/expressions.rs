//! Expressions generated at random, evaluated by both programs.
//!
//! A script of meta commands only gives every client some expressions of its
//! own. What `debug` prints and what fails is compared. An error ends a client,
//! so an expression that is expected to fail is the last of its client. One
//! that does not parse ends a program, so it gets a script of its own.
//!
//! `PGDYNO_COMPAT_SEED=N` repeats a run, `PGDYNO_COMPAT_EXPRESSIONS=N` makes it longer.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;
use std::process::Command;

use pgdyno_script::generate::{DEFINES, expression};
use pgdyno_script::{Env, Expr, Names, Prng, Vars};

use crate::server::Server;

/// Expressions that a run compares unless told otherwise.
const EXPRESSIONS: usize = 10_000;

/// Clients in one process. More make fewer processes, but one client costs
/// more than one process: the server starts a process for each.
const CLIENTS: usize = 50;

/// Expressions of one client, so that an error that was not expected hides few others.
const PER_CLIENT_MAX: usize = 20;

/// Differences that are shown.
const SHOWN_MAX: usize = 5;

/// The seed of the functions of hashing, for both programs.
const DEFAULT_SEED: i64 = 77;

/// Our own word for what will become of an expression. Only the distribution
/// to clients depends on it, no verdict.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Forecast {
    Refused,
    Fails,
    Succeeds,
}

/// A script and the expression of each of its commands.
#[derive(Default)]
struct Batch {
    script: String,
    expressions: Vec<Option<String>>,
    clients: usize,
}

/// What the programs said of one command, or of none.
type Said = (Option<usize>, String);

/// Compares what both programs make of the same expressions.
pub(crate) fn compare_generated(server: &Server, ours: &Path) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let seed = number("PGDYNO_COMPAT_SEED")
        .unwrap_or_else(|| RandomState::new().hash_one("expressions") >> 1);
    let wanted = number("PGDYNO_COMPAT_EXPRESSIONS").map_or(EXPRESSIONS, |count| count as usize);
    eprintln!("seed {seed}: PGDYNO_COMPAT_SEED={seed} repeats this run");
    let folder = tempfile::tempdir().expect("a folder");
    let mut generator = (0u64..).map(|index| {
        let text = defined_abs(&expression(seed.wrapping_add(index)));
        let forecast = forecast(&text, seed);
        (text, forecast)
    });
    let (mut compared, mut failed, mut refused) = (0, 0, 0);
    let mut differences = Vec::new();
    while compared < wanted && differences.len() < SHOWN_MAX {
        let mut batch = Batch::default();
        let mut alone = Vec::new();
        batch.fill(&mut generator, &mut alone);
        let batches = std::iter::once(batch).chain(alone.into_iter().map(Batch::of_one));
        for batch in batches {
            let want = batch.run(server, &server.pgbench(), folder.path(), seed);
            let got = batch.run(server, ours, folder.path(), seed);
            compared += batch.evaluated(&want);
            failed += want.iter().filter(|(at, text)| at.is_some() && is_failure(text)).count();
            refused += usize::from(batch.clients == 1);
            batch.differences(&want, &got, &mut differences);
        }
    }
    eprintln!("{compared} expressions, of these {failed} failed and {refused} did not parse");
    differences.truncate(SHOWN_MAX);
    assert!(differences.is_empty(), "seed {seed}\n{}", differences.join("\n"));
}

/// Makes the arguments of `abs` numbers. For a truth value pgbench's `abs` takes
/// whatever lies in memory for a double, so there is nothing to compare with.
fn defined_abs(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let Some(at) = lower.find("abs") else { return text.to_owned() };
    let (name, rest) = text.split_at(at + "abs".len());
    let blanks = rest.len() - rest.trim_start().len();
    let Some(arguments) = rest[blanks..].strip_prefix('(') else {
        return format!("{name}{}", defined_abs(rest));
    };
    let mut depth = 1;
    let end = arguments.find(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0
    });
    let (inner, rest) = arguments.split_at(end.unwrap_or(arguments.len()));
    format!(
        "{name}{}(0 + ({}){}",
        &text[at + 3..at + 3 + blanks],
        defined_abs(inner),
        defined_abs(rest)
    )
}

fn is_failure(text: &str) -> bool {
    text.contains("pgbench: error: ")
}

/// Evaluates an expression as a client would, with draws of another stream.
fn forecast(text: &str, seed: u64) -> Forecast {
    let mut names = Names::new();
    let Ok(expr) = Expr::parse(text, &mut names) else { return Forecast::Refused };
    let mut vars = Vars::new(&names);
    for (name, text) in DEFINES {
        if let Some(slot) = names.lookup(name.as_bytes()) {
            vars.set_text(slot, text.as_bytes());
        }
    }
    vars.set_int(names.lookup(b"default_seed").expect("automatic"), DEFAULT_SEED);
    let mut prng = Prng::new(seed);
    let mut env = Env {
        vars: &mut vars,
        prng: &mut prng,
        names: &names,
        script: 0,
        command: 0,
        debug: &mut |_| {},
    };
    if expr.eval(&mut env).is_ok() { Forecast::Succeeds } else { Forecast::Fails }
}

impl Batch {
    /// Gives every client its expressions; those that do not parse go `alone`.
    fn fill(
        &mut self,
        generator: &mut impl Iterator<Item = (String, Forecast)>,
        alone: &mut Vec<String>,
    ) {
        self.clients = CLIENTS;
        for client in 0..CLIENTS {
            let word = if client == 0 { "if" } else { "elif" };
            self.command(&format!("{word} :client_id = {client}"), None);
            let mut given = 0;
            while given < PER_CLIENT_MAX {
                let (text, forecast) = generator.next().expect("there is no end of them");
                if forecast == Forecast::Refused {
                    alone.push(text);
                    continue;
                }
                self.command(&format!("set x debug({text})"), Some(text));
                given += if forecast == Forecast::Fails { PER_CLIENT_MAX } else { 1 };
            }
        }
        self.command("endif", None);
    }

    fn of_one(text: String) -> Self {
        let mut batch = Self { clients: 1, ..Self::default() };
        batch.command(&format!("set x debug({text})"), Some(text));
        batch
    }

    fn command(&mut self, command: &str, expression: Option<String>) {
        let _ = writeln!(self.script, "\\{command}");
        self.expressions.push(expression);
    }

    /// Runs the script and sorts what was said by command, with the exit code at the end.
    fn run(&self, server: &Server, program: &Path, folder: &Path, seed: u64) -> Vec<Said> {
        std::fs::write(folder.join("batch.sql"), &self.script).expect("a script");
        let mut command = Command::new(program);
        if program != server.pgbench() {
            command.arg("pgbench");
        }
        let defines = DEFINES.iter().map(|(name, text)| format!("-D{name}={text}"));
        let output = command
            .args(["-n", "-t1", "-fbatch.sql", &format!("-c{}", self.clients)])
            .args([format!("--random-seed={seed}"), format!("-Ddefault_seed={DEFAULT_SEED}")])
            .args(defines)
            .current_dir(folder)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").as_deref().unwrap_or(OsStr::new("/usr/bin")))
            .env("PGDATABASE", "postgres")
            .envs(server.env().iter().map(|(name, value)| (name, value)))
            .output()
            .expect("the program runs");
        let mut said = by_command(&String::from_utf8_lossy(&output.stderr));
        let processed = String::from_utf8_lossy(&output.stdout)
            .lines()
            .filter(|line| line.starts_with("number of transactions actually processed"))
            .collect::<String>();
        said.push((None, format!("{:?} {processed}", output.status.code())));
        said
    }

    /// How many expressions the real program evaluated or refused.
    fn evaluated(&self, want: &[Said]) -> usize {
        if self.clients == 1 {
            return 1;
        }
        let mut commands: Vec<usize> = want.iter().filter_map(|(command, _)| *command).collect();
        commands.dedup();
        commands.len()
    }

    fn differences(&self, want: &[Said], got: &[Said], found: &mut Vec<String>) {
        if want == got {
            return;
        }
        let all = |said: &[Said], at| -> String {
            said.iter().filter(|(command, _)| *command == at).map(|(_, text)| &**text).collect()
        };
        let commands = (0..self.expressions.len()).map(Some).chain([None]);
        for at in commands.filter(|at| all(want, *at) != all(got, *at)) {
            let text = at.and_then(|at| self.expressions[at].as_deref()).unwrap_or(&self.script);
            // A whole script is of little help where single expressions differ.
            let text = if at.is_none() && text.len() > 2000 { "the whole script" } else { text };
            let (want, got) = (all(want, at), all(got, at));
            found.push(format!("=== {text}\n  pgbench:\n{want}\n  pgdyno:\n{got}"));
        }
    }
}

/// Cuts stderr at the lines that name their command, and sorts by command.
/// Clients run one after the other, so what precedes such a line belongs to it.
fn by_command(stderr: &str) -> Vec<Said> {
    let mut said = Vec::new();
    let mut pending = String::new();
    let number = |rest: &str| -> Option<usize> {
        rest.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse().ok())
    };
    for line in stderr.lines() {
        let _ = writeln!(pending, "    {line}");
        let after = |start: &str| line.split_once(start).and_then(|(_, rest)| number(rest));
        // `debug` counts the commands from 1, the messages of errors from 0.
        let counted = after("debug(script=0,command=").map(|command| command - 1);
        if let Some(command) = counted.or_else(|| after(" aborted in command ")) {
            said.push((Some(command), std::mem::take(&mut pending)));
        }
    }
    said.push((None, pending));
    said.sort_by_key(|(command, _)| command.unwrap_or(usize::MAX));
    said
}

#[cfg(test)]
mod tests {
    use super::defined_abs;

    /// Nothing but the arguments of `abs` is touched, at any depth.
    #[test]
    fn abs_takes_numbers() {
        let pairs = [
            ("least(1, 2) * :v_int", "least(1, 2) * :v_int"),
            ("ABS (TRUE and (1 < 2)) + 1", "ABS (0 + (TRUE and (1 < 2))) + 1"),
            ("abs(1 - abs(:v)) + abs(2)", "abs(0 + (1 - abs(0 + (:v)))) + abs(0 + (2))"),
        ];
        for (text, wanted) in pairs {
            assert_eq!(defined_abs(text), wanted);
        }
    }
}
