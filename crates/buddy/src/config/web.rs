//! The section on the web. The doc of a field is also its comment in the template and its description in the JSON Schema.

use std::borrow::Cow;
use std::fmt::Display;
use std::str::FromStr;

use buddy_web::{AllowedHost, Endpoints, FetchError, FetchSettings, Fetcher, UpstreamProxy, Web, WebUrl};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::wait::WaitTime;

/// The settings of tools that fetch from the web.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct WebSection {
    /// Hosts that may be fetched from although they are not on the public internet, as `host:port`.
    pub(crate) allowed_hosts: Vec<Text<AllowedHost>>,
    /// The most bytes of a page that are read.
    pub(crate) max_bytes: usize,
    /// How long a look-up and a connection may take, each.
    pub(crate) connect_timeout: WaitTime,
    /// How long a server may say nothing.
    pub(crate) idle_timeout: WaitTime,
    /// How long a fetch may take with all its redirects.
    pub(crate) total_timeout: WaitTime,
    /// Where `web_search` asks, in the way of DuckDuckGo's page without scripts; absent takes that page itself.
    pub(crate) search_endpoint: Option<Text<Address>>,
    /// Where `search_youtube` asks; absent takes YouTube's results page.
    pub(crate) youtube_endpoint: Option<Text<Address>>,
}

impl Default for WebSection {
    fn default() -> Self {
        let settings = FetchSettings::default();
        Self {
            allowed_hosts: Vec::new(),
            max_bytes: settings.max_bytes,
            connect_timeout: WaitTime(settings.connect_timeout),
            idle_timeout: WaitTime(settings.idle_timeout),
            total_timeout: WaitTime(settings.total_timeout),
            search_endpoint: None,
            youtube_endpoint: None,
        }
    }
}

impl WebSection {
    /// The web as this section wants it.
    pub(crate) fn web(&self) -> Result<Web, FetchError> {
        let endpoints = self.endpoints()?;
        let fetcher = Fetcher::new(FetchSettings {
            allowed_hosts: self.allowed_hosts.iter().map(|text| text.0.clone()).collect(),
            max_bytes: self.max_bytes,
            connect_timeout: self.connect_timeout.0,
            idle_timeout: self.idle_timeout.0,
            total_timeout: self.total_timeout.0,
            ..FetchSettings::default()
        });
        Ok(Web { fetcher, endpoints, upstream: UpstreamProxy::default() })
    }

    /// The hosts that the configuration says may be fetched from.
    pub(crate) fn hosts(&self) -> Vec<String> {
        self.allowed_hosts.iter().map(|text| text.0.host().to_owned()).collect()
    }

    /// The addresses of the pages where the tools search.
    pub(crate) fn searches(&self) -> Result<Vec<String>, FetchError> {
        let Endpoints { search, youtube } = self.endpoints()?;
        Ok(vec![search.to_string(), youtube.to_string()])
    }

    fn endpoints(&self) -> Result<Endpoints, FetchError> {
        let usual = Endpoints::usual()?;
        let chosen = |address: &Option<Text<Address>>| address.as_ref().map(|text| text.0.0.clone());
        Ok(Endpoints {
            search: chosen(&self.search_endpoint).unwrap_or(usual.search),
            youtube: chosen(&self.youtube_endpoint).unwrap_or(usual.youtube),
        })
    }
}

/// An address on the web.
#[derive(Debug, Clone)]
pub(crate) struct Address(WebUrl);

impl FromStr for Address {
    type Err = FetchError;

    fn from_str(text: &str) -> Result<Self, FetchError> {
        WebUrl::parse(text).map(Self)
    }
}

impl Display for Address {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(formatter)
    }
}

/// A value that stands in the file as a text.
#[derive(Debug, Clone)]
pub(crate) struct Text<T>(T);

impl<T: Display> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de, T: FromStr<Err: Display>> Deserialize<'de> for Text<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map(Self).map_err(D::Error::custom)
    }
}

impl<T> JsonSchema for Text<T> {
    fn schema_name() -> Cow<'static, str> {
        "Text".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string"})
    }
}
