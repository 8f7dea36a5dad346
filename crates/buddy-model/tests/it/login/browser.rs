//! A browser on this machine, or on another one.

use std::future::pending;
use std::time::Duration;

use buddy_model::{Login, LoginError, LoginErrorKind, LoginGrant, LoginProvider, LoginTiming, Tokens};
use buddy_testkit::oauth::{Consent, OAuthScript, OAuthServer, Visited, follow, visit};
use secrecy::ExposeSecret;
use tokio::sync::oneshot;

use super::{login, provider, stage, without_secrets};

/// Logs in; the closure plays the browser that is given the address.
async fn browse<Did>(
    login: &Login,
    browser: impl AsyncFnOnce(String) -> Did,
) -> (Result<Tokens, LoginError>, Did) {
    let (opened, address) = oneshot::channel();
    let open = |url: &url::Url| opened.send(url.to_string()).unwrap();
    let (granted, did) =
        tokio::join!(login.browser(open, pending()), async { browser(address.await.unwrap()).await });
    (granted.map(tokens), did)
}

/// The tokens of a login that gives some.
fn tokens(grant: LoginGrant) -> Tokens {
    match grant {
        LoginGrant::Tokens(tokens) => tokens,
        LoginGrant::Key(_) => panic!("a key instead of tokens"),
    }
}

async fn consent(consent: Consent) -> (OAuthServer, Result<Tokens, LoginError>, Visited) {
    let (server, login) = stage(OAuthScript { consent, ..OAuthScript::default() }).await;
    let (tokens, visited) = browse(&login, async |url| follow(&url).await).await;
    without_secrets(&server, &format!("{tokens:?} {}", visited.body));
    (server, tokens, visited)
}

#[tokio::test]
async fn the_browser_comes_back_with_a_code() {
    let (server, tokens, visited) = consent(Consent::Given).await;
    assert!(server.is_good(tokens.unwrap().access.expose_secret()));
    assert_eq!(visited.status, 200);
    let asked = &server.requests()[0].fields;
    assert!(asked["redirect_uri"].starts_with("http://127.0.0.1:"), "{asked:?}");
    assert_eq!(
        (asked["scope"].as_str(), asked["audience"].as_str()),
        ("models offline_access", "https://api.example.com")
    );
}

#[tokio::test]
async fn a_refusal_and_a_foreign_answer_end_the_login() {
    let (_, tokens, visited) = consent(Consent::Refused).await;
    assert_eq!((tokens.unwrap_err().kind, visited.status), (LoginErrorKind::Denied, 400));
    let (server, tokens, _) = consent(Consent::ForeignState).await;
    assert_eq!(tokens.unwrap_err().kind, LoginErrorKind::Foreign);
    assert_eq!(server.requests().len(), 1, "the code of another login is not used");
}

#[tokio::test]
async fn the_issuer_is_checked_where_one_is_configured() {
    for (issuer, consent, is_good) in [
        (Some("https://id.example.com"), Consent::Given, true),
        (Some("https://id.example.com"), Consent::ForeignIssuer, false),
        (None, Consent::Given, false),
    ] {
        let issuer = issuer.map(str::to_owned);
        let server = OAuthServer::start(OAuthScript { issuer, consent, ..OAuthScript::default() }).await;
        let issuer = Some("https://id.example.com".to_owned());
        let login = login(LoginProvider { issuer, ..provider(&server) });
        let (tokens, _) = browse(&login, async |url| follow(&url).await).await;
        assert_eq!(tokens.is_ok(), is_good, "{tokens:?}");
    }
}

#[tokio::test]
async fn other_requests_are_turned_away_and_the_first_answer_counts() {
    let (_server, login) = stage(OAuthScript::default()).await;
    let (tokens, gone) = browse(&login, async |url| {
        let back = visit(&url).await.location.unwrap();
        let origin = back.split("/callback").next().unwrap().to_owned();
        // A connection that sends nothing must not hold up the one that does.
        let _silent = tokio::net::TcpStream::connect(origin.trim_start_matches("http://")).await.unwrap();
        for stray in ["/favicon.ico", "/", "/callback/x"] {
            assert_eq!(visit(&format!("{origin}{stray}")).await.status, 404, "{stray}");
        }
        assert_eq!(visit(&back).await.status, 200);
        origin
    })
    .await;
    assert!(tokens.is_ok());
    let address = gone.trim_start_matches("http://");
    assert!(tokio::net::TcpStream::connect(address).await.is_err(), "it listens no longer");
}

#[tokio::test]
async fn an_address_can_be_pasted() {
    let (server, login) = stage(OAuthScript::default()).await;
    let (opened, address) = oneshot::channel::<String>();
    let pasted = async { visit(&address.await.unwrap()).await.location.unwrap() + "\n" };
    let open = |url: &url::Url| drop(opened.send(url.to_string()));
    assert!(login.browser(open, pasted).await.is_ok());
    let error = login.browser(|_| (), async { "https://example.com/?code=x".to_owned() }).await.unwrap_err();
    assert_eq!(error.kind, LoginErrorKind::Foreign);
    without_secrets(&server, &error.to_string());
}

#[tokio::test]
async fn a_port_can_be_configured_and_may_be_taken() {
    let server = OAuthServer::start(OAuthScript::default()).await;
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    let redirect_path = Some("/auth/done".to_owned());
    let login = login(LoginProvider { redirect_port: Some(port), redirect_path, ..provider(&server) });
    let error = login.browser(|_| panic!("opened"), pending()).await.unwrap_err();
    assert!(error.message.contains(&format!("port {port}")), "{error}");
    drop(free);
    let (tokens, _) = browse(&login, async |url| follow(&url).await).await;
    assert!(tokens.is_ok());
    assert_eq!(server.requests()[0].fields["redirect_uri"], format!("http://127.0.0.1:{port}/auth/done"));
}

#[tokio::test]
async fn a_browser_is_not_waited_for_for_ever() {
    let (_server, login) = stage(OAuthScript::default()).await;
    let timing = LoginTiming { browser: Duration::from_millis(20), ..LoginTiming::default() };
    let error = login.with_timing(timing).browser(|_| (), pending()).await.unwrap_err();
    assert_eq!(error.kind, LoginErrorKind::Expired);
}
