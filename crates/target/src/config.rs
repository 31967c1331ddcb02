//! `pgdyno.toml`: named targets.

use std::fmt;
use std::path::PathBuf;

/// Something in the configuration that a person should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// A password stands in plain text in a file that others may read.
    ReadablePassword {
        /// The file.
        file: PathBuf,
        /// The target's name.
        target: String,
        /// The file's permission bits.
        mode: u32,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::ReadablePassword { file, target, mode } = self;
        write!(
            f,
            "{}: the password of target \"{target}\" stands in plain text in a file that others \
             may read (mode {mode:04o}); say chmod 600, or use \"${{VARIABLE}}\"",
            file.display()
        )
    }
}
