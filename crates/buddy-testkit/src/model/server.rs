//! The server: accepts, records, checks, answers.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::model::answer::{Answer, Departure, steps};
use crate::model::chat::{self, Asked};
use crate::model::gate::{Gate, Gates, PATIENCE};
use crate::model::script::Script;
use crate::model::socket::Socket;
use crate::model::strict::check_history;
use crate::model::turn::{Fault, Turn};

type Body = UnsyncBoxBody<Bytes, io::Error>;

/// A running server; dropping it closes everything.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    /// Owns the accepting task, which owns those of the connections.
    _tasks: JoinSet<()>,
}

/// A chat request as it came.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedRequest {
    /// The path with its query.
    pub path: String,
    /// The headers, names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body; null if it was not JSON.
    pub body: Value,
}

#[derive(Debug)]
struct Shared {
    script: Script,
    gates: Arc<Gates>,
    /// Connections accepted so far.
    connections: AtomicUsize,
    /// Turns handed out so far.
    served: AtomicUsize,
    requests: Mutex<Vec<RecordedRequest>>,
    /// The length of `requests`, for waiting.
    arrivals: watch::Sender<usize>,
    /// Clients that left in the middle of an answer.
    departures: watch::Sender<usize>,
}

impl ModelServer {
    /// Starts a server on a free port of this machine.
    pub async fn start(script: impl Into<Script>) -> Self {
        Self::bind(0, script.into()).await.expect("a free port on this machine")
    }

    /// Starts a server on this port of this machine; zero takes a free one.
    pub async fn bind(port: u16, script: Script) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.context("cannot listen")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            script,
            gates: Arc::default(),
            connections: AtomicUsize::new(0),
            served: AtomicUsize::new(0),
            requests: Mutex::default(),
            arrivals: watch::Sender::new(0),
            departures: watch::Sender::new(0),
        });
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, Arc::clone(&shared)));
        Ok(Self { address, shared, _tasks: tasks })
    }

    /// The base URL, without a version: `http://127.0.0.1:…`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The gate of this name.
    pub fn gate(&self, name: &str) -> Gate {
        self.shared.gates.get(name)
    }

    /// The chat requests so far, refused ones included.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many connections were opened so far.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// Waits until so many chat requests have come.
    pub async fn wait_for_requests(&self, count: usize) -> Vec<RecordedRequest> {
        wait_for(&self.shared.arrivals, count, "requests").await;
        self.requests()
    }

    /// Waits until so many clients have left in the middle of an answer.
    pub async fn wait_for_departures(&self, count: usize) {
        wait_for(&self.shared.departures, count, "departures").await;
    }

    /// Waits until the server is asked to end, which it never is: for programs that only serve.
    pub async fn serve(self) {
        std::future::pending::<()>().await;
    }

    /// A URL on this machine where nobody listens.
    pub async fn unreachable_url() -> String {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port on this machine");
        let address = listener.local_addr().expect("a bound socket has an address");
        format!("http://{address}")
    }
}

async fn wait_for(counter: &watch::Sender<usize>, count: usize, what: &str) {
    let mut counter = counter.subscribe();
    let enough = timeout(PATIENCE, counter.wait_for(|seen| *seen >= count)).await.is_ok();
    assert!(enough, "waited for {count} {what}, saw {}", *counter.borrow());
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        shared.connections.fetch_add(1, Ordering::SeqCst);
        while connections.try_join_next().is_some() {}
        connections.spawn(serve_connection(stream, Arc::clone(&shared)));
    }
}

async fn serve_connection(stream: TcpStream, shared: Arc<Shared>) {
    let reset = Arc::new(AtomicBool::new(false));
    let socket = TokioIo::new(Socket::new(stream, Arc::clone(&reset)));
    let service = service_fn(|request| handle(Arc::clone(&shared), Arc::clone(&reset), request));
    // A broken connection is what half of the tests are about.
    let _closed = http1::Builder::new().serve_connection(socket, service).await;
}

async fn handle(
    shared: Arc<Shared>,
    reset: Arc<AtomicBool>,
    request: Request<Incoming>,
) -> Result<Response<Body>, io::Error> {
    if request.method() == Method::GET {
        let models = json!({ "object": "list", "data": [{ "id": "scripted", "object": "model" }] });
        return Ok(respond(200, &[], models.to_string()));
    }
    if !request.uri().path().ends_with("/chat/completions") {
        return Ok(problem(404, &format!("no such path: {}", request.uri().path())));
    }
    let recorded = record(&shared, request).await?;
    if let Some(key) = &shared.script.key
        && recorded.headers.get("authorization") != Some(&format!("Bearer {key}"))
    {
        return Ok(problem(401, "Incorrect API key provided"));
    }
    if let Err(fault) = check_history(&recorded.body) {
        return Ok(problem(400, &fault));
    }
    let asked = Asked::read(&recorded.body);
    let served = shared.served.fetch_add(1, Ordering::SeqCst);
    match shared.script.pick(served, asked.assistant_messages) {
        Some(turn) => answer(&shared, reset, turn, &asked),
        None => Ok(problem(400, &format!("the script has no turn for request {}", served + 1))),
    }
}

async fn record(shared: &Shared, request: Request<Incoming>) -> Result<RecordedRequest, io::Error> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let headers = head.headers.iter().map(|(name, value)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    let recorded = RecordedRequest {
        path: head.uri.to_string(),
        headers: headers.collect(),
        body: serde_json::from_slice(&body).unwrap_or_default(),
    };
    let mut requests = shared.requests.lock().unwrap_or_else(PoisonError::into_inner);
    requests.push(recorded.clone());
    shared.arrivals.send_replace(requests.len());
    Ok(recorded)
}

fn answer(
    shared: &Shared,
    reset: Arc<AtomicBool>,
    turn: &Turn,
    asked: &Asked,
) -> Result<Response<Body>, io::Error> {
    match &turn.fault {
        Some(Fault::Refuse) => return Err(io::Error::other("refused by the script")),
        Some(Fault::Response { status, headers, body }) => {
            return Ok(respond(*status, headers, body.clone()));
        }
        None if !asked.stream => return Ok(respond(200, &[], chat::document(turn, asked).to_string())),
        Some(Fault::After { .. }) | None => {}
    }
    let departure = Departure { completed: false, departures: shared.departures.clone() };
    let steps = steps(turn, chat::stream(turn, asked));
    let answer = Answer { steps, gates: Arc::clone(&shared.gates), reset, departure };
    let mut response = Response::new(StreamBody::new(answer.into_frames()).boxed_unsync());
    set_header(&mut response, "content-type", "text/event-stream");
    Ok(response)
}

fn problem(status: u16, message: &str) -> Response<Body> {
    let error = json!({ "message": message, "type": "invalid_request_error", "param": null, "code": null });
    respond(status, &[], json!({ "error": error }).to_string())
}

fn respond(status: u16, headers: &[(String, String)], body: impl Into<Bytes>) -> Response<Body> {
    let body = Full::new(body.into()).map_err(|never| match never {});
    let mut response = Response::new(body.boxed_unsync());
    *response.status_mut() = status.try_into().expect("a script's status is one");
    set_header(&mut response, "content-type", "application/json");
    for (name, value) in headers {
        set_header(&mut response, name, value);
    }
    response
}

fn set_header(response: &mut Response<Body>, name: &str, value: &str) {
    let name: hyper::header::HeaderName = name.parse().expect("a script's header name is one");
    response.headers_mut().insert(name, value.parse().expect("a script's header value is one"));
}
