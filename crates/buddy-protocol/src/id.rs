//! Ids: opaque, sortable by time of creation, distinguished by their prefix.
//!
//! The text is a prefix and 26 characters of Crockford's base 32 over 128 bits. The upper bits are the time,
//! so that the texts sort in order of creation. New ids come from an [`Ids`] value, never from thin air.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A source of fresh 128-bit numbers that grow with time (version 7 UUIDs in service, a counter in tests).
pub trait Ids: Send + Sync {
    /// The next number. Never repeats.
    fn next(&self) -> u128;
}

/// A text that is not an id of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {kind} id (`{prefix}` and 26 letters or digits)")]
pub struct BadId {
    /// The rejected text, cut to a length that is safe to show.
    pub text: String,
    kind: &'static str,
    prefix: &'static str,
}

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const DIGITS: usize = 26;
const SHOWN: usize = 60;

fn encode(prefix: &str, number: u128) -> String {
    let mut text = String::with_capacity(prefix.len() + DIGITS);
    text.push_str(prefix);
    for digit in (0..DIGITS).rev() {
        let index = usize::try_from((number >> (digit * 5)) & 31).unwrap_or(0);
        text.push(char::from(ALPHABET[index]));
    }
    text
}

fn is_valid(prefix: &str, text: &str) -> bool {
    text.strip_prefix(prefix)
        .is_some_and(|digits| digits.len() == DIGITS && digits.bytes().all(|byte| ALPHABET.contains(&byte)))
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident, $prefix:literal, $kind:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(try_from = "String")]
        pub struct $name(String);

        impl $name {
            /// A fresh id.
            pub fn new(ids: &dyn Ids) -> Self {
                Self::from_number(ids.next())
            }

            pub(crate) fn from_number(number: u128) -> Self {
                Self(encode($prefix, number))
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = BadId;

            fn from_str(text: &str) -> Result<Self, BadId> {
                Self::try_from(text.to_owned())
            }
        }

        impl TryFrom<String> for $name {
            type Error = BadId;

            fn try_from(text: String) -> Result<Self, BadId> {
                if is_valid($prefix, &text) {
                    return Ok(Self(text));
                }
                let text = text.chars().take(SHOWN).flat_map(char::escape_default).collect();
                Err(BadId { text, kind: $kind, prefix: $prefix })
            }
        }
    )*};
}

ids! {
    /// A session: one append-only log of facts.
    SessionId, "ses_", "a session";
    /// A turn: from a prompt to the end of the agent's answer to it.
    TurnId, "trn_", "a turn";
    /// An item: one message, reasoning, tool call or other content of a session.
    ItemId, "itm_", "an item";
    /// An ask: an approval or question that waits for a user's answer.
    AskId, "ask_", "an ask";
    /// A user.
    UserId, "usr_", "a user";
    /// An agent.
    AgentId, "agt_", "an agent";
    /// A file that was imported.
    ImportId, "imp_", "an import";
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed(u128);

    impl Ids for Fixed {
        fn next(&self) -> u128 {
            self.0
        }
    }

    #[test]
    fn text_keeps_the_order_of_the_numbers() {
        let mut texts: Vec<String> = [0, 1, 31, 32, 1 << 64, u128::MAX]
            .map(|number| SessionId::new(&Fixed(number)).to_string())
            .into();
        let made = texts.clone();
        texts.sort();
        assert_eq!(texts, made);
        assert_eq!(texts[1], "ses_00000000000000000000000001");
    }

    #[test]
    fn a_foreign_text_is_refused_and_shown_safely() {
        for text in
            ["", "ses_", "trn_00000000000000000000000001", "ses_../../../../../../../../etc", "ses_\u{1b}[2J"]
        {
            assert!(text.parse::<SessionId>().is_err(), "{text:?}");
        }
        let shown = "\u{1b}]0;x".repeat(100).parse::<SessionId>().unwrap_err().to_string();
        assert!(shown.len() < 700 && !shown.contains('\u{1b}'), "{shown}");
    }
}
