//! The streams of a run: which generator gets which output of the base seed.
//!
//! The base generator is seeded with the run's seed. Its outputs seed, in this
//! order: one stream for each client; `default_seed` itself (not drawn where
//! the user defined it); three streams for each thread. So a client's stream
//! depends on its number alone. There is no jump function in that sequence: a
//! skip costs one step of the generator, about a nanosecond, for each stream
//! that is passed over.

use super::Prng;
use crate::error::ScriptError;
use crate::number;

/// The streams of a run.
#[derive(Debug, Clone, Copy)]
pub struct Streams {
    base: Prng,
    after_clients: Prng,
    default_seed: Option<i64>,
}

/// The three streams of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadStreams {
    /// Which script comes next.
    pub choice: Prng,
    /// Delays under a rate.
    pub throttle: Prng,
    /// Which transactions are logged.
    pub sampling: Prng,
}

impl Streams {
    /// The streams for `clients` clients. `default_seed_given`: the user
    /// defined that variable, so it is not drawn, and the threads' streams
    /// come one output earlier.
    #[must_use]
    pub fn new(seed: u64, clients: usize, default_seed_given: bool) -> Self {
        let base = Prng::new(seed);
        let mut after_clients = base;
        for _ in 0..clients {
            after_clients.next_u64();
        }
        let default_seed = (!default_seed_given).then(|| after_clients.next_u64() as i64);
        Self { base, after_clients, default_seed }
    }

    /// `default_seed`, unless the user defined it.
    #[must_use]
    pub fn default_seed(&self) -> Option<i64> {
        self.default_seed
    }

    /// The streams of clients 0, 1, …; endless, since each depends on its number alone.
    pub fn clients(&self) -> impl Iterator<Item = Prng> + use<> {
        ClientStreams { base: self.base }
    }

    /// The stream of one client. Costs one step of the generator for each client before it.
    #[must_use]
    pub fn client(&self, number: usize) -> Prng {
        let mut streams = ClientStreams { base: self.base };
        streams.skip_streams(number);
        streams.draw()
    }

    /// The streams of threads 0, 1, …; endless.
    pub fn threads(&self) -> impl Iterator<Item = ThreadStreams> + use<> {
        let mut streams = ClientStreams { base: self.after_clients };
        std::iter::repeat_with(move || ThreadStreams {
            choice: streams.draw(),
            throttle: streams.draw(),
            sampling: streams.draw(),
        })
    }
}

struct ClientStreams {
    base: Prng,
}

impl ClientStreams {
    fn draw(&mut self) -> Prng {
        Prng::new(self.base.next_u64())
    }

    fn skip_streams(&mut self, count: usize) {
        for _ in 0..count {
            self.base.next_u64();
        }
    }
}

impl Iterator for ClientStreams {
    type Item = Prng;

    fn next(&mut self) -> Option<Prng> {
        Some(self.draw())
    }

    // Passing over a stream must not seed it.
    fn nth(&mut self, count: usize) -> Option<Prng> {
        self.skip_streams(count);
        self.next()
    }
}

/// What `--random-seed` or `PGBENCH_RANDOM_SEED` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeedSource {
    /// `time`, or nothing said: the clock in us, which the caller reads.
    Time,
    /// `rand`: [`strong_seed`].
    Rand,
    /// A number.
    Number(u64),
}

/// Reads the text of a seed as C's `scanf` would read an unsigned number:
/// blanks and a sign may come first, a negative number wraps around, one that
/// is too large becomes the largest.
///
/// # Errors
/// Anything else, also trailing characters.
pub fn parse_seed(text: &str) -> Result<SeedSource, ScriptError> {
    match text {
        "time" => return Ok(SeedSource::Time),
        "rand" => return Ok(SeedSource::Rand),
        _ => {}
    }
    let refused = || ScriptError::Seed { text: text.to_owned() };
    let rest = number::skip_blanks(text.as_bytes());
    let (negative, digits) = match rest.split_first() {
        Some((b'-', digits)) => (true, digits),
        Some((b'+', digits)) => (false, digits),
        _ => (false, rest),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(refused());
    }
    let read = digits
        .iter()
        .try_fold(0_u64, |sum, digit| sum.checked_mul(10)?.checked_add(u64::from(digit - b'0')));
    Ok(SeedSource::Number(match read {
        None => u64::MAX,
        Some(number) if negative => number.wrapping_neg(),
        Some(number) => number,
    }))
}

/// A seed from the system's generator.
///
/// # Errors
/// The system has none.
pub fn strong_seed() -> Result<u64, ScriptError> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|_| ScriptError::NoEntropy)?;
    Ok(u64::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seeds are read as scanf reads them.
    #[test]
    fn seed_texts() {
        for (text, seed) in [
            ("0", 0),
            ("42", 42),
            (" 42", 42),
            ("+7", 7),
            ("-1", u64::MAX),
            ("-2", u64::MAX - 1),
            ("18446744073709551615", u64::MAX),
            ("18446744073709551616", u64::MAX),
            ("99999999999999999999999", u64::MAX),
        ] {
            assert_eq!(parse_seed(text), Ok(SeedSource::Number(seed)), "{text}");
        }
        assert_eq!(parse_seed("time"), Ok(SeedSource::Time));
        assert_eq!(parse_seed("rand"), Ok(SeedSource::Rand));
        for text in ["", "-", "42x", "42 ", "0x10", "TIME", "1.5"] {
            let error = parse_seed(text).expect_err(text);
            assert_eq!(error.to_string(), format!("unrecognized random seed option \"{text}\""));
        }
    }

    /// Skipping to a client's stream gives what walking there gives.
    #[test]
    fn skip_is_walk() {
        let streams = Streams::new(42, 100, false);
        for (number, stream) in streams.clients().take(100).enumerate() {
            assert_eq!(streams.client(number), stream);
            assert_eq!(streams.clients().nth(number), Some(stream));
        }
    }
}
