//! Endless bodies, decompression bombs, and slow servers.

use std::io::Write as _;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use tokio::io::AsyncWriteExt;

use crate::tests::stage::{Server, answer, fetcher, get, settings, usual_names};
use crate::{FetchError, FetchSettings};

/// The number of bytes that the servers here would send, far more than any test waits for.
const ENDLESS: u64 = 10 * 1024 * 1024 * 1024;

fn small() -> FetchSettings {
    FetchSettings { max_bytes: 100_000, ..settings() }
}

#[tokio::test]
async fn a_body_without_end_is_cut() {
    let server = Server::serve(|mut socket, _| async move {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {ENDLESS}\r\n\r\n");
        let mut sent = socket.write_all(head.as_bytes()).await;
        let block = vec![b'x'; 64 * 1024];
        while sent.is_ok() {
            sent = socket.write_all(&block).await;
        }
    })
    .await;
    let fetched = get(&fetcher(&usual_names(), small()), &server.url("public.test", "/")).await.unwrap();
    assert_eq!((fetched.body.len(), fetched.is_cut, fetched.content_length), (100_000, true, Some(ENDLESS)));
}

#[tokio::test]
async fn a_body_that_swells_is_cut_by_its_size_after_decompression() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let block = vec![0_u8; 1024 * 1024];
    for _ in 0..64 {
        encoder.write_all(&block).unwrap();
    }
    let bomb = encoder.finish().unwrap();
    assert!(bomb.len() < 100_000, "the bomb is smaller than the limit, so that only its content can be cut");
    let server = Server::serve(move |mut socket, _| {
        let bomb = bomb.clone();
        async move {
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                bomb.len()
            );
            let _gone = socket.write_all(&[head.as_bytes(), &bomb].concat()).await;
        }
    })
    .await;
    let fetched = get(&fetcher(&usual_names(), small()), &server.url("public.test", "/")).await.unwrap();
    assert!(fetched.is_cut && fetched.body.len() == 100_000 && fetched.body.iter().all(|&byte| byte == 0));
}

#[tokio::test]
async fn a_body_of_exactly_the_limit_is_whole() {
    let server = Server::start(|_| answer("200 OK", "", &"x".repeat(100_000))).await;
    let fetched = get(&fetcher(&usual_names(), small()), &server.url("public.test", "/")).await.unwrap();
    assert_eq!((fetched.body.len(), fetched.is_cut), (100_000, false));
}

#[tokio::test]
async fn a_server_that_dawdles_is_given_up_when_the_time_is_up() {
    let server = Server::serve(|mut socket, _| async move {
        let mut sent = socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n").await;
        while sent.is_ok() {
            sent = socket.write_all(b"x").await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    let short = FetchSettings { total_timeout: Duration::from_millis(300), ..settings() };
    let error = get(&fetcher(&usual_names(), short), &server.url("public.test", "/")).await.unwrap_err();
    assert!(matches!(error, FetchError::TimedOut { what: "the fetch", .. }), "{error}");
}

#[tokio::test]
async fn a_server_that_says_nothing_is_given_up() {
    for head in ["", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab"] {
        let server = Server::serve(move |mut socket, _| async move {
            let _gone = socket.write_all(head.as_bytes()).await;
            std::future::pending::<()>().await;
        })
        .await;
        let idle = Duration::from_millis(200);
        let short = FetchSettings { idle_timeout: idle, connect_timeout: idle, ..settings() };
        let error = get(&fetcher(&usual_names(), short), &server.url("public.test", "/")).await.unwrap_err();
        assert!(matches!(error, FetchError::TimedOut { .. }), "{head}: {error}");
    }
}

#[tokio::test]
async fn a_body_that_breaks_off_is_an_error() {
    let server = Server::start(|_| b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\nhalf".to_vec()).await;
    let error = get(&fetcher(&usual_names(), settings()), &server.url("public.test", "/")).await.unwrap_err();
    assert!(matches!(error, FetchError::Exchange { .. }), "{error}");
}
