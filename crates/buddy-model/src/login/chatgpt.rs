//! Logging in to a plan of `ChatGPT` where it differs from the standards: device codes of its own.
//!
//! The facts are those that the vendor's public clients use. Addresses come from the configuration; the pages beside
//! `device_url` are found from it, so that a stand-in needs one address alone.

use secrecy::{ExposeSecret, SecretString};
use tokio::time::{Instant, sleep};
use url::Url;

use super::answer::{ProviderAnswer, Refusal, bad};
use super::device::{MAX_CODE_CHARS, expired, pause};
use super::post::{Body, NotAccepted, post};
use super::{DeviceCode, Login, LoginTiming, Tokens};
use crate::LoginError;
use crate::clean::clipped;

/// Where the user enters a code, and the address that codes of devices are exchanged with.
const PAGE: &str = "/codex/device";
const CALLBACK: &str = "/deviceauth/callback";

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

fn read_code(answer: &ProviderAnswer, page: &Url, timing: &LoginTiming) -> Result<DeviceCode, LoginError> {
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

fn secret(answer: &ProviderAnswer, name: &str) -> Result<SecretString, LoginError> {
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
}
