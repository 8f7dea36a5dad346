//! A wire: builds a body from a prompt, and deltas from frames. No I/O.
//!
//! The driver in `http` sends the body, cuts the answer into [`Frame`]s by the route's framing and feeds them
//! to a fresh [`Decoder`] per attempt. A decoder never emits [`Delta::Finished`] itself: the driver calls
//! `finish` when the decoder reports that it is done or when the bytes end, so that a stream that just stops
//! is handled in one place.

mod bounded;
mod call_list;
pub(crate) mod chat;
mod ending;
mod field;
pub(crate) mod history;
pub(crate) mod messages;
pub(crate) mod ollama;
mod printed;
pub(crate) mod responses;
mod speaker;
mod tokens;
mod wire_name;

pub use bounded::{MAX_ANSWER_BYTES, MAX_PARTS, MAX_SAID_BYTES, MAX_STREAM_BYTES};
pub use call_list::MAX_CALLS_PER_REPLY;

use std::collections::HashSet;

use serde_json::Value;
use url::Url;

use crate::{Delta, Endpoint, Ids, Options, Private, Prompt, PromptItem, Reply};

/// One wire protocol.
pub trait Protocol: Send + Sync {
    /// Its name in private data and logs.
    fn wire(&self) -> &'static str;

    /// Its path below the version prefix, without a leading slash.
    fn path(&self) -> &'static str;

    /// The URL of the requests.
    fn url(&self, endpoint: &Endpoint) -> Url {
        endpoint.join(self.path())
    }

    /// Headers of every request besides the key; names in lower case.
    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// The request body.
    fn body(&self, model: &str, prompt: &Prompt, options: &Options) -> Value;

    /// Changes a body for a server that refused these fields; by default removes them.
    fn amend(&self, body: &mut Value, refused: &[String]) {
        for field in refused {
            remove(body, field);
        }
    }

    /// Fields that a request can omit (or rename) if a server refuses them by name: top-level ones, or
    /// `outer.inner`.
    fn optional_fields(&self) -> &'static [&'static str];

    /// Whether this body uses an optional field.
    fn uses(&self, body: &Value, field: &str) -> bool {
        field.split('.').try_fold(body, |value, name| value.get(name)).is_some()
    }

    /// Another name that servers use for an optional field in complaints.
    fn alias(&self, _field: &str) -> Option<&'static str> {
        None
    }

    /// The objection in a refusal to data that the prompt sent back, from the server's words in lower case
    /// (code, type and message). The call is retried once without that data.
    fn objection(&self, _words: &str) -> Option<Objection> {
        None
    }

    /// A decoder for one answer.
    fn decoder(&self, context: DecoderContext) -> Box<dyn Decoder>;
}

/// Decodes one answer, frame by frame.
pub trait Decoder: Send {
    /// Takes the next frame.
    fn step(&mut self, frame: Frame) -> Result<Vec<Delta>, WireError>;

    /// The progress of the answer.
    fn progress(&self) -> Progress;

    /// Takes a whole answer that came as one JSON document instead of a stream; `finish` follows.
    fn whole(&mut self, body: &Value) -> Result<Vec<Delta>, WireError>;

    /// Ends the input: returns the reply, or the reason why there is none.
    fn finish(&mut self) -> Result<Reply, WireError>;
}

/// Removes a field, and its parent if that is then empty.
fn remove(body: &mut Value, field: &str) {
    let Some(fields) = body.as_object_mut() else { return };
    let Some((outer, inner)) = field.split_once('.') else {
        fields.shift_remove(field);
        return;
    };
    if let Some(part) = fields.get_mut(outer) {
        remove(part, inner);
        if part.as_object().is_some_and(serde_json::Map::is_empty) {
            fields.shift_remove(outer);
        }
    }
}

/// Data of its own that a provider would not take back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Objection {
    /// It no longer knows the ids of its items: they can be left out.
    ItemIds,
    /// It wants reasoning in plain text instead of encrypted.
    SealedReasoning,
    /// It does not recognise private data as its own: none of this prompt's private data is sent again.
    Private,
}

/// The progress of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// More must come.
    Open,
    /// The answer is complete, but usage or an end mark may still follow.
    Complete,
    /// Nothing more will come; reading on would only wait for the server to hang up.
    Done,
}

/// A unit that framing cuts from the bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The event's name; empty if the framing has none.
    pub event: String,
    /// The payload, usually JSON.
    pub data: String,
}

/// The decoder's knowledge of the call that it decodes the answer of.
#[derive(Debug, Clone, Default)]
pub struct DecoderContext {
    /// The provider; written into private data.
    pub provider: String,
    /// The requested model; written into private data.
    pub model: String,
    /// The source of ids for calls that came without a usable one.
    pub ids: Ids,
    /// Ids of earlier calls: servers that count per answer repeat them.
    pub taken: HashSet<String>,
    /// The names of the available tools, which identify calls that a model printed as text.
    pub tools: Vec<String>,
}

impl DecoderContext {
    /// The context of a call with this prompt.
    pub fn of(provider: &str, model: &str, ids: Ids, prompt: &Prompt) -> Self {
        let taken = prompt.items.iter().filter_map(|item| match item {
            PromptItem::ToolCall { id, .. } => Some(id.clone()),
            _ => None,
        });
        let tools = prompt.tools.iter().map(|tool| tool.name.clone());
        Self {
            provider: provider.to_owned(),
            model: model.to_owned(),
            ids,
            taken: taken.collect(),
            tools: tools.collect(),
        }
    }

    /// Data for the provider only, to be sent back with the item.
    pub(crate) fn private(&self, wire: &str, data: Value) -> Private {
        let (provider, model) = (self.provider.clone(), self.model.clone());
        Private { provider, model, wire: wire.to_owned(), data }
    }
}

/// The reason why frames are not an answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WireError {
    /// A frame that is not of this wire.
    #[error("the answer is not in the form of this protocol: {0}")]
    Malformed(String),
    /// The answer stopped before its end.
    #[error("the answer stopped before its end")]
    Truncated,
    /// The answer exceeds a bound that no real answer reaches.
    #[error("the answer was cut because it is larger than any answer should be")]
    TooLarge,
    /// The server reported a failure inside the answer.
    #[error("the server reported an error in its answer")]
    Reported(Value),
}
