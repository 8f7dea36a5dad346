//! The same scripted scenarios over every wire. A wire joins by a line in [`WIRES`].

mod faults;
mod histories;
mod scenarios;

use std::fmt;

use buddy_model::{
    Arguments, Auth, Endpoint, HttpModel, Ids, Model, Options, Prompt, PromptItem, ReasoningReplay, Reply,
    ReplyItem, Route, StopReason,
};
use buddy_testkit::model::{ModelServer, Script};
use serde_json::Value;

use crate::http::{Outcome, outcome, prompt, settings};

/// The definition of one wire for the tests.
#[derive(Clone)]
struct Wire {
    name: &'static str,
    route: fn(Endpoint, Auth) -> Route,
    /// The field of the body that holds the history.
    history: &'static str,
    /// Its stop reason for a refusal, if any.
    refusal: Option<StopReason>,
    /// Its stop reason for an answer that the provider withholds, if any.
    filter: Option<StopReason>,
    /// Whether calls come in one chunk.
    whole_calls: bool,
}

const WIRES: &[Wire] = &[
    Wire {
        name: "chat",
        route: Route::chat,
        history: "messages",
        refusal: Some(StopReason::Refusal),
        filter: Some(StopReason::Filter),
        whole_calls: false,
    },
    Wire {
        name: "responses",
        route: Route::responses,
        history: "input",
        refusal: Some(StopReason::Refusal),
        filter: Some(StopReason::Filter),
        whole_calls: false,
    },
    Wire {
        name: "messages",
        route: thinking_messages,
        history: "messages",
        refusal: Some(StopReason::Refusal),
        filter: Some(StopReason::Refusal),
        whole_calls: false,
    },
    Wire {
        name: "ollama",
        route: Route::ollama,
        history: "messages",
        refusal: None,
        filter: Some(StopReason::Filter),
        whole_calls: true,
    },
];

/// Messages with a thinking budget, which makes its provider stricter.
fn thinking_messages(endpoint: Endpoint, auth: Auth) -> Route {
    let mut route = Route::messages(endpoint, auth);
    route.options.thinking_budget = Some(2048);
    route
}

impl fmt::Display for Wire {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

impl Wire {
    fn route(&self, server: &ModelServer) -> Route {
        let mut route = (self.route)(Endpoint::parse(&server.url()).unwrap(), Auth::None);
        route.settings = settings();
        route.ids = Ids::counting();
        let provider = "test".to_owned();
        route.options = Options { provider, reasoning_replay: ReasoningReplay::All, ..route.options };
        route
    }

    fn model(&self, server: &ModelServer) -> HttpModel {
        HttpModel::new("test-model", self.route(server)).unwrap()
    }

    /// The bytes of a history, without the breakpoints of the prompt cache: they move and are not part of it.
    fn history_of(&self, body: &Value) -> String {
        body[self.history].to_string().replace(r#","cache_control":{"type":"ephemeral"}"#, "")
    }

    /// The outcome of one call to a server with this script.
    async fn ask(&self, script: impl Into<Script>) -> (Outcome, ModelServer) {
        let server = ModelServer::start(script).await;
        let outcome = outcome(self.model(&server).call(prompt())).await;
        (outcome, server)
    }
}

/// Asks, puts the answer and a result for each call into the prompt, and returns the answer.
async fn converse(model: &HttpModel, prompt: &mut Prompt) -> Reply {
    let reply = outcome(model.call(prompt.clone())).await.end.unwrap();
    record(&reply, prompt);
    reply
}

/// Appends an answer as the agent does, with results for its calls.
pub(crate) fn record(reply: &Reply, prompt: &mut Prompt) {
    let mut results = Vec::new();
    for item in reply.items.clone() {
        prompt.items.push(match item {
            ReplyItem::Text { text, private } => PromptItem::Assistant { text, private },
            ReplyItem::Reasoning { text, private } => PromptItem::Reasoning { text, private },
            ReplyItem::ToolCall { id, name, arguments, private } => {
                let output = format!("result of {id}");
                results.push(PromptItem::result(id.clone(), name.clone(), output));
                let arguments = match arguments {
                    Arguments::Object { value, .. } => Value::from(value).to_string(),
                    Arguments::Broken { raw, .. } => raw,
                };
                PromptItem::ToolCall { id, name, arguments, private }
            }
        });
    }
    prompt.items.extend(results);
}

fn user(text: &str) -> PromptItem {
    PromptItem::user(text)
}
