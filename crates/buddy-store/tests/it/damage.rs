//! Damaged databases, the check, the rebuild and the backup.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;

use buddy_protocol::{SessionQuery, SessionStore, StoreError};
use buddy_store::{SqliteStore, StoreFinding, StoreRole};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::support::{append, assert_whole, event, events, fresh, open, session, settings};

/// Opens the database of a closed store and runs SQL on it, bypassing the store.
#[expect(clippy::disallowed_methods, reason = "does to the database what the store never would")]
pub(crate) fn tamper(directory: &Path, sql: &str) {
    let connection = Connection::open(directory.join("buddy.db")).unwrap();
    connection.execute_batch(sql).unwrap();
}

async fn findings(directory: &Path) -> Vec<StoreFinding> {
    open(directory).check().await.unwrap().findings
}

async fn filled() -> TempDir {
    let (directory, store) = fresh();
    append(&store, 1, 1..=5).await;
    append(&store, 2, 1..=5).await;
    store.close().await.unwrap();
    directory
}

#[tokio::test]
async fn a_damaged_page_is_found_and_the_rest_can_be_read() {
    let (directory, store) = fresh();
    append(&store, 1, 1..=5).await;
    append(&store, 2, 1..=5000).await;
    store.close().await.unwrap();
    tamper(directory.path(), "PRAGMA wal_checkpoint(TRUNCATE)");
    let path = directory.path().join("buddy.db");
    let middle = fs::metadata(&path).unwrap().len() / 4096 / 2 * 4096;
    OpenOptions::new().write(true).open(&path).unwrap().write_all_at(&[0xa5; 4096], middle).unwrap();
    fs::remove_file(directory.path().join("run/clean")).unwrap();

    for _ in 0..2 {
        match SqliteStore::open(settings(directory.path(), StoreRole::Server)) {
            Err(StoreError::Corrupt(reason)) => assert!(reason.contains("buddy.db"), "{reason}"),
            other => panic!("{other:?}"),
        }
    }
    let store = SqliteStore::open_read_only(settings(directory.path(), StoreRole::Server)).unwrap();
    assert_whole(&store, 1, 5).await;
    assert_eq!(store.list(SessionQuery::default()).await.unwrap().len(), 2);
    // A read ends before the damage, and the next one begins with it.
    let before = store.read(&session(2), 0, 5000).await.unwrap();
    assert!((1000..4000).contains(&before.len()), "{}", before.len());
    assert!(before.iter().zip(1..).all(|(found, seq)| *found == event(2, seq)));
    assert!(matches!(store.read(&session(2), before.len() as u64, 10).await, Err(StoreError::Corrupt(_))));
    assert!(store.writer(&session(1)).await.is_err());
    let report = store.check().await.unwrap();
    assert!(report.findings.iter().any(|finding| matches!(finding, StoreFinding::Database(_))), "{report:?}");
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_and_kept() {
    let directory = filled().await;
    let path = directory.path().join("buddy.db");
    fs::write(&path, "not a database, but a note of 40 letters ".repeat(200)).unwrap();
    fs::remove_file(directory.path().join("buddy.db-wal")).unwrap();
    let opened = SqliteStore::open(settings(directory.path(), StoreRole::Terminal));
    assert!(matches!(&opened, Err(StoreError::Corrupt(reason)) if reason.contains("buddy.db")), "{opened:?}");
    assert!(fs::read_to_string(&path).unwrap().starts_with("not a database"));
}

#[tokio::test]
async fn the_check_names_each_thing_that_is_wrong() {
    let directory = filled().await;
    assert_eq!(findings(directory.path()).await, []);
    tamper(
        directory.path(),
        "UPDATE events SET data = replace(data, '1/3', '1/x') WHERE place % 4294967296 = 3",
    );
    tamper(directory.path(), "DELETE FROM events WHERE place = 2 * 4294967296 + 4");
    let found: Vec<String> = findings(directory.path()).await.iter().map(ToString::to_string).collect();
    let [one, two] = [session(1), session(2)];
    let expected = [
        format!(
            "session `{one}`: event 3: the store is damaged: event 3 of session `{one}` does not match its checksum"
        ),
        format!("session `{two}`: event 4 is missing, event 5 comes instead"),
    ];
    assert_eq!(found, expected);
    let store = open(directory.path());
    // The events before it are still returned.
    for (session, whole) in [(&one, 2), (&two, 3)] {
        assert_eq!(store.read(session, 0, 10).await.unwrap().len(), whole);
        assert!(matches!(store.read(session, whole as u64, 10).await, Err(StoreError::Corrupt(_))));
    }
}

#[tokio::test]
async fn the_check_finds_orphaned_and_lost_data() {
    let directory = filled().await;
    tamper(directory.path(), "UPDATE events SET place = place + 7 * 4294967296 WHERE place > 2 * 4294967296");
    tamper(directory.path(), "DELETE FROM sessions");
    let found = findings(directory.path()).await;
    assert!(
        found.contains(&StoreFinding::Derived {
            session: session(1),
            reason: "its row is missing".to_owned()
        })
    );
    tamper(directory.path(), "DELETE FROM logs WHERE number = 2");
    let store = open(directory.path());
    store.rebuild().await.unwrap();
    let found = store.check().await.unwrap().findings;
    assert!(
        matches!(&found[..], [StoreFinding::Orphans { events: 5 }, StoreFinding::Lost { .. }]),
        "{found:?}"
    );
}

#[tokio::test]
async fn the_list_is_rebuilt_from_the_log() {
    let directory = filled().await;
    let store = open(directory.path());
    let before = store.list(SessionQuery::default()).await.unwrap();
    store.close().await.unwrap();
    tamper(directory.path(), "DELETE FROM sessions WHERE number = 1; UPDATE sessions SET summary = '{}'");
    assert_eq!(findings(directory.path()).await.len(), 2);
    let store = open(directory.path());
    let report = store.rebuild().await.unwrap();
    assert_eq!((report.before, report.after, report.events), (1, 2, 10));
    assert_eq!(store.list(SessionQuery::default()).await.unwrap(), before);
    assert_eq!(store.check().await.unwrap().findings, []);
}

#[tokio::test]
async fn an_append_repairs_its_own_row() {
    let directory = filled().await;
    tamper(directory.path(), "DELETE FROM sessions");
    let store = open(directory.path());
    append(&store, 1, 6..=6).await;
    assert_eq!(store.find(&session(1)).await.unwrap().unwrap().head, 6);
    let found = store.check().await.unwrap().findings;
    assert_eq!(
        found,
        [StoreFinding::Derived { session: session(2), reason: "its row is missing".to_owned() }]
    );
}

#[tokio::test]
async fn a_backup_under_load_is_whole() {
    let (directory, store) = fresh();
    append(&store, 1, 1..=200).await;
    let target = directory.path().join("copy");
    fs::create_dir(&target).unwrap();
    let load = async {
        let writer = store.writer(&session(2)).await.unwrap();
        for seq in 1..=100 {
            writer.append(events(2, [seq])).await.unwrap();
        }
    };
    let (report, ()) = futures::join!(store.backup(target.join("buddy.db")), load);
    let report = report.unwrap();
    assert!(report.events >= 200, "{report:?}");
    let mode = fs::metadata(&report.path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(fs::read_dir(&target).unwrap().count(), 1, "nothing lies beside the copy");
    assert!(store.backup(target.join("buddy.db")).await.is_err(), "a copy is not overwritten");

    let restored = open(&target);
    assert_whole(&restored, 1, 200).await;
    assert_whole(&restored, 2, report.events - 200).await;
    assert_eq!(restored.check().await.unwrap().findings, []);
    append(&restored, 1, 201..=201).await;
    assert_eq!(store.read(&session(1), 199, 10).await.unwrap(), [event(1, 200)]);
}
