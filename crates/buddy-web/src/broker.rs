//! The broker: the only way out of a jailed command.
//!
//! It is a proxy for HTTP and SOCKS, on a listener that only the command reaches. It judges every host by its
//! name before it looks the name up, since a lookup sends a message too. It connects only to an address that
//! was judged.

mod relay;
mod request;

#[cfg(test)]
mod tests;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::address::{Whereabouts, whereabouts};
use crate::resolver::{Resolver, SystemResolver, lookup};
use relay::Counts;
use request::Request;

/// The maximum number of concurrent connections of one command. More have to wait.
const MAX_CONNECTIONS: usize = 128;
/// The timeout for a command to send its request.
const REQUEST_WITHIN: Duration = Duration::from_secs(30);
/// The timeouts for a lookup and for a connection.
const CONNECT_WITHIN: Duration = Duration::from_secs(20);

/// The pause after a failed accept.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A host and port that a command wants to reach.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Wanted {
    /// A name in punycode and lower case, or an address in canonical form, IPv6 in brackets.
    pub host: String,
    /// The port.
    pub port: u16,
}

/// Judges the hosts that a command wants to reach. An error is the reason, which the command receives.
#[async_trait]
pub trait Warrant: Send + Sync {
    /// Whether the command may reach a host.
    async fn host(&self, wanted: &Wanted) -> Result<(), String>;

    /// Whether the command may reach it at an address of this machine or of a private network.
    async fn nearby(&self, wanted: &Wanted, address: IpAddr) -> Result<(), String>;

    /// Called for every connection after it has ended, and for every refused one.
    fn ended(&self, connection: Connection);
}

/// A connection that has ended or was not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// The requested host and port.
    pub wanted: Wanted,
    /// The outcome.
    pub outcome: Outcome,
    /// Bytes that the command sent.
    pub sent: u64,
    /// Bytes that it received.
    pub received: u64,
}

/// The outcome of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was made.
    Made,
    /// It was not allowed.
    Refused,
    /// It was allowed, but the host could not be reached.
    Failed,
}

/// Lets a command connect to permitted hosts.
pub struct Broker {
    resolver: Arc<dyn Resolver>,
}

impl Default for Broker {
    fn default() -> Self {
        Self { resolver: Arc::new(SystemResolver) }
    }
}

impl Broker {
    /// Serves a command until this is dropped, which ends every connection.
    pub async fn serve(&self, listener: TcpListener, warrant: Arc<dyn Warrant>) {
        let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let mut served = JoinSet::new();
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
            let (resolver, warrant) = (self.resolver.clone(), warrant.clone());
            served.spawn(async move {
                serve_one(client, &*resolver, &*warrant).await;
                drop(permit);
            });
        }
    }
}

async fn serve_one(mut client: TcpStream, resolver: &dyn Resolver, warrant: &dyn Warrant) {
    let Ok(Ok(request)) = timeout(REQUEST_WITHIN, request::read(&mut client)).await else { return };
    let Request { wanted, reply, forward } = request;
    let mut open = Open { warrant, wanted: &wanted, outcome: Outcome::Failed, counts: Counts::default() };
    let mut server = match connect(&wanted, resolver, warrant).await {
        Ok(server) => server,
        Err(Closed::Refused(reason)) => {
            open.outcome = Outcome::Refused;
            return reply.refuse(&mut client, &wanted, &reason).await;
        }
        Err(Closed::Failed(reason)) => return reply.fail(&mut client, &wanted, &reason).await,
    };
    open.outcome = Outcome::Made;
    if reply.accept(&mut client).await.is_ok() {
        relay::relay(&mut client, &mut server, &forward, &open.counts).await;
    }
}

/// A connection that is reported when this is dropped, for whatever reason.
struct Open<'a> {
    warrant: &'a dyn Warrant,
    wanted: &'a Wanted,
    outcome: Outcome,
    counts: Counts,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        let (sent, received) = self.counts.read();
        let (wanted, outcome) = (self.wanted.clone(), self.outcome);
        self.warrant.ended(Connection { wanted, outcome, sent, received });
    }
}

/// The reason why there is no connection.
enum Closed {
    Refused(String),
    Failed(String),
}

async fn connect(
    wanted: &Wanted,
    resolver: &dyn Resolver,
    warrant: &dyn Warrant,
) -> Result<TcpStream, Closed> {
    let literal = literal(&wanted.host);
    // A literal address was judged already; a second question about it would get the same answer.
    if literal.is_none_or(|address| whereabouts(address) != Whereabouts::Nearby) {
        warrant.host(wanted).await.map_err(Closed::Refused)?;
    }
    let addresses = match literal {
        Some(address) => vec![address],
        None => lookup(resolver, &wanted.host, CONNECT_WITHIN).await.map_err(Closed::Failed)?,
    };
    // All addresses of a name must pass, since the next lookup could return any of them.
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
    dial(&addresses, wanted.port).await.map_err(Closed::Failed)
}

/// Connects to the first address that answers.
async fn dial(addresses: &[IpAddr], port: u16) -> Result<TcpStream, String> {
    let mut reason = "it has no address".to_owned();
    for &address in addresses {
        match timeout(CONNECT_WITHIN, TcpStream::connect(SocketAddr::new(address, port))).await {
            Ok(Ok(stream)) => {
                // The relayed bytes already come in sensible pieces.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Ok(Err(error)) => reason = error.to_string(),
            Err(_) => reason = format!("no answer within {} s", CONNECT_WITHIN.as_secs()),
        }
    }
    Err(reason)
}

/// The address in a host, if it is a literal one.
fn literal(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}
