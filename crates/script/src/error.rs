//! Errors whose text is pgbench's, without the program's name before it.

use std::fmt;

use crate::number::fixed6;

/// An error in the text of a script.
///
/// `Display` gives the whole: the line `SCRIPT:LINE: …`, and where known the
/// text of the command and the line with the caret, separated by newlines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// File name or description of the script.
    pub script: String,
    /// From 1.
    pub line: u32,
    /// What is wrong.
    pub message: String,
    /// What it is about; shown in parentheses.
    pub more: Option<String>,
    /// The meta command as it was typed, without backslash.
    pub command: Option<String>,
    /// The text of the meta command from its backslash.
    pub text: Option<String>,
    /// Offset of the caret into `text`, from 0.
    pub column: Option<usize>,
}

impl ParseError {
    /// The first line, to be printed after the program's prefix.
    #[must_use]
    pub fn headline(&self) -> String {
        let mut line = format!("{}:{}: {}", self.script, self.line, self.message);
        if let Some(more) = &self.more {
            line.push_str(&format!(" ({more})"));
        }
        if let (Some(column), None) = (self.column, &self.text) {
            line.push_str(&format!(" at column {}", column + 1));
        }
        if let Some(command) = &self.command {
            line.push_str(&format!(" in command \"{command}\""));
        }
        line
    }

    /// The lines that follow without a prefix: the command's text and the caret.
    #[must_use]
    pub fn excerpt(&self) -> Option<String> {
        let text = self.text.as_ref()?;
        Some(match self.column {
            Some(column) => format!("{text}\n{:>width$} error found here", '^', width = column + 1),
            None => text.clone(),
        })
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.headline())?;
        if let Some(excerpt) = self.excerpt() {
            write!(f, "\n{excerpt}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ParseError {}

/// Why a script, a weight, a definition or a seed is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    /// A fault in the text.
    #[error(transparent)]
    Parse(#[from] Box<ParseError>),
    /// Nothing but comments and blanks.
    #[error("empty command list for script \"{script}\"")]
    Empty {
        /// File name or description.
        script: String,
    },
    /// Conditionals do not nest.
    #[error("condition error in script \"{script}\" command {command}: {what}")]
    Condition {
        /// File name or description.
        script: String,
        /// From 1; one past the last if something is left open.
        command: usize,
        /// pgbench's words.
        what: &'static str,
    },
    /// More than [`crate::sql::PARAMS_MAX`] variables in one statement (extended and prepared).
    #[error("statement has too many arguments (maximum is 255): {sql}")]
    TooManyArguments {
        /// The statement.
        sql: String,
    },
    /// Text after the last `@` is not a number; `text` includes the `@`.
    #[error("invalid weight specification: {text}")]
    WeightSyntax {
        /// From the `@`.
        text: String,
    },
    /// A weight out of range.
    #[error("weight specification out of range (0 .. 2147483647): {weight}")]
    WeightRange {
        /// As read.
        weight: i64,
    },
    /// All weights are zero.
    #[error("total script weight must not be zero")]
    ZeroWeight,
    /// More scripts than are allowed.
    #[error("at most 128 SQL scripts are allowed")]
    TooManyScripts,
    /// No built-in script begins so.
    #[error("no builtin script found for name \"{name}\"")]
    UnknownBuiltin {
        /// As given.
        name: String,
    },
    /// Several built-in scripts begin so.
    #[error("ambiguous builtin name: {count} builtin scripts found for prefix \"{name}\"")]
    AmbiguousBuiltin {
        /// As given.
        name: String,
        /// How many.
        count: usize,
    },
    /// `-D` without name, `=` or value.
    #[error("invalid variable definition: \"{text}\"")]
    Definition {
        /// As given.
        text: String,
    },
    /// A bad name in `-D`.
    #[error("option: invalid variable name: \"{name}\"")]
    DefinitionName {
        /// As given.
        name: String,
    },
    /// A seed that is none.
    #[error("unrecognized random seed option \"{text}\"")]
    Seed {
        /// As given.
        text: String,
    },
    /// The system's random bits are not to be had.
    #[error("could not generate random seed")]
    NoEntropy,
}

/// What can go wrong while a meta command runs.
///
/// `Display` is the specific message that comes before `client C aborted in
/// command N (NAME) of script S; WHAT`. It is empty for
/// [`RunError::EmptyVariable`], where pgbench prints no such line.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[allow(missing_docs)] // the texts say it
pub enum RunError {
    #[error("undefined variable \"{name}\"")]
    UndefinedVariable { name: String },
    #[error("")]
    EmptyVariable,
    #[error("malformed variable \"{name}\" value: \"{text}\"")]
    MalformedVariable { name: String, text: String },
    #[error("value \"{text}\" is out of range for type bigint")]
    BigintRange { text: String },
    #[error("invalid input syntax for type bigint: \"{text}\"")]
    BigintSyntax { text: String },
    #[error("cannot coerce {from} to {to}")]
    Coerce { from: &'static str, to: &'static str },
    #[error("double to int overflow for {}", fixed6(*value))]
    DoubleToInt { value: f64 },
    #[error("bigint {operation} out of range")]
    IntOverflow { operation: &'static str },
    #[error("division by zero")]
    DivisionByZero,
    #[error("too many function arguments, maximum is 16")]
    TooManyArguments,
    #[error("empty range given to random")]
    EmptyRange,
    #[error("random range is too large")]
    RangeTooLarge,
    #[error("gaussian parameter must be at least 2.000000 (not {})", fixed6(*param))]
    GaussianParam { param: f64 },
    #[error("exponential parameter must be greater than zero (not {})", fixed6(*param))]
    ExponentialParam { param: f64 },
    #[error("zipfian parameter must be in range [1.001, 1000] (not {})", fixed6(*param))]
    ZipfianParam { param: f64 },
    #[error("permute size parameter must be greater than zero")]
    PermuteSize,
    #[error("{context}: invalid variable name: \"{name}\"")]
    InvalidName { context: &'static str, name: String },
    #[error("{command}: undefined variable \"{name}\"")]
    CommandVariable { command: String, name: String },
    #[error("{command}: invalid sleep time \"{text}\" for variable \"{name}\"")]
    SleepTime { command: String, text: String, name: String },
    #[error("{command}: shell command is too long")]
    ShellTooLong { command: String },
    #[error("{command}: could not launch shell command")]
    ShellLaunch { command: String },
    #[error("{command}: could not read result of shell command")]
    ShellRead { command: String },
    #[error("{command}: shell command must return an integer (not \"{text}\")")]
    ShellResult { command: String, text: String },
}

impl RunError {
    /// The words after `of script S; ` in pgbench's closing message.
    #[must_use]
    pub fn closing_words(&self) -> &'static str {
        match self {
            Self::InvalidName { .. } => "assignment of meta-command failed",
            Self::CommandVariable { .. }
            | Self::SleepTime { .. }
            | Self::ShellTooLong { .. }
            | Self::ShellLaunch { .. }
            | Self::ShellRead { .. }
            | Self::ShellResult { .. } => "execution of meta-command failed",
            _ => "evaluation of meta-command failed",
        }
    }
}
