//! Successful answers.

use std::time::Duration;

use buddy_model::{Arguments, Auth, Delta, HttpModel, Model, Options, PromptItem, ReplyItem, StopReason};
use buddy_testkit::model::{ModelServer, Script, turn};
use serde_json::json;

use super::{model, outcome, prompt, route};

#[tokio::test]
async fn a_call_over_plain_http_is_not_sent_into_a_connection_that_may_be_closing() {
    let server = ModelServer::start([turn().text("one"), turn().text("two")]).await;
    let model = model(&server);
    for text in ["one", "two"] {
        assert_eq!(outcome(model.call(prompt())).await.text(), text);
    }
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn text_comes_in_pieces_and_then_whole() {
    let server = ModelServer::start([turn().reasoning("Greet.").text("Hello, world!").chunk_chars(5)]).await;
    let outcome = outcome(model(&server).call(prompt())).await;
    let texts: Vec<&str> = outcome
        .deltas
        .iter()
        .filter_map(|delta| if let Delta::Text(text) = delta { Some(text.as_str()) } else { None })
        .collect();
    assert_eq!(texts, ["Hello", ", wor", "ld!"]);
    assert_eq!(outcome.text(), "Hello, world!");
    let reply = outcome.end.unwrap();
    assert_eq!(reply.stop, StopReason::End);
    assert_eq!(reply.usage.map(|usage| (usage.input, usage.output)), Some((100, 20)));
    assert_eq!(reply.model.as_deref(), Some("test-model"));
}

#[tokio::test]
async fn a_conversation_with_calls_satisfies_a_strict_server() {
    let server = ModelServer::start([
        turn()
            .text("Reading.")
            .call("read_file", json!({"path": "a"}))
            .call("read_file", json!({"path": "b"})),
        turn().text("Both are empty."),
    ])
    .await;
    let model = model(&server);
    let mut prompt = prompt();
    let reply = outcome(model.call(prompt.clone())).await.end.unwrap();
    assert_eq!(reply.stop, StopReason::ToolUse);
    let mut results = Vec::new();
    for item in reply.items {
        prompt.items.push(match item {
            ReplyItem::Text { text, private } => PromptItem::Assistant { text, private },
            ReplyItem::Reasoning { text, private } => PromptItem::Reasoning { text, private },
            ReplyItem::ToolCall {
                id,
                name,
                arguments: Arguments::Object { value, repaired: false },
                private,
            } => {
                let result = PromptItem::result(id.clone(), name.clone(), "");
                results.push(result);
                PromptItem::ToolCall {
                    id,
                    name,
                    arguments: serde_json::Value::from(value).to_string(),
                    private,
                }
            }
            other @ ReplyItem::ToolCall { .. } => panic!("{other:?}"),
        });
    }
    prompt.items.extend(results);
    assert_eq!(outcome(model.call(prompt)).await.text(), "Both are empty.");
    assert_eq!(server.requests()[0].path, "/v1/chat/completions");
}

#[tokio::test]
async fn a_whole_document_serves_as_well() {
    let server = ModelServer::start([turn().text("Whole.").call("read_file", json!({"path": "a"}))]).await;
    let mut route = route(&server.url());
    route.options = Options { stream: false, ..route.options };
    let outcome = outcome(HttpModel::new("m", route).unwrap().call(prompt())).await;
    assert_eq!(outcome.text(), "Whole.");
    assert_eq!(outcome.end.unwrap().items.len(), 2);
    assert_eq!(server.requests()[0].body["stream"], json!(false));
}

#[tokio::test]
async fn a_complete_answer_is_taken_though_its_end_mark_never_comes() {
    let chunks_before_the_end_mark = 4; // role, text, finish reason, usage
    let server = ModelServer::start([turn().text("Done.").hang_after(chunks_before_the_end_mark)]).await;
    let mut route = route(&server.url());
    route.settings.settle_timeout = Duration::from_millis(20);
    let outcome = outcome(HttpModel::new("m", route).unwrap().call(prompt())).await;
    assert_eq!(outcome.text(), "Done.");
    assert!(outcome.end.unwrap().usage.is_some());
}

#[tokio::test]
async fn the_key_is_sent_and_never_shown() {
    let script = Script::from([turn().text("ok")]).with_key("sk-secret");
    let server = ModelServer::start(script).await;
    let mut route = route(&server.url());
    route.auth = Auth::Bearer("sk-secret".to_owned().into());
    let model = HttpModel::new("m", route).unwrap();
    assert!(!format!("{model:?}").contains("secret"));
    assert_eq!(outcome(model.call(prompt())).await.text(), "ok");
}
