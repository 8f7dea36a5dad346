//! A session whose command runs in the background makes no room for another one.

use std::fs;
use std::time::Duration;

use buddy_hub::HubLimits;
use buddy_protocol::{Answer, Asked, Command, Content, Fact, SessionTerms, Sessions, SessionsError};
use serde_json::json;

use crate::office::{Office, next, people};

#[tokio::test(flavor = "multi_thread")]
async fn a_session_with_a_background_command_is_not_unloaded() {
    let limits = HubLimits { max_live: 1, idle_after: Duration::from_hours(1) };
    let (office, (ann, client)) = (Office::with_limits(limits), people());
    // A reader would keep a session too.
    let (other, _) = office.begin(&ann, SessionTerms::default()).await;
    let (session, mut events) = office.begin(&ann, SessionTerms::default()).await;
    let input = json!({
        "command": "while [ ! -e stop ]; do sleep 0.05; done; echo > stopped",
        "wait": "200ms", "why": "x", "risk": "low", "mutation": true, "privesc": false
    });
    let call = Command::Call { tool: "run_shell".to_owned(), input: input.into() };
    office.hub.send(&client, &session, call).await.unwrap();
    let ask = next(&mut events, |event| match &event.fact {
        Fact::Asked(Asked { ask }) => Some(ask.id.clone()),
        _ => None,
    })
    .await;
    office.hub.send(&ann, &session, Command::Answer { ask, answer: Answer::allow() }).await.unwrap();
    let output = next(&mut events, |event| match &event.fact {
        Fact::ItemEnded(ended) => match &ended.item.content {
            Content::ToolCall(call) => Some(serde_json::to_value(&call.output).unwrap()),
            _ => None,
        },
        _ => None,
    })
    .await;
    assert_eq!(output["result"]["condition"], "running", "{output:#}");
    drop(events);
    let refused = office.hub.take_up(&ann, &other).await;
    assert!(matches!(refused, Err(SessionsError::Conflict(_))), "{refused:?}");
    fs::write(office.workspace.join("stop"), "").unwrap();
    let taken_up = async {
        while let Err(error) = office.hub.take_up(&ann, &other).await {
            assert!(matches!(error, SessionsError::Conflict(_)), "{error:?}");
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), taken_up).await.expect("nothing goes on any more");
    assert!(office.workspace.join("stopped").exists(), "the command came to its end");
    office.hub.close().await;
}
