//! SCRAM-SHA-256 and -PLUS: RFC 5802, RFC 7677, RFC 5929 (channel binding).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::Mac;

use super::AuthError;
use super::cache::{Keys, SaltedKeyCache, hmac, keyed};
use crate::secret::Secret;

pub(super) const MECHANISM: &str = "SCRAM-SHA-256";
pub(super) const MECHANISM_PLUS: &str = "SCRAM-SHA-256-PLUS";

/// How many iterations a server may ask for. PostgreSQL's default is 4096, and
/// careful people use some 100,000; a million is about half a second of a core,
/// and beyond that a wrong server could keep the client busy at will.
const ITERATIONS_MAX: u32 = 1_000_000;

/// Random bytes in the nonce, as libpq's.
const NONCE_LEN: usize = 18;

/// One exchange, as the client.
#[derive(Debug)]
pub(super) struct Scram {
    /// The beginning of the first message, which says what is bound.
    gs2_header: &'static str,
    /// The bound data; empty without binding.
    binding: Vec<u8>,
    nonce: String,
    state: State,
}

#[derive(Debug)]
enum State {
    FirstSent,
    FinalSent { keys: Keys, auth_message: String },
    Done,
}

impl Scram {
    /// With channel binding.
    pub(super) fn bound(end_point: &[u8]) -> Result<Self, AuthError> {
        Self::new("p=tls-server-end-point,,", end_point)
    }

    /// The client could bind, but the server did not offer to. The server
    /// notices by this if somebody in between took its offer away.
    pub(super) fn unoffered() -> Result<Self, AuthError> {
        Self::new("y,,", &[])
    }

    /// The client cannot or shall not bind.
    pub(super) fn unbound() -> Result<Self, AuthError> {
        Self::new("n,,", &[])
    }

    fn new(gs2_header: &'static str, binding: &[u8]) -> Result<Self, AuthError> {
        let mut random = [0; NONCE_LEN];
        getrandom::fill(&mut random)
            .map_err(|error| AuthError::Refused(format!("could not generate nonce: {error}")))?;
        Ok(Self {
            gs2_header,
            binding: binding.to_vec(),
            nonce: STANDARD.encode(random),
            state: State::FirstSent,
        })
    }

    pub(super) const fn is_bound(&self) -> bool {
        !self.binding.is_empty()
    }

    pub(super) const fn mechanism(&self) -> &'static str {
        if self.is_bound() { MECHANISM_PLUS } else { MECHANISM }
    }

    /// The user's name stays empty: PostgreSQL takes it from the start-up.
    fn client_first_bare(&self) -> String {
        format!("n=,r={}", self.nonce)
    }

    pub(super) fn client_first(&self) -> String {
        format!("{}{}", self.gs2_header, self.client_first_bare())
    }

    /// Takes the server's first message, gives the client's final one.
    pub(super) fn server_first(
        &mut self,
        message: &[u8],
        password: &Secret,
        cache: &SaltedKeyCache,
    ) -> Result<String, AuthError> {
        let State::FirstSent = self.state else {
            return Err(AuthError::refused("server continued SCRAM at the wrong moment"));
        };
        let message = text(message)?;
        let (nonce, salt, iterations) = parse_server_first(message)?;
        if !nonce.starts_with(&self.nonce) || nonce.len() == self.nonce.len() {
            return Err(AuthError::refused("invalid SCRAM response (nonce mismatch)"));
        }
        let mut bound = self.gs2_header.as_bytes().to_vec();
        bound.extend_from_slice(&self.binding);
        let without_proof = format!("c={},r={nonce}", STANDARD.encode(bound));
        let auth_message = format!("{},{message},{without_proof}", self.client_first_bare());
        let keys = cache.keys(password, &salt, iterations);
        let mut proof = hmac(&keys.stored, auth_message.as_bytes());
        for (proof, key) in proof.iter_mut().zip(keys.client) {
            *proof ^= key;
        }
        self.state = State::FinalSent { keys, auth_message };
        Ok(format!("{without_proof},p={}", STANDARD.encode(proof)))
    }

    /// Checks that the server knows the password as well.
    pub(super) fn server_final(&mut self, message: &[u8]) -> Result<(), AuthError> {
        let State::FinalSent { keys, auth_message } = &self.state else {
            return Err(AuthError::refused("server ended SCRAM at the wrong moment"));
        };
        let message = text(message)?;
        if let Some(error) = message.strip_prefix("e=") {
            return Err(AuthError::Refused(format!(
                "error received from server in SCRAM exchange: {error}"
            )));
        }
        let signature = message
            .strip_prefix("v=")
            .and_then(|rest| STANDARD.decode(rest.split(',').next()?).ok())
            .ok_or_else(|| malformed("invalid server signature"))?;
        keyed(&keys.server)
            .chain_update(auth_message)
            .verify_slice(&signature)
            .map_err(|_| AuthError::refused("incorrect server signature"))?;
        self.state = State::Done;
        Ok(())
    }
}

fn malformed(what: &str) -> AuthError {
    AuthError::Refused(format!("malformed SCRAM message ({what})"))
}

fn text(message: &[u8]) -> Result<&str, AuthError> {
    std::str::from_utf8(message).map_err(|_| malformed("not text"))
}

/// `r=nonce,s=salt,i=iterations`, then extensions, which may be ignored.
fn parse_server_first(message: &str) -> Result<(&str, Vec<u8>, u32), AuthError> {
    let mut parts = message.split(',');
    let mut attribute = |name: &str| {
        parts
            .next()
            .and_then(|part| part.strip_prefix(name))
            .ok_or_else(|| malformed(&format!("attribute \"{name}\" expected")))
    };
    let nonce = attribute("r=")?;
    let salt = STANDARD.decode(attribute("s=")?).map_err(|_| malformed("invalid salt"))?;
    let iterations: u32 =
        attribute("i=")?.parse().map_err(|_| malformed("invalid iteration count"))?;
    if !(1..=ITERATIONS_MAX).contains(&iterations) {
        return Err(AuthError::Refused(format!(
            "the server asks for {iterations} SCRAM iterations; 1 to {ITERATIONS_MAX} are \
             accepted (see scram_iterations on the server)"
        )));
    }
    Ok((nonce, salt, iterations))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER_FIRST: &str = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
                                s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";

    /// An exchange with RFC 7677's nonce. The RFC's user name is not sent by
    /// PostgreSQL's clients, so the RFC's proof is checked apart, below.
    fn exchange() -> Scram {
        let mut scram = Scram::unbound().unwrap();
        scram.nonce = "rOprNGfwEbeRWgbNEkqO".into();
        scram
    }

    /// RFC 7677, section 3: proof and server signature of the published example.
    #[test]
    fn rfc_7677_vector() {
        let cache = SaltedKeyCache::default();
        let salt = STANDARD.decode("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap();
        let keys = cache.keys(&Secret::new("pencil"), &salt, 4096);
        let auth_message = format!(
            "n=user,r=rOprNGfwEbeRWgbNEkqO,{SERVER_FIRST},\
             c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
        );
        let mut proof = hmac(&keys.stored, auth_message.as_bytes());
        for (proof, key) in proof.iter_mut().zip(keys.client) {
            *proof ^= key;
        }
        assert_eq!(STANDARD.encode(proof), "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=");
        let mut scram = exchange();
        scram.state = State::FinalSent { keys, auth_message };
        let signature = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";
        scram.server_final(signature).unwrap();
    }

    /// A server without the password, or with another nonce, is found out.
    #[test]
    fn false_servers() {
        let cache = SaltedKeyCache::default();
        let secret = Secret::new("pencil");
        let mut scram = exchange();
        let answer = scram.server_first(SERVER_FIRST.as_bytes(), &secret, &cache).unwrap();
        assert!(answer.starts_with("c=biws,r=rOprNGfwEbeRWgbNEkqO%hv"), "{answer}");
        let error = scram.server_final(b"v=AAAA").unwrap_err();
        assert_eq!(error.to_string(), "incorrect server signature");
        for (message, words) in [
            ("r=other,s=W22Z,i=4096", "nonce mismatch"),
            ("r=rOprNGfwEbeRWgbNEkqO,s=W22Z,i=4096", "nonce mismatch"),
            ("r=rOprNGfwEbeRWgbNEkqOx,s=W22Z,i=0", "0 SCRAM iterations"),
            ("r=rOprNGfwEbeRWgbNEkqOx,s=W22Z,i=1000001", "1000001 SCRAM iterations"),
            ("r=rOprNGfwEbeRWgbNEkqOx,s=W22Z,i=x", "invalid iteration count"),
            ("r=rOprNGfwEbeRWgbNEkqOx,s=*,i=1", "invalid salt"),
            ("m=ext,r=rOprNGfwEbeRWgbNEkqOx,s=W22Z,i=1", "\"r=\" expected"),
            ("", "expected"),
        ] {
            let error = exchange().server_first(message.as_bytes(), &secret, &cache).unwrap_err();
            assert!(error.to_string().contains(words), "{message}: {error}");
        }
    }
}
