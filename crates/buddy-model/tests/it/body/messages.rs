//! Messages bodies built from prompts.

use buddy_model::{Messages, Options, Private, Prompt, PromptCache, PromptItem, Protocol, ToolDefinition};
use buddy_testkit::model::check_request;
use serde_json::{Value, json};

use super::{assistant, call, result, user};

fn private(model: &str, data: Value) -> Private {
    let (provider, wire) = ("test".to_owned(), "messages".to_owned());
    Private { provider, model: model.to_owned(), wire, data }
}

fn thinking(text: &str) -> Value {
    // The signature that the scripted server gives to this text of model `m`.
    json!({"type": "thinking", "thinking": text, "signature": buddy_testkit::model::signature("m", text)})
}

fn thought(model: &str, text: &str) -> PromptItem {
    let private = Some(private(model, json!({ "block": thinking(text) })));
    PromptItem::Reasoning { text: text.to_owned(), private }
}

fn options() -> Options {
    Options { provider: "test".to_owned(), ..Options::default() }
}

fn budget() -> Options {
    Options { thinking_budget: Some(2048), ..options() }
}

fn prompt(items: Vec<PromptItem>) -> Prompt {
    let parameters = json!({"type": "object", "properties": {"z": {}, "a": {}}});
    let tool = ToolDefinition { name: "now".to_owned(), description: "The time.".to_owned(), parameters };
    Prompt { system: "Be brief.".to_owned(), tools: vec![tool], items, ..Prompt::default() }
}

fn body(items: Vec<PromptItem>, options: &Options) -> Value {
    let body = Messages.body("m", &prompt(items), options);
    assert_eq!(check_request("/v1/messages", &body), Ok(()), "{body}");
    body
}

fn messages(items: Vec<PromptItem>) -> Value {
    body(items, &Options { prompt_cache: PromptCache::Off, ..options() })["messages"].clone()
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

#[test]
fn a_whole_body_with_stable_bytes() {
    let mut prompt = prompt(vec![user("hi")]);
    prompt.max_output_tokens = Some(100);
    prompt.temperature = Some(0.5);
    let options = Options { parallel_tool_calls: Some(false), ..options() };
    insta::assert_snapshot!(Messages.body("m", &prompt, &options), @r#"{"model":"m","max_tokens":100,"stream":true,"temperature":0.5,"tools":[{"name":"now","description":"The time.","input_schema":{"type":"object","properties":{"z":{},"a":{}}}}],"tool_choice":{"type":"auto","disable_parallel_tool_use":true},"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}]}"#);
}

#[test]
fn a_bound_is_always_sent() {
    assert_eq!(body(vec![user("hi")], &options())["max_tokens"], 8192);
    let options = Options { default_max_output_tokens: 64_000, ..options() };
    assert_eq!(body(vec![user("hi")], &options)["max_tokens"], 64_000);
}

#[test]
fn results_come_first_and_together() {
    let items = vec![
        user("go"),
        assistant("Reading."),
        call("a", r#"{"path": "a"}"#),
        call("b", ""),
        result("a"),
        result("b"),
        user("and be quick"),
        user("please"),
        assistant("Done."),
        user("thanks"),
    ];
    let use_of =
        |id: &str, input: Value| json!({"type": "tool_use", "id": id, "name": "read_file", "input": input});
    let result_of = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "text"});
    let expected = json!([
        {"role": "user", "content": [text("go")]},
        {"role": "assistant", "content": [text("Reading."), use_of("a", json!({"path": "a"})), use_of("b", json!({}))]},
        {"role": "user", "content": [result_of("a"), result_of("b"), text("and be quick"), text("please")]},
        {"role": "assistant", "content": [text("Done.")]},
        {"role": "user", "content": [text("thanks")]},
    ]);
    assert_eq!(messages(items), expected);
}

#[test]
fn empty_text_and_fancy_ids_are_not_sent() {
    let empty = messages(vec![user("go"), assistant(" "), user("\n"), user("well?")]);
    assert_eq!(empty, json!([{"role": "user", "content": [text("go"), text("well?")]}]));
    let fancy = messages(vec![user("go"), call("functions.read:0", "{}"), result("functions.read:0")]);
    assert_eq!(fancy[1]["content"][0]["id"], fancy[2]["content"][0]["tool_use_id"]);
    let cut_off = messages(vec![assistant("Hello."), user("hi")]);
    assert_eq!((&cut_off[0]["role"], &cut_off[1]["role"]), (&json!("user"), &json!("assistant")));
}

#[test]
fn thoughts_go_back_exactly_and_in_their_places() {
    let redacted = private("m", json!({"block": {"type": "hologram", "data": "x/+="}}));
    let items = vec![
        user("go"),
        thought("m", "One."),
        assistant("First."),
        PromptItem::Reasoning { text: String::new(), private: Some(redacted) },
        thought("m", "Two."),
        call("a", "{}"),
        result("a"),
    ];
    let sent = messages(items);
    let kinds: Vec<&str> =
        sent[1]["content"].as_array().unwrap().iter().map(|block| block["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["thinking", "text", "hologram", "thinking", "tool_use"]);
    assert_eq!(sent[1]["content"][0].to_string(), thinking("One.").to_string());
}

#[test]
fn nothing_private_goes_to_another_model() {
    let cited = Some(private("other", json!({"extra": {"citations": [{"url": "x"}]}})));
    let items = vec![
        user("go"),
        thought("other", "One."),
        PromptItem::Assistant { text: "First.".to_owned(), private: cited },
        user("more"),
    ];
    assert_eq!(messages(items)[1]["content"], json!([text("First.")]));
}

#[test]
fn fields_beside_the_usual_ones_go_back() {
    let cited = Some(private("m", json!({"extra": {"citations": [{"url": "x"}]}})));
    let items =
        vec![user("go"), PromptItem::Assistant { text: "First.".to_owned(), private: cited }, user("more")];
    assert_eq!(messages(items)[1]["content"][0]["citations"], json!([{"url": "x"}]));
}

#[test]
fn thinking_is_asked_for_in_either_form() {
    let sent = body(vec![user("hi")], &budget());
    assert_eq!(sent["thinking"], json!({"type": "enabled", "budget_tokens": 2048}));
    let effort = Options { reasoning_effort: Some("high".to_owned()), ..options() };
    let sent = body(vec![user("hi")], &effort);
    assert_eq!(
        (&sent["thinking"], &sent["output_config"]),
        (&json!({"type": "adaptive"}), &json!({"effort": "high"}))
    );
    let mut warm = prompt(vec![user("hi")]);
    warm.temperature = Some(0.2);
    assert_eq!(Messages.body("m", &warm, &budget()).get("temperature"), None);
}

#[test]
fn a_tool_loop_without_its_thoughts_goes_on_without_thinking() {
    let thinks = |items: Vec<PromptItem>, options: &Options| body(items, options).get("thinking").is_some();
    let loop_of = |first: PromptItem| vec![user("go"), first, call("a", "{}"), result("a")];
    let effort = Options { reasoning_effort: Some("high".to_owned()), ..options() };
    assert!(thinks(loop_of(thought("m", "hm")), &budget()));
    assert!(!thinks(loop_of(thought("other", "hm")), &budget()));
    assert!(!thinks(loop_of(thought("other", "hm")), &effort));
    assert!(!thinks(loop_of(assistant("Reading.")), &budget()), "a budget wants a thought first");
    assert!(thinks(loop_of(assistant("Reading.")), &effort), "an effort does not");
    let longer =
        |first: PromptItem| [loop_of(first), vec![thought("m", "ha"), call("b", "{}"), result("b")]].concat();
    assert!(thinks(longer(thought("m", "hm")), &budget()));
    assert!(!thinks(longer(thought("other", "hm")), &budget()), "the loop began elsewhere");
    let closed = |first: PromptItem| [loop_of(first), vec![assistant("Done."), user("next")]].concat();
    assert!(thinks(closed(thought("other", "hm")), &budget()), "the loop is over");
}

fn conversation() -> Vec<PromptItem> {
    vec![
        user("go"),
        thought("m", "hm"),
        assistant("x"),
        call("a", "{}"),
        result("a"),
        call("b", "{}"),
        result("b"),
        assistant("y"),
        user("z"),
        assistant("w"),
        user("more"),
    ]
}

/// Cuts after which it is the model's turn.
const CUTS: [usize; 5] = [1, 5, 7, 9, 11];

#[test]
fn a_longer_conversation_starts_with_the_shorter_one_but_for_the_breakpoints() {
    let bytes = |cut: usize| {
        let mut body = body(conversation()[..cut].to_vec(), &budget());
        Messages.amend(&mut body, &["cache_control".to_owned()]);
        let body = body.to_string();
        assert!(!body.contains("cache_control"));
        body.strip_suffix("]}").unwrap().to_owned()
    };
    for pair in CUTS.windows(2) {
        let (shorter, longer) = (bytes(pair[0]), bytes(pair[1]));
        assert!(longer.starts_with(&shorter), "{shorter}\n{longer}");
    }
}

#[test]
fn breakpoints_stand_behind_the_prefix_and_move_along() {
    let marked = |cut: usize| {
        let body = body(conversation()[..cut].to_vec(), &options());
        assert_eq!(body["system"][0]["cache_control"], json!({"type": "ephemeral"}));
        let messages = body["messages"].as_array().unwrap().clone();
        let is_marked = |message: &Value| {
            let blocks = message["content"].as_array().unwrap();
            let marked = blocks.iter().filter(|block| block.get("cache_control").is_some()).count();
            assert!(marked == 0 || blocks.last().unwrap().get("cache_control").is_some());
            marked > 0
        };
        messages
            .iter()
            .enumerate()
            .filter(|(_, message)| is_marked(message))
            .map(|(place, _)| place)
            .collect()
    };
    let places: Vec<Vec<usize>> = CUTS.into_iter().map(marked).collect();
    assert_eq!(places, [vec![0], vec![0, 2], vec![2, 4], vec![4, 6], vec![6, 8]]);
    for pair in places.windows(2) {
        assert!(pair[1].contains(pair[0].last().unwrap()), "the newest of before is kept");
    }
}

#[test]
fn breakpoints_without_a_system_and_for_long() {
    let mut prompt = prompt(vec![user("hi")]);
    prompt.system = String::new();
    let body = Messages.body("m", &prompt, &Options { prompt_cache: PromptCache::Long, ..options() });
    assert_eq!(body["tools"][0]["cache_control"], json!({"type": "ephemeral", "ttl": "1h"}));
    assert_eq!(check_request("/v1/messages", &body), Ok(()));
}
