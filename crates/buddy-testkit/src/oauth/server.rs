//! The server: device, page, tokens, revocation.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::{Form, Query, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::oauth::grants::{Grants, Issued};
use crate::oauth::script::{Consent, OAuthScript, Poll, TokenFault};
use crate::oauth::vendors;

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

/// A running provider; dropping it closes everything.
#[derive(Debug)]
pub struct OAuthServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    /// Owns the serving task.
    _tasks: JoinSet<()>,
}

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
    requests: Vec<OAuthRequest>,
}

impl OAuthServer {
    /// The only client that may log in.
    pub const CLIENT: &str = CLIENT;

    /// Starts a provider on a free port of this machine.
    pub async fn start(script: OAuthScript) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port on this machine");
        let address = listener.local_addr().expect("a bound listener");
        let mut grants = Grants::default();
        let script =
            OAuthScript { client_secret: script.client_secret.map(|_| grants.secret("client")), ..script };
        let (devices, codes, requests) = <(Vec<_>, Vec<_>, Vec<_>)>::default();
        let inner = Mutex::new(Inner { script, grants, devices, codes, requests });
        let shared = Arc::new(Shared { url: format!("http://{address}"), inner });
        let router = Router::new()
            .route("/device", post(device))
            .route("/authorize", get(authorize))
            .route("/token", post(token))
            .route("/revoke", post(revoke))
            .merge(vendors::routes())
            .with_state(shared.clone());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { drop(axum::serve(listener, router).await) });
        Self { address, shared, _tasks: tasks }
    }

    /// Its address, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Changes its behaviour from now on.
    pub fn change(&self, change: impl FnOnce(&mut OAuthScript)) {
        change(&mut self.shared.inner().script);
    }

    /// The secret of the client, if it has one.
    pub fn client_secret(&self) -> Option<String> {
        self.shared.inner().script.client_secret.clone()
    }

    /// Logs a user in without asking: returns the access token and the refresh token.
    pub fn grant(&self) -> (String, String) {
        let issued = self.shared.inner().grants.grant();
        (issued.access, issued.refresh.unwrap_or_default())
    }

    /// Whether an access token is the newest of a valid login.
    pub fn is_good(&self, access: &str) -> bool {
        self.shared.inner().grants.is_good(access)
    }

    /// The number of valid logins.
    pub fn live_logins(&self) -> usize {
        self.shared.inner().grants.live()
    }

    /// Every secret that it ever issued.
    pub fn secrets(&self) -> Vec<String> {
        self.shared.inner().grants.secrets()
    }

    /// Its requests, in order.
    pub fn requests(&self) -> Vec<OAuthRequest> {
        self.shared.inner().requests.clone()
    }

    /// The number of refresh requests.
    pub fn refreshes(&self) -> usize {
        let is_refresh = |request: &&OAuthRequest| {
            request.fields.get("grant_type").is_some_and(|kind| kind == "refresh_token")
        };
        self.requests().iter().filter(is_refresh).count()
    }
}

impl Shared {
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

async fn device(
    State(shared): State<Arc<Shared>>,
    uri: Uri,
    headers: HeaderMap,
    Form(fields): Form<Fields>,
) -> Response {
    shared.record(&uri, &headers, &fields);
    let mut inner = shared.inner();
    if !inner.is_client(&headers, &fields) {
        return refusal("invalid_client");
    }
    let device_code = inner.grants.secret("device");
    inner.devices.push(device_code.clone());
    let page = inner.script.verification_uri.clone().unwrap_or_else(|| format!("{}/activate", shared.url));
    Json(json!({
        "device_code": device_code,
        "user_code": "WXYZ-1234",
        "verification_uri": page,
        "verification_uri_complete": format!("{page}?user_code=WXYZ-1234"),
        "expires_in": inner.script.code_life,
        "interval": inner.script.interval,
    }))
    .into_response()
}

pub(super) async fn authorize(
    State(shared): State<Arc<Shared>>,
    uri: Uri,
    headers: HeaderMap,
    Query(fields): Query<Fields>,
) -> Response {
    shared.record(&uri, &headers, &fields);
    let field = |name: &str| fields.get(name).cloned().unwrap_or_default();
    let is_asked_well = field("response_type") == "code"
        && field("client_id") == CLIENT
        && field("code_challenge_method") == "S256";
    if !is_asked_well {
        return StatusCode::BAD_REQUEST.into_response();
    }
    let mut inner = shared.inner();
    let consent = inner.script.consent;
    let state = if consent == Consent::ForeignState { "another".to_owned() } else { field("state") };
    let mut answer = vec![("state", state)];
    if consent == Consent::Refused {
        answer.push(("error", "access_denied".to_owned()));
    } else {
        let code = inner.grants.secret("code");
        inner.codes.push((code.clone(), field("code_challenge"), field("redirect_uri")));
        answer.push(("code", code));
    }
    let issuer = match consent {
        Consent::ForeignIssuer => Some("https://evil.example.com".to_owned()),
        _ => inner.script.issuer.clone(),
    };
    answer.extend(issuer.map(|issuer| ("iss", issuer.replace(':', "%3A").replace('/', "%2F"))));
    let query: Vec<String> = answer.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let back = format!("{}?{}", field("redirect_uri"), query.join("&"));
    (StatusCode::FOUND, [(header::LOCATION, back)]).into_response()
}

pub(super) async fn token(
    State(shared): State<Arc<Shared>>,
    uri: Uri,
    headers: HeaderMap,
    Form(fields): Form<Fields>,
) -> Response {
    shared.record(&uri, &headers, &fields);
    let (delay, fault) = {
        let script = &mut shared.inner().script;
        (script.delay, (!script.faults.is_empty()).then(|| script.faults.remove(0)))
    };
    tokio::time::sleep(delay).await;
    if let Some(fault) = fault {
        return faulty(fault, &fields);
    }
    let mut inner = shared.inner();
    if !inner.is_client(&headers, &fields) {
        return refusal("invalid_client");
    }
    let field = |name: &str| fields.get(name).map(String::as_str).unwrap_or_default();
    let issued = match field("grant_type") {
        "refresh_token" => {
            let rotation = inner.script.rotation;
            inner.grants.refresh(field("refresh_token"), rotation).ok_or("invalid_grant")
        }
        "authorization_code" => inner.exchange(field("code"), field("code_verifier"), field("redirect_uri")),
        "urn:ietf:params:oauth:grant-type:device_code" => inner.poll(field("device_code")),
        _ => Err("unsupported_grant_type"),
    };
    match issued {
        Ok(issued) => Json(inner.answer(&issued)).into_response(),
        Err(code) => refusal(code),
    }
}

async fn revoke(
    State(shared): State<Arc<Shared>>,
    uri: Uri,
    headers: HeaderMap,
    Form(fields): Form<Fields>,
) -> Response {
    shared.record(&uri, &headers, &fields);
    let fault = {
        let script = &mut shared.inner().script;
        (!script.faults.is_empty()).then(|| script.faults.remove(0))
    };
    if let Some(fault) = fault {
        return faulty(fault, &fields);
    }
    shared.inner().grants.revoke(fields.get("token").map(String::as_str).unwrap_or_default());
    StatusCode::OK.into_response()
}

impl Inner {
    fn is_client(&self, headers: &HeaderMap, fields: &Fields) -> bool {
        match &self.script.client_secret {
            None => fields.get("client_id").is_some_and(|client| client == CLIENT),
            Some(secret) => {
                let expected = format!("Basic {}", STANDARD.encode(format!("{CLIENT}:{secret}")));
                headers.get(header::AUTHORIZATION).is_some_and(|shown| shown == expected.as_str())
            }
        }
    }

    fn poll(&mut self, device_code: &str) -> Result<Issued, &'static str> {
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

    fn answer(&self, issued: &Issued) -> Value {
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

fn refusal(code: &str) -> Response {
    let status = if code == "invalid_client" { StatusCode::UNAUTHORIZED } else { StatusCode::BAD_REQUEST };
    (status, Json(json!({ "error": code, "error_description": "as scripted" }))).into_response()
}

fn faulty(fault: TokenFault, fields: &Fields) -> Response {
    match fault {
        TokenFault::Answer(status, body) => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            (status, body).into_response()
        }
        TokenFault::Echo => {
            let words: Vec<&str> = fields.values().map(String::as_str).collect();
            let told = json!({ "error": "invalid_grant", "error_description": words.join(" ") });
            (StatusCode::BAD_REQUEST, Json(told)).into_response()
        }
        TokenFault::Redirect => {
            (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, "https://evil.example.com/")])
                .into_response()
        }
    }
}
