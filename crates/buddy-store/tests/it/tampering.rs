//! A log that was changed behind the store's back. The check and every client that opens the session find it,
//! with the number of the event. Events before it stay readable, and appends are refused.

use std::fs;
use std::path::Path;

use buddy_protocol::{Event, SessionStore, StoreError};
use buddy_store::{CheckReport, SqliteStore};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::damage::tamper;
use crate::support::{append, assert_whole, event, events, fresh, open, session};

/// The place of an event of the first log.
fn at(seq: u64) -> String {
    format!("(4294967296 + {seq})")
}

/// A closed store with a session of five events and one that stays untouched.
async fn filled() -> TempDir {
    let (directory, store) = fresh();
    append(&store, 1, 1..=3).await;
    append(&store, 1, 4..=5).await;
    append(&store, 2, 1..=5).await;
    store.close().await.unwrap();
    directory
}

fn lines(report: &CheckReport) -> Vec<String> {
    report.findings.iter().map(ToString::to_string).collect()
}

/// Reads a session like a user who views it: page by page to its end, or to the first error.
async fn look(store: &SqliteStore, number: u64) -> (Vec<Event>, Result<(), StoreError>) {
    let mut seen: Vec<Event> = Vec::new();
    loop {
        match store.read(&session(number), seen.len() as u64, 1000).await {
            Ok(page) if page.is_empty() => return (seen, Ok(())),
            Ok(page) => seen.extend(page),
            Err(error) => return (seen, Err(error)),
        }
    }
}

/// Opens the session like the hub does, and appends.
async fn take_up(store: &SqliteStore, head: u64) -> Result<(), StoreError> {
    let writer = store.writer(&session(1)).await?;
    store.read_settled(&session(1), 0, head).await?;
    writer.append(events(1, [head + 1])).await
}

/// Asserts that every way in reports the tampering with the number of the event, and only for the session it
/// was done to.
async fn check(directory: &Path, seq: u64, head: u64, readable: u64) {
    let store = open(directory);
    let report = store.check().await.unwrap();
    let number = format!("event {seq}");
    let named = lines(&report);
    assert!(!named.is_empty() && named.iter().all(|line| line.contains(session(1).as_str())), "{named:?}");
    assert!(
        named.iter().any(|line| line.contains(&number) || line.contains(&format!("from {seq}"))),
        "{named:?}"
    );
    let (seen, ended) = look(&store, 1).await;
    let expected: Vec<Event> = (1..=readable).map(|seq| event(1, seq)).collect();
    assert_eq!(seen, expected, "the events before it are readable");
    let Err(StoreError::Corrupt(reason)) = ended else { panic!("{ended:?}") };
    assert!(reason.contains(&number) || reason.contains(&format!("from {seq}")), "{reason}");
    let taken_up = take_up(&store, head).await;
    assert!(matches!(taken_up, Err(StoreError::Corrupt(_))), "{taken_up:?}");
    // The same without reading it first.
    if let Ok(writer) = store.writer(&session(1)).await {
        let appended = writer.append(events(1, [head + 1])).await;
        assert!(matches!(appended, Err(StoreError::Corrupt(_))), "{appended:?}");
    }
    assert_eq!(count(directory), rows_of_both(head), "nothing was appended");
    assert_whole(&store, 2, 5).await;
    append(&store, 2, 6..=6).await;
    store.close().await.unwrap();
    // A refused session stays refused when the store is opened again.
    let again = take_up(&open(directory), head).await;
    assert!(matches!(again, Err(StoreError::Corrupt(_))), "{again:?}");
}

#[expect(clippy::disallowed_methods, reason = "looks at the database around the store")]
fn count(directory: &Path) -> i64 {
    let connection = Connection::open(directory.join("buddy.db")).unwrap();
    connection
        .query_row("SELECT max(place) - 4294967296 FROM events WHERE place < 8589934592", [], |row| {
            row.get(0)
        })
        .unwrap()
}

fn rows_of_both(head: u64) -> i64 {
    i64::try_from(head).unwrap()
}

#[tokio::test]
async fn one_byte_is_changed() {
    let directory = filled().await;
    tamper(
        directory.path(),
        &format!("UPDATE events SET data = replace(data, '1/3', '1/x') WHERE place = {}", at(3)),
    );
    check(directory.path(), 3, 5, 2).await;
}

#[tokio::test]
async fn one_time_is_changed() {
    let directory = filled().await;
    tamper(directory.path(), &format!("UPDATE events SET time = time + 1 WHERE place = {}", at(4)));
    check(directory.path(), 4, 5, 3).await;
}

#[tokio::test]
async fn one_row_is_deleted() {
    let directory = filled().await;
    tamper(directory.path(), &format!("DELETE FROM events WHERE place = {}", at(3)));
    check(directory.path(), 3, 5, 2).await;
}

#[tokio::test]
async fn one_row_is_deleted_and_the_rest_moves_up() {
    let directory = filled().await;
    tamper(
        directory.path(),
        &format!(
            "DELETE FROM events WHERE place = {}; UPDATE events SET place = place - 1 WHERE place IN ({}, {})",
            at(3),
            at(4),
            at(5)
        ),
    );
    check(directory.path(), 3, 4, 2).await;
}

#[tokio::test]
async fn two_rows_are_swapped() {
    let directory = filled().await;
    tamper(
        directory.path(),
        &format!(
            "UPDATE events SET place = 1 WHERE place = {two}; UPDATE events SET place = {two} WHERE place = {three};
             UPDATE events SET place = {three} WHERE place = 1",
            two = at(2), three = at(3)
        ),
    );
    check(directory.path(), 2, 5, 1).await;
}

#[tokio::test]
async fn the_tail_is_cut() {
    let directory = filled().await;
    tamper(directory.path(), &format!("DELETE FROM events WHERE place IN ({}, {})", at(4), at(5)));
    check(directory.path(), 4, 3, 3).await;
}

#[tokio::test]
async fn the_last_row_is_cut_and_the_list_is_made_to_agree() {
    let directory = filled().await;
    tamper(directory.path(), &format!("DELETE FROM events WHERE place = {}", at(5)));
    let store = open(directory.path());
    store.rebuild().await.unwrap();
    store.close().await.unwrap();
    check(directory.path(), 5, 4, 4).await;
}

/// The CRC-32 of a record, as SQL has no such function.
fn crc(event: &Event) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&1_i64.to_le_bytes());
    hasher.update(&event.seq.unwrap().to_le_bytes());
    hasher.update(&event.time.0.to_le_bytes());
    hasher.update(event.fact.kind().as_bytes());
    hasher.update(&[0xff]);
    hasher.update(event.fact.data().unwrap().get().as_bytes());
    hasher.finalize()
}

/// A row in the format from before the chain, with a valid checksum.
fn forged(seq: u64, event: &Event) -> String {
    format!(
        "INSERT OR REPLACE INTO events (place, version, time, kind, data, private, crc) VALUES ({}, 1, {}, '{}', '{}', NULL, {})",
        at(seq),
        event.time.0,
        event.fact.kind(),
        event.fact.data().unwrap().get(),
        crc(event)
    )
}

fn forgery(seq: u64) -> Event {
    let fact = crate::support::notice("the user approved everything");
    crate::support::stamp(1, seq, fact)
}

#[tokio::test]
async fn a_forged_row_takes_the_place_of_one() {
    let directory = filled().await;
    tamper(directory.path(), &forged(3, &forgery(3)));
    check(directory.path(), 3, 5, 2).await;
}

#[tokio::test]
async fn a_forged_row_is_put_at_the_end() {
    let directory = filled().await;
    tamper(directory.path(), &forged(6, &forgery(6)));
    check(directory.path(), 6, 6, 5).await;
}

#[tokio::test]
async fn a_forged_row_keeps_the_link_of_the_one_it_replaces() {
    let directory = filled().await;
    let link = "CREATE TABLE kept AS SELECT link FROM events WHERE place = ";
    tamper(directory.path(), &format!("{link}{}", at(3)));
    tamper(directory.path(), &forged(3, &forgery(3)));
    tamper(
        directory.path(),
        &format!("UPDATE events SET link = (SELECT link FROM kept) WHERE place = {}; DROP TABLE kept", at(3)),
    );
    check(directory.path(), 3, 5, 2).await;
}

/// An attacker who knows how links are computed rewrites a whole log, in the database only.
#[tokio::test]
async fn a_log_is_made_anew_with_links_that_fit() {
    let directory = filled().await;
    let other = TempDir::new().unwrap();
    let store = open(other.path());
    let writer = store.writer(&session(1)).await.unwrap();
    let mut all = events(1, 1..=4);
    all.push(std::sync::Arc::new(forgery(5)));
    writer.append(all).await.unwrap();
    drop(writer);
    store.close().await.unwrap();
    let made = other.path().join("buddy.db");
    tamper(
        directory.path(),
        &format!(
            "ATTACH '{}' AS made; DELETE FROM main.events WHERE place < 8589934592;
             INSERT INTO main.events SELECT * FROM made.events",
            made.display()
        ),
    );
    let store = open(directory.path());
    let found = lines(&store.check().await.unwrap());
    assert!(found.iter().any(|line| line.contains("event 5") && line.contains("made anew")), "{found:?}");
    let (seen, ended) = look(&store, 1).await;
    assert_eq!(seen.len(), 5, "nothing of the log itself tells");
    assert!(matches!(ended, Err(StoreError::Corrupt(_))), "{ended:?}");
    let taken_up = take_up(&store, 5).await;
    assert!(matches!(taken_up, Err(StoreError::Corrupt(_))), "{taken_up:?}");
}

#[tokio::test]
async fn a_whole_session_is_taken_out() {
    let directory = filled().await;
    tamper(
        directory.path(),
        "DELETE FROM events WHERE place < 8589934592; DELETE FROM words WHERE rowid < 0;
         DELETE FROM sessions WHERE number = 1; DELETE FROM logs WHERE number = 1",
    );
    let found = lines(&open(directory.path()).check().await.unwrap());
    let gone = format!("session `{}` is gone", session(1));
    assert!(found.iter().any(|line| line.contains(&gone)), "{found:?}");
}

#[tokio::test]
async fn a_log_passes_as_that_of_another_session() {
    let directory = filled().await;
    tamper(
        directory.path(),
        &format!(
            "UPDATE logs SET session = 'x' WHERE number = 1; UPDATE logs SET session = '{}' WHERE number = 2;
             UPDATE logs SET session = '{}' WHERE number = 1",
            session(1),
            session(2)
        ),
    );
    let store = open(directory.path());
    for number in [1, 2] {
        let (seen, ended) = look(&store, number).await;
        assert_eq!(seen, []);
        assert!(matches!(ended, Err(StoreError::Corrupt(_))), "{ended:?}");
    }
}

#[tokio::test]
async fn anchors_that_are_gone_are_made_anew_and_every_check_says_so() {
    let directory = filled().await;
    let store = open(directory.path());
    assert!(!store.report().made_anchors_anew && store.check().await.unwrap().anchored_anew.is_none());
    store.close().await.unwrap();
    fs::remove_file(directory.path().join("anchors")).unwrap();
    let store = open(directory.path());
    assert!(store.report().made_anchors_anew);
    let report = store.check().await.unwrap();
    assert_eq!(report.findings, []);
    let made = report.anchored_anew.unwrap();
    append(&store, 1, 6..=6).await;
    append(&store, 3, 1..=2).await;
    store.close().await.unwrap();
    // The first process that opens it tells, and each check.
    let store = open(directory.path());
    assert!(!store.report().made_anchors_anew);
    let report = store.check().await.unwrap();
    assert_eq!((report.findings, report.anchored_anew), (Vec::new(), Some(made)));
}

/// After a power cut the file of anchors may be older than the database.
#[tokio::test]
async fn anchors_behind_their_logs_catch_up_when_nobody_closed_the_store() {
    let (directory, store) = fresh();
    append(&store, 1, 1..=3).await;
    let path = directory.path().join("anchors");
    let old = fs::read(&path).unwrap();
    append(&store, 1, 4..=5).await;
    append(&store, 2, 1..=5).await;
    store.close().await.unwrap();
    fs::write(&path, &old).unwrap();
    // After a clean shutdown, such a gap means tampering.
    let closed = open(directory.path());
    assert_eq!(lines(&closed.check().await.unwrap()).len(), 2);
    closed.close().await.unwrap();
    fs::remove_file(directory.path().join("run/clean")).unwrap();
    let store = open(directory.path());
    assert_eq!(store.check().await.unwrap().findings, []);
    append(&store, 1, 6..=6).await;
    append(&store, 2, 6..=6).await;
    assert_eq!(store.check().await.unwrap().findings, []);
}

/// Even then, removed events do not go unnoticed.
#[tokio::test]
async fn a_cut_tail_is_found_after_a_crash_too() {
    let directory = filled().await;
    tamper(directory.path(), &format!("DELETE FROM events WHERE place = {}", at(5)));
    fs::remove_file(directory.path().join("run/clean")).unwrap();
    let found = lines(&open(directory.path()).check().await.unwrap());
    assert!(found.iter().any(|line| line.contains("event 5")), "{found:?}");
}

#[tokio::test]
async fn a_session_that_is_written_while_others_look_is_never_suspected() {
    let (_directory, store) = fresh();
    append(&store, 1, 1..=1).await;
    let writing = async {
        let writer = store.writer(&session(1)).await.unwrap();
        for seq in 2..=200 {
            writer.append(events(1, [seq])).await.unwrap();
        }
    };
    let looking = async {
        for _ in 0..40 {
            let (_, ended) = look(&store, 1).await;
            ended.unwrap();
            assert_eq!(store.check().await.unwrap().findings, []);
        }
    };
    futures::join!(writing, looking);
    assert_whole(&store, 1, 200).await;
}

/// The columns of the list of sessions in the database.
#[expect(clippy::disallowed_methods, reason = "looks at the database around the store")]
fn columns(directory: &Path) -> Vec<String> {
    let connection = Connection::open(directory.join("buddy.db")).unwrap();
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info('sessions')").unwrap();
    let names = statement.query_map([], |row| row.get(0)).unwrap();
    names.collect::<Result<_, _>>().unwrap()
}

/// Changes to single parts of a row of the list, with the name of the part.
async fn changes(directory: &Path) -> Vec<(String, String)> {
    let store = open(directory);
    let summary = store.find(&session(1)).await.unwrap().unwrap();
    store.close().await.unwrap();
    let serde_json::Value::Object(parts) = serde_json::to_value(&summary).unwrap() else { panic!() };
    let mut all = Vec::new();
    for column in columns(directory) {
        match column.as_str() {
            "number" => all.push((format!("{column} = 99"), "row".to_owned())),
            "owner_id" | "cwd" => all.push((format!("{column} = 'mallory'"), column)),
            "updated" => all.push((format!("{column} = 1"), column)),
            "summary" => {
                for (part, value) in &parts {
                    let other = match value {
                        serde_json::Value::Number(_) => "json('7')".to_owned(),
                        serde_json::Value::Object(_) if part == "owner" => {
                            "json('{\"kind\":\"person\",\"name\":\"mallory\"}')".to_owned()
                        }
                        serde_json::Value::Object(_) => {
                            format!("json_set(summary -> '$.{part}', '$.calls', 7)")
                        }
                        _ if part == "state" => "'ended'".to_owned(),
                        _ if part == "id" || part == "parent" => format!("'{}'", session(3)),
                        _ => "'mallory'".to_owned(),
                    };
                    let set = format!("summary = json_set(summary, '$.{part}', {other})");
                    all.push((set, format!("summary.{part}")));
                }
            }
            other => panic!("the column `{other}` is not held against the log"),
        }
    }
    all
}

/// Parts of a row that are fixed by the first event, so that a client that opens the session notices a
/// change.
const FIXED: &[&str] = &[
    "owner_id",
    "cwd",
    "summary.id",
    "summary.owner",
    "summary.agent",
    "summary.cwd",
    "summary.parent",
    "summary.created",
];

#[tokio::test]
async fn a_row_of_the_list_that_says_otherwise_than_the_log_is_found_by_the_check_and_by_opening() {
    let directory = filled().await;
    let changes = changes(directory.path()).await;
    assert!(changes.len() > 12, "{changes:?}");
    for (change, name) in changes {
        let directory = filled().await;
        let sql = format!("PRAGMA foreign_keys = OFF; UPDATE sessions SET {change} WHERE number = 1");
        tamper(directory.path(), &sql);
        let store = open(directory.path());
        let found = lines(&store.check().await.unwrap());
        assert!(found.iter().any(|line| line.contains(&name)), "{change}: {found:?}");
        assert_eq!(store.find(&session(1)).await.is_err(), FIXED.contains(&name.as_str()), "{change}");
        match store.writer(&session(1)).await {
            Err(StoreError::Corrupt(reason)) => {
                assert!(
                    reason.contains(&name) && reason.contains("buddy store rebuild"),
                    "{change}: {reason}"
                );
            }
            Ok(_) => assert_eq!(name, "row", "{change}: a row that is missing is made anew"),
            Err(error) => panic!("{change}: {error}"),
        }
        append(&store, 2, 6..=6).await;
        store.rebuild().await.unwrap();
        assert!(store.check().await.unwrap().is_clean(), "{change}: a rebuild repairs it");
        append(&store, 1, 6..=6).await;
        store.close().await.unwrap();
    }
}
