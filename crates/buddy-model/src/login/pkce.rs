//! Random values of a login, and the proof that the code returns to the client that asked for it (RFC 7636).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

/// 256 random bits as text of 43 characters, as the RFC recommends for a verifier.
pub(super) fn random() -> SecretString {
    URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>()).into()
}

/// The challenge (S256) for a verifier.
pub(super) fn challenge(verifier: &SecretString) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.expose_secret()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_rfc() {
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk".into();
        assert_eq!(challenge(&verifier), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }

    #[test]
    fn random_values_differ_and_are_long_enough() {
        let (one, other) = (random(), random());
        assert_eq!(one.expose_secret().len(), 43);
        assert_ne!(one.expose_secret(), other.expose_secret());
    }
}
