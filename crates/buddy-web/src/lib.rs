//! The web as tools see it: one guarded way out, pages as text, and searches.
//!
//! Everything that buddy fetches for an agent goes through [`Fetcher`]: only http and https, only hosts on
//! the public internet or those that the user allowed, every redirect judged again, everything bounded. It
//! knows nothing of tools, sessions or models.

mod address;
mod allowed;
mod broker;
mod charset;
mod client;
mod error;
mod fetcher;
mod gate;
mod page;
mod resolver;
mod search;
mod shape;
mod web;
mod web_url;
mod youtube;

#[cfg(test)]
mod tests;

pub use address::is_global;
pub use allowed::{AllowedHost, BadAllowedHost};
pub use broker::{Broker, Connection, Nearness, Outcome, UpstreamProxy, Wanted, Warrant};
pub use error::FetchError;
pub use fetcher::{FetchSettings, Fetched, Fetcher, Redirects};
pub use page::Page;
pub use search::{MAX_RESULTS, SEARCH_ENDPOINT, SearchError, SearchResult, search};
pub use web::{Endpoints, Web};
pub use web_url::WebUrl;
pub use youtube::{MAX_VIDEOS, Video, YOUTUBE_ENDPOINT, search_youtube};
