//! Directories that a call made and that stay, as they hold files that git ignores: caches of later runs, and those
//! that the call itself left where no snapshot looks.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use buddy_protocol::PathText;

use super::not_covered::NotCovered;
use super::state::State;
use super::step::Step;
use crate::files::{Ignored, open_tree};

/// The most entries of a directory that are read to see whether it can be removed.
const MAX_NAMES: usize = 10_000;

/// Takes the directories that stay because git ignores their content out of the steps, and returns a row for each
/// of them that holds such content itself. A directory with any other file in it is in conflict.
pub(super) fn keep_directories(steps: &mut Vec<Step>, roots: &[PathBuf]) -> Vec<NotCovered> {
    let going: BTreeSet<PathBuf> =
        steps.iter().filter(|step| step.to == State::Absent).map(|step| step.path.0.clone()).collect();
    let mut kept: BTreeSet<PathBuf> = BTreeSet::new();
    let mut rows = Vec::new();
    let is_full = |step: &&mut Step| {
        let is_directory = |state: &State| matches!(state, State::Directory { .. });
        is_directory(&step.now) && !is_directory(&step.to) && step.conflict.is_none()
    };
    let mut directories: Vec<&mut Step> = steps.iter_mut().filter(is_full).collect();
    // Inner ones first: a directory around one that stays has to stay too.
    directories.sort_by(|first, second| second.path.cmp(&first.path));
    for step in directories {
        let names = fs::read_dir(&step.path.0).into_iter().flatten().flatten().take(MAX_NAMES);
        let stays = |path: &PathBuf| kept.contains(path) || !going.contains(path);
        let staying: Vec<PathBuf> = names.map(|entry| entry.path()).filter(stays).collect();
        let Some(first) = staying.first() else { continue };
        let is_left =
            |path: &&PathBuf| step.to == State::Absent && (kept.contains(*path) || is_ignored(path, roots));
        if let Some(other) = staying.iter().find(|path| !is_left(path)) {
            let other = other.display();
            step.conflict = Some(format!("it has `{other}` in it, which is not known to be the call's"));
            continue;
        }
        if !kept.contains(first) {
            let name = first.file_name().unwrap_or_default().display();
            rows.push(left_as_it_is(&step.path.0, format!("git ignores `{name}` in it")));
        }
        kept.insert(step.path.0.clone());
    }
    // Without these rules git would list the content that stays.
    let is_rules = |path: &Path| {
        path.file_name() == Some(OsStr::new(".gitignore"))
            && path.parent().is_some_and(|above| kept.contains(above))
    };
    steps.retain(|step| !(kept.contains(&step.path.0) || step.to == State::Absent && is_rules(&step.path.0)));
    rows
}

/// Whether git ignores a path, or a directory above it within the directory of the call.
fn is_ignored(path: &Path, roots: &[PathBuf]) -> bool {
    let Some(root) = roots.iter().find(|root| path.starts_with(root)) else { return false };
    let (Ok(top), Ok(below)) = (open_tree(root), path.strip_prefix(root)) else { return false };
    let mut ignored: Arc<Ignored> = Arc::default();
    let mut at = PathBuf::new();
    for component in below.components() {
        let Component::Normal(name) = component else { return false };
        if at.file_name() == Some(OsStr::new(".git")) {
            return false;
        }
        let Ok(directory) = top.directory(&at) else { return false };
        let here = root.join(&at);
        ignored = ignored.enter(&directory, &at, |name| here.join(name).symlink_metadata().is_ok());
        at.push(name);
        let is_directory = root.join(&at).symlink_metadata().is_ok_and(|found| found.is_dir());
        if ignored.covers(&at, is_directory) {
            return true;
        }
    }
    false
}

/// A path that an undo leaves as it is.
pub(super) fn left_as_it_is(path: &Path, why: String) -> NotCovered {
    NotCovered { path: PathText(path.to_owned()), why, is_changed: true }
}
