//! Relays bytes in both directions and counts them.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::body::Body;
use super::greeting::{self, Greeting};
use super::warrant::Wanted;

/// The timeout without traffic in either direction.
const IDLE: Duration = Duration::from_mins(15);
/// The size of the relay buffer.
const BLOCK: usize = 64 * 1024;

/// The numbers of bytes sent to the server and received from it.
#[derive(Debug, Default)]
pub(super) struct Counts {
    sent: AtomicU64,
    received: AtomicU64,
}

impl Counts {
    pub(super) fn read(&self) -> (u64, u64) {
        (self.sent.load(Ordering::Relaxed), self.received.load(Ordering::Relaxed))
    }
}

/// The limit on what a command sends over a connection.
pub(super) enum Limit<'a> {
    /// A greeting of this host, and more.
    Tunnel(&'a Wanted),
    /// One request, of which this much is still to come.
    Request(Body),
}

/// Relays bytes until both sides have ended or one has failed. Sends `first` to the server before everything
/// else. In a tunnel, sends nothing before the greeting was found to be for that host; the server may speak
/// first all the same.
pub(super) async fn relay(
    client: &mut TcpStream,
    server: &mut TcpStream,
    first: Vec<u8>,
    limit: Limit<'_>,
    counts: &Counts,
) -> io::Result<()> {
    let (mut from_client, mut to_client) = client.split();
    let (mut from_server, mut to_server) = server.split();
    let up = async {
        let Greeting { bytes: first, body } = match limit {
            Limit::Tunnel(wanted) => greeting::read(&mut from_client, first, wanted, IDLE).await?,
            Limit::Request(body) => Greeting { bytes: first, body: Some(body) },
        };
        to_server.write_all(&first).await?;
        counts.sent.fetch_add(first.len() as u64, Ordering::Relaxed);
        pump(&mut from_client, &mut to_server, body, &counts.sent, counts).await
    };
    let down = pump(&mut from_server, &mut to_client, None, &counts.received, counts);
    tokio::try_join!(up, down)?;
    Ok(())
}

async fn pump(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    mut body: Option<Body>,
    count: &AtomicU64,
    all: &Counts,
) -> io::Result<()> {
    let mut block = vec![0; BLOCK];
    while !body.as_ref().is_some_and(Body::is_over) {
        let before = all.read();
        let length = match timeout(IDLE, from.read(&mut block)).await {
            Ok(length) => length?,
            // The other direction may still be active.
            Err(_) if all.read() != before => continue,
            Err(_) => return Err(io::ErrorKind::TimedOut.into()),
        };
        if length == 0 {
            return to.shutdown().await;
        }
        let read = block.get(..length).unwrap_or_default();
        let taken = body.as_mut().map_or(Some(length), |body| body.take(read));
        let sent = taken.and_then(|taken| read.get(..taken)).ok_or(io::ErrorKind::InvalidData)?;
        to.write_all(sent).await?;
        count.fetch_add(sent.len() as u64, Ordering::Relaxed);
    }
    Ok(())
}
