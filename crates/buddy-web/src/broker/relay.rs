//! Relays bytes in both directions and counts them.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::{Wanted, greeting};

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

/// Relays bytes until both sides have ended or one has failed. Sends `first` to the server before everything
/// else. In a tunnel, sends nothing before the greeting was found to be for that host; the server may speak
/// first all the same.
pub(super) async fn relay(
    client: &mut TcpStream,
    server: &mut TcpStream,
    first: Vec<u8>,
    tunnel: Option<&Wanted>,
    counts: &Counts,
) -> io::Result<()> {
    let (mut from_client, mut to_client) = client.split();
    let (mut from_server, mut to_server) = server.split();
    let up = async {
        let first = match tunnel {
            Some(wanted) => greeting::read(&mut from_client, first, wanted, IDLE).await?,
            None => first,
        };
        to_server.write_all(&first).await?;
        counts.sent.fetch_add(first.len() as u64, Ordering::Relaxed);
        pump(&mut from_client, &mut to_server, &counts.sent, counts).await
    };
    let down = pump(&mut from_server, &mut to_client, &counts.received, counts);
    tokio::try_join!(up, down)?;
    Ok(())
}

async fn pump(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    count: &AtomicU64,
    all: &Counts,
) -> io::Result<()> {
    let mut block = vec![0; BLOCK];
    loop {
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
        to.write_all(block.get(..length).unwrap_or_default()).await?;
        count.fetch_add(length as u64, Ordering::Relaxed);
    }
}
