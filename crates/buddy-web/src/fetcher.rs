//! The only way out: a GET that follows redirects, with every hop through the gate and everything bounded.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::header::{ACCEPT, ACCEPT_LANGUAGE, CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Response, StatusCode};
use tokio::time::timeout;

use crate::broker::is_private_name;
use crate::client::Clients;
use crate::error::chain;
use crate::gate::Gate;
use crate::resolver::SystemResolver;
use crate::{AllowedHost, FetchError, WebUrl, is_global};

/// The maximum number of redirects.
const MAX_REDIRECTS: usize = 5;

/// The limits of fetches.
#[derive(Debug, Clone)]
pub struct FetchSettings {
    /// Hosts that may be fetched from although they are not on the public internet.
    pub allowed_hosts: Vec<AllowedHost>,
    /// The maximum number of bytes of a body, after decompression. The rest is not read.
    pub max_bytes: usize,
    /// The timeouts for a lookup and for a connection.
    pub connect_timeout: Duration,
    /// The timeout for a silent server.
    pub idle_timeout: Duration,
    /// The timeout of a fetch with all its redirects.
    pub total_timeout: Duration,
    /// The user agent that servers see.
    pub user_agent: String,
}

impl Default for FetchSettings {
    fn default() -> Self {
        Self {
            allowed_hosts: Vec::new(),
            max_bytes: 2 * 1024 * 1024,
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(15),
            total_timeout: Duration::from_secs(45),
            user_agent: concat!("buddy/", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}

/// The response.
#[derive(Debug, Clone)]
pub struct Fetched {
    /// The address that answered, after all redirects.
    pub url: WebUrl,
    /// The status of the response, which may be an error.
    pub status: u16,
    /// The content type that the server reports.
    pub content_type: Option<String>,
    /// The length of the body that the server reports, as sent.
    pub content_length: Option<u64>,
    /// The body, decompressed, up to the limit.
    pub body: Vec<u8>,
    /// Whether the body continues after the limit.
    pub is_cut: bool,
}

/// Decides whether a redirect to an address on another host may be followed.
pub type Redirects = Arc<dyn Fn(&WebUrl) -> bool + Send + Sync>;

/// Fetches from the web, and from nowhere else. Dropping a fetch ends it.
pub struct Fetcher {
    settings: FetchSettings,
    gate: Gate,
    clients: Clients,
}

impl Fetcher {
    /// Whether the settings name a host at this port.
    pub fn allows(&self, host: &str, port: u16) -> bool {
        self.settings.allowed_hosts.iter().any(|allowed| allowed.names(host, port))
    }

    /// A fetcher with these settings. Opens no connection yet.
    pub fn new(settings: FetchSettings) -> Self {
        let gate = Gate {
            resolver: Arc::new(SystemResolver),
            passes: is_global,
            allowed: settings.allowed_hosts.clone(),
            within: settings.connect_timeout,
        };
        Self::through(gate, settings)
    }

    /// The error for an address that is always refused, if that is known without a lookup.
    pub fn refuses(&self, url: &WebUrl) -> Option<FetchError> {
        self.gate.refuses(url)
    }

    pub(crate) fn through(gate: Gate, settings: FetchSettings) -> Self {
        let clients = Clients {
            user_agent: settings.user_agent.clone(),
            connect_timeout: settings.connect_timeout,
            tls: OnceLock::new(),
        };
        Self { settings, gate, clients }
    }

    /// Fetches an address, following redirects to any host.
    pub async fn get(&self, url: WebUrl) -> Result<Fetched, FetchError> {
        self.get_with(url, HeaderMap::new()).await
    }

    /// Fetches an address. Follows a redirect to another host only if `redirects` allows it, because the
    /// redirect can carry data that was meant for the first host.
    pub async fn get_within(&self, url: WebUrl, redirects: &Redirects) -> Result<Fetched, FetchError> {
        self.bounded(self.follow(url, HeaderMap::new(), redirects)).await
    }

    /// Fetches an address by the proxy of the network, without following redirects. Addresses that this machine finds for the name must
    /// pass; a name that only the proxy knows goes to it, unless it can only be one of a private network.
    pub(crate) async fn get_by_proxy(
        &self,
        url: WebUrl,
        proxy: reqwest::Proxy,
    ) -> Result<Fetched, FetchError> {
        match self.gate.check(&url).await {
            Err(FetchError::Unresolved { .. }) if !is_private_name(&url.host()) => {}
            Err(error) => return Err(error),
            Ok(_) => {}
        }
        let client = self.clients.by_proxy(proxy)?;
        let fetch = async {
            let response =
                client.get(url.url().clone()).send().await.map_err(|error| failed(&url, &error))?;
            self.read(url.clone(), response).await
        };
        self.bounded(fetch).await
    }

    /// Fetches an address with extra headers. They go only to its origin, not to another origin after a
    /// redirect.
    pub async fn get_with(&self, url: WebUrl, headers: HeaderMap) -> Result<Fetched, FetchError> {
        let anywhere: Redirects = Arc::new(|_| true);
        self.bounded(self.follow(url, headers, &anywhere)).await
    }

    async fn bounded(
        &self,
        fetch: impl Future<Output = Result<Fetched, FetchError>>,
    ) -> Result<Fetched, FetchError> {
        let limit = self.settings.total_timeout;
        let fetched = timeout(limit, fetch).await;
        fetched.unwrap_or(Err(FetchError::TimedOut { what: "the fetch", limit }))
    }

    async fn follow(
        &self,
        mut url: WebUrl,
        mut headers: HeaderMap,
        redirects: &Redirects,
    ) -> Result<Fetched, FetchError> {
        let mut checked = self.gate.check(&url).await?;
        for _ in 0..=MAX_REDIRECTS {
            let response = self.exchange(&url, &checked, &headers).await?;
            let Some(next) = redirect(&response, &url) else {
                return self.read(url, response).await;
            };
            let refused =
                |source| FetchError::BadRedirect { from: url.to_string(), source: Box::new(source) };
            let next = next.map_err(refused)?;
            if next.host() != url.host() && !redirects(&next) {
                return Err(FetchError::LeadsElsewhere { from: url.to_string(), to: next.to_string() });
            }
            checked = self.gate.check(&next).await.map_err(refused)?;
            if !next.is_same_origin(&url) {
                headers.clear();
            }
            url = next;
        }
        Err(FetchError::TooManyRedirects { limit: MAX_REDIRECTS, last: url.to_string() })
    }

    async fn exchange(
        &self,
        url: &WebUrl,
        checked: &[SocketAddr],
        headers: &HeaderMap,
    ) -> Result<Response, FetchError> {
        let client = self.clients.client(url, checked)?;
        let request = client
            .get(url.url().clone())
            .header(ACCEPT, "text/html, text/markdown, text/plain, application/json;q=0.9, */*;q=0.5")
            .header(ACCEPT_LANGUAGE, "en, *;q=0.5")
            .headers(headers.clone())
            .send();
        let limit = self.settings.idle_timeout + self.settings.connect_timeout;
        let answer = timeout(limit, request).await;
        let answer = answer.map_err(|_| FetchError::TimedOut { what: "the wait for an answer", limit })?;
        let response = answer.map_err(|error| failed(url, &error))?;
        // The client cannot have connected elsewhere; if it ever could, the response is not used.
        let peer = response.remote_addr();
        if peer.is_none_or(|peer| !checked.contains(&peer)) {
            return Err(FetchError::WrongPeer { host: url.host() });
        }
        Ok(response)
    }

    async fn read(&self, url: WebUrl, mut response: Response) -> Result<Fetched, FetchError> {
        let limit = self.settings.idle_timeout;
        let max = self.settings.max_bytes;
        let content_type = response.headers().get(CONTENT_TYPE);
        let content_type = content_type.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let content_length = response.content_length();
        let mut body = Vec::new();
        let mut is_cut = false;
        while !is_cut {
            let chunk = timeout(limit, response.chunk()).await;
            let chunk = chunk.map_err(|_| FetchError::TimedOut { what: "the wait for more", limit })?;
            let Some(chunk) = chunk.map_err(|error| failed(&url, &error))? else { break };
            let room = max - body.len();
            is_cut = chunk.len() > room;
            body.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
        }
        Ok(Fetched { url, status: response.status().as_u16(), content_type, content_length, body, is_cut })
    }
}

/// The redirect target of a response, if there is one.
fn redirect(response: &Response, url: &WebUrl) -> Option<Result<WebUrl, FetchError>> {
    let is_redirect = matches!(
        response.status(),
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    );
    let location = response.headers().get(LOCATION).filter(|_| is_redirect)?;
    Some(url.join(&String::from_utf8_lossy(location.as_bytes())))
}

fn failed(url: &WebUrl, error: &reqwest::Error) -> FetchError {
    FetchError::Exchange { host: url.host(), reason: chain(error) }
}
