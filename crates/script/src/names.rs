//! Variable names, interned into slots when scripts are compiled.
//!
//! One table serves all scripts of a run, `-D` definitions and the automatic
//! variables, so that a client's variables are one vector.

use std::collections::HashMap;

/// The place of a variable in [`crate::Vars`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(u32);

impl Slot {
    /// The index into the variables.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Number of the client, from 0.
pub const CLIENT_ID: &str = "client_id";
/// Scale factor.
pub const SCALE: &str = "scale";
/// The run's seed, as a signed integer.
pub const RANDOM_SEED: &str = "random_seed";
/// Seed of the hash functions and of `permute` where none is written.
pub const DEFAULT_SEED: &str = "default_seed";

/// All names that the scripts of a run know.
#[derive(Debug, Clone)]
pub struct Names {
    slots: HashMap<Box<[u8]>, Slot>,
    names: Vec<Box<[u8]>>,
}

impl Default for Names {
    fn default() -> Self {
        Self::new()
    }
}

impl Names {
    /// A table that has the automatic variables only.
    #[must_use]
    pub fn new() -> Self {
        let mut names = Self { slots: HashMap::new(), names: Vec::new() };
        for name in [CLIENT_ID, SCALE, RANDOM_SEED, DEFAULT_SEED] {
            names.intern(name.as_bytes());
        }
        names
    }

    /// The slot of `name`, made where it is new.
    ///
    /// Names that could never be assigned (`:1`) get a slot as well: reading
    /// one is the error of an undefined variable, not of a bad name.
    pub fn intern(&mut self, name: &[u8]) -> Slot {
        if let Some(&slot) = self.slots.get(name) {
            return slot;
        }
        // Four thousand million names would not fit into memory before they fail to fit here.
        let slot = Slot(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
        self.slots.insert(name.into(), slot);
        self.names.push(name.into());
        slot
    }

    /// The slot of a name that some script, definition or automatic variable uses.
    #[must_use]
    pub fn lookup(&self, name: &[u8]) -> Option<Slot> {
        self.slots.get(name).copied()
    }

    /// The name of a slot.
    #[must_use]
    pub fn name(&self, slot: Slot) -> &[u8] {
        self.names.get(slot.index()).map_or(b"", |name| name)
    }

    /// The name of a slot as text for messages.
    #[must_use]
    pub fn text(&self, slot: Slot) -> String {
        String::from_utf8_lossy(self.name(slot)).into_owned()
    }

    /// How many names there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Never true: the automatic variables are always there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// A byte that may begin a name: letter, underscore, anything beyond ASCII.
pub(crate) fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

/// A byte that may continue a name.
pub(crate) fn is_name_byte(byte: u8) -> bool {
    is_name_start(byte) || byte.is_ascii_digit()
}

/// Whether a variable of this name may be created.
#[must_use]
pub fn is_valid_name(name: &[u8]) -> bool {
    name.first().is_some_and(|&first| is_name_start(first))
        && name.iter().all(|&byte| is_name_byte(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name keeps its slot, and the automatic variables are there from the start.
    #[test]
    fn interning() {
        let mut names = Names::new();
        let slot = names.intern(b"aid");
        assert_eq!(names.intern(b"aid"), slot);
        assert_eq!(names.name(slot), b"aid");
        assert!(names.lookup(b"scale").is_some());
        assert!(names.lookup(b"bid").is_none());
        assert_eq!(names.len(), 5);
    }

    /// Names are letters, digits and underscores and do not begin with a digit.
    #[test]
    fn validity() {
        for good in ["a", "_", "a1", "Größe", "_1"] {
            assert!(is_valid_name(good.as_bytes()), "{good}");
        }
        for bad in ["", "1", "1a", "a b", "a-b", "a$", ":a"] {
            assert!(!is_valid_name(bad.as_bytes()), "{bad}");
        }
    }
}
