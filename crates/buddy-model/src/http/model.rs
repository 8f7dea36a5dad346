//! A call with its retries.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures::channel::mpsc;
use futures::{SinkExt, StreamExt, stream};
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout_at};

use crate::http::client;
use crate::http::exchange::{Exchange, Failed, headers};
use crate::http::learned::{Learned, Refused};
use crate::http::logged_in::{self, Sent};
use crate::http::reader::{Outlet, Reader, endless};
use crate::protocol::DecoderContext;
use crate::retry::Retries;
use crate::{Auth, Delta, Model, ModelError, Options, Prompt, Reply, ReplyStream, Route, Switches};

/// A model behind HTTP.
#[derive(Clone)]
pub struct HttpModel {
    shared: Arc<SharedModel>,
}

struct SharedModel {
    name: String,
    route: Route,
    exchange: Exchange,
    /// Fields that the endpoint refused so far. Locked briefly, never across an await.
    learned: Mutex<Learned>,
}

impl HttpModel {
    /// A model of this name over this route. Opens no connection yet.
    pub fn new(name: impl Into<String>, route: Route) -> Result<Self, ModelError> {
        let exchange = Exchange {
            client: client::build(&route.endpoint, &route.settings)?,
            url: route.protocol.url(&route.endpoint),
            headers: headers(&route)?,
        };
        let shared = SharedModel { name: name.into(), route, exchange, learned: Mutex::default() };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// The options learned about the endpoint so far.
    pub fn switches(&self) -> Switches {
        self.shared.learned.lock().unwrap_or_else(PoisonError::into_inner).switches()
    }
}

impl fmt::Debug for HttpModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SharedModel { name, route, .. } = &*self.shared;
        formatter.debug_struct("HttpModel").field("name", name).field("route", route).finish_non_exhaustive()
    }
}

impl Model for HttpModel {
    fn name(&self) -> &str {
        &self.shared.name
    }

    fn call(&self, prompt: Prompt) -> ReplyStream {
        let shared = Arc::clone(&self.shared);
        stream_of(move |outlet| async move { shared.run(&prompt, outlet).await })
    }
}

/// A stream of the values that a future sends. The future runs only while the stream is polled and is dropped
/// with it.
fn stream_of<F, Work>(work: F) -> ReplyStream
where
    F: FnOnce(Outlet) -> Work,
    Work: Future<Output = ()> + Send + 'static,
{
    let (outlet, deltas) = mpsc::channel(0);
    let work = stream::once(work(outlet)).filter_map(async |()| None);
    Box::pin(stream::select(deltas, work))
}

impl SharedModel {
    /// Retries until there is a reply or a final error.
    async fn run(&self, prompt: &Prompt, mut outlet: Outlet) {
        let settings = &self.route.settings;
        let deadline = Instant::now() + settings.total_timeout;
        let mut retries = Retries::new(settings.retries, settings.retry_budget);
        let mut lessons = 0;
        let last = loop {
            let (options, body) = self.request(prompt);
            let attempt = self.attempt(prompt, body.to_string().into(), &mut outlet);
            let failed = match timeout_at(deadline, attempt).await {
                Ok(Ok(reply)) => break Ok(Delta::Finished(reply)),
                Ok(Err(failed)) => failed,
                Err(_) => break Err(endless(settings)),
            };
            let (delay, error) = if let Some(lesson) = self.learn(&failed, prompt, &body, &options) {
                lessons += 1;
                (Duration::ZERO, lesson)
            } else {
                match retries.next(&failed.error, rand::random()) {
                    Some(delay) if Instant::now() + delay < deadline => (delay, failed.error.to_string()),
                    _ => break Err(failed.error),
                }
            };
            let (attempt, error) = (retries.made() + lessons, self.route.auth.redacted(error));
            tracing::info!(model = self.name, attempt, ?delay, error, "asking the model again");
            let _sent = outlet.send(Ok(Delta::Restarted { attempt, delay, error })).await;
            sleep(delay).await;
        };
        let _sent = outlet.send(last.map_err(|error| redacted(error, &self.route.auth))).await;
    }

    async fn attempt(&self, prompt: &Prompt, body: Bytes, outlet: &mut Outlet) -> Result<Reply, Failed> {
        let Route { protocol, framing, options, settings, ids, .. } = &self.route;
        let Sent { response, auth } =
            logged_in::send(&self.exchange, &self.route.auth, body, settings).await?;
        let context = DecoderContext::of(&options.provider, &self.name, ids.clone(), prompt);
        let decoder = protocol.decoder(context);
        let (framing, asked_for_stream) = (*framing, options.stream);
        let reader = Reader { response, framing, asked_for_stream, decoder, settings, outlet };
        let read = reader.read().await;
        read.map_err(|failed| Failed { error: redacted(failed.error, &auth), ..failed })
    }

    /// The request with everything learned about the endpoint applied.
    fn request(&self, prompt: &Prompt) -> (Options, Value) {
        let learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let options = learned.options(&self.route.options);
        let mut body = self.route.protocol.body(&self.name, &learned.prompt(prompt, &options), &options);
        learned.amend(&mut body, &*self.route.protocol);
        (options, body)
    }

    fn learn(&self, failed: &Failed, prompt: &Prompt, body: &Value, options: &Options) -> Option<String> {
        let complaint = failed.complaint.as_deref()?;
        let refused = Refused { protocol: &*self.route.protocol, prompt, body, options };
        self.learned.lock().unwrap_or_else(PoisonError::into_inner).learn(complaint, &refused)
    }
}

fn redacted(mut error: ModelError, auth: &Auth) -> ModelError {
    error.message = auth.redacted(error.message);
    error
}
