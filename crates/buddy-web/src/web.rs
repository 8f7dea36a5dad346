//! What tools are given: the way out, and where searches go.

use crate::{FetchError, FetchSettings, Fetcher, SEARCH_ENDPOINT, WebUrl, YOUTUBE_ENDPOINT};

/// Where searches go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoints {
    /// Of the web.
    pub search: WebUrl,
    /// For videos.
    pub youtube: WebUrl,
}

impl Endpoints {
    /// Where searches go unless somebody says otherwise.
    pub fn usual() -> Result<Self, FetchError> {
        Ok(Self { search: WebUrl::parse(SEARCH_ENDPOINT)?, youtube: WebUrl::parse(YOUTUBE_ENDPOINT)? })
    }

    /// The address that a search of the web fetches.
    pub fn search_url(&self, query: &str) -> WebUrl {
        self.search.with_parameter("q", query)
    }

    /// The address that a search for videos fetches.
    pub fn youtube_url(&self, query: &str) -> WebUrl {
        self.youtube.with_parameter("search_query", query)
    }
}

/// The web as tools see it.
pub struct Web {
    /// The way out.
    pub fetcher: Fetcher,
    /// Where searches go.
    pub endpoints: Endpoints,
}

impl Web {
    /// The web under these settings, with the usual endpoints.
    pub fn new(settings: FetchSettings) -> Result<Self, FetchError> {
        Ok(Self { fetcher: Fetcher::new(settings), endpoints: Endpoints::usual()? })
    }
}
