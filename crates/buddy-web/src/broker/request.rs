//! The requests of a command to its proxy: SOCKS 5, `CONNECT`, or a request with an absolute URL.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use url::{Host, Url};

use super::body::Body;
use super::warrant::Wanted;

/// The maximum size of a request head.
pub(super) const MAX_HEAD: usize = 64 * 1024;
/// The longest reason in the first line of an answer. Some clients take no longer lines.
const MAX_REASON: usize = 300;
/// The maximum number of headers in a request.
const MAX_HEADERS: usize = 128;

/// The SOCKS version, which is also the first byte of such a request.
const SOCKS: u8 = 5;
/// SOCKS codes: no authentication, no acceptable method, the connect command, and the results.
const NO_NAME: u8 = 0;
const NO_WAY: u8 = 0xff;
const CONNECT: u8 = 1;
const DONE: u8 = 0;
const NOT_ALLOWED: u8 = 2;
const UNREACHABLE: u8 = 4;
const NOT_SUPPORTED: u8 = 7;

/// A parsed request.
pub(super) struct Request {
    pub(super) wanted: Wanted,
    pub(super) reply: Reply,
    /// The first bytes to send to the server.
    pub(super) forward: Vec<u8>,
    /// The part of a plain request that is still to come.
    pub(super) body: Option<Body>,
}

/// The form of the answer to the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reply {
    Socks,
    /// For `CONNECT`.
    Tunnel,
    /// For a request that the server itself answers.
    Plain,
}

impl Reply {
    /// Reports that the connection is open.
    pub(super) async fn accept(self, client: &mut TcpStream) -> io::Result<()> {
        match self {
            Self::Socks => client.write_all(&socks_reply(DONE)).await,
            Self::Tunnel => client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await,
            Self::Plain => Ok(()),
        }
    }

    /// Reports that the host is not permitted. If the report cannot be sent, the command is gone.
    pub(super) async fn refuse(self, client: &mut TcpStream, wanted: &Wanted, reason: &str) {
        let text = format!("buddy does not let this command reach {}: {reason}", wanted.host);
        self.close(client, NOT_ALLOWED, 403, &text).await;
    }

    /// Whether the command sends its data only after an answer.
    pub(super) fn opens_tunnel(self) -> bool {
        matches!(self, Self::Tunnel | Self::Socks)
    }

    /// Reports that the host did not answer. A plain request gets no answer either: to a client a page of the proxy would be one of the server,
    /// which is not there.
    pub(super) async fn fail(self, client: &mut TcpStream, wanted: &Wanted, reason: &str) {
        if self == Self::Plain {
            let _ = client.shutdown().await;
            return;
        }
        let text = format!("{}:{} cannot be reached: {reason}", wanted.host, wanted.port);
        self.close(client, UNREACHABLE, 502, &text).await;
    }

    async fn close(self, client: &mut TcpStream, code: u8, status: u16, text: &str) {
        let _ = match self {
            Self::Socks => client.write_all(&socks_reply(code)).await,
            Self::Tunnel | Self::Plain => client.write_all(answer(status, text).as_bytes()).await,
        };
        let _ = client.shutdown().await;
    }
}

/// An answer whose text is also the reason in its first line: most programs show no more than that of a tunnel which they did not get.
fn answer(status: u16, text: &str) -> String {
    let plain = |letter: char| if matches!(letter, ' '..='~') { letter } else { '?' };
    let line = text.lines().next().unwrap_or_default();
    let reason: String = line.chars().take(MAX_REASON).map(plain).collect();
    let text = format!("{text}\n");
    format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{text}",
        text.len()
    )
}

/// Reads the request of the command. Answers an invalid one with an error.
pub(super) async fn read(client: &mut TcpStream) -> io::Result<Request> {
    let mut first = [0];
    if client.peek(&mut first).await? == 0 {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    if first == [SOCKS] { read_socks(client).await } else { read_http(client).await }
}

async fn read_socks(client: &mut TcpStream) -> io::Result<Request> {
    let [_, count] = array(client).await?;
    let mut ways = vec![0; count.into()];
    client.read_exact(&mut ways).await?;
    if !ways.contains(&NO_NAME) {
        client.write_all(&[SOCKS, NO_WAY]).await?;
        return Err(ErrorKind::InvalidData.into());
    }
    client.write_all(&[SOCKS, NO_NAME]).await?;
    let [version, command, _, kind] = array(client).await?;
    let host = match kind {
        1 => Some(Host::Ipv4(Ipv4Addr::from(array::<4>(client).await?))),
        4 => Some(Host::Ipv6(Ipv6Addr::from(array::<16>(client).await?))),
        3 => {
            let [length] = array(client).await?;
            let mut name = vec![0; length.into()];
            client.read_exact(&mut name).await?;
            String::from_utf8(name).ok().and_then(|name| host(&name))
        }
        _ => None,
    };
    let port = u16::from_be_bytes(array(client).await?);
    match host {
        Some(host) if version == SOCKS && command == CONNECT && port != 0 => {
            let wanted = Wanted { host: host.to_string(), port };
            Ok(Request { wanted, reply: Reply::Socks, forward: Vec::new(), body: None })
        }
        _ => {
            client.write_all(&socks_reply(NOT_SUPPORTED)).await?;
            Err(ErrorKind::InvalidData.into())
        }
    }
}

async fn array<const N: usize>(client: &mut TcpStream) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    client.read_exact(&mut bytes).await?;
    Ok(bytes)
}

/// A SOCKS reply with this code and an empty address.
fn socks_reply(code: u8) -> [u8; 10] {
    [SOCKS, code, 0, 1, 0, 0, 0, 0, 0, 0]
}

async fn read_http(client: &mut TcpStream) -> io::Result<Request> {
    let mut read = Vec::new();
    let head = loop {
        if let Some(end) = read.windows(4).position(|four: &[u8]| four == b"\r\n\r\n") {
            break end + 4;
        }
        if read.len() >= MAX_HEAD || client.read_buf(&mut read).await? == 0 {
            return Err(ErrorKind::InvalidData.into());
        }
    };
    if let Some(request) = understood(&read, head) {
        return Ok(request);
    }
    let text = "this is a proxy: it takes CONNECT, and requests for whole http addresses\n";
    client.write_all(answer(400, text).as_bytes()).await?;
    client.shutdown().await?;
    Err(ErrorKind::InvalidData.into())
}

/// Parses a request. `head` is the start of its body.
fn understood(read: &[u8], head: usize) -> Option<Request> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    request.parse(read).ok()?;
    let (method, path) = (request.method?, request.path?);
    let body = read.get(head..)?;
    if method == "CONNECT" {
        let url = Url::parse(&format!("http://{path}/")).ok().filter(is_plain)?;
        let port = path.rsplit(':').next()?.parse().ok().filter(|&port| port != 0)?;
        let wanted = Wanted { host: url.host()?.to_string(), port };
        return Some(Request { wanted, reply: Reply::Tunnel, forward: body.to_vec(), body: None });
    }
    let url = Url::parse(path).ok().filter(|url| url.scheme() == "http" && is_plain(url))?;
    let wanted = Wanted { host: url.host()?.to_string(), port: url.port_or_known_default()? };
    let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
    let authority = &url[url::Position::BeforeHost..url::Position::AfterPort];
    let (forward, rest) = rewritten(method, path, authority, request.headers, body)?;
    Some(Request { wanted, reply: Reply::Plain, forward, body: Some(rest) })
}

/// A request as it is sent on, and the part of its body that is still to come. One request per connection, so
/// that each is judged: the next one may be for another host.
fn rewritten(
    method: &str,
    path: &str,
    authority: &str,
    headers: &[httparse::Header<'_>],
    body: &[u8],
) -> Option<(Vec<u8>, Body)> {
    let head = format!("{method} {path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n");
    let mut forward = head.into_bytes();
    for header in headers.iter().filter(|header| !is_between_hops(header.name)) {
        forward.extend_from_slice(header.name.as_bytes());
        forward.extend_from_slice(b": ");
        forward.extend_from_slice(header.value);
        forward.extend_from_slice(b"\r\n");
    }
    forward.extend_from_slice(b"\r\n");
    let mut rest = Body::of(headers)?;
    let taken = rest.take(body)?;
    forward.extend_from_slice(body.get(..taken)?);
    Some((forward, rest))
}

/// A plain request in a tunnel to a host, as it is sent on. `None` if it is for another host, or if servers could
/// read it in different ways. `head` is the start of its body.
pub(super) fn tunnelled(read: &[u8], head: usize, wanted: &Wanted) -> Option<(Vec<u8>, Body)> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    request.parse(read).ok()?;
    let (method, path) =
        (request.method?, request.path.filter(|path| path.starts_with('/') || *path == "*")?);
    let mut hosts = request.headers.iter().filter(|header| header.name.eq_ignore_ascii_case("host"));
    let (authority, None) = (str::from_utf8(hosts.next()?.value).ok()?.trim(), hosts.next()) else {
        return None;
    };
    let url = Url::parse(&format!("http://{authority}/")).ok().filter(is_plain)?;
    let is_wanted = url.host()?.to_string().trim_end_matches('.') == wanted.host.trim_end_matches('.');
    if !is_wanted {
        return None;
    }
    rewritten(method, path, authority, request.headers, read.get(head..)?)
}

/// Whether a URL has no user name before its host.
fn is_plain(url: &Url) -> bool {
    url.username().is_empty() && url.password().is_none()
}

/// Headers that are only for the proxy, or that are rewritten.
fn is_between_hops(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    matches!(name.as_str(), "host" | "connection" | "keep-alive" | "te" | "upgrade")
        || name.starts_with("proxy-")
}

/// Parses a name or an address as a host.
fn host(text: &str) -> Option<Host> {
    let bracketed = if text.contains(':') { format!("[{text}]") } else { text.to_owned() };
    Host::parse(&bracketed).ok()
}
