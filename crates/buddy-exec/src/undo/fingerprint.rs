//! The fingerprint of a place of which undo keeps nothing: a digest of names and properties by which a change there is known.
//!
//! No content is read. Directories count by their names and modes, so that a temporary file that came and went is no change.

use std::collections::VecDeque;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::digest::digest_of;

/// The most objects that a fingerprint is made of.
const MAX_OBJECTS: usize = 20_000;
/// Directories of a repository that hold contents only. Whatever uses them changes a branch, a log or the index too.
const CONTENTS: [&str; 2] = ["objects", "lfs"];

/// The kind of a place that a command can change and of which undo keeps nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceKind {
    /// The user or a rule opened it for this command.
    Opened,
    /// The user's configuration opens it for every command.
    Standing,
    /// The own directory of a repository whose work tree is covered.
    GitStore,
}

impl PlaceKind {
    /// Why undo does not restore a change there.
    pub(super) fn why(self) -> &'static str {
        match self {
            Self::Opened | Self::Standing => "it is outside the workspace",
            Self::GitStore => "git keeps the data of this work tree there, outside the workspace",
        }
    }
}

/// A fingerprint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fingerprint {
    pub(super) digest: String,
    /// Whether there was more than a fingerprint is made of.
    pub(super) is_cut: bool,
}

/// The fingerprint of a place as it is now, without these paths.
pub(super) fn fingerprint_of(place: &Path, is_store: bool, skipped: &[PathBuf]) -> Fingerprint {
    let real = place.canonicalize().unwrap_or_else(|_| place.to_owned());
    let is_skipped = |path: &Path| {
        let is_content = |name: &str| path.strip_prefix(&real).is_ok_and(|below| below == Path::new(name));
        skipped.iter().any(|other| other == path)
            || (is_store && CONTENTS.iter().any(|name| is_content(name)))
    };
    let mut seen = Vec::new();
    let mut left = VecDeque::from([real.clone()]);
    let mut count = 0;
    while let Some(path) = left.pop_front() {
        let Ok(found) = path.symlink_metadata() else { continue };
        count += 1;
        if count > MAX_OBJECTS {
            return Fingerprint { digest: digest_of(&seen), is_cut: true };
        }
        seen.extend_from_slice(path.as_os_str().as_bytes());
        seen.extend_from_slice(properties(&found).as_bytes());
        if found.is_dir() {
            let names = fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path());
            let mut names: Vec<PathBuf> =
                names.filter(|path| !is_skipped(path)).take(MAX_OBJECTS.saturating_sub(left.len())).collect();
            names.sort();
            left.extend(names);
        }
    }
    Fingerprint { digest: digest_of(&seen), is_cut: false }
}

fn properties(found: &Metadata) -> String {
    if found.is_dir() {
        return format!("\0{:o}\n", found.mode());
    }
    let (modified, changed) = ((found.mtime(), found.mtime_nsec()), (found.ctime(), found.ctime_nsec()));
    format!("\0{} {} {:o} {modified:?} {changed:?}\n", found.ino(), found.size(), found.mode())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_tells_a_change_and_not_a_file_that_came_and_went() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().canonicalize().unwrap();
        let print = |is_store: bool, skipped: &[PathBuf]| fingerprint_of(&place, is_store, skipped);
        fs::create_dir(place.join("objects")).unwrap();
        fs::write(place.join("a"), "a").unwrap();
        let (whole, store) = (print(false, &[]), print(true, &[]));
        fs::write(place.join("gone"), "b").unwrap();
        fs::remove_file(place.join("gone")).unwrap();
        assert_eq!((print(false, &[]), print(true, &[])), (whole.clone(), store.clone()));
        fs::write(place.join("objects/b"), "b").unwrap();
        assert!(print(false, &[]) != whole && print(true, &[]) == store);
        let without = print(false, &[place.join("objects"), place.join("a")]);
        fs::write(place.join("a"), "longer").unwrap();
        assert!(print(true, &[]) != store);
        assert_eq!(print(false, &[place.join("objects"), place.join("a")]), without);
        let missing = fingerprint_of(&place.join("new"), false, &[]);
        fs::write(place.join("new"), "").unwrap();
        assert_ne!(fingerprint_of(&place.join("new"), false, &[]), missing);
    }
}
