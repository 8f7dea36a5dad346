//! The search in the logs.

use std::sync::Arc;

use buddy_protocol::{
    Content, Envelope, Event, Fact, SearchQuery, SessionChanged, ToolCall, ToolKind, UnixMillis,
};
use serde_json::json;

use super::stand::{StoreStand, WholeStore, append_all, tell};
use crate::log_events::{item, said, search_as, session, stamp, started};

fn called(title: &str, output: &str) -> Fact {
    item(Content::ToolCall(Box::new(ToolCall {
        call_id: "call_1".to_owned(),
        name: "run_shell".to_owned(),
        kind: ToolKind::Execute,
        title: title.to_owned(),
        input: json!({}).into(),
        output: Some(Envelope::new(UnixMillis(0), Ok(json!({"stdout": output})))),
        images: Vec::new(),
        target: None,
        had_secrets: false,
        caller: None,
    })))
}

async fn found(store: &dyn WholeStore, words: &str) -> Vec<(u64, u64)> {
    let found = search_as(store, "ann", words, 0).await.expect("no words make a search fail");
    let number = |id| (1..10).find(|number| session(*number) == id).expect("a session of this test");
    found.into_iter().map(|found| (number(found.summary.id), found.seq)).collect()
}

/// Messages, titles and the names of tools are searched, and tool output is not. The last event counts.
pub async fn search_finds_text_only_in_the_owners_sessions(stand: &dyn StoreStand) {
    let store = &*stand.open();
    let renamed = SessionChanged { title: Some("Winter trip".to_owned()), ..SessionChanged::default() };
    let harbour = [said("Where is the harbour?"), said("the harbour of Ærø"), called("ls docks", "gulls")];
    tell(store, 1, [started("ann", "/a")].into_iter().chain(harbour).collect()).await;
    tell(store, 2, vec![started("bob", "/a"), said("harbour")]).await;
    let boats = [Fact::SessionChanged(renamed), said("boats"), said("no HARBOUR here")];
    tell(store, 3, [started("ann", "/a")].into_iter().chain(boats).collect()).await;
    assert_eq!(found(store, "harbour").await, [(3, 4), (1, 3)]);
    assert_eq!(found(store, "harb the").await, [(1, 3)]);
    assert_eq!(found(store, "winter").await, [(3, 2)]);
    assert_eq!(found(store, "run_shell docks").await, [(1, 4)]);
    assert_eq!(found(store, "gulls").await, [], "tool output is not searched");
    assert_eq!(search_as(store, "ann", "harbour", 1).await.map(|found| found.len()).ok(), Some(1));
    let excerpts = search_as(store, "ann", "of", 5).await.expect("no words make a search fail");
    assert_eq!(excerpts[0].excerpt, "the harbour of Ærø");
}

/// Also where several were used at the same time, and in one directory.
pub async fn pages_of_a_search_leave_out_and_repeat_nothing(stand: &dyn StoreStand) {
    let store = &*stand.open();
    for number in 1..=7 {
        let cwd = if number == 4 { "/b" } else { "/a" };
        let facts = [started("ann", cwd), said("harbour")].into_iter().zip([1, 100 + number / 3]);
        let events = (1..).zip(facts).map(|(seq, (fact, time))| {
            Arc::new(Event { time: UnixMillis(time), ..stamp(number, seq, fact) })
        });
        append_all(store, number, events.collect()).await;
    }
    for (cwd, expected) in [(None, vec![7, 6, 5, 4, 3, 2, 1]), (Some("/a"), vec![7, 6, 5, 3, 2, 1])] {
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let cwd = cwd.map(str::to_owned);
            let query = SearchQuery { cwd, limit: 2, after, ..SearchQuery::new("harbour") };
            let page = store.search(query).await.expect("it can be searched");
            let Some(last) = page.last() else { break };
            after = Some(last.summary.cursor());
            seen.extend(page.into_iter().map(|found| found.summary.id));
        }
        assert_eq!(seen, expected.into_iter().map(session).collect::<Vec<_>>());
    }
}

/// There is no query syntax.
pub async fn signs_are_looked_for_as_they_are(stand: &dyn StoreStand) {
    let store = &*stand.open();
    let text = "fix C++ and a \"quoted\" word; NOT that, foo-bar.rs:12 (v2)";
    tell(store, 1, vec![started("ann", "/a"), said(text)]).await;
    for words in ["C++", "\"quoted\"", "NOT that", "foo-bar.rs:12", "(v2)", "foo*", "NOT", "^fix"] {
        assert_eq!(found(store, words).await, [(1, 2)], "{words}");
    }
    for words in ["text: fix", "", "   ", "\"", "((", "* - +", "\0", "'; DROP TABLE words; --"] {
        assert_eq!(found(store, words).await, [], "{words:?}");
    }
}
