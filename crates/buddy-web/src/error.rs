//! Why something was not fetched.

use std::net::IpAddr;
use std::time::Duration;

/// Why something was not fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The address is not one that is fetched from, whoever answers there.
    #[error("the address `{shown}` is refused: {reason}")]
    BadUrl {
        /// The address, with what is not printable escaped, and cut.
        shown: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The host has an address that is not on the public internet.
    #[error("`{host}` is at {address}, which is not on the public internet")]
    NotPublic {
        /// The host, in punycode, with its port.
        host: String,
        /// The address that gave it away.
        address: IpAddr,
    },
    /// The host has no address.
    #[error("the name `{host}` cannot be resolved: {reason}")]
    Unresolved {
        /// The host, in punycode.
        host: String,
        /// What the resolver said.
        reason: String,
    },
    /// The connection ended at another address than the one that was checked.
    #[error("the connection to `{host}` ended at an address that was not checked")]
    WrongPeer {
        /// The host, in punycode.
        host: String,
    },
    /// One redirect led to the next for too long.
    #[error("more than {limit} redirects; the last one led to {last}")]
    TooManyRedirects {
        /// How many are followed.
        limit: usize,
        /// Where the last one led.
        last: String,
    },
    /// A redirect led to where nothing is fetched from.
    #[error("{from} redirects to where nothing is fetched from")]
    BadRedirect {
        /// The page that redirects.
        from: String,
        /// What is wrong with where it leads.
        source: Box<FetchError>,
    },
    /// A redirect led to a host that nobody allowed.
    #[error("{from} redirects to {to}, on another host, which was not fetched")]
    LeadsElsewhere {
        /// The page that redirects.
        from: String,
        /// Where it leads.
        to: String,
    },
    /// A wait came to its end.
    #[error("{what} took longer than {} s", limit.as_secs_f64())]
    TimedOut {
        /// What was waited for.
        what: &'static str,
        /// For how long.
        limit: Duration,
    },
    /// The server could not be reached, or broke off.
    #[error("the exchange with `{host}` failed: {reason}")]
    Exchange {
        /// The host, in punycode.
        host: String,
        /// What happened, down to the last cause.
        reason: String,
    },
    /// There is no client to fetch with.
    #[error("cannot set up the HTTP client: {0}")]
    Setup(String),
}

/// An error with all its causes, in one line. The outer messages of HTTP libraries say little.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    let mut lines: Vec<String> = causes.map(ToString::to_string).collect();
    lines.dedup();
    lines.join(": ")
}
