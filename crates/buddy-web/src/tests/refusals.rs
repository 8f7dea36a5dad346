//! Addresses that are refused before any connection.

use std::sync::Arc;

use crate::tests::stage::{Names, Private, Server, answer, fetcher, get, settings, usual_names};
use crate::{FetchError, FetchSettings, Fetcher, WebUrl};

#[tokio::test]
async fn a_public_host_is_fetched_from() {
    let server = Server::start(|_| answer("404 Not Found", "content-type: text/plain\r\n", "gone")).await;
    let fetched = get(&fetcher(&usual_names(), settings()), &server.url("public.test", "/a")).await.unwrap();
    assert_eq!((fetched.status, fetched.body.as_slice(), fetched.is_cut), (404, &b"gone"[..], false));
    assert_eq!(fetched.content_type.as_deref(), Some("text/plain"));
    let heads = server.heads();
    assert!(heads.len() == 1 && heads[0].starts_with("GET /a HTTP/1.1\r\n"), "{heads:?}");
}

#[tokio::test]
async fn this_machine_is_refused_in_every_spelling() {
    let private = Private::listen("127.0.0.1");
    let port = private.port();
    let fetcher = Fetcher::new(settings());
    for host in [
        "127.0.0.1",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "017700000001",
        "127.1",
        "127.0.1",
        "0.0.0.0",
        "0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[0:0:0:0:0:ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
    ] {
        let error = get(&fetcher, &format!("http://{host}:{port}/")).await.unwrap_err();
        let is_refused = matches!(error, FetchError::NotPublic { .. } | FetchError::Unresolved { .. });
        assert!(is_refused, "{host}: {error}");
        private.saw_nothing(host);
    }
    assert!(private.sees_connections());
}

#[test]
fn this_machine_is_refused_without_a_lookup() {
    let fetcher =
        Fetcher::new(FetchSettings { allowed_hosts: vec!["localhost:8080".parse().unwrap()], ..settings() });
    let refusal = |url: &str| fetcher.refuses(&WebUrl::parse(url).unwrap()).map(|error| error.to_string());
    for (url, told) in [
        ("http://localhost:3000/", "`localhost:3000` is at 127.0.0.1, which is not on the public internet"),
        ("http://LOCALHOST.:3000/", "is at 127.0.0.1, which is not on the public internet"),
        ("http://app.localhost/", "is at 127.0.0.1, which is not on the public internet"),
        ("http://127.0.0.1:3000/", "`127.0.0.1:3000` is not on the public internet"),
        ("http://[::1]:3000/", "`[::1]:3000` is not on the public internet"),
    ] {
        let refused = refusal(url).unwrap_or_default();
        assert!(refused.ends_with(told), "{url}: {refused}");
    }
    for url in ["http://localhost:8080/", "http://localhost.evil.test/", "http://inside.test/"] {
        assert_eq!(refusal(url), None, "{url}");
    }
}

#[tokio::test]
async fn this_machine_is_refused_over_ipv6() {
    let private = Private::listen("::1");
    let fetcher = Fetcher::new(settings());
    for host in ["[::1]", "[0:0:0:0:0:0:0:1]", "[::]"] {
        let error = get(&fetcher, &format!("http://{host}:{}/", private.port())).await.unwrap_err();
        assert!(matches!(error, FetchError::NotPublic { .. }), "{host}: {error}");
        private.saw_nothing(host);
    }
}

#[tokio::test]
async fn networks_and_services_of_clouds_are_refused() {
    let fetcher = Fetcher::new(settings());
    for host in [
        "100.64.0.1",
        "169.254.169.254",
        "100.100.100.200",
        "[fd00:ec2::254]",
        "192.0.0.192",
        "10.0.0.1",
        "192.168.1.1",
    ] {
        let error = get(&fetcher, &format!("http://{host}/latest/meta-data/")).await.unwrap_err();
        assert!(matches!(error, FetchError::NotPublic { .. }), "{host}: {error}");
    }
}

#[tokio::test]
async fn a_name_is_judged_by_its_addresses_and_not_by_its_letters() {
    let private = Private::listen("127.0.0.1");
    let server = Server::start(|_| answer("200 OK", "", "public")).await;
    let names = Names::default()
        .with("127.evil.test", &[&["127.0.0.2"]])
        .with("localhost.evil.test", &[&["127.0.0.2"]])
        .with("inside.test", &[&["127.0.0.1"]])
        .with("mapped.test", &[&["::ffff:127.0.0.1"]])
        .with("mixed.test", &[&["127.0.0.2", "127.0.0.1"]]);
    let fetcher = fetcher(&Arc::new(names), settings());
    for host in ["127.evil.test", "localhost.evil.test"] {
        assert_eq!(get(&fetcher, &server.url(host, "/")).await.unwrap().body, b"public");
    }
    for host in ["inside.test", "mapped.test", "mixed.test"] {
        let error = get(&fetcher, &format!("http://{host}:{}/", private.port())).await.unwrap_err();
        assert!(matches!(error, FetchError::NotPublic { .. }), "{host}: {error}");
        private.saw_nothing(host);
    }
}

#[tokio::test]
async fn a_name_that_moves_after_the_check_leads_to_the_checked_address() {
    let server = Server::start(|_| answer("200 OK", "", "public")).await;
    let names = Arc::new(Names::default().with("moving.test", &[&["127.0.0.2"], &["127.0.0.1"]]));
    let fetcher = fetcher(&names, settings());
    let fetched = get(&fetcher, &server.url("moving.test", "/")).await.unwrap();
    assert_eq!(fetched.body, b"public");
    assert_eq!(names.asked(), ["moving.test"]);
    // The next fetch looks the name up again, and is refused.
    let error = get(&fetcher, &server.url("moving.test", "/")).await.unwrap_err();
    assert!(matches!(error, FetchError::NotPublic { .. }), "{error}");
    assert_eq!(server.heads().len(), 1);
}

#[tokio::test]
async fn a_name_that_does_not_resolve_is_refused() {
    let names = Arc::new(Names::default().with("empty.test", &[&[]]));
    let fetcher = fetcher(&names, settings());
    for host in ["unknown.test", "empty.test", "silent.test"] {
        let error = get(&fetcher, &format!("http://{host}/")).await.unwrap_err();
        assert!(matches!(error, FetchError::Unresolved { .. }), "{host}: {error}");
    }
}

#[tokio::test]
async fn ambiguous_urls_reach_no_host() {
    let private = Private::listen("127.0.0.1");
    let fetcher = fetcher(&usual_names(), settings());
    let port = private.port();
    for url in [
        format!("http://public.test@127.0.0.1:{port}/"),
        format!("http://public.test\\@127.0.0.1:{port}/"),
        format!("http:/\\127.0.0.1:{port}/"),
        format!("http://127.0.0.1\t:{port}/"),
        format!("http://public.test/\r\nx: y\r\n@127.0.0.1:{port}/"),
        "file:///etc/passwd".to_owned(),
    ] {
        let error = get(&fetcher, &url).await.unwrap_err();
        assert!(matches!(error, FetchError::BadUrl { .. }), "{url}: {error}");
        private.saw_nothing(&url);
    }
}

#[tokio::test]
async fn an_allowed_host_is_fetched_from_and_its_neighbours_are_not() {
    let server = Server::start(|_| answer("200 OK", "", "inside")).await;
    let port = server.address.port();
    let allowed = vec![format!("127.0.0.2:{port}").parse().unwrap()];
    let fetcher = Fetcher::new(FetchSettings { allowed_hosts: allowed, ..settings() });
    assert_eq!(get(&fetcher, &server.url("127.0.0.2", "/")).await.unwrap().body, b"inside");
    let private = Private::listen("127.0.0.2");
    let error = get(&fetcher, &format!("http://127.0.0.2:{}/", private.port())).await.unwrap_err();
    assert!(matches!(error, FetchError::NotPublic { .. }), "{error}");
    private.saw_nothing("another port");
}
