//! The search in the logs.

use std::sync::Arc;

use buddy_protocol::{
    Content, Envelope, Fact, Item, ItemEnded, ItemStatus, SessionChanged, SessionStore, ToolCall, ToolKind,
    UnixMillis,
};
use buddy_store::{Finding, SqliteStore};
use proptest::prelude::*;
use serde_json::json;

use crate::damage::tamper;
use crate::support::{fresh, open, session, stamp, started};

fn item(content: Content) -> Fact {
    let id = "itm_00000000000000000000000001".parse().unwrap();
    let status = ItemStatus::Completed;
    Fact::ItemEnded(ItemEnded {
        item: Item { id, turn: None, step: None, place: None, parent: None, status, content, private: None },
    })
}

fn said(text: &str) -> Fact {
    item(Content::said(text))
}

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
    })))
}

/// A session of an owner with these facts after the start.
async fn tell(store: &SqliteStore, number: u64, owner: &str, facts: Vec<Fact>) {
    let all = std::iter::once(started(owner, "/a")).chain(facts);
    let events = all.zip(1..).map(|(fact, seq)| Arc::new(stamp(number, seq, fact))).collect();
    store.writer(&session(number)).await.unwrap().append(events).await.unwrap();
}

async fn found(store: &SqliteStore, words: &str) -> Vec<(u64, u64)> {
    let found = store.search("ann", words, 0).await.unwrap();
    let number = |id| (1..10).find(|number| session(*number) == id).unwrap();
    found.into_iter().map(|found| (number(found.summary.id), found.seq)).collect()
}

#[tokio::test]
async fn search_finds_text_only_in_the_owners_sessions() {
    let (_directory, store) = fresh();
    let renamed = SessionChanged { title: Some("Winter trip".to_owned()), ..SessionChanged::default() };
    tell(
        &store,
        1,
        "ann",
        vec![said("Where is the harbour?"), said("the harbour of Ærø"), called("ls docks", "gulls")],
    )
    .await;
    tell(&store, 2, "bob", vec![said("harbour")]).await;
    tell(&store, 3, "ann", vec![Fact::SessionChanged(renamed), said("boats"), said("no HARBOUR here")]).await;
    assert_eq!(found(&store, "harbour").await, [(3, 4), (1, 3)]);
    assert_eq!(found(&store, "harb the").await, [(1, 3)]);
    assert_eq!(found(&store, "winter").await, [(3, 2)]);
    assert_eq!(found(&store, "run_shell docks").await, [(1, 4)]);
    assert_eq!(found(&store, "gulls").await, [], "tool output is not searched");
    assert_eq!(store.search("ann", "harbour", 1).await.unwrap().len(), 1);
    let excerpt = &store.search("ann", "of", 5).await.unwrap()[0].excerpt;
    assert_eq!(excerpt, "the harbour of Ærø");
}

#[tokio::test]
async fn signs_are_looked_for_as_they_are() {
    let (_directory, store) = fresh();
    tell(&store, 1, "ann", vec![said("fix C++ and a \"quoted\" word; NOT that, foo-bar.rs:12 (v2)")]).await;
    for words in
        ["C++", "\"quoted\"", "NOT that", "foo-bar.rs:12", "(v2)", "foo*", "NOT", "text: fix", "^fix"]
    {
        let expected: &[(u64, u64)] = if words == "text: fix" { &[] } else { &[(1, 2)] };
        assert_eq!(found(&store, words).await, expected, "{words}");
    }
    for words in ["", "   ", "\"", "((", "* - +", "\0", "'; DROP TABLE words; --"] {
        assert_eq!(found(&store, words).await, [], "{words:?}");
    }
}

#[tokio::test]
async fn old_logs_get_their_words_and_a_rebuild_brings_lost_ones_back() {
    let (directory, store) = fresh();
    tell(&store, 1, "ann", vec![said("harbour"), called("ls", "")]).await;
    store.close().await.unwrap();
    tamper(
        directory.path(),
        "DROP TABLE words; ALTER TABLE events DROP COLUMN link;
         DELETE FROM migrations WHERE name IN ('0004_words', '0005_chain'); PRAGMA user_version = 3",
    );
    let store = open(directory.path());
    assert_eq!(store.report().migrated, ["0004_words", "0005_chain"]);
    assert_eq!(found(&store, "harbour").await, [(1, 2)]);
    assert_eq!(store.check().await.unwrap().findings, []);
    store.close().await.unwrap();

    tamper(directory.path(), "INSERT INTO words (words) VALUES ('delete-all')");
    let store = open(directory.path());
    let findings = store.check().await.unwrap().findings;
    assert!(matches!(&findings[..], [Finding::Derived { .. }]), "{findings:?}");
    store.rebuild().await.unwrap();
    assert_eq!(found(&store, "harbour").await, [(1, 2)]);
    assert_eq!(store.check().await.unwrap().findings, []);
}

#[tokio::test]
async fn the_check_finds_words_that_are_not_in_the_log() {
    let (directory, store) = fresh();
    tell(&store, 1, "ann", vec![said("harbour")]).await;
    store.close().await.unwrap();
    tamper(
        directory.path(),
        &format!("INSERT INTO words (rowid, text) VALUES ({}, 'made up')", (1_i64 << 32) + 7),
    );
    let store = open(directory.path());
    let findings = store.check().await.unwrap().findings;
    assert!(matches!(&findings[..], [Finding::Derived { .. }]), "{findings:?}");
}

#[tokio::test]
async fn a_text_without_end_is_kept_and_found_by_its_beginning() {
    let (_directory, store) = fresh();
    let long = format!("beginning {} finish", "ä".repeat(200_000));
    tell(&store, 1, "ann", vec![said(&long)]).await;
    assert_eq!(found(&store, "beginning").await, [(1, 2)]);
    assert_eq!(store.check().await.unwrap().findings, []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_words_make_a_search_fail(words in "\\PC{0,40}|[\"'*()^:+{}a -]{0,20}|.{0,20}") {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (_directory, store) = fresh();
            tell(&store, 1, "ann", vec![said("a word")]).await;
            store.search("ann", &words, 5).await.unwrap();
        });
    }
}
