//! The gate: from an address on the web to the socket addresses that a connection may use.
//!
//! It resolves a name once. All its addresses must pass, since the next lookup could return any of them. The
//! connection goes to these addresses and no others.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use crate::resolver::{Resolver, lookup};
use crate::{AllowedHost, FetchError, WebUrl};

pub(crate) struct Gate {
    pub(crate) resolver: Arc<dyn Resolver>,
    /// Tests whether an address passes for hosts that the user did not allow.
    pub(crate) passes: fn(IpAddr) -> bool,
    pub(crate) allowed: Vec<AllowedHost>,
    /// The timeout for a lookup.
    pub(crate) within: Duration,
}

impl Gate {
    /// The permitted socket addresses for this URL, in the resolver's order.
    pub(crate) async fn check(&self, url: &WebUrl) -> Result<Vec<SocketAddr>, FetchError> {
        let addresses = match url.literal() {
            Some(address) => vec![address],
            None => self.lookup(&url.host()).await?,
        };
        let is_allowed = self.allowed.iter().any(|allowed| allowed.covers(url));
        let refused = addresses.iter().find(|&&address| !is_allowed && !(self.passes)(address));
        if let Some(&address) = refused {
            return Err(FetchError::NotPublic { host: url.authority(), address });
        }
        Ok(addresses.into_iter().map(|address| SocketAddr::new(address, url.port())).collect())
    }

    /// The error for an address that is refused, if it is spelled out or its name always means this machine. Any other name is not
    /// looked up, since the lookup itself reveals it.
    pub(crate) fn refuses(&self, url: &WebUrl) -> Option<FetchError> {
        let here = || means_this_machine(&url.host()).then_some(IpAddr::V4(Ipv4Addr::LOCALHOST));
        let address = url.literal().or_else(here)?;
        let passes = (self.passes)(address) || self.allowed.iter().any(|allowed| allowed.covers(url));
        (!passes).then(|| FetchError::NotPublic { host: url.authority(), address })
    }

    async fn lookup(&self, host: &str) -> Result<Vec<IpAddr>, FetchError> {
        let unresolved = |reason| FetchError::Unresolved { host: host.to_owned(), reason };
        lookup(&*self.resolver, host, self.within).await.map_err(unresolved)
    }
}

/// Whether a name is set aside for this machine itself, whatever a resolver says (RFC 6761, section 6.3).
fn means_this_machine(host: &str) -> bool {
    let name = host.trim_end_matches('.');
    name == "localhost" || name.ends_with(".localhost")
}
