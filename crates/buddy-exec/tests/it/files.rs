//! Reading, writing and listing real files.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use buddy_exec::{
    BEFORE_CAP, Bounds, EntryKind, FileContent, ListOptions, Listing, NotFile, Recorder, Target, TargetError,
    Written,
};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::stage::{PATIENCE, Stage};

impl Stage {
    async fn read(&self, path: &str, limit: u64) -> Result<FileContent, TargetError> {
        tokio::time::timeout(PATIENCE, self.target().read(&Bounds::open(), Path::new(path), limit))
            .await
            .unwrap()
    }

    async fn write(&self, path: &str, content: &str) -> Result<Written, TargetError> {
        tokio::time::timeout(
            PATIENCE,
            self.target().write(&Bounds::open(), &Recorder::off(), Path::new(path), content.as_bytes()),
        )
        .await
        .unwrap()
    }

    async fn list(&self, path: &str, depth: u32, limit: usize) -> Result<Listing, TargetError> {
        let options = ListOptions { depth, limit, with_ignored: true };
        self.target().list(&Bounds::open(), Path::new(path), options).await
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    fn make_fifo(&self, name: &str) {
        mknodat(CWD, self.path(name), FileType::Fifo, Mode::RWXU, 0).unwrap();
    }
}

fn what(error: &TargetError) -> Option<NotFile> {
    match error {
        TargetError::NotAFile { what, .. } => Some(*what),
        _ => None,
    }
}

#[tokio::test]
async fn reads_up_to_the_limit() {
    let stage = Stage::new();
    fs::write(stage.path("file"), "0123456789").unwrap();
    let check = async |limit| {
        let content = stage.read("file", limit).await.unwrap();
        (String::from_utf8(content.bytes).unwrap(), content.size, content.truncated)
    };
    assert_eq!(check(100).await, ("0123456789".into(), 10, false));
    assert_eq!(check(10).await, ("0123456789".into(), 10, false));
    assert_eq!(check(9).await, ("012345678".into(), 10, true));
    assert_eq!(check(0).await, (String::new(), 10, true));
}

#[tokio::test]
async fn reads_files_whose_size_is_not_known() {
    let content = Stage::new().read("/proc/self/status", 10).await.unwrap();
    assert_eq!((content.bytes.len(), content.truncated), (10, true));
}

#[tokio::test]
async fn reads_only_regular_files() {
    let stage = Stage::new();
    stage.make_fifo("fifo");
    let _listener = UnixListener::bind(stage.path("socket")).unwrap();
    symlink("fifo", stage.path("link")).unwrap();
    for (path, expected) in [
        ("fifo", NotFile::Fifo),
        ("link", NotFile::Fifo),
        ("socket", NotFile::Socket),
        ("/dev/zero", NotFile::Device),
        ("/dev/tty", NotFile::Device),
        (".", NotFile::Directory),
    ] {
        let error = stage.read(path, 10).await.unwrap_err();
        assert_eq!(what(&error), Some(expected), "{path}: {error}");
    }
    assert!(matches!(stage.read("missing", 10).await, Err(TargetError::NotFound { .. })));
}

#[tokio::test]
async fn writes_a_new_file_with_its_parents() {
    let stage = Stage::new();
    let written = stage.write("a/b/c.txt", "hello").await.unwrap();
    assert_eq!(written, Written { bytes: 5, created: true, before: None });
    assert_eq!(stage.text("a/b/c.txt"), "hello");
}

#[tokio::test]
async fn replaces_a_file_and_keeps_its_mode() {
    let stage = Stage::new();
    fs::write(stage.path("tool"), "old").unwrap();
    fs::set_permissions(stage.path("tool"), fs::Permissions::from_mode(0o751)).unwrap();
    let written = stage.write("tool", "new!").await.unwrap();
    assert_eq!(written, Written { bytes: 4, created: false, before: Some(b"old".to_vec()) });
    assert_eq!(stage.text("tool"), "new!");
    assert_eq!(fs::metadata(stage.path("tool")).unwrap().permissions().mode() & 0o7777, 0o751);
    assert_eq!(fs::read_dir(stage.path(".")).unwrap().count(), 1, "nothing temporary is left");
}

#[tokio::test]
async fn hands_back_only_what_can_be_compared() {
    let stage = Stage::new();
    fs::File::create(stage.path("big")).unwrap().set_len(BEFORE_CAP + 1).unwrap();
    assert_eq!(stage.write("big", "small").await.unwrap().before, None);
}

#[tokio::test]
async fn writes_through_no_link_and_says_where_it_leads() {
    let stage = Stage::new();
    fs::create_dir(stage.path("real")).unwrap();
    fs::write(stage.path("real/file"), "old").unwrap();
    symlink("real/file", stage.path("near")).unwrap();
    symlink(stage.path("near"), stage.path("far")).unwrap();
    symlink("real/none/yet", stage.path("dangling")).unwrap();
    symlink("real", stage.path("directory")).unwrap();
    let place = stage.path("real/file").canonicalize().unwrap();
    for link in ["near", "far", "directory/file"] {
        match stage.write(link, "new").await {
            Err(TargetError::Link { to, .. }) => assert_eq!(to.as_deref(), Some(place.as_path()), "{link}"),
            other => panic!("{link}: {other:?}"),
        }
    }
    assert!(matches!(stage.write("dangling", "born").await, Err(TargetError::Link { .. })));
    assert_eq!(stage.text("real/file"), "old");
    assert_eq!(fs::read_dir(stage.path("real")).unwrap().count(), 1);
    for link in ["near", "far", "dangling", "directory"] {
        assert!(stage.path(link).is_symlink(), "{link}");
    }
}

#[tokio::test]
async fn refuses_to_write_what_is_no_file() {
    let stage = Stage::new();
    stage.make_fifo("fifo");
    symlink("loop", stage.path("loop")).unwrap();
    fs::create_dir(stage.path("directory")).unwrap();
    fs::write(stage.path("file"), "").unwrap();
    let check = async |path: &'static str| stage.write(path, "x").await.unwrap_err();
    assert_eq!(what(&check("fifo").await), Some(NotFile::Fifo));
    assert_eq!(what(&check("directory").await), Some(NotFile::Directory));
    assert_eq!(what(&check("/dev/null").await), Some(NotFile::Device));
    assert!(matches!(check("file/below").await, TargetError::NotADirectory { .. }));
    assert!(matches!(check("loop").await, TargetError::Link { .. }));
}

#[tokio::test]
async fn a_reader_sees_the_old_or_the_new_and_nothing_between() {
    let stage = Stage::new();
    let [old, new] = ["a", "b"].map(|letter| letter.repeat(300_000));
    stage.write("file", &old).await.unwrap();
    let path = stage.path("file");
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let reader = std::thread::spawn(move || {
        let mut mixed = 0;
        while stopped.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
            let content = fs::read(&path).unwrap();
            mixed += usize::from(content.len() != 300_000 || content.iter().any(|&byte| byte != content[0]));
        }
        mixed
    });
    for _ in 0..10 {
        stage.write("file", &new).await.unwrap();
        stage.write("file", &old).await.unwrap();
    }
    drop(stop);
    assert_eq!(reader.join().unwrap(), 0);
}

fn tree() -> Stage {
    let stage = Stage::new();
    fs::create_dir_all(stage.path("b/deep")).unwrap();
    fs::write(stage.path("b/deep/x"), "").unwrap();
    fs::write(stage.path("b/two"), "22").unwrap();
    fs::write(stage.path("a"), "1").unwrap();
    stage.make_fifo("c");
    symlink("b", stage.path("d")).unwrap();
    stage
}

fn paths(listing: &Listing) -> Vec<PathBuf> {
    listing.entries.iter().map(|entry| entry.path.clone()).collect()
}

#[tokio::test]
async fn lists_a_directory_in_order_with_kinds_and_sizes() {
    let stage = tree();
    let listing = stage.list("", 1, 100).await.unwrap();
    assert!(!listing.truncated);
    let entries: Vec<_> =
        listing.entries.iter().map(|entry| (entry.path.to_str().unwrap(), entry.kind)).collect();
    let expected = [
        ("a", EntryKind::File),
        ("b", EntryKind::Directory),
        ("c", EntryKind::Other),
        ("d", EntryKind::Symlink),
    ];
    assert_eq!(entries, expected);
    assert_eq!(listing.entries[0].size, 1);
    assert!(listing.entries[0].modified_unix_ms > 1_600_000_000_000);
}

#[tokio::test]
async fn goes_as_deep_as_asked_but_through_no_link() {
    let stage = tree();
    let two = paths(&stage.list("", 2, 100).await.unwrap());
    assert_eq!(two, ["a", "b", "b/deep", "b/two", "c", "d"].map(PathBuf::from));
    let three = paths(&stage.list("", 3, 100).await.unwrap());
    assert_eq!(three.len(), 7);
    assert_eq!(paths(&stage.list("b", 1, 100).await.unwrap()), ["deep", "two"].map(PathBuf::from));
}

#[tokio::test]
async fn a_limit_cuts_what_is_deepest_and_says_so() {
    let stage = tree();
    let listing = stage.list("", 3, 5).await.unwrap();
    assert!(listing.truncated);
    assert_eq!(paths(&listing), ["a", "b", "b/deep", "c", "d"].map(PathBuf::from));
    assert!(!stage.list("", 3, 7).await.unwrap().truncated);
}

#[tokio::test]
async fn lists_only_directories() {
    let stage = tree();
    assert!(matches!(stage.list("a", 1, 9).await, Err(TargetError::NotADirectory { .. })));
    assert!(matches!(stage.list("missing", 1, 9).await, Err(TargetError::NotFound { .. })));
}
