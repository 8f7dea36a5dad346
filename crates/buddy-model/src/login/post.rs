//! One request to a provider: a form or an object out, a JSON object back, in time and in bounds.

use std::collections::BTreeMap;

use reqwest::RequestBuilder;
use reqwest::header::ACCEPT;
use secrecy::ExposeSecret;
use tokio::time::timeout;
use url::Url;
use url::form_urlencoded::byte_serialize;

use super::LoginTiming;
use super::answer::{ProviderAnswer, Refusal, bad};
use crate::clean::masked;
use crate::http::{build_client, unreachable};
use crate::{Endpoint, LoginError, LoginErrorKind, LoginProvider, Settings};

/// The maximum size of an answer; tokens with many claims have some kilobytes.
const MAX_ANSWER_BYTES: usize = 256 * 1024;

/// Fields that are secrets: a provider that quotes one back is not quoted.
const SECRET_FIELDS: &[&str] =
    &["code", "code_verifier", "device_auth_id", "device_code", "refresh_token", "token"];

/// How fields are written into a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    /// A form in the name of the provider's client.
    Form,
    /// An object with these fields alone.
    Json,
}

/// A refusal in the provider's words, or no answer at all.
#[derive(Debug)]
pub(super) enum NotAccepted {
    Refused(Refusal),
    Failed(LoginError),
}

impl NotAccepted {
    pub(super) fn into_error(self) -> LoginError {
        match self {
            Self::Refused(refusal) => refusal.into_error(),
            Self::Failed(error) => error,
        }
    }
}

/// Sends fields to a provider.
pub(super) async fn post(
    provider: &LoginProvider,
    url: &Url,
    body: Body,
    form: &[(&str, &str)],
    timing: &LoginTiming,
) -> Result<ProviderAnswer, NotAccepted> {
    let sent = timeout(timing.request, exchange(provider, url, body, form, timing)).await;
    let answer = sent.unwrap_or_else(|_| {
        let message = format!("{} did not answer in time", url.origin().ascii_serialization());
        Err(LoginError::new(LoginErrorKind::Transport, message))
    });
    let answer = answer.map_err(NotAccepted::Failed)?;
    answer.accepted().map_err(|mut refusal| {
        let secret = provider.client_secret.as_ref().map(ExposeSecret::expose_secret);
        let sent = form.iter().filter(|(name, _)| SECRET_FIELDS.contains(name)).map(|(_, value)| *value);
        for value in sent.chain(secret).filter(|value| !value.is_empty()) {
            refusal.description = masked(&refusal.description, value);
            refusal.code = masked(&refusal.code, value);
        }
        NotAccepted::Refused(refusal)
    })
}

async fn exchange(
    provider: &LoginProvider,
    url: &Url,
    body: Body,
    form: &[(&str, &str)],
    timing: &LoginTiming,
) -> Result<ProviderAnswer, LoginError> {
    let failed = |message: String| LoginError::new(LoginErrorKind::Transport, message);
    let endpoint = Endpoint::parse(url.as_str()).map_err(|error| provider.setup(error))?;
    let settings = Settings { connect_timeout: timing.connect, ..Settings::default() };
    let client = build_client(&endpoint, &settings).map_err(|error| failed(error.message))?;
    let request = client.post(url.clone()).header(ACCEPT, "application/json");
    let request = match body {
        Body::Json => request.json(&form.iter().copied().collect::<BTreeMap<&str, &str>>()),
        Body::Form => of_client(provider, request, form),
    };
    let sent = request.send().await;
    let mut response = sent.map_err(|error| failed(unreachable(url, error).message))?;
    if response.status().is_redirection() {
        return Err(bad(format!("{endpoint} redirects elsewhere; what is secret is not sent there")));
    }
    let status = response.status().as_u16();
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| failed(unreachable(url, error).message))? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_ANSWER_BYTES {
            return Err(bad(format!("the answer of {endpoint} is too large")));
        }
    }
    Ok(ProviderAnswer::read(status, &body))
}

/// A form that says who the client is, by its secret where it has one.
fn of_client(provider: &LoginProvider, request: RequestBuilder, form: &[(&str, &str)]) -> RequestBuilder {
    let mut form = form.to_vec();
    let request = if let Some(secret) = &provider.client_secret {
        // RFC 6749, 2.3.1 wants both encoded as in a form.
        let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
        request.basic_auth(encoded(&provider.client_id), Some(encoded(secret.expose_secret())))
    } else {
        form.push(("client_id", &provider.client_id));
        request
    };
    request.form(&form)
}
