//! The first bytes of a tunnel: the host they name must be the host that was allowed.
//!
//! Many hosts share one address. Without this check a command could open a tunnel to a host that is allowed
//! and then greet another one there.

use std::io::{self, ErrorKind};
use std::time::Duration;

use rustls::server::Acceptor;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::timeout;

use super::body::Body;
use super::request::{MAX_HEAD, tunnelled};
use super::warrant::Wanted;
use crate::address::literal_address;

/// The port where nothing but TLS is spoken.
const TLS_PORT: u16 = 443;
/// The first byte of a TLS connection.
const HANDSHAKE: u8 = 22;
/// The maximum size of a greeting.
const MAX_GREETING: usize = 64 * 1024;
/// The timeout for a greeting, from its first byte on.
const GREETING_WITHIN: Duration = Duration::from_secs(30);

/// Why a greeting is not sent on.
const TOO_LONG: &str = "its greeting is too long";
const UNFINISHED: &str = "its greeting has no end";

/// A greeting that may be sent on.
pub(super) struct Greeting {
    pub(super) bytes: Vec<u8>,
    /// If only one request may be sent, the part of it that is still to come.
    pub(super) body: Option<Body>,
}

/// Reads from the command until its greeting is complete, and checks it. `first` was read before. An error
/// means that nothing of it may be sent.
pub(super) async fn read(
    client: &mut (impl AsyncRead + Unpin),
    first: Vec<u8>,
    wanted: &Wanted,
    idle: Duration,
) -> io::Result<Greeting> {
    let mut bytes = first;
    if bytes.is_empty() {
        timeout(idle, client.read_buf(&mut bytes)).await.map_err(|_| ErrorKind::TimedOut)??;
    }
    let is_known = timeout(GREETING_WITHIN, read_known(client, bytes, wanted)).await;
    is_known.map_err(|_| io::Error::from(ErrorKind::TimedOut))?
}

async fn read_known(
    client: &mut (impl AsyncRead + Unpin),
    bytes: Vec<u8>,
    wanted: &Wanted,
) -> io::Result<Greeting> {
    let whole = |bytes| Ok(Greeting { bytes, body: None });
    if bytes.first() == Some(&HANDSHAKE) {
        return whole(read_hello(client, bytes, wanted).await?);
    }
    if wanted.port == TLS_PORT && !bytes.is_empty() {
        return Err(refused("what it sent is no TLS"));
    }
    if !has_neighbours(wanted) {
        return whole(bytes);
    }
    read_plain(client, bytes, wanted).await
}

/// Reads a request in plain HTTP. Other protocols pass as they are.
async fn read_plain(
    client: &mut (impl AsyncRead + Unpin),
    mut bytes: Vec<u8>,
    wanted: &Wanted,
) -> io::Result<Greeting> {
    loop {
        let start = bytes.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let request = bytes.get(start..).unwrap_or_default();
        let line = request.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let is_text = line.iter().all(|byte| matches!(byte, b'\t' | b'\r' | b' '..=b'~'));
        let is_line = line.len() < request.len();
        let is_http = line.windows(5).any(|word| word.eq_ignore_ascii_case(b"HTTP/"));
        if !is_text || is_line && !is_http {
            return Ok(Greeting { bytes, body: None });
        }
        if let Some(end) = request.windows(4).position(|four| four == b"\r\n\r\n").filter(|_| is_line) {
            let (bytes, body) = tunnelled(request, end + 4, wanted)
                .ok_or_else(|| refused("its request is for another host, or unclear"))?;
            return Ok(Greeting { bytes, body: Some(body) });
        }
        if bytes.len() >= MAX_HEAD {
            return Err(refused(TOO_LONG));
        }
        if client.read_buf(&mut bytes).await? == 0 {
            return if is_line { Err(refused(UNFINISHED)) } else { Ok(Greeting { bytes, body: None }) };
        }
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
            if let Some(accepted) = acceptor.accept().map_err(|_| refused("its TLS greeting is broken"))? {
                let hello = accepted.client_hello();
                return match hello.server_name() {
                    name if is_for(name, wanted) => Ok(bytes),
                    Some(name) => Err(refused(&format!("its TLS name is `{name}`, which differs"))),
                    None => Err(refused("its TLS greeting names no host")),
                };
            }
        }
        if bytes.len() >= MAX_GREETING {
            return Err(refused(TOO_LONG));
        }
        if client.read_buf(&mut bytes).await? == 0 {
            return Err(refused(UNFINISHED));
        }
    }
}

/// Whether a greeting with this server name is for a host. Clients name no address, and some no name without a
/// dot.
fn is_for(name: Option<&str>, wanted: &Wanted) -> bool {
    let host = wanted.host.trim_end_matches('.');
    match name {
        _ if literal_address(host).is_some() => true,
        Some(name) => name.trim_end_matches('.').eq_ignore_ascii_case(host),
        None => !has_neighbours(wanted),
    }
}

/// Whether other hosts can be at the same address: whoever allows an address or a name without a dot means the
/// machine.
fn has_neighbours(wanted: &Wanted) -> bool {
    let host = wanted.host.trim_end_matches('.');
    literal_address(host).is_none() && host.contains('.')
}

fn refused(why: &str) -> io::Error {
    io::Error::new(ErrorKind::PermissionDenied, why)
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
            Ok(greeting) => {
                assert!(greeting.bytes.starts_with(first) || greeting.body.is_some());
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
        for text in ["SSH-2.0-x\r\n", "HELO a.test\r\n", "AMQP\0\0\u{9}\u{1}", "\0\0", "", "get x\r\n"] {
            assert!(passes(text.as_bytes(), &[], "a.test", 5000).await, "{text:?}");
        }
        let hello = hello("a.test", true);
        for port in [443, 8443] {
            assert!(!passes(&hello[..40], &[], "a.test", port).await, "it ends too early");
            let endless = [vec![HANDSHAKE, 3, 1, 0, 1], vec![0; 100_000]].concat();
            assert!(!passes(&endless, &[], "a.test", port).await);
        }
    }

    #[tokio::test]
    async fn a_plain_request_is_for_the_host_that_was_allowed() {
        let request = |host: &str| format!("GET /x HTTP/1.1\r\nHost: {host}\r\n\r\n");
        for host in ["a.test", "A.TEST", "a.test:80", "a.test."] {
            let text = request(host);
            for (first, then) in [(text.as_str(), ""), ("", text.as_str()), text.split_at(7)] {
                assert!(passes(first.as_bytes(), then.as_bytes(), "a.test", 80).await, "{host}");
            }
        }
        let others = [
            request("b.test"),
            format!("\r\n{}", request("b.test")),
            "GET http://b.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n".to_owned(),
            "GET / HTTP/1.1\r\nHost: a.test\r\nHost: b.test\r\n\r\n".to_owned(),
            "GET / HTTP/1.1\r\n\r\n".to_owned(),
            "GET / http/1.1\r\nHost: b.test\r\n\r\n".to_owned(),
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(),
            "GET / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n"
                .to_owned(),
            "GET / HTTP/1.1\nHost: b.test\n\n".to_owned(),
        ];
        for text in others {
            for (first, then) in [(text.as_str(), ""), ("", text.as_str()), text.split_at(3)] {
                assert!(!passes(first.as_bytes(), then.as_bytes(), "a.test", 80).await, "{text}");
            }
            assert!(passes(text.as_bytes(), &[], "localhost", 80).await, "{text}");
        }
    }
}
