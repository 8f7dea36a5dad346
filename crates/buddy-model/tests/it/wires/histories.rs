//! Conversations over several calls: resent items stay the same, and every wire continues a conversation that
//! another began.

use buddy_model::{HttpModel, Ids, Model};
use buddy_testkit::model::{ModelServer, Turn, turn};
use serde_json::{Value, json};

use super::{WIRES, Wire, converse, record, user};
use crate::http::{outcome, prompt};

/// A turn with every kind of content.
fn rich(text: &str) -> Turn {
    turn()
        .reasoning(format!("{text}?"))
        .text(text)
        .call("read_file", json!({"path": text}))
        .call("read_file", json!({"path": "b"}))
}

#[tokio::test]
async fn a_longer_conversation_starts_with_the_bytes_of_the_shorter_one() {
    for wire in WIRES {
        let server = ModelServer::start([rich("a"), rich("c"), turn().text("Done."), rich("d")]).await;
        let (model, mut prompt) = (wire.model(&server), prompt());
        prompt.cache_key = Some("session".to_owned());
        for _ in 0..3 {
            converse(&model, &mut prompt).await;
        }
        prompt.items.push(user("more"));
        converse(&model, &mut prompt).await;
        let bodies: Vec<Value> = server.requests().into_iter().map(|request| request.body).collect();
        for pair in bodies.windows(2) {
            let (shorter, longer) = (wire.history_of(&pair[0]), wire.history_of(&pair[1]));
            assert!(longer.starts_with(shorter.trim_end_matches(']')), "{wire}: {shorter}\n{longer}");
            assert!(longer.len() > shorter.len(), "{wire}");
            let rest = |body: &Value| {
                let mut body = body.clone();
                body[wire.history].take();
                body.to_string()
            };
            assert_eq!(rest(&pair[0]), rest(&pair[1]), "{wire}");
        }
    }
}

/// One turn with calls and one without, over a wire with its own server.
async fn stretch(wire: &Wire, name: &str, prompt: &mut buddy_model::Prompt) {
    let server = ModelServer::start([rich("a"), turn().reasoning("Hm.").text("So far.")]).await;
    let model = HttpModel::new(name, wire.route(&server)).unwrap();
    converse(&model, prompt).await;
    converse(&model, prompt).await;
    assert_eq!(server.requests().len(), 2, "{wire} had to be asked again");
    prompt.items.push(user("go on"));
}

#[tokio::test]
async fn a_session_can_change_wire_and_model() {
    for first in WIRES {
        for second in WIRES {
            let mut prompt = prompt();
            stretch(first, "one", &mut prompt).await;
            stretch(second, "two", &mut prompt).await;
            stretch(first, "one", &mut prompt).await;
        }
    }
}

#[tokio::test]
async fn a_session_can_change_wire_between_a_call_and_its_result() {
    for first in WIRES {
        for second in WIRES {
            let mut prompt = prompt();
            let server = ModelServer::start([rich("a")]).await;
            converse(&first.model(&server), &mut prompt).await;
            let server = ModelServer::start([turn().text("Taken over.")]).await;
            let model = HttpModel::new("another", second.route(&server)).unwrap();
            let outcome = outcome(model.call(prompt)).await;
            assert_eq!(outcome.restarts(), [], "{first} to {second}");
            assert_eq!(outcome.text(), "Taken over.", "{first} to {second}");
        }
    }
}

#[tokio::test]
async fn a_tool_loop_can_change_wire_at_every_step() {
    for first in WIRES {
        for second in WIRES {
            let mut prompt = prompt();
            for (place, wire) in [first, second, first, second].into_iter().enumerate() {
                let server = ModelServer::start([rich(&format!("step {place}"))]).await;
                let mut route = wire.route(&server);
                route.ids = Ids::random();
                let outcome = outcome(HttpModel::new("m", route).unwrap().call(prompt.clone())).await;
                assert_eq!(outcome.restarts(), [], "{first} to {second}, step {place}");
                record(&outcome.end.unwrap(), &mut prompt);
            }
        }
    }
}
