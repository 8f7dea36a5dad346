//! A request with the token of a login: fetched before each call, renewed once if the server refuses it.

use bytes::Bytes;
use reqwest::Response;

use crate::http::exchange::{Exchange, Failed};
use crate::login::account_header;
use crate::{Auth, LoginToken, Settings, TokenSource};

/// A response, and the credentials that the request had.
pub(super) struct Sent {
    pub(super) response: Response,
    pub(super) auth: Auth,
}

/// Sends the body with the credentials of the route. No error quotes the token.
pub(super) async fn send(
    exchange: &Exchange,
    auth: &Auth,
    body: Bytes,
    settings: &Settings,
) -> Result<Sent, Failed> {
    let Auth::Login(source) = auth else {
        let response = exchange.send(body, settings).await?;
        return Ok(Sent { response, auth: Auth::None });
    };
    let token = source.token(None).await?;
    match send_with(exchange, &token, body.clone(), settings).await {
        Err(failed) if failed.error.status == Some(401) => {}
        sent => return sent,
    }
    let token = source.token(Some(&token.secret)).await?;
    let sent = send_with(exchange, &token, body, settings).await;
    sent.map_err(|failed| advised(failed, &**source))
}

async fn send_with(
    exchange: &Exchange,
    token: &LoginToken,
    body: Bytes,
    settings: &Settings,
) -> Result<Sent, Failed> {
    let auth = Auth::Bearer(token.secret.clone());
    let mut headers = exchange.headers.clone();
    if let Some((name, value)) = auth.header()? {
        headers.insert(name, value);
    }
    headers.extend(account_header(token));
    let exchange = Exchange { client: exchange.client.clone(), url: exchange.url.clone(), headers };
    match exchange.send(body, settings).await {
        Ok(response) => Ok(Sent { response, auth }),
        Err(mut failed) => {
            failed.error.message = auth.redacted(failed.error.message);
            Err(failed)
        }
    }
}

fn advised(mut failed: Failed, source: &dyn TokenSource) -> Failed {
    if failed.error.status == Some(401) {
        failed.error.hint = Some(source.hint());
    }
    failed
}
