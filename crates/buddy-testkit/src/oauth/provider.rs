//! The provider behind the pages: its script, open logins, grants, and the requests that came.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::http::{HeaderMap, Uri, header};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::oauth::grants::{Grants, Issued};
use crate::oauth::script::{OAuthScript, Poll};

pub(super) type Fields = BTreeMap<String, String>;

/// The client that the provider knows.
pub(super) const CLIENT: &str = "buddy-test";

/// A request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OAuthRequest {
    /// The path.
    pub path: String,
    /// The fields of its form or query.
    pub fields: BTreeMap<String, String>,
    /// Its `authorization`.
    pub authorization: Option<String>,
}

/// The provider, as all requests share it.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) url: String,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) script: OAuthScript,
    pub(super) grants: Grants,
    /// Device codes that are not confirmed yet.
    pub(super) devices: Vec<String>,
    /// Codes of browsers that hold once: code, challenge, address to go back to.
    pub(super) codes: Vec<(String, String, String)>,
    pub(super) requests: Vec<OAuthRequest>,
}

impl Shared {
    pub(super) fn new(url: String, script: OAuthScript) -> Self {
        let mut grants = Grants::default();
        let script =
            OAuthScript { client_secret: script.client_secret.map(|_| grants.secret("client")), ..script };
        let (devices, codes, requests) = <(Vec<_>, Vec<_>, Vec<_>)>::default();
        Self { url, inner: Mutex::new(Inner { script, grants, devices, codes, requests }) }
    }

    pub(super) fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn record(&self, uri: &Uri, headers: &HeaderMap, fields: &Fields) {
        let authorization = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        self.inner().requests.push(OAuthRequest {
            path: uri.path().to_owned(),
            fields: fields.clone(),
            authorization: authorization.map(str::to_owned),
        });
    }
}

impl Inner {
    pub(super) fn is_client(&self, headers: &HeaderMap, fields: &Fields) -> bool {
        match &self.script.client_secret {
            None => fields.get("client_id").is_some_and(|client| client == CLIENT),
            Some(secret) => {
                let expected = format!("Basic {}", STANDARD.encode(format!("{CLIENT}:{secret}")));
                headers.get(header::AUTHORIZATION).is_some_and(|shown| shown == expected.as_str())
            }
        }
    }

    pub(super) fn poll(&mut self, device_code: &str) -> Result<Issued, &'static str> {
        let Some(position) = self.devices.iter().position(|known| known == device_code) else {
            return Err("invalid_grant");
        };
        if !self.script.polls.is_empty() {
            return Err(match self.script.polls.remove(0) {
                Poll::Pending => "authorization_pending",
                Poll::SlowDown => "slow_down",
                Poll::Denied => "access_denied",
                Poll::Expired => "expired_token",
            });
        }
        self.devices.remove(position);
        Ok(self.grants.grant())
    }

    pub(super) fn exchange(
        &mut self,
        code: &str,
        verifier: &str,
        redirect: &str,
    ) -> Result<Issued, &'static str> {
        let position = self.codes.iter().position(|(known, _, _)| known == code).ok_or("invalid_grant")?;
        let (_, challenge, back) = self.codes.remove(position);
        let is_proven = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier)) == challenge;
        if is_proven && back == redirect { Ok(self.grants.grant()) } else { Err("invalid_grant") }
    }

    pub(super) fn answer(&self, issued: &Issued) -> Value {
        let mut claims = json!({ "sub": "u1", "email": "person@example.com" });
        if let Some(account) = &self.script.plan_account {
            claims["https://api.openai.com/auth"] = json!({ "chatgpt_account_id": account });
        }
        let claims = URL_SAFE_NO_PAD.encode(claims.to_string());
        let mut answer = json!({
            "access_token": issued.access,
            "token_type": "Bearer",
            "scope": "models",
            "id_token": format!("e30.{claims}.unsigned"),
        });
        if let Some(refresh) = &issued.refresh {
            answer["refresh_token"] = refresh.as_str().into();
        }
        if let Some(life) = self.script.token_life {
            answer["expires_in"] = life.into();
        }
        answer
    }
}
