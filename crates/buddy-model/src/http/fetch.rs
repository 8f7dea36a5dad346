//! One small question beside the conversation, answered with JSON, soon or not at all.

use std::time::Duration;

use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use serde_json::Value;
use tokio::time::timeout;
use url::Url;

use crate::error::Retry;
use crate::http::client;
use crate::http::exchange::{refused, unreachable};
use crate::{Auth, Endpoint, ModelError, ModelErrorKind, Settings, WireError};

/// Largest answer that is read: a list of hundreds of models with their templates.
const MAX_ANSWER_BYTES: usize = 8 * 1024 * 1024;

/// How long a question may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    pub(crate) connect: Duration,
    pub(crate) total: Duration,
}

/// Asks questions of one endpoint.
#[derive(Debug)]
pub(crate) struct Fetch<'a> {
    client: reqwest::Client,
    auth: &'a Auth,
    patience: Patience,
}

impl<'a> Fetch<'a> {
    pub(crate) fn new(endpoint: &Endpoint, auth: &'a Auth, patience: Patience) -> Result<Self, ModelError> {
        let settings = Settings { connect_timeout: patience.connect, ..Settings::default() };
        Ok(Self { client: client::build(endpoint, &settings)?, auth, patience })
    }

    /// What the server shows under this URL.
    pub(crate) async fn get(&self, url: Url) -> Result<Value, ModelError> {
        self.ask(Method::GET, url, None).await
    }

    /// What the server answers to this body.
    pub(crate) async fn post(&self, url: Url, body: &Value) -> Result<Value, ModelError> {
        self.ask(Method::POST, url, Some(body)).await
    }

    async fn ask(&self, method: Method, url: Url, body: Option<&Value>) -> Result<Value, ModelError> {
        let answer = timeout(self.patience.total, self.exchange(method, url, body)).await;
        let mut error = match answer {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(error)) => error,
            Err(_) => {
                let message = format!("no answer within {} s", self.patience.total.as_secs_f64());
                ModelError::new(ModelErrorKind::Timeout, message).with_retry(Retry::Soon)
            }
        };
        error.message = self.auth.redacted(error.message);
        Err(error)
    }

    async fn exchange(&self, method: Method, url: Url, body: Option<&Value>) -> Result<Value, ModelError> {
        let mut request = self.client.request(method, url.clone()).header(ACCEPT, "application/json");
        if let Some((name, value)) = self.auth.header()? {
            request = request.header(name, value);
        }
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
