//! Compiled scripts: commands with their text, their place and what they need when run.

use crate::error::{RunError, ScriptError};
use crate::expr::Expr;
use crate::names::Slot;
use crate::number;
use crate::sql::Sql;
use crate::vars::Vars;

/// Most words of a meta command, its name included.
pub const WORDS_MAX: usize = 256;
/// Most characters of a shell command.
pub const SHELL_COMMAND_MAX: usize = 254;
/// Most bytes that are read of a `\setshell` command's first line.
pub const SHELL_RESULT_MAX: usize = 63;
/// A compiled script.
#[derive(Debug, Clone)]
pub struct Script {
    /// File name as given, or the description of a built-in script.
    pub name: String,
    /// Never empty.
    pub commands: Vec<Command>,
    /// The text that it was made from, up to its first NUL byte.
    pub source: Box<[u8]>,
}

/// One command of a script.
#[derive(Debug, Clone)]
pub struct Command {
    /// Line in the source of its first byte, from 1.
    pub line: u32,
    /// Bytes in the source: SQL from its first kept byte, a meta command from its backslash.
    pub span: std::ops::Range<usize>,
    /// What reports show: the first line of SQL (at most [`crate::sql::SQL_LABEL_MAX`]
    /// bytes, more only if a letter would be cut), the whole text of a meta command.
    pub label: String,
    /// Words of a meta command, its name as typed first; empty for SQL. `\set`
    /// keeps its name and the variable, `\if` its name only; `\sleep 2ms` has
    /// the unit once more as a word of its own. The debug messages show them.
    pub words: Vec<String>,
    /// What to do.
    pub kind: CommandKind,
}

/// What a command does.
#[derive(Debug, Clone)]
pub enum CommandKind {
    /// Send SQL.
    Sql(Box<Sql>),
    /// `\set`.
    Set {
        /// Where the value goes.
        target: Target,
        /// The expression.
        expr: Expr,
    },
    /// `\setshell`.
    SetShell {
        /// Where the number goes.
        target: Target,
        /// The command.
        shell: Shell,
    },
    /// `\shell`.
    Shell(Shell),
    /// `\sleep`.
    Sleep(Sleep),
    /// `\if`. False: go to command `otherwise` (an Elif is evaluated there, an
    /// Else or Endif is passed through).
    If {
        /// The condition.
        cond: Expr,
        /// Index of the matching Elif, Else or Endif.
        otherwise: usize,
    },
    /// `\elif`. Reached by a jump: evaluated as an If. Reached from the branch above it: go to `end`.
    Elif {
        /// The condition.
        cond: Expr,
        /// Index of the next Elif, Else or Endif of this conditional.
        otherwise: usize,
        /// Index of the Endif.
        end: usize,
    },
    /// `\else`. Reached by a jump: go on behind it. Reached from the branch above it: go to `end`.
    Else {
        /// Index of the Endif.
        end: usize,
    },
    /// `\endif`.
    Endif,
    /// `\startpipeline`.
    StartPipeline,
    /// `\syncpipeline`.
    SyncPipeline,
    /// `\endpipeline`.
    EndPipeline,
}

impl CommandKind {
    /// The name of the command as pgbench's messages have it: `SQL`, `set`, `shell`, ….
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Sql(_) => "SQL",
            Self::Set { .. } => "set",
            Self::SetShell { .. } => "setshell",
            Self::Shell(_) => "shell",
            Self::Sleep(_) => "sleep",
            Self::If { .. } => "if",
            Self::Elif { .. } => "elif",
            Self::Else { .. } => "else",
            Self::Endif => "endif",
            Self::StartPipeline => "startpipeline",
            Self::SyncPipeline => "syncpipeline",
            Self::EndPipeline => "endpipeline",
        }
    }

    /// The SQL, if it is that.
    #[must_use]
    pub fn sql(&self) -> Option<&Sql> {
        match self {
            Self::Sql(sql) => Some(sql),
            _ => None,
        }
    }
}

/// The variable that a meta command assigns. A bad name is an error only when run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A good name.
    Slot(Slot),
    /// A bad name.
    Invalid(String),
}

impl Target {
    /// The slot.
    ///
    /// # Errors
    /// `set: invalid variable name: "X"`, beginning with `context` (`set` or `setshell`).
    pub fn slot(&self, context: &'static str) -> Result<Slot, RunError> {
        match self {
            Self::Slot(slot) => Ok(*slot),
            Self::Invalid(name) => Err(RunError::InvalidName { context, name: name.clone() }),
        }
    }
}

/// `\sleep`: how long.
#[derive(Debug, Clone)]
pub struct Sleep {
    /// The command's name as typed, for messages.
    pub(crate) command: String,
    pub(crate) amount: Amount,
    /// Microseconds in its unit.
    pub(crate) unit_us: i32,
}

#[derive(Debug, Clone)]
pub(crate) enum Amount {
    Const(i32),
    Var { slot: Slot, name: String },
}

impl Sleep {
    /// How long, in us; computed in 32 bits as pgbench does, so that it may wrap. Not positive: no wait.
    ///
    /// # Errors
    /// Undefined variable, or one that does not begin with a digit.
    pub fn duration_us(&self, vars: &Vars) -> Result<i32, RunError> {
        let amount = match &self.amount {
            Amount::Const(amount) => *amount,
            Amount::Var { slot, name } => {
                let Some(text) = vars.text(*slot) else {
                    return Err(RunError::CommandVariable {
                        command: self.command.clone(),
                        name: name.clone(),
                    });
                };
                let amount = number::atoi(&text);
                if amount == 0 && !text.first().is_some_and(u8::is_ascii_digit) {
                    return Err(RunError::SleepTime {
                        command: self.command.clone(),
                        text: String::from_utf8_lossy(&text).into_owned(),
                        name: name.clone(),
                    });
                }
                amount
            }
        };
        Ok(amount.wrapping_mul(self.unit_us))
    }
}

/// A shell command whose words may be variables.
#[derive(Debug, Clone)]
pub struct Shell {
    pub(crate) words: Vec<ShellWord>,
}

#[derive(Debug, Clone)]
pub(crate) enum ShellWord {
    Text(Box<[u8]>),
    /// `name` is the name with its colon.
    Var {
        slot: Slot,
        name: String,
    },
}

impl Shell {
    /// The first word as written: what messages call the command.
    #[must_use]
    pub fn command(&self) -> String {
        match self.words.first() {
            Some(ShellWord::Text(text)) => String::from_utf8_lossy(text).into_owned(),
            Some(ShellWord::Var { name, .. }) => name.clone(),
            None => String::new(),
        }
    }

    /// The line for the system's shell.
    ///
    /// # Errors
    /// An undefined variable, or more than [`SHELL_COMMAND_MAX`] bytes.
    pub fn line(&self, vars: &Vars) -> Result<Vec<u8>, RunError> {
        let mut line = Vec::new();
        for (index, word) in self.words.iter().enumerate() {
            if index > 0 {
                line.push(b' ');
            }
            match word {
                ShellWord::Text(text) => line.extend_from_slice(text),
                ShellWord::Var { slot, name } => {
                    if !vars.write_text(*slot, &mut line) {
                        return Err(RunError::CommandVariable {
                            command: self.command(),
                            name: name.clone(),
                        });
                    }
                }
            }
            if line.len() > SHELL_COMMAND_MAX {
                return Err(RunError::ShellTooLong { command: self.command() });
            }
        }
        Ok(line)
    }

    /// The number in the output of a `\setshell` command; only its first line
    /// counts, and of that [`SHELL_RESULT_MAX`] bytes.
    ///
    /// # Errors
    /// No output, or not an integer.
    pub fn result(&self, output: &[u8]) -> Result<i32, RunError> {
        if output.is_empty() {
            return Err(RunError::ShellRead { command: self.command() });
        }
        let end = memchr::memchr(b'\n', output).map_or(output.len(), |at| at + 1);
        let line = &output[..end.min(SHELL_RESULT_MAX)];
        // What C sees of it ends at a NUL.
        let line = memchr::memchr(0, line).map_or(line, |at| &line[..at]);
        let (number, rest) = number::strtol(line);
        if line.is_empty() || !number::skip_blanks(rest).is_empty() {
            return Err(RunError::ShellResult {
                command: self.command(),
                text: String::from_utf8_lossy(line).into_owned(),
            });
        }
        Ok(number as i32)
    }
}

impl Script {
    /// For the extended protocol: no statement may have more variables than [`crate::sql::PARAMS_MAX`].
    ///
    /// # Errors
    /// The first statement that has.
    pub fn check_params(&self) -> Result<(), ScriptError> {
        for command in &self.commands {
            if let Some(sql) = command.kind.sql() {
                sql.check_params()?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Names;

    fn first(source: &str, names: &mut Names) -> CommandKind {
        let script = Script::parse("test", source.as_bytes(), names).expect(source);
        script.commands.into_iter().next().expect("one").kind
    }

    /// Durations are in us, by unit, and wrap at 32 bits as pgbench's do.
    #[test]
    fn sleeping() {
        for (source, duration) in [
            ("\\sleep 2", Ok(2_000_000)),
            ("\\sleep 2 MS", Ok(2000)),
            ("\\sleep 2us", Ok(2)),
            ("\\sleep +", Ok(0)),
            ("\\sleep -5 ms", Ok(-5000)),
            ("\\sleep 3000 s", Ok(-1_294_967_296)),
            ("\\sleep :good ms", Ok(12_000)),
            ("\\sleep :bad", Err("sleep: invalid sleep time \"x1\" for variable \"bad\"")),
            ("\\Sleep :none", Err("Sleep: undefined variable \"none\"")),
        ] {
            let mut names = Names::new();
            let CommandKind::Sleep(sleep) = first(source, &mut names) else { panic!("{source}") };
            let mut vars = Vars::new(&names);
            for (name, text) in [("good", "12.9"), ("bad", "x1")] {
                if let Some(slot) = names.lookup(name.as_bytes()) {
                    vars.set_text(slot, text.as_bytes());
                }
            }
            let got = sleep.duration_us(&vars).map_err(|error| error.to_string());
            assert_eq!(got, duration.map_err(str::to_owned), "{source}");
        }
    }

    /// Words are joined by blanks; variables are whole words behind one colon.
    #[test]
    fn shell_lines() {
        let mut names = Names::new();
        let source = "\\shell echo  :a ::a x:a \\\n end";
        let CommandKind::Shell(shell) = first(source, &mut names) else { panic!("shell") };
        let mut vars = Vars::new(&names);
        vars.set_int(names.lookup(b"a").expect("read"), 5);
        assert_eq!(shell.line(&vars).expect("short"), b"echo 5 :a x:a end");
        let word = "x".repeat(SHELL_COMMAND_MAX);
        for (source, good) in
            [(format!("\\shell {word}"), true), (format!("\\shell {word}x"), false)]
        {
            let CommandKind::Shell(shell) = first(&source, &mut names) else { panic!("shell") };
            assert_eq!(shell.line(&vars).is_ok(), good);
        }
    }

    /// The result of `\setshell` is an integer, cut to 32 bits, in the first line.
    #[test]
    fn shell_results() {
        let mut names = Names::new();
        let kind = first("\\setshell v cmd arg", &mut names);
        let CommandKind::SetShell { shell, .. } = kind else { panic!("setshell") };
        for (output, result) in [
            ("12\n", Ok(12)),
            (" -7 \nmore", Ok(-7)),
            ("4294967297", Ok(1)),
            ("\n", Ok(0)),
            ("", Err("cmd: could not read result of shell command")),
            ("x", Err("cmd: shell command must return an integer (not \"x\")")),
            ("1 2\n", Err("cmd: shell command must return an integer (not \"1 2\n\")")),
        ] {
            let got = shell.result(output.as_bytes()).map_err(|error| error.to_string());
            assert_eq!(got, result.map_err(str::to_owned), "{output:?}");
        }
    }

    /// What reports and messages need is kept: line, label, words.
    #[test]
    fn places_and_labels() {
        let source = "-- pgdyno: rows 1\n\\set a \\\n 1\n\n SELECT 1\n , 2; \\sleep 2ms\n";
        let script = Script::parse("test", source.as_bytes(), &mut Names::new()).expect("good");
        let kept: Vec<_> = script
            .commands
            .iter()
            .map(|command| (command.line, command.label.as_str(), command.words.join(" ")))
            .collect();
        assert_eq!(
            kept,
            [
                (2, "\\set a \\\n 1", "set a".to_owned()),
                (5, "SELECT 1", String::new()),
                (6, "\\sleep 2ms", "sleep 2ms ms".to_owned()),
            ]
        );
        assert_eq!(script.commands[1].kind.sql().expect("SQL").rows_declared, None);
    }
}
