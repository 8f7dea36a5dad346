//! Data that a provider hides in its answers and wants back untouched: signed and encrypted reasoning.
//!
//! A seal is derived from a secret, a model and a text, so a server recognises its own without remembering
//! them, and so does a restarted server of the same script. It keeps honest clients honest; it is no
//! cryptography.

use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The seals of one deployment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seal(pub(super) String);

impl Default for Seal {
    fn default() -> Self {
        Self("scripted".to_owned())
    }
}

impl Seal {
    /// The signature under a text of this model.
    pub(super) fn sign(&self, model: &str, text: &str) -> String {
        let mut hasher = DefaultHasher::new();
        (&self.0, model, text).hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }

    /// A text of this model that only this deployment can read.
    pub(super) fn close(&self, model: &str, text: &str) -> String {
        let mut blob = String::from("sealed.");
        for byte in text.bytes() {
            // Writing to a string cannot fail.
            let _written = write!(blob, "{byte:02x}");
        }
        blob + "." + &self.sign(model, text)
    }

    /// The text in a blob, if this deployment sealed it for this model and it is unchanged.
    pub(super) fn open(&self, model: &str, blob: &str) -> Option<String> {
        let (digits, signature) = blob.strip_prefix("sealed.")?.split_once('.')?;
        let digits: Vec<u8> =
            digits.chars().map(|digit| digit.to_digit(16)?.try_into().ok()).collect::<Option<_>>()?;
        let bytes = digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte * 16 + digit));
        let text = String::from_utf8(bytes.collect()).ok()?;
        (self.sign(model, &text) == signature).then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_model_and_deployment_open_a_seal() {
        let seal = Seal::default();
        let blob = seal.close("m", "grün");
        assert_eq!(seal.open("m", &blob).as_deref(), Some("grün"));
        assert_eq!(seal.open("n", &blob), None);
        assert_eq!(Seal("another".to_owned()).open("m", &blob), None);
        assert_eq!(seal.open("m", &blob.replacen('6', "7", 1)), None);
        assert_eq!(seal.open("m", "gAAAA"), None);
    }
}
