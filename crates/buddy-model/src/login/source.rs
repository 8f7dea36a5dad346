//! The source of a route's token, asked before every call.

use std::fmt;

use async_trait::async_trait;
use secrecy::SecretString;

use crate::ModelError;

/// Returns a token that should still be valid, and gets a new one if it is not. Its `Debug` shows no token.
#[async_trait]
pub trait TokenSource: fmt::Debug + Send + Sync {
    /// A token to use now. `stale` is one that the server has just refused: return another one.
    async fn token(&self, stale: Option<&SecretString>) -> Result<SecretString, ModelError>;

    /// The next step for the user if no token is accepted any more.
    fn hint(&self) -> String;
}
