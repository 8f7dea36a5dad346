//! An HTTP client for one hop: it can connect to the checked addresses and to nothing else.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::dns::{Name, Resolve, Resolving};
use reqwest::redirect;
use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls_platform_verifier::ConfigVerifierExt as _;

use crate::error::chain;
use crate::{FetchError, WebUrl};

/// The parts that all clients share.
#[derive(Debug)]
pub(crate) struct Clients {
    pub(crate) user_agent: String,
    pub(crate) connect_timeout: Duration,
    /// Created for the first connection that needs it, because reading the machine's certificates takes time.
    pub(crate) tls: OnceLock<ClientConfig>,
}

impl Clients {
    /// A client for this hop.
    ///
    /// It follows no redirects, keeps no cookies and no connections, and uses no proxy: a proxy would resolve
    /// the name again, and its connection could not be checked.
    #[expect(clippy::disallowed_methods, reason = "this crate makes all connections that are not to models")]
    pub(crate) fn client(&self, url: &WebUrl, checked: &[SocketAddr]) -> Result<reqwest::Client, FetchError> {
        reqwest::Client::builder()
            .user_agent(&self.user_agent)
            .connect_timeout(self.connect_timeout)
            .redirect(redirect::Policy::none())
            .referer(false)
            .no_proxy()
            .pool_max_idle_per_host(0)
            .retry(reqwest::retry::never())
            .dns_resolver(Arc::new(NoResolver))
            .resolve_to_addrs(&url.host(), checked)
            .tls_backend_preconfigured(self.tls()?)
            .build()
            .map_err(|error| FetchError::Setup(chain(&error)))
    }

    /// A client that goes out by the proxy of the network, which resolves the name by itself.
    #[expect(clippy::disallowed_methods, reason = "this crate makes all connections that are not to models")]
    pub(crate) fn by_proxy(&self, proxy: reqwest::Proxy) -> Result<reqwest::Client, FetchError> {
        reqwest::Client::builder()
            .user_agent(&self.user_agent)
            .connect_timeout(self.connect_timeout)
            .redirect(redirect::Policy::none())
            .referer(false)
            .no_proxy()
            .proxy(proxy)
            .pool_max_idle_per_host(0)
            .retry(reqwest::retry::never())
            .tls_backend_preconfigured(self.tls()?)
            .build()
            .map_err(|error| FetchError::Setup(chain(&error)))
    }

    fn tls(&self) -> Result<ClientConfig, FetchError> {
        if let Some(config) = self.tls.get() {
            return Ok(config.clone());
        }
        // The only failure is that a provider is already set, which is as good.
        let _already_there = ring::default_provider().install_default();
        let config =
            ClientConfig::with_platform_verifier().map_err(|error| FetchError::Setup(chain(&error)))?;
        Ok(self.tls.get_or_init(|| config).clone())
    }
}

/// Resolves no names, so that a client connects to the given addresses or not at all.
struct NoResolver;

impl Resolve for NoResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let message = format!("the name `{}` was not checked", name.as_str());
        Box::pin(async move { Err(message.into()) })
    }
}
