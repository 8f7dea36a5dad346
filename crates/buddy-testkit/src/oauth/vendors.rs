//! The two vendors that log people in their own way, beside the standard flows: a plan of `ChatGPT` and `OpenRouter`.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::oauth::provider::{CLIENT, Fields, Shared};
use crate::oauth::script::{Consent, Poll};
use crate::oauth::standard::{authorize, token};

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/oauth/authorize", get(authorize))
        .route("/oauth/token", post(token))
        .route("/api/accounts/deviceauth/usercode", post(user_code))
        .route("/api/accounts/deviceauth/token", post(device_token))
        .route("/auth", get(key_page))
        .route("/api/v1/auth/keys", post(keys))
}

async fn user_code(
    State(shared): State<Arc<Shared>>,
    uri: Uri,
    headers: HeaderMap,
    Json(fields): Json<Fields>,
) -> Response {
    shared.record(&uri, &headers, &fields);
    if fields.get("client_id").is_none_or(|client| client != CLIENT) {
        return StatusCode::BAD_REQUEST.into_response();
    }
    let mut inner = shared.inner();
    let device = inner.grants.secret("device");
    inner.devices.push(device.clone());
    let interval = inner.script.interval.to_string();
    Json(json!({ "device_auth_id": device, "user_code": "WXYZ-1234", "interval": interval })).into_response()
}

async fn device_token(
    State(shared): State<Arc<Shared>>,
    uri: Uri,
    headers: HeaderMap,
    Json(fields): Json<Fields>,
) -> Response {
    shared.record(&uri, &headers, &fields);
    let mut inner = shared.inner();
    let field = |name: &str| fields.get(name).cloned().unwrap_or_default();
    let device = inner.devices.iter().position(|known| *known == field("device_auth_id"));
    let Some(device) = device.filter(|_| field("user_code") == "WXYZ-1234") else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    if !inner.script.polls.is_empty() {
        let refused = |code: &str| (StatusCode::FORBIDDEN, Json(json!({ "error": { "code": code } })));
        return match inner.script.polls.remove(0) {
            Poll::Pending => StatusCode::FORBIDDEN.into_response(),
            Poll::SlowDown => StatusCode::NOT_FOUND.into_response(),
            Poll::Denied => refused("access_denied").into_response(),
            Poll::Expired => refused("expired_token").into_response(),
        };
    }
    inner.devices.remove(device);
    let (code, verifier) = (inner.grants.secret("code"), inner.grants.secret("verifier"));
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&verifier));
    let back = format!("{}/deviceauth/callback", shared.url);
    inner.codes.push((code.clone(), challenge, back));
    Json(json!({ "authorization_code": code, "code_verifier": verifier })).into_response()
}

async fn key_page(
    State(shared): State<Arc<Shared>>,
    uri: Uri,
    headers: HeaderMap,
    Query(fields): Query<Fields>,
) -> Response {
    shared.record(&uri, &headers, &fields);
    let field = |name: &str| fields.get(name).cloned().unwrap_or_default();
    if field("code_challenge_method") != "S256" || field("callback_url").is_empty() {
        return StatusCode::BAD_REQUEST.into_response();
    }
    let mut inner = shared.inner();
    let back = if inner.script.consent == Consent::Refused {
        field("callback_url")
    } else {
        let code = inner.grants.secret("code");
        inner.codes.push((code.clone(), field("code_challenge"), String::new()));
        format!("{}?code={code}", field("callback_url"))
    };
    (StatusCode::FOUND, [(header::LOCATION, back)]).into_response()
}

async fn keys(
    State(shared): State<Arc<Shared>>,
    uri: Uri,
    headers: HeaderMap,
    Json(fields): Json<Fields>,
) -> Response {
    shared.record(&uri, &headers, &fields);
    let field = |name: &str| fields.get(name).map(String::as_str).unwrap_or_default();
    let mut inner = shared.inner();
    match inner.exchange(field("code"), field("code_verifier"), "") {
        Ok(_) if field("code_challenge_method") == "S256" => {
            let key = inner.grants.secret("sk-or");
            Json(json!({ "key": key, "user_id": "u1" })).into_response()
        }
        _ => (StatusCode::FORBIDDEN, Json(json!({ "error": { "code": 403, "message": "Invalid code" } })))
            .into_response(),
    }
}
