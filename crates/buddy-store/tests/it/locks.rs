//! Leases, servers and the clean mark.

use std::os::unix::fs::symlink;
use std::sync::Arc;

use buddy_protocol::{Fact, SessionQuery, SessionState, SessionStore, StoreError, TurnStarted};
use buddy_store::{Integrity, SqliteStore, StoreRole};
use tempfile::TempDir;

use crate::child::{Other, Task};
use crate::support::{append, fresh, open, session, settings, stamp, started};

fn leases(directory: &TempDir) -> usize {
    directory.path().join("run/leases").read_dir().unwrap().count()
}

#[tokio::test]
async fn a_lease_has_a_file_as_long_as_it_is_held() {
    let (directory, store) = fresh();
    let [first, second] =
        [store.writer(&session(1)).await.unwrap(), store.writer(&session(2)).await.unwrap()];
    assert_eq!(leases(&directory), 2);
    drop(first);
    assert_eq!(leases(&directory), 1);
    drop(second);
    assert_eq!(leases(&directory), 0);
}

#[tokio::test]
async fn a_turn_that_nobody_runs_any_more_is_idle_alone_and_in_a_list() {
    let (_directory, store) = fresh();
    let turn = "trn_00000000000000000000000001".parse().unwrap();
    let facts = [started("ann", "/w"), Fact::TurnStarted(TurnStarted { turn })];
    let facts = (1..).zip(facts).map(|(seq, fact)| Arc::new(stamp(1, seq, fact))).collect();
    let writer = store.writer(&session(1)).await.unwrap();
    writer.append(facts).await.unwrap();
    let states = async || {
        let alone = store.find(&session(1)).await.unwrap().unwrap().state;
        [alone, store.list(SessionQuery::default()).await.unwrap()[0].state]
    };
    assert_eq!(states().await, [SessionState::Running; 2]);
    drop(writer);
    assert_eq!(states().await, [SessionState::Idle; 2]);
}

#[tokio::test]
async fn lease_files_of_the_dead_are_swept() {
    let (directory, store) = fresh();
    store.close().await.unwrap();
    let mut holder = Other::start(directory.path(), Task::Hold);
    holder.hear().unwrap();
    holder.kill();
    holder.end();
    assert_eq!(leases(&directory), 1);
    let _store = open(directory.path());
    assert_eq!(leases(&directory), 0);
}

#[tokio::test]
async fn a_planted_link_is_not_followed() {
    let (directory, store) = fresh();
    let victim = directory.path().join("victim");
    std::fs::write(&victim, "untouched").unwrap();
    symlink(&victim, directory.path().join(format!("run/leases/{}.lock", session(1)))).unwrap();
    assert!(matches!(store.writer(&session(1)).await.map(drop), Err(StoreError::Io(_))));
    store.close().await.unwrap();
    for name in ["run/store.lock", "run/gate.lock", "buddy.db-wal"] {
        let path = directory.path().join(name);
        std::fs::remove_file(&path).unwrap();
        symlink(&victim, &path).unwrap();
        let opened = SqliteStore::open(settings(directory.path(), StoreRole::Terminal));
        assert!(matches!(opened, Err(StoreError::Io(_))), "{name}: {opened:?}");
        std::fs::remove_file(&path).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "untouched");
}

#[tokio::test]
async fn a_store_has_one_server_and_any_number_of_terminals() {
    let (directory, _terminal) = fresh();
    let mut server = Other::start(directory.path(), Task::Serve);
    server.hear().unwrap();
    let second = || SqliteStore::open(settings(directory.path(), StoreRole::Server));
    match second() {
        Err(StoreError::InUse { holder }) => assert_eq!(holder, format!("process {}", server.id())),
        unexpected => panic!("{unexpected:?}"),
    }
    append(&open(directory.path()), 1, 1..=1).await;
    server.kill();
    server.end();
    let store = second().unwrap();
    assert!(matches!(second(), Err(StoreError::InUse { .. })));
    store.close().await.unwrap();
    second().unwrap();
}

#[tokio::test]
async fn the_database_is_checked_only_when_it_was_not_closed() {
    let (directory, store) = fresh();
    assert!(store.report().created);
    assert_eq!(store.report().integrity, Integrity::Clean);
    assert_eq!(open(directory.path()).report().integrity, Integrity::Shared);
    store.close().await.unwrap();
    let store = open(directory.path());
    assert_eq!((store.report().created, store.report().integrity), (false, Integrity::Clean));
    drop(store);

    let mut other = Other::start(directory.path(), Task::Open);
    assert_eq!(other.hear().as_deref(), Some("Clean"));
    other.kill();
    other.end();
    assert_eq!(open(directory.path()).report().integrity, Integrity::Checked);
    assert_eq!(open(directory.path()).report().integrity, Integrity::Clean);
    let later = buddy_store::StoreSettings {
        boot_id: Some("the next run".to_owned()),
        ..settings(directory.path(), StoreRole::Terminal)
    };
    assert_eq!(SqliteStore::open(later.clone()).unwrap().report().integrity, Integrity::Checked);
    assert_eq!(SqliteStore::open_async(later).await.unwrap().report().integrity, Integrity::Clean);
}

#[tokio::test]
async fn processes_that_open_and_close_at_once_never_miss_the_mark() {
    let (directory, store) = fresh();
    drop(store);
    for _ in 0..5 {
        let mut others: Vec<Other> = (0..4).map(|_| Other::start(directory.path(), Task::Open)).collect();
        for other in &mut others {
            let integrity = other.hear().unwrap();
            assert_ne!(integrity, "Checked");
            other.go_on();
        }
        assert!(others.into_iter().all(Other::end));
    }
}
