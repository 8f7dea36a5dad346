//! The address on this machine that the browser is redirected to. It takes one answer and closes.

use std::net::Ipv4Addr;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use secrecy::SecretString;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use url::Url;

use crate::{LoginError, LoginErrorKind};

/// The maximum number of open connections. Browsers open some in advance and send nothing on them.
const MAX_CONNECTIONS: usize = 16;

/// The maximum size of a request head.
const MAX_HEAD_BYTES: usize = 32 * 1024;

/// The timeout for a connection to send its request, and to take its answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// A listening address.
#[derive(Debug)]
pub(super) struct Loopback {
    listener: TcpListener,
    url: Url,
}

impl Loopback {
    /// Listens on this port of this machine, which the browser knows by this name; no port takes a free one.
    pub(super) async fn bind(host: &str, port: Option<u16>, path: &str) -> Result<Self, LoginError> {
        let cannot = |error: &dyn std::fmt::Display| {
            let port = port.map_or_else(|| "a free port".to_owned(), |port| format!("port {port}"));
            let message = format!("cannot listen on {port} for the browser: {error}");
            LoginError::new(LoginErrorKind::Setup, message)
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0))).await;
        let listener = listener.map_err(|error| cannot(&error))?;
        let port = listener.local_addr().map_err(|error| cannot(&error))?.port();
        let url = format!("http://{host}:{port}/{}", path.trim_start_matches('/'));
        let url = Url::parse(&url).map_err(|error| cannot(&error))?;
        Ok(Self { listener, url })
    }

    /// The redirect address for the browser.
    pub(super) fn url(&self) -> &Url {
        &self.url
    }

    /// Waits for the browser. Only the first request for the right path is judged.
    pub(super) async fn code(
        self,
        judge: impl Fn(&Url) -> Result<SecretString, LoginError>,
    ) -> Result<SecretString, LoginError> {
        let mut waiting = FuturesUnordered::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept(), if waiting.len() < MAX_CONNECTIONS => {
                    if let Ok((stream, _)) = accepted {
                        waiting.push(requested(stream));
                    }
                }
                Some(request) = waiting.next() => {
                    let Some((stream, target)) = request else { continue };
                    let url = self.url.join(&target).ok().filter(|url| self.is_mine(url));
                    let Some(url) = url else {
                        answer(stream, "404 Not Found", "There is nothing here.").await;
                        continue;
                    };
                    let code = judge(&url);
                    match &code {
                        Ok(_) => answer(stream, "200 OK", "buddy has its answer. You can close this page.").await,
                        Err(_) => answer(stream, "400 Bad Request", "The login did not work. buddy says why.").await,
                    }
                    return code;
                }
            }
        }
    }

    fn is_mine(&self, url: &Url) -> bool {
        url.origin() == self.url.origin() && url.path() == self.url.path()
    }
}

/// The requested path of a connection, if the request arrives in time.
async fn requested(mut stream: TcpStream) -> Option<(TcpStream, String)> {
    let mut head = Vec::new();
    let read = async {
        while !head.windows(4).any(|window| window == b"\r\n\r\n") {
            if head.len() > MAX_HEAD_BYTES || stream.read_buf(&mut head).await.ok()? == 0 {
                return None;
            }
        }
        Some(())
    };
    timeout(PATIENCE, read).await.ok()??;
    let head = String::from_utf8(head).ok()?;
    let target = head.strip_prefix("GET ")?.split(' ').next()?;
    // Only a path: a whole address or `//host` would resolve to somewhere else.
    (target.starts_with('/') && !target.starts_with("//")).then(|| (stream, target.to_owned()))
}

/// Answers and closes. A browser that does not listen is not an error.
async fn answer(mut stream: TcpStream, status: &str, text: &str) {
    let length = text.len();
    let response = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {length}\r\n\
         cache-control: no-store\r\nreferrer-policy: no-referrer\r\nx-content-type-options: nosniff\r\n\
         connection: close\r\n\r\n{text}"
    );
    let _ = timeout(PATIENCE, async {
        stream.write_all(response.as_bytes()).await?;
        stream.shutdown().await
    })
    .await;
}
