//! Redirects: buddy follows each itself, and judges each hop as if it came first.

use std::sync::Arc;

use reqwest::header::{AUTHORIZATION, COOKIE, HeaderMap, HeaderValue};

use crate::tests::stage::{Private, Server, answer, fetcher, get, settings, usual_names};
use crate::{FetchError, Redirects, WebUrl};

async fn redirecting(status: &'static str, to: String) -> Server {
    Server::start(move |path| match path {
        "/start" => answer(status, &format!("location: {to}\r\n"), ""),
        path => answer("200 OK", "", path),
    })
    .await
}

const STATUSES: &[&str] = &["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"];

#[tokio::test]
async fn a_redirect_to_this_machine_is_refused_at_the_hop() {
    let private = Private::listen("127.0.0.1");
    for status in STATUSES {
        for host in ["127.0.0.1", "localhost.", "2130706433", "[::ffff:7f00:1]"] {
            let server = redirecting(status, format!("http://{host}:{}/", private.port())).await;
            let error = get(&fetcher(&usual_names(), settings()), &server.url("public.test", "/start")).await;
            let error = error.unwrap_err();
            assert!(matches!(error, FetchError::BadRedirect { .. }), "{status} {host}: {error}");
            private.saw_nothing(host);
            assert_eq!(server.heads().len(), 1);
        }
    }
    assert!(private.sees_connections());
}

#[tokio::test]
async fn a_redirect_out_of_the_web_is_refused() {
    for to in [
        "file:///etc/passwd",
        "gopher://public.test/",
        "ftp://public.test/",
        "data:text/plain,x",
        "javascript:1",
        "http://name@public.test/",
        "\\\\public.test\\x",
    ] {
        let server = redirecting("302 Found", to.to_owned()).await;
        let error = get(&fetcher(&usual_names(), settings()), &server.url("public.test", "/start")).await;
        let error = error.unwrap_err();
        assert!(matches!(error, FetchError::BadRedirect { .. }), "{to}: {error}");
    }
}

#[tokio::test]
async fn a_refresh_in_a_page_is_not_followed() {
    let private = Private::listen("127.0.0.1");
    let page = format!("<meta http-equiv=refresh content='0; url=http://127.0.0.1:{}/'>stay", private.port());
    let refresh =
        format!("refresh: 0; url=http://127.0.0.1:{}/\r\ncontent-type: text/html\r\n", private.port());
    let server = Server::start(move |_| answer("200 OK", &refresh, &page)).await;
    let fetched = get(&fetcher(&usual_names(), settings()), &server.url("public.test", "/")).await.unwrap();
    assert!(fetched.body.ends_with(b"stay"));
    private.saw_nothing("refresh");
}

#[tokio::test]
async fn relative_redirects_are_followed_and_the_last_address_is_returned() {
    let server = redirecting("302 Found", "../end?x=1".to_owned()).await;
    let fetched =
        get(&fetcher(&usual_names(), settings()), &server.url("public.test", "/start")).await.unwrap();
    assert_eq!(fetched.url.as_str(), server.url("public.test", "/end?x=1"));
    assert_eq!(fetched.body, b"/end?x=1");
}

#[tokio::test]
async fn five_redirects_are_followed_and_a_sixth_is_not() {
    let server = Server::start(|path| {
        let hop: u32 = path.trim_start_matches('/').parse().unwrap();
        match hop {
            0 => answer("200 OK", "", "arrived"),
            hop => answer("302 Found", &format!("location: /{}\r\n", hop - 1), ""),
        }
    })
    .await;
    let fetcher = fetcher(&usual_names(), settings());
    assert_eq!(get(&fetcher, &server.url("public.test", "/5")).await.unwrap().body, b"arrived");
    let seen = server.heads().len();
    let error = get(&fetcher, &server.url("public.test", "/6")).await.unwrap_err();
    assert!(matches!(error, FetchError::TooManyRedirects { .. }), "{error}");
    assert_eq!(server.heads().len() - seen, 6);
}

#[tokio::test]
async fn secrets_stay_with_the_origin_that_they_are_for() {
    let other = Server::start(|_| answer("200 OK", "", "end")).await;
    let away = other.url("other.test", "/away");
    let server = Server::start(move |path| match path {
        "/start" => answer("302 Found", "location: /same\r\nset-cookie: planted=1\r\n", ""),
        _ => answer("307 Temporary", &format!("location: {away}\r\n"), ""),
    })
    .await;
    let mut headers = HeaderMap::new();
    headers.insert(AUTHORIZATION, HeaderValue::from_static("Bearer secret"));
    headers.insert(COOKIE, HeaderValue::from_static("session=secret"));
    headers.insert("x-key", HeaderValue::from_static("secret"));
    let url = WebUrl::parse(&server.url("public.test", "/start")).unwrap();
    let fetched = fetcher(&usual_names(), settings()).get_with(url, headers).await.unwrap();
    assert_eq!(fetched.body, b"end");
    let heads = server.heads();
    assert!(heads.len() == 2 && heads.iter().all(|head| head.contains("Bearer secret")), "{heads:?}");
    assert!(heads.iter().all(|head| !head.contains("planted")), "{heads:?}");
    let heads = other.heads();
    assert!(heads.len() == 1 && !heads[0].contains("secret") && !heads[0].contains("referer"), "{heads:?}");
}

#[tokio::test]
async fn a_redirect_to_another_host_carries_nothing_there_unless_that_is_allowed() {
    let other = Server::start(|_| answer("200 OK", "", "end")).await;
    for (is_allowed, connections) in [(false, 0), (true, 1)] {
        let away = other.url("other.test", "/?k=secret");
        let server = Server::start(move |path| match path {
            "/start" => answer("302 Found", "location: /same\r\n", ""),
            _ => answer("302 Found", &format!("location: {away}\r\n"), ""),
        })
        .await;
        let redirects: Redirects = Arc::new(move |to| {
            assert_eq!(to.host(), "other.test", "the same host needs no leave");
            is_allowed
        });
        let url = WebUrl::parse(&server.url("public.test", "/start")).unwrap();
        let fetched = fetcher(&usual_names(), settings()).get_within(url, &redirects).await;
        assert_eq!((fetched.is_ok(), other.heads().len()), (is_allowed, connections), "{fetched:?}");
        if let Err(error) = fetched {
            assert!(
                matches!(&error, FetchError::LeadsElsewhere { to, .. } if to.contains("/?k=secret")),
                "{error}"
            );
        }
    }
}
