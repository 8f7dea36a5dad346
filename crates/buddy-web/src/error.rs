//! The reasons why a fetch failed.

use std::net::IpAddr;
use std::time::Duration;

/// The reason why a fetch failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The address is never fetched, whatever the host.
    #[error("the address `{shown}` is refused: {reason}")]
    BadUrl {
        /// The address, with unprintable characters escaped, and cut.
        shown: String,
        /// The problem with it.
        reason: &'static str,
    },
    /// The host has an address that is not on the public internet.
    #[error("`{host}` is {}not on the public internet", place(host, *address))]
    NotPublic {
        /// The host, in punycode, with its port.
        host: String,
        /// The non-public address.
        address: IpAddr,
    },
    /// The host has no address.
    #[error("the name `{host}` cannot be resolved: {reason}")]
    Unresolved {
        /// The host, in punycode.
        host: String,
        /// The resolver's error.
        reason: String,
    },
    /// The connection ended at another address than the checked one.
    #[error("the connection to `{host}` ended at an address that was not checked")]
    WrongPeer {
        /// The host, in punycode.
        host: String,
    },
    /// There were too many redirects.
    #[error("more than {limit} redirects; the last one led to {last}")]
    TooManyRedirects {
        /// The maximum number of redirects.
        limit: usize,
        /// The address of the last redirect.
        last: String,
    },
    /// A redirect led to an address that is never fetched.
    #[error("{from} redirects to where nothing is fetched from")]
    BadRedirect {
        /// The page that redirects.
        from: String,
        /// The problem with the address of the redirect.
        source: Box<FetchError>,
    },
    /// A redirect led to a host that is not allowed.
    #[error("{from} redirects to {to}, on another host, which was not fetched")]
    LeadsElsewhere {
        /// The page that redirects.
        from: String,
        /// The address of the redirect.
        to: String,
    },
    /// A timeout expired.
    #[error("{what} took longer than {} s", limit.as_secs_f64())]
    TimedOut {
        /// The operation that timed out.
        what: &'static str,
        /// The timeout.
        limit: Duration,
    },
    /// The server was unreachable, or broke off.
    #[error("the exchange with `{host}` failed: {reason}")]
    Exchange {
        /// The host, in punycode.
        host: String,
        /// The error, down to its root cause.
        reason: String,
    },
    /// The HTTP client could not be created.
    #[error("cannot set up the HTTP client: {0}")]
    Setup(String),
}

/// The address of a host, for the middle of a sentence; nothing where the host is spelled as that address.
fn place(host: &str, address: IpAddr) -> String {
    let is_spelled = host.starts_with(&format!("{address}:")) || host.starts_with(&format!("[{address}]"));
    if is_spelled || host == address.to_string() { String::new() } else { format!("at {address}, which is ") }
}

/// An error with all its causes, in one line. The outer messages of HTTP libraries say little.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    let mut lines: Vec<String> = causes.map(ToString::to_string).collect();
    lines.dedup();
    lines.join(": ")
}
