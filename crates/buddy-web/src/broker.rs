//! The broker: the one way out of a jailed command.
//!
//! It is a proxy, for HTTP and for SOCKS, on a listener that only the command reaches. Every host is judged by its name
//! before the name is looked up, since a look-up is a message too. The connection is made to an address that was judged.

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

/// Connections of one command at the same time. More wait.
const MAX_CONNECTIONS: usize = 128;
/// How long a command may take to say where it wants to go.
const REQUEST_WITHIN: Duration = Duration::from_secs(30);
/// How long a look-up and a connection may take, each.
const CONNECT_WITHIN: Duration = Duration::from_secs(20);

/// How long nothing is accepted after a failure.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A host that a command wants to reach, and at which port.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Wanted {
    /// A name in punycode and lower case, or an address in its usual spelling, IPv6 in brackets.
    pub host: String,
    /// The port.
    pub port: u16,
}

/// Judges what a command wants to reach. An error is the reason, which the command is told.
#[async_trait]
pub trait Warrant: Send + Sync {
    /// Whether a host may be reached.
    async fn host(&self, wanted: &Wanted) -> Result<(), String>;

    /// Whether it may be reached at an address of this machine or of a private network.
    async fn nearby(&self, wanted: &Wanted, address: IpAddr) -> Result<(), String>;

    /// Hears of every connection when it has ended, and of those that were not made.
    fn ended(&self, connection: Connection);
}

/// A connection that has ended or was not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// Where it led.
    pub wanted: Wanted,
    /// What became of it.
    pub outcome: Outcome,
    /// Bytes that the command sent.
    pub sent: u64,
    /// Bytes that it received.
    pub received: u64,
}

/// What became of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was made.
    Made,
    /// It was not allowed.
    Refused,
    /// It was allowed, and the host could not be reached.
    Failed,
}

/// Lets a command out, host by host.
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
                // Descriptors may be short for a moment; the command still needs its way out.
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

/// A connection that is told when this is dropped, whoever ends it.
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

/// Why there is no connection.
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
    // An address is judged as what it is; a second question about it would say the same.
    if literal.is_none_or(|address| whereabouts(address) != Whereabouts::Nearby) {
        warrant.host(wanted).await.map_err(Closed::Refused)?;
    }
    let addresses = match literal {
        Some(address) => vec![address],
        None => lookup(resolver, &wanted.host, CONNECT_WITHIN).await.map_err(Closed::Failed)?,
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
    dial(&addresses, wanted.port).await.map_err(Closed::Failed)
}

/// Connects to the first address that answers.
async fn dial(addresses: &[IpAddr], port: u16) -> Result<TcpStream, String> {
    let mut reason = "it has no address".to_owned();
    for &address in addresses {
        match timeout(CONNECT_WITHIN, TcpStream::connect(SocketAddr::new(address, port))).await {
            Ok(Ok(stream)) => {
                // What is passed on was written in pieces that make sense already.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Ok(Err(error)) => reason = error.to_string(),
            Err(_) => reason = format!("no answer within {} s", CONNECT_WITHIN.as_secs()),
        }
    }
    Err(reason)
}

/// The address that a host is, where it is one.
fn literal(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}
