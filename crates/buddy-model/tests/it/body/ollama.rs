//! Bodies of Ollama's own wire built from prompts.

use buddy_model::{Ollama, Options, Private, Prompt, PromptItem, Protocol, ReasoningReplay, ToolDefinition};
use buddy_testkit::model::check_request;
use serde_json::{Value, json};

use super::{assistant, call, result, user};

fn options() -> Options {
    Options { provider: "test".to_owned(), ..Options::default() }
}

fn body(items: Vec<PromptItem>, options: &Options) -> Value {
    let body = Ollama.body("m", &Prompt { items, ..Prompt::default() }, options);
    assert_eq!(check_request("/api/chat", &body), Ok(()), "{body}");
    body
}

fn thought(model: &str) -> PromptItem {
    let (provider, wire) = ("test".to_owned(), "ollama".to_owned());
    let private = Private { provider, model: model.to_owned(), wire, data: json!({"field": "thinking"}) };
    PromptItem::Reasoning { text: "hm".to_owned(), private: Some(private) }
}

#[test]
fn a_whole_body_with_stable_bytes() {
    let parameters = json!({"type": "object", "properties": {"z": {}, "a": {}}});
    let tool = ToolDefinition { name: "now".to_owned(), description: "The time.".to_owned(), parameters };
    let prompt = Prompt {
        system: "Be brief.".to_owned(),
        tools: vec![tool],
        items: vec![user("hi")],
        max_output_tokens: Some(100),
        temperature: Some(0.5),
        ..Prompt::default()
    };
    let options = Options {
        context_window: Some(65_536),
        keep_alive: Some("30m".to_owned()),
        reasoning_effort: Some("low".to_owned()),
        ..options()
    };
    insta::assert_snapshot!(Ollama.body("m", &prompt, &options), @r#"{"model":"m","stream":true,"think":"low","keep_alive":"30m","options":{"num_ctx":65536,"num_predict":100,"temperature":0.5},"tools":[{"type":"function","function":{"name":"now","description":"The time.","parameters":{"type":"object","properties":{"z":{},"a":{}}}}}],"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"hi"}]}"#);
}

#[test]
fn neighbours_become_one_message_and_results_name_their_tool() {
    let items = vec![
        user("go"),
        assistant("Reading."),
        call("a", r#"{"path": "a"}"#),
        call("b", "broken"),
        result("a"),
        result("b"),
        assistant("Done."),
        user("thanks"),
    ];
    let call = |arguments: Value| json!({"function": {"name": "read_file", "arguments": arguments}});
    let result = json!({"role": "tool", "tool_name": "read_file", "content": "text"});
    let expected = json!([
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "Reading.", "tool_calls": [call(json!({"path": "a"})), call(json!({}))]},
        result,
        result,
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "thanks"},
    ]);
    assert_eq!(body(items, &options())["messages"], expected);
}

#[test]
fn thinking_in_all_its_words() {
    let think = |effort: Option<&str>, budget: Option<u64>| {
        let effort = effort.map(str::to_owned);
        let options = Options { reasoning_effort: effort, thinking_budget: budget, ..options() };
        body(vec![user("hi")], &options).get("think").cloned()
    };
    assert_eq!(think(None, None), None);
    assert_eq!(think(Some("none"), None), Some(json!(false)));
    assert_eq!(think(Some("high"), None), Some(json!("high")));
    assert_eq!(think(Some("xhigh"), None), Some(json!(true)));
    assert_eq!(think(None, Some(2048)), Some(json!(true)));
}

#[test]
fn thoughts_go_back_within_tool_turns() {
    let replayed = |replay, model| {
        let items = vec![
            user("go"),
            thought(model),
            call("a", "{}"),
            result("a"),
            thought(model),
            assistant("done"),
            user("more"),
        ];
        let sent = body(items, &Options { reasoning_replay: replay, ..options() });
        let sent = sent["messages"].as_array().unwrap().iter();
        sent.filter(|message| message.get("thinking") == Some(&json!("hm"))).count()
    };
    assert_eq!(replayed(ReasoningReplay::Off, "m"), 0);
    assert_eq!(replayed(ReasoningReplay::ToolTurns, "m"), 1);
    assert_eq!(replayed(ReasoningReplay::All, "m"), 2);
    assert_eq!(replayed(ReasoningReplay::All, "another model"), 0);
}

#[test]
fn a_longer_conversation_starts_with_the_shorter_one() {
    let items =
        [user("go"), thought("m"), assistant("x"), call("a", "{}"), result("a"), assistant("y"), user("z")];
    let bytes = |cut: usize| {
        let body = body(items[..cut].to_vec(), &options()).to_string();
        body.strip_suffix("]}").unwrap().to_owned()
    };
    for (shorter, longer) in [(1, 5), (5, 7)] {
        assert!(bytes(longer).starts_with(&bytes(shorter)));
    }
}
