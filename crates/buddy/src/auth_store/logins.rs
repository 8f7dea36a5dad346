//! Logins and kept keys as profiles find them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use buddy_model::{Login, TokenSource};
use buddy_protocol::{Failure, FailureKind};
use secrecy::SecretString;

use super::file::AuthStore;
use super::section::LoginSection;
use super::tokens::{LoginTokens, Renewer};
use crate::environment::Environment;
use crate::system::SystemClock;

/// The configured providers, with what the user's file has for them. Clones share what is under way.
#[derive(Debug, Clone)]
pub(crate) struct Logins {
    store: Option<AuthStore>,
    sections: BTreeMap<String, LoginSection>,
    /// Tokens that were asked for; held for a note only.
    used: Arc<Mutex<Vec<Arc<LoginTokens>>>>,
}

impl Logins {
    /// Those of a configuration.
    pub(crate) fn new(environment: &Environment, sections: &BTreeMap<String, LoginSection>) -> Self {
        Self { store: AuthStore::of(environment), sections: sections.clone(), used: Arc::default() }
    }

    /// The provider whose tokens are for this address.
    pub(crate) fn provider(&self, address: &str) -> Option<(&str, &LoginSection)> {
        let found = self.sections.iter().find(|(_, section)| section.serves(address));
        found.map(|(name, section)| (name.as_str(), section))
    }

    /// Tokens for a profile at this address.
    pub(crate) fn tokens(&self, profile: &str, address: &str) -> Result<Arc<dyn TokenSource>, Failure> {
        let Some((name, section)) = self.provider(address) else {
            let hint = match address {
                "https://api.openai.com" => "a ChatGPT plan is not for this API: use the profile `chatgpt`, or set `api_base_url = \"https://chatgpt.com/backend-api/codex\"`".to_owned(),
                _ => format!("add {address} to the `addresses` of a `[login.…]` section"),
            };
            return Err(failure(format!("no login is configured for `{profile}`"), Some(hint)));
        };
        let provider = section.provider(name);
        let clock = Arc::new(SystemClock);
        let login =
            Login::new(provider.clone(), clock.clone()).map_err(|error| failure(error.message, None))?;
        let store = self.store.clone().ok_or_else(|| failure("there is no home to keep logins in", None))?;
        let contents = store.read().map_err(|error| failure(error.to_string(), None))?;
        let renewer = Renewer { store, provider, login, address: address.to_owned(), clock };
        renewer.mine(&contents).map_err(|error| failure(error.message, error.hint))?;
        let tokens = Arc::new(LoginTokens::new(renewer));
        self.used.lock().unwrap_or_else(PoisonError::into_inner).push(tokens.clone());
        Ok(tokens)
    }

    /// The key that is kept for a profile, if it is for this address.
    pub(crate) fn key(&self, profile: &str, address: &str) -> Result<Option<SecretString>, Failure> {
        let Some(store) = &self.store else { return Ok(None) };
        let mut contents = store.read().map_err(|error| failure(error.to_string(), None))?;
        let kept = contents.api_keys.remove(profile).filter(|kept| kept.address == address);
        Ok(kept.map(|kept| kept.key.0))
    }

    /// Warnings about the file, for the user.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.store.as_ref().map(AuthStore::close_to_others).unwrap_or_default()
    }

    /// Waits for refreshes that are under way; their answers would be lost with the process.
    pub(crate) async fn settle(&self) {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for tokens in used {
            tokens.settle().await;
        }
    }
}

fn failure(message: impl Into<String>, hint: Option<String>) -> Failure {
    Failure { http_status: None, kind: FailureKind::Auth, message: message.into(), hint }
}
