//! Keys of commands: a client that does not know whether its command arrived sends it again with the same key, and it is
//! carried out once.

use std::fmt::{self, Write};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{Command, PrincipalId, SessionId, StoreError, UnixMillis};

/// The maximum length of a key, in bytes.
const MAX_KEY: usize = 200;

/// A key that a client gave a command: 1 to 200 visible ASCII characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct CommandKey(String);

impl CommandKey {
    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for CommandKey {
    type Error = BadCommandKey;

    fn try_from(text: String) -> Result<Self, BadCommandKey> {
        let is_fit = (1..=MAX_KEY).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if is_fit { Ok(Self(text)) } else { Err(BadCommandKey) }
    }
}

/// A text that is not the key of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a key has 1 to {MAX_KEY} visible ASCII characters")]
pub struct BadCommandKey;

/// A command with a key, as it is remembered: whose it is, where it was sent, and a digest of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyedCommand {
    /// The principal that sent it. Keys of others do not collide with it.
    pub who: PrincipalId,
    /// The session.
    pub session: SessionId,
    /// The key.
    pub key: CommandKey,
    /// The SHA-256 of the command's JSON, in hexadecimal digits.
    pub digest: String,
}

impl KeyedCommand {
    /// A command with a key.
    pub fn new(
        who: PrincipalId,
        session: SessionId,
        key: CommandKey,
        command: &Command,
    ) -> Result<Self, serde_json::Error> {
        let mut digest = String::new();
        for byte in Sha256::digest(serde_json::to_vec(command)?) {
            // Writing to a string cannot fail.
            let _ = write!(digest, "{byte:02x}");
        }
        Ok(Self { who, session, key, digest })
    }
}

impl fmt::Display for KeyedCommand {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the command with key `{}`", self.key.as_str())
    }
}

/// The state of a key when a command claims it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyClaim {
    /// The key is new, and now belongs to the command.
    Fresh,
    /// The same command has the key, and its outcome is not known: it is under way, or its process died.
    Unsettled,
    /// The same command has the key, and had this outcome.
    Settled(String),
    /// Another command has the key.
    Taken,
}

/// The memory of keys. It outlives the process, and forgets keys after a bounded time.
#[async_trait]
pub trait CommandKeys: Send + Sync {
    /// Claims a key for a command. Durable before it returns.
    async fn claim(&self, keyed: &KeyedCommand, now: UnixMillis) -> Result<KeyClaim, StoreError>;

    /// Remembers the outcome of a command, or without one frees its key for another attempt.
    async fn settle(&self, keyed: &KeyedCommand, outcome: Option<String>) -> Result<(), StoreError>;
}
