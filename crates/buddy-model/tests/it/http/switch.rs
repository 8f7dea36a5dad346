//! A conversation that changes its wire, or its model, in the middle of a tool loop: every server takes what another
//! one left behind, and gets nothing back that was not its own.

use buddy_model::{
    Arguments, Auth, Endpoint, HttpModel, Ids, Model, Prompt, PromptItem, ReasoningReplay, Reply, ReplyItem,
    Route, StopReason,
};
use buddy_testkit::model::{ModelServer, turn};
use serde_json::{Value, json};

use super::{outcome, prompt, settings};

/// A way of making a route.
type MakeRoute = fn(Endpoint, Auth) -> Route;

/// Every wire.
const WIRES: [(&str, MakeRoute); 4] = [
    ("chat", Route::chat),
    ("responses", Route::responses),
    ("messages", Route::messages),
    ("ollama", Route::ollama),
];

fn model(server: &ModelServer, name: &str, make: MakeRoute) -> HttpModel {
    let mut route = make(Endpoint::parse(&server.url()).unwrap(), Auth::None);
    route.settings = settings();
    route.settings.retries = 0;
    // One row of ids for all: a conversation has them once.
    route.ids = Ids::random();
    route.options.provider = "one gateway for all".to_owned();
    route.options.reasoning_replay = ReasoningReplay::All;
    route.options.thinking_budget = Some(2048);
    HttpModel::new(name, route).unwrap()
}

/// Appends an answer and the results of its calls.
pub(super) fn append(prompt: &mut Prompt, reply: Reply) {
    let mut results = Vec::new();
    for item in reply.items {
        prompt.items.push(match item {
            ReplyItem::Text { text, private } => PromptItem::Assistant { text, private },
            ReplyItem::Reasoning { text, private } => PromptItem::Reasoning { text, private },
            ReplyItem::ToolCall { id, name, arguments, private } => {
                let Arguments::Object { value, .. } = arguments else { panic!("{arguments:?}") };
                let output = "done".to_owned();
                results.push(PromptItem::ToolResult { id: id.clone(), name: name.clone(), output });
                PromptItem::ToolCall { id, name, arguments: Value::from(value).to_string(), private }
            }
        });
    }
    prompt.items.extend(results);
}

/// Lets the models answer in turn, each with a thought and two calls, the last one with words.
async fn converse(models: &[HttpModel]) {
    let mut prompt = prompt();
    for (position, model) in models.iter().enumerate() {
        let answered = outcome(model.call(prompt.clone())).await;
        assert_eq!(answered.restarts(), [], "answer {position} of {model:?}");
        let reply = answered.end.unwrap_or_else(|error| panic!("answer {position} of {model:?}: {error}"));
        let is_last = position + 1 == models.len();
        assert_eq!(reply.stop, if is_last { StopReason::End } else { StopReason::ToolUse });
        append(&mut prompt, reply);
    }
}

async fn server() -> ModelServer {
    let calling = |place: &str| {
        let call = |file: &str| json!({"path": format!("{place}/{file}")});
        turn()
            .reasoning(format!("Thought {place}."))
            .text("Reading.")
            .call("read_file", call("a"))
            .call("read_file", call("b"))
    };
    ModelServer::start([
        calling("one"),
        calling("two"),
        calling("three"),
        turn().reasoning("Well.").text("Done."),
    ])
    .await
}

#[tokio::test]
async fn every_wire_goes_on_where_another_stopped() {
    for (from, first) in WIRES {
        for (to, second) in WIRES {
            let server = server().await;
            let (one, other) = (model(&server, "m", first), model(&server, "m", second));
            converse(&[one.clone(), other.clone(), one, other]).await;
            assert_eq!(server.requests().len(), 4, "{from} to {to}");
        }
    }
}

#[tokio::test]
async fn every_wire_goes_on_with_another_model() {
    for (_, wire) in WIRES {
        let server = server().await;
        let (one, other) = (model(&server, "m", wire), model(&server, "n", wire));
        converse(&[one.clone(), other.clone(), other, one]).await;
    }
}
