//! The content of `auth.json`.

use std::collections::BTreeMap;

use buddy_model::{LoginProvider, LoginToken, Tokens};
use buddy_protocol::UnixMillis;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The version of the file that this buddy writes. One that it does not know is left alone.
pub(super) const VERSION: u32 = 1;

/// How long before its end a token is renewed, in milliseconds: a request takes time, and clocks differ.
const SKEW_MS: u64 = 60_000;

/// Everything in the file. Debug output never shows a secret.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AuthContents {
    pub(crate) version: u32,
    /// Logins by provider.
    #[serde(default)]
    pub(crate) logins: BTreeMap<String, StoredLogin>,
    /// API keys by profile.
    #[serde(default)]
    pub(crate) api_keys: BTreeMap<String, StoredKey>,
}

impl Default for AuthContents {
    fn default() -> Self {
        Self { version: VERSION, logins: BTreeMap::new(), api_keys: BTreeMap::new() }
    }
}

/// A login.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct StoredLogin {
    pub(crate) access: KeptSecret,
    pub(crate) refresh: Option<KeptSecret>,
    /// When the access token ends, in milliseconds since 1970.
    pub(crate) expires_at: Option<UnixMillis>,
    pub(crate) scope: Option<String>,
    /// For display only: nobody verified it.
    pub(crate) account: Option<String>,
    /// The account that requests name, where the provider wants that.
    #[serde(default)]
    pub(crate) account_id: Option<String>,
    /// The client that logged in, and where its tokens come from: they are sent nowhere else.
    pub(crate) client_id: String,
    pub(crate) token_url: String,
    /// The addresses of the APIs that get the access token.
    pub(crate) addresses: Vec<String>,
}

/// An API key.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct StoredKey {
    pub(crate) key: KeptSecret,
    /// The address that gets it.
    pub(crate) address: String,
}

impl StoredLogin {
    /// A new login.
    pub(crate) fn new(provider: &LoginProvider, addresses: Vec<String>, tokens: Tokens) -> Self {
        Self {
            access: KeptSecret(tokens.access),
            refresh: tokens.refresh.map(KeptSecret),
            expires_at: tokens.expires_at,
            scope: tokens.scope,
            account: tokens.account,
            account_id: tokens.account_id,
            client_id: provider.client_id.clone(),
            token_url: provider.token_url.clone(),
            addresses,
        }
    }

    /// The same login with the tokens of a refresh, which say less about it.
    pub(super) fn renewed(&self, tokens: Tokens) -> Self {
        Self {
            access: KeptSecret(tokens.access),
            refresh: tokens.refresh.map(KeptSecret),
            expires_at: tokens.expires_at,
            scope: tokens.scope.or_else(|| self.scope.clone()),
            account: tokens.account.or_else(|| self.account.clone()),
            account_id: tokens.account_id.or_else(|| self.account_id.clone()),
            ..self.clone()
        }
    }

    /// Its tokens, as the provider gave them.
    pub(crate) fn tokens(&self) -> Tokens {
        Tokens {
            access: self.access.0.clone(),
            refresh: self.refresh.as_ref().map(|refresh| refresh.0.clone()),
            expires_at: self.expires_at,
            scope: self.scope.clone(),
            account: self.account.clone(),
            account_id: self.account_id.clone(),
        }
    }

    /// The parts that a request carries.
    pub(super) fn token(&self) -> LoginToken {
        LoginToken { secret: self.access.0.clone(), account_id: self.account_id.clone() }
    }

    /// Whether the access token was not refused and should still hold when a request arrives.
    pub(super) fn is_fresh(&self, stale: Option<&SecretString>, now: UnixMillis) -> bool {
        let is_stale = stale.is_some_and(|stale| stale.expose_secret() == self.access.0.expose_secret());
        !is_stale && self.expires_at.is_none_or(|end| end.0 > now.0.saturating_add(SKEW_MS))
    }

    /// Whether the access token has not come to its end.
    pub(crate) fn is_live(&self, now: UnixMillis) -> bool {
        self.expires_at.is_none_or(|end| end > now)
    }
}

/// A secret that is written to the file, and shown nowhere else.
#[derive(Debug, Clone)]
pub(crate) struct KeptSecret(pub(crate) SecretString);

impl Serialize for KeptSecret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.expose_secret())
    }
}

impl<'de> Deserialize<'de> for KeptSecret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login(expires_at: Option<u64>) -> StoredLogin {
        StoredLogin {
            access: KeptSecret("at-1".into()),
            refresh: Some(KeptSecret("rt-1".into())),
            expires_at: expires_at.map(UnixMillis),
            scope: None,
            account: Some("me".to_owned()),
            account_id: None,
            client_id: "c".to_owned(),
            token_url: "https://id/token".to_owned(),
            addresses: vec!["https://api".to_owned()],
        }
    }

    #[test]
    fn a_token_is_renewed_a_minute_early_and_when_it_was_refused() {
        let now = UnixMillis(1_000_000);
        assert!(login(None).is_fresh(None, now));
        assert!(login(Some(1_060_001)).is_fresh(None, now));
        assert!(!login(Some(1_060_000)).is_fresh(None, now));
        assert!(!login(None).is_fresh(Some(&"at-1".into()), now));
        assert!(login(None).is_fresh(Some(&"at-0".into()), now), "somebody else renewed it");
    }

    #[test]
    fn the_file_has_the_secrets_and_debug_output_has_not() {
        let mut contents = AuthContents::default();
        contents.logins.insert("acme".to_owned(), login(Some(5)));
        let key = StoredKey { key: KeptSecret("sk-1".into()), address: "https://api".to_owned() };
        contents.api_keys.insert("claude".to_owned(), key);
        let text = serde_json::to_string(&contents).unwrap();
        let again: AuthContents = serde_json::from_str(&text).unwrap();
        assert_eq!(again.logins["acme"].tokens().refresh.unwrap().expose_secret(), "rt-1");
        assert_eq!(again.api_keys["claude"].key.0.expose_secret(), "sk-1");
        let shown = format!("{contents:?}");
        assert!(["at-1", "rt-1", "sk-1"].iter().all(|secret| !shown.contains(secret)), "{shown}");
    }
}
