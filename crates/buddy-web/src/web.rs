//! The web for tools: the fetcher, and the endpoints of searches.

use std::sync::Arc;

use crate::{
    FetchError, FetchSettings, Fetched, Fetcher, Redirects, SEARCH_ENDPOINT, UpstreamProxy, WebUrl,
    YOUTUBE_ENDPOINT,
};

/// The endpoints of searches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoints {
    /// The web search.
    pub search: WebUrl,
    /// The video search.
    pub youtube: WebUrl,
}

impl Endpoints {
    /// The default endpoints.
    pub fn usual() -> Result<Self, FetchError> {
        Ok(Self { search: WebUrl::parse(SEARCH_ENDPOINT)?, youtube: WebUrl::parse(YOUTUBE_ENDPOINT)? })
    }

    /// The URL that a web search fetches.
    pub fn search_url(&self, query: &str) -> WebUrl {
        self.search.with_parameter("q", query)
    }

    /// The URL that a video search fetches.
    pub fn youtube_url(&self, query: &str) -> WebUrl {
        self.youtube.with_parameter("search_query", query)
    }
}

/// The web as tools see it.
pub struct Web {
    /// The only way out.
    pub fetcher: Fetcher,
    /// The endpoints of searches.
    pub endpoints: Endpoints,
    /// The proxy that commands go out by, where the network has one.
    pub upstream: UpstreamProxy,
}

impl Web {
    /// The web under these settings, with the default endpoints.
    pub fn new(settings: FetchSettings) -> Result<Self, FetchError> {
        let upstream = UpstreamProxy::default();
        Ok(Self { fetcher: Fetcher::new(settings), endpoints: Endpoints::usual()?, upstream })
    }

    /// Fetches a page of a host that the user allowed to a command, by the way that the connections of commands take. No redirect to
    /// another host is followed.
    pub async fn get_as_command(&self, url: WebUrl) -> Result<Fetched, FetchError> {
        if let Some(proxy) = self.upstream.for_page(&url) {
            return self.fetcher.get_by_proxy(url, proxy?).await;
        }
        let nowhere: Redirects = Arc::new(|_| false);
        self.fetcher.get_within(url, &nowhere).await
    }
}
