//! Ollama's own wire over HTTP: lines instead of events, and one document.

use buddy_model::{
    Arguments, Auth, Endpoint, HttpModel, Ids, Model, ModelErrorKind, Options, PromptItem, ReplyItem, Route,
    StopReason,
};
use buddy_testkit::model::{ModelServer, turn};
use serde_json::json;

use super::{outcome, prompt, settings};

fn route(url: &str) -> Route {
    let mut route = Route::ollama(Endpoint::parse(url).unwrap(), Auth::None);
    route.settings = settings();
    route.ids = Ids::counting();
    route
}

fn model(server: &ModelServer) -> HttpModel {
    HttpModel::new("qwen3", route(&server.url())).unwrap()
}

#[tokio::test]
async fn any_base_leads_to_the_same_path() {
    let server = ModelServer::start([turn().text("a"), turn().text("b"), turn().text("c")]).await;
    for base in ["", "/v1", "/api/"] {
        let route = route(&format!("{}{base}", server.url()));
        assert!(outcome(HttpModel::new("m", route).unwrap().call(prompt())).await.end.is_ok());
    }
    assert!(server.requests().iter().all(|request| request.path == "/api/chat"));
}

#[tokio::test]
async fn calls_get_ids_and_results_go_back() {
    let server = ModelServer::start([
        turn().reasoning("Hm.").text("Reading.").call("read_file", json!({"path": "a"})),
        turn().text("Empty."),
    ])
    .await;
    let (model, mut prompt) = (model(&server), prompt());
    let reply = outcome(model.call(prompt.clone())).await.end.unwrap();
    assert_eq!((&reply.stop, reply.model.as_deref()), (&StopReason::ToolUse, Some("qwen3")));
    assert_eq!(reply.usage.map(|usage| (usage.input, usage.output)), Some((100, 20)));
    let [
        ReplyItem::Reasoning { text, private },
        ReplyItem::Text { .. },
        ReplyItem::ToolCall { id, name, arguments: Arguments::Object { value, .. }, .. },
    ] = &reply.items[..]
    else {
        panic!("{reply:?}")
    };
    assert_eq!((id.as_str(), value["path"].as_str()), ("call_1", Some("a")));
    prompt.items.extend([
        PromptItem::Reasoning { text: text.clone(), private: private.clone() },
        PromptItem::ToolCall {
            id: id.clone(),
            name: name.clone(),
            arguments: r#"{"path":"a"}"#.to_owned(),
            private: None,
        },
        PromptItem::result(id.clone(), name.clone(), ""),
    ]);
    assert_eq!(outcome(model.call(prompt)).await.text(), "Empty.");
    let sent = server.requests()[1].body["messages"].clone();
    assert_eq!(sent[2]["thinking"], "Hm.");
    assert_eq!(sent[3], json!({"role": "tool", "tool_name": "read_file", "content": ""}));
}

#[tokio::test]
async fn one_document_instead_of_a_stream() {
    let server = ModelServer::start([turn().text("Whole.").call("read_file", json!({"path": "a"}))]).await;
    let mut route = route(&server.url());
    route.options = Options { stream: false, ..route.options };
    let outcome = outcome(HttpModel::new("m", route).unwrap().call(prompt())).await;
    assert_eq!((outcome.text().as_str(), outcome.end.unwrap().items.len()), ("Whole.", 2));
}

#[tokio::test]
async fn broken_streams_are_tried_again() {
    let words = || turn().text("abcdefgh").chunk_chars(1);
    let failing = words().fail_after(3, "", "model runner has unexpectedly stopped");
    let server = ModelServer::start([
        words().cut_after(3),
        words().truncate_after(3),
        words().malformed_after(3),
        failing,
        words(),
    ])
    .await;
    let outcome = outcome(model(&server).call(prompt())).await;
    let errors: Vec<&str> = outcome.restarts().iter().map(|(_, _, error)| *error).collect();
    assert_eq!(errors.len(), 4, "{errors:?}");
    assert_eq!(errors[1], "the answer stopped before its end");
    assert_eq!(errors[3], "the model server cannot answer now: model runner has unexpectedly stopped");
    assert_eq!(outcome.text(), "abcdefgh");
}

#[tokio::test]
async fn errors_in_its_words() {
    let refused = |status: u16, text: &str| turn().status(status).body(json!({ "error": text }).to_string());
    let server = ModelServer::start([refused(404, "model 'qwen9' not found")]).await;
    let error = outcome(model(&server).call(prompt())).await.error();
    assert_eq!(error.kind, ModelErrorKind::ModelMissing);
    let server =
        ModelServer::start([refused(400, "\"gemma\" does not support thinking"), turn().text("ok")]).await;
    let mut route = route(&server.url());
    route.options.reasoning_effort = Some("high".to_owned());
    let answered = outcome(HttpModel::new("gemma", route).unwrap().call(prompt())).await;
    assert_eq!((answered.text().as_str(), answered.restarts().len()), ("ok", 1));
    assert_eq!(server.requests()[1].body.get("think"), None);
}
