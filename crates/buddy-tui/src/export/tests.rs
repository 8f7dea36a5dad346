use buddy_protocol::{
    Envelope, Event, Fact, FileChange, ItemEnded, Principal, SessionId, SessionStarted, ToolFailure,
    ToolKind, TurnStarted, UnixMillis, UsageReported,
};
use serde_json::json;

use super::*;

fn session() -> SessionId {
    "ses_00000000000000000000000001".parse().unwrap()
}

fn ended(number: u32, status: ItemStatus, content: Content) -> Fact {
    let id = format!("itm_{number:026}").parse().unwrap();
    Fact::ItemEnded(ItemEnded {
        item: Item { id, turn: None, step: None, place: None, parent: None, status, content, private: None },
    })
}

fn call(name: &str, title: &str, input: Value, outcome: Result<Value, ToolFailure>) -> Content {
    Content::ToolCall(Box::new(ToolCall {
        call_id: "call".to_owned(),
        name: name.to_owned(),
        kind: ToolKind::Execute,
        title: title.to_owned(),
        input: input.into(),
        output: Some(Envelope::new(UnixMillis(0), outcome)),
        images: Vec::new(),
        target: None,
        had_secrets: false,
        caller: None,
    }))
}

fn exported(facts: Vec<Fact>) -> String {
    let started = SessionStarted {
        owner: Principal::person("ann"),
        agent: "buddy".to_owned(),
        cwd: "/w".to_owned(),
        model: Some("small".to_owned()),
        parent: None,
        targets: vec![],
        forked_from: None,
        began_with: None,
        terms: buddy_protocol::SessionTerms::default(),
    };
    let mut summary = SessionSummary::begin(&session(), &started, UnixMillis(0));
    let mut transcript = Transcript::default();
    let all = std::iter::once(Fact::SessionStarted(started)).chain(facts);
    for (fact, seq) in all.zip(1..) {
        let event = Event { session: session(), seq: Some(seq), time: UnixMillis(0), by: None, fact };
        summary.apply(&event);
        transcript.apply(&event).unwrap();
    }
    markdown(&summary, &transcript)
}

#[test]
fn a_conversation_reads_as_markdown() {
    let turn: buddy_protocol::TurnId = "trn_00000000000000000000000001".parse().unwrap();
    let usage = buddy_protocol::Usage { input: 10, output: 2, ..buddy_protocol::Usage::default() };
    let text = exported(vec![
        Fact::TurnStarted(TurnStarted { turn: turn.clone() }),
        ended(1, ItemStatus::Completed, Content::said("list it\nplease")),
        ended(2, ItemStatus::Completed, Content::AgentMessage { text: "I **look**.".to_owned() }),
        ended(
            3,
            ItemStatus::Completed,
            call(
                "run_shell",
                "ls <a>",
                json!({"command": "ls <a>"}),
                Ok(json!({"stdout": "a\n", "exit_code": 0})),
            ),
        ),
        ended(
            4,
            ItemStatus::Completed,
            call("edit_file", "a.txt", json!({"path": "a.txt"}), Ok(json!({"diff": "-a\n+b\n"}))),
        ),
        Fact::UsageReported(UsageReported { turn, model: "small".to_owned(), step: None, usage, cost: None }),
    ]);
    let (_, said) = text.split_once("## Prompt").unwrap();
    insta::assert_snapshot!(said);
    assert!(text.starts_with("# list it\n\n- session: `ses_00000000000000000000000001`\n"), "{text}");
}

#[test]
fn no_text_breaks_out_of_its_block() {
    let output = "```\n</details>\n````\nend";
    let text = exported(vec![ended(
        1,
        ItemStatus::Failed,
        call(
            "run_shell",
            "</summary><b>",
            json!({"command": "x"}),
            Ok(json!({"stdout": output, "exit_code": 3})),
        ),
    )]);
    assert!(text.contains("`````text\nexit code 3\n```\n</details>\n````\nend\n`````\n"), "{text}");
    assert!(
        text.contains("<summary><code>run_shell</code>: &lt;/summary&gt;&lt;b&gt;, failed</summary>"),
        "{text}"
    );
}

#[test]
fn failures_and_changes_are_told() {
    let failure = ToolFailure::new("denied", "no");
    let change = FileChange { path: "a`b".to_owned(), diff: "+x".to_owned() };
    let text = exported(vec![
        ended(1, ItemStatus::Denied, call("fetch_url", "x", json!({}), Err(failure))),
        ended(2, ItemStatus::Completed, Content::FileChange(change)),
    ]);
    assert!(text.contains(", not allowed</summary>\n\n```text\ndenied: no\n```"), "{text}");
    assert!(text.contains("``a`b``\n\n```diff\n+x\n```"), "{text}");
}
