//! The tokens of a login.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use buddy_protocol::UnixMillis;
use secrecy::SecretString;
use serde_json::Value;

use crate::clean::clipped;

/// The maximum length of an account name on display.
const MAX_ACCOUNT_CHARS: usize = 120;

/// The tokens of one login. Debug output never shows them.
#[derive(Debug, Clone)]
pub struct Tokens {
    /// The access token that requests carry.
    pub access: SecretString,
    /// The refresh token, for the next access token.
    pub refresh: Option<SecretString>,
    /// The expiry of the access token, if the provider reports it.
    pub expires_at: Option<UnixMillis>,
    /// The scope of the tokens, if the provider reports it.
    pub scope: Option<String>,
    /// The account name, for display only: it is not verified.
    pub account: Option<String>,
    /// The account that requests name beside the token, where the provider wants that.
    pub account_id: Option<String>,
}

/// The claims of a token about itself. Its signature is not looked at, so nothing may depend on it.
pub(super) fn claims(token: &str) -> Option<Value> {
    let payload = token.split('.').nth(1)?;
    let claims = URL_SAFE_NO_PAD.decode(payload.trim_end_matches('=')).ok()?;
    serde_json::from_slice(&claims).ok()
}

/// The account that an id token names. Its signature is not verified, so nothing may depend on it.
pub(super) fn account(id_token: &str) -> Option<String> {
    let claims = claims(id_token)?;
    let claim = |name: &str| claims.get(name)?.as_str().map(|text| clipped(text, MAX_ACCOUNT_CHARS));
    ["email", "preferred_username", "sub"].into_iter().find_map(claim).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(claims: &str) -> String {
        format!("e30.{}.signature", URL_SAFE_NO_PAD.encode(claims))
    }

    #[test]
    fn the_best_name_is_taken() {
        assert_eq!(account(&token(r#"{"sub":"u1","email":"me@example.com"}"#)).unwrap(), "me@example.com");
        assert_eq!(account(&token("{\"sub\":\"u\\u001b[2J1\"}")).unwrap(), "u[2J1");
        for nothing in ["", "a.b.c", "a..c", &token("[]"), &token(r#"{"sub":7}"#), &token(r#"{"sub":""}"#)] {
            assert_eq!(account(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn debug_shows_no_token() {
        let tokens = Tokens {
            access: "at-secret".into(),
            refresh: Some("rt-secret".into()),
            expires_at: None,
            scope: None,
            account: None,
            account_id: None,
        };
        assert!(!format!("{tokens:?}").contains("t-secret"), "{tokens:?}");
    }
}
