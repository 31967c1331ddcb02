//! A text that must never be shown: passwords, tokens, key passphrases.
//!
//! `Debug` prints a fixed mark and there is no `Display`, so a secret cannot
//! slip into a log, an error, a record or a panic message. The one way out is
//! [`Secret::reveal`], which reads as what it is at the place of use.

use std::fmt;

/// A secret text. Compare, clone and hand it on; it does not print.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The secret itself, for the one place that sends or hashes it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// True where nothing is in it; libpq treats an empty password as none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A secret stays out of everything that derives `Debug` around it.
    #[test]
    fn debug_hides_the_text() {
        let shown = format!("{:?}", Some(Secret::new("hunter2")));
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}
