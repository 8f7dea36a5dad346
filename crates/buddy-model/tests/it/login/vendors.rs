//! The vendors that log people in their own way: a plan of `ChatGPT` and `OpenRouter`.

use std::future::pending;

use buddy_model::{Login, LoginErrorKind, LoginGrant, LoginProtocol, LoginProvider};
use buddy_testkit::oauth::{Consent, OAuthScript, OAuthServer, Poll, follow, visit};
use secrecy::ExposeSecret;
use tokio::sync::oneshot;

use super::{login, without_secrets};

fn plan(server: &OAuthServer) -> LoginProvider {
    let url = |path: &str| format!("{}/{path}", server.url());
    LoginProvider {
        name: "chatgpt".to_owned(),
        protocol: LoginProtocol::Chatgpt,
        client_id: OAuthServer::CLIENT.to_owned(),
        authorize_url: Some(url("oauth/authorize")),
        token_url: url("oauth/token"),
        device_url: Some(url("api/accounts/deviceauth/usercode")),
        redirect_path: Some("/auth/callback".to_owned()),
        ..LoginProvider::default()
    }
}

fn router(server: &OAuthServer) -> LoginProvider {
    LoginProvider {
        name: "openrouter".to_owned(),
        protocol: LoginProtocol::Openrouter,
        authorize_url: Some(format!("{}/auth", server.url())),
        token_url: format!("{}/api/v1/auth/keys", server.url()),
        ..LoginProvider::default()
    }
}

async fn with_account(polls: Vec<Poll>) -> OAuthServer {
    let plan_account = Some("acc-7".to_owned());
    OAuthServer::start(OAuthScript { polls, plan_account, ..OAuthScript::default() }).await
}

/// The tokens of a login whose page a browser opens and follows.
async fn browsed(login: &Login) -> Result<LoginGrant, buddy_model::LoginError> {
    let (opened, address) = oneshot::channel();
    let open = |url: &url::Url| opened.send(url.to_string()).unwrap();
    let browser = async { follow(&address.await.unwrap()).await };
    tokio::join!(login.browser(open, pending()), browser).0
}

#[tokio::test]
async fn a_plan_s_code_is_waited_for_and_exchanged() {
    let server = with_account(vec![Poll::Pending, Poll::SlowDown, Poll::Pending]).await;
    let mut shown = None;
    let tokens = login(plan(&server)).device(|code| shown = Some(code.clone())).await.unwrap();
    let shown = shown.unwrap();
    assert_eq!((shown.code.as_str(), shown.url), ("WXYZ-1234", format!("{}/codex/device", server.url())));
    assert!(server.is_good(tokens.access.expose_secret()));
    assert_eq!(tokens.account_id.as_deref(), Some("acc-7"));
    without_secrets(&server, &format!("{tokens:?}"));
    let renewed = login(plan(&server)).refresh(&tokens.refresh.unwrap()).await.unwrap();
    assert!(server.is_good(renewed.access.expose_secret()));
}

#[tokio::test]
async fn a_plan_s_final_word_ends_the_login() {
    for (poll, kind) in [(Poll::Denied, LoginErrorKind::Denied), (Poll::Expired, LoginErrorKind::Expired)] {
        let server = with_account(vec![Poll::Pending, poll]).await;
        assert_eq!(login(plan(&server)).device(|_| ()).await.unwrap_err().kind, kind);
    }
}

#[tokio::test]
async fn a_plan_s_browser_comes_back_to_the_name_that_the_vendor_knows() {
    let server = with_account(Vec::new()).await;
    let Ok(LoginGrant::Tokens(tokens)) = browsed(&login(plan(&server))).await else { panic!("no tokens") };
    assert_eq!(tokens.account_id.as_deref(), Some("acc-7"));
    let asked = &server.requests()[0].fields;
    assert!(asked["redirect_uri"].starts_with("http://localhost:"), "{asked:?}");
    assert!(asked["redirect_uri"].ends_with("/auth/callback"), "{asked:?}");
}

#[tokio::test]
async fn a_code_of_openrouter_becomes_a_key() {
    let server = OAuthServer::start(OAuthScript::default()).await;
    let Ok(LoginGrant::Key(key)) = browsed(&login(router(&server))).await else { panic!("no key") };
    assert!(key.expose_secret().starts_with("sk-or-"));
    let asked = &server.requests()[0].fields;
    assert!(asked["callback_url"].starts_with("http://localhost:"), "{asked:?}");
}

#[tokio::test]
async fn openrouter_without_consent_and_foreign_answers_give_no_key() {
    let refusing = OAuthScript { consent: Consent::Refused, ..OAuthScript::default() };
    let server = OAuthServer::start(refusing).await;
    assert_eq!(browsed(&login(router(&server))).await.unwrap_err().kind, LoginErrorKind::Denied);
    let server = OAuthServer::start(OAuthScript::default()).await;
    let (opened, address) = oneshot::channel();
    let open = |url: &url::Url| opened.send(url.to_string()).unwrap();
    let stranger = async {
        let back = visit(&address.await.unwrap()).await.location.unwrap();
        let (path, code) = back.split_once('?').unwrap();
        // The path without its last part, which only this login knows.
        let (path, _) = path.rsplit_once('/').unwrap();
        assert_eq!(visit(&format!("{path}/guessed?{code}")).await.status, 404);
        visit(&back).await
    };
    let login = login(router(&server));
    assert!(tokio::join!(login.browser(open, pending()), stranger).0.is_ok());
}

#[tokio::test]
async fn the_address_of_openrouter_s_answer_can_be_pasted() {
    let server = OAuthServer::start(OAuthScript::default()).await;
    let (opened, address) = oneshot::channel();
    let open = |url: &url::Url| opened.send(url.to_string()).unwrap();
    let pasted = async { visit(&address.await.unwrap()).await.location.unwrap() };
    let granted = login(router(&server)).browser(open, pasted).await;
    assert!(matches!(granted, Ok(LoginGrant::Key(_))), "{granted:?}");
}

#[tokio::test]
async fn a_port_that_is_taken_is_no_obstacle_for_openrouter() {
    let taken = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let server = OAuthServer::start(OAuthScript::default()).await;
    let redirect_port = Some(taken.local_addr().unwrap().port());
    let login = login(LoginProvider { redirect_port, ..router(&server) });
    assert!(matches!(browsed(&login).await, Ok(LoginGrant::Key(_))));
}
