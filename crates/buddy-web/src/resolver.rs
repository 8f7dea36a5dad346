//! Resolves names to addresses. A port, so that a test can be the resolver that lies.

use std::io;
use std::net::IpAddr;
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::timeout;

/// The maximum number of addresses of one name. A name with more is no accident.
const MAX_ADDRESSES: usize = 64;

/// All addresses of a name, at least one. The error says why there are none.
pub(crate) async fn lookup(
    resolver: &dyn Resolver,
    host: &str,
    within: Duration,
) -> Result<Vec<IpAddr>, String> {
    let answer = timeout(within, resolver.lookup(host)).await;
    let addresses = answer
        .map_err(|_| format!("its name was not found within {} s", within.as_secs_f64()))?
        .map_err(|error| lookup_error(&error))?;
    match addresses.len() {
        0 => Err("it has no address".to_owned()),
        1..=MAX_ADDRESSES => Ok(addresses),
        _ => Err(format!("it has more than {MAX_ADDRESSES} addresses")),
    }
}

/// Why a name has no address. The system's words come after the standard library's, which say nothing more.
fn lookup_error(error: &io::Error) -> String {
    let text = error.to_string();
    let reason = text.rsplit_once("address information: ").map_or(text.as_str(), |(_, reason)| reason);
    format!("its name was not found ({reason})")
}

/// A resolver of names.
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
