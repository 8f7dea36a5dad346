//! Responses bodies built from prompts.

use buddy_model::{Options, Private, Prompt, PromptItem, Protocol, ReasoningForm, Responses, ToolDefinition};
use buddy_testkit::model::check_request;
use serde_json::{Value, json};

use super::{assistant, call, prompt, result, user};

fn options() -> Options {
    Options { provider: "test".to_owned(), ..Options::default() }
}

fn private(data: Value) -> Private {
    let (provider, model, wire) = ("test".to_owned(), "m".to_owned(), "responses".to_owned());
    Private { provider, model, wire, data }
}

/// Encrypted reasoning of this model.
fn thought(id: &str) -> PromptItem {
    let data = json!({"id": id, "type": "reasoning", "summary": [], "encrypted_content": "gAAAAABo"});
    PromptItem::Reasoning { text: String::new(), private: Some(private(data)) }
}

fn said(text: &str, data: Value) -> PromptItem {
    PromptItem::Assistant { text: text.to_owned(), private: Some(private(data)) }
}

fn input_with(items: Vec<PromptItem>, options: &Options) -> Value {
    Responses.body("m", &prompt(items), options)["input"].clone()
}

fn input(items: Vec<PromptItem>) -> Value {
    input_with(items, &options())
}

#[test]
fn a_whole_body_with_stable_bytes() {
    let parameters = json!({"type": "object", "properties": {"z": {}, "a": {}}});
    let prompt = Prompt {
        system: "Be brief.".to_owned(),
        tools: vec![ToolDefinition {
            name: "now".to_owned(),
            description: "The time.".to_owned(),
            parameters,
        }],
        items: vec![user("hi")],
        max_output_tokens: Some(100),
        temperature: Some(0.5),
        cache_key: Some("session".to_owned()),
        is_text_only: false,
    };
    let mut options = Options { send_cache_key: true, parallel_tool_calls: Some(true), ..options() };
    options.reasoning_effort = Some("low".to_owned());
    options.extra.insert("service_tier".to_owned(), json!("flex"));
    let body = Responses.body("m", &prompt, &options);
    assert_eq!(check_request("/v1/responses", &body), Ok(()));
    insta::assert_snapshot!(body, @r#"{"model":"m","stream":true,"store":false,"include":["reasoning.encrypted_content"],"instructions":"Be brief.","tools":[{"type":"function","name":"now","description":"The time.","parameters":{"type":"object","properties":{"z":{},"a":{}}},"strict":false}],"parallel_tool_calls":true,"max_output_tokens":100,"temperature":0.5,"prompt_cache_key":"session","reasoning":{"effort":"low"},"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}],"service_tier":"flex"}"#);
}

#[test]
fn items_stay_items() {
    let items = vec![
        user("go"),
        assistant("Reading."),
        call("a", r#"{"path": "a"}"#),
        call("b", "not json"),
        result("a"),
        result("b"),
        assistant("Done."),
        user("thanks"),
    ];
    let body = Responses.body("m", &prompt(items), &options());
    assert_eq!(check_request("/v1/responses", &body), Ok(()));
    let message = |role: &str, kind: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]});
    let call = |id: &str, arguments: &str| json!({"type": "function_call", "call_id": id, "name": "read_file", "arguments": arguments});
    let output = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "text"});
    let expected = json!([
        message("user", "input_text", "go"),
        message("assistant", "output_text", "Reading."),
        call("a", "{\"path\": \"a\"}"),
        call("b", "{}"),
        output("a"),
        output("b"),
        message("assistant", "output_text", "Done."),
        message("user", "input_text", "thanks"),
    ]);
    assert_eq!(body["input"], expected);
}

#[test]
fn reasoning_goes_back_only_with_the_item_it_led_to() {
    let kinds = |items: Vec<PromptItem>, options: &Options| -> Vec<String> {
        let sent = input_with(items, options);
        sent.as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap().to_owned()).collect()
    };
    let own = || said("x", json!({"type": "message", "role": "assistant", "id": "msg_1"}));
    let led = vec![user("go"), thought("rs_1"), thought("rs_2"), own(), user("more")];
    let expected = ["message", "reasoning", "reasoning", "message", "message"];
    assert_eq!(kinds(led.clone(), &options()), expected);
    let omitted = Options { reasoning_form: ReasoningForm::Omitted, ..options() };
    assert_eq!(kinds(led, &omitted), ["message"; 3]);
    assert_eq!(kinds(vec![user("go"), thought("rs_1"), user("more")], &options()), ["message"; 2]);
    let elsewhere = vec![user("go"), thought("rs_1"), assistant("of another model"), user("more")];
    assert_eq!(kinds(elsewhere, &options()), ["message"; 3]);
}

#[test]
fn items_without_a_neutral_form_come_back_in_their_place() {
    let search =
        json!({"id": "ws_1", "type": "web_search_call", "status": "completed", "action": {"query": "x"}});
    let item = PromptItem::Reasoning { text: String::new(), private: Some(private(search.clone())) };
    let own = said("x", json!({"type": "message", "role": "assistant", "id": "msg_1"}));
    let sent = input(vec![user("go"), thought("rs_1"), item, own, user("more")]);
    assert_eq!((&sent[1]["id"], &sent[2], &sent[3]["id"]), (&json!("rs_1"), &search, &json!("msg_1")));
}

#[test]
fn a_provider_reads_its_own_words_as_long_as_they_are_the_same() {
    let refusal = json!([{"type": "refusal", "refusal": "No."}]);
    let data = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": refusal});
    assert_eq!(input(vec![said("No.", data.clone())])[0], data);
    let changed = input(vec![said("Yes.", data)]);
    assert_eq!(changed[0]["content"], json!([{"type": "output_text", "text": "Yes."}]));
    let data =
        json!({"id": "fc_1", "type": "function_call", "status": "completed", "arguments": "{ \"a\" : 1 }"});
    let made = |arguments: &str| PromptItem::ToolCall {
        id: "call_1".to_owned(),
        name: "f".to_owned(),
        arguments: arguments.to_owned(),
        private: Some(private(data.clone())),
    };
    assert_eq!(input(vec![made("{\"a\":1}"), result("call_1")])[0]["arguments"], "{ \"a\" : 1 }");
    assert_eq!(input(vec![made("{\"a\":2}"), result("call_1")])[0]["arguments"], "{\"a\":2}");
}

#[test]
fn ids_of_other_providers_fit() {
    let long = "functions.read_file:0".repeat(5);
    let sent = input(vec![call(&long, "{}"), result(&long)]);
    assert_eq!(sent[0]["call_id"], sent[1]["call_id"]);
    assert!(sent[0]["call_id"].as_str().unwrap().len() <= 64);
}
