//! What pgbench says on stderr: prefix, level, colours.
//!
//! Every diagnostic is `pgbench: LEVEL: TEXT`; stdout is flushed before it, so
//! that a terminal or a common file shows both streams in the order of events.
//! A message goes out in one write: threads do not tear each other's lines.
//!
//! What is said, and when, is decided elsewhere.

use std::ffi::OsStr;
use std::fmt;
use std::io::{IsTerminal, Write};
use std::os::unix::ffi::OsStrExt;

/// How a line is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// `error: `
    Error,
    /// `warning: `
    Warning,
    /// `detail: `, after another message.
    Detail,
    /// `hint: `, after another message.
    Hint,
    /// No word.
    Info,
}

/// A reason to end the program: lines, and the status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fatal {
    /// In order. Bare text (lists, carets) has no level and is written as it is.
    pub lines: Vec<(Option<Level>, String)>,
    /// The exit code.
    pub code: u8,
}

impl Fatal {
    /// An error with exit code 1.
    pub fn new(text: impl Into<String>) -> Self {
        Self { lines: vec![(Some(Level::Error), text.into())], code: 1 }
    }

    /// The end without an error and without a word.
    #[must_use]
    pub const fn quiet(code: u8) -> Self {
        Self { lines: Vec::new(), code }
    }

    /// Adds a line below.
    #[must_use]
    pub fn with(mut self, level: Level, text: impl Into<String>) -> Self {
        self.lines.push((Some(level), text.into()));
        self
    }

    /// Adds text without a prefix; it brings its own newline.
    #[must_use]
    pub fn with_bare(mut self, text: impl Into<String>) -> Self {
        self.lines.push((None, text.into()));
        self
    }
}

impl fmt::Display for Fatal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<&str> = self.lines.iter().map(|(_, text)| text.as_str()).collect();
        f.write_str(&texts.join("\n"))
    }
}

/// Colours as ANSI "select graphic rendition" parameters; `None` is no colour.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Colors {
    error: Option<String>,
    warning: Option<String>,
    note: Option<String>,
    locus: Option<String>,
}

impl Colors {
    /// From `PG_COLOR` and `PG_COLORS`, as all of PostgreSQL's programs read them.
    fn choose(when: Option<&str>, which: Option<&str>, terminal: bool) -> Self {
        let on = when == Some("always") || (when == Some("auto") && terminal);
        if !on {
            return Self::default();
        }
        let mut colors = Self::default();
        let default = "error=01;31:warning=01;35:note=01;36:locus=01";
        for token in which.unwrap_or(default).split(':') {
            let Some((name, value)) = token.split_once('=') else { continue };
            let slot = match name {
                "error" => &mut colors.error,
                "warning" => &mut colors.warning,
                "note" => &mut colors.note,
                "locus" => &mut colors.locus,
                _ => continue,
            };
            *slot = Some(value.to_owned());
        }
        colors
    }
}

/// Writes messages. One for the whole program; threads may share it.
#[derive(Debug, Clone)]
pub struct Messages {
    program: String,
    argv0: Vec<u8>,
    colors: Colors,
    debug: bool,
}

impl Messages {
    /// Named after `argv0`: its last component, as PostgreSQL's programs do.
    /// Colours come from the environment.
    #[must_use]
    pub fn from_argv0(argv0: &OsStr) -> Self {
        let bytes = argv0.as_bytes();
        let base = bytes.rsplit(|b| *b == b'/').next().unwrap_or(bytes);
        let var = |name| std::env::var(name).ok();
        let terminal = std::io::stderr().is_terminal();
        Self {
            program: String::from_utf8_lossy(base).into_owned(),
            argv0: bytes.to_vec(),
            colors: Colors::choose(
                var("PG_COLOR").as_deref(),
                var("PG_COLORS").as_deref(),
                terminal,
            ),
            debug: false,
        }
    }

    /// The program's name in messages and hints.
    #[must_use]
    pub fn program(&self) -> &str {
        &self.program
    }

    /// Shows debug messages from now on (`--debug`).
    pub const fn show_debug(&mut self) {
        self.debug = true;
    }

    /// True after [`Messages::show_debug`].
    #[must_use]
    pub const fn shows_debug(&self) -> bool {
        self.debug
    }

    /// Says one message. One newline at the end of the text is dropped, since
    /// the texts of libpq bring one.
    pub fn say(&self, level: Level, text: &str) {
        self.raw(&self.line(level, text));
    }

    /// Says `text` under `--debug` only; it is not even made otherwise.
    pub fn debug(&self, text: impl FnOnce() -> String) {
        if self.debug {
            self.say(Level::Info, &text());
        }
    }

    /// Says all lines of a reason to end.
    pub fn fatal(&self, fatal: &Fatal) {
        for (level, text) in &fatal.lines {
            match level {
                Some(level) => self.say(*level, text),
                None => self.raw(text.as_bytes()),
            }
        }
    }

    /// The complaint of the option scanner, which the C library begins with
    /// `argv[0]`, and the way out below it.
    pub fn usage_error(&self, complaint: &[u8]) {
        self.raw(&[self.argv0.as_slice(), b": ", complaint, b"\n"].concat());
        self.say(Level::Hint, &self.try_help());
    }

    /// `Try "pgbench --help" for more information.`
    #[must_use]
    pub fn try_help(&self) -> String {
        format!("Try \"{} --help\" for more information.", self.program)
    }

    /// Writes bytes to stderr as they are.
    pub fn raw(&self, bytes: &[u8]) {
        // Nobody can be told when stdout or stderr is closed; pgbench goes on as well.
        let _ = std::io::stdout().flush();
        let _ = std::io::stderr().lock().write_all(bytes);
    }

    fn line(&self, level: Level, text: &str) -> Vec<u8> {
        let (word, color) = match level {
            Level::Error => ("error: ", &self.colors.error),
            Level::Warning => ("warning: ", &self.colors.warning),
            Level::Detail => ("detail: ", &self.colors.note),
            Level::Hint => ("hint: ", &self.colors.note),
            Level::Info => ("", &None),
        };
        let mut line = String::new();
        paint(&mut line, self.colors.locus.as_deref(), &format!("{}: ", self.program));
        paint(&mut line, color.as_deref(), word);
        line.push_str(text.strip_suffix('\n').unwrap_or(text));
        line.push('\n');
        line.into_bytes()
    }
}

fn paint(line: &mut String, color: Option<&str>, text: &str) {
    match color {
        Some(color) => line.push_str(&format!("\x1b[{color}m{text}\x1b[0m")),
        None => line.push_str(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(when: Option<&str>, which: Option<&str>) -> Messages {
        Messages {
            program: "pgbench".into(),
            argv0: b"./pgbench".to_vec(),
            colors: Colors::choose(when, which, false),
            debug: false,
        }
    }

    fn shown(when: Option<&str>, which: Option<&str>, level: Level) -> String {
        String::from_utf8(messages(when, which).line(level, "text\n")).expect("text")
    }

    /// Without colours a message is prefix, level word and text, and info has no word.
    #[test]
    fn plain_lines() {
        assert_eq!(shown(None, None, Level::Error), "pgbench: error: text\n");
        assert_eq!(shown(None, None, Level::Info), "pgbench: text\n");
        assert_eq!(shown(Some("auto"), None, Level::Hint), "pgbench: hint: text\n");
        assert_eq!(shown(Some("bogus"), None, Level::Hint), "pgbench: hint: text\n");
    }

    /// PG_COLORS replaces the default colours as a whole, the empty text by nothing.
    #[test]
    fn coloured_lines() {
        assert_eq!(
            shown(Some("always"), None, Level::Error),
            "\x1b[01mpgbench: \x1b[0m\x1b[01;31merror: \x1b[0mtext\n"
        );
        assert_eq!(
            shown(Some("always"), None, Level::Detail),
            "\x1b[01mpgbench: \x1b[0m\x1b[01;36mdetail: \x1b[0mtext\n"
        );
        assert_eq!(
            shown(Some("always"), Some("foo=32:note=33"), Level::Detail),
            "pgbench: \x1b[33mdetail: \x1b[0mtext\n"
        );
        assert_eq!(
            shown(Some("always"), Some("error=:note"), Level::Error),
            "pgbench: \x1b[merror: \x1b[0mtext\n"
        );
        assert_eq!(shown(Some("always"), Some(""), Level::Error), "pgbench: error: text\n");
    }

    /// The program is named by the last component of `argv[0]`.
    #[test]
    fn program_name() {
        assert_eq!(Messages::from_argv0(OsStr::new("/usr/bin/pgbench")).program(), "pgbench");
        assert_eq!(Messages::from_argv0(OsStr::new("pgbench18")).program(), "pgbench18");
    }
}
