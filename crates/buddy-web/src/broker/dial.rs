//! A connection to the first of several addresses that answers.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;

/// The timeouts for a lookup and for a connection.
pub(super) const CONNECT_WITHIN: Duration = Duration::from_secs(20);

/// Connects to the first address that answers.
pub(super) async fn dial(addresses: &[IpAddr], port: u16) -> Result<TcpStream, String> {
    let mut reason = "it has no address".to_owned();
    for &address in addresses {
        match timeout(CONNECT_WITHIN, TcpStream::connect(SocketAddr::new(address, port))).await {
            Ok(Ok(stream)) => {
                // The relayed bytes already come in sensible pieces.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Ok(Err(error)) => reason = connect_error(&error),
            Err(_) => reason = format!("no answer within {} s", CONNECT_WITHIN.as_secs()),
        }
    }
    Err(reason)
}

/// Why a connection was not made, in the words that people know.
fn connect_error(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => "no route to it".to_owned(),
        ErrorKind::TimedOut => "no answer".to_owned(),
        _ => error.to_string(),
    }
}
