//! The driver: the only place in this crate that opens connections.
//!
//! `model` runs a call with its retries, `exchange` sends one request and checks the status, `reader` turns
//! the body into deltas, `learned` remembers what an endpoint refused, `client` sets up TLS, proxies and
//! redirects, `fetch` sends small requests beside the conversation, `logged_in` sends with the token of a
//! login.

mod client;
mod exchange;
pub(crate) mod fetch;
mod learned;
mod logged_in;
mod model;
mod reader;

pub(crate) use client::build as build_client;
pub use client::install_tls;
pub(crate) use exchange::unreachable;
pub use model::HttpModel;
