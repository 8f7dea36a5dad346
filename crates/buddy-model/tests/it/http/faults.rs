//! Connections that break, stall or lie in the middle of an answer.

use std::time::Duration;

use buddy_model::{Arguments, Delta, HttpModel, Model, ModelErrorKind, ReplyItem};
use buddy_testkit::model::{ModelServer, turn};
use serde_json::json;

use super::{model, outcome, prompt, route};

#[tokio::test]
async fn an_unreachable_server_is_retried_and_reported() {
    let mut route = route(&ModelServer::unreachable_url().await);
    route.settings.retries = 1;
    let outcome = outcome(HttpModel::new("m", route).unwrap().call(prompt())).await;
    assert_eq!(outcome.restarts().len(), 1);
    let error = outcome.error();
    assert_eq!(error.kind, ModelErrorKind::Transport);
    let message = error.to_string();
    assert!(message.starts_with("cannot connect to http://127.0.0.1:"), "{message}");
    assert!(message.contains("refused"), "{message}");
    assert!(error.hint.is_some());
}

#[tokio::test]
async fn a_connection_closed_without_a_word_is_tried_again() {
    let server = ModelServer::start([turn().refuse(), turn().text("sorry")]).await;
    let outcome = outcome(model(&server).call(prompt())).await;
    assert_eq!((outcome.text().as_str(), outcome.restarts().len()), ("sorry", 1));
}

#[tokio::test]
async fn a_call_cut_in_its_arguments_never_surfaces() {
    let call = || turn().call("read_file", json!({"path": "a/long/path/in/many/chunks"})).chunk_chars(4);
    let server = ModelServer::start([call().cut_after(4), call().truncate_after(5), call()]).await;
    let outcome = outcome(model(&server).call(prompt())).await;
    assert_eq!(outcome.restarts().len(), 2);
    let last_restart =
        outcome.deltas.iter().rposition(|delta| matches!(delta, Delta::Restarted { .. })).unwrap();
    let shown: String = outcome.deltas[last_restart..]
        .iter()
        .filter_map(
            |delta| if let Delta::ToolArguments { text, .. } = delta { Some(text.as_str()) } else { None },
        )
        .collect();
    assert_eq!(shown, r#"{"path":"a/long/path/in/many/chunks"}"#);
    let items = outcome.end.unwrap().items;
    let [ReplyItem::ToolCall { arguments: Arguments::Object { value, repaired: false }, .. }] = &items[..]
    else {
        panic!("{items:?}")
    };
    assert_eq!(value["path"], "a/long/path/in/many/chunks");
}

#[tokio::test]
async fn garbage_is_tried_again_and_then_named() {
    let server =
        ModelServer::start([turn().text("x").malformed_after(2), turn().text("y").malformed_after(2)]).await;
    let mut route = route(&server.url());
    route.settings.retries = 1;
    let outcome = outcome(HttpModel::new("m", route).unwrap().call(prompt())).await;
    assert_eq!(outcome.restarts().len(), 1);
    let error = outcome.error();
    assert_eq!(error.kind, ModelErrorKind::BadStream);
    assert!(error.to_string().contains("in `{\"choices\": [oops`"), "{error}");
}

#[tokio::test]
async fn an_empty_stream_is_not_an_empty_answer() {
    let server = ModelServer::start([turn().sse(""), turn().text("here")]).await;
    let outcome = outcome(model(&server).call(prompt())).await;
    assert_eq!((outcome.text().as_str(), outcome.restarts().len()), ("here", 1));
}

#[tokio::test]
async fn silence_is_not_waited_out() {
    let server = ModelServer::start([turn().text("Hello, world, again").hang_after(2)]).await;
    let mut route = route(&server.url());
    route.settings.idle_timeout = Duration::from_millis(50);
    route.settings.retries = 0;
    let error = outcome(HttpModel::new("m", route).unwrap().call(prompt())).await.error();
    assert_eq!(error.kind, ModelErrorKind::Timeout);
    insta::assert_snapshot!(error, @"the model server was silent for 0.05 s");
    server.wait_for_departures(1).await;
}

#[tokio::test]
async fn signs_of_life_do_not_count_for_ever() {
    let slow = turn().text("x".repeat(4000)).chunk_chars(1).chunk_delay(Duration::from_millis(5));
    let server = ModelServer::start([slow]).await;
    let mut route = route(&server.url());
    route.settings.total_timeout = Duration::from_millis(60);
    let error = outcome(HttpModel::new("m", route).unwrap().call(prompt())).await.error();
    insta::assert_snapshot!(error, @"the answer was not complete after 0.06 s");
    server.wait_for_departures(1).await;
}

#[tokio::test]
async fn an_endless_event_is_refused() {
    let mut bytes = b"data: ".to_vec();
    bytes.resize(buddy_model::MAX_EVENT_BYTES + 100, b'x');
    let server = ModelServer::start([turn().sse(bytes)]).await;
    let error = outcome(model(&server).call(prompt())).await.error();
    insta::assert_snapshot!(error, @"one event of the answer is larger than 16 MiB");
}

#[tokio::test]
async fn an_error_inside_a_stream_has_its_own_status() {
    let sse =
        "data: {\"error\":{\"message\":\"Invalid key\",\"type\":\"authentication_error\",\"code\":401}}\n\n";
    let server = ModelServer::start([turn().sse(sse)]).await;
    let error = outcome(model(&server).call(prompt())).await.error();
    assert_eq!((error.kind, error.status), (ModelErrorKind::Auth, Some(401)));
}
