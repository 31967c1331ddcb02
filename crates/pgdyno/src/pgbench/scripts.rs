//! The scripts of a command line, read and compiled as they come by.
//!
//! The language is the business of `pgdyno_script`; here are files, their
//! errors, and the order of everything.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;

use pgdyno_script::builtin::{self, Builtin};
use pgdyno_script::choice::{SCRIPTS_MAX, ScriptChoice, split_weight};
use pgdyno_script::{Names, Script, ScriptError};

use super::message::Fatal;

/// A script of the run.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Compiled.
    pub script: Script,
    /// Its share.
    pub weight: u32,
    /// One of pgbench's own, hence one that wants pgbench's tables.
    pub builtin: bool,
}

/// All scripts of a command line, in order, and the names of their variables.
#[derive(Debug, Clone, Default)]
pub struct Library {
    /// The scripts.
    pub entries: Vec<Entry>,
    /// Of all scripts.
    pub names: Names,
}

impl Library {
    /// Whether no script was given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether one of pgbench's own is among them.
    #[must_use]
    pub fn has_builtin(&self) -> bool {
        self.entries.iter().any(|entry| entry.builtin)
    }

    /// `-b NAME[@WEIGHT]`.
    ///
    /// # Errors
    /// A bad weight, no or several scripts of that name, one script too many.
    pub fn add_builtin_weighted(&mut self, argument: &str) -> Result<(), Fatal> {
        let (name, weight) = split_weight(argument).map_err(|error| fatal(&error))?;
        self.add_builtin(name, weight)
    }

    /// `-S`, `-N`, and the script that is run where none was given.
    ///
    /// # Errors
    /// As [`Library::add_builtin_weighted`].
    pub fn add_builtin(&mut self, name: &str, weight: u32) -> Result<(), Fatal> {
        let found = find(name)?;
        self.add(found.description, found.text.as_bytes(), weight, true)
    }

    /// `-f FILE[@WEIGHT]`; `-` is standard input.
    ///
    /// # Errors
    /// A bad weight, a file that cannot be read, an error in the script.
    pub fn add_file(&mut self, argument: &OsStr) -> Result<(), Fatal> {
        // Only what follows the last `@` must be text; the name may be any bytes.
        let bytes = argument.as_bytes();
        let at = bytes.iter().rposition(|byte| *byte == b'@').unwrap_or(bytes.len());
        let suffix = String::from_utf8_lossy(&bytes[at..]);
        let (_, weight) = split_weight(&suffix).map_err(|error| fatal(&error))?;
        let path = OsStr::from_bytes(&bytes[..at]);
        let text = read_script(path)?;
        self.add(&path.to_string_lossy(), &text, weight, false)
    }

    /// For the extended protocol: every statement's parameters fit.
    ///
    /// # Errors
    /// The first statement with too many.
    pub fn check_parameters(&self) -> Result<(), Fatal> {
        for entry in &self.entries {
            entry.script.check_params().map_err(|error| fatal(&error))?;
        }
        Ok(())
    }

    /// Some script can be chosen.
    ///
    /// # Errors
    /// All weights are zero.
    pub fn check_weights(&self) -> Result<(), Fatal> {
        let weights: Vec<u32> = self.entries.iter().map(|entry| entry.weight).collect();
        ScriptChoice::new(&weights).map(|_| ()).map_err(|error| fatal(&error))
    }

    fn add(&mut self, name: &str, text: &[u8], weight: u32, builtin: bool) -> Result<(), Fatal> {
        let script = Script::parse(name, text, &mut self.names).map_err(|error| fatal(&error))?;
        // After the parsing: of the script that is one too many, an error in it is told first.
        if self.entries.len() >= SCRIPTS_MAX {
            return Err(fatal(&ScriptError::TooManyScripts));
        }
        self.entries.push(Entry { script, weight, builtin });
        Ok(())
    }
}

/// `-b list`: the list, and a quiet end.
#[must_use]
pub fn list() -> Fatal {
    Fatal::quiet(0).with_bare(builtin::list_text())
}

/// `--show-script NAME`: the script, and a quiet end.
///
/// # Errors
/// No or several scripts of that name.
pub fn show(name: &str) -> Result<Fatal, Fatal> {
    Ok(Fatal::quiet(0).with_bare(find(name)?.show_text()))
}

fn find(name: &str) -> Result<&'static Builtin, Fatal> {
    builtin::find(name).map_err(|error| fatal(&error).with_bare(builtin::list_text()))
}

/// An error of the script language: its line with the prefix, an excerpt without.
pub fn fatal(error: &ScriptError) -> Fatal {
    match error {
        ScriptError::Parse(error) => {
            let fatal = Fatal::new(error.headline());
            match error.excerpt() {
                Some(excerpt) => fatal.with_bare(format!("{excerpt}\n")),
                None => fatal,
            }
        }
        other => Fatal::new(other.to_string()),
    }
}

fn read_script(path: &OsStr) -> Result<Vec<u8>, Fatal> {
    let mut text = Vec::new();
    let said = |verb: &str, error: &std::io::Error| {
        let name = path.to_string_lossy();
        Fatal::new(format!("could not {verb} file \"{name}\": {}", reason(error)))
    };
    if path == "-" {
        std::io::stdin().lock().read_to_end(&mut text).map_err(|error| said("read", &error))?;
        return Ok(text);
    }
    let mut file = File::open(path).map_err(|error| said("open", &error))?;
    file.read_to_end(&mut text).map_err(|error| said("read", &error))?;
    Ok(text)
}

/// The system's words alone, without the number that Rust adds.
pub(super) fn reason(error: &std::io::Error) -> String {
    match error.raw_os_error() {
        Some(code) => nix::errno::Errno::from_raw(code).desc().to_owned(),
        None => error.to_string(),
    }
}
