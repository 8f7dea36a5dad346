//! A session whose source has more tools later: the model is offered them with its next turn, and what it was told before stays.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use buddy_agent::ModelSource;
use buddy_calls::{AddedTool, CallPlace, ToolSource};
use buddy_model::{Delta, Model, ModelFacts, Prompt, Reply, ReplyItem, ReplyStream, StopReason};
use buddy_policy::Intent;
use buddy_protocol::{
    Command, Event, Fact, Failure, Principal, SessionTerms, Sessions, ToolDefinition, ToolFailure,
    TurnOutcome,
};
use futures::stream;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::client_calls::{Office, next};

/// A model that keeps its prompts and answers with one word.
#[derive(Clone, Default)]
struct Listener(Arc<Mutex<Vec<Prompt>>>);

impl Model for Listener {
    fn name(&self) -> &'static str {
        "listener"
    }

    fn call(&self, prompt: Prompt) -> ReplyStream {
        self.0.lock().unwrap().push(prompt);
        let items = vec![ReplyItem::Text { text: "Done.".to_owned(), private: None }];
        let reply = Reply { items, stop: StopReason::End, usage: None, model: None };
        let deltas = [Ok(Delta::Text("Done.".to_owned())), Ok(Delta::Finished(reply))];
        Box::pin(stream::iter(deltas))
    }
}

#[async_trait]
impl ModelSource for Listener {
    async fn ready(&self, _: Option<&str>) {}

    fn model(&self, _: Option<&str>) -> Result<Arc<dyn Model>, Failure> {
        Ok(Arc::new(self.clone()))
    }

    fn facts(&self, _: Option<&str>) -> ModelFacts {
        ModelFacts::default()
    }
}

struct Named(String);

#[async_trait]
impl AddedTool for Named {
    fn definition(&self) -> ToolDefinition {
        let parameters = json!({"type": "object", "properties": {}});
        ToolDefinition { name: self.0.clone(), description: "Looks at the sea.".to_owned(), parameters }
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

#[derive(Default)]
struct Harbour(Mutex<Vec<&'static str>>);

impl ToolSource for Harbour {
    fn tools(&self) -> Vec<Arc<dyn AddedTool>> {
        let names = self.0.lock().unwrap().clone();
        names.into_iter().map(|name| -> Arc<dyn AddedTool> { Arc::new(Named(name.to_owned())) }).collect()
    }
}

fn ended(event: &Event) -> Option<TurnOutcome> {
    match &event.fact {
        Fact::TurnEnded(ended) => Some(ended.outcome),
        _ => None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_that_come_between_turns_are_offered_and_the_prompt_goes_on() {
    let (listener, harbour) = (Listener::default(), Arc::new(Harbour::default()));
    let office = Office::with(Arc::new(listener.clone()), harbour.clone());
    let ann = Principal::person("ann");
    harbour.0.lock().unwrap().push("sea__waves");
    let (session, mut events) = office.begin(&ann, SessionTerms::default()).await;
    for (text, tool) in [("one", None), ("two", Some("pier__boats")), ("three", None)] {
        // Its name sorts before that of the tool which is there.
        harbour.0.lock().unwrap().extend(tool);
        office.hub.send(&ann, &session, Command::prompt(text)).await.unwrap();
        assert_eq!(next(&mut events, ended).await, TurnOutcome::Completed);
    }
    let log = office.hub.events(&ann, &session, 0, 1_000).await.unwrap();
    let new_tools: Vec<Vec<String>> = log
        .iter()
        .filter_map(|event| match &event.fact {
            Fact::SessionChanged(changed) => changed.new_tools.clone(),
            _ => None,
        })
        .collect();
    assert_eq!(new_tools, [["pier__boats"]], "it is a fact, once");
    office.hub.close().await;
    let prompts = listener.0.lock().unwrap().clone();
    let [one, two, three] = prompts.as_slice() else { panic!("{} prompts", prompts.len()) };
    assert_eq!(one.tools.last().unwrap().name, "sea__waves");
    assert_eq!(two.tools[..one.tools.len()], one.tools[..]);
    let more: Vec<&str> = two.tools[one.tools.len()..].iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(more, ["pier__boats"]);
    assert_eq!(three.tools, two.tools);
    for (before, after) in [(one, two), (two, three)] {
        assert_eq!(after.system, before.system);
        assert_eq!(after.items[..before.items.len()], before.items[..]);
    }
}
