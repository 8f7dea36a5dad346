//! Successful answers.

use buddy_model::{Arguments, Delta, HttpModel, Model, Prompt, Reply, ReplyItem, StopReason};
use buddy_testkit::model::{ModelServer, turn};
use serde_json::{Value, json};

use super::{WIRES, Wire, converse};
use crate::http::{outcome, prompt};

fn calls(reply: &Reply) -> Vec<(&str, Value)> {
    let mut calls = Vec::new();
    for item in &reply.items {
        if let ReplyItem::ToolCall { name, arguments: Arguments::Object { value, repaired: false }, .. } =
            item
        {
            calls.push((name.as_str(), json!(value)));
        }
    }
    calls
}

fn thoughts(reply: &Reply) -> Vec<&str> {
    let mut thoughts = Vec::new();
    for item in &reply.items {
        if let ReplyItem::Reasoning { text, .. } = item {
            thoughts.push(text.as_str());
        }
    }
    thoughts
}

async fn plain(wire: &Wire) {
    let (outcome, _server) = wire.ask([turn().text("Hello, wörld! 🦀").chunk_chars(3).usage(7, 5)]).await;
    let is_text = |delta: &&Delta| matches!(delta, Delta::Text(_));
    assert_eq!(outcome.deltas.iter().filter(is_text).count(), 5, "{wire}");
    assert_eq!(outcome.text(), "Hello, wörld! 🦀", "{wire}");
    let reply = outcome.end.unwrap();
    let usage = reply.usage.map(|usage| (usage.input, usage.output));
    assert_eq!((reply.stop, usage), (StopReason::End, Some((7, 5))), "{wire}");
    assert_eq!(reply.model.as_deref(), Some("test-model"), "{wire}");
}

async fn whole_documents(wire: &Wire) {
    let server = ModelServer::start([turn().text("Whole.").call("read_file", json!({"path": "a"}))]).await;
    let mut route = wire.route(&server);
    route.options.stream = false;
    let outcome = outcome(HttpModel::new("m", route).unwrap().call(prompt())).await;
    assert_eq!(outcome.text(), "Whole.", "{wire}");
    assert_eq!(calls(&outcome.end.unwrap()), [("read_file", json!({"path": "a"}))], "{wire}");
    assert_eq!(server.requests()[0].body["stream"], json!(false), "{wire}");
}

async fn tools(wire: &Wire) {
    let call = turn().text("Reading.").call("read_file", json!({"path": "a\n\"b\""})).chunk_chars(2);
    let server = ModelServer::start([call, turn().text("It is empty.")]).await;
    let (model, mut prompt) = (wire.model(&server), prompt());
    let reply = converse(&model, &mut prompt).await;
    assert_eq!(reply.stop, StopReason::ToolUse, "{wire}");
    assert_eq!(calls(&reply), [("read_file", json!({"path": "a\n\"b\""}))], "{wire}");
    let outcome = outcome(model.call(prompt)).await;
    assert_eq!((outcome.text().as_str(), outcome.restarts().len()), ("It is empty.", 0), "{wire}");
}

async fn parallel_tools(wire: &Wire) {
    let both =
        turn().call("read_file", json!({"path": "a"})).call("read_file", json!({"path": "b"})).chunk_chars(4);
    let again = turn().call("read_file", json!({"path": "c"}));
    let server = ModelServer::start([both, again, turn().text("Done.")]).await;
    let (model, mut prompt) = (wire.model(&server), prompt());
    let reply = converse(&model, &mut prompt).await;
    let (a, b) = (json!({"path": "a"}), json!({"path": "b"}));
    assert_eq!(calls(&reply), [("read_file", a), ("read_file", b)], "{wire}");
    converse(&model, &mut prompt).await;
    assert_eq!(outcome(model.call(prompt)).await.text(), "Done.", "{wire}");
}

async fn reasoning(wire: &Wire) {
    let first = turn().reasoning("Let me look.").call("read_file", json!({"path": "a"})).chunk_chars(5);
    let second = turn().reasoning("Now I know.").text("Empty.");
    let server = ModelServer::start([first, second, turn().text("Bye.")]).await;
    let (model, mut prompt) = (wire.model(&server), prompt());
    assert_eq!(thoughts(&converse(&model, &mut prompt).await), ["Let me look."], "{wire}");
    assert_eq!(thoughts(&converse(&model, &mut prompt).await), ["Now I know."], "{wire}");
    prompt.items.push(super::user("thanks"));
    let outcome = outcome(model.call(prompt)).await;
    assert_eq!((outcome.text().as_str(), outcome.restarts().len()), ("Bye.", 0), "{wire}");
    let last = server.requests()[2].body[wire.history].to_string();
    assert!(last.contains("Let me look.") && last.contains("Now I know."), "{wire}: {last}");
}

async fn refusal(wire: &Wire) {
    let server = ModelServer::start([turn().refusal("I will not."), turn().text("Well.")]).await;
    let (model, mut prompt) = (wire.model(&server), prompt());
    let reply = converse(&model, &mut prompt).await;
    assert_eq!(reply.stop, wire.refusal.clone().unwrap_or(StopReason::End), "{wire}");
    prompt.items.push(super::user("please"));
    assert_eq!(outcome(model.call(prompt)).await.text(), "Well.", "{wire}");
}

async fn length(wire: &Wire) {
    let (outcome, _server) = wire.ask([turn().text("Once upon a").stop("length")]).await;
    assert_eq!(outcome.text(), "Once upon a", "{wire}");
    assert_eq!(outcome.end.unwrap().stop, StopReason::Length, "{wire}");
    let cut = turn().call_raw("read_file", "{\"path\": \"a").stop("length");
    let server = ModelServer::start([cut, turn().text("Again.")]).await;
    let (model, mut prompt) = (wire.model(&server), prompt());
    let reply = converse(&model, &mut prompt).await;
    assert_eq!((reply.stop.clone(), calls(&reply).len()), (StopReason::Length, 0), "{wire}");
    assert_eq!(outcome_text(&model, prompt).await, "Again.", "{wire}");
}

async fn outcome_text(model: &HttpModel, prompt: buddy_model::Prompt) -> String {
    outcome(model.call(prompt)).await.text()
}

async fn filter(wire: &Wire) {
    let (outcome, _server) = wire.ask([turn().text("Once").stop("content_filter")]).await;
    let unknown = StopReason::Other("content_filter".to_owned());
    assert_eq!(outcome.end.unwrap().stop, wire.filter.clone().unwrap_or(unknown), "{wire}");
}

/// A whole call does not run if the answer is incomplete.
async fn cut_calls(wire: &Wire) {
    for reason in ["length", "content_filter", "refusal", "nobody_knows"] {
        let call = turn().call("read_file", json!({"path": "a"})).stop(reason);
        let (outcome, _server) = wire.ask([call]).await;
        let reply = outcome.end.unwrap();
        assert!(!reply.stop.lets_calls_run(), "{wire} {reason}: {:?}", reply.stop);
    }
}

/// Nor does one if the model refuses in the same answer, before or after it.
async fn refused_calls(wire: &Wire) {
    let call = || turn().call("read_file", json!({"path": "a"}));
    let mut answers = vec![
        turn().refusal("I will not.").call("read_file", json!({"path": "a"})),
        call().refusal("I will not."),
    ];
    if matches!(wire.name, "chat" | "responses") {
        // A refusal has a field of its own there, whatever the reason of the end says.
        answers.push(call().refusal("I will not.").stop("tool_calls"));
    }
    for answer in answers {
        let (outcome, _server) = wire.ask([answer]).await;
        let reply = outcome.end.unwrap();
        assert_eq!(calls(&reply).len(), 1, "{wire}: the call was whole");
        // A wire without refusals has ordinary text in their place.
        assert_eq!(reply.stop.lets_calls_run(), wire.refusal.is_none(), "{wire}: {:?}", reply.stop);
    }
}

async fn no_usage(wire: &Wire) {
    let (outcome, _server) = wire.ask([turn().text("Hi").no_usage()]).await;
    assert_eq!(outcome.end.unwrap().usage, None, "{wire}");
}

/// The fields of a profile win over buddy's own, but not over those that buddy sets for one call.
async fn fields_of_one_call(wire: &Wire) {
    let (extra, none) = match wire.name {
        "messages" => (json!({"tool_choice": {"type": "any"}, "max_tokens": 9000}), json!({"type": "none"})),
        // This wire has no field that forbids calls, so a report has no tools.
        "ollama" => {
            let tools = json!([{"type": "function", "function": {"name": "required"}}]);
            (json!({"tools": tools, "tool_choice": "any", "options": {"num_predict": 9000}}), Value::Null)
        }
        _ => {
            let bounds =
                json!({"max_tokens": 9000, "max_completion_tokens": 9000, "max_output_tokens": 9000});
            let mut extra = json!({"tool_choice": "any", "parallel_tool_calls": true});
            extra.as_object_mut().unwrap().extend(bounds.as_object().unwrap().clone());
            (extra, json!("none"))
        }
    };
    let server = ModelServer::start([turn().text("Hi."), turn().text("A report.")]).await;
    let mut route = wire.route(&server);
    route.options.extra = extra.as_object().unwrap().clone();
    let model = HttpModel::new("test-model", route).unwrap();
    let report = Prompt { is_text_only: true, max_output_tokens: Some(4000), ..prompt() };
    for prompt in [prompt(), report] {
        outcome(model.call(prompt)).await.end.unwrap();
    }
    let requests = server.requests();
    let (usual, report) = (&requests[0].body, &requests[1].body);
    for (name, value) in extra.as_object().unwrap() {
        assert_eq!(usual[name], *value, "{wire}: {usual:#}");
        assert_ne!(report[name], *value, "{wire}: {report:#}");
    }
    assert_eq!(report["tool_choice"], none, "{wire}: {report:#}");
    let text = report.to_string();
    assert!(text.contains("4000") && !text.contains("9000"), "{wire}: {text}");
}

/// A test per scenario, over all wires.
macro_rules! on_every_wire {
    ($($scenario:ident)*) => {
        mod each {
            $(#[tokio::test] async fn $scenario() {
                for wire in super::WIRES {
                    super::$scenario(wire).await;
                }
            })*
        }
    };
}

on_every_wire! {
    plain whole_documents tools parallel_tools reasoning refusal length filter cut_calls refused_calls no_usage fields_of_one_call
}
