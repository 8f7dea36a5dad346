//! The pages of the standard flows: device, browser, tokens, revocation.

use std::sync::Arc;

use axum::extract::{Form, Query, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::json;

use crate::oauth::provider::{CLIENT, Fields, Shared};
use crate::oauth::script::{Consent, TokenFault};

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/device", post(device))
        .route("/authorize", get(authorize))
        .route("/token", post(token))
        .route("/revoke", post(revoke))
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
