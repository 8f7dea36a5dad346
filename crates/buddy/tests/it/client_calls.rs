//! A client makes a call through the hub: it is asked about, approved by another principal of the same user, confined, recorded and
//! undone like a call of the model.

use std::fs;

use buddy_exec::undo::{Header, Which};
use buddy_protocol::{
    AgentId, Answer, ApprovalPolicy, Asked, Command, Content, Event, Fact, Item, ItemId, ItemStatus,
    Principal, SessionTerms, Sessions, SessionsError, UserId,
};
use serde_json::{Value, json};

use crate::office::{Office, next, people};

fn run(command: &str) -> Command {
    let input = json!({"command": command, "why": "x", "risk": "low", "mutation": true, "privesc": false});
    Command::Call { tool: "run_shell".to_owned(), input: input.into() }
}

fn ended(event: &Event) -> Option<(Item, Option<Principal>)> {
    match &event.fact {
        Fact::ItemEnded(ended) if matches!(ended.item.content, Content::ToolCall(_)) => {
            Some((ended.item.clone(), event.by.clone()))
        }
        _ => None,
    }
}

fn output(item: &Item) -> Value {
    let Content::ToolCall(call) = &item.content else { panic!("{item:?}") };
    serde_json::to_value(call.output.as_ref().unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_of_a_client_is_asked_about_confined_and_undone() {
    let (office, (ann, client)) = (Office::new(), people());
    let (session, mut events) = office.begin(&ann, SessionTerms::default()).await;
    // Policy does not read the script, so only the jail can hold it. The script succeeds, so no run outside the jail is offered.
    let script =
        format!("(echo out > {}/out.txt) 2> errors.txt; echo made > made.txt", office.outside.display());
    fs::write(office.workspace.join("make.sh"), script).unwrap();
    office.hub.send(&client, &session, run("sh make.sh")).await.unwrap();
    let ask = next(&mut events, |event| match &event.fact {
        Fact::Asked(Asked { ask }) => Some(ask.clone()),
        _ => None,
    })
    .await;
    let asked = serde_json::to_value(&ask).unwrap();
    assert_eq!(asked["question"]["actor"], "editor", "{asked}");
    assert!(!office.workspace.join("made.txt").exists(), "nothing ran before the answer");
    let answer = |who: Principal| {
        let answer = Answer::Allow { grant: None, edit: None, word: None };
        let (hub, ask) = (&office.hub, ask.id.clone());
        let session = session.clone();
        async move { hub.send(&who, &session, Command::Answer { ask, answer }).await }
    };
    let refused = answer(client.clone()).await;
    assert!(
        matches!(refused, Err(SessionsError::Forbidden { .. })),
        "a client does not approve its own call"
    );
    answer(ann.clone()).await.unwrap();
    let (item, by) = next(&mut events, ended).await;
    assert_eq!(fs::read_to_string(office.workspace.join("made.txt")).unwrap(), "made\n", "{}", output(&item));
    assert!(!office.outside.join("out.txt").exists(), "the jail held");
    assert_ne!(fs::read_to_string(office.workspace.join("errors.txt")).unwrap(), "", "the write was tried");
    // The log names both.
    assert_eq!(by, Some(client.clone()));
    let log = office.hub.events(&ann, &session, 0, 1_000).await.unwrap();
    let answered = log.iter().find(|event| matches!(event.fact, Fact::Answered(_))).unwrap();
    assert_eq!(answered.by, Some(ann.clone()));
    let started = log.iter().find(|event| matches!(event.fact, Fact::ItemStarted(_))).unwrap();
    assert_eq!(started.by, Some(client.clone()));
    let Content::ToolCall(call) = &item.content else { panic!() };
    assert_eq!(call.caller, Some(client));
    // Undo has it under the id of its item.
    let plan = office.undo.plan(&Which::Id(item.id.to_string())).unwrap();
    let header = Header {
        id: "undo-1".to_owned(),
        label: "undo".to_owned(),
        session: session.to_string(),
        workspace: None,
        unix_ms: 1_000,
        undoes: Some(item.id.to_string()),
        target: None,
        by: Some(ann.clone()),
    };
    office.undo.apply(&plan, header).unwrap();
    assert!(!office.workspace.join("made.txt").exists(), "it is undone");
    office.hub.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_without_a_tool_refuses_its_calls_and_others_run() {
    let (office, (ann, client)) = (Office::new(), people());
    fs::write(office.workspace.join("a.txt"), "one\n").unwrap();
    let terms = SessionTerms {
        tools: Some(vec!["read_file".to_owned()]),
        approvals: Some(ApprovalPolicy::None),
        ..SessionTerms::default()
    };
    let (session, mut events) = office.begin(&ann, terms.clone()).await;
    let log = office.hub.events(&ann, &session, 0, 1).await.unwrap();
    let Fact::SessionStarted(started) = &log[0].fact else { panic!() };
    assert_eq!(started.terms, terms, "terms are facts");
    assert_eq!(started.began_with.as_ref().unwrap().tools, ["read_file"]);
    office.hub.send(&client, &session, run("touch b.txt")).await.unwrap();
    let (item, _) = next(&mut events, ended).await;
    assert_eq!(
        (item.status, output(&item)["error"]["code"].clone()),
        (ItemStatus::Failed, json!("unknown_tool"))
    );
    let read = Command::Call { tool: "read_file".to_owned(), input: json!({"path": "a.txt"}).into() };
    office.hub.send(&client, &session, read).await.unwrap();
    let (item, _) = next(&mut events, ended).await;
    assert_eq!(item.status, ItemStatus::Completed, "{}", output(&item));
    assert!(output(&item).to_string().contains("one"));
    assert!(!office.workspace.join("b.txt").exists());
    office.hub.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_stops_the_call_that_it_made_and_nothing_else() {
    let (office, (ann, client)) = (Office::new(), people());
    let (session, mut events) = office.begin(&ann, SessionTerms::default()).await;
    let started = |event: &Event| match &event.fact {
        Fact::ItemStarted(started) => Some(started.item.id.clone()),
        _ => None,
    };
    let asked = |event: &Event| match &event.fact {
        Fact::Asked(Asked { ask }) => Some(ask.id.clone()),
        _ => None,
    };
    office.hub.send(&client, &session, run("sleep 600 > slept.txt")).await.unwrap();
    let call = next(&mut events, started).await;
    let ask = next(&mut events, asked).await;
    office.hub.send(&ann, &session, Command::Answer { ask, answer: Answer::allow() }).await.unwrap();
    let command = Command::Run { command: "sleep 601".to_owned(), target: None };
    office.hub.send(&ann, &session, command).await.unwrap();
    let running = next(&mut events, started).await;
    // Neither a command of the user, nor the call of another client, nor something that does not run.
    let stranger = Principal::agent(AgentId::of_name("stranger"), "editor", UserId::of_account("ann"));
    let unknown: ItemId = format!("itm_{:026}", 7).parse().unwrap();
    for (who, item) in [(&client, &running), (&stranger, &call), (&client, &unknown)] {
        let refused = office.hub.send(who, &session, Command::Stop { item: item.clone() }).await;
        assert!(matches!(refused, Err(SessionsError::Forbidden { .. })), "{who:?} {refused:?}");
    }
    office.hub.send(&client, &session, Command::Stop { item: call.clone() }).await.unwrap();
    let (item, by) = next(&mut events, ended).await;
    assert_eq!((item.id, by), (call, Some(client)));
    assert_ne!(item.status, ItemStatus::Completed);
    office.hub.send(&ann, &session, Command::Stop { item: running }).await.unwrap();
    office.hub.close().await;
}
