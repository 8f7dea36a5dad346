//! Tool sets of sessions, as a model sees them from turn to turn: the prompt only ever grows at its end, and so does the set.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use buddy_calls::{AddedTool, CallPlace, ToolSource};
use buddy_policy::Intent;
use buddy_protocol::{
    ApprovalPolicy, Change, Command, Content, Event, Fact, ItemStatus, SessionTerms, Sessions,
    ToolDefinition, ToolFailure,
};
use buddy_testkit::model::{ModelServer, turn};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::office::{Office, ScriptedModels, next, people};

struct Echo(String);

#[async_trait]
impl AddedTool for Echo {
    fn definition(&self) -> ToolDefinition {
        let text = json!({"type": "string", "description": "The text to say."});
        let parameters = json!({"type": "object", "properties": {"text": text}, "required": ["text"]});
        ToolDefinition { name: self.0.clone(), description: "Says a text again.".to_owned(), parameters }
    }

    fn title(&self, _: &Value) -> String {
        self.0.clone()
    }

    fn intent(&self, _: &Value, _: &CallPlace) -> Intent {
        Intent::nothing()
    }

    async fn run(&self, input: Value, _: &CancellationToken) -> Result<Value, ToolFailure> {
        Ok(input)
    }
}

/// The tools of a server, one of which has a name that no session takes.
struct Echoes(Mutex<Vec<String>>);

impl ToolSource for Echoes {
    fn tools(&self) -> Vec<Arc<dyn AddedTool>> {
        let names = self.0.lock().unwrap().clone();
        let all = names.into_iter().chain(["nowhere".to_owned()]);
        all.map(|name| -> Arc<dyn AddedTool> { Arc::new(Echo(name)) }).collect()
    }
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("server__echo_{number:03}")).collect()
}

fn offered(body: &Value) -> Vec<&str> {
    body["tools"].as_array().unwrap().iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect()
}

/// The elements of an array, as they are on the wire.
fn elements(body: &Value, field: &str) -> Vec<String> {
    body[field].as_array().unwrap().iter().map(Value::to_string).collect()
}

fn turn_ended(event: &Event) -> Option<()> {
    matches!(event.fact, Fact::TurnEnded(_)).then_some(())
}

/// Two turns of a session with so many tools, between which the server has so many more.
async fn check(count: usize, more: usize) {
    let absent = json!({"text": "x"});
    let server = ModelServer::start([
        turn().text("One."),
        turn().call("server__echo_000", json!({"text": "hello"})).call("server__absent", absent),
        turn().text("Two."),
        turn().text("Three."),
    ])
    .await;
    let source = Arc::new(Echoes(Mutex::new(names(count))));
    let office = Office::with(Arc::new(ScriptedModels::new(&server, 0)), source.clone());
    let ann = people().0;
    // Without the built-in tools, so that the set has this size.
    let terms = SessionTerms { tools: Some(names(count + more)), ..SessionTerms::default() };
    let (session, mut events) = office.begin(&ann, terms).await;
    // Nobody answers here.
    let approvals = Change { approvals: Some(ApprovalPolicy::All), ..Change::default() };
    office.hub.send(&ann, &session, Command::Change(approvals)).await.unwrap();
    for text in ["one", "two", "three"] {
        office.hub.send(&ann, &session, Command::prompt(text)).await.unwrap();
        tokio::time::timeout(Duration::from_secs(30), next(&mut events, turn_ended)).await.unwrap();
        *source.0.lock().unwrap() = names(count + more);
    }
    let bodies: Vec<Value> = server.requests().into_iter().map(|request| request.body).collect();
    assert_eq!(bodies.len(), 4);
    assert_eq!(offered(&bodies[0]), names(count));
    for (before, after) in bodies.iter().zip(&bodies[1..]) {
        for field in ["messages", "tools"] {
            let (before, after) = (elements(before, field), elements(after, field));
            assert_eq!(after[..before.len()], before, "what the model was told stays");
        }
    }
    for body in &bodies[1..] {
        assert_eq!(offered(body), names(count + more), "the set grows once, at its end");
    }
    let log = office.hub.events(&ann, &session, 0, 1_000).await.unwrap();
    let grown: Vec<Vec<String>> = log
        .iter()
        .filter_map(|event| match &event.fact {
            Fact::SessionChanged(changed) => changed.new_tools.clone(),
            _ => None,
        })
        .collect();
    let expected: Vec<Vec<String>> =
        if more == 0 { Vec::new() } else { vec![names(count + more).split_off(count)] };
    assert_eq!(grown, expected);
    let refused = log
        .iter()
        .filter(|event| matches!(&event.fact, Fact::Notice(notice) if notice.code == "tool_refused"))
        .count();
    assert_eq!(refused, 1, "a refusal is told once");
    let mut calls: Vec<(ItemStatus, Value)> = log
        .iter()
        .filter_map(|event| match &event.fact {
            Fact::ItemEnded(ended) => match &ended.item.content {
                Content::ToolCall(call) => {
                    Some((ended.item.status, serde_json::to_value(&call.output).unwrap()))
                }
                _ => None,
            },
            _ => None,
        })
        .collect();
    // Both run at once.
    calls.sort_by_key(|(status, _)| *status != ItemStatus::Completed);
    let status: Vec<ItemStatus> = calls.iter().map(|(status, _)| *status).collect();
    assert_eq!(status, [ItemStatus::Completed, ItemStatus::Failed], "{calls:#?}");
    assert_eq!(calls[1].1["error"]["code"], "unknown_tool", "{calls:#?}");
    office.hub.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn five_tools_are_the_same_in_each_turn() {
    check(5, 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tools_of_many_servers_are_the_same_in_each_turn() {
    check(300, 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_set_that_grows_between_two_turns_keeps_what_was_told() {
    check(5, 1).await;
    check(300, 20).await;
}
