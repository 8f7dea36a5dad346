//! Databases of older and newer versions.

use std::fs;

use buddy_protocol::{SessionQuery, SessionStore, StoreError};
use buddy_store::{Role, SCHEMA, SqliteStore};
use tempfile::TempDir;

use crate::damage::tamper;
use crate::support::{append, assert_whole, fresh, open, session, settings};

#[tokio::test]
async fn a_new_database_gets_every_migration_once() {
    let (directory, store) = fresh();
    assert_eq!(
        store.report().migrated,
        ["0001_log", "0002_sessions", "0003_usage", "0004_words", "0005_chain"]
    );
    drop(store);
    assert!(open(directory.path()).report().migrated.is_empty());
}

#[tokio::test]
async fn an_empty_file_becomes_a_database() {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("buddy.db"), "").unwrap();
    let store = open(directory.path());
    assert_eq!((store.report().created, store.report().migrated.len()), (false, 5));
    append(&store, 1, 1..=1).await;
}

/// The database as the first schema left it: the log without the list.
#[tokio::test]
async fn a_database_of_the_first_schema_is_brought_up_to_date() {
    let directory = TempDir::new().unwrap();
    tamper(directory.path(), include_str!("../fixtures/schema-1.sql"));
    let store = open(directory.path());
    assert_eq!(store.report().migrated, ["0002_sessions", "0003_usage", "0004_words", "0005_chain"]);
    for number in [1, 2] {
        assert_whole(&store, number, 3).await;
    }
    let list = store.list(SessionQuery::default()).await.unwrap();
    assert_eq!(list.iter().map(|summary| summary.head).collect::<Vec<_>>(), [3, 3]);
    assert_eq!(store.check().await.unwrap().findings, []);
    append(&store, 1, 4..=4).await;
}

#[tokio::test]
async fn a_newer_database_is_refused_untouched() {
    let (directory, store) = fresh();
    store.close().await.unwrap();
    tamper(directory.path(), "PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE)");
    let before = fs::read(directory.path().join("buddy.db")).unwrap();
    for opened in [
        SqliteStore::open(settings(directory.path(), Role::Terminal)),
        SqliteStore::open_read_only(settings(directory.path(), Role::Terminal)),
    ] {
        assert!(matches!(opened, Err(StoreError::TooNew { found: 99, known: SCHEMA })), "{opened:?}");
    }
    assert_eq!(fs::read(directory.path().join("buddy.db")).unwrap(), before);
    tamper(directory.path(), &format!("PRAGMA user_version = {SCHEMA}"));
    assert_eq!(open(directory.path()).report().integrity, buddy_store::Integrity::Clean);
}

#[tokio::test]
async fn an_older_database_in_use_is_left_alone() {
    let (directory, store) = fresh();
    tamper(directory.path(), "PRAGMA user_version = 1");
    let opened = SqliteStore::open(settings(directory.path(), Role::Terminal));
    assert!(matches!(opened, Err(StoreError::InUse { .. })), "{opened:?}");
    drop(store);
}

/// The check reports a flawed event, but the store still opens.
#[tokio::test]
async fn a_flawed_event_does_not_stop_the_index_of_words() {
    let (directory, store) = fresh();
    append(&store, 1, 1..=5).await;
    append(&store, 2, 1..=5).await;
    store.close().await.unwrap();
    tamper(
        directory.path(),
        "UPDATE events SET data = replace(data, '1/3', '1/x') WHERE place % 4294967296 = 3;
         DROP TABLE words; ALTER TABLE events DROP COLUMN link;
         DELETE FROM migrations WHERE name IN ('0004_words', '0005_chain'); PRAGMA user_version = 3",
    );
    let store = open(directory.path());
    assert_eq!(store.report().migrated, ["0004_words", "0005_chain"]);
    assert_whole(&store, 2, 5).await;
    assert!(store.read(&session(1), 2, 10).await.is_err());
    assert!(!store.check().await.unwrap().findings.is_empty());
}

/// A database from before the chain existed gets one, over the same events.
#[tokio::test]
async fn a_log_without_a_chain_gets_one() {
    let (directory, store) = fresh();
    append(&store, 1, 1..=2500).await;
    append(&store, 2, 1..=3).await;
    assert_eq!(store.check().await.unwrap().findings, []);
    store.close().await.unwrap();
    tamper(
        directory.path(),
        "ALTER TABLE events DROP COLUMN link; DELETE FROM migrations WHERE name = '0005_chain';
         PRAGMA user_version = 4",
    );
    fs::remove_file(directory.path().join("anchors")).unwrap();
    let store = open(directory.path());
    assert_eq!(store.report().migrated, ["0005_chain"]);
    let report = store.check().await.unwrap();
    assert_eq!((report.events, report.findings), (2503, vec![]));
    assert_whole(&store, 1, 2500).await;
    append(&store, 1, 2501..=2501).await;
    store.close().await.unwrap();
    tamper(directory.path(), "DELETE FROM events WHERE place = 4294967296 + 2501");
    assert!(!open(directory.path()).check().await.unwrap().findings.is_empty());
}
