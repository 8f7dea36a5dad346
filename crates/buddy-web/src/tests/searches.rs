//! Searches use the same way out as everything else.

use crate::tests::stage::{Private, Server, answer, anywhere, fetcher, settings, usual_names};
use crate::{Endpoints, FetchError, SearchError, WebUrl, search, search_youtube};

fn endpoints(endpoint: &str) -> Endpoints {
    let endpoint = WebUrl::parse(endpoint).unwrap();
    Endpoints { search: endpoint.clone(), youtube: endpoint }
}

const HTML: &str = "content-type: text/html; charset=utf-8\r\n";

#[tokio::test]
async fn a_search_asks_its_endpoint_for_the_words() {
    let server =
        Server::start(|_| answer("200 OK", HTML, include_str!("../../fixtures/duckduckgo/results.html")))
            .await;
    let url = endpoints(&server.url("public.test", "/html/?kl=us-en")).search_url("a b&c=d");
    let results = search(&fetcher(&usual_names(), settings()), url, &anywhere()).await.unwrap();
    assert_eq!(results.len(), 8);
    let heads = server.heads();
    assert!(heads[0].starts_with("GET /html/?kl=us-en&q=a+b%26c%3Dd HTTP/1.1"), "{heads:?}");
}

#[tokio::test]
async fn a_search_for_videos_asks_its_endpoint() {
    let server =
        Server::start(|_| answer("200 OK", HTML, include_str!("../../fixtures/youtube/results.html"))).await;
    let url = endpoints(&server.url("public.test", "/results")).youtube_url("rust");
    let videos = search_youtube(&fetcher(&usual_names(), settings()), url, &anywhere()).await.unwrap();
    assert_eq!(videos.len(), 5);
    assert!(server.heads()[0].starts_with("GET /results?search_query=rust HTTP/1.1"));
}

#[tokio::test]
async fn an_endpoint_that_leads_to_this_machine_is_refused() {
    let private = Private::listen("127.0.0.1");
    let inside = format!("http://127.0.0.1:{}/", private.port());
    let to = inside.clone();
    let server = Server::start(move |_| answer("302 Found", &format!("location: {to}\r\n"), "")).await;
    let fetcher = fetcher(&usual_names(), settings());
    for endpoint in [inside, server.url("public.test", "/")] {
        let endpoints = endpoints(&endpoint);
        let is_refused = |error: SearchError| {
            matches!(error, SearchError::Fetch(FetchError::NotPublic { .. } | FetchError::BadRedirect { .. }))
        };
        assert!(is_refused(search(&fetcher, endpoints.search_url("x"), &anywhere()).await.unwrap_err()));
        assert!(is_refused(
            search_youtube(&fetcher, endpoints.youtube_url("x"), &anywhere()).await.unwrap_err()
        ));
        private.saw_nothing(&endpoint);
    }
}
