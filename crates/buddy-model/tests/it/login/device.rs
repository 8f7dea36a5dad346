//! A code on another device.

use std::time::{Duration, Instant};

use buddy_model::{LoginErrorKind, Tokens};
use buddy_protocol::UnixMillis;
use buddy_testkit::oauth::{OAuthScript, OAuthServer, Poll, TokenFault};
use secrecy::ExposeSecret;

use super::{NOW, login, provider, stage, without_secrets};

async fn check(script: OAuthScript) -> (OAuthServer, Result<Tokens, LoginErrorKind>) {
    let (server, login) = stage(script).await;
    let tokens = login.device(|_| ()).await;
    without_secrets(&server, &format!("{tokens:?} {login:?}"));
    (server, tokens.map_err(|error| error.kind))
}

#[tokio::test]
async fn a_code_is_shown_and_confirmed() {
    let (server, login) = stage(OAuthScript::default()).await;
    let mut shown = None;
    let tokens = login.device(|code| shown = Some(code.clone())).await.unwrap();
    let shown = shown.unwrap();
    assert_eq!(shown.code, "WXYZ-1234");
    assert_eq!(shown.url, format!("{}/activate", server.url()));
    assert_eq!(
        shown.complete_url.as_deref(),
        Some(&*format!("{}/activate?user_code=WXYZ-1234", server.url()))
    );
    without_secrets(&server, &format!("{shown:?}"));
    assert!(server.is_good(tokens.access.expose_secret()));
    assert!(tokens.refresh.is_some());
    assert_eq!(tokens.expires_at, Some(UnixMillis(NOW + 3_600_000)));
    assert_eq!(
        (tokens.account.as_deref(), tokens.scope.as_deref()),
        (Some("person@example.com"), Some("models"))
    );
    let asked = &server.requests()[0];
    assert_eq!(asked.fields["scope"], "models offline_access");
    assert_eq!(asked.fields["audience"], "https://api.example.com");
    assert_eq!(asked.fields["client_id"], OAuthServer::CLIENT);
}

#[tokio::test]
async fn pending_codes_are_asked_for_again() {
    let (server, tokens) =
        check(OAuthScript { polls: vec![Poll::Pending; 3], ..OAuthScript::default() }).await;
    assert!(tokens.is_ok());
    assert_eq!(server.requests().len(), 5);
}

#[tokio::test]
async fn slow_down_slows_down_for_good() {
    let polls = vec![Poll::SlowDown, Poll::Pending, Poll::SlowDown];
    let began = Instant::now();
    let (_, tokens) = check(OAuthScript { polls, ..OAuthScript::default() }).await;
    assert!(tokens.is_ok());
    // 40 ms after the first, 40 after the second, 80 after the third.
    assert!(began.elapsed() >= Duration::from_millis(160), "{:?}", began.elapsed());
}

#[tokio::test]
async fn denied_expired_and_forgotten_codes_end_the_login() {
    for (poll, kind) in [(Poll::Denied, LoginErrorKind::Denied), (Poll::Expired, LoginErrorKind::Expired)] {
        let (_, tokens) =
            check(OAuthScript { polls: vec![Poll::Pending, poll], ..OAuthScript::default() }).await;
        assert_eq!(tokens.unwrap_err(), kind);
    }
    let script = OAuthScript {
        polls: vec![Poll::Pending; 100_000],
        code_life: 1,
        interval: 0,
        ..OAuthScript::default()
    };
    let began = Instant::now();
    let (_, tokens) = check(script).await;
    assert_eq!(tokens.unwrap_err(), LoginErrorKind::Expired);
    assert!(began.elapsed() < Duration::from_secs(10), "the login has a bound of its own");
}

#[tokio::test]
async fn trouble_on_the_way_does_not_end_the_login() {
    let faults = vec![TokenFault::Answer(503, "busy".to_owned())];
    let (_, tokens) = check(OAuthScript { faults, ..OAuthScript::default() }).await;
    assert!(tokens.is_ok());
}

#[tokio::test]
async fn answers_that_make_no_sense_end_it() {
    for fault in [
        TokenFault::Answer(200, "<html>".to_owned()),
        TokenFault::Answer(404, String::new()),
        TokenFault::Redirect,
    ] {
        let (_, tokens) = check(OAuthScript { faults: vec![fault], ..OAuthScript::default() }).await;
        assert_eq!(tokens.unwrap_err(), LoginErrorKind::BadAnswer);
    }
}

#[tokio::test]
async fn an_unsafe_address_is_never_shown() {
    for uri in ["file:///etc/passwd", "--x", "$(X)", "http://evil.example.com/"] {
        let verification_uri = Some(uri.to_owned());
        let (_server, login) = stage(OAuthScript { verification_uri, ..OAuthScript::default() }).await;
        let error = login.device(|_| panic!("shown")).await.unwrap_err();
        assert_eq!(error.kind, LoginErrorKind::BadAnswer, "{uri}");
    }
}

#[tokio::test]
async fn a_client_with_a_secret_shows_it_in_the_header_only() {
    let script = OAuthScript { client_secret: Some(String::new()), ..OAuthScript::default() };
    let (server, tokens) = check(script).await;
    assert!(tokens.is_ok());
    let requests = server.requests();
    assert!(requests.iter().all(|request| request.authorization.is_some()));
    assert!(requests.iter().all(|request| !request.fields.contains_key("client_secret")));
    let wrong =
        login(buddy_model::LoginProvider { client_secret: Some("wrong".into()), ..provider(&server) });
    assert_eq!(wrong.device(|_| ()).await.unwrap_err().kind, LoginErrorKind::Refused);
}

#[tokio::test]
async fn a_provider_without_device_codes_says_so() {
    let server = OAuthServer::start(OAuthScript::default()).await;
    let without = login(buddy_model::LoginProvider { device_url: None, ..provider(&server) });
    assert_eq!(without.device(|_| ()).await.unwrap_err().message, "login `acme`: `device_url` is not set");
}
