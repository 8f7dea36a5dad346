//! The scripted model server, used over plain HTTP.
#![expect(clippy::unwrap_used, reason = "a broken assumption ends the test")]

mod clients;

use buddy_testkit::model::{ModelServer, Script, turn};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Sends one request and returns the whole answer until the server closes.
async fn exchange(server: &ModelServer, method: &str, path: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(server.url().trim_start_matches("http://")).await.unwrap();
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
    );
    stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // A reset is an answer too.
    let _read = stream.read_to_end(&mut answer).await;
    String::from_utf8(answer).unwrap()
}

async fn ask(server: &ModelServer, body: &Value) -> String {
    exchange(server, "POST", "/v1/chat/completions", &body.to_string()).await
}

fn history(assistant_messages: usize) -> Value {
    let said = json!({"role": "assistant", "content": "…"});
    let user = json!({"role": "user", "content": "hi"});
    let messages: Vec<Value> = (0..assistant_messages).flat_map(|_| [user.clone(), said.clone()]).collect();
    json!({"model": "m", "stream": true, "messages": messages})
}

#[tokio::test]
async fn a_stream_ends_with_its_mark() {
    let server = ModelServer::start([turn().text("hi").call("now", json!({}))]).await;
    let answer = ask(&server, &history(0)).await;
    assert!(answer.contains("content-type: text/event-stream"), "{answer}");
    assert!(answer.contains(r#""finish_reason":"tool_calls""#), "{answer}");
    assert!(answer.contains("data: [DONE]\n\n"), "{answer}");
    assert!(!answer.contains("usage"), "usage was not requested: {answer}");
}

#[tokio::test]
async fn turns_come_in_sequence_and_end() {
    let server = ModelServer::start([turn().text("one"), turn().text("two")]).await;
    assert!(ask(&server, &history(0)).await.contains("one"));
    assert!(ask(&server, &history(0)).await.contains("two"));
    assert!(ask(&server, &history(0)).await.contains("the script has no turn for request 3"));
    assert_eq!(server.wait_for_requests(3).await.len(), 3);
}

#[tokio::test]
async fn turns_come_by_history() {
    let script = Script::from([turn().text("one"), turn().text("two")]).by_history();
    let server = ModelServer::start(script).await;
    assert!(ask(&server, &history(1)).await.contains("two"));
    assert!(ask(&server, &history(0)).await.contains("one"));
    assert!(ask(&server, &history(1)).await.contains("two"));
}

#[tokio::test]
async fn a_bad_history_takes_no_turn() {
    let server = ModelServer::start([turn().text("one")]).await;
    let orphan = json!({"messages": [{"role": "tool", "tool_call_id": "x", "content": "?"}]});
    assert!(ask(&server, &orphan).await.starts_with("HTTP/1.1 400"));
    assert!(ask(&server, &history(0)).await.contains("one"));
}

#[tokio::test]
async fn each_fault_has_its_effect() {
    let faulty = || turn().text("abcdefgh").chunk_chars(1);
    let server = ModelServer::start([
        faulty().cut_after(3),
        faulty().truncate_after(3),
        faulty().malformed_after(3),
        turn().refuse(),
        turn().status(418).header("x-pot", "tea").body("short and stout"),
    ])
    .await;
    let cut = ask(&server, &history(0)).await;
    assert!(cut.contains(r#""content":"b""#) && !cut.contains(r#""content":"c""#), "{cut}");
    assert!(!cut.ends_with("0\r\n\r\n"), "{cut}");
    let truncated = ask(&server, &history(0)).await;
    assert!(truncated.ends_with("0\r\n\r\n") && !truncated.contains("[DONE]"), "{truncated}");
    let malformed = ask(&server, &history(0)).await;
    assert!(malformed.contains("oops") && malformed.contains("[DONE]"), "{malformed}");
    assert_eq!(ask(&server, &history(0)).await, "");
    let teapot = ask(&server, &history(0)).await;
    assert!(teapot.starts_with("HTTP/1.1 418") && teapot.contains("x-pot: tea"), "{teapot}");
}

#[tokio::test]
async fn the_same_turn_is_said_in_responses() {
    let thinking = || turn().reasoning("Hm.").text("hi").call("now", json!({})).stop("length");
    let server = ModelServer::start([thinking(), thinking()]).await;
    let asked =
        json!({"model": "m", "stream": true, "include": ["reasoning.encrypted_content"], "input": "hi"});
    let answer = exchange(&server, "POST", "/v1/responses", &asked.to_string()).await;
    let events = answer.lines().filter_map(|line| line.strip_prefix("data: "));
    let events: Vec<Value> = events.map(|data| serde_json::from_str(data).unwrap()).collect();
    for (position, event) in events.iter().enumerate() {
        assert_eq!(event["sequence_number"], position);
        let name = event["type"].as_str().unwrap();
        assert!(answer.contains(&format!("event: {name}\n")), "{answer}");
    }
    let end = events.last().unwrap();
    assert_eq!(end["type"], "response.incomplete");
    assert_eq!(end["response"]["incomplete_details"]["reason"], "max_output_tokens");
    let items = end["response"]["output"].as_array().unwrap();
    let kinds: Vec<&str> = items.iter().filter_map(|item| item["type"].as_str()).collect();
    assert_eq!(kinds, ["reasoning", "message", "function_call"]);
    let done = events.iter().filter(|event| event["type"] == "response.output_item.done");
    assert_eq!(done.map(|event| &event["item"]).collect::<Vec<_>>(), items.iter().collect::<Vec<_>>());
    let whole = json!({"model": "m", "include": ["reasoning.encrypted_content"], "input": "hi"});
    let document = exchange(&server, "POST", "/v1/responses", &whole.to_string()).await;
    let (_, document) = document.split_once("\r\n\r\n").unwrap();
    assert_eq!(serde_json::from_str::<Value>(document).unwrap()["output"], end["response"]["output"]);
}

#[tokio::test]
async fn a_script_can_be_a_file() {
    let text = r#"{"when_exhausted": "repeat_last", "turns": [
        {"text": "hi", "tool_calls": [{"name": "now"}], "usage": {"input": 3, "output": 1}},
        {"fault": {"status": 429, "retry_after": "1"}}]}"#;
    let server = ModelServer::start(Script::from_json(text).unwrap()).await;
    let whole = json!({"messages": [{"role": "user", "content": "hi"}]});
    assert!(ask(&server, &whole).await.contains(r#""prompt_tokens":3"#));
    assert!(ask(&server, &whole).await.starts_with("HTTP/1.1 429"));
    assert!(ask(&server, &whole).await.contains("retry-after: 1"));
    assert!(exchange(&server, "GET", "/v1/models", "").await.contains("scripted"));
    assert!(exchange(&server, "GET", "/v1/nothing", "").await.starts_with("HTTP/1.1 404"));
    assert!(Script::from_json(r#"{"turns": [{"txet": "hi"}]}"#).is_err());
}
