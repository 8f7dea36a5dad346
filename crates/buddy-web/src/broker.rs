//! The broker: the only way out of a jailed command.
//!
//! It is a proxy for HTTP and SOCKS, on a listener that only the command reaches. It judges every host by its
//! name before it looks the name up, since a lookup sends a message too. It connects only to an address that
//! was judged.

mod body;
mod dial;
mod greeting;
mod nearness;
mod open;
mod relay;
mod request;
mod upstream;
mod warrant;

#[cfg(test)]
mod tests;

use std::io::ErrorKind;
use std::net::IpAddr;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::io::ReadBuf;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::address::{Whereabouts, literal_address, whereabouts};
use crate::resolver::{Resolver, SystemResolver, lookup};
use dial::{CONNECT_WITHIN, dial};
pub use nearness::Nearness;
pub(crate) use nearness::is_private_name;
use open::{OpenConnections, SharedConnections};
use relay::Limit;
use request::{Reply, Request};
pub use upstream::UpstreamProxy;
use upstream::Via;
pub use warrant::{Connection, Outcome, Wanted, Warrant};

/// The maximum number of concurrent connections of one command. More have to wait.
const MAX_CONNECTIONS: usize = 128;
/// The timeout for a command to send its request.
const REQUEST_WITHIN: Duration = Duration::from_secs(30);
/// How long a look-up may take where the proxy can do without it.
const LOOK_UP_WITHIN: Duration = Duration::from_secs(3);

/// The pause after a failed accept.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Lets a command connect to permitted hosts.
pub struct Broker {
    ways: Arc<Ways>,
}

/// How hosts are found and reached.
struct Ways {
    resolver: Arc<dyn Resolver>,
    upstream: UpstreamProxy,
}

impl Broker {
    /// One that connects by the proxy of the user's network, where there is one.
    pub fn new(upstream: UpstreamProxy) -> Self {
        Self { ways: Arc::new(Ways { resolver: Arc::new(SystemResolver), upstream }) }
    }

    /// Serves a command until this is dropped, which ends every connection.
    pub async fn serve(&self, listener: TcpListener, warrant: Arc<dyn Warrant>) {
        let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let mut served = JoinSet::new();
        let open = OpenConnections::default();
        loop {
            let Ok(permit) = room.clone().acquire_owned().await else { return };
            let client = tokio::select! {
                accepted = listener.accept() => accepted,
                Some(_) = served.join_next() => continue,
            };
            let Ok((client, _)) = client else {
                // File descriptors may be short for a moment; the command still needs its way out.
                sleep(ACCEPT_PAUSE).await;
                continue;
            };
            let (ways, warrant, open) = (self.ways.clone(), warrant.clone(), open.share());
            served.spawn(async move {
                serve_one(client, &ways, &open, &warrant).await;
                drop(permit);
            });
        }
    }
}

async fn serve_one(mut client: TcpStream, ways: &Ways, open: &SharedConnections, warrant: &Arc<dyn Warrant>) {
    let Ok(Ok(request)) = timeout(REQUEST_WITHIN, request::read(&mut client)).await else { return };
    let Request { wanted, reply, forward, body } = request;
    let open = open.begin(wanted.clone(), warrant.clone());
    let (mut server, via) = match ways.connect(&wanted, reply, &**warrant).await {
        Ok(connected) => connected,
        Err(Closed::Refused(reason)) => {
            open.set(Outcome::Refused);
            return reply.refuse(&mut client, &wanted, &reason).await;
        }
        Err(Closed::Failed(reason)) => {
            open.end(Outcome::Failed, reason.clone());
            return reply.fail(&mut client, &wanted, &reason).await;
        }
    };
    if reply.opens_tunnel() && has_left(&client) {
        return;
    }
    open.set(Outcome::Made);
    if reply.accept(&mut client).await.is_ok() {
        let limit = body.map_or(Limit::Tunnel(&wanted), Limit::Request);
        let first = via.first(&wanted, forward);
        let relayed = tokio::select! {
            // Before the relay: not a byte passes once the connection is no longer allowed.
            biased;
            reason = warrant.revoked(&wanted) => return open.end(Outcome::Refused, reason),
            relayed = relay::relay(&mut client, &mut server, first, limit, &open.counts) => relayed,
        };
        if let Some(error) = relayed.err().filter(|error| error.kind() == ErrorKind::PermissionDenied) {
            open.end(Outcome::Refused, error.to_string());
        }
    }
}

/// Whether the command has closed its end. It has no reason to close one direction before a tunnel is open.
fn has_left(client: &TcpStream) -> bool {
    let mut byte = [0];
    let mut byte = ReadBuf::new(&mut byte);
    let mut context = Context::from_waker(Waker::noop());
    matches!(client.poll_peek(&mut context, &mut byte), Poll::Ready(Ok(0) | Err(_)))
}

/// The reason why there is no connection.
enum Closed {
    Refused(String),
    Failed(String),
}

impl Ways {
    /// Judges a host by its name and by where it is, and connects to it, directly or by the upstream proxy.
    async fn connect(
        &self,
        wanted: &Wanted,
        reply: Reply,
        warrant: &dyn Warrant,
    ) -> Result<(TcpStream, Via), Closed> {
        let literal = literal_address(&wanted.host);
        // An address is judged as what it is; a second question about it would say the same, or nothing could follow a yes.
        if literal.is_none_or(|address| whereabouts(address) < Whereabouts::Nearby) {
            warrant.host(wanted).await.map_err(Closed::Refused)?;
        }
        let proxy = self.upstream.for_host(wanted, reply);
        let addresses = match literal {
            Some(address) => vec![address],
            None => self.addresses(&wanted.host, proxy.is_some()).await?,
        };
        // All addresses of a name must pass, since the next look-up could give any of them.
        let worst = addresses.iter().copied().max_by_key(|&address| whereabouts(address));
        match worst.map(|address| (address, whereabouts(address))) {
            Some((address, Whereabouts::Forbidden)) => {
                return Err(Closed::Refused(format!("it is at {address}, which commands never reach")));
            }
            Some((address, Whereabouts::Nearby)) => {
                warrant.nearby(wanted, address).await.map_err(Closed::Refused)?;
            }
            _ => {}
        }
        // For the proxy, its own machine would be meant.
        let is_here = worst.is_some_and(|address| address.to_canonical().is_loopback());
        match proxy.filter(|_| !is_here) {
            None => Ok((dial(&addresses, wanted.port).await.map_err(Closed::Failed)?, Via::Direct)),
            Some(proxy) => proxy.connect(wanted, reply, &*self.resolver).await.map_err(Closed::Failed),
        }
    }

    /// The addresses of a name. With a proxy a name may be one that only the proxy can look up; none are known then.
    async fn addresses(&self, host: &str, has_proxy: bool) -> Result<Vec<IpAddr>, Closed> {
        let within = if has_proxy { LOOK_UP_WITHIN } else { CONNECT_WITHIN };
        match lookup(&*self.resolver, host, within).await {
            Ok(addresses) => Ok(addresses),
            Err(_) if has_proxy && !nearness::is_private_name(host) => Ok(Vec::new()),
            Err(_) if has_proxy => Err(Closed::Refused(
                "it is a name of private networks whose address is not known here, so the proxy is not asked for it"
                    .to_owned(),
            )),
            Err(reason) => Err(Closed::Failed(reason)),
        }
    }
}
