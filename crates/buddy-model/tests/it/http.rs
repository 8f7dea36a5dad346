//! The driver against a real server on this machine: successes, failures and error messages.

mod answers;
mod cancel;
mod faults;
mod messages;
mod ollama;
mod refusals;
mod responses;

use std::time::Duration;

use buddy_model::{
    Auth, Delta, Endpoint, HttpModel, Ids, ModelError, Prompt, PromptItem, Reply, ReplyItem, ReplyStream,
    Route, Settings, ToolDefinition,
};
use buddy_testkit::model::ModelServer;
use futures::StreamExt;
use serde_json::json;

/// Timeouts that keep a failing test short; a passing test waits for none of them.
pub(crate) fn settings() -> Settings {
    Settings {
        connect_timeout: Duration::from_secs(5),
        idle_timeout: Duration::from_secs(10),
        settle_timeout: Duration::from_secs(5),
        ..Settings::default()
    }
}

fn route(url: &str) -> Route {
    let mut route = Route::chat(Endpoint::parse(url).unwrap(), Auth::None);
    route.settings = settings();
    route.ids = Ids::counting();
    route
}

fn model(server: &ModelServer) -> HttpModel {
    HttpModel::new("test-model", route(&server.url())).unwrap()
}

pub(crate) fn prompt() -> Prompt {
    let parameters = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let tool = ToolDefinition { name: "read_file".to_owned(), description: "Reads.".to_owned(), parameters };
    Prompt {
        system: "Be brief.".to_owned(),
        tools: vec![tool],
        items: vec![PromptItem::user("hi")],
        ..Prompt::default()
    }
}

/// The outcome of a call: the deltas, then the reply or the error.
pub(crate) struct Outcome {
    pub(crate) deltas: Vec<Delta>,
    pub(crate) end: Result<Reply, ModelError>,
}

pub(crate) async fn outcome(mut stream: ReplyStream) -> Outcome {
    let mut deltas = Vec::new();
    let end = loop {
        match stream.next().await.expect("a stream ends with a reply or an error") {
            Ok(Delta::Finished(reply)) => break Ok(reply),
            Ok(delta) => deltas.push(delta),
            Err(error) => break Err(error),
        }
    };
    assert!(stream.next().await.is_none(), "nothing follows the end");
    Outcome { deltas, end }
}

impl Outcome {
    pub(crate) fn restarts(&self) -> Vec<(u32, Duration, &str)> {
        self.deltas
            .iter()
            .filter_map(|delta| match delta {
                Delta::Restarted { attempt, delay, error } => Some((*attempt, *delay, error.as_str())),
                _ => None,
            })
            .collect()
    }

    pub(crate) fn text(&self) -> String {
        let items = self.end.as_ref().unwrap().items.iter();
        items
            .filter_map(
                |item| if let ReplyItem::Text { text, .. } = item { Some(text.as_str()) } else { None },
            )
            .collect()
    }

    pub(crate) fn error(self) -> ModelError {
        self.end.unwrap_err()
    }
}
