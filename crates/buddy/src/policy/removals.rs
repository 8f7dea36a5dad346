//! Protected files in a directory of this machine that a tool would remove.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use buddy_policy::{Places, is_protected};

/// Names that are looked at in one directory. One with more asks as if it held a protected file.
const MAX_NAMES: usize = 100_000;

/// The time of one look, after which a directory asks in the same way.
const MAX_TIME: Duration = Duration::from_secs(2);

/// The files beneath a directory that ask by themselves when they are changed. Links are not followed: the link itself goes.
pub(super) fn protected_within(directory: &Path, places: &Places) -> Vec<PathBuf> {
    let is_directory = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    let mut left: Vec<PathBuf> =
        Some(directory.to_owned()).filter(|path| is_directory(path)).into_iter().collect();
    let (mut found, mut count, until) = (Vec::new(), 0, Instant::now() + MAX_TIME);
    while let Some(inner) = left.pop() {
        for entry in fs::read_dir(&inner).into_iter().flatten().flatten() {
            count += 1;
            if count > MAX_NAMES || Instant::now() > until {
                return vec![directory.to_owned()];
            }
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                left.push(path);
            } else if is_protected(&path, places) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn protected_files_are_found_at_any_depth_and_not_behind_links() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        for name in ["old/a/.env", "old/.git/hooks/pre-commit", "old/src/lib.rs", "kept/.env", "plain/a.txt"]
        {
            fs::create_dir_all(top.join(name).parent().unwrap()).unwrap();
            fs::write(top.join(name), "x").unwrap();
        }
        symlink(top.join("kept"), top.join("plain/link")).unwrap();
        let places = Places { workspace: vec![top.clone()], ..Places::default() };
        let found = protected_within(&top.join("old"), &places);
        assert_eq!(found, [top.join("old/.git/hooks/pre-commit"), top.join("old/a/.env")]);
        for none in ["plain", "missing", "plain/a.txt"] {
            assert!(protected_within(&top.join(none), &places).is_empty(), "{none}");
        }
    }
}
