//! Files whose end is missing: everything before the cut is kept and read, and the loss is reported.

use std::fs::{self, File, OpenOptions};

use buddy_protocol::{Event, SessionStore, StoreError};
use buddy_store::{SqliteStore, StoreFinding, StoreRole};

use crate::damage::tamper;
use crate::support::{append, assert_whole, event, fresh, open, session, settings, soak_rounds};

/// The bytes of a page, and of a page in the log ahead with its header.
const PAGE: u64 = 4096;
const FRAME: u64 = PAGE + 24;

/// The lengths down to `least`. All of them take minutes, so most of a page is sampled unless there is time.
fn lengths(full: u64, least: u64, piece: u64) -> impl Iterator<Item = u64> {
    let is_all = soak_rounds().is_some();
    // The header of a page, and the record at its end, which was written first.
    let is_edge = move |length: u64| (length - least) % piece < 30 || (length - least) % piece > piece - 110;
    (least..=full).rev().filter(move |&length| is_all || is_edge(length) || length % 97 == 0)
}

/// The events that can be read, and how the reading ended.
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

#[tokio::test]
async fn the_log_ahead_is_cut_at_any_byte() {
    const RECORDS: u64 = 6;
    let (directory, store) = fresh();
    let path = directory.path().join("buddy.db-wal");
    let length = || fs::metadata(&path).unwrap().len();
    // The length of the file after each record.
    let mut ends = Vec::new();
    for seq in 1..=RECORDS {
        append(&store, 1, [seq]).await;
        ends.push(length());
    }
    store.close().await.unwrap();
    assert_eq!(ends.last(), Some(&length()), "closing copies nothing into the database");
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    for cut in lengths(ends[5], ends[2], FRAME) {
        file.set_len(cut).unwrap();
        let kept = ends.iter().filter(|end| **end <= cut).count() as u64;
        let store = open(directory.path());
        let findings = store.check().await.unwrap().findings;
        let (seen, ended) = look(&store, 1).await;
        assert_eq!(seen, (1..=kept).map(|seq| event(1, seq)).collect::<Vec<_>>(), "cut to {cut}");
        if kept == RECORDS {
            assert!(findings.is_empty() && ended.is_ok(), "{findings:?}, {ended:?}");
        } else {
            let reason = match kept + 1 {
                RECORDS => format!("event {RECORDS}, the last one, is missing"),
                first => format!("the last events are missing, from {first} to {RECORDS}"),
            };
            assert!(matches!(&ended, Err(StoreError::Corrupt(told)) if told.contains(&reason)), "{ended:?}");
            assert_eq!(findings, [StoreFinding::End { session: session(1), reason }], "cut to {cut}");
            assert!(store.writer(&session(1)).await.is_err(), "nothing is appended to a cut log");
        }
        store.close().await.unwrap();
        assert_eq!(length(), cut, "opening and reading leave the file as it is");
    }
}

#[tokio::test]
async fn the_database_is_cut_at_any_byte() {
    let (directory, store) = fresh();
    append(&store, 1, 1..=5).await;
    append(&store, 2, 1..=200).await;
    store.close().await.unwrap();
    tamper(directory.path(), "PRAGMA wal_checkpoint(TRUNCATE)");
    let path = directory.path().join("buddy.db");
    let full = fs::metadata(&path).unwrap().len();
    let file: File = OpenOptions::new().write(true).open(&path).unwrap();
    for cut in lengths(full, full - 3 * PAGE, PAGE) {
        file.set_len(cut).unwrap();
        match SqliteStore::open(settings(directory.path(), StoreRole::Terminal)) {
            // The bytes that are cut off may have been empty space, or be missed only when they are read.
            Ok(store) => store.close().await.unwrap(),
            Err(StoreError::Corrupt(reason)) => assert!(reason.contains("opened for reading"), "{reason}"),
            Err(other) => panic!("{other}"),
        }
        let store = SqliteStore::open_read_only(settings(directory.path(), StoreRole::Terminal)).unwrap();
        assert_whole(&store, 1, 5).await;
        let (seen, ended) = look(&store, 2).await;
        assert!(seen.len() > 100, "{} events are left with {cut} bytes", seen.len());
        assert!(seen.iter().zip(1..).all(|(found, seq)| *found == event(2, seq)), "cut to {cut}");
        let is_clean = store.check().await.unwrap().is_clean();
        assert_eq!(seen.len() == 200, ended.is_ok(), "{ended:?}");
        assert!(!is_clean || seen.len() == 200, "cut to {cut}: {} events, and no word about it", seen.len());
        assert!(cut > full - PAGE || !is_clean, "cut to {cut}");
    }
    assert_eq!(fs::metadata(&path).unwrap().len(), full - 3 * PAGE);
}
