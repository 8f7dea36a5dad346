//! The answers of a token endpoint. Pure: bytes in, tokens or a refusal out; no error quotes the answer.

use std::time::Duration;

use buddy_protocol::UnixMillis;
use serde_json::Value;

use super::chatgpt_account::account_id;
use super::tokens::{Tokens, account};
use crate::clean::clipped;
use crate::{LoginError, LoginErrorKind};

/// The maximum length of a quote from the provider.
const MAX_WORDS: usize = 200;

/// The maximum plausible lifetime of a token. A longer one is a mistake and would overflow sums.
const MAX_LIFE: Duration = Duration::from_hours(24 * 3660);

/// An answer: a JSON object with any status.
#[derive(Debug)]
pub(super) struct ProviderAnswer {
    status: u16,
    fields: Value,
}

/// A refusal in OAuth's terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) code: String,
    pub(super) description: String,
}

impl ProviderAnswer {
    pub(super) fn read(status: u16, body: &[u8]) -> Self {
        // An answer that is not JSON is treated as an empty one.
        let fields = serde_json::from_slice(body).unwrap_or(Value::Null);
        Self { status, fields }
    }

    /// The fields of a successful answer. Some providers refuse with status 200, so the error fields come
    /// first.
    pub(super) fn accepted(self) -> Result<Self, Refusal> {
        let status = self.status;
        // Some providers put the word and its explanation into an object.
        let error = self.fields.get("error").filter(|error| error.is_object());
        let nested = |names: [&str; 2]| {
            names.into_iter().find_map(|name| error?.get(name)?.as_str()).filter(|text| !text.is_empty())
        };
        if let Some(code) = self.text("error").or_else(|| nested(["code", "type"])) {
            let description = self.text("error_description").or_else(|| nested(["message", "description"]));
            let description = clipped(description.unwrap_or_default(), MAX_WORDS);
            return Err(Refusal { status, code: clipped(code, 60), description });
        }
        if (200..300).contains(&self.status) {
            return Ok(self);
        }
        Err(Refusal { status, code: format!("status {status}"), description: String::new() })
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name)?.as_str()
    }

    /// A number of seconds; some providers write it as text.
    pub(super) fn seconds(&self, name: &str) -> Option<Duration> {
        let value = self.fields.get(name)?;
        let seconds = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())?;
        Some(Duration::try_from_secs_f64(seconds).ok()?.min(MAX_LIFE))
    }

    /// The tokens in it.
    pub(super) fn tokens(&self, now: UnixMillis) -> Result<Tokens, LoginError> {
        let filled = |name: &str| self.text(name).filter(|text| !text.is_empty());
        let access =
            filled("access_token").ok_or_else(|| bad("the provider's answer has no access token"))?;
        if let Some(kind) = filled("token_type").filter(|kind| !kind.eq_ignore_ascii_case("bearer")) {
            return Err(bad(format!("the provider gives tokens of the kind `{}`", clipped(kind, 30))));
        }
        let life = self.seconds("expires_in");
        let until =
            |life: Duration| now.0.saturating_add(u64::try_from(life.as_millis()).unwrap_or(u64::MAX));
        Ok(Tokens {
            access: access.into(),
            refresh: filled("refresh_token").map(Into::into),
            expires_at: life.map(|life| UnixMillis(until(life))),
            scope: filled("scope").map(|scope| clipped(scope, MAX_WORDS)),
            account: self.text("id_token").and_then(account),
            account_id: self.text("id_token").and_then(account_id).or_else(|| account_id(access)),
        })
    }
}

impl Refusal {
    /// The login error for this refusal.
    pub(super) fn into_error(self) -> LoginError {
        let Self { code, description, .. } = self;
        let (kind, message) = match code.as_str() {
            "access_denied" => (LoginErrorKind::Denied, "the login was denied".to_owned()),
            "expired_token" => (LoginErrorKind::Expired, "the code was not confirmed in time".to_owned()),
            "temporarily_unavailable" | "server_error" => {
                (LoginErrorKind::Transport, format!("the provider has trouble (`{code}`)"))
            }
            _ if code.starts_with("status 5") || code == "status 429" => {
                (LoginErrorKind::Transport, format!("the provider has trouble ({code})"))
            }
            "status 401" | "status 403" => {
                (LoginErrorKind::Refused, format!("the provider refused ({code})"))
            }
            _ if code.starts_with("status ") => {
                (LoginErrorKind::BadAnswer, format!("the provider's answer makes no sense ({code})"))
            }
            _ => (LoginErrorKind::Refused, format!("the provider refused (`{code}`)")),
        };
        let colon = if description.is_empty() { "" } else { ": " };
        LoginError::new(kind, format!("{message}{colon}{description}"))
    }
}

pub(super) fn bad(message: impl Into<String>) -> LoginError {
    LoginError::new(LoginErrorKind::BadAnswer, message)
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    fn tokens(body: &str) -> Result<Tokens, LoginError> {
        let answer = ProviderAnswer::read(200, body.as_bytes()).accepted().map_err(Refusal::into_error)?;
        answer.tokens(UnixMillis(1000))
    }

    #[test]
    fn tokens_in_the_shapes_that_providers_use() {
        let full = tokens(
            r#"{"access_token":"a","token_type":"BEARER","expires_in":"60","refresh_token":"r","scope":"x y"}"#,
        );
        let full = full.unwrap();
        assert_eq!(full.access.expose_secret(), "a");
        assert_eq!(full.refresh.unwrap().expose_secret(), "r");
        assert_eq!((full.expires_at, full.scope.as_deref()), (Some(UnixMillis(61_000)), Some("x y")));
        let bare = tokens(r#"{"access_token":"a","expires_in":-1}"#).unwrap();
        assert!(bare.refresh.is_none() && bare.expires_at.is_none());
        assert!(tokens(r#"{"access_token":"a","expires_in":1e300}"#).unwrap().expires_at.is_none());
        assert!(tokens(r#"{"access_token":"a","expires_in":1e15}"#).unwrap().expires_at.is_some());
    }

    #[test]
    fn answers_without_a_usable_token() {
        for body in ["", "[]", "{}", r#"{"access_token":""}"#, r#"{"access_token":"s","token_type":"dpop"}"#]
        {
            assert_eq!(tokens(body).unwrap_err().kind, LoginErrorKind::BadAnswer, "{body}");
        }
    }

    #[test]
    fn refusals_by_word_and_by_status() {
        let kind = |status, body: &str| {
            ProviderAnswer::read(status, body.as_bytes()).accepted().unwrap_err().into_error().kind
        };
        assert_eq!(kind(200, r#"{"error":"access_denied"}"#), LoginErrorKind::Denied);
        assert_eq!(kind(400, r#"{"error":"expired_token"}"#), LoginErrorKind::Expired);
        assert_eq!(kind(400, r#"{"error":"invalid_grant"}"#), LoginErrorKind::Refused);
        assert_eq!(kind(503, "busy"), LoginErrorKind::Transport);
        assert_eq!(kind(500, r#"{"error":"server_error"}"#), LoginErrorKind::Transport);
        assert_eq!(kind(404, "<html>"), LoginErrorKind::BadAnswer);
    }
}
