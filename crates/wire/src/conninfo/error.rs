//! What is wrong with a connection string, in libpq's words where it has any.
//!
//! A message never holds a secret: whoever builds one masks first, see
//! [`super::mask`].

/// What sort of fault it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnInfoErrorKind {
    /// The string cannot be read: a quote, a bracket, a percent sign.
    Syntax,
    /// No parameter has that name.
    UnknownOption,
    /// The parameter does not take that value.
    BadValue,
    /// Two parameters contradict each other.
    Conflict,
    /// libpq knows the parameter or value; this client cannot do it.
    Unsupported,
    /// The service or its file.
    Service,
    /// The operating system does not know who runs this.
    User,
}

/// Why no [`crate::options::Options`] came out.
///
/// `Display` prints the message alone, as libpq does; [`Self::hint`] is the way
/// out, for programs that show one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ConnInfoError {
    kind: ConnInfoErrorKind,
    message: String,
    hint: Option<String>,
}

impl ConnInfoError {
    pub(crate) fn new(kind: ConnInfoErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None }
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The sort of fault.
    #[must_use]
    pub fn kind(&self) -> ConnInfoErrorKind {
        self.kind
    }

    /// One sentence without a secret.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do about it, where there is something to say beyond the message.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}
