//! A client's variables: one slot for each name, no allocation to set a number.

use crate::error::RunError;
use crate::names::{Names, Slot, is_valid_name};
use crate::text::{TextKind, classify};
use crate::value::Value;

#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    Unset,
    /// Only the text counts; no expression has read it yet.
    Text,
    /// The text counts in SQL, the value in expressions.
    TypedText(Value),
    /// A computed value; the text is a left-over buffer.
    Computed(Value),
}

#[derive(Debug, Clone)]
struct Variable {
    state: State,
    text: Vec<u8>,
}

/// The variables of one client.
#[derive(Debug, Clone)]
pub struct Vars {
    slots: Vec<Variable>,
}

impl Vars {
    /// All names of the table, none defined.
    #[must_use]
    pub fn new(names: &Names) -> Self {
        let unset = Variable { state: State::Unset, text: Vec::new() };
        Self { slots: vec![unset; names.len()] }
    }

    /// Sets a computed value. Allocates nothing.
    pub fn set(&mut self, slot: Slot, value: Value) {
        if let Some(variable) = self.slots.get_mut(slot.index()) {
            variable.state = State::Computed(value);
        }
    }

    /// Sets an integer. Allocates nothing.
    pub fn set_int(&mut self, slot: Slot, value: i64) {
        self.set(slot, Value::Int(value));
    }

    /// Sets a text, as `-D`, `\gset` and `\aset` do; it is typed when an
    /// expression first reads it. The slot's buffer is reused.
    pub fn set_text(&mut self, slot: Slot, text: &[u8]) {
        if let Some(variable) = self.slots.get_mut(slot.index()) {
            variable.state = State::Text;
            variable.text.clear();
            variable.text.extend_from_slice(text);
        }
    }

    /// Stores one column of a result for `\gset` or `\aset`: `name` is the
    /// prefix with the column's name, `text` is `None` for NULL (kept as the
    /// empty text). A good name that no script reads is not kept.
    ///
    /// # Errors
    /// `gset: invalid variable name: "X"`; `context` is what it begins with, `gset` or `aset`.
    pub fn store_column(
        &mut self,
        names: &Names,
        context: &'static str,
        name: &[u8],
        text: Option<&[u8]>,
    ) -> Result<(), RunError> {
        match names.lookup(name) {
            Some(slot) if is_valid_name(name) => {
                self.set_text(slot, text.unwrap_or_default());
                Ok(())
            }
            None if is_valid_name(name) => Ok(()),
            _ => Err(RunError::InvalidName {
                context,
                name: String::from_utf8_lossy(name).into_owned(),
            }),
        }
    }

    /// Makes it undefined again.
    pub fn unset(&mut self, slot: Slot) {
        if let Some(variable) = self.slots.get_mut(slot.index()) {
            variable.state = State::Unset;
        }
    }

    /// Whether it has a value.
    #[must_use]
    pub fn is_set(&self, slot: Slot) -> bool {
        self.slots.get(slot.index()).is_some_and(|variable| variable.state != State::Unset)
    }

    /// The value if it needs no typing: computed, or read before.
    #[inline]
    #[must_use]
    pub fn peek(&self, slot: Slot) -> Option<Value> {
        match self.slots.get(slot.index())?.state {
            State::Computed(value) | State::TypedText(value) => Some(value),
            State::Unset | State::Text => None,
        }
    }

    /// The value for an expression. A text gets its type here, once.
    ///
    /// # Errors
    /// Undefined, empty, malformed or out of range.
    #[inline]
    pub fn value(&mut self, slot: Slot, names: &Names) -> Result<Value, RunError> {
        match self.peek(slot) {
            Some(value) => Ok(value),
            None => self.typed(slot, names),
        }
    }

    #[cold]
    fn typed(&mut self, slot: Slot, names: &Names) -> Result<Value, RunError> {
        let undefined = || RunError::UndefinedVariable { name: names.text(slot) };
        let variable = self.slots.get_mut(slot.index()).ok_or_else(undefined)?;
        if variable.state == State::Unset {
            return Err(undefined());
        }
        let text = || String::from_utf8_lossy(&variable.text).into_owned();
        let value = match classify(&variable.text) {
            TextKind::Value(value) => value,
            TextKind::Empty => return Err(RunError::EmptyVariable),
            TextKind::IntOutOfRange => return Err(RunError::BigintRange { text: text() }),
            TextKind::IntWithoutDigits => return Err(RunError::BigintSyntax { text: text() }),
            TextKind::Malformed => {
                return Err(RunError::MalformedVariable { name: names.text(slot), text: text() });
            }
        };
        variable.state = State::TypedText(value);
        Ok(value)
    }

    /// Appends the text form; false (and nothing written) if it is undefined.
    #[inline]
    pub fn write_text(&self, slot: Slot, out: &mut Vec<u8>) -> bool {
        let Some(variable) = self.slots.get(slot.index()) else { return false };
        match variable.state {
            State::Unset => return false,
            State::Text | State::TypedText(_) => out.extend_from_slice(&variable.text),
            State::Computed(value) => value.write_text(out),
        }
        true
    }

    /// The text form, if it is defined. Allocates: not for the request path.
    #[must_use]
    pub fn text(&self, slot: Slot) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        self.write_text(slot, &mut out).then_some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A computed value shows as its text form, a given text as it is, until either is set anew.
    #[test]
    fn set_and_read() {
        let mut names = Names::new();
        let slot = names.intern(b"a");
        let mut vars = Vars::new(&names);
        assert!(!vars.is_set(slot));
        assert_eq!(vars.text(slot), None);
        let error = vars.value(slot, &names).expect_err("undefined");
        assert_eq!(error.to_string(), "undefined variable \"a\"");
        vars.set_text(slot, b" 007");
        assert_eq!(vars.value(slot, &names), Ok(Value::Int(7)));
        assert_eq!(vars.text(slot).as_deref(), Some(&b" 007"[..]));
        vars.set(slot, Value::Double(0.1));
        assert_eq!(vars.value(slot, &names), Ok(Value::Double(0.1)));
        assert_eq!(vars.text(slot).as_deref(), Some(&b"0.1"[..]));
        vars.set(slot, Value::Null);
        assert_eq!(vars.text(slot).as_deref(), Some(&b"NULL"[..]));
        vars.unset(slot);
        assert!(!vars.is_set(slot));
    }

    /// A column is stored where a script reads it; a bad name is refused even where none does.
    #[test]
    fn columns() {
        let mut names = Names::new();
        let slot = names.intern(b"p_a");
        names.intern(b"1");
        let mut vars = Vars::new(&names);
        assert_eq!(vars.store_column(&names, "gset", b"p_a", Some(b"x")), Ok(()));
        assert_eq!(vars.text(slot).as_deref(), Some(&b"x"[..]));
        assert_eq!(vars.store_column(&names, "gset", b"p_a", None), Ok(()));
        assert_eq!(vars.text(slot).as_deref(), Some(&b""[..]));
        assert_eq!(vars.store_column(&names, "gset", b"other", Some(b"x")), Ok(()));
        for bad in ["?column?", "1", ""] {
            let error = vars.store_column(&names, "aset", bad.as_bytes(), None).expect_err(bad);
            assert_eq!(error.to_string(), format!("aset: invalid variable name: \"{bad}\""));
        }
    }
}
