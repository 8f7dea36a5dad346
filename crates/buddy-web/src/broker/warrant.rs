//! The port that judges the hosts of a command and is told of its connections.

use std::net::IpAddr;

use async_trait::async_trait;

/// Judges the hosts that a command wants to reach. An error is the reason, which the command receives.
#[async_trait]
pub trait Warrant: Send + Sync {
    /// Whether the command may reach a host.
    async fn host(&self, wanted: &Wanted) -> Result<(), String>;

    /// Whether the command may reach it at an address of this machine or of a private network.
    async fn nearby(&self, wanted: &Wanted, address: IpAddr) -> Result<(), String>;

    /// Waits until a connection that was made is no longer allowed, and returns why. It ends the connection.
    async fn revoked(&self, wanted: &Wanted) -> String;

    /// Called for every connection after it has ended, and for every refused one.
    fn ended(&self, connection: Connection);
}

/// A host and port that a command wants to reach.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Wanted {
    /// A name in punycode and lower case, or an address in canonical form, IPv6 in brackets.
    pub host: String,
    /// The port.
    pub port: u16,
}

/// A connection that has ended or was not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// The requested host and port.
    pub wanted: Wanted,
    /// The outcome.
    pub outcome: Outcome,
    /// Why it failed, or was ended; none if the warrant gave the reason, or if nothing went wrong.
    pub why: Option<String>,
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
    /// The command did not wait for it: it closed the connection, or ended, before there was a verdict or a way to the host.
    GivenUp,
}
