//! Changes on another host can be undone there, with any shell.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use buddy_exec::undo::{Header, UndoSettings, UndoStore, Which};
use buddy_exec::{Bounds, Deletion, Kept, ListOptions, Recorder, RemoteTarget, Target};
use buddy_protocol::{Clock, UnixMillis};

use super::place::Place;

struct Still;

impl Clock for Still {
    fn now(&self) -> UnixMillis {
        UnixMillis(1)
    }
}

struct Yard {
    target: Arc<RemoteTarget>,
    store: UndoStore,
    _place: Place,
    _folder: tempfile::TempDir,
}

impl Yard {
    fn new(place: Place) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings = UndoSettings { max_file_bytes: 1_000, ..UndoSettings::default() };
        let store = UndoStore::new(folder.path().join("undo"), settings, Arc::new(Still));
        let target = place.remote.clone().unwrap();
        Self { target, store, _place: place, _folder: folder }
    }

    fn header(id: &str) -> Header {
        let (label, session) = ("a call".to_owned(), "s".to_owned());
        Header {
            id: id.to_owned(),
            label,
            session,
            workspace: None,
            unix_ms: 1,
            undoes: None,
            target: None,
            by: None,
        }
    }

    fn recorder(&self, id: &str) -> Recorder {
        self.store.begin(Self::header(id))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.target.describe().cwd.join(name)
    }

    async fn write(&self, recorder: &Recorder, name: &str, content: &[u8]) {
        self.target.write(&Bounds::open(), recorder, &self.path(name), content).await.unwrap();
    }

    async fn delete(&self, recorder: &Recorder, name: &str, deletion: Deletion) {
        self.target.delete(&Bounds::open(), recorder, &self.path(name), deletion).await.unwrap();
    }

    async fn read(&self, name: &str) -> Option<Vec<u8>> {
        let read = self.target.read(&Bounds::open(), &self.path(name), 10_000).await;
        read.ok().map(|content| content.bytes)
    }

    async fn undo(&self, id: &str) {
        let plan = self.store.plan_on(&Which::Id(id.to_owned()), &self.target).await.unwrap();
        assert_eq!(plan.conflicts(), 0, "{plan:#?}");
        self.store.apply_on(&plan, Self::header(&format!("undo-{id}")), &self.target).await.unwrap();
    }
}

async fn check(place: Place) {
    let yard = Yard::new(place);
    let off = Recorder::off();
    yard.write(&off, "with space", b"old\0\n").await;
    yard.write(&off, "gone", b"was here").await;
    yard.write(&off, "source", b"moved").await;
    changes_come_back(&yard).await;
    too_large_files_are_reported(&yard).await;
}

async fn changes_come_back(yard: &Yard) {
    let recorder = yard.recorder("one");
    assert_eq!(recorder.kept(), Kept::Nothing);
    yard.write(&recorder, "with space", b"new").await;
    yard.write(&recorder, "a/b/made", b"made").await;
    yard.delete(&recorder, "gone", Deletion::Single).await;
    let (open, from, to) = (Bounds::open(), yard.path("source"), yard.path("c/place"));
    yard.target.rename(&open, &recorder, &from, &to).await.unwrap();
    yard.target.make_directory(&open, &recorder, &yard.path("empty/er")).await.unwrap();
    assert_eq!(recorder.kept(), Kept::All);
    drop(recorder);
    yard.undo("one").await;
    assert_eq!(yard.read("with space").await.as_deref(), Some(&b"old\0\n"[..]));
    assert_eq!(yard.read("gone").await.as_deref(), Some(&b"was here"[..]));
    assert_eq!(yard.read("source").await.as_deref(), Some(&b"moved"[..]));
    let options = ListOptions { depth: 1, limit: 10, with_ignored: true };
    for name in ["a", "c", "empty"] {
        let listed = yard.target.list(&open, &yard.path(name), options).await;
        assert!(listed.is_err(), "{name} is gone");
    }
    yard.undo("undo-one").await;
    assert_eq!(yard.read("with space").await.as_deref(), Some(&b"new"[..]));
    assert_eq!(yard.read("a/b/made").await.as_deref(), Some(&b"made"[..]));
    assert_eq!((yard.read("gone").await, yard.read("source").await), (None, None));
}

async fn too_large_files_are_reported(yard: &Yard) {
    yard.write(&Recorder::off(), "large", &[b'x'; 2_000]).await;
    let recorder = yard.recorder("two");
    yard.write(&recorder, "large", b"small").await;
    assert_eq!(recorder.kept(), Kept::Part);
    drop(recorder);
    let plan = yard.store.plan_on(&Which::Id("two".to_owned()), &yard.target).await.unwrap();
    assert!(plan.steps.is_empty(), "{plan:#?}");
    assert!(plan.not_covered.iter().any(|left_out| left_out.path.0.ends_with(Path::new("large"))));
    let entry = yard.store.list().unwrap().remove(0);
    assert!(!entry.is_covered, "{entry:?}");
}

#[tokio::test]
async fn with_nothing_but_busybox() {
    check(Place::busybox().await).await;
}

#[tokio::test]
async fn over_ssh() {
    check(Place::ssh().await).await;
}

#[tokio::test]
async fn in_a_container() {
    check(Place::container().await).await;
}
