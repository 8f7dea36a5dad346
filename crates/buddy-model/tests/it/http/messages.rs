//! Messages over HTTP: keys and versions, thinking that must come back unchanged, errors in the provider's
//! words.

use std::time::Duration;

use buddy_model::{Auth, Delta, Endpoint, HttpModel, Ids, Model, ModelErrorKind, Options, Route, StopReason};
use buddy_testkit::model::{ModelServer, Script, Turn, turn};
use serde_json::{Value, json};

use super::{outcome, prompt, settings};
use crate::wires::record;

fn route(url: &str) -> Route {
    let mut route = Route::messages(Endpoint::parse(url).unwrap(), Auth::None);
    route.settings = settings();
    route.ids = Ids::counting();
    "scripted".clone_into(&mut route.options.provider);
    route.options.thinking_budget = Some(2048);
    route
}

fn model(server: &ModelServer) -> HttpModel {
    HttpModel::new("claude-test", route(&server.url())).unwrap()
}

#[tokio::test]
async fn the_key_and_the_version_are_in_the_head() {
    let server = ModelServer::start(Script::from([turn().text("ok")]).with_key("sk-secret")).await;
    let mut route = route(&server.url());
    route.auth = Auth::api_key("sk-secret");
    let outcome = outcome(HttpModel::new("m", route).unwrap().call(prompt())).await;
    assert_eq!(outcome.text(), "ok");
    let head = &server.requests()[0].headers;
    assert_eq!((head["x-api-key"].as_str(), head["anthropic-version"].as_str()), ("sk-secret", "2023-06-01"));
    assert!(server.requests()[0].path.ends_with("/v1/messages"));
}

#[tokio::test]
async fn a_loop_of_thoughts_and_calls_satisfies_a_strict_server() {
    let server = ModelServer::start([
        turn()
            .reasoning("Two files.")
            .text("Reading.")
            .call("read_file", json!({"path": "a"}))
            .call("read_file", json!({"path": "b"})),
        turn().hidden_reasoning("Sh.").reasoning("One more.").call("read_file", json!({"path": "c"})),
        turn().text("All are empty."),
    ])
    .await;
    let (model, mut prompt) = (model(&server), prompt());
    for stop in [StopReason::ToolUse, StopReason::ToolUse, StopReason::End] {
        let reply = outcome(model.call(prompt.clone())).await.end.unwrap();
        assert_eq!(reply.stop, stop);
        record(&reply, &mut prompt);
    }
    let sent = server.requests();
    assert!(sent.iter().all(|request| request.body.get("thinking").is_some()));
    let last = sent[2].body["messages"].as_array().unwrap();
    let kinds = |message: &Value| {
        let blocks = message["content"].as_array().unwrap().iter();
        blocks.map(|block| block["type"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(kinds(&last[1]), ["thinking", "text", "tool_use", "tool_use"]);
    assert_eq!(kinds(&last[2]), ["tool_result", "tool_result"]);
    assert_eq!(kinds(&last[3]), ["redacted_thinking", "thinking", "tool_use"]);
}

#[tokio::test]
async fn thoughts_that_are_refused_are_left_out_and_the_conversation_goes_on() {
    let first = ModelServer::start([turn().reasoning("Hm.").call("read_file", json!({"path": "a"}))]).await;
    let mut prompt = prompt();
    let reply = outcome(model(&first).call(prompt.clone())).await.end.unwrap();
    record(&reply, &mut prompt);
    let turns = [turn().text("one").call("read_file", json!({"path": "b"})), turn().text("two")];
    let other = ModelServer::start(Script::from(turns).with_secret("another deployment")).await;
    let model = model(&other);
    let answered = outcome(model.call(prompt.clone())).await;
    assert_eq!((answered.restarts().len(), answered.restarts()[0].1), (1, Duration::ZERO));
    assert_eq!(answered.text(), "one");
    record(&answered.end.unwrap(), &mut prompt);
    let answered = outcome(model.call(prompt)).await;
    assert_eq!((answered.text().as_str(), answered.restarts().len()), ("two", 0), "it is learned for good");
    let thinks: Vec<bool> =
        other.requests().iter().map(|request| request.body.get("thinking").is_some()).collect();
    assert_eq!(thinks, [true, false, false], "the loop goes on without thinking");
}

#[tokio::test]
async fn a_server_without_breakpoints_is_obliged() {
    let refused =
        turn().error(400, "invalid_request_error", "system.0.cache_control: Extra inputs are not permitted");
    let server = ModelServer::start([refused, turn().text("ok")]).await;
    let outcome = outcome(model(&server).call(prompt())).await;
    assert_eq!((outcome.text().as_str(), outcome.restarts().len()), ("ok", 1));
    let sent = server.requests();
    assert!(sent[0].body.to_string().contains("cache_control"));
    assert!(!sent[1].body.to_string().contains("cache_control"));
}

#[tokio::test]
async fn one_document_instead_of_a_stream() {
    let server =
        ModelServer::start([turn().reasoning("Hm.").text("Whole.").call("read_file", json!({"path": "a"}))])
            .await;
    let mut route = route(&server.url());
    route.options = Options { stream: false, ..route.options };
    let outcome = outcome(HttpModel::new("m", route).unwrap().call(prompt())).await;
    assert_eq!(outcome.text(), "Whole.");
    assert_eq!(outcome.end.unwrap().items.len(), 3);
    assert_eq!(server.requests()[0].body["stream"], json!(false));
}

#[tokio::test]
async fn an_overload_in_the_middle_is_tried_again() {
    let broken = turn().text("Hello, world").chunk_chars(1).fail_after(6, "overloaded_error", "Overloaded");
    let server = ModelServer::start([broken, turn().text("Hello")]).await;
    let outcome = outcome(model(&server).call(prompt())).await;
    assert_eq!(outcome.restarts()[0].2, "the model server cannot answer now: Overloaded");
    assert_eq!(outcome.text(), "Hello");
}

#[tokio::test]
async fn cut_streams_are_tried_again() {
    let call = || turn().call("read_file", json!({"path": "a/long/path"})).chunk_chars(2);
    let server = ModelServer::start([
        call().cut_after(6),
        call().truncate_after(7),
        call().malformed_after(5),
        call(),
    ])
    .await;
    let outcome = outcome(model(&server).call(prompt())).await;
    assert_eq!(outcome.restarts().len(), 3);
    assert_eq!(outcome.end.unwrap().stop, StopReason::ToolUse);
}

#[tokio::test]
async fn an_answer_is_complete_without_its_last_event() {
    // message_start, ping, block start, text, block stop, message_delta
    let server = ModelServer::start([turn().text("Done.").hang_after(6)]).await;
    let mut route = route(&server.url());
    route.settings.settle_timeout = Duration::from_millis(20);
    let outcome = outcome(HttpModel::new("m", route).unwrap().call(prompt())).await;
    assert_eq!(outcome.text(), "Done.");
}

#[tokio::test]
async fn errors_in_the_providers_words() {
    let error = |status: u16, kind: &str, message: &str| -> Turn {
        let body = json!({"type": "error", "error": {"type": kind, "message": message}});
        turn().status(status).header("retry-after", "0").body(body.to_string())
    };
    let table = [
        (
            error(400, "invalid_request_error", "prompt is too long: 3 tokens > 2 maximum"),
            ModelErrorKind::ContextOverflow,
        ),
        (error(400, "invalid_request_error", "Your credit balance is too low"), ModelErrorKind::Quota),
        (error(401, "authentication_error", "invalid x-api-key"), ModelErrorKind::Auth),
        (error(404, "not_found_error", "model: claude-9"), ModelErrorKind::ModelMissing),
        (error(429, "rate_limit_error", "slow down"), ModelErrorKind::RateLimit),
        (error(529, "overloaded_error", "Overloaded"), ModelErrorKind::Overloaded),
    ];
    for (turn, kind) in table {
        let server = ModelServer::start(vec![turn; 20]).await;
        let error = outcome(model(&server).call(prompt())).await.error();
        assert_eq!(error.kind, kind, "{error}");
        let expected = if error.is_transient() { 18 } else { 1 };
        assert_eq!(server.requests().len(), expected, "{error}");
    }
}

#[tokio::test]
async fn a_refusal_and_a_bound_are_stops() {
    let server = ModelServer::start([turn().refusal("No."), turn().text("And so on").stop("length")]).await;
    let model = model(&server);
    for stop in [StopReason::Refusal, StopReason::Length] {
        assert_eq!(outcome(model.call(prompt())).await.end.unwrap().stop, stop);
    }
}

#[tokio::test]
async fn deltas_come_as_they_are_said() {
    let server =
        ModelServer::start([turn().reasoning("Hm.").text("Hello").gate("middle").text(", world")]).await;
    let model = model(&server);
    let gate = server.gate("middle");
    let (outcome, ()) = tokio::join!(outcome(model.call(prompt())), gate.pass());
    let [hello, world] = ["Hello", ", world"].map(|text| Delta::Text(text.to_owned()));
    assert_eq!(outcome.deltas, [Delta::Reasoning("Hm.".to_owned()), Delta::Apart, hello, world]);
    assert_eq!(outcome.text(), "Hello, world");
}
