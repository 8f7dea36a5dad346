//! The source of a route's token, asked before every call.

use std::fmt;

use async_trait::async_trait;
use secrecy::SecretString;

use crate::ModelError;

/// The headers of a request of somebody who is logged in.
#[derive(Debug, Clone)]
pub struct LoginToken {
    /// The access token.
    pub secret: SecretString,
    /// The account that is named beside it, where the provider wants that.
    pub account_id: Option<String>,
}

impl From<SecretString> for LoginToken {
    fn from(secret: SecretString) -> Self {
        Self { secret, account_id: None }
    }
}

/// Gives out a token that should still hold, and gets a new one when it does not. Its `Debug` shows no token.
#[async_trait]
pub trait TokenSource: fmt::Debug + Send + Sync {
    /// A token to use now. `stale` is one that the server has just refused: another one is wanted.
    async fn token(&self, stale: Option<&SecretString>) -> Result<LoginToken, ModelError>;

    /// The next step for the user if no token is accepted any more.
    fn hint(&self) -> String;
}
