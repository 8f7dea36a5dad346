//! Nobody else can read the stored data.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::TempDir;

use crate::child::{Other, Task};
use crate::support::{append, fresh, open};

fn assert_private(path: &Path) {
    let metadata = fs::symlink_metadata(path).unwrap();
    let expected = if metadata.is_dir() { 0o700 } else { 0o600 };
    let mode = metadata.permissions().mode() & 0o777;
    assert_eq!(mode, expected, "{} has {mode:o}", path.display());
    if metadata.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            assert_private(&entry.unwrap().path());
        }
    }
}

#[tokio::test]
async fn everything_is_private_whatever_the_umask() {
    let parent = TempDir::new().unwrap();
    let directory = parent.path().join("data");
    let mut other = Other::start(&directory, Task::Umask);
    while other.hear().is_some() {}
    assert!(other.end());
    assert!(directory.join("buddy.db-wal").exists());
    assert_private(&directory);
}

#[tokio::test]
async fn files_open_to_others_are_closed_and_reported() {
    let (directory, store) = fresh();
    append(&store, 1, 1..=1).await;
    store.close().await.unwrap();
    let names = ["", "run", "buddy.db", "buddy.db-wal"].map(|name| directory.path().join(name));
    for (path, mode) in names.iter().zip([0o755, 0o777, 0o644, 0o666]) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }
    let store = open(directory.path());
    let told: Vec<_> = store.report().modes_fixed.iter().map(|path| path.canonicalize().unwrap()).collect();
    assert_eq!(told, names.map(|path| path.canonicalize().unwrap()));
    assert_private(directory.path());
    drop(store);
    assert!(open(directory.path()).report().modes_fixed.is_empty());
}
