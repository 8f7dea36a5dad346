//! The proxy of the user's network, by which the broker connects where the user's variables say so.
//!
//! It is asked after the broker's own verdict, and by the name of the host, as such proxies judge names.

use std::fmt;
use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::HeaderValue;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use url::Url;

use super::dial::{CONNECT_WITHIN, dial};
use super::request::Reply;
use super::warrant::Wanted;
use crate::address::literal_address;
use crate::error::chain;
use crate::resolver::{Resolver, lookup};
use crate::{FetchError, WebUrl};

/// The longest answer of a proxy to `CONNECT`.
const MAX_ANSWER: usize = 16 * 1024;
/// The port of a proxy whose address has none, as curl has it.
const USUAL_PORT: u16 = 1080;

/// The header that lets a user pass.
const AUTHORIZATION: &str = "Proxy-Authorization: ";

/// The proxies that the variables of a user name.
#[derive(Debug, Clone, Default)]
pub struct UpstreamProxy {
    /// For plain requests.
    http: Option<Proxy>,
    /// For everything else.
    https: Option<Proxy>,
    /// Hosts that are reached without one.
    except: Vec<Exception>,
}

/// A proxy, or why the one that is named cannot be used.
#[derive(Clone)]
pub(super) enum Proxy {
    Usable { host: String, port: u16, authorization: Option<String> },
    Unusable(String),
}

impl fmt::Debug for Proxy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Its authorization is a secret.
            Self::Usable { host, port, .. } => write!(formatter, "{host}:{port}"),
            Self::Unusable(why) => formatter.write_str(why),
        }
    }
}

/// Hosts that are reached without a proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Exception {
    Everything,
    /// A name with all below it, or an address, at one port or at all.
    Host(String, Option<u16>),
    /// A block of addresses.
    Block(IpAddr, u8),
}

impl UpstreamProxy {
    /// The proxies in `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`, in lower case first.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let get = |name: &str| {
            let names = [name.to_ascii_lowercase(), name.to_owned()];
            names
                .into_iter()
                .find_map(|name| Some((variable(&name).filter(|value| !value.is_empty())?, name)))
        };
        let first =
            |names: [&str; 2]| names.into_iter().find_map(get).map(|(value, name)| Proxy::new(&value, &name));
        let except = get("NO_PROXY").map(|(value, _)| value).unwrap_or_default();
        Self {
            http: first(["HTTP_PROXY", "ALL_PROXY"]),
            https: first(["HTTPS_PROXY", "ALL_PROXY"]),
            except: except.split([',', ' ']).filter_map(Exception::new).collect(),
        }
    }

    /// The proxy for a host; none where it is reached directly.
    pub(super) fn for_host(&self, wanted: &Wanted, reply: Reply) -> Option<&Proxy> {
        let is_plain = reply == Reply::Plain || wanted.port == 80;
        let proxy = if is_plain { &self.http } else { &self.https };
        proxy.as_ref().filter(|_| !self.except.iter().any(|except| except.is_for(wanted)))
    }
}

impl UpstreamProxy {
    /// The proxy by which a page is read; none where its host is reached directly.
    pub(crate) fn for_page(&self, url: &WebUrl) -> Option<Result<reqwest::Proxy, FetchError>> {
        let reply = if url.url().scheme() == "http" { Reply::Plain } else { Reply::Tunnel };
        let wanted = Wanted { host: url.host(), port: url.port() };
        self.for_host(&wanted, reply).map(Proxy::for_client)
    }
}

impl Exception {
    fn new(text: &str) -> Option<Self> {
        let text = text.trim().trim_start_matches("*.").trim_start_matches('.').to_ascii_lowercase();
        if text == "*" {
            return Some(Self::Everything);
        }
        if let Some((address, length)) = text.split_once('/') {
            return Some(Self::Block(literal_address(address)?, length.parse().ok()?));
        }
        if let Some(address) = literal_address(&text) {
            return Some(Self::Host(address.to_string(), None));
        }
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) => (host, Some(port.parse().ok()?)),
            None => (text.as_str(), None),
        };
        (!host.is_empty()).then(|| Self::Host(host.to_owned(), port))
    }

    fn is_for(&self, wanted: &Wanted) -> bool {
        match self {
            Self::Everything => true,
            Self::Host(host, port) => {
                let name =
                    literal_address(&wanted.host).map_or(wanted.host.clone(), |address| address.to_string());
                let is_below = name.strip_suffix(host.as_str()).is_some_and(|before| before.ends_with('.'));
                (name == *host || is_below) && port.is_none_or(|port| port == wanted.port)
            }
            Self::Block(block, length) => {
                literal_address(&wanted.host).is_some_and(|address| match (address, block) {
                    (IpAddr::V4(address), IpAddr::V4(block)) => {
                        let rest = 32_u32.saturating_sub((*length).into());
                        address.to_bits().checked_shr(rest) == block.to_bits().checked_shr(rest)
                    }
                    (IpAddr::V6(address), IpAddr::V6(block)) => {
                        let rest = 128_u32.saturating_sub((*length).into());
                        address.to_bits().checked_shr(rest) == block.to_bits().checked_shr(rest)
                    }
                    _ => false,
                })
            }
        }
    }
}

impl Proxy {
    fn new(text: &str, variable: &str) -> Self {
        let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let unusable = |what: &str| {
            Self::Unusable(format!(
                "the proxy in your `{variable}` {what}, and buddy connects by http:// proxies only"
            ))
        };
        let Ok(url) = Url::parse(&whole) else { return unusable("is no address") };
        if url.scheme() != "http" {
            return unusable(&format!("is of the kind `{}://`", url.scheme()));
        }
        let Some(host) = url.host_str() else { return unusable("is no address") };
        // The parser leaves the usual port of the web away.
        let has_port = whole.trim_end_matches('/').ends_with(":80");
        let port = url.port().unwrap_or(if has_port { 80 } else { USUAL_PORT });
        let name = |text: &str| percent_decoded(text);
        let authorization = (!url.username().is_empty() || url.password().is_some()).then(|| {
            let pair =
                [name(url.username()), b":".to_vec(), name(url.password().unwrap_or_default())].concat();
            format!("{AUTHORIZATION}Basic {}\r\n", STANDARD.encode(pair))
        });
        Self::Usable { host: host.to_owned(), port, authorization }
    }

    /// The same for a client of this crate.
    fn for_client(&self) -> Result<reqwest::Proxy, FetchError> {
        let (host, port, authorization) = match self {
            Self::Usable { host, port, authorization } => (host, port, authorization),
            Self::Unusable(why) => return Err(FetchError::Setup(why.clone())),
        };
        let proxy = reqwest::Proxy::all(format!("http://{host}:{port}"))
            .map_err(|error| FetchError::Setup(chain(&error)))?;
        let value = authorization.as_deref().and_then(|line| line.trim_end().strip_prefix(AUTHORIZATION));
        match value.and_then(|value| HeaderValue::from_str(value).ok()) {
            Some(value) => Ok(proxy.custom_http_auth(value)),
            None => Ok(proxy),
        }
    }

    /// Connects to a host by this proxy. A plain request is sent to the proxy itself, which not every proxy tunnels.
    pub(super) async fn connect(
        &self,
        wanted: &Wanted,
        reply: Reply,
        resolver: &dyn Resolver,
    ) -> Result<(TcpStream, Via), String> {
        let (host, port, authorization) = match self {
            Self::Usable { host, port, authorization } => (host, *port, authorization.clone()),
            Self::Unusable(why) => return Err(why.clone()),
        };
        let told = |why: String| format!("the proxy {host}:{port} of this network: {why}");
        let addresses = match literal_address(host) {
            Some(address) => vec![address],
            None => lookup(resolver, host, CONNECT_WITHIN).await.map_err(told)?,
        };
        let mut stream = dial(&addresses, port).await.map_err(told)?;
        if reply == Reply::Plain {
            return Ok((stream, Via::Proxy(authorization)));
        }
        let asked = timeout(CONNECT_WITHIN, tunnel(&mut stream, wanted, authorization.as_deref())).await;
        let answer = asked.map_err(|_| told("it does not answer".to_owned()))?;
        answer.map_err(told)?;
        Ok((stream, Via::Direct))
    }
}

/// Asks a proxy for a tunnel. The error is what it says instead.
async fn tunnel(stream: &mut TcpStream, wanted: &Wanted, authorization: Option<&str>) -> Result<(), String> {
    let Wanted { host, port } = wanted;
    let request = format!(
        "CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n{}\r\n",
        authorization.unwrap_or_default()
    );
    stream.write_all(request.as_bytes()).await.map_err(|error| error.to_string())?;
    let mut answer = Vec::new();
    // One byte at a time: what comes after the answer belongs to the command.
    while !answer.ends_with(b"\r\n\r\n") {
        let byte = stream.read_u8().await.map_err(|_| "it ended the connection".to_owned())?;
        answer.push(byte);
        if answer.len() > MAX_ANSWER {
            return Err("its answer has no end".to_owned());
        }
    }
    let text = String::from_utf8_lossy(&answer);
    let line = text.lines().next().unwrap_or_default();
    let status = line.split_whitespace().nth(1).unwrap_or_default();
    if status.starts_with('2') && line.starts_with("HTTP/") {
        Ok(())
    } else {
        Err(format!("it says `{}`", line.chars().take(100).collect::<String>()))
    }
}

/// By whom a server is reached.
pub(super) enum Via {
    /// By nobody, or by a tunnel, which is the same to it.
    Direct,
    /// By a proxy that is sent the request itself, with what lets it pass.
    Proxy(Option<String>),
}

impl Via {
    /// The part that is sent first, of the bytes for the server.
    pub(super) fn first(&self, wanted: &Wanted, forward: Vec<u8>) -> Vec<u8> {
        let Self::Proxy(authorization) = self else { return forward };
        let text = forward.splitn(2, |&byte| byte == b' ').collect::<Vec<_>>();
        let [method, rest] = text.as_slice() else { return forward };
        let end = rest.windows(2).position(|two| two == b"\r\n").map_or(0, |end| end + 2);
        let (line, headers) = rest.split_at(end);
        let host = &wanted.host;
        let host = if wanted.port == 80 { host.clone() } else { format!("{host}:{}", wanted.port) };
        let authorization = authorization.as_deref().unwrap_or_default().as_bytes();
        [method, &b" http://"[..], host.as_bytes(), line, authorization, headers].concat()
    }
}

fn percent_decoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.filter(|_| first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(first));
        rest = if byte.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_that_are_excepted_are_reached_directly() {
        let variable = |name: &str| match name {
            "https_proxy" => Some("proxy.test:3128".to_owned()),
            "NO_PROXY" => Some("a.test, .b.test,10.0.0.0/8,c.test:444,[::1],192.168.1.1".to_owned()),
            _ => None,
        };
        let upstream = UpstreamProxy::from_variables(variable);
        let is_direct = |host: &str, port: u16| {
            let wanted = Wanted { host: host.to_owned(), port };
            upstream.for_host(&wanted, Reply::Tunnel).is_none()
        };
        for host in ["a.test", "x.a.test", "b.test", "y.b.test", "10.1.2.3", "[::1]", "192.168.1.1"] {
            assert!(is_direct(host, 443), "{host}");
        }
        for host in ["aa.test", "c.test", "11.0.0.1", "[::2]", "192.168.1.2"] {
            assert!(!is_direct(host, 443), "{host}");
        }
        assert!(is_direct("c.test", 444) && is_direct("d.test", 80), "no proxy is for plain requests");
        assert_eq!(format!("{:?}", upstream.https), "Some(proxy.test:3128)");
        let everything = UpstreamProxy::from_variables(|name| match name {
            "ALL_PROXY" => Some("http://p.test".to_owned()),
            "no_proxy" => Some("*".to_owned()),
            _ => None,
        });
        let wanted = Wanted { host: "a.test".to_owned(), port: 443 };
        assert!(everything.for_host(&wanted, Reply::Tunnel).is_none());
    }
}
