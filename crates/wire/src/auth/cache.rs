//! SCRAM's slow part, done once for all connections.
//!
//! The salted password costs thousands of hashes by design. It depends only on
//! password, salt and iteration count, which are the same for every connection
//! of a user; libpq computes it anew for each, and a load generator that does
//! so measures its own hashing.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use crate::secret::Secret;

/// How many (password, salt, iterations) are kept. One for each user and
/// server is needed; a server that invents a new salt each time must not fill
/// memory.
const ENTRIES_MAX: usize = 64;

/// What SCRAM signs with, derived from the salted password.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Keys {
    pub(super) client: [u8; 32],
    pub(super) stored: [u8; 32],
    pub(super) server: [u8; 32],
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys(…)")
    }
}

/// Shared by all connections, across threads. Holds derived keys under a hash
/// of what they were derived from, never a password.
#[derive(Debug, Default)]
pub struct SaltedKeyCache {
    entries: Mutex<HashMap<[u8; 32], Arc<OnceLock<Keys>>>>,
}

impl SaltedKeyCache {
    /// The keys; computed if they are not there yet. Threads that ask for the
    /// same keys meanwhile wait for the one that computes them; others do not.
    pub(super) fn keys(&self, password: &Secret, salt: &[u8], iterations: u32) -> Keys {
        let id = Sha256::new()
            .chain_update((salt.len() as u64).to_be_bytes())
            .chain_update(salt)
            .chain_update(iterations.to_be_bytes())
            .chain_update(password.reveal())
            .finalize()
            .into();
        let entry = {
            // The map is whole even if a thread died with the lock in hand.
            let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
            if entries.len() >= ENTRIES_MAX && !entries.contains_key(&id) {
                entries.clear();
            }
            Arc::clone(entries.entry(id).or_default())
        };
        entry.get_or_init(|| derive(password, salt, iterations)).clone()
    }

    /// How many keys are kept.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

/// RFC 5802, section 3: Hi(), then the keys below it.
fn derive(password: &Secret, salt: &[u8], iterations: u32) -> Keys {
    // libpq takes a password that SASLprep refuses as it is; so do we.
    let prepared = stringprep::saslprep(password.reveal())
        .unwrap_or(std::borrow::Cow::Borrowed(password.reveal()));
    let salted = salted_password(prepared.as_bytes(), salt, iterations);
    let client = hmac(&salted, b"Client Key");
    Keys { client, stored: Sha256::digest(client).into(), server: hmac(&salted, b"Server Key") }
}

/// HMAC-SHA-256. A key of any length is fine for HMAC.
pub(super) fn keyed(key: &[u8]) -> Hmac<Sha256> {
    match Hmac::new_from_slice(key) {
        Ok(hmac) => hmac,
        Err(_) => unreachable!("HMAC takes keys of any length"),
    }
}

pub(super) fn hmac(key: &[u8], data: &[u8]) -> [u8; 32] {
    keyed(key).chain_update(data).finalize().into_bytes().into()
}

/// PBKDF2 with HMAC-SHA-256 and one block. The keyed state is made once and
/// cloned for each round, which halves the hashing.
fn salted_password(password: &[u8], salt: &[u8], iterations: u32) -> [u8; 32] {
    let keyed = keyed(password);
    let first = keyed.clone().chain_update(salt).chain_update(1_u32.to_be_bytes());
    let mut round: [u8; 32] = first.finalize().into_bytes().into();
    let mut sum = round;
    for _ in 1..iterations {
        round = keyed.clone().chain_update(round).finalize().into_bytes().into();
        for (sum, byte) in sum.iter_mut().zip(round) {
            *sum ^= byte;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One computation serves all, and the cache stays bounded.
    #[test]
    fn shares_and_forgets() {
        let cache = SaltedKeyCache::default();
        let secret = Secret::new("pencil");
        let first = cache.keys(&secret, b"salt", 10);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assert!(cache.keys(&secret, b"salt", 10) == first));
            }
        });
        assert_eq!(cache.len(), 1);
        assert!(cache.keys(&secret, b"salt", 11) != first);
        for salt in 0..200_u32 {
            let _keys = cache.keys(&secret, &salt.to_be_bytes(), 1);
            assert!(cache.len() <= ENTRIES_MAX);
        }
    }

    /// PBKDF2 gives RFC 7914's published value (section 11).
    #[test]
    fn pbkdf2_vector() {
        let key = salted_password(b"passwd", b"salt", 1);
        assert_eq!(key[..8], [0x55, 0xac, 0x04, 0x6e, 0x56, 0xe3, 0x08, 0x9f]);
        let key = salted_password(b"Password", b"NaCl", 80_000);
        assert_eq!(key[..8], [0x4d, 0xdc, 0xd8, 0xf6, 0x0b, 0x98, 0xbe, 0x21]);
    }
}
