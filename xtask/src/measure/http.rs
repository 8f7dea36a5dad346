//! The part of HTTP that a scripted model, a listener and a registry need: one request per connection, read
//! whole and answered whole.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Result;

/// The maximum size of a request. A conversation of a measured run has a few hundred kilobytes.
const MOST_BYTES: usize = 32 * 1024 * 1024;
/// The timeout for a client that stalls in the middle of a request.
const PATIENCE: Duration = Duration::from_secs(5);

/// A request: its head with the request line, and its body.
pub(crate) struct Request {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

/// A reply: its content type and its body.
pub(crate) struct Reply {
    pub(crate) status: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) body: Vec<u8>,
}

/// This machine, as programs know it.
pub(crate) const HERE: &str = "127.0.0.1";

/// A server on its own port. Dropping it stops it.
pub(crate) struct Server {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves with a function from requests to replies, each connection in a thread.
    pub(crate) fn start(
        host: &str,
        answer: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> Result<Self> {
        let listener = TcpListener::bind((host, 0))?;
        let address = listener.local_addr()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let (flag, answer) = (Arc::clone(&is_over), Arc::new(answer));
        let accepting = std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if flag.load(Ordering::SeqCst) {
                    return;
                }
                let answer = Arc::clone(&answer);
                std::thread::spawn(move || serve(stream, &*answer));
            }
        });
        Ok(Self { address, is_over, accepting: Some(accepting) })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // The accepting thread sees the flag with the next connection, which is this one.
        if TcpStream::connect(self.address).is_ok()
            && let Some(accepting) = self.accepting.take()
        {
            let _ = accepting.join();
        }
    }
}

fn serve(mut stream: TcpStream, answer: &dyn Fn(&Request) -> Reply) {
    let _ = stream.set_read_timeout(Some(PATIENCE));
    let request = read(&mut stream);
    let Reply { status, kind, body } = answer(&request);
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
    );
    // A client that has disconnected needs no answer.
    let _ = stream.write_all(&[head.as_bytes(), &body].concat());
}

/// Reads until the request is complete, the client stalls, or the size limit is reached.
fn read(stream: &mut TcpStream) -> Request {
    let (mut bytes, mut part) = (Vec::new(), vec![0; 64 * 1024]);
    loop {
        let split = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        if let Some(at) = split {
            let head = String::from_utf8_lossy(bytes.get(..at).unwrap_or_default()).into_owned();
            let body = bytes.get(at + 4..).unwrap_or_default();
            if body.len() >= length(&head) || bytes.len() > MOST_BYTES {
                return Request { head, body: body.to_vec() };
            }
        }
        match stream.read(&mut part) {
            Ok(count) if count > 0 => bytes.extend_from_slice(part.get(..count).unwrap_or_default()),
            _ => return Request { head: String::from_utf8_lossy(&bytes).into_owned(), body: Vec::new() },
        }
    }
}

fn length(head: &str) -> usize {
    let lines = head.lines().filter_map(|line| line.split_once(':'));
    let mut lengths = lines.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    lengths.next().and_then(|(_, value)| value.trim().parse().ok()).unwrap_or(0)
}
