//! The first bytes of a tunnel: the host they name must be the host that was allowed.
//!
//! Many hosts share one address. Without this check a command could open a tunnel to a host that is allowed
//! and then greet another one there.

use std::io::{self, ErrorKind};
use std::time::Duration;

use rustls::server::Acceptor;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::timeout;

use super::{Wanted, literal};

/// The port where nothing but TLS is spoken.
const TLS_PORT: u16 = 443;
/// The first byte of a TLS connection.
const HANDSHAKE: u8 = 22;
/// The maximum size of a greeting.
const MAX_GREETING: usize = 64 * 1024;
/// The timeout for a greeting, from its first byte on.
const GREETING_WITHIN: Duration = Duration::from_secs(30);

/// Reads from the command until its greeting is complete, and checks it. Returns all bytes to send on,
/// `first` among them. An error means that nothing of it may be sent.
pub(super) async fn read(
    client: &mut (impl AsyncRead + Unpin),
    first: Vec<u8>,
    wanted: &Wanted,
    idle: Duration,
) -> io::Result<Vec<u8>> {
    let mut bytes = first;
    if bytes.is_empty() {
        timeout(idle, client.read_buf(&mut bytes)).await.map_err(|_| ErrorKind::TimedOut)??;
    }
    match bytes.first() {
        None => Ok(bytes),
        Some(&HANDSHAKE) => timeout(GREETING_WITHIN, read_hello(client, bytes, wanted))
            .await
            .map_err(|_| io::Error::from(ErrorKind::TimedOut))?,
        // Other protocols are spoken on other ports, and some of them name no host.
        Some(_) if wanted.port != TLS_PORT => Ok(bytes),
        Some(_) => Err(refused()),
    }
}

async fn read_hello(
    client: &mut (impl AsyncRead + Unpin),
    mut bytes: Vec<u8>,
    wanted: &Wanted,
) -> io::Result<Vec<u8>> {
    let mut acceptor = Acceptor::default();
    let mut taken = 0;
    loop {
        while let Some(mut rest) = bytes.get(taken..).filter(|rest| !rest.is_empty()) {
            taken += acceptor.read_tls(&mut rest)?;
            if let Some(accepted) = acceptor.accept().map_err(|_| refused())? {
                let is_wanted = is_for(accepted.client_hello().server_name(), wanted);
                return if is_wanted { Ok(bytes) } else { Err(refused()) };
            }
        }
        if bytes.len() >= MAX_GREETING || client.read_buf(&mut bytes).await? == 0 {
            return Err(refused());
        }
    }
}

/// Whether a greeting with this server name is for a host. Clients name no address, and some no name without a
/// dot.
fn is_for(name: Option<&str>, wanted: &Wanted) -> bool {
    let host = wanted.host.trim_end_matches('.');
    match name {
        _ if literal(host).is_some() => true,
        Some(name) => name.trim_end_matches('.').eq_ignore_ascii_case(host),
        None => !host.contains('.'),
    }
}

fn refused() -> io::Error {
    ErrorKind::PermissionDenied.into()
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use rustls::crypto::ring::default_provider;
    use rustls::pki_types::ServerName;
    use rustls::{ClientConfig, ClientConnection, RootCertStore};

    use super::*;

    /// The greeting of a real client for a host.
    pub(in super::super) fn hello(host: &str, names_host: bool) -> Vec<u8> {
        let mut config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth();
        config.enable_sni = names_host;
        let host = ServerName::try_from(host.to_owned()).unwrap();
        let mut client = ClientConnection::new(Arc::new(config), host).unwrap();
        let mut bytes = Vec::new();
        client.write_tls(&mut bytes).unwrap();
        bytes
    }

    /// The same greeting in records of at most this many bytes.
    fn in_pieces(hello: &[u8], most: usize) -> Vec<u8> {
        let (header, message) = hello.split_at(5);
        let record = |piece: &[u8]| {
            [&header[..3], &u16::try_from(piece.len()).unwrap().to_be_bytes()[..], piece].concat()
        };
        message.chunks(most).flat_map(record).collect()
    }

    async fn passes(first: &[u8], then: &[u8], host: &str, port: u16) -> bool {
        let wanted = Wanted { host: host.to_owned(), port };
        let mut then = then;
        match read(&mut then, first.to_vec(), &wanted, Duration::from_secs(20)).await {
            Ok(bytes) => {
                assert!(bytes.starts_with(first));
                true
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{error}");
                false
            }
        }
    }

    #[tokio::test]
    async fn a_greeting_is_for_the_host_that_was_allowed() {
        let hello = hello("a.test", true);
        for most in [1, 7, 100, hello.len()] {
            let pieces = in_pieces(&hello, most);
            for port in [443, 8443] {
                for (first, then) in [(&pieces[..], &[][..]), (&[], &pieces), pieces.split_at(3)] {
                    assert!(passes(first, then, "a.test", port).await, "{most} {port}");
                    assert!(!passes(first, then, "b.test", port).await, "{most} {port}");
                    assert!(!passes(first, then, "a.test.b.test", port).await, "{most} {port}");
                }
            }
        }
        assert!(passes(&hello, &[], "A.test.", 443).await);
        assert!(passes(&hello, &[], "203.0.113.5", 443).await, "an address was allowed as such");
    }

    #[tokio::test]
    async fn a_greeting_without_a_host_is_for_a_host_without_a_dot() {
        let hello = hello("a.test", false);
        assert!(!passes(&hello, &[], "a.test", 443).await);
        assert!(passes(&hello, &[], "localhost", 443).await);
        assert!(passes(&hello, &[], "[2001:db8::1]", 443).await);
    }

    #[tokio::test]
    async fn only_tls_passes_at_its_port_and_only_whole_greetings_anywhere() {
        assert!(!passes(b"GET / HTTP/1.1\r\nHost: b.test\r\n\r\n", &[], "a.test", 443).await);
        assert!(passes(b"SSH-2.0-x\r\n", &[], "a.test", 22).await);
        let hello = hello("a.test", true);
        for port in [443, 8443] {
            assert!(!passes(&hello[..40], &[], "a.test", port).await, "it ends too early");
            let endless = [vec![HANDSHAKE, 3, 1, 0, 1], vec![0; 100_000]].concat();
            assert!(!passes(&endless, &[], "a.test", port).await);
        }
    }
}
