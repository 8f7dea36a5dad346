//! The index of the search, and words of any kind.

use std::sync::Arc;

use buddy_protocol::{Fact, SessionStore};
use buddy_store::{SqliteStore, StoreFinding};
use proptest::prelude::*;

use crate::damage::tamper;
use crate::migration::UNDO_AUTHORS;
use crate::support::{fresh, open, said, search_as, session, stamp, started};

/// A session of an owner with these facts after the start.
async fn tell(store: &SqliteStore, number: u64, owner: &str, facts: Vec<Fact>) {
    let all = std::iter::once(started(owner, "/a")).chain(facts);
    let events = all.zip(1..).map(|(fact, seq)| Arc::new(stamp(number, seq, fact))).collect();
    store.writer(&session(number)).await.unwrap().append(events).await.unwrap();
}

async fn found(store: &SqliteStore, words: &str) -> Vec<(u64, u64)> {
    let found = search_as(store, "ann", words, 0).await.unwrap();
    let number = |id| (1..10).find(|number| session(*number) == id).unwrap();
    found.into_iter().map(|found| (number(found.summary.id), found.seq)).collect()
}

#[tokio::test]
async fn old_logs_get_their_words_and_a_rebuild_brings_lost_ones_back() {
    let (directory, store) = fresh();
    tell(&store, 1, "ann", vec![said("harbour")]).await;
    store.close().await.unwrap();
    tamper(directory.path(), UNDO_AUTHORS);
    tamper(
        directory.path(),
        "DROP TABLE words; ALTER TABLE events DROP COLUMN link;
         DELETE FROM migrations WHERE name IN ('0004_words', '0005_chain'); PRAGMA user_version = 3",
    );
    let store = open(directory.path());
    assert_eq!(store.report().migrated, ["0004_words", "0005_chain", "0006_authors", "0007_command_keys"]);
    assert_eq!(found(&store, "harbour").await, [(1, 2)]);
    assert_eq!(store.check().await.unwrap().findings, []);
    store.close().await.unwrap();

    tamper(directory.path(), "INSERT INTO words (words) VALUES ('delete-all')");
    let store = open(directory.path());
    let findings = store.check().await.unwrap().findings;
    assert!(matches!(&findings[..], [StoreFinding::Derived { .. }]), "{findings:?}");
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
    assert!(matches!(&findings[..], [StoreFinding::Derived { .. }]), "{findings:?}");
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
            search_as(&store, "ann", &words, 5).await.unwrap();
        });
    }
}
