//! One request, up to the point where its response is known to be an answer.

use std::error::Error;
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Client, Response};
use tokio::time::timeout;
use url::Url;

use crate::clean::clipped;
use crate::error::Retry;
use crate::failure::{Complaint, Failure};
use crate::retry::{delay_in_headers, delay_in_text, reset_in_headers};
use crate::{ModelError, ModelErrorKind, Route, Settings, WireError};

/// The maximum size of an error body.
const MAX_ERROR_BODY_BYTES: usize = 64 * 1024;

/// The timeout for an error body: the status alone is enough.
const ERROR_BODY_TIMEOUT: Duration = Duration::from_secs(5);

/// The parts of a request besides its body.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) client: Client,
    pub(super) url: Url,
    /// The result of [`headers`].
    pub(super) headers: HeaderMap,
}

/// A failed attempt.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) error: ModelError,
    /// The server's message, if it refused the request and a changed request may help.
    pub(super) complaint: Option<Box<Complaint>>,
}

/// The headers of each request from the wire, the key and the route's own options. The options take
/// precedence.
pub(super) fn headers(route: &Route) -> Result<HeaderMap, ModelError> {
    let mut headers = HeaderMap::new();
    for (name, value) in route.protocol.headers() {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    headers.extend(route.auth.header()?);
    for (name, value) in &route.options.headers {
        let unusable = || {
            let message = format!("the header `{}` of this provider cannot be sent", clipped(name, 40));
            ModelError::new(ModelErrorKind::InvalidRequest, message)
                .with_hint("check the headers in the provider's configuration")
        };
        let header: HeaderName = name.parse().map_err(|_| unusable())?;
        headers.insert(header, value.parse().map_err(|_| unusable())?);
    }
    Ok(headers)
}

impl From<WireError> for Failed {
    fn from(error: WireError) -> Self {
        let complaint = match &error {
            WireError::Reported(error) => Some(Box::new(Complaint::from_value(error))),
            _ => None,
        };
        Self { error: error.into_model_error(), complaint }
    }
}

impl From<ModelError> for Failed {
    fn from(error: ModelError) -> Self {
        Self { error, complaint: None }
    }
}

impl Exchange {
    /// Sends the body and returns a response with a success status; everything else is an error.
    pub(super) async fn send(&self, body: Bytes, settings: &Settings) -> Result<Response, Failed> {
        let request = self
            .client
            .post(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "text/event-stream, application/json")
            .headers(self.headers.clone())
            .body(body);
        let response = match timeout(settings.idle_timeout, request.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(unreachable(&self.url, error).into()),
            Err(_) => return Err(silent(settings.idle_timeout).into()),
        };
        if response.status().is_success() {
            return Ok(response);
        }
        if response.status().is_redirection() {
            return Err(redirected(&response).into());
        }
        Err(refused(response).await)
    }
}

/// The error for an unreachable server.
pub(crate) fn unreachable(url: &Url, error: reqwest::Error) -> ModelError {
    let cause = root_cause(&error);
    let origin = url.origin().ascii_serialization();
    let what = if error.is_connect() { "cannot connect to" } else { "lost the connection to" };
    let message = format!("{what} {origin}: {}", clipped(&cause, 200));
    // A retry does not make a certificate valid.
    let is_final = error.is_builder() || cause.contains("certificate");
    let retry = if is_final { Retry::Never } else { Retry::Soon };
    let failure = ModelError::new(ModelErrorKind::Transport, message).with_retry(retry);
    failure.with_source(error.without_url())
}

/// The error for a connection that broke during the answer.
pub(super) fn broken(error: reqwest::Error) -> ModelError {
    let message = format!("the connection broke during the answer: {}", clipped(&root_cause(&error), 200));
    ModelError::new(ModelErrorKind::Transport, message)
        .with_retry(Retry::Soon)
        .with_source(error.without_url())
}

/// The error for a server that sends nothing.
pub(super) fn silent(limit: Duration) -> ModelError {
    let message = format!("the model server was silent for {} s", limit.as_secs_f64());
    ModelError::new(ModelErrorKind::Timeout, message).with_retry(Retry::Soon)
}

fn redirected(response: &Response) -> ModelError {
    let status = response.status().as_u16();
    let target = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
    let target = target.and_then(|target| response.url().join(target).ok());
    let origin = target.map_or_else(|| "elsewhere".to_owned(), |url| url.origin().ascii_serialization());
    ModelError::new(
        ModelErrorKind::InvalidRequest,
        format!("the model server redirects to {origin} ({status})"),
    )
    .with_status(status)
    .with_hint("set the provider's address to where the API really is; the key is not sent to other hosts")
}

/// The error for a status other than success.
pub(super) async fn refused(response: Response) -> Failed {
    let status = response.status().as_u16();
    let header = |name: &str| response.headers().get(name)?.to_str().ok();
    let (in_headers, reset) = (delay_in_headers(header), reset_in_headers(header).filter(|_| status == 429));
    let complaint = Complaint::from_body(&error_body(response).await);
    let retry_after = in_headers.or_else(|| delay_in_text(&complaint.message)).or(reset);
    let error = Failure { status: Some(status), retry_after, complaint: complaint.clone() }.into_error();
    let is_about_the_request =
        matches!(error.kind, ModelErrorKind::InvalidRequest | ModelErrorKind::ModelMissing);
    // Some servers answer 500 to requests that they will never accept.
    let is_curable = matches!(status, 400 | 404 | 422 | 500..=599) && is_about_the_request;
    Failed { error, complaint: is_curable.then(|| Box::new(complaint)) }
}

/// The part of the body that arrives in time and fits.
async fn error_body(mut response: Response) -> String {
    let mut body = Vec::new();
    let read = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            body.extend_from_slice(&chunk);
            if body.len() >= MAX_ERROR_BODY_BYTES {
                break;
            }
        }
    };
    // The part that arrived before the timeout is still worth reading.
    let _in_time = timeout(ERROR_BODY_TIMEOUT, read).await;
    body.truncate(MAX_ERROR_BODY_BYTES);
    String::from_utf8_lossy(&body).into_owned()
}

/// The innermost cause: the outer ones only repeat that a request failed.
fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
