//! Databases of older and newer versions.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use buddy_protocol::{Event, Principal, PrincipalKind, SessionQuery, SessionStore, StoreError};
use buddy_store::{SCHEMA, SqliteStore, StoreRole};
use rusqlite::{Connection, Row};
use tempfile::TempDir;

use crate::damage::tamper;
use buddy_testkit::log_events::search_as;

use crate::support::{append, assert_whole, fresh, notice, open, session, settings, stamp};

/// Takes the last migrations back.
pub(crate) const UNDO_AUTHORS: &str = "
    ALTER TABLE events DROP COLUMN author; DROP INDEX sessions_by_owner;
    ALTER TABLE sessions RENAME COLUMN owner_id TO owner; DROP TABLE command_keys;
    DELETE FROM migrations WHERE name IN ('0006_authors', '0007_command_keys'); PRAGMA user_version = 5";

#[tokio::test]
async fn a_new_database_gets_every_migration_once() {
    let (directory, store) = fresh();
    assert_eq!(
        store.report().migrated,
        [
            "0001_log",
            "0002_sessions",
            "0003_usage",
            "0004_words",
            "0005_chain",
            "0006_authors",
            "0007_command_keys"
        ]
    );
    drop(store);
    assert!(open(directory.path()).report().migrated.is_empty());
}

#[tokio::test]
async fn an_empty_file_becomes_a_database() {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("buddy.db"), "").unwrap();
    let store = open(directory.path());
    assert_eq!((store.report().created, store.report().migrated.len()), (false, 7));
    append(&store, 1, 1..=1).await;
}

/// The database as the first schema left it: the log without the list.
#[tokio::test]
async fn a_database_of_the_first_schema_is_brought_up_to_date() {
    let directory = TempDir::new().unwrap();
    tamper(directory.path(), include_str!("../fixtures/schema-1.sql"));
    let store = open(directory.path());
    assert_eq!(
        store.report().migrated,
        ["0002_sessions", "0003_usage", "0004_words", "0005_chain", "0006_authors", "0007_command_keys"]
    );
    for number in [1, 2] {
        assert_whole(&store, number, 3).await;
    }
    let list = store.list(SessionQuery::default()).await.unwrap();
    assert_eq!(list.iter().map(|summary| summary.head).collect::<Vec<_>>(), [3, 3]);
    assert_eq!(store.check().await.unwrap().findings, []);
    append(&store, 1, 4..=4).await;
}

/// A store that an older version wrote: a session with an answered ask that was ended, one that its writer left in the
/// middle of a turn, one of another user, and one that was imported.
fn copy_of_schema_5() -> TempDir {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("buddy.db"), include_bytes!("../fixtures/schema-5/buddy.db")).unwrap();
    fs::write(directory.path().join("anchors"), include_bytes!("../fixtures/schema-5/anchors")).unwrap();
    directory
}

/// The rows of the log without the author's column.
#[expect(clippy::disallowed_methods, reason = "looks at the database around the store")]
fn rows(directory: &Path) -> Vec<(i64, i64, String, String, Vec<u8>)> {
    let connection = Connection::open(directory.join("buddy.db")).unwrap();
    let mut statement =
        connection.prepare("SELECT place, version, kind, data, link FROM events ORDER BY place").unwrap();
    let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?));
    statement.query_map([], row).unwrap().collect::<Result<_, _>>().unwrap()
}

#[tokio::test]
async fn an_older_log_gets_ids_for_its_principals_without_being_rewritten() {
    let directory = copy_of_schema_5();
    let before = rows(directory.path());
    let store = open(directory.path());
    assert_eq!(store.report().migrated, ["0006_authors", "0007_command_keys"]);
    let report = store.check().await.unwrap();
    assert_eq!((report.events, report.findings), (16, vec![]));
    let ann = Principal::person("ann");
    let author = async |number, seq: u64| {
        let events = store.read(&session(number), seq - 1, 1).await.unwrap();
        events[0].by.clone().map(|by| (by.kind(), by.name))
    };
    let person = |name: &str| Some((PrincipalKind::Person, name.to_owned()));
    assert_eq!(author(1, 1).await, None);
    assert_eq!(
        (author(1, 3).await, author(1, 6).await, author(3, 2).await),
        (person("ann"), person("ann"), person("ann"))
    );
    assert_eq!(author(10, 2).await, Some((PrincipalKind::Imported, "old.json".to_owned())));
    let query = |who: &Principal| SessionQuery { owner: Some(who.id.clone()), ..SessionQuery::default() };
    assert_eq!(store.list(query(&ann)).await.unwrap().len(), 3);
    assert_eq!(store.list(query(&Principal::person("bob"))).await.unwrap().len(), 1);
    assert_eq!(search_as(&store, "ann", "lighthouse", 5).await.unwrap().len(), 1);
    // The log goes on in the new form, and the old records stay as they are.
    let next = Event { by: Some(ann.clone()), ..stamp(3, 7, notice("on")) };
    store.writer(&session(3)).await.unwrap().append(vec![Arc::new(next.clone())]).await.unwrap();
    assert_eq!(store.read(&session(3), 6, 5).await.unwrap(), [next]);
    assert_eq!(store.check().await.unwrap().findings, []);
    store.close().await.unwrap();
    let after = rows(directory.path());
    assert_eq!(after.iter().filter(|row| row.1 == 1).cloned().collect::<Vec<_>>(), before);
    assert_eq!(after.len(), before.len() + 1);
    // The list made anew from the log is the migrated one.
    let store = open(directory.path());
    let list = store.list(SessionQuery::default()).await.unwrap();
    store.rebuild().await.unwrap();
    assert_eq!(store.list(SessionQuery::default()).await.unwrap(), list);
}

#[tokio::test]
async fn the_author_of_a_record_cannot_change_unseen() {
    let changes = [
        "UPDATE events SET author = replace(author, 'ann', 'eve') WHERE version = 2",
        "UPDATE events SET author = NULL WHERE version = 2",
        "UPDATE events SET author = '{\"kind\":\"person\",\"name\":\"eve\"}' WHERE version = 1",
        "UPDATE events SET version = 1 WHERE version = 2",
    ];
    for change in changes {
        let directory = copy_of_schema_5();
        let store = open(directory.path());
        let next = Event { by: Some(Principal::person("ann")), ..stamp(3, 7, notice("on")) };
        store.writer(&session(3)).await.unwrap().append(vec![Arc::new(next)]).await.unwrap();
        store.close().await.unwrap();
        tamper(directory.path(), change);
        let store = open(directory.path());
        assert_ne!(store.check().await.unwrap().findings, [], "{change}");
    }
}

#[tokio::test]
async fn a_newer_database_is_refused_untouched() {
    let (directory, store) = fresh();
    store.close().await.unwrap();
    tamper(directory.path(), "PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE)");
    let before = fs::read(directory.path().join("buddy.db")).unwrap();
    for opened in [
        SqliteStore::open(settings(directory.path(), StoreRole::Terminal)),
        SqliteStore::open_read_only(settings(directory.path(), StoreRole::Terminal)),
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
    let opened = SqliteStore::open(settings(directory.path(), StoreRole::Terminal));
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
    tamper(directory.path(), UNDO_AUTHORS);
    tamper(
        directory.path(),
        "UPDATE events SET data = replace(data, '1/3', '1/x') WHERE place % 4294967296 = 3;
         DROP TABLE words; ALTER TABLE events DROP COLUMN link;
         DELETE FROM migrations WHERE name IN ('0004_words', '0005_chain'); PRAGMA user_version = 3",
    );
    let store = open(directory.path());
    assert_eq!(store.report().migrated, ["0004_words", "0005_chain", "0006_authors", "0007_command_keys"]);
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
    tamper(directory.path(), UNDO_AUTHORS);
    tamper(
        directory.path(),
        "ALTER TABLE events DROP COLUMN link; DELETE FROM migrations WHERE name = '0005_chain';
         PRAGMA user_version = 4",
    );
    fs::remove_file(directory.path().join("anchors")).unwrap();
    let store = open(directory.path());
    assert_eq!(store.report().migrated, ["0005_chain", "0006_authors", "0007_command_keys"]);
    let report = store.check().await.unwrap();
    assert_eq!((report.events, report.findings), (2503, vec![]));
    assert_whole(&store, 1, 2500).await;
    append(&store, 1, 2501..=2501).await;
    store.close().await.unwrap();
    tamper(directory.path(), "DELETE FROM events WHERE place = 4294967296 + 2501");
    assert!(!open(directory.path()).check().await.unwrap().findings.is_empty());
}
