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
use crate::model::gate::{Gate, Gates, PATIENCE};
use crate::model::script::Script;
use crate::model::socket::Socket;
use crate::model::turn::{Fault, ResponseBody, Turn};
use crate::model::wire::{self, Asked, Complaint, WIRES, Wire};

type Body = UnsyncBoxBody<Bytes, io::Error>;

/// A running server; dropping it closes everything.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    /// Owns the accepting task, which owns those of the connections.
    _tasks: JoinSet<()>,
}

/// A request to the model as it came.
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
    /// The number of turns served so far.
    served: AtomicUsize,
    requests: Mutex<Vec<RecordedRequest>>,
    /// Requests beside the conversation so far.
    looks: Mutex<Vec<RecordedRequest>>,
    /// The length of `requests`, for waiting.
    arrivals: watch::Sender<usize>,
    /// The number of clients that disconnected in the middle of an answer.
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
            looks: Mutex::default(),
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

    /// The requests to the model so far, including refused ones.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The requests beside the conversation so far, such as for the list of models.
    pub fn looks(&self) -> Vec<RecordedRequest> {
        self.shared.looks.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The number of connections opened so far.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// Waits until this many requests to the model have arrived.
    pub async fn wait_for_requests(&self, count: usize) -> Vec<RecordedRequest> {
        wait_for(&self.shared.arrivals, count, "requests").await;
        self.requests()
    }

    /// Waits until this many clients have disconnected in the middle of an answer.
    pub async fn wait_for_departures(&self, count: usize) {
        wait_for(&self.shared.departures, count, "departures").await;
    }

    /// Serves for ever: for programs that only serve.
    pub async fn serve(self) {
        std::future::pending::<()>().await;
    }

    /// A URL on this machine on which nothing listens.
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
    // A broken connection is the subject of half of the tests.
    let _closed = http1::Builder::new().serve_connection(socket, service).await;
}

async fn handle(
    shared: Arc<Shared>,
    reset: Arc<AtomicBool>,
    request: Request<Incoming>,
) -> Result<Response<Body>, io::Error> {
    let serving = wire::serving(request.uri().path()).filter(|_| request.method() != Method::GET);
    let Some(wire) = serving else { return look(&shared, request).await };
    let recorded = record(&shared, request).await?;
    if !is_welcome(&shared.script, &recorded) {
        let message = "Incorrect API key provided".to_owned();
        let complaint = Complaint { code: Some("invalid_api_key"), message, param: None };
        return Ok(problem(wire, 401, complaint));
    }
    if let Some(name) = wire.required_header().filter(|name| !recorded.headers.contains_key(*name)) {
        return Ok(problem(wire, 400, format!("{name}: header is required")));
    }
    if let Err(fault) = wire.check(&recorded.body, &shared.script.seal) {
        return Ok(problem(wire, 400, fault));
    }
    let asked = wire.asked(&recorded.body);
    let served = shared.served.fetch_add(1, Ordering::SeqCst);
    match shared.script.pick(served, asked.answers) {
        Some(turn) => answer(&shared, wire, reset, &turn.naming_process(&recorded.body), &asked),
        None => Ok(problem(wire, 400, format!("the script has no turn for request {}", served + 1))),
    }
}

/// Answers a request beside the conversation.
async fn look(shared: &Shared, request: Request<Incoming>) -> Result<Response<Body>, io::Error> {
    let recorded = recorded(request).await?;
    let answer = match (is_welcome(&shared.script, &recorded), recorded.path.as_str(), shared.script.window) {
        (false, ..) => respond(401, &[], json!({ "error": "the key is missing" }).to_string()),
        (true, "/props", Some(window)) => {
            respond(200, &[], json!({ "default_generation_settings": { "n_ctx": window } }).to_string())
        }
        (true, path, _) => page(path, &recorded.body),
    };
    shared.looks.lock().unwrap_or_else(PoisonError::into_inner).push(recorded);
    Ok(answer)
}

/// The answer to a request beside the conversation: the list of models, or a page of one of the wires.
fn page(path: &str, body: &Value) -> Response<Body> {
    if path.ends_with("/models") {
        let models = json!({ "object": "list", "data": [{ "id": "scripted", "object": "model", "owned_by": "buddy" }] });
        return respond(200, &[], models.to_string());
    }
    match WIRES.into_iter().find_map(|wire| wire.page(path, body)) {
        Some(page) => respond(200, &[], page.to_string()),
        None => missing(path),
    }
}

/// Whether a request has the key, in either of the headers that wires use.
fn is_welcome(script: &Script, request: &RecordedRequest) -> bool {
    let Some(key) = &script.key else { return true };
    request.headers.get("authorization") == Some(&format!("Bearer {key}"))
        || request.headers.get("x-api-key") == Some(key)
}

async fn recorded(request: Request<Incoming>) -> Result<RecordedRequest, io::Error> {
    let (head, body) = request.into_parts();
    let body = json_of(body).await?;
    let headers = head.headers.iter().map(|(name, value)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    Ok(RecordedRequest { path: head.uri.to_string(), headers: headers.collect(), body })
}

async fn record(shared: &Shared, request: Request<Incoming>) -> Result<RecordedRequest, io::Error> {
    let recorded = recorded(request).await?;
    let mut requests = shared.requests.lock().unwrap_or_else(PoisonError::into_inner);
    requests.push(recorded.clone());
    shared.arrivals.send_replace(requests.len());
    Ok(recorded)
}

/// A body; null if it is not JSON.
async fn json_of(body: Incoming) -> Result<Value, io::Error> {
    let bytes = body.collect().await.map_err(io::Error::other)?.to_bytes();
    Ok(serde_json::from_slice(&bytes).unwrap_or_default())
}

fn answer(
    shared: &Shared,
    wire: &dyn Wire,
    reset: Arc<AtomicBool>,
    turn: &Turn,
    asked: &Asked,
) -> Result<Response<Body>, io::Error> {
    match &turn.fault {
        Some(Fault::Refuse) => return Err(io::Error::other("refused by the script")),
        Some(Fault::Response { status, headers, body }) => {
            let body = match body {
                ResponseBody::Bytes(bytes) => bytes.clone(),
                ResponseBody::Error { code, message } => wire.error(code, message).to_string().into(),
            };
            return Ok(respond(*status, headers, body));
        }
        None if !asked.stream => {
            let document = wire.document(turn, asked, &shared.script.seal);
            return Ok(respond(200, &[], document.to_string()));
        }
        Some(Fault::After { .. }) | None => {}
    }
    let departure = Departure { completed: false, departures: shared.departures.clone() };
    let steps = steps(wire, turn, asked, wire.stream(turn, asked, &shared.script.seal));
    let answer = Answer { steps, gates: Arc::clone(&shared.gates), reset, departure };
    let mut response = Response::new(StreamBody::new(answer.into_frames()).boxed_unsync());
    set_header(&mut response, "content-type", wire.content_type());
    Ok(response)
}

fn problem(wire: &dyn Wire, status: u16, complaint: impl Into<Complaint>) -> Response<Body> {
    respond(status, &[], wire.problem(&complaint.into()).to_string())
}

fn missing(path: &str) -> Response<Body> {
    let error = json!({ "message": format!("no such path: {path}"), "type": "invalid_request_error" });
    respond(404, &[], json!({ "error": error }).to_string())
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
