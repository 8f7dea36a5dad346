//! One small request beside the conversation, answered with JSON, within a short timeout.

use std::time::Duration;

use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use serde_json::Value;
use tokio::time::timeout;
use url::Url;

use crate::error::Retry;
use crate::http::client;
use crate::http::exchange::{headers, refused, unreachable};
use crate::{Auth, ModelError, ModelErrorKind, Route, Settings, WireError};

/// The maximum size of an answer: a list of hundreds of models with their templates.
const MAX_ANSWER_BYTES: usize = 8 * 1024 * 1024;

/// The timeouts of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    pub(crate) connect: Duration,
    pub(crate) total: Duration,
}

/// Sends requests to one route's endpoint, with the same headers and credentials as its calls.
#[derive(Debug)]
pub(crate) struct Fetch<'a> {
    client: reqwest::Client,
    headers: HeaderMap,
    auth: &'a Auth,
    patience: Patience,
}

/// One request.
struct Question<'a> {
    method: Method,
    url: Url,
    body: Option<&'a Value>,
}

impl<'a> Fetch<'a> {
    pub(crate) fn new(route: &'a Route, patience: Patience) -> Result<Self, ModelError> {
        let settings = Settings { connect_timeout: patience.connect, ..Settings::default() };
        let client = client::build(&route.endpoint, &settings)?;
        Ok(Self { client, headers: headers(route)?, auth: &route.auth, patience })
    }

    /// The JSON at this URL.
    pub(crate) async fn get(&self, url: Url) -> Result<Value, ModelError> {
        self.ask(Question { method: Method::GET, url, body: None }).await
    }

    /// The JSON answer to this body.
    pub(crate) async fn post(&self, url: Url, body: &Value) -> Result<Value, ModelError> {
        self.ask(Question { method: Method::POST, url, body: Some(body) }).await
    }

    async fn ask(&self, question: Question<'_>) -> Result<Value, ModelError> {
        // Outside the timeout, because renewing a token must not be cut off. A refused token is not renewed:
        // servers refuse some pages to every login.
        let auth = match self.auth {
            Auth::Login(source) => Auth::Bearer(source.token(None).await?.secret),
            auth => auth.clone(),
        };
        let answer = timeout(self.patience.total, self.exchange(question, &auth)).await;
        let mut error = match answer {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(error)) => error,
            Err(_) => {
                let message = format!("no answer within {} s", self.patience.total.as_secs_f64());
                ModelError::new(ModelErrorKind::Timeout, message).with_retry(Retry::Soon)
            }
        };
        error.message = auth.redacted(error.message);
        Err(error)
    }

    async fn exchange(&self, question: Question<'_>, auth: &Auth) -> Result<Value, ModelError> {
        let Question { method, url, body } = question;
        let mut headers = self.headers.clone();
        if let (Auth::Login(_), Some((name, value))) = (self.auth, auth.header()?) {
            headers.insert(name, value);
        }
        let request = self.client.request(method, url.clone());
        let mut request = request.header(ACCEPT, "application/json").headers(headers);
        if let Some(body) = body {
            request = request.header(CONTENT_TYPE, "application/json").body(body.to_string());
        }
        let mut response = request.send().await.map_err(|error| unreachable(&url, error))?;
        if !response.status().is_success() {
            return Err(refused(response).await.error);
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| unreachable(&url, error))? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > MAX_ANSWER_BYTES {
                return Err(WireError::TooLarge.into_model_error());
            }
        }
        serde_json::from_slice(&bytes).map_err(|error| {
            ModelError::new(ModelErrorKind::BadStream, format!("the answer is not JSON: {error}"))
        })
    }
}
