//! A plan of `ChatGPT` where it differs from the standards: device codes of its own, and a header that names the account.
//!
//! The facts are those that the vendor's public clients use. Addresses come from the configuration; the pages beside
//! `device_url` are found from it, so that a stand-in needs one address alone.

use reqwest::header::{HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use tokio::time::{Instant, sleep};
use url::Url;

use super::answer::{Answer, Refusal, bad};
use super::device::{MAX_CODE_CHARS, expired, pause};
use super::post::{Body, NotAccepted, post};
use super::tokens::claims;
use super::{DeviceCode, Login, LoginTiming, LoginToken, Tokens};
use crate::LoginError;
use crate::clean::clipped;

/// The claim with what the vendor says about an account, and the field of it that names the account.
const CLAIM: &str = "https://api.openai.com/auth";
const ACCOUNT_FIELD: &str = "chatgpt_account_id";
/// The header that requests name the account with.
const ACCOUNT_HEADER: HeaderName = HeaderName::from_static("chatgpt-account-id");
/// Where the user enters a code, and the address that codes of devices are exchanged with.
const PAGE: &str = "/codex/device";
const CALLBACK: &str = "/deviceauth/callback";

/// The account that a token names.
pub(super) fn account_id(token: &str) -> Option<String> {
    let claims = claims(token)?;
    let id = claims.get(CLAIM)?.get(ACCOUNT_FIELD)?.as_str()?;
    (!id.is_empty()).then(|| id.to_owned())
}

/// The header for a token whose account is named. One that cannot be sent is none.
pub(crate) fn account_header(token: &LoginToken) -> Option<(HeaderName, HeaderValue)> {
    let mut value = HeaderValue::from_str(token.account_id.as_deref()?).ok()?;
    value.set_sensitive(true);
    Some((ACCOUNT_HEADER, value))
}

impl Login {
    /// Logs in with a code. The provider makes code and proof itself; both are exchanged as a browser's would be.
    pub(super) async fn plan_device(&self, show: impl FnOnce(&DeviceCode)) -> Result<Tokens, LoginError> {
        let first = self.provider.device()?;
        let beside = |path: &str| first.join(path).map_err(|error| self.provider.setup(error));
        let (questions, page, callback) = (beside("token")?, beside(PAGE)?, beside(CALLBACK)?);
        let wish = [("client_id", self.provider.client_id.as_str())];
        let answer = self.send(&first, Body::Json, &wish).await?;
        let code = read_code(&answer, &page, &self.timing)?;
        show(&code);
        let deadline = Instant::now() + code.expires_in;
        let question = [("device_auth_id", code.handle.expose_secret()), ("user_code", code.code.as_str())];
        let mut wait = code.interval;
        let confirmed = loop {
            if Instant::now() + wait >= deadline {
                return Err(expired());
            }
            sleep(wait).await;
            match post(&self.provider, &questions, Body::Json, &question, &self.timing).await {
                Ok(answer) => break answer,
                Err(outcome) if is_pending(&outcome) => {}
                Err(outcome) => wait = pause(wait, outcome, &self.timing)?,
            }
        };
        let code = secret(&confirmed, "authorization_code")?;
        let verifier = secret(&confirmed, "code_verifier")?;
        self.exchange(&code, callback.as_str(), &verifier).await
    }
}

/// Whether nobody has entered the code yet: the provider says so with a status alone, whatever it calls it.
fn is_pending(outcome: &NotAccepted) -> bool {
    let NotAccepted::Refused(Refusal { status: 403 | 404, code, .. }) = outcome else { return false };
    !matches!(code.as_str(), "access_denied" | "expired_token")
}

fn read_code(answer: &Answer, page: &Url, timing: &LoginTiming) -> Result<DeviceCode, LoginError> {
    let code = answer.text("user_code").or_else(|| answer.text("usercode"));
    let code = code.ok_or_else(|| missing("user_code"))?;
    Ok(DeviceCode {
        url: page.to_string(),
        complete_url: None,
        code: clipped(code, MAX_CODE_CHARS),
        expires_in: answer.seconds("expires_in").unwrap_or(timing.device).min(timing.device),
        handle: secret(answer, "device_auth_id")?,
        interval: answer.seconds("interval").unwrap_or(timing.interval).min(timing.longest_interval),
    })
}

fn secret(answer: &Answer, name: &str) -> Result<SecretString, LoginError> {
    let text = answer.text(name).filter(|text| !text.is_empty());
    text.map(Into::into).ok_or_else(|| missing(name))
}

fn missing(name: &str) -> LoginError {
    bad(format!("the provider's answer has no `{name}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pending(status: u16, code: &str) -> bool {
        let (code, description) = (code.to_owned(), String::new());
        is_pending(&NotAccepted::Refused(Refusal { status, code, description }))
    }

    #[test]
    fn a_code_is_waited_for_until_the_provider_has_a_final_word() {
        assert!(pending(403, "status 403") && pending(404, "status 404"));
        assert!(pending(403, "deviceauth_authorization_unknown"));
        for (status, code) in [(403, "access_denied"), (403, "expired_token"), (400, "status 400")] {
            assert!(!pending(status, code), "{status} {code}");
        }
    }

    #[test]
    fn an_account_is_named_by_a_token_or_not_at_all() {
        // {"https://api.openai.com/auth":{"chatgpt_account_id":"acc-1"}}
        let token =
            "e30.eyJodHRwczovL2FwaS5vcGVuYWkuY29tL2F1dGgiOnsiY2hhdGdwdF9hY2NvdW50X2lkIjoiYWNjLTEifX0.x";
        assert_eq!(account_id(token).as_deref(), Some("acc-1"));
        let header =
            |id: &str| account_header(&LoginToken { secret: "t".into(), account_id: Some(id.to_owned()) });
        assert_eq!(header("acc-1").unwrap().0.as_str(), "chatgpt-account-id");
        assert!(header("a\r\nevil: 1").is_none());
        assert_eq!(account_id("e30.e30.x"), None);
        assert_eq!(account_id("sk-opaque"), None);
    }
}
