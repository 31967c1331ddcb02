//! Scripts whose every line on stderr was recorded from pgbench 18.6: parse
//! errors with their carets, errors while running, and what `debug()` printed.

use pgdyno_script::{Command, CommandKind, Env, Names, RunError, Script, Streams, Vars};

const SEED: u64 = 42;

/// What our side would print for a script, with pgbench's prefix.
fn run(source: &[u8]) -> Vec<String> {
    let mut names = Names::new();
    let script = match Script::parse("script", source, &mut names) {
        Ok(script) => script,
        Err(error) => return vec![format!("pgbench: error: {error}")],
    };
    let streams = Streams::new(SEED, 1, false);
    let mut vars = Vars::new(&names);
    let default_seed = streams.default_seed().expect("drawn");
    let automatic: [(&str, i64); 4] = [
        ("client_id", 0),
        ("scale", 1),
        ("random_seed", SEED as i64),
        ("default_seed", default_seed),
    ];
    for (name, value) in automatic {
        vars.set_int(names.lookup(name.as_bytes()).expect("automatic"), value);
    }
    let mut prng = streams.client(0);
    let mut said = Vec::new();
    let (mut at, mut jumped) = (0, false);
    while let Some(command) = script.commands.get(at) {
        let mut debug = |line: &str| said.push(line.to_owned());
        let mut env = Env {
            vars: &mut vars,
            prng: &mut prng,
            names: &names,
            script: 0,
            command: at,
            debug: &mut debug,
        };
        match step(command, at, jumped, &mut env) {
            Ok(next) => (at, jumped) = next,
            Err(error) => {
                let text = error.to_string();
                if !text.is_empty() {
                    said.push(format!("pgbench: error: {text}"));
                }
                let (name, words) = (command.kind.name(), error.closing_words());
                said.push(format!(
                    "pgbench: error: client 0 aborted in command {at} ({name}) of script 0; {words}"
                ));
                said.push(
                    "pgbench: error: Run was aborted; the above results are incomplete.".to_owned(),
                );
                break;
            }
        }
    }
    said
}

/// Runs a command; gives the next one and whether it is reached by a jump.
fn step(
    command: &Command,
    at: usize,
    jumped: bool,
    env: &mut Env<'_>,
) -> Result<(usize, bool), RunError> {
    match &command.kind {
        CommandKind::Set { target, expr } => {
            let value = expr.eval(env)?;
            env.vars.set(target.slot("set")?, value);
        }
        CommandKind::Elif { end, .. } | CommandKind::Else { end } if !jumped => {
            return Ok((*end, false));
        }
        CommandKind::If { cond, otherwise } | CommandKind::Elif { cond, otherwise, .. } => {
            let holds = cond.eval(env)?.is_true();
            return Ok(if holds { (at + 1, false) } else { (*otherwise, true) });
        }
        CommandKind::Sleep(sleep) => {
            sleep.duration_us(env.vars)?;
        }
        CommandKind::Shell(shell) => {
            shell.line(env.vars)?;
        }
        CommandKind::SetShell { target, shell } => {
            target.slot("setshell")?;
            shell.line(env.vars)?;
        }
        _ => {}
    }
    Ok((at + 1, false))
}

fn unescape(text: &str) -> Vec<u8> {
    let mut out = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('n') => out.push('\n'),
                Some('r') => out.push('\r'),
                Some(other) => out.push(other),
                None => {}
            },
            other => out.push(other),
        }
    }
    out.into_bytes()
}

/// Every recorded script gives the recorded lines.
#[test]
fn recorded_scripts() {
    let text = include_str!("recorded.txt");
    let mut checked = 0;
    for block in text.split("\n>>> ").skip(1) {
        let (script, said) = block.split_once('\n').unwrap_or((block, ""));
        let ours = run(&unescape(script)).join("\n");
        assert_eq!(ours.trim_end_matches('\n'), said.trim_end_matches('\n'), "{script}");
        checked += 1;
    }
    assert_eq!(checked, 212, "the file has changed");
}
