//! The pace of a login on another device (RFC 8628). Pure: the provider's answer in, the delay out.

use std::time::Duration;

use secrecy::SecretString;

use super::answer::{ProviderAnswer, Refusal, bad};
use super::post::NotAccepted;
use super::provider::safe_url;
use super::timing::LoginTiming;
use crate::clean::clipped;
use crate::{LoginError, LoginErrorKind};

/// Longest code that is shown; people type it.
pub(super) const MAX_CODE_CHARS: usize = 64;

/// The data that the user needs on the other device.
#[derive(Debug, Clone)]
pub struct DeviceCode {
    /// The address to open.
    pub url: String,
    /// The same address with the code in it, if the provider offers one.
    pub complete_url: Option<String>,
    /// The code to type there.
    pub code: String,
    /// The time until it expires.
    pub expires_in: Duration,
    /// The provider's id for this login.
    pub(super) handle: SecretString,
    pub(super) interval: Duration,
}

impl DeviceCode {
    pub(super) fn read(answer: &ProviderAnswer, timing: &LoginTiming) -> Result<Self, LoginError> {
        let missing = |name: &str| bad(format!("the provider's answer has no `{name}`"));
        let device_code = answer.text("device_code").ok_or_else(|| missing("device_code"))?;
        let code = answer.text("user_code").ok_or_else(|| missing("user_code"))?;
        // The second name is from providers that predate the final RFC.
        let url = answer.text("verification_uri").or_else(|| answer.text("verification_url"));
        let url = url.ok_or_else(|| missing("verification_uri"))?;
        let url =
            safe_url(url).map_err(|message| bad(format!("the address to confirm the code {message}")))?;
        let complete = answer.text("verification_uri_complete").and_then(|url| safe_url(url).ok());
        Ok(Self {
            url: url.into(),
            complete_url: complete.map(Into::into),
            code: clipped(code, MAX_CODE_CHARS),
            expires_in: answer.seconds("expires_in").unwrap_or(timing.device).min(timing.device),
            handle: device_code.into(),
            interval: answer.seconds("interval").unwrap_or(timing.interval).min(timing.longest_interval),
        })
    }
}

/// The delay after this poll result, or the reason to stop polling.
pub(super) fn pause(
    before: Duration,
    outcome: NotAccepted,
    timing: &LoginTiming,
) -> Result<Duration, LoginError> {
    let pause = match outcome {
        NotAccepted::Refused(Refusal { code, .. }) if code == "authorization_pending" => before,
        NotAccepted::Refused(Refusal { code, .. }) if code == "slow_down" => before + timing.slow_down,
        outcome => {
            let error = outcome.into_error();
            if error.kind != LoginErrorKind::Transport {
                return Err(error);
            }
            // A short network outage does not end a login; the polling slows down.
            before.max(timing.interval) * 2
        }
    };
    Ok(pause.min(timing.longest_interval))
}

pub(super) fn expired() -> LoginError {
    LoginError::new(LoginErrorKind::Expired, "the code was not confirmed in time")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(fields: &str) -> Result<DeviceCode, LoginError> {
        DeviceCode::read(&ProviderAnswer::read(200, fields.as_bytes()), &LoginTiming::default())
    }

    fn paused(outcome: NotAccepted) -> Result<u64, LoginErrorKind> {
        let paused = pause(Duration::from_secs(3), outcome, &LoginTiming::default());
        paused.map(|pause| pause.as_secs()).map_err(|error| error.kind)
    }

    fn refused(code: &str) -> NotAccepted {
        NotAccepted::Refused(Refusal { status: 400, code: code.to_owned(), description: String::new() })
    }

    #[test]
    fn the_pace_is_the_providers_within_bounds() {
        assert_eq!(paused(refused("authorization_pending")), Ok(3));
        assert_eq!(paused(refused("slow_down")), Ok(8));
        assert_eq!(paused(refused("status 503")), Ok(10));
        assert_eq!(paused(refused("access_denied")), Err(LoginErrorKind::Denied));
        assert_eq!(paused(refused("expired_token")), Err(LoginErrorKind::Expired));
        assert_eq!(paused(refused("invalid_client")), Err(LoginErrorKind::Refused));
    }

    #[test]
    fn codes_are_read_within_bounds() {
        let code = read(
            r#"{"device_code":"d","user_code":"AB\u001b[31mCD","verification_url":"https://h/d","expires_in":9e9,"interval":"900"}"#,
        );
        let code = code.unwrap();
        assert_eq!(
            (code.code.as_str(), code.expires_in.as_secs(), code.interval.as_secs()),
            ("AB[31mCD", 1800, 60)
        );
        assert!(!format!("{:?}", code.handle).contains("\"d\""));
    }

    #[test]
    fn addresses_that_are_not_safe_are_not_shown() {
        for url in ["http://evil.example.com", "file:///x", "--x", "$(X)"] {
            let fields = format!(r#"{{"device_code":"d","user_code":"U","verification_uri":"{url}"}}"#);
            assert_eq!(read(&fields).unwrap_err().kind, LoginErrorKind::BadAnswer, "{url}");
        }
        let fields = r#"{"device_code":"d","user_code":"U","verification_uri":"https://h","verification_uri_complete":"file:///x"}"#;
        assert_eq!(read(fields).unwrap().complete_url, None);
    }
}
