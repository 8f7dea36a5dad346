//! Names to addresses. A port, so that a test can be the resolver that lies.

use std::io;
use std::net::IpAddr;

use async_trait::async_trait;

/// Looks names up.
#[async_trait]
pub(crate) trait Resolver: Send + Sync {
    /// All addresses of a name.
    async fn lookup(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// The resolver of this machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SystemResolver;

#[async_trait]
impl Resolver for SystemResolver {
    async fn lookup(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let addresses = tokio::net::lookup_host((host, 0)).await?;
        Ok(addresses.map(|address| address.ip()).collect())
    }
}
