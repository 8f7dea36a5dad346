//! The body of an answer, from bytes to a reply.
//!
//! The first byte reveals the format: server-sent events never start with `{` or `<`, so a JSON document (a
//! server that does not stream) and a web page (a gateway) are recognised whatever their content type claims.
//! JSON lines do start with `{`; there a document is a stream of one line, unless no stream was requested.

use std::time::Duration;

use bytes::Bytes;
use futures::SinkExt;
use futures::channel::mpsc::Sender;
use reqwest::Response;
use tokio::time::timeout;

use crate::error::Retry;
use crate::failure::{Complaint, looks_like_html};
use crate::http::exchange::{Failed, broken, silent};
use crate::protocol::{Decoder, Frame, Progress, WireError};
use crate::{Delta, Framing, MAX_EVENT_BYTES, ModelError, ModelErrorKind, Reply, Settings};

/// The time that a finished answer waits for the formal end of its body; a new connection costs about as
/// much.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(50);

/// The receiver of a call's deltas. Closed only when the call is dropped, which drops the sender's task too.
pub(super) type Outlet = Sender<Result<Delta, ModelError>>;

/// Reads one answer.
pub(super) struct Reader<'a> {
    pub(super) response: Response,
    pub(super) framing: Framing,
    /// Whether a stream was requested.
    pub(super) asked_for_stream: bool,
    pub(super) decoder: Box<dyn Decoder>,
    pub(super) settings: &'a Settings,
    pub(super) outlet: &'a mut Outlet,
}

impl Reader<'_> {
    /// Passes on the deltas as they arrive and returns the whole reply.
    pub(super) async fn read(mut self) -> Result<Reply, Failed> {
        let Some(first) = self.first_chunk().await? else { return self.finish() };
        match first_letter(&first) {
            Some(b'{') if self.framing == Framing::Sse || !self.asked_for_stream => {
                self.read_document(first).await
            }
            Some(b'<') => self.read_page(first).await,
            _ => self.read_stream(first).await,
        }
    }

    async fn read_stream(&mut self, first: Bytes) -> Result<Reply, Failed> {
        let (mut framer, mut frames) = (self.framing.framer(), Vec::new());
        let mut chunk = Some(first);
        while let Some(bytes) = chunk {
            framer.push(&bytes, &mut frames).map_err(|error| {
                ModelError::new(ModelErrorKind::BadStream, error.to_string()).with_source(error)
            })?;
            if self.take(&mut frames).await? == Progress::Done {
                self.drain().await;
                return self.finish();
            }
            chunk = self.next_chunk().await?;
        }
        framer.finish(&mut frames);
        self.take(&mut frames).await?;
        self.finish()
    }

    /// Feeds the decoder, up to the end of the answer.
    async fn take(&mut self, frames: &mut Vec<Frame>) -> Result<Progress, Failed> {
        for frame in frames.drain(..) {
            let deltas = self.decoder.step(frame)?;
            self.pass(deltas).await;
            if self.decoder.progress() == Progress::Done {
                break;
            }
        }
        Ok(self.decoder.progress())
    }

    /// Reads a whole answer, either although a stream was requested or because none was.
    async fn read_document(&mut self, first: Bytes) -> Result<Reply, Failed> {
        let body = self.rest(first).await?;
        let body = serde_json::from_slice(&body).map_err(|error| WireError::Malformed(error.to_string()))?;
        let deltas = self.decoder.whole(&body)?;
        self.pass(deltas).await;
        self.finish()
    }

    async fn read_page(&mut self, first: Bytes) -> Result<Reply, Failed> {
        let page = self.rest(first).await?;
        let page = String::from_utf8_lossy(&page);
        debug_assert!(looks_like_html(&page));
        let error = ModelError::new(ModelErrorKind::BadStream, Complaint::from_body(&page).message);
        Err(error
            .with_hint("check the provider's address: a web site or a gateway answers there, not a model")
            .into())
    }

    async fn rest(&mut self, first: Bytes) -> Result<Vec<u8>, ModelError> {
        let mut body = first.to_vec();
        while let Some(chunk) = self.next_chunk().await? {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_EVENT_BYTES {
                return Err(WireError::TooLarge.into_model_error());
            }
        }
        Ok(body)
    }

    /// The first chunk with more than white space in it: gateways send blank lines to keep a connection
    /// alive.
    async fn first_chunk(&mut self) -> Result<Option<Bytes>, ModelError> {
        while let Some(chunk) = self.next_chunk().await? {
            if first_letter(&chunk).is_some() {
                return Ok(Some(chunk));
            }
        }
        Ok(None)
    }

    /// The next bytes, or `None` at the end. Once the answer is complete, silence and a broken connection are
    /// an end too.
    async fn next_chunk(&mut self) -> Result<Option<Bytes>, ModelError> {
        let is_complete = self.decoder.progress() != Progress::Open;
        let limit = if is_complete { self.settings.settle_timeout } else { self.settings.idle_timeout };
        match timeout(limit, self.response.chunk()).await {
            Ok(Ok(chunk)) => Ok(chunk),
            _ if is_complete => Ok(None),
            Ok(Err(error)) => Err(broken(error)),
            Err(_) => Err(silent(limit)),
        }
    }

    /// Reads the formal end of the body, if it is there: only then can the next call reuse this connection.
    async fn drain(&mut self) {
        let end = async { while let Ok(Some(_)) = self.response.chunk().await {} };
        let _in_time = timeout(DRAIN_TIMEOUT, end).await;
    }

    async fn pass(&mut self, deltas: Vec<Delta>) {
        for delta in deltas {
            // The receiver is gone only while this very task is being dropped.
            let _sent = self.outlet.send(Ok(delta)).await;
        }
    }

    fn finish(&mut self) -> Result<Reply, Failed> {
        Ok(self.decoder.finish()?)
    }
}

fn first_letter(bytes: &[u8]) -> Option<u8> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    bytes.iter().copied().find(|byte| !byte.is_ascii_whitespace())
}

/// The error for a call that took too long, though it was never silent.
pub(super) fn endless(settings: &Settings) -> ModelError {
    let message = format!("the answer was not complete after {} s", settings.total_timeout.as_secs_f64());
    ModelError::new(ModelErrorKind::Timeout, message).with_retry(Retry::Never)
}
