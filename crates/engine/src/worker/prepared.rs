//! Which statements a session has prepared.
//!
//! Looked at in each execution. Up to 64 statements, which are those of nearly
//! every run, need no memory beside the session's own.

/// Statements that are known without an allocation.
const FEW: usize = u64::BITS as usize;

/// A set of statements, by their numbers.
#[derive(Debug)]
pub(super) struct Prepared {
    few: u64,
    /// Those from [`FEW`] on.
    more: Box<[u64]>,
}

impl Prepared {
    /// None of so many.
    pub(super) fn none_of(statements: usize) -> Self {
        let more = statements.saturating_sub(FEW).div_ceil(FEW);
        Self { few: 0, more: vec![0; more].into() }
    }

    /// Adds a statement; true where it was not in the set. One beyond the
    /// number that the set was made for never is.
    #[inline]
    pub(super) fn insert(&mut self, number: usize) -> bool {
        let Some(word) = self.word(number) else { return true };
        let bit = 1 << (number % FEW);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Takes a statement out.
    pub(super) fn remove(&mut self, number: usize) {
        if let Some(word) = self.word(number) {
            *word &= !(1 << (number % FEW));
        }
    }

    /// Takes all out.
    pub(super) fn clear(&mut self) {
        self.few = 0;
        self.more.fill(0);
    }

    #[inline]
    fn word(&mut self, number: usize) -> Option<&mut u64> {
        if number < FEW { Some(&mut self.few) } else { self.more.get_mut(number / FEW - 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Few statements or many: each is new once, and again after it was removed.
    #[test]
    fn new_once() {
        for statements in [1, 63, 64, 65, 128, 129, 300] {
            let mut prepared = Prepared::none_of(statements);
            assert!((0..statements).all(|number| prepared.insert(number)), "{statements}");
            assert!((0..statements).all(|number| !prepared.insert(number)), "{statements}");
            prepared.remove(statements - 1);
            assert!(prepared.insert(statements - 1) && !prepared.insert(0));
            prepared.clear();
            assert!((0..statements).all(|number| prepared.insert(number)), "{statements}");
        }
    }
}
