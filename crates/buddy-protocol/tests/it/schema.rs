//! The committed event schema matches the code, and it accepts exactly the events that the code accepts.

use buddy_protocol::{Event, Fact, event_schema};
use serde_json::{Value, json};

const COMMITTED: &str = include_str!("../../../../api/events.schema.json");

const ITEM: &str = "itm_00000000000000000000000001";
const TURN: &str = "trn_00000000000000000000000001";
const ASK: &str = "ask_00000000000000000000000001";

#[expect(clippy::needless_pass_by_value, reason = "a test writes `json!(…)` in place")]
fn event(kind: &str, data: Value) -> Value {
    json!({
        "session": "ses_00000000000000000000000001", "seq": 1, "time": 1_700_000_000_000_u64, "type": kind, "data": data,
    })
}

fn by(who: &Value, mut event: Value) -> Value {
    event["by"] = who.clone();
    event
}

fn call() -> Value {
    json!({
        "id": ITEM, "turn": TURN, "step": 1, "status": "completed",
        "content": {
            "type": "tool_call", "call_id": "call_1", "name": "run_shell", "kind": "execute", "title": "ls",
            "input": {"command": "ls"}, "target": "local",
            "output": {"harness_timestamp": {"source": "harness", "unix_millis": 1}, "ok": true, "result": {"exit_code": 0}},
        },
    })
}

/// One event of each kind.
fn samples() -> Vec<Value> {
    let ann = json!({"kind": "person", "id": "usr_00000000000000000000000001", "name": "ann"});
    let approval = json!({
        "type": "approval", "actor": "buddy", "place": "ann@atlas", "cwd": "/w", "action": "ls", "risk": "medium",
        "reasons": ["it runs a command"],
    });
    let targets = json!([
        {"name": "ssh:atlas", "host": {"type": "ssh", "destination": "atlas"}, "cwd": "/srv", "place": "ann@atlas"},
        {"name": "local", "host": {"type": "local"}, "cwd": "/w"},
    ]);
    let failure = json!({"kind": "auth", "message": "the key was not accepted", "hint": "set another"});
    vec![
        event(
            "session.started",
            json!({"owner": ann, "agent": "buddy", "cwd": "/w", "model": "small", "targets": targets, "forked_from": {"session": "ses_00000000000000000000000001", "seq": 3}}),
        ),
        event("session.changed", json!({"title": "a title", "targets": targets})),
        event("session.ended", json!({})),
        by(&ann, event("turn.started", json!({"turn": TURN}))),
        event("turn.ended", json!({"turn": TURN, "outcome": "failed", "failure": failure})),
        event("item.started", json!({"item": call()})),
        event("item.delta", json!({"item": ITEM, "stream": "stdout", "text": "a"})),
        event("item.changed", json!({"item": call()})),
        event(
            "item.ended",
            json!({"item": {"id": ITEM, "status": "completed", "content": {"type": "agent_message", "text": "hello"}}}),
        ),
        event(
            "asked",
            json!({"ask": {"id": ASK, "turn": TURN, "item": ITEM, "question": approval, "expires": 5}}),
        ),
        event("answered", json!({"ask": ASK, "answer": {"type": "deny", "reason": "no"}})),
        event("usage", json!({"turn": TURN, "model": "small", "usage": {"input": 10, "output": 2}})),
        event("notice", json!({"level": "warning", "code": "model_retry", "text": "again"})),
        event("native", json!({"source": "other", "data": {"anything": [1]}})),
    ]
}

/// Whether the schema and the code accept the event. They must agree.
#[expect(clippy::unwrap_used, reason = "the committed schema is one")]
fn accepts(event: &Value) -> bool {
    let schema: Value = serde_json::from_str(COMMITTED).unwrap();
    let mut schemas = boon::Schemas::new();
    let mut compiler = boon::Compiler::new();
    compiler.add_resource("urn:events", schema).unwrap();
    let root = compiler.compile("urn:events", &mut schemas).unwrap();
    let by_schema = schemas.validate(event, root).is_ok();
    let by_code = Event::from_json(&event.to_string()).is_ok();
    assert_eq!(by_schema, by_code, "schema and code disagree about {event}");
    by_schema
}

#[test]
fn the_committed_schema_is_up_to_date() {
    let made = serde_json::to_string_pretty(&event_schema()).unwrap() + "\n";
    assert!(made == COMMITTED, "api/events.schema.json is out of date: run `cargo xtask codegen`");
}

#[test]
fn every_kind_has_a_sample_that_passes() {
    let samples = samples();
    let kinds: Vec<&str> = samples.iter().filter_map(|event| event["type"].as_str()).collect();
    assert_eq!(kinds, Fact::KINDS);
    for sample in &samples {
        assert!(accepts(sample), "{sample}");
    }
}

#[test]
fn a_kind_that_is_still_to_come_passes() {
    assert!(accepts(&event("item.moved", json!({"anything": true}))));
}

#[test]
fn content_of_a_type_that_is_still_to_come_passes() {
    let item = |content: Value| {
        event("item.ended", json!({"item": {"id": ITEM, "status": "completed", "content": content}}))
    };
    assert!(accepts(&item(json!({"type": "song", "verse": 1}))));
    assert!(!accepts(&item(json!({"type": "plan", "verse": 1}))));
    assert!(!accepts(&item(json!({"verse": 1}))));
}

#[test]
fn an_author_has_a_kind_and_a_name() {
    let turn = || event("turn.started", json!({"turn": TURN}));
    let agent = json!({"kind": "agent", "id": "agt_00000000000000000000000001", "name": "a", "for": "usr_00000000000000000000000001"});
    assert!(accepts(&by(&agent, turn())));
    assert!(accepts(&by(&json!({"kind": "system", "name": "buddy"}), turn())));
    assert!(!accepts(&by(&json!({"name": "buddy"}), turn())));
    assert!(!accepts(&by(&json!("ann"), turn())));
}

#[test]
fn a_known_kind_with_a_bad_payload_does_not_pass() {
    assert!(!accepts(&event("turn.ended", json!({"turn": TURN, "outcome": "vanished"}))));
    assert!(!accepts(&event("item.delta", json!({"item": ITEM, "stream": "text"}))));
    assert!(!accepts(&event("notice", json!("text"))));
    let may_be_empty = ["session.changed", "session.ended"];
    for sample in samples().iter().filter(|sample| !may_be_empty.contains(&sample["type"].as_str().unwrap()))
    {
        assert!(!accepts(&event(sample["type"].as_str().unwrap(), json!({}))), "{sample}");
    }
}

#[test]
fn an_event_without_its_parts_does_not_pass() {
    for part in ["session", "time", "type", "data"] {
        let mut event = samples().remove(0);
        event.as_object_mut().unwrap().remove(part);
        assert!(!accepts(&event), "without {part}");
    }
}
