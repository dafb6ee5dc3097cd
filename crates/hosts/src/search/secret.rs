//! The secret of a search: what its processes know and nobody else does.
//!
//! In: random bytes of the launcher, or what the user gives every process. Out: tags over what two processes said to each other, so that each
//! knows that the other has the secret, without sending it.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// The variable that gives the secret to processes that are started by hand.
pub const VARIABLE: &str = "PIECEWISE_SECRET";

/// The shortest secret that a user may give.
const SHORTEST: usize = 8;

/// A secret. It is never shown.
#[derive(Clone)]
pub struct Secret(Vec<u8>);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret(…)")
    }
}

impl Secret {
    /// A secret that nobody can guess, in letters.
    ///
    /// # Errors
    /// Where the system has no random numbers.
    pub fn random() -> Result<String, String> {
        Ok(nonce()?.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The secret that a user gives.
    ///
    /// # Errors
    /// One that is too short.
    pub fn new(text: &str) -> Result<Self, String> {
        match text.len() >= SHORTEST {
            true => Ok(Secret(text.as_bytes().to_vec())),
            false => Err(format!("the secret in {VARIABLE} needs at least {SHORTEST} letters")),
        }
    }

    /// The tag of some parts, under this secret.
    pub fn tag(&self, parts: &[&[u8]]) -> [u8; 32] {
        self.mac(parts).finalize().into_bytes().into()
    }

    /// Whether a tag is the one of these parts; compares in the same time whatever differs.
    pub fn accepts(&self, parts: &[&[u8]], tag: &[u8; 32]) -> bool {
        self.mac(parts).verify_slice(tag).is_ok()
    }

    fn mac(&self, parts: &[&[u8]]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("a key of any length is one");
        for part in parts {
            // With their lengths, no two lists of parts are the same bytes.
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        mac
    }
}

/// Random bytes that are used once.
///
/// # Errors
/// Where the system has no random numbers.
pub fn nonce() -> Result<[u8; 32], String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| format!("the system has no random numbers: {error}"))?;
    Ok(bytes)
}

/// A fingerprint of some texts.
pub fn fingerprint(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_has_the_secret_makes_its_tags() {
        let (one, other) = (Secret::new("correct horse").unwrap(), Secret::new("battery staple").unwrap());
        let tag = one.tag(&[b"a", b"bc"]);
        assert!(one.accepts(&[b"a", b"bc"], &tag));
        assert!(!one.accepts(&[b"ab", b"c"], &tag), "parts are told apart");
        assert!(!other.accepts(&[b"a", b"bc"], &tag));
        assert!(Secret::new("short").unwrap_err().contains("at least 8"));
        assert_eq!(format!("{one:?}"), "Secret(…)");
        assert_ne!(Secret::random().unwrap(), Secret::random().unwrap());
        assert_ne!(fingerprint(&[b"ab"]), fingerprint(&[b"a", b"b"]));
    }
}
