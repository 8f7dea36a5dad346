//! Features of Responses only: encrypted reasoning, items with ids, backends for subscriptions.

use buddy_model::{
    Auth, Endpoint, HttpModel, Ids, Model, ModelErrorKind, Options, Prompt, PromptItem, ReasoningForm,
    ReplyItem, Route,
};
use buddy_testkit::model::{ModelServer, RecordedRequest, Script, turn};
use serde_json::{Value, json};

use super::{outcome, prompt, settings};

fn route(server: &ModelServer) -> Route {
    let mut route = Route::responses(Endpoint::parse(&server.url()).unwrap(), Auth::None);
    route.settings = settings();
    route.ids = Ids::counting();
    "test".clone_into(&mut route.options.provider);
    route
}

fn model(server: &ModelServer) -> HttpModel {
    HttpModel::new("m", route(server)).unwrap()
}

/// A conversation whose last answer has reasoning, from a server that encrypts it with this secret.
async fn thoughtful(secret: &str) -> Prompt {
    let script = Script::from([turn().reasoning("Hm.").text("Yes.")]).with_secret(secret);
    let server = ModelServer::start(script).await;
    let mut prompt = prompt();
    for item in outcome(model(&server).call(prompt.clone())).await.end.unwrap().items {
        prompt.items.push(match item {
            ReplyItem::Text { text, private } => PromptItem::Assistant { text, private },
            ReplyItem::Reasoning { text, private } => PromptItem::Reasoning { text, private },
            ReplyItem::ToolCall { .. } => panic!("{item:?}"),
        });
    }
    prompt.items.push(PromptItem::user("sure?"));
    prompt
}

fn kinds(request: &RecordedRequest) -> Vec<&str> {
    request.body["input"].as_array().unwrap().iter().filter_map(|item| item["type"].as_str()).collect()
}

#[tokio::test]
async fn reasoning_goes_back_as_it_came() {
    let prompt = thoughtful("scripted").await;
    let server = ModelServer::start([turn().text("Sure.")]).await;
    assert_eq!(outcome(model(&server).call(prompt.clone())).await.text(), "Sure.");
    let requests = server.requests();
    assert_eq!(kinds(&requests[0]), ["message", "reasoning", "message", "message"]);
    let PromptItem::Reasoning { private: Some(private), .. } = &prompt.items[1] else { panic!() };
    assert_eq!(requests[0].body["input"][1], private.data);
    assert_eq!(requests[0].body["input"][2]["id"], "msg_1_1");
    assert_eq!(requests[0].body["store"], json!(false));
}

#[tokio::test]
async fn another_deployment_gets_one_retry_without_reasoning_it_cannot_read() {
    let mut prompt = thoughtful("another").await;
    let script = [turn().reasoning("Well.").text("Sure."), turn().text("Very.")];
    let server = ModelServer::start(script).await;
    let model = model(&server);
    let first = outcome(model.call(prompt.clone())).await;
    let message =
        "the server does not recognise what it sent earlier; asking again without its earlier reasoning";
    assert_eq!(first.restarts(), [(1, std::time::Duration::ZERO, message)]);
    for item in first.end.unwrap().items {
        if let ReplyItem::Text { text, private } = item {
            prompt.items.push(PromptItem::Assistant { text, private });
        } else if let ReplyItem::Reasoning { text, private } = item {
            prompt.items.push(PromptItem::Reasoning { text, private });
        }
    }
    prompt.items.push(PromptItem::user("really?"));
    let second = outcome(model.call(prompt)).await;
    assert_eq!((second.text().as_str(), second.restarts().len()), ("Very.", 0));
    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    assert_eq!(kinds(&requests[1]), ["message"; 3]);
    assert_eq!(kinds(&requests[2]), ["message", "message", "message", "reasoning", "message", "message"]);
}

#[tokio::test]
async fn items_that_are_not_found_lose_their_ids() {
    let prompt = thoughtful("scripted").await;
    let lost = turn().error(404, "not_found", "Item with id 'rs_1_0' not found. Items are not persisted.");
    let server = ModelServer::start([lost, turn().text("Sure.")]).await;
    let outcome = outcome(model(&server).call(prompt)).await;
    assert_eq!((outcome.text().as_str(), outcome.restarts().len()), ("Sure.", 1));
    let requests = server.requests();
    assert_eq!(kinds(&requests[1]), kinds(&requests[0]));
    let ids = requests[1].body["input"].as_array().unwrap().iter().filter(|item| item.get("id").is_some());
    assert_eq!(ids.count(), 0);
}

#[tokio::test]
async fn a_server_that_seals_nothing_gets_reasoning_in_the_open() {
    let server = ModelServer::start([
        turn().error(400, "invalid_request_error", "Encrypted content is not supported with this model."),
        turn().reasoning("Hm.").text("Yes."),
    ])
    .await;
    let first = outcome(model(&server).call(prompt())).await;
    assert_eq!(first.restarts().len(), 1);
    assert_eq!(server.requests()[1].body.get("include"), None);
    let mut prompt = prompt();
    let ReplyItem::Reasoning { text, private } = first.end.unwrap().items[0].clone() else { panic!() };
    let ours = Some(private.clone().unwrap()).map(|mut own| {
        own.data = json!({"type": "message", "role": "assistant"});
        own
    });
    prompt.items.push(PromptItem::Reasoning { text, private });
    prompt.items.push(PromptItem::Assistant { text: "Yes.".to_owned(), private: ours });
    prompt.items.push(PromptItem::user("sure?"));
    for (form, expected) in [(ReasoningForm::Plain, 1), (ReasoningForm::Omitted, 0)] {
        let server = ModelServer::start([turn().text("Sure.")]).await;
        let mut route = route(&server);
        route.options.reasoning_form = form;
        assert_eq!(outcome(HttpModel::new("m", route).unwrap().call(prompt.clone())).await.text(), "Sure.");
        let body = &server.requests()[0].body;
        let thoughts = body["input"].as_array().unwrap().iter().filter(|item| item["type"] == "reasoning");
        assert_eq!(thoughts.count(), expected, "{form:?}");
    }
}

#[tokio::test]
async fn a_subscription_is_asked_as_it_wants() {
    let server = ModelServer::start([turn().text("Hi.")]).await;
    let mut route = route(&server);
    route.options = Options { login_backed: true, stream: false, ..route.options };
    route.options.headers.insert("chatgpt-account-id".to_owned(), "account".to_owned());
    let prompt = Prompt {
        system: String::new(),
        max_output_tokens: Some(5),
        temperature: Some(0.5),
        cache_key: Some("session".to_owned()),
        ..prompt()
    };
    assert_eq!(outcome(HttpModel::new("m", route).unwrap().call(prompt)).await.text(), "Hi.");
    let request = server.requests().remove(0);
    assert_eq!(request.headers.get("chatgpt-account-id").map(String::as_str), Some("account"));
    let fields = |name: &str| request.body.get(name).cloned().unwrap_or_default();
    assert_eq!(["stream", "store", "instructions"].map(fields), [json!(true), json!(false), json!("")]);
    assert_eq!(["max_output_tokens", "temperature"].map(fields), [Value::Null, Value::Null]);
    assert_eq!(fields("prompt_cache_key"), "session");
}

#[tokio::test]
async fn a_header_that_cannot_be_sent_is_named() {
    let server = ModelServer::start([]).await;
    let mut route = route(&server);
    route.options.headers.insert("x-name".to_owned(), "a\nb".to_owned());
    let error = HttpModel::new("m", route).err().unwrap();
    assert_eq!(error.kind, ModelErrorKind::InvalidRequest);
    insta::assert_snapshot!(error, @"the header `x-name` of this provider cannot be sent");
}

#[tokio::test]
async fn a_refused_summary_is_left_out_and_the_effort_stays() {
    let body = json!({"error": {"message": "must be verified", "param": "reasoning.summary"}});
    let server = ModelServer::start([turn().status(400).body(body.to_string()), turn().text("Hi.")]).await;
    let mut route = route(&server);
    route.options.reasoning_effort = Some("low".to_owned());
    route.options.reasoning_summary = Some("auto".to_owned());
    assert_eq!(outcome(HttpModel::new("m", route).unwrap().call(prompt())).await.text(), "Hi.");
    let efforts: Vec<Value> =
        server.requests().iter().map(|request| request.body["reasoning"].clone()).collect();
    assert_eq!(efforts, [json!({"effort": "low", "summary": "auto"}), json!({"effort": "low"})]);
}
