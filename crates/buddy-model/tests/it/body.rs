//! Bodies built from prompts: Chat Completions here, other wires below.

mod images;
mod messages;
mod ollama;
mod responses;

use buddy_model::{Chat, Options, Private, Prompt, PromptItem, Protocol, ReasoningReplay, ToolDefinition};
use buddy_testkit::model::check_history;
use serde_json::{Value, json};

fn user(text: &str) -> PromptItem {
    PromptItem::user(text)
}

fn assistant(text: &str) -> PromptItem {
    PromptItem::Assistant { text: text.to_owned(), private: None }
}

fn call(id: &str, arguments: &str) -> PromptItem {
    PromptItem::ToolCall {
        id: id.to_owned(),
        name: "read_file".to_owned(),
        arguments: arguments.to_owned(),
        private: None,
    }
}

fn result(id: &str) -> PromptItem {
    PromptItem::result(id, "read_file", "text")
}

fn thought(model: &str) -> PromptItem {
    let private = Private {
        provider: "test".to_owned(),
        model: model.to_owned(),
        wire: "chat".to_owned(),
        data: json!({"field": "reasoning_content"}),
    };
    PromptItem::Reasoning { text: "hm".to_owned(), private: Some(private) }
}

fn prompt(items: Vec<PromptItem>) -> Prompt {
    Prompt { items, ..Prompt::default() }
}

fn options() -> Options {
    Options { provider: "test".to_owned(), ..Options::default() }
}

fn messages(items: Vec<PromptItem>, options: &Options) -> Value {
    let body = Chat.body("m", &prompt(items), options);
    assert_eq!(check_history(&body), Ok(()));
    body["messages"].clone()
}

#[test]
fn a_whole_body_with_stable_bytes() {
    let mut prompt = prompt(vec![user("hi")]);
    prompt.system = "Be brief.".to_owned();
    prompt.max_output_tokens = Some(100);
    prompt.temperature = Some(0.5);
    prompt.cache_key = Some("session".to_owned());
    let parameters = json!({"type": "object", "properties": {"z": {}, "a": {}}});
    prompt.tools =
        vec![ToolDefinition { name: "now".to_owned(), description: "The time.".to_owned(), parameters }];
    let mut options = Options { send_cache_key: true, parallel_tool_calls: Some(true), ..options() };
    options.reasoning_effort = Some("low".to_owned());
    options.extra.insert("top_k".to_owned(), json!(1));
    insta::assert_snapshot!(Chat.body("m", &prompt, &options), @r#"{"model":"m","stream":true,"stream_options":{"include_usage":true},"tools":[{"type":"function","function":{"name":"now","description":"The time.","parameters":{"type":"object","properties":{"z":{},"a":{}}}}}],"parallel_tool_calls":true,"max_tokens":100,"temperature":0.5,"prompt_cache_key":"session","reasoning_effort":"low","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"hi"}],"top_k":1}"#);
}

#[test]
fn neighbours_become_one_message() {
    let items = vec![
        user("go"),
        assistant("Reading."),
        call("a", r#"{"path": "a"}"#),
        call("b", "{}"),
        result("a"),
        result("b"),
        assistant("Done."),
        user("thanks"),
    ];
    let call = |id: &str, arguments: &str| {
        let function = json!({"name": "read_file", "arguments": arguments});
        json!({"id": id, "type": "function", "function": function})
    };
    let expected = json!([
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "Reading.", "tool_calls": [call("a", "{\"path\": \"a\"}"), call("b", "{}")]},
        {"role": "tool", "tool_call_id": "a", "content": "text"},
        {"role": "tool", "tool_call_id": "b", "content": "text"},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "thanks"},
    ]);
    assert_eq!(messages(items, &options()), expected);
}

#[test]
fn a_longer_conversation_starts_with_the_shorter_one() {
    let items = vec![
        user("go"),
        thought("m"),
        assistant("x"),
        call("a", "{}"),
        result("a"),
        assistant("y"),
        user("z"),
    ];
    let whole = messages(items.clone(), &options());
    for cut in [1, 5, 7] {
        let part = messages(items[..cut].to_vec(), &options());
        let part = part.as_array().unwrap();
        assert_eq!(part[..], whole.as_array().unwrap()[..part.len()]);
    }
}

#[test]
fn invalid_arguments_and_names_are_not_sent() {
    for arguments in ["", "{\"", "null", "[1]", "not json"] {
        let sent = messages(vec![user("go"), call("a", arguments), result("a")], &options());
        assert_eq!(sent[1]["tool_calls"][0]["function"]["arguments"], "{}", "{arguments}");
        assert_eq!(sent[1]["content"], Value::Null);
    }
    let odd = PromptItem::ToolCall {
        id: "a".to_owned(),
        name: "read file:".to_owned(),
        arguments: "{}".to_owned(),
        private: None,
    };
    let sent = messages(vec![user("go"), odd, result("a")], &options());
    assert_eq!(sent[1]["tool_calls"][0]["function"]["name"], "read_file_");
    let only_thought = messages(vec![user("go"), thought("m"), user("well?")], &options());
    assert_eq!(only_thought.as_array().map(Vec::len), Some(2));
}

#[test]
fn reasoning_goes_back_to_whom_it_came_from() {
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
        let sent = messages(items, &Options { reasoning_replay: replay, ..options() });
        let sent = sent.as_array().unwrap().iter();
        sent.filter(|message| message.get("reasoning_content") == Some(&json!("hm"))).count()
    };
    assert_eq!(replayed(ReasoningReplay::Off, "m"), 0);
    assert_eq!(replayed(ReasoningReplay::ToolTurns, "m"), 1);
    assert_eq!(replayed(ReasoningReplay::All, "m"), 2);
    assert_eq!(replayed(ReasoningReplay::All, "another model"), 0);
}

#[test]
fn unknown_fields_go_back_to_whom_they_came_from() {
    let private = |data: Value| Private {
        provider: "test".to_owned(),
        model: "m".to_owned(),
        wire: "chat".to_owned(),
        data,
    };
    let items = |model: &str| {
        let mut of_text = private(json!({"message": {"extra_content": {"signature": "t"}}}));
        let mut of_call = private(json!({"call": {"extra_content": {"signature": "c"}}}));
        model.clone_into(&mut of_text.model);
        model.clone_into(&mut of_call.model);
        let said = PromptItem::Assistant { text: "x".to_owned(), private: Some(of_text) };
        let PromptItem::ToolCall { id, name, arguments, .. } = call("a", "{}") else { unreachable!() };
        let called = PromptItem::ToolCall { id, name, arguments, private: Some(of_call) };
        vec![user("go"), said, called, result("a")]
    };
    let sent = messages(items("m"), &options());
    assert_eq!(sent[1]["extra_content"], json!({"signature": "t"}));
    assert_eq!(sent[1]["tool_calls"][0]["extra_content"], json!({"signature": "c"}));
    let sent = messages(items("another model"), &options()).to_string();
    assert!(!sent.contains("signature"), "{sent}");
}

#[test]
#[should_panic(expected = "no result for call")]
fn a_call_without_result_is_the_callers_bug() {
    Chat.body("m", &prompt(vec![user("go"), call("a", "{}")]), &options());
}
