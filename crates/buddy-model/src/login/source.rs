//! Where a route gets its token from, anew for every call.

use std::fmt;

use async_trait::async_trait;
use secrecy::SecretString;

use crate::ModelError;

/// Gives out a token that should still hold, and gets a new one when it does not. Its `Debug` shows no token.
#[async_trait]
pub trait TokenSource: fmt::Debug + Send + Sync {
    /// A token to use now. `stale` is one that the server has just refused: another one is wanted.
    async fn token(&self, stale: Option<&SecretString>) -> Result<SecretString, ModelError>;

    /// What the person can do when no token is accepted any more.
    fn hint(&self) -> String;
}
