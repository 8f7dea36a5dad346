//! The part of a browser that a login needs: it opens a page and follows the redirect.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The result of opening a page.
#[derive(Debug, Clone)]
pub struct Visited {
    /// The status.
    pub status: u16,
    /// The redirect target of the page.
    pub location: Option<String>,
    /// Its text.
    pub body: String,
}

/// Opens a page on this machine.
pub async fn visit(url: &str) -> Visited {
    let rest = url.strip_prefix("http://").expect("a page over http");
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let mut stream = TcpStream::connect(host).await.expect("a server that listens");
    let request = format!("GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("a server that reads");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.expect("a server that answers");
    let answer = String::from_utf8_lossy(&answer);
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer over http");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    let location = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("location").then(|| value.trim().to_owned())
    });
    Visited { status, location, body: body.to_owned() }
}

/// Opens the provider's page, answers as the script says, and follows the redirect back to the client.
pub async fn follow(url: &str) -> Visited {
    visit(&visit(url).await.location.expect("a page that sends the browser back")).await
}
