//! A call of a client under the real policy of a user, undone by an operation.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use buddy_agent::BuddyAgent;
use buddy_policy::Attendance;
use buddy_protocol::operations::{ChangeScope, UndoChoice, UndoableChange};
use buddy_protocol::{
    AgentId, Answer, ApprovalPolicy, Asked, Command, Content, Event, Fact, Item, ItemStatus, NewSession,
    Sessions, Subscription, UserId,
};
use futures::StreamExt;
use serde_json::json;

use super::*;
use crate::config::load;
use crate::hosts::RunHosts;
use crate::invocation::PolicyWish;
use crate::policy::PolicySettings;
use crate::wiring::{Buddy, Wishes, wire};

/// The home of a user, with a project in it.
struct Household {
    environment: Environment,
    project: PathBuf,
    _temporary: tempfile::TempDir,
}

impl Household {
    fn new() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let top = temporary.path().canonicalize().unwrap();
        let project = top.join("project");
        fs::create_dir(&project).unwrap();
        let variable = |name: &str, value: &Path| (name.to_owned(), value.display().to_string());
        let variables = [
            variable("HOME", &top),
            variable("BUDDY_HOME", &top.join("data")),
            variable("PATH", Path::new("/usr/bin:/bin")),
        ];
        Self { environment: Environment::of(variables.into()).unwrap(), project, _temporary: temporary }
    }

    /// buddy as it runs for this user, who is there to be asked.
    fn buddy(&self) -> Buddy {
        let loaded = load(&self.environment, &self.project, &ConfigRequest::default()).unwrap();
        let hosts = RunHosts {
            environment: self.environment.clone(),
            cwd: self.project.clone(),
            wanted: Vec::new(),
            is_trusted: false,
            is_remote_only: false,
            policy: PolicySettings::new(&self.environment, &loaded, &PolicyWish::default()).unwrap(),
            pane_maker: None,
            panes: tokio::sync::Mutex::default(),
            reached: std::sync::Mutex::default(),
        };
        let wishes = Wishes {
            approvals: ApprovalPolicy::Ask,
            attendance: Attendance::Somebody,
            hosts: Arc::new(hosts),
            ..Wishes::reading().unwrap()
        };
        wire(&self.environment, wishes).unwrap()
    }

    fn operations(&self, owner: &Principal) -> HomeOperations {
        HomeOperations::new(OperationPlace {
            owner: owner.clone(),
            environment: self.environment.clone(),
            request: ConfigRequest::default(),
            cwd: self.project.clone(),
            model: None,
            conversation: None,
        })
    }
}

async fn next<T>(events: &mut Subscription, wanted: impl Fn(&Event) -> Option<T>) -> T {
    let mut seen = Vec::new();
    let look = async {
        loop {
            let event = events.next().await.unwrap().unwrap();
            if let Some(found) = wanted(&event) {
                return found;
            }
            seen.push(event);
        }
    };
    let found = tokio::time::timeout(Duration::from_secs(20), look).await;
    found.unwrap_or_else(|_| panic!("only other events came: {seen:#?}"))
}

fn ended(event: &Event) -> Option<Item> {
    match &event.fact {
        Fact::ItemEnded(ended) if matches!(ended.item.content, Content::ToolCall(_)) => {
            Some(ended.item.clone())
        }
        _ => None,
    }
}

fn write(path: &str) -> Command {
    let input = json!({"path": path, "content": "made\n"});
    Command::Call { tool: "write_file".to_owned(), input: input.into() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_of_a_client_is_judged_by_the_users_policy_and_undone_by_the_user_alone() {
    let household = Household::new();
    let buddy = household.buddy();
    let owner = buddy.who.clone();
    let account = &household.environment.user;
    let client = Principal::agent(AgentId::of_name("editor"), "editor", UserId::of_account(account));
    let operations = household.operations(&owner);
    let made = household.project.join("made.txt");
    let new = NewSession::new(BuddyAgent::NAME, household.project.to_string_lossy());
    let session = buddy.hub.create(&owner, new).await.unwrap();
    let mut events = buddy.hub.subscribe(&owner, &session, 0).await.unwrap();
    // The user's policy seals buddy's own files: nobody is even asked.
    buddy.hub.send(&client, &session, write("../data/grants.json")).await.unwrap();
    let item = next(&mut events, ended).await;
    assert_eq!(item.status, ItemStatus::Denied, "{item:#?}");
    assert!(!household.environment.data.join("grants.json").exists());
    buddy.hub.send(&client, &session, write("made.txt")).await.unwrap();
    let ask = next(&mut events, |event| match &event.fact {
        Fact::Asked(Asked { ask }) => Some(ask.id.clone()),
        _ => None,
    })
    .await;
    assert!(!made.exists(), "nothing is written before the answer");
    let answer = Command::Answer { ask, answer: Answer::allow() };
    assert!(buddy.hub.send(&client, &session, answer.clone()).await.is_err(), "a client does not approve");
    buddy.hub.send(&owner, &session, answer).await.unwrap();
    let item = next(&mut events, ended).await;
    assert_eq!((item.status, made.exists()), (ItemStatus::Completed, true), "{item:#?}");
    let request = UndoChange {
        choice: UndoChoice::Change(item.id.to_string()),
        conversation: None,
        seen: None,
        is_forced: false,
        passes_over: false,
        wait_ms: 0,
    };
    let refused = operations.undo_change(&client, request.clone()).await.unwrap_err();
    assert_eq!(refused.code, OperationErrorCode::Forbidden);
    assert!(made.exists());
    let undone = operations.undo_change(&owner, request).await.unwrap();
    assert!(matches!(undone, UndoOutcome::Undone { .. }), "{undone:?}");
    assert!(!made.exists());
    // Each change names who wanted it.
    let listed = operations.list_changes(&client, ListChanges { scope: ChangeScope::Project }).await.unwrap();
    let [undo, call] = &listed.changes[..] else { panic!("{listed:#?}") };
    let by = |change: &UndoableChange| change.header.by.clone();
    assert_eq!((by(undo), by(call)), (Some(owner), Some(client)));
    assert_eq!(undo.header.undoes.as_deref(), Some(item.id.as_str()));
    buddy.close().await.unwrap();
}
