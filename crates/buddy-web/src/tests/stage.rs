//! Listeners that answer from a script or that must see nothing, and a resolver whose answers a test chooses.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::gate::Gate;
use crate::resolver::Resolver;
use crate::{FetchError, FetchSettings, Fetched, Fetcher, Redirects, WebUrl, is_global};

/// The address that stands for the public internet.
pub(super) const PUBLIC: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// A server at the public address. It records the heads of its requests.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
    _tasks: JoinSet<()>,
}

impl Server {
    /// A server that answers every request with the result of this function of its path.
    pub(super) async fn start(answer: impl Fn(&str) -> Vec<u8> + Send + 'static) -> Self {
        Self::serve(move |mut socket, path| {
            let bytes = answer(&path);
            async move {
                let _gone = socket.write_all(&bytes).await;
            }
        })
        .await
    }

    /// A server that hands over the socket after it has read the head of a request.
    pub(super) async fn serve<Answering>(
        answer: impl Fn(TcpStream, String) -> Answering + Send + 'static,
    ) -> Self
    where
        Answering: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind((PUBLIC, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let seen = heads.clone();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut answers = JoinSet::new();
            while let Ok((mut socket, _)) = listener.accept().await {
                let head = read_head(&mut socket).await;
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                seen.lock().unwrap().push(head);
                answers.spawn(answer(socket, path));
            }
        });
        Self { address, heads, _tasks: tasks }
    }

    pub(super) fn url(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.address.port())
    }

    pub(super) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

async fn read_head(socket: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && socket.read(&mut byte).await.is_ok_and(|count| count == 1) {
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

/// A complete answer.
pub(super) fn answer(status: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}")
        .into_bytes()
}

/// A listener that must see nothing. Connections would wait in it until a test looks for them.
pub(super) struct Private(std::net::TcpListener);

impl Private {
    pub(super) fn listen(address: &str) -> Self {
        let address: IpAddr = address.parse().unwrap();
        let listener = std::net::TcpListener::bind((address, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        Self(listener)
    }

    pub(super) fn port(&self) -> u16 {
        self.0.local_addr().unwrap().port()
    }

    #[track_caller]
    pub(super) fn saw_nothing(&self, what: &str) {
        let accepted = self.0.accept();
        let is_empty = accepted.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock);
        assert!(is_empty, "{what}: {accepted:?}");
    }

    /// Whether the listener would notice a connection at all.
    pub(super) fn sees_connections(&self) -> bool {
        let _connection = std::net::TcpStream::connect(self.0.local_addr().unwrap()).unwrap();
        self.0.accept().is_ok()
    }
}

/// Returns the answers for each name in order, the last one repeatedly. Unknown names fail.
#[derive(Default)]
pub(super) struct Names {
    answers: Mutex<HashMap<String, Vec<Vec<IpAddr>>>>,
    asked: Mutex<Vec<String>>,
}

impl Names {
    pub(super) fn with(self, host: &str, answers: &[&[&str]]) -> Self {
        let parse = |answer: &&[&str]| answer.iter().map(|address| address.parse().unwrap()).collect();
        let answers = answers.iter().map(parse).collect();
        self.answers.lock().unwrap().insert(host.to_owned(), answers);
        self
    }

    pub(super) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl Resolver for Names {
    async fn lookup(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        if host == "silent.test" {
            std::future::pending::<()>().await;
        }
        self.asked.lock().unwrap().push(host.to_owned());
        let mut answers = self.answers.lock().unwrap();
        let Some(answers) = answers.get_mut(host) else {
            return Err(io::Error::other("no such name"));
        };
        Ok(if answers.len() > 1 { answers.remove(0) } else { answers[0].clone() })
    }
}

/// Settings with timeouts short enough for a test.
pub(super) fn settings() -> FetchSettings {
    FetchSettings {
        connect_timeout: Duration::from_millis(500),
        total_timeout: Duration::from_secs(20),
        ..FetchSettings::default()
    }
}

pub(super) fn fetcher(names: &Arc<Names>, settings: FetchSettings) -> Fetcher {
    let gate = Gate {
        resolver: names.clone(),
        passes: |address| address == IpAddr::V4(PUBLIC) || is_global(address),
        allowed: settings.allowed_hosts.clone(),
        within: settings.connect_timeout,
    };
    Fetcher::through(gate, settings)
}

/// The default names: `public.test` and `other.test` are public.
pub(super) fn usual_names() -> Arc<Names> {
    let names = Names::default().with("public.test", &[&["127.0.0.2"]]).with("other.test", &[&["127.0.0.2"]]);
    Arc::new(names)
}

/// Redirects to any host.
pub(super) fn anywhere() -> Redirects {
    Arc::new(|_| true)
}

pub(super) async fn get(fetcher: &Fetcher, url: &str) -> Result<Fetched, FetchError> {
    fetcher.get(WebUrl::parse(url)?).await
}
